// SPDX-License-Identifier: GPL-2.0-only

#include "core/schedule/body-builder.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// The part of a backward pass that `action` does.
Duration
BackwardTime(const ComputeCost& cost, Action action)
{
    switch (action)
    {
    case Action::Backward:
        return cost.inputGradient + cost.weightGradient;
    case Action::InputGradient:
        return cost.inputGradient;
    case Action::WeightGradient:
        return cost.weightGradient;
    case Action::Forward:
    case Action::Optimizer:
        break;
    }
    return {};
}

/// The first layer of a kind, or 0 where there is none (its cost is then not asked for).
uint32_t
LayerOfKind(const ModelSpec& model, uint32_t kind)
{
    for (uint32_t layer = 0; layer < model.layers; layer++)
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

} // namespace

bool
SameUnit(const UnitUse& a, const UnitUse& b)
{
    return a.chunk == b.chunk && a.unit == b.unit;
}

BodyBuilder::BodyBuilder(const Scenario& scenario,
                         const RankLayout& layout,
                         std::vector<GpuSpec> gpus,
                         std::vector<StageLayers> split,
                         CollectiveTable& table,
                         std::vector<Program>& bodies)
    : m_model(scenario.Job().model),
      m_plan(scenario.Job().plan),
      m_split(std::move(split)),
      m_gpus(std::move(gpus)),
      m_layer(scenario.Job(), layout, scenario.network.collective, table),
      m_parameters(scenario.Job(), layout, scenario.network.collective, table),
      m_bodies(bodies)
{
    const JobSpec& job = scenario.Job();
    for (const auto& gpu : m_gpus)
    {
        Costs costs;
        for (uint32_t kind = 0; kind < ModelSpec::kLayerKinds; kind++)
        {
            costs.layers[kind] =
                CostOfLayer(m_model, job.workload, m_plan, gpu, LayerOfKind(m_model, kind));
        }
        costs.embedding = CostOfEmbedding(m_model, job.workload, m_plan, gpu);
        costs.head = CostOfHead(m_model, job.workload, m_plan, gpu);
        m_costs.push_back(costs);
    }
    for (const auto& stage : m_split)
    {
        m_units.push_back(UnitsOf(m_model, m_plan, stage));
        m_slotsPerChunk = std::max(m_slotsPerChunk, static_cast<uint32_t>(m_units.back().size()));
        const auto same =
            std::find_if(m_split.begin(), m_split.end(), [this, &stage](const StageLayers& other) {
                return SameWork(m_model, stage, other);
            });
        m_shapes.push_back(static_cast<uint32_t>(same - m_split.begin()));
    }
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
        if (m_split[position].embedding)
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
    const bool reduces =
        variant.last || (GathersPerUse() && action.action == Action::WeightGradient);
    std::vector<uint32_t> key{gpu, m_shapes[position], static_cast<uint32_t>(action.action)};
    if (gathers || reduces)
    {
        // One chunk has one place on a rank, hence the same handles on every stage.
        key.insert(key.end(), {action.chunk, variant.first, variant.last});
        for (const auto& use : {variant.next, variant.nextButOne})
        {
            if (perUse && use)
            {
                key.insert(key.end(), {m_shapes[use->position], use->chunk, use->unit});
            }
        }
    }
    const auto [entry, isNew] = m_index.emplace(key, m_bodies.size());
    if (isNew)
    {
        Pass pass{m_costs[gpu], m_split[position], action.action, variant, {}, {}, 0, {}};
        pass.units = UnitsOfChunk(position, action.chunk);
        pass.uses = UsesOf(position, action);
        for (const auto& use : {variant.next, variant.nextButOne})
        {
            if (use)
            {
                pass.uses.push_back(*use);
            }
        }
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
BodyBuilder::OptimizerBody(uint32_t gpu, uint64_t parameters)
{
    const auto [entry, isNew] =
        m_optimizers.emplace(std::make_pair(gpu, parameters), m_bodies.size());
    if (isNew)
    {
        m_bodies.emplace_back();
        AppendCompute(CostOfOptimizer(parameters, m_gpus[gpu]), m_bodies.back());
    }
    return entry->second;
}

const LayerCost&
BodyBuilder::CostOf(const Pass& pass, uint32_t layer) const
{
    return pass.costs.layers[m_model.KindOf(layer)];
}

void
BodyBuilder::BeginUse(Pass& pass) const
{
    const size_t ahead = pass.used + 2;
    if (GathersPerUse() && ahead < pass.uses.size())
    {
        const UnitUse& use = pass.uses[ahead];
        if (!SameUnit(use, pass.uses[ahead - 1]) && !SameUnit(use, pass.uses[ahead - 2]))
        {
            PostGather(use, pass.program);
        }
    }
    pass.used++;
}

void
BodyBuilder::Await(Pass& pass, const UnitUse& unit, UnitPart part) const
{
    if (GathersPerUse() || (GathersOnce() && pass.variant.first))
    {
        m_parameters.WaitGather(UnitOf(unit), SlotOf(unit), part, pass.program);
    }
}

void
BodyBuilder::Reduce(Pass& pass, const UnitUse& unit, UnitPart part) const
{
    const bool weights = pass.action == Action::Backward || pass.action == Action::WeightGradient;
    if (weights && (pass.variant.last || GathersPerUse()))
    {
        m_parameters.PostReduction(UnitOf(unit),
                                   SlotOf(unit),
                                   part,
                                   pass.variant.last,
                                   pass.program);
    }
}

void
BodyBuilder::Forward(Pass& pass) const
{
    auto unit = pass.units.begin();
    if (pass.layers.embedding)
    {
        BeginUse(pass);
        Await(pass, *unit++, UnitPart::Dense);
        m_layer.EmbeddingForward(pass.costs.embedding.forward, pass.program);
    }
    for (uint32_t i = 0; i < pass.layers.count; i++)
    {
        BeginUse(pass);
        ForwardLayer(pass, *unit++, pass.layers.first + i);
    }
    if (pass.layers.head)
    {
        BeginUse(pass);
        Await(pass, *unit, UnitPart::Dense);
        m_layer.HeadForward(pass.costs.head.forward, pass.program);
    }
}

void
BodyBuilder::ForwardLayer(Pass& pass, const UnitUse& unit, uint32_t layer) const
{
    const LayerCost& cost = CostOf(pass, layer);
    Await(pass, unit, UnitPart::Dense);
    m_layer.Attention(cost.attention.forward, true, false, pass.program);
    Await(pass, unit, UnitPart::Expert);
    m_layer.Mlp(m_model.IsMoeLayer(layer), cost.mlp.forward, pass.program);
}

void
BodyBuilder::Backward(Pass& pass) const
{
    auto unit = pass.units.rbegin();
    if (pass.layers.head)
    {
        BeginUse(pass);
        Await(pass, *unit, UnitPart::Dense);
        m_layer.HeadBackward(BackwardTime(pass.costs.head, pass.action), pass.program);
        Reduce(pass, *unit++, UnitPart::Dense);
    }
    for (uint32_t i = pass.layers.count; i-- > 0;)
    {
        BeginUse(pass);
        BackwardLayer(pass, *unit++, pass.layers.first + i);
    }
    if (pass.layers.embedding)
    {
        m_layer.EmbeddingBackward(BackwardTime(pass.costs.embedding, pass.action), pass.program);
        Reduce(pass, *unit, UnitPart::Dense);
    }
}

void
BodyBuilder::BackwardLayer(Pass& pass, const UnitUse& unit, uint32_t layer) const
{
    const LayerCost& cost = CostOf(pass, layer);
    const bool moe = m_model.IsMoeLayer(layer);
    const bool recompute = m_plan.recompute == Recompute::Full;
    Duration attention = BackwardTime(cost.attention, pass.action);
    Duration mlp = BackwardTime(cost.mlp, pass.action);
    Await(pass, unit, UnitPart::Dense);
    Await(pass, unit, UnitPart::Expert);
    if (recompute)
    {
        m_layer.Attention(cost.attention.forward, true, false, pass.program);
        m_layer.Mlp(moe, cost.mlp.forward, pass.program);
        attention -= cost.attention.forward;
        mlp -= cost.mlp.forward;
    }
    m_layer.Mlp(moe, mlp, pass.program);
    Reduce(pass, unit, UnitPart::Expert);
    m_layer.Attention(attention, !recompute, true, pass.program);
    Reduce(pass, unit, UnitPart::Dense);
}

void
BodyBuilder::WeightGradient(Pass& pass) const
{
    auto unit = pass.units.rbegin();
    if (pass.layers.head)
    {
        AppendCompute(pass.costs.head.weightGradient, pass.program);
        Reduce(pass, *unit++, UnitPart::Dense);
    }
    for (uint32_t i = pass.layers.count; i-- > 0;)
    {
        const LayerCost& cost = CostOf(pass, pass.layers.first + i);
        AppendCompute(cost.mlp.weightGradient, pass.program);
        Reduce(pass, *unit, UnitPart::Expert);
        AppendCompute(cost.attention.weightGradient, pass.program);
        Reduce(pass, *unit++, UnitPart::Dense);
    }
    if (pass.layers.embedding)
    {
        AppendCompute(pass.costs.embedding.weightGradient, pass.program);
        Reduce(pass, *unit, UnitPart::Dense);
    }
}

} // namespace scaleacross
