// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/partition/balance.h"

#include "core/work/collectives/parameter-units.h"
#include "core/work/cost/compute-cost.h"
#include "core/work/graph/task-graph-builder.h"
#include "core/work/partition/chunk-partition.h"
#include "core/work/partition/partition.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

namespace scaleacross
{

namespace
{

double
SecondsOf(const ComputeCost& cost)
{
    return (cost.forward + cost.inputGradient + cost.weightGradient).S();
}

/// Time to compute one microbatch on one accelerator, by layer, and of both ends of the model.
struct ModelTimes
{
    std::vector<double> upTo; //!< sum over the layers before
    double embedding{0};
    double head{0};
};

bool
operator==(const ModelTimes& a, const ModelTimes& b)
{
    return a.upTo == b.upTo && a.embedding == b.embedding && a.head == b.head;
}

ModelTimes
TimesOn(const JobSpec& job, const GpuSpec& gpu)
{
    ModelTimes times;
    times.upTo.push_back(0);
    std::array<double, ModelSpec::kLayerKinds> ofKind;
    ofKind.fill(-1);
    for (uint32_t layer = 0; layer < job.model.LayersInTraining(); layer++)
    {
        double& known = ofKind[job.model.KindOf(layer)];
        if (known < 0)
        {
            const LayerCost cost = CostOfLayer(job.model, job.workload, job.plan, gpu, layer);
            known = SecondsOf(cost.attention) + SecondsOf(cost.mlp);
        }
        times.upTo.push_back(times.upTo.back() + known);
    }
    times.embedding = SecondsOf(CostOfEmbedding(job.model, job.workload, job.plan, gpu));
    times.head =
        SecondsOf(CostOfHead(job.model, job.workload, job.plan, gpu)) * (1 + job.model.mtpLayers);
    return times;
}

/// Those of every building.
std::vector<ModelTimes>
TimesByBuilding(const Scenario& scenario)
{
    std::vector<ModelTimes> times;
    const GpuSpec* before = nullptr;
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        const bool same = before != nullptr && *before == building.gpu;
        times.push_back(same ? times.back() : TimesOn(scenario.Job(), building.gpu));
        before = &building.gpu;
    }
    return times;
}

double
TimeOf(const ModelTimes& times, const StageLayers& layers)
{
    return times.upTo[layers.first + layers.count] - times.upTo[layers.first] +
           (layers.embedding ? times.embedding : 0) + (layers.head ? times.head : 0);
}

/// Time of a building's slowest stage for one microbatch.
double
SlowestStage(const ModelTimes& times,
             const PipelineShape& shape,
             const std::vector<StageLayers>& split)
{
    double slowest = 0;
    for (uint32_t stage = 0; stage < shape.ranks; stage++)
    {
        double sum = 0;
        for (uint32_t chunk = 0; chunk < shape.chunks; chunk++)
        {
            sum += TimeOf(times, split[VirtualStage(shape, stage, chunk)]);
        }
        slowest = std::max(slowest, sum);
    }
    return slowest;
}

std::optional<Infeasible>
CheckEach(PipelineShape shape, const std::vector<uint32_t>& microbatches)
{
    for (const uint32_t m : std::set<uint32_t>(microbatches.begin(), microbatches.end()))
    {
        shape.microbatches = m;
        if (auto bad = shape.schedule->Check(shape))
        {
            return bad;
        }
    }
    return std::nullopt;
}

/// Whether replicas in different buildings gather or reduce together for every microbatch. HSDP
/// does so inside buildings only: it sums over its replicas once.
bool
JoinsEveryMicrobatch(const ParallelPlan& plan, const RankLayout& layout)
{
    const DataGroups groups = DataGroupsOf(layout.dense, layout);
    const bool reduces = plan.ReductionOf()->everyMicrobatch;
    return ((plan.Reshards() || reduces) && layout.Crosses(groups.shard)) ||
           (reduces && !plan.sharding->optimizer && layout.Crosses(groups.replicas));
}

/// The ends of Partition() by all that its costs are made of. One plan is asked for its layers
/// several times, and thousands that follow each other in a search have the same.
class KnownPartitions
{
  public:
    using Key = std::vector<double>;

    template <class Find>
    const std::vector<uint32_t>& Of(const Key& key, const Find& find)
    {
        if (m_ends.size() >= kMost)
        {
            m_ends.clear();
        }
        const auto known = m_ends.find(key);
        return known != m_ends.end() ? known->second : m_ends.emplace(key, find()).first->second;
    }

  private:
    static constexpr size_t kMost = 256;

    std::map<Key, std::vector<uint32_t>> m_ends;
};

/// @param ranks by position
/// @param held by position: the buildings whose times count
KnownPartitions::Key
KeyOf(const LayerItems& items,
      const ParallelPlan& plan,
      const std::vector<ModelTimes>& times,
      const std::vector<uint32_t>& ranks,
      const std::vector<std::vector<uint32_t>>& held)
{
    KnownPartitions::Key key = {static_cast<double>(items.Size()),
                                static_cast<double>(times.size()),
                                plan.embeddingAsLayer ? 1.0 : 0.0,
                                plan.lossAsLayer ? 1.0 : 0.0};
    for (const ModelTimes& building : times)
    {
        key.insert(key.end(), building.upTo.begin(), building.upTo.end());
        key.push_back(building.embedding);
        key.push_back(building.head);
    }
    key.insert(key.end(), ranks.begin(), ranks.end());
    for (const std::vector<uint32_t>& buildings : held)
    {
        key.push_back(static_cast<double>(buildings.size()));
        key.insert(key.end(), buildings.begin(), buildings.end());
    }
    return key;
}

/// The ends of its positions in items.
std::vector<uint32_t>
EndsOf(const std::vector<StageLayers>& split, uint32_t items, const ParallelPlan& plan)
{
    std::vector<uint32_t> ends;
    uint32_t end = plan.embeddingAsLayer ? 1 : 0;
    for (const StageLayers& layers : split)
    {
        end += layers.count;
        ends.push_back(end);
    }
    ends.back() = items; // what counts as layers behind the last is no item
    return ends;
}

/// By position.
std::vector<uint32_t>
RanksOf(const PipelineShape& shape, uint32_t positions)
{
    std::vector<uint32_t> ranks;
    for (uint32_t i = 0; i < positions; i++)
    {
        ranks.push_back(RankOf(shape, i));
    }
    return ranks;
}

} // namespace

std::vector<StageLayers>
LayersOf(const Scenario& scenario, const RankLayout& layout)
{
    const JobSpec& job = scenario.Job();
    auto split = SplitLayers(job.model, job.plan);
    // Chunks of a single stage are all on the same ranks, none of which another waits for.
    const bool byTime = job.plan.apportion->byTime && job.plan.pp > 1;
    if (!byTime || job.plan.layers.IsGiven() || split.empty())
    {
        return split;
    }
    const PipelineShape shape = PipelineShapeOf(job);
    const uint32_t positions = Positions(shape);
    const LayerItems items(job.model, job.plan);
    const auto times = TimesByBuilding(scenario);
    // By position, of the buildings that hold it those whose times are not another's, too.
    std::vector<std::vector<uint32_t>> held(positions);
    for (uint32_t i = 0; i < positions; i++)
    {
        for (uint32_t b = 0; b < layout.Buildings(); b++)
        {
            const bool counts = layout.StageRanksIn(b, RankOf(shape, i)) > 0 &&
                                std::none_of(held[i].begin(), held[i].end(), [&](uint32_t other) {
                                    return times[other] == times[b];
                                });
            if (counts)
            {
                held[i].push_back(b);
            }
        }
    }
    const auto cost = [&](uint32_t position, uint32_t first, uint32_t end) {
        const StageLayers layers = items.At(position, positions, first, end);
        double slowest = 0;
        for (const uint32_t b : held[position])
        {
            slowest = std::max(slowest, TimeOf(times[b], layers));
        }
        return slowest;
    };
    const std::vector<uint32_t> ranks = RanksOf(shape, positions);
    static thread_local KnownPartitions known;
    const std::vector<uint32_t>& ends = known.Of(KeyOf(items, job.plan, times, ranks, held), [&] {
        const std::vector<uint32_t> ofParts = Partition(items.Size(), positions, cost);
        return shape.chunks == 1
                   ? ofParts
                   : PartitionOverRanks({EndsOf(split, items.Size(), job.plan), ofParts},
                                        ranks,
                                        cost);
    });
    for (uint32_t i = 0; i < positions; i++)
    {
        split[i] = items.At(i, positions, i == 0 ? 0 : ends[i - 1], ends[i]);
    }
    return split;
}

std::variant<std::vector<uint32_t>, Infeasible>
MicrobatchesOf(const Scenario& scenario, const RankLayout& layout)
{
    const JobSpec& job = scenario.Job();
    const PipelineShape shape = PipelineShapeOf(job);
    const uint32_t buildings = layout.Buildings();
    std::vector<uint32_t> microbatches(buildings, shape.microbatches);
    // Only data parallelism may join replicas of different lengths.
    const bool wholeReplicas = !layout.Crosses(layout.tensor) && !layout.Crosses(layout.context) &&
                               !layout.Crosses(layout.expert) &&
                               !layout.Crosses(layout.expertTensor) &&
                               !layout.Crosses(layout.pipeline);
    if (job.plan.apportion->byTime && wholeReplicas && layout.Crosses(layout.dense))
    {
        const auto split = LayersOf(scenario, layout);
        const auto times = TimesByBuilding(scenario);
        std::vector<double> slowest;
        std::vector<uint32_t> replicas;
        for (uint32_t b = 0; b < buildings; b++)
        {
            slowest.push_back(SlowestStage(times[b], shape, split));
            replicas.push_back(layout.StageRanksIn(b, 0) /
                               (job.plan.tp * job.plan.cp)); // of dp replicas in all
        }
        const uint32_t total = job.workload.globalBatch / job.plan.microbatch;
        const auto cost = [&](uint32_t b, uint32_t m) {
            return (m + shape.ranks - 1.0) * slowest[b];
        };
        for (const uint32_t unit : {1U, shape.ranks})
        {
            const auto found = DealOut(total, replicas, unit, cost);
            if (!found.empty() && !CheckEach(shape, found))
            {
                microbatches = found;
                break;
            }
        }
    }
    const uint64_t samples = uint64_t{job.plan.dp} * job.plan.microbatch;
    const bool even = std::all_of(microbatches.begin(), microbatches.end(), [&](uint32_t m) {
        return m == microbatches.front();
    });
    const uint64_t divisor = even ? samples : job.plan.microbatch;
    if (job.workload.globalBatch % divisor != 0)
    {
        return Infeasible{"batch",
                          "global batch " + std::to_string(job.workload.globalBatch) +
                              " is not divisible by " + (even ? "dp x " : "") + "microbatch " +
                              std::to_string(divisor) + ": take a multiple of that, or another " +
                              (even ? "plan.dp or " : "") + "plan.microbatch"};
    }
    if (!even && JoinsEveryMicrobatch(job.plan, layout))
    {
        return Infeasible{"balance",
                          "replicas of different lengths cannot gather or reduce for every "
                          "microbatch together across buildings: take plan.apportion: even, or "
                          "gather and reduce once (plan.reshard, plan.reduce)"};
    }
    if (auto bad = CheckEach(shape, microbatches))
    {
        return *bad;
    }
    return microbatches;
}

} // namespace scaleacross
