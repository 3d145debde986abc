// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/memory/memory.h"

#include "core/pipeline/pipeline-order.h"
#include "core/work/collectives/parameter-units.h"
#include "core/work/cost/linear-layers.h"
#include "core/work/graph/task-graph-builder.h"
#include "core/work/memory/usable-memory.h"
#include "core/work/memory/working-set.h"
#include "core/work/partition/balance.h"
#include "core/work/partition/layer-split.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

// Mixed precision with Adam: FP32 master weights and two moments.
constexpr uint64_t kOptimizerBytes = 12;

/// Tokens of one microbatch on one rank; the sequence is split by cp, and by tp outside of and
/// (by heads and widths) inside of attention and MLP.
double
TokensPerRank(const JobSpec& job)
{
    return static_cast<double>(job.workload.sequence) * job.plan.microbatch /
           (static_cast<double>(job.plan.cp) * job.plan.tp);
}

Bytes
Whole(double bytes)
{
    return Bytes(static_cast<uint64_t>(bytes));
}

/// Largest sum of `window` neighbours.
uint64_t
LargestWindow(const std::vector<uint64_t>& values, size_t window)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < values.size(); i++)
    {
        uint64_t sum = 0;
        for (size_t j = i; j < std::min(values.size(), i + window); j++)
        {
            sum += values[j];
        }
        largest = std::max(largest, sum);
    }
    return largest;
}

/// Sizes of the data-parallel shard groups.
struct Shards
{
    uint64_t dense{1};
    uint64_t expert{1};
};

Shards
ShardsOf(const RankLayout& layout)
{
    return {DataGroupsOf(layout.dense, layout).shard.Size(),
            DataGroupsOf(layout.experts, layout).shard.Size()};
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
          const RankLayout& layout,
          MemoryUse& use)
{
    const ParallelPlan& plan = job.plan;
    const Shards shards = ShardsOf(layout);
    uint64_t held = 0;
    uint64_t atRest = 0;
    std::vector<uint64_t> split; // parameters of each unit of which the rank has no 16-bit weights
    for (const auto& unit : units)
    {
        held += unit.dense + unit.expert;
        atRest += ShardOf(unit, layout);
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

/// Copies of a token that reach experts of the fullest rank, per token: k, with the imbalance.
double
DispatchedCopies(const JobSpec& job, uint32_t layer)
{
    return job.model.IsMoeLayer(layer) ? job.model.topK * job.workload.ExpertLoad(job.plan.ep) : 0;
}

/// Width of the MLP that a token passes through on the fullest rank: f, or k f_e + f_s.
double
MlpWidth(const JobSpec& job, uint32_t layer)
{
    const ModelSpec& model = job.model;
    return model.IsMoeLayer(layer)
               ? DispatchedCopies(job, layer) * static_cast<double>(model.expertFfn) +
                     static_cast<double>(model.sharedFfn)
               : static_cast<double>(model.denseFfn);
}

/// Ranks of a tensor-parallel group that keep the same norm inputs and outputs, each for all
/// tokens: what they keep counts as often per token of a rank.
double
Repeated(const JobSpec& job)
{
    return job.workload.stack.sequenceParallel ? 1 : job.plan.tp;
}

/// Parts of a norm's output that a rank keeps for the linear layers that read it: its own, or all
/// of the group where the software does not gather it once more.
double
KeptParts(const JobSpec& job)
{
    const SoftwareStack& stack = job.workload.stack;
    return stack.sequenceParallel && !stack.gathersForWeights ? job.plan.tp : 1;
}

/// Parts of the dispatched copies that a rank keeps for the weight gradients of its experts, which
/// read those of all etp ranks: gathered behind the dispatch and not once more.
double
KeptCopies(const JobSpec& job)
{
    return job.plan.ExpertsApart() ? job.plan.ExpertTensor() : 1;
}

/// Bytes of an element that only GEMMs read which run in the workload's precision.
double
OperandBytes(const JobSpec& job)
{
    return job.workload.precision->operandBytes;
}

/// Bytes that an MLP of this width saves: gate, up and product (GELU: input and output).
double
WidthBytes(const JobSpec& job, double width)
{
    return ((job.model.gatedMlp ? 4 : 2) + OperandBytes(job)) * width;
}

/// Bytes of an element of the second norm's output: the router, which MoE layers have, reads it in
/// BF16.
double
MlpInputBytes(const JobSpec& job, uint32_t layer)
{
    return job.model.IsMoeLayer(layer) ? 2 : OperandBytes(job);
}

/// Elements of the latent vectors of MLA, q + c, which all heads and so all tp ranks need.
double
LatentWidth(const JobSpec& job)
{
    return (job.model.queryRank + job.model.kvRank) * Repeated(job);
}

/**
 * Bytes that a layer's attention saves per token of a rank, BF16, flash attention: input of the
 * norm 2h, its output 2h, Q K V 2(a d + g d + g d_v), attention output 2 a d_v, log-sum-exp 4a
 * (FP32), or the scores where attention is not flash. MLA also saves the latent vectors before and
 * after their norms, 2 x 2(q + c), and the keys' rotary part, 2r. Without sequence parallelism that
 * and what belongs to norms is kept tp times.
 *
 * With FP8 the norms' outputs, which only GEMMs read, take 1 byte an element: h and q + c less. The
 * attention output stays: its own backward reads it, too, in BF16.
 */
double
SavedByAttention(const JobSpec& job)
{
    const ModelSpec& model = job.model;
    const SoftwareStack& stack = job.workload.stack;
    const double h = model.hidden * Repeated(job);
    const double a = model.heads;
    const double g = model.kvHeads;
    const double d = model.headDim;
    const double v = model.ValueDim();
    const double norms =
        2 * (h + LatentWidth(job)) + OperandBytes(job) * (h * KeptParts(job) + LatentWidth(job));
    // Scores and softmax at 2 bytes and dropout's mask at 1, 5 a s in 2205.05198.
    const double scores = stack.flashAttention ? 4 * a : 5 * a * job.workload.sequence;
    return norms + 2 * (a * d + g * d + g * v) + 2 * a * v + scores +
           2 * model.ropeDim * Repeated(job);
}

/**
 * Bytes that one layer saves per token of a rank for its backward, no dropout: attention's, input
 * of the second norm 2h, its output 2h, and the MLP's gate, up and product 6f (GELU: input and
 * output 4f). A MoE layer has k f_e + f_s for f, and the k dispatched copies 2kh, with expert
 * parallelism those of all etp ranks; the fullest rank has the workload's expert load times the
 * routed part. In a narrow precision the product (GELU: output), the dispatched copies and, without
 * a router, the norm's output take its operand's bytes an element. A module of multi-token
 * prediction has two norms more.
 *
 * After 2205.05198, which counts 34h for GELU with f = 4h, a d = h, g = a: this is 32h + 4a, the
 * two dropout masks (h each) less and the statistics more.
 */
double
SavedPerToken(const JobSpec& job, uint32_t layer)
{
    const ModelSpec& model = job.model;
    const double h = model.hidden * Repeated(job);
    const double operand = OperandBytes(job);
    // Two inputs of norms, and the norms' outputs, which the projection reads.
    const double module = model.IsModule(layer) ? (4 + 2 * operand) * h : 0;
    return module + SavedByAttention(job) + (2 + MlpInputBytes(job, layer) * KeptParts(job)) * h +
           WidthBytes(job, MlpWidth(job, layer)) +
           operand * DispatchedCopies(job, layer) * KeptCopies(job) * model.hidden;
}

/// Bytes of these in the norms' outputs, which come again from their inputs.
double
NormsPerToken(const JobSpec& job, uint32_t layer)
{
    const double h = job.model.hidden * Repeated(job) * KeptParts(job);
    return OperandBytes(job) * (h + LatentWidth(job)) + MlpInputBytes(job, layer) * h;
}

/// Bytes that doing all of a layer's MLP again drops: gate, up and product, and the copies that
/// have been dispatched. Of the norm's output, its input, a rank keeps its own part, which the norm
/// may drop, too.
double
WholeMlpPerToken(const JobSpec& job, uint32_t layer)
{
    const double parts = job.plan.recompute->norms ? 0 : KeptParts(job) - 1;
    return WidthBytes(job, MlpWidth(job, layer)) +
           OperandBytes(job) * DispatchedCopies(job, layer) * KeptCopies(job) * job.model.hidden +
           MlpInputBytes(job, layer) * parts * job.model.hidden * Repeated(job);
}

/// Bytes that recomputing parts of an MLP drops: all of the shared experts, and, where they are
/// not among these, the products of gate and up, 2f of the 6f, which come again from those two
/// (GELU: its output, 2f of the 4f, from its input).
double
PartsOfMlpPerToken(const JobSpec& job, uint32_t layer)
{
    const RecomputedParts& again = *job.plan.recompute;
    const bool moe = job.model.IsMoeLayer(layer);
    const double shared = moe && again.sharedExperts ? static_cast<double>(job.model.sharedFfn) : 0;
    return WidthBytes(job, shared) +
           (again.activations ? OperandBytes(job) * (MlpWidth(job, layer) - shared) : 0);
}

/// Bytes of these that recomputing linear layers drops: the outputs of those it does again, 2 bytes
/// an element. That of attention's output is kept as the sum with the residual, 2h, which the
/// second norm reads.
double
LinearsPerToken(const JobSpec& job, uint32_t layer)
{
    const RepeatedLinears again = AlternateLinears(job.model, layer);
    double bytes = 0;
    for (const auto* half : {&again.attention, &again.mlp})
    {
        for (const auto& linear : *half)
        {
            const bool split = linear.split == LinearLayer::Split::Columns;
            bytes += 2 * linear.out * (split ? 1 : Repeated(job));
        }
    }
    return bytes;
}

/// Bytes of these that projections from latent vectors make again: queries, if they come from one,
/// keys and values.
double
UpProjectionsPerToken(const JobSpec& job)
{
    const ModelSpec& model = job.model;
    const double queries = model.queryRank > 0 ? model.headDim : 0;
    return model.IsLatent() ? 2 * model.heads * (queries + model.headDim + model.ValueDim()) : 0;
}

/// Bytes of these that the plan's recomputation of parts of layers drops. Core attention has
/// nothing to add: flash keeps no scores, and the log-sum-exp is what it makes them again from.
double
DroppedPerToken(const JobSpec& job, uint32_t layer)
{
    const RecomputedParts& again = *job.plan.recompute;
    return (again.norms ? NormsPerToken(job, layer) : 0) +
           (again.upProjections ? UpProjectionsPerToken(job) : 0) +
           (again.linears ? LinearsPerToken(job, layer) : 0) +
           (again.WholeMlp(job.model.IsMoeLayer(layer)) ? WholeMlpPerToken(job, layer)
                                                        : PartsOfMlpPerToken(job, layer));
}

/// Bytes that a recomputation of whole layers keeps, per token of a rank: the layer's input, of a
/// module both of its inputs, and queries, keys and values with it.
double
KeptOfLayer(const JobSpec& job, uint32_t layer)
{
    const ModelSpec& model = job.model;
    const double projections =
        static_cast<double>(model.heads) * model.headDim +
        static_cast<double>(model.kvHeads) * (model.headDim + model.ValueDim());
    return (model.IsModule(layer) ? 4.0 : 2.0) * model.hidden * Repeated(job) +
           (job.plan.recompute->keepsProjections ? 2 * projections : 0);
}

/// What the head keeps: the final norm's input and output, and the logits in BF16, which become
/// their gradient.
double
HeadPerToken(const JobSpec& job)
{
    const ModelSpec& model = job.model;
    return (4.0 * model.hidden * Repeated(job) + 2.0 * static_cast<double>(model.vocabulary)) *
           (1 + model.mtpLayers);
}

/// What the schedule keeps of a chunk for each microbatch in flight, per token of a rank.
double
KeptPerToken(const JobSpec& job, const StageLayers& layers)
{
    double kept = 0;
    for (uint32_t i = 0; i < layers.count; i++)
    {
        const uint32_t layer = layers.first + i;
        kept += job.plan.OfLayer(i).recompute->layers
                    ? KeptOfLayer(job, layer)
                    : SavedPerToken(job, layer) - DroppedPerToken(job, layer);
    }
    return kept + (layers.head ? HeadPerToken(job) : 0);
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

/// Messages of the pipeline, stand-ins for gradients, and what is live in a pass beside what is
/// kept. Layers run backward when what the head has kept is gone; the head, before any layer's
/// activations are recomputed.
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
    return TokensPerRank(job) * (messages + live) +
           static_cast<double>(StandInsOf(scenario, chunks).Count());
}

MemoryUse
MemoryOfStage(const Scenario& scenario,
              const RankLayout& layout,
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
    AddStates(units, job, layout, use);
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
    };
    return figures;
}

std::vector<MemoryUse>
MemoryOf(const Scenario& scenario, const RankLayout& layout)
{
    const JobSpec& job = scenario.Job();
    const auto split = LayersOf(scenario, layout);
    PipelineShape shape = PipelineShapeOf(scenario, layout);
    const auto microbatches = std::get<std::vector<uint32_t>>(MicrobatchesOf(scenario, layout));
    shape.microbatches = *std::max_element(microbatches.begin(), microbatches.end());
    const PipelineOrders orders = shape.schedule->Orders(shape);
    std::vector<MemoryUse> stages;
    for (uint32_t stage = 0; stage < job.plan.pp; stage++)
    {
        stages.push_back(MemoryOfStage(scenario, layout, split, shape, orders[stage], stage));
    }
    return stages;
}

namespace
{

std::optional<Infeasible>
FindShortfall(const Scenario& scenario, const RankLayout& layout)
{
    const auto stages = MemoryOf(scenario, layout);
    std::optional<uint32_t> worst;
    Bytes worstExcess;
    for (uint32_t stage = 0; stage < stages.size(); stage++)
    {
        const Bytes limit = UsableMemory(scenario, layout, stage);
        const Bytes total = stages[stage].Total();
        if (total > limit && (!worst || total - limit > worstExcess))
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
    const Bytes limit = UsableMemory(scenario, layout, *worst);
    const double over =
        100 * static_cast<double>(worstExcess.Count()) / static_cast<double>(limit.Count());
    return Infeasible{"memory",
                      "stage " + std::to_string(*worst) + " needs " + ToString(use.Total()) +
                          " of the usable " + ToString(limit) + " (" +
                          (over < 1 ? "less than 1" : std::to_string(std::lround(over))) +
                          " % more), most of it " + LargestCategory(use)};
}

} // namespace

std::optional<Infeasible>
CheckMemory(const Scenario& scenario, const RankLayout& layout)
{
    return scenario.Job().workload.memoryLimit ? FindShortfall(scenario, layout) : std::nullopt;
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
    const auto shortfall = known == nullptr ? std::nullopt : FindShortfall(scenario, *known);
    return shortfall ? std::vector<std::string>{"memory: " + shortfall->detail}
                     : std::vector<std::string>();
}

} // namespace scaleacross
