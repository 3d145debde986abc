// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/memory/memory.h"

#include "core/pipeline/pipeline-order.h"
#include "core/work/collectives/parameter-units.h"
#include "core/work/cost/kept-activations.h"
#include "core/work/graph/task-graph-builder.h"
#include "core/work/memory/working-set.h"
#include "core/work/partition/balance.h"
#include "core/work/partition/layer-split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

// Mixed precision with Adam: FP32 master weights and two moments.
constexpr uint64_t kOptimizerBytes = 12;

Bytes
Whole(double bytes)
{
    return Bytes(static_cast<uint64_t>(bytes));
}

/// Largest sum of `window` neighbours.
template <class T>
T
LargestWindow(const std::vector<T>& values, size_t window)
{
    T largest = 0;
    for (size_t i = 0; i < values.size(); i++)
    {
        T sum = 0;
        for (size_t j = i; j < std::min(values.size(), i + window); j++)
        {
            sum += values[j];
        }
        largest = std::max(largest, sum);
    }
    return largest;
}

/// Bytes of a weight at rest: in 16 bits, or only as its master where the software shards that.
uint64_t
WeightBytes(const JobSpec& job)
{
    return job.plan.sharding->parameters && job.workload.stack.shardsMasters ? 0 : kParameterBytes;
}

/**
 * Weights, gradients and optimizer state of a rank that holds `units`, with a shard group of D.
 *
 * Bytes per held parameter, with gradients of g bytes (workload.gradients): DDP 2 + g + 12; ZeRO-1
 * 2 + g + 12/D; ZeRO-2 2 + (g + 12)/D; FSDP and HSDP (2 + g + 12)/D at rest, or (g + 12)/D where
 * the master weights are what is sharded. Beside that are live: whole weights through the
 * iteration, of which the shard is a part, or with resharding those of the unit in use and of the
 * prefetched ones; and whole gradients that add up through the iteration, or those of two units
 * (one being computed, one being reduced) where every microbatch's are reduced.
 */
void
AddStates(const std::vector<ParameterUnit>& units,
          const JobSpec& job,
          const ShardSizes& shards,
          MemoryUse& use)
{
    const ParallelPlan& plan = job.plan;
    uint64_t held = 0;
    uint64_t atRest = 0;
    std::vector<uint64_t> split; // parameters of each unit of which the rank has no 16-bit weights
    for (const auto& unit : units)
    {
        held += unit.dense + unit.expert;
        atRest += ShardOf(unit, shards);
        const bool masters = job.workload.stack.shardsMasters;
        split.push_back((shards.dense > 1 || masters ? unit.dense : 0) +
                        (shards.expert > 1 || masters ? unit.expert : 0));
    }
    const ShardingFacts& sharding = *plan.sharding;
    use.parameters = Bytes(WeightBytes(job) * (sharding.parameters ? atRest : held));
    use.gradients = Bytes(job.workload.gradientBytes * (sharding.gradients ? atRest : held));
    use.optimizer = Bytes(kOptimizerBytes * atRest);
    if (plan.Reshards())
    {
        use.gathered += Bytes(kParameterBytes * LargestWindow(split, size_t{plan.prefetch} + 1));
    }
    else if (sharding.parameters)
    {
        use.gathered += Bytes(kParameterBytes * held - WeightBytes(job) * atRest);
    }
    if (sharding.gradients && !plan.ReductionOf()->everyMicrobatch)
    {
        use.gathered += Bytes(job.workload.gradientBytes * (held - atRest));
    }
    else if (sharding.gradients)
    {
        use.gathered += Bytes(job.workload.gradientBytes * LargestWindow(split, 2));
    }
}

/// What the schedule keeps of a chunk for each microbatch in flight, per token of a rank: not what
/// lies in host memory.
double
KeptPerToken(const JobSpec& job, const StageLayers& layers)
{
    double kept = 0;
    for (uint32_t i = job.plan.offloadLayers; i < layers.count; i++)
    {
        kept += KeptOfLayer(job, layers.first + i, i);
    }
    return kept + (layers.head ? HeadPerToken(job) : 0);
}

/// Buffers of layers on their way to host memory or back, per token of a rank: one that is copied
/// and the next one, which is computed. So no layer that is offloaded takes more than it would
/// keep.
double
CopiedPerToken(const JobSpec& job)
{
    std::vector<double> kept;
    for (uint32_t layer = 0; layer < job.plan.offloadLayers; layer++)
    {
        kept.push_back(KeptOfLayer(job, layer, layer));
    }
    return LargestWindow(kept, 2);
}

/// What recomputation brings back of the one layer whose backward runs, per token of a rank. Where
/// only the first layers of a chunk are recomputed, those behind have been freed by then.
double
RecomputedPerToken(const JobSpec& job, const std::vector<StageLayers>& chunks)
{
    double most = 0;
    const auto broughtBack = [&job](uint32_t layer) {
        return job.plan.recompute->layers ? SavedPerToken(job, layer) : DroppedPerToken(job, layer);
    };
    for (const auto& chunk : chunks)
    {
        double freed = 0;
        uint32_t again = chunk.count;
        while (job.plan.recomputeLayers > 0 && again > job.plan.recomputeLayers)
        {
            freed += SavedPerToken(job, chunk.first + --again);
        }
        for (uint32_t i = 0; i < again; i++)
        {
            most = std::max(most, broughtBack(chunk.first + i) - freed);
        }
    }
    return most;
}

/// Messages of the pipeline, layers that are copied to host memory and back, stand-ins for
/// gradients, and what is live in a pass beside what is kept. Layers run backward when what the
/// head has kept is gone; the head, before any layer's activations are recomputed.
double
BufferBytes(const Scenario& scenario, const std::vector<StageLayers>& chunks, double recomputed)
{
    const JobSpec& job = scenario.Job();
    const WorkingSet set = WorkingSetOf(scenario, chunks);
    double ofHead = 0;
    for (const auto& chunk : chunks)
    {
        ofHead += chunk.head ? HeadPerToken(job) : 0;
    }
    // Per direction one message in use and one on its way.
    const double messages = job.plan.pp > 1 ? 4 * 2.0 * job.model.hidden : 0;
    const double live = std::max({set.head - recomputed, set.layers - ofHead, 0.0});
    return TokensPerRank(job) * (messages + live + CopiedPerToken(job)) +
           static_cast<double>(StandInsOf(scenario, chunks).Count());
}

MemoryUse
MemoryOfStage(const Scenario& scenario,
              const ShardSizes& shards,
              const std::vector<StageLayers>& split,
              const PipelineShape& shape,
              const std::vector<PipelineAction>& order,
              uint32_t stage)
{
    const JobSpec& job = scenario.Job();
    std::vector<StageLayers> chunks;
    std::vector<ParameterUnit> units;
    std::vector<uint64_t> kept;
    const double tokens = TokensPerRank(job);
    uint32_t parts = UINT32_MAX; // of passes that are overlapped layer by layer
    for (uint32_t c = 0; c < shape.chunks; c++)
    {
        chunks.push_back(split[VirtualStage(shape, stage, c)]);
        parts = std::min(parts, std::max(chunks.back().count, 1U));
        const auto own = UnitsOf(job, chunks.back());
        units.insert(units.end(), own.begin(), own.end());
        kept.push_back(static_cast<uint64_t>(tokens * KeptPerToken(job, chunks.back())));
    }
    MemoryUse use;
    AddStates(units, job, shards, use);
    // Overlapped passes take turns at the collectives of a layer; not where there are none, nor
    // where passes gather their parameters.
    const ParallelPlan& plan = job.plan;
    const bool turns = plan.tp > 1 || plan.cp > 1 || (job.model.IsMoe() && plan.ExpertsApart());
    const double recomputed = RecomputedPerToken(job, chunks);
    use.activations = Bytes(PeakHeld(order, kept, turns && !plan.Reshards() ? parts : 1)) +
                      Whole(tokens * recomputed);
    use.buffers = Whole(BufferBytes(scenario, chunks, recomputed));
    return use;
}

std::string
LargestCategory(const MemoryUse& use)
{
    const std::pair<Bytes, const char*> categories[] = {{use.parameters, "parameters"},
                                                        {use.gradients, "gradients"},
                                                        {use.optimizer, "optimizer state"},
                                                        {use.activations, "activations"},
                                                        {use.gathered, "gathered parameters"},
                                                        {use.buffers, "buffers"}};
    const auto& largest =
        *std::max_element(std::begin(categories),
                          std::end(categories),
                          [](const auto& a, const auto& b) { return a.first < b.first; });
    return std::string(largest.second) + " " + ToString(largest.first);
}

} // namespace

const FigureTable<MemoryUse>&
MemoryUse::Figures()
{
    using M = MemoryUse;
    static const FigureTable<M> figures = {
        MakeFigure("parameters", &M::parameters, "weights, as sharded at rest"),
        MakeFigure("gradients", &M::gradients, "gradients that are kept"),
        MakeFigure("optimizer", &M::optimizer, "master weights and moments"),
        MakeFigure("activations", &M::activations, "at the peak of microbatches in flight"),
        MakeFigure("gathered", &M::gathered, "unsharded parameters and gradients of live units"),
        MakeFigure("buffers",
                   &M::buffers,
                   "of messages and of what runs, and stand-ins for gradients"),
        MakeFigure("usable", &M::usable, "HBM that it may fill, where the least is left"),
    };
    return figures;
}

namespace
{

/// The stages of a plan by how many microbatches its replicas have; usable memory apart.
class StageMemory
{
  public:
    StageMemory(const Scenario& scenario, const RankLayout& layout)
        : m_scenario(scenario),
          m_layout(layout),
          m_split(LayersOf(scenario, layout)),
          m_microbatches(std::get<std::vector<uint32_t>>(MicrobatchesOf(scenario, layout)))
    {
    }

    MemoryUse Of(uint32_t building, uint32_t stage)
    {
        MemoryUse use = With(m_microbatches[building])[stage];
        use.usable = m_scenario.cluster.buildings[building].gpu.UsableHbm();
        return use;
    }

  private:
    const std::vector<MemoryUse>& With(uint32_t microbatches)
    {
        std::vector<MemoryUse>& stages = m_known[microbatches];
        if (stages.empty())
        {
            PipelineShape shape = PipelineShapeOf(m_scenario, m_layout);
            shape.microbatches = microbatches;
            const PipelineOrders orders = shape.schedule->Orders(shape);
            const ShardSizes shards = ShardSizesOf(m_layout);
            for (uint32_t stage = 0; stage < shape.ranks; stage++)
            {
                stages.push_back(
                    MemoryOfStage(m_scenario, shards, m_split, shape, orders[stage], stage));
            }
        }
        return stages;
    }

    const Scenario& m_scenario;
    const RankLayout& m_layout;
    const std::vector<StageLayers> m_split;
    const std::vector<uint32_t> m_microbatches; //!< by building
    std::map<uint32_t, std::vector<MemoryUse>> m_known;
};

/// Whether less is left of a than of b.
bool
IsTighter(const MemoryUse& a, const MemoryUse& b)
{
    return a.usable + b.Total() < b.usable + a.Total();
}

/// Whether a holds more than b.
bool
IsFuller(const MemoryUse& a, const MemoryUse& b)
{
    return a.Total() > b.Total();
}

/// Of each stage the worst that there is in a building.
std::vector<MemoryUse>
WorstOf(const Scenario& scenario,
        const RankLayout& layout,
        bool (*isWorse)(const MemoryUse&, const MemoryUse&))
{
    StageMemory memory(scenario, layout);
    std::vector<MemoryUse> stages;
    for (uint32_t stage = 0; stage < layout.plan.pp; stage++)
    {
        std::optional<MemoryUse> worst;
        for (uint32_t b = 0; b < layout.Buildings(); b++)
        {
            if (layout.StageRanksIn(b, stage) == 0)
            {
                continue;
            }
            const MemoryUse use = memory.Of(b, stage);
            worst = !worst || isWorse(use, *worst) ? use : *worst;
        }
        stages.push_back(worst.value());
    }
    return stages;
}

} // namespace

std::vector<MemoryUse>
MemoryOf(const Scenario& scenario, const RankLayout& layout)
{
    return WorstOf(scenario, layout, IsTighter);
}

std::vector<MemoryUse>
FullestOf(const Scenario& scenario,
          const RankLayout& layout,
          const std::vector<MemoryUse>& tightest)
{
    return scenario.Job().plan.apportion->byTime ? WorstOf(scenario, layout, IsFuller) : tightest;
}

Bytes
MostOf(const std::vector<MemoryUse>& stages)
{
    Bytes most;
    for (const MemoryUse& use : stages)
    {
        most = std::max(most, use.Total());
    }
    return most;
}

std::vector<MemoryUse>
MemoryIn(const Scenario& scenario, const RankLayout& layout, uint32_t building)
{
    StageMemory memory(scenario, layout);
    std::vector<MemoryUse> stages;
    for (uint32_t stage = 0; stage < layout.plan.pp; stage++)
    {
        if (layout.StageRanksIn(building, stage) > 0)
        {
            stages.push_back(memory.Of(building, stage));
        }
    }
    return stages;
}

namespace
{

std::optional<Infeasible>
FindShortfall(const std::vector<MemoryUse>& stages)
{
    std::optional<uint32_t> worst;
    Bytes worstExcess;
    for (uint32_t stage = 0; stage < stages.size(); stage++)
    {
        const Bytes limit = stages[stage].usable;
        const Bytes total = stages[stage].Total();
        if (limit > Bytes() && total > limit && (!worst || total - limit > worstExcess))
        {
            worst = stage;
            worstExcess = total - limit;
        }
    }
    if (!worst)
    {
        return std::nullopt;
    }
    const MemoryUse& use = stages[*worst];
    const double over =
        100 * static_cast<double>(worstExcess.Count()) / static_cast<double>(use.usable.Count());
    return Infeasible{"memory",
                      "stage " + std::to_string(*worst) + " needs " + ToString(use.Total()) +
                          " of the usable " + ToString(use.usable) + " (" +
                          (over < 1 ? "less than 1" : std::to_string(std::lround(over))) +
                          " % more), most of it " + LargestCategory(use)};
}

} // namespace

std::optional<Infeasible>
CheckMemory(const Scenario& scenario, const RankLayout& layout)
{
    return scenario.Job().workload.memoryLimit ? FindShortfall(MemoryOf(scenario, layout))
                                               : std::nullopt;
}

std::optional<Infeasible>
CheckMemory(const Scenario& scenario, const std::vector<MemoryUse>& stages)
{
    return scenario.Job().workload.memoryLimit ? FindShortfall(stages) : std::nullopt;
}

std::vector<std::string>
MemoryWarnings(const Scenario& scenario)
{
    if (scenario.Job().workload.memoryLimit)
    {
        return {};
    }
    const auto layout = LayOut(scenario.Job().plan, scenario.cluster);
    const auto* known = std::get_if<RankLayout>(&layout);
    return known == nullptr ? std::vector<std::string>()
                            : MemoryWarnings(MemoryOf(scenario, *known));
}

std::vector<std::string>
MemoryWarnings(const std::vector<MemoryUse>& stages)
{
    const auto shortfall = FindShortfall(stages);
    return shortfall ? std::vector<std::string>{"memory: " + shortfall->detail}
                     : std::vector<std::string>();
}

} // namespace scaleacross
