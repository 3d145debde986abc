// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/plan-fields.h"

#include "core/base/errors.h"
#include "core/base/field-rows.h"
#include "core/base/text.h"
#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>
#include <tuple>
#include <type_traits>
#include <utility>

namespace scaleacross
{

namespace
{

using Row = FieldRows<Plan>;

// Degrees up to 2^22, the most GPUs of a building: larger ones only cost time to refuse later.
constexpr uint32_t g_mostRanks = 1U << 22;

PlanField
CrossingField()
{
    return Row::Make(
        "plan.crossing",
        kCrossingAllowed,
        "dimension whose groups span buildings (DP-out, PP-out, EP-out), or the order in which all "
        "of them make up the number of a rank, inner to outer",
        SCALEACROSS_MEMBER(parallel.crossing),
        Crossing::Parse,
        [](const Crossing& crossing) { return ToString(crossing); });
}

PlanField
RecomputeField()
{
    PlanField field = Row::Make(
        "plan.recompute",
        RecomputeAllowed(),
        "what backward computes again in place of keeping it from forward",
        SCALEACROSS_MEMBER(parallel.recompute),
        [](const std::string& text) { return Recompute(text); },
        [](const Recompute& recompute) { return ToString(recompute); });
    for (const auto* row : RecomputeWord::Rows())
    {
        field.words.push_back(row->word);
        field.meanings.push_back(row->help);
    }
    return field;
}

std::vector<PlanField>
ParallelFields()
{
    return {
        Row::Whole("plan.tp",
                   1,
                   g_mostRanks,
                   "tensor parallel degree",
                   SCALEACROSS_MEMBER(parallel.tp)),
        Row::Whole("plan.cp",
                   1,
                   g_mostRanks,
                   "context parallel degree",
                   SCALEACROSS_MEMBER(parallel.cp)),
        Row::Whole("plan.ep",
                   1,
                   g_mostRanks,
                   "expert parallel degree; divides dp, or with etp tp x cp x dp / etp",
                   SCALEACROSS_MEMBER(parallel.ep)),
        Row::Whole("plan.etp",
                   0,
                   g_mostRanks,
                   "ranks that a routed expert is split over; divides tp, 0 means tp",
                   SCALEACROSS_MEMBER(parallel.etp)),
        Row::Whole("plan.pp",
                   1,
                   g_mostRanks,
                   "pipeline parallel degree (stages)",
                   SCALEACROSS_MEMBER(parallel.pp)),
        Row::Whole("plan.dp",
                   1,
                   g_mostRanks,
                   "data parallel degree; left out, it follows: GPUs / (tp cp pp)",
                   SCALEACROSS_MEMBER(parallel.dp))
            .Always(),
        CrossingField(),
        Row::Word("plan.sharding",
                  "what the ranks of a data-parallel group share, and what each has whole",
                  SCALEACROSS_MEMBER(parallel.sharding)),
        Row::Whole("plan.shard_ranks",
                   0,
                   g_mostRanks,
                   "hsdp: members of a data-parallel group that share parameters, replicated over "
                   "the others; 0: those of a building",
                   SCALEACROSS_MEMBER(parallel.shardRanks)),
        Row::Bool("plan.reshard",
                  "fsdp, hsdp: free gathered parameters after forward, gather again for backward",
                  SCALEACROSS_MEMBER(parallel.reshard)),
        Row::Word("plan.reduce",
                  "when gradients are reduced; left out: microbatch with reshard or zero2",
                  SCALEACROSS_MEMBER(parallel.reduce),
                  [](const Plan& plan) { return plan.parallel.ReductionOf(); }),
        Row::Whole("plan.prefetch",
                   0,
                   64,
                   "with reshard: units gathered before they are needed",
                   SCALEACROSS_MEMBER(parallel.prefetch)),
        Row::Amount("plan.bucket",
                    Bytes(0),
                    Bytes(1ULL << 44),
                    "layers are joined until they have as many bytes of gradients, gathered and "
                    "reduced as one; 0B: every layer by itself",
                    SCALEACROSS_MEMBER(parallel.bucket)),
        Row::Word("plan.schedule",
                  "pipeline schedule; dorapp is reconstructed (flexible interleaved 1F1B)",
                  SCALEACROSS_MEMBER(parallel.schedule)),
        Row::Whole("plan.microbatch",
                   1,
                   1U << 16,
                   "sequences per microbatch",
                   SCALEACROSS_MEMBER(parallel.microbatch)),
        Row::Whole("plan.chunks",
                   1,
                   4096,
                   "model chunks (virtual stages) per rank",
                   SCALEACROSS_MEMBER(parallel.chunks)),
        Row::Whole("plan.round",
                   0,
                   1U << 24,
                   "schedules in rounds: contiguous microbatches per chunk and round; 0 means pp",
                   SCALEACROSS_MEMBER(parallel.round)),
        Row::Whole("plan.in_flight",
                   0,
                   1U << 16,
                   "latency-aware: most microbatches whose activations a rank holds; 0 means pp",
                   SCALEACROSS_MEMBER(parallel.inFlight)),
        Row::Word("plan.apportion",
                  "how layers are dealt out to stages, and microbatches to replicas",
                  SCALEACROSS_MEMBER(parallel.apportion)),
        Row::Make(
            "plan.layers",
            kLayerLayoutAllowed,
            "layers of every position of the pipeline, which are pp x chunks; a position may have "
            "0. auto: as apportioned",
            SCALEACROSS_MEMBER(parallel.layers),
            LayerLayout::Parse,
            [](const LayerLayout& layers) { return ToString(layers); }),
        Row::Bool("plan.embedding_as_layer",
                  "layers are dealt out with the embedding as one of them: the first position has "
                  "one less, or none",
                  SCALEACROSS_MEMBER(parallel.embeddingAsLayer)),
        Row::Bool("plan.loss_as_layer",
                  "layers are dealt out with head and loss as one of them: the last position has "
                  "one less, or none",
                  SCALEACROSS_MEMBER(parallel.lossAsLayer)),
        RecomputeField(),
        Row::Whole("plan.recompute_layers",
                   0,
                   4096,
                   "with full recomputation: the first layers of every chunk that have it; 0: all",
                   SCALEACROSS_MEMBER(parallel.recomputeLayers)),
        Row::Whole("plan.offload_layers",
                   0,
                   4096,
                   "with pp 1 and no recomputation: the first layers, whose kept activations wait "
                   "for backward in host memory",
                   SCALEACROSS_MEMBER(parallel.offloadLayers)),
        Row::Bool("plan.async_tp",
                  "tensor-parallel gathers and scatters in steps beside the GEMMs they belong to",
                  SCALEACROSS_MEMBER(parallel.asyncTensor)),
    };
}

std::vector<PlanField>
NetworkFields()
{
    return {
        Row::Word("network.transport",
                  "what carries data between NICs",
                  SCALEACROSS_MEMBER(network.transport)),
        Row::Word("network.multipath",
                  "which of several equal paths packets take",
                  SCALEACROSS_MEMBER(network.multipath)),
        Row::Word("network.control",
                  "what decides how fast a queue pair of the packet engine may send",
                  SCALEACROSS_MEMBER(network.control)),
        Row::Word("network.recovery",
                  "how lost packets are repaired; spraying needs selective-repeat",
                  SCALEACROSS_MEMBER(network.recovery)),
        Row::Whole("network.reorder_tolerance",
                   1,
                   1U << 22,
                   "selective-repeat with flowlets or spraying: packets of a queue pair that may "
                   "overtake one before it counts as lost",
                   SCALEACROSS_MEMBER(network.reorderTolerance)),
        Row::Whole("network.qps",
                   1,
                   1024,
                   "queue pairs a connection is spread over",
                   SCALEACROSS_MEMBER(network.qps)),
        Row::Amount("network.segment",
                    Bytes(256),
                    Bytes(1ULL << 32),
                    "bytes of a message that go over one queue pair before the next takes its turn",
                    SCALEACROSS_MEMBER(network.segment)),
        Row::Word("network.balance",
                  "how messages are spread over queue pairs, and when one counts as delivered",
                  SCALEACROSS_MEMBER(network.balance)),
        Row::Whole("network.outstanding",
                   0,
                   1024,
                   "segments a queue pair may have sent and not acknowledged; 0: any number",
                   SCALEACROSS_MEMBER(network.outstanding)),
        Row::Amount(
            "network.window",
            Bytes(0),
            Bytes(1ULL << 40),
            "payload a queue pair may have sent and not acknowledged, in whole packets; 0B: "
            "any amount",
            SCALEACROSS_MEMBER(network.window)),
        Row::Amount(
            "network.admission",
            Bytes(0),
            Bytes(1ULL << 40),
            "payload that all senders together may have under way to a NIC, which grants it "
            "in turn; 0B: they do not ask",
            SCALEACROSS_MEMBER(network.admission)),
        Row::Word("network.qp_scheduler",
                  "how long a queue pair of a NIC sends before the next one takes its turn",
                  SCALEACROSS_MEMBER(network.qpScheduler)),
        Row::Amount("network.qp_burst",
                    Bytes(64),
                    Bytes(1ULL << 30),
                    "with qp_scheduler burst: bytes on the wire that end a turn, in whole packets",
                    SCALEACROSS_MEMBER(network.qpBurst)),
        Row::Word("network.collective",
                  "how collectives that reduce or gather go",
                  SCALEACROSS_MEMBER(network.collective)),
        Row::Word("network.all_to_all",
                  "how an all-to-all goes",
                  SCALEACROSS_MEMBER(network.allToAll)),
        Row::Amount("network.collective_chunk",
                    Bytes(0),
                    Bytes(1ULL << 40),
                    "collectives go in chunks of this size, which are in different phases at the "
                    "same time; 0B: whole, or with channels as NCCLX cuts them",
                    SCALEACROSS_MEMBER(network.collectiveChunk)),
        Row::Whole("network.channels",
                   1,
                   1024,
                   "chunks of a collective that may be in the same phase at the same time",
                   SCALEACROSS_MEMBER(network.channels)),
        Row::Word("network.nccl_algorithm",
                  "with the collective nccl: what NCCL_ALGO allows",
                  SCALEACROSS_MEMBER(network.ncclAlgorithm)),
        Row::Word("network.nccl_protocol",
                  "with the collective nccl: what NCCL_PROTO allows",
                  SCALEACROSS_MEMBER(network.ncclProtocol)),
        Row::Whole("network.nccl_channels",
                   0,
                   64,
                   "with the collective nccl: NCCL_MAX_NCHANNELS; 0: as many as NCCL takes",
                   SCALEACROSS_MEMBER(network.ncclChannels)),
        Row::Bool("network.nccl_collnet",
                  "with the collective nccl: NCCL_COLLNET_ENABLE, and switches inside buildings "
                  "that reduce",
                  SCALEACROSS_MEMBER(network.ncclCollnet)),
        Row::Amount("network.nccl_net_step",
                    Duration(),
                    Duration::Seconds(1),
                    "with the collective nccl: what a step between servers takes beyond NCCL's "
                    "table",
                    SCALEACROSS_MEMBER(network.ncclNetStep)),
        Row::Amount("network.nccl_net_long",
                    Duration(),
                    Duration::Seconds(1),
                    "the same once more for trees of 4 KiB and more",
                    SCALEACROSS_MEMBER(network.ncclNetLong)),
        Row::AmountOrNone("network.nccl_net_fill",
                          BitRate(1e6),
                          BitRate(1e15),
                          "with the collective nccl: rate at which up to 2 MiB of a GPU enter the "
                          "network's plugin before any leave it; 0bps: at once",
                          SCALEACROSS_MEMBER(network.ncclNetFill)),
        Row::AmountOrNone("network.nccl_net_flags",
                          BitRate(1e6),
                          BitRate(1e15),
                          "the same with ll and ll128, of up to 128 KiB; 0bps: at once",
                          SCALEACROSS_MEMBER(network.ncclNetFlags)),
        Row::Amount("network.nccl_net_message",
                    Duration(),
                    Duration::Seconds(1),
                    "with the collective nccl: what the network's plugin and proxies take for each "
                    "message of an all-to-all between servers beyond the first eight",
                    SCALEACROSS_MEMBER(network.ncclNetMessage)),
        Row::Amount(
            "network.nccl_net_inject",
            Duration(),
            Duration::Seconds(1),
            "with the collective nccl: what each such message of up to 192 B takes besides, "
            "which the host copies out of GPU memory",
            SCALEACROSS_MEMBER(network.ncclNetInject)),
        Row::Amount("network.token_start",
                    Duration(),
                    Duration::Seconds(1),
                    "with the all-to-alls deepep and deepep-low-latency: what a dispatch or "
                    "combine over several servers takes at its start beyond the kernel",
                    SCALEACROSS_MEMBER(network.tokenStart)),
        Row::Amount("network.token_message",
                    Duration(),
                    Duration::Seconds(1),
                    "with the all-to-all deepep-low-latency: what a message for another server "
                    "takes whoever posts it",
                    SCALEACROSS_MEMBER(network.tokenMessage)),
        Row::Word("network.copy",
                  "where the bytes of a message are on their way between servers",
                  SCALEACROSS_MEMBER(network.copy)),
        Row::Amount("network.mtu",
                    Bytes(256),
                    Bytes(9000),
                    "payload of a full packet",
                    SCALEACROSS_MEMBER(network.mtu)),
        Row::Amount(
            "network.headers",
            Bytes(0),
            Bytes(1024),
            "bytes a data packet adds on the wire, preamble and gap included; left out, they "
            "follow from the transport",
            SCALEACROSS_MEMBER(network.headers),
            [](const Plan& plan) { return plan.network.Format().DataHeaders(); }),
        Row::Amount("network.ack_size",
                    Bytes(1),
                    Bytes(1024),
                    "bytes of an ACK on the wire; left out, they follow from the transport",
                    SCALEACROSS_MEMBER(network.ackSize),
                    [](const Plan& plan) { return Bytes(plan.network.Format().ack); }),
        Row::Whole("network.ack_every",
                   1,
                   1024,
                   "data packets per ACK",
                   SCALEACROSS_MEMBER(network.ackEvery)),
        Row::Bool("network.pfc",
                  "lossless by priority flow control; left out: true with roce",
                  SCALEACROSS_MEMBER(network.pfc),
                  [](const Plan& plan) { return plan.network.UsesPfc(); }),
        Row::Amount("network.lane_credits",
                    Bytes(16ULL << 10),
                    Bytes(1ULL << 40),
                    "with infiniband: credits of a lane of a wire, 128KiB in the standard",
                    SCALEACROSS_MEMBER(network.laneCredits)),
        Row::Amount("network.leaf_buffer",
                    Bytes(1ULL << 16),
                    Bytes(1ULL << 44),
                    "shared packet buffer of a leaf",
                    SCALEACROSS_MEMBER(network.leafBuffer)),
        Row::Amount("network.spine_buffer",
                    Bytes(1ULL << 16),
                    Bytes(1ULL << 44),
                    "shared packet buffer of a spine; long links need depth",
                    SCALEACROSS_MEMBER(network.spineBuffer)),
        Row::Whole("network.timeout_exponent",
                   1,
                   NetworkPlan::kMostTimeoutExponent,
                   "retransmission timeout 4.096us x 2^n",
                   SCALEACROSS_MEMBER(network.timeoutExponent)),
        Row::Whole("network.retries",
                   0,
                   255,
                   "timeouts in a row before a queue pair fails",
                   SCALEACROSS_MEMBER(network.retries)),
        Row::Amount("network.detection",
                    Duration(),
                    Duration::Seconds(100),
                    "time a link has to be down, or back, until the switches at its ends act",
                    SCALEACROSS_MEMBER(network.detection)),
        Row::Amount("network.convergence",
                    Duration(),
                    Duration::Seconds(100),
                    "time from then until all switches have new tables",
                    SCALEACROSS_MEMBER(network.convergence)),
        Row::Bool(
            "network.keep_at_down_port",
            "packets for a link that is down wait for it, or another way, and are not dropped",
            SCALEACROSS_MEMBER(network.keepAtDownPort)),
    };
}

const std::string g_same = "same";

/// A row for one tier's own value of another row's field, or none; `overridden` maps a Plan to it,
/// `common` to what holds without one.
template <class Common, class Overridden>
PlanField
TierField(const PlanField& row, const std::string& tier, Common common, Overridden overridden)
{
    PlanField field;
    field.key = "network.tiers." + tier + row.key.substr(row.key.find('.'));
    field.allowed = g_same + ", or " + row.allowed;
    field.help = row.key + " between GPUs of this tier";
    field.set = [key = field.key, row, common, overridden](Plan& plan, const std::string& text) {
        if (text == g_same)
        {
            overridden(plan).reset();
            return;
        }
        Plan scratch;
        try
        {
            row.set(scratch, text);
        }
        catch (const ConfigError& error)
        {
            throw ConfigError(key,
                              error.Problem(),
                              g_same + ", or " + error.Allowed(),
                              error.Remedy());
        }
        overridden(plan) = common(scratch);
    };
    field.equal = [overridden](const Plan& a, const Plan& b) {
        return overridden(a) == overridden(b);
    };
    field.assign = [overridden](Plan& to, const Plan& from) { overridden(to) = overridden(from); };
    field.usual = [overridden](const Plan& plan) { return !overridden(plan).has_value(); };
    field.get = [row, common, overridden](const Plan& plan) {
        if (!overridden(plan))
        {
            return g_same;
        }
        Plan scratch;
        common(scratch) = *overridden(plan);
        return row.get(scratch);
    };
    return field;
}

/// Rows for the tiers' own values of qps, segment, balance, outstanding and window.
std::vector<PlanField>
TierFields(const std::vector<PlanField>& network)
{
    const auto rowOf = [&network](const std::string& key) -> const PlanField& {
        return *std::find_if(network.begin(), network.end(), [&key](const PlanField& field) {
            return field.key == key;
        });
    };
    std::vector<PlanField> fields;
    size_t index = 0;
    for (const char* tier : {"leaf", "zone", "building", "cross"})
    {
        const auto add = [&](const std::string& key, auto common, auto member) {
            fields.push_back(TierField(
                rowOf(key),
                tier,
                common,
                [ index,
                  member ](auto& plan) -> auto& { return plan.network.tiers[index].*member; }));
        };
        add("network.qps", SCALEACROSS_MEMBER(network.qps), &QueuePairOverride::qps);
        add("network.segment", SCALEACROSS_MEMBER(network.segment), &QueuePairOverride::segment);
        add("network.balance", SCALEACROSS_MEMBER(network.balance), &QueuePairOverride::balance);
        add("network.outstanding",
            SCALEACROSS_MEMBER(network.outstanding),
            &QueuePairOverride::outstanding);
        add("network.window", SCALEACROSS_MEMBER(network.window), &QueuePairOverride::window);
        ++index;
    }
    return fields;
}

const std::string g_scheduling = "network.qp_"; // how NICs serve queue pairs
const std::string g_classes = "network.classes.";
const std::string g_classWeights = "network.class_weights";

/// Rows for the traffic classes of what each parallelism sends, and how they are served.
std::vector<PlanField>
ClassFields()
{
    std::vector<PlanField> fields;
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        const std::string name = ToString(static_cast<CommClass>(c));
        fields.push_back(Row::Whole(
            g_classes + name,
            0,
            kTrafficClasses - 1,
            "traffic class of what " + name +
                " sends between servers, in queues of its "
                "own at NICs and switches",
            [c](auto& plan) -> auto& { return plan.network.classes.of[c]; }));
    }
    fields.push_back(Row::Make(
        g_classWeights,
        ClassWeightsAllowed(),
        "how links serve traffic classes: strictly, the larger number first, or those with a "
        "weight in proportion, after those without",
        SCALEACROSS_MEMBER(network.classes.weights),
        ParseClassWeights,
        ClassWeightsText));
    return fields;
}

/// The last part of a key: "tp" of "plan.tp".
std::string
ShortKey(const PlanField& field)
{
    return field.key.substr(field.key.find('.') + 1);
}

} // namespace

const FieldTable<Plan>&
PlanFields()
{
    static const FieldTable<Plan> fields = [] {
        std::vector<PlanField> all = ParallelFields();
        std::vector<PlanField> network = NetworkFields();
        std::vector<PlanField> tiers = TierFields(network);
        std::vector<PlanField> classes = ClassFields();
        for (std::vector<PlanField>* rows : {&network, &tiers, &classes})
        {
            std::move(rows->begin(), rows->end(), std::back_inserter(all));
        }
        return all;
    }();
    return fields;
}

bool
IsLeftOut(const PlanField& field, const Plan& plan)
{
    const bool ofPart = field.key.rfind("network.tiers.", 0) == 0 ||
                        field.key.rfind(g_scheduling, 0) == 0 ||
                        field.key.rfind(g_classes, 0) == 0 || field.key == g_classWeights;
    return ofPart && field.usual(plan);
}

const PlanField*
FindPlanField(const std::string& key)
{
    return FindField(PlanFields(), key);
}

void
ValidatePlanFields(const Plan& plan, const std::string& prefix)
{
    Plan copy = plan;
    for (const auto& field : PlanFields())
    {
        // What set() accepts is what is valid: reading a field's own text back checks it.
        if (field.key.compare(0, prefix.size(), prefix) == 0)
        {
            field.set(copy, field.get(plan));
        }
    }
}

std::string
CanonicalText(const Plan& plan)
{
    std::string text;
    for (const auto& field : PlanFields())
    {
        if (field.IsSaid(plan))
        {
            text += (text.empty() ? "" : " ") + ShortKey(field) + "=" + field.get(plan);
        }
    }
    return text;
}

std::optional<Plan>
PlanOfText(const std::string& text)
{
    std::map<std::string, std::string> values;
    std::istringstream words(text);
    for (std::string word; words >> word;)
    {
        const size_t equals = std::min(word.find('='), word.size());
        values[word.substr(0, equals)] = word.substr(std::min(equals + 1, word.size()));
    }
    Plan plan;
    try
    {
        for (const auto& field : PlanFields())
        {
            if (const auto value = values.find(ShortKey(field)); value != values.end())
            {
                field.set(plan, value->second);
            }
        }
    }
    catch (const ConfigError&)
    {
        return std::nullopt;
    }
    return CanonicalText(plan) == text ? std::optional<Plan>(plan) : std::nullopt;
}

} // namespace scaleacross
