// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/graph/body-builder.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// Share of attention's GEMMs that come before core attention: Q, K and V against the output
/// projection, whose weights are a d_v h.
double
ColumnShareOfAttention(const ModelSpec& model)
{
    const double h = model.hidden;
    const double a = model.heads;
    const double row = a * model.ValueDim() * h;
    double column = (a * model.headDim + 2.0 * model.kvHeads * model.headDim) * h;
    if (model.IsLatent())
    {
        const double q = model.queryRank;
        const double c = model.kvRank;
        const double query = a * model.headDim;
        const double keys = a * (model.headDim - model.ropeDim + model.ValueDim());
        column = (q > 0 ? q * (h + query) : h * query) + h * (c + model.ropeDim) + c * keys;
    }
    return column / (column + row);
}

/// The first layer of a kind, or 0 where there is none (its cost is then not asked for).
uint32_t
LayerOfKind(const ModelSpec& model, uint32_t kind)
{
    for (uint32_t layer = 0; layer < model.LayersInTraining(); layer++)
    {
        if (model.KindOf(layer) == kind)
        {
            return layer;
        }
    }
    return 0;
}

/// Whether two virtual stages do the same work.
bool
SameWork(const ModelSpec& model, const StageLayers& a, const StageLayers& b)
{
    if (a.count != b.count || a.embedding != b.embedding || a.head != b.head)
    {
        return false;
    }
    for (uint32_t i = 0; i < a.count; i++)
    {
        if (model.KindOf(a.first + i) != model.KindOf(b.first + i))
        {
            return false;
        }
    }
    return true;
}

/// Copies operations from `next` on: up to and with the next posting of a layer's collective, or
/// all of them. So the wait for one comes after something of the other body.
void
CopyToPost(const std::vector<Op>& ops, size_t& next, bool all, Program& program)
{
    while (next < ops.size())
    {
        const Op& op = ops[next++];
        program.ops.push_back(op);
        if (!all && op.kind == OpKind::Collective && IsOfLayer(op.stream))
        {
            return;
        }
    }
}

} // namespace

bool
SameUnit(const UnitUse& a, const UnitUse& b)
{
    return a.chunk == b.chunk && a.unit == b.unit;
}

BodyBuilder::BodyBuilder(const Scenario& scenario,
                         const RankLayout& layout,
                         const LoweringRules& rules,
                         std::vector<GpuSpec> gpus,
                         std::vector<StageLayers> split,
                         CollectiveTable& table,
                         std::vector<Program>& bodies)
    : m_model(scenario.Job().model),
      m_workload(scenario.Job().workload),
      m_plan(scenario.Job().plan),
      m_split(std::move(split)),
      m_gpus(std::move(gpus)),
      m_layer(scenario.Job(), layout, rules, table),
      m_parameters(scenario.Job(), layout, rules, table),
      m_bodies(bodies)
{
    const JobSpec& job = scenario.Job();
    m_attentionColumns = ColumnShareOfAttention(m_model);
    m_mlpColumns = m_model.gatedMlp ? 2.0 / 3 : 1.0 / 2; // gate and up, or up alone, against down
    for (const auto& gpu : m_gpus)
    {
        Costs costs;
        JobSpec behind = job;
        behind.plan = m_plan.OfLayer(m_plan.recomputeLayers);
        costs.layers = CostsOfLayers(job, gpu);
        costs.behind = CostsOfLayers(behind, gpu);
        costs.embedding = CostOfEmbedding(m_model, job.workload, m_plan, gpu);
        costs.head = CostOfHead(m_model, job.workload, m_plan, gpu);
        m_costs.push_back(costs);
    }
    for (const auto& stage : m_split)
    {
        m_units.push_back(UnitsOf(job, stage));
        m_slotsPerChunk = std::max(m_slotsPerChunk, static_cast<uint32_t>(m_units.back().size()));
        const auto same =
            std::find_if(m_split.begin(), m_split.end(), [this, &stage](const StageLayers& other) {
                return SameWork(m_model, stage, other);
            });
        m_shapes.push_back(static_cast<uint32_t>(same - m_split.begin()));
    }
}

BodyBuilder::LayerCosts
BodyBuilder::CostsOfLayers(const JobSpec& job, const GpuSpec& gpu) const
{
    LayerCosts costs;
    for (uint32_t kind = 0; kind < ModelSpec::kLayerKinds; kind++)
    {
        costs[kind] = CostOfLayer(m_model, job.workload, job.plan, gpu, LayerOfKind(m_model, kind));
    }
    return costs;
}

std::vector<UnitUse>
BodyBuilder::UnitsOfChunk(uint32_t position, uint32_t chunk) const
{
    std::vector<UnitUse> units;
    for (uint32_t i = 0; i < m_units[position].size(); i++)
    {
        units.push_back({position, chunk, i});
    }
    return units;
}

std::vector<UnitUse>
BodyBuilder::UsesOf(uint32_t position, const PipelineAction& action) const
{
    if (action.action == Action::WeightGradient)
    {
        return {};
    }
    auto uses = UnitsOfChunk(position, action.chunk);
    if (action.action != Action::Forward)
    {
        std::reverse(uses.begin(), uses.end());
        // Nothing is looked up backward; a layer that shares the embedding's unit needs it.
        if (m_split[position].embedding && m_units[position].front().pieces == 1)
        {
            uses.pop_back();
        }
    }
    return uses;
}

void
BodyBuilder::PostGather(const UnitUse& use, Program& program) const
{
    m_parameters.PostGather(UnitOf(use), SlotOf(use), program);
}

void
BodyBuilder::WaitReduction(const UnitUse& use, Program& program) const
{
    m_parameters.WaitReduction(UnitOf(use), SlotOf(use), program);
}

uint32_t
BodyBuilder::Body(uint32_t gpu,
                  uint32_t position,
                  const PipelineAction& action,
                  const BodyVariant& variant)
{
    const bool perUse = GathersPerUse() && action.action != Action::WeightGradient;
    const bool gathers = perUse || (variant.first && GathersOnce());
    const bool reduces = HasWeights(action.action) && (variant.last || ReducesEveryMicrobatch());
    std::vector<uint32_t> key{gpu, m_shapes[position], static_cast<uint32_t>(action.action)};
    if (gathers || reduces)
    {
        // One chunk has one place on a rank, hence the same handles on every stage.
        key.insert(key.end(), {action.chunk, variant.first, variant.last, variant.stillThere});
        if (perUse)
        {
            for (const auto& use : variant.next)
            {
                key.insert(key.end(), {m_shapes[use.position], use.chunk, use.unit});
            }
        }
    }
    const auto [entry, isNew] = m_index.emplace(key, m_bodies.size());
    if (isNew)
    {
        Pass pass{m_costs[gpu], m_split[position], action.action, variant, {}, {}, 0, {}};
        pass.pieces = PiecesOf(position, action.chunk, action.action == Action::Forward);
        pass.uses = UsesOf(position, action);
        pass.uses.insert(pass.uses.end(), variant.next.begin(), variant.next.end());
        switch (action.action)
        {
        case Action::Forward:
            Forward(pass);
            break;
        case Action::WeightGradient:
            WeightGradient(pass);
            break;
        default:
            Backward(pass);
        }
        m_bodies.push_back(std::move(pass.program));
    }
    return entry->second;
}

uint32_t
BodyBuilder::Overlapped(uint32_t forward, uint32_t backward)
{
    const auto [entry, isNew] =
        m_overlapped.emplace(std::make_pair(forward, backward), m_bodies.size());
    if (isNew)
    {
        const std::vector<Op>& down = m_bodies[forward].ops;
        std::vector<Op> up = m_bodies[backward].ops;
        for (Op& op : up)
        {
            if (op.handle < LayerProgram::kHandles &&
                (op.kind == OpKind::Wait || op.kind == OpKind::Collective))
            {
                op.handle += Handles() - LayerProgram::kHandles;
            }
        }
        Program merged;
        size_t f = 0;
        size_t b = 0;
        while (f < down.size() || b < up.size())
        {
            CopyToPost(down, f, GathersPerUse(), merged);
            CopyToPost(up, b, GathersPerUse(), merged);
        }
        m_bodies.push_back(std::move(merged));
    }
    return entry->second;
}

uint32_t
BodyBuilder::OptimizerBody(uint32_t gpu, uint64_t parameters)
{
    const auto [entry, isNew] =
        m_optimizers.emplace(std::make_pair(gpu, parameters), m_bodies.size());
    if (isNew)
    {
        m_bodies.emplace_back();
        AppendCompute(CostOfOptimizer(parameters, m_workload, m_gpus[gpu]), m_bodies.back());
    }
    return entry->second;
}

std::vector<BodyBuilder::Piece>
BodyBuilder::PiecesOf(uint32_t position, uint32_t chunk, bool forward) const
{
    std::vector<Piece> pieces;
    for (uint32_t unit = 0; unit < m_units[position].size(); unit++)
    {
        const uint32_t count = m_units[position][unit].pieces;
        for (uint32_t i = 0; i < count; i++)
        {
            const bool first = i == 0;
            const bool last = i + 1 == count;
            pieces.push_back(
                {{position, chunk, unit}, forward ? first : last, forward ? last : first});
        }
    }
    if (!forward)
    {
        std::reverse(pieces.begin(), pieces.end());
    }
    return pieces;
}

} // namespace scaleacross
