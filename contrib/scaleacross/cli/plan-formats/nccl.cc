// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/nccl-lists.h"
#include "cli/plan-formats/option-text.h"
#include "cli/plan-formats/plan-format.h"
#include "cli/shell-text.h"
#include "core/spec/without-effect.h"

#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

const char* const g_checked = "NCCL v2.30.7-1 (73cf11229, 2026-06-04)";

constexpr uint32_t g_mostQueuePairs = 128; //!< of a connection, in NCCL
constexpr uint32_t g_mostRetries = 7;      //!< which the verbs have three bits for
constexpr uint64_t g_usualBuffer = StagedCopy::kSlot.Count() * StagedCopy::kSlots;
/// NCCL keeps eight of them for every channel and peer.
constexpr uint64_t g_mostChunk = 2 << 20;
constexpr uint32_t g_chunkDigits = 4; //!< binary ones that NCCL's kernels are told of a chunk

/// Of the byte of IP's header that NICs and switches sort by, for class c: DSCP 8 c, which their
/// usual tables map to priority c.
constexpr uint32_t g_byteOfClass = 32;

/// What decides about fields that NCCL has no variable for.
struct Elsewhere
{
    const char* key;
    const char* who;
};

constexpr Elsewhere g_elsewhere[] = {
    {"network.transport", "the NICs and their ports"},
    {"network.multipath", "the switches"},
    {"network.control", "the NICs' firmware, and marks of the switches"},
    {"network.recovery", "the NICs' firmware"},
    {"network.outstanding", "NCCL, which has up to eight chunks of a channel under way"},
    {"network.window", "the NICs' firmware"},
    {"network.admission", "nothing: NCCL does not ask receivers"},
    {"network.qp_scheduler", "the NICs' firmware"},
    {"network.qp_burst", "the NICs' firmware"},
    {"network.all_to_all", "the framework (--format megatron, torchtitan)"},
    {"network.collective_chunk", "NCCL, which cuts collectives by NCCL_BUFFSIZE"},
    {"network.mtu", "the ports, whose active MTU NCCL takes"},
    {"network.headers", "the NICs and switches"},
    {"network.ack_size", "the NICs"},
    {"network.ack_every", "the NICs' firmware"},
    {"network.pfc", "the NICs and switches"},
    {"network.lane_credits", "the switches"},
    {"network.leaf_buffer", "the switches"},
    {"network.spine_buffer", "the switches"},
    {"network.detection", "the switches"},
    {"network.convergence", "the switches' routing"},
    {"network.keep_at_down_port", "the switches"},
    {"network.class_weights", "the NICs and switches"},
};

/// What NCCL has without a variable (NCCL_PARAM() in its sources), for people.
struct NcclDefault
{
    const char* variable;
    const char* value;
};

constexpr NcclDefault g_defaults[] = {
    {"NCCL_IB_QPS_PER_CONNECTION", "1"},
    {"NCCL_IB_SPLIT_DATA_ON_QPS", "0"},
    {"NCCL_P2P_NET_CHUNKSIZE", "128 KiB"},
    {"NCCL_BUFFSIZE", "4 MiB"},
    {"NCCL_IB_TIMEOUT", "20"},
    {"NCCL_IB_RETRY_CNT", "7"},
    {"NCCL_IB_ADAPTIVE_ROUTING", "1 on InfiniBand, else 0"},
    {"NCCL_CROSS_NIC", "2"},
    {"NCCL_ALGO", "its own choice"},
    {"NCCL_COLLNET_ENABLE", "0"},
};

/// The number without all binary digits but its first g_chunkDigits.
uint64_t
FirstDigits(uint64_t number)
{
    uint64_t lowest = 1;
    while ((number / lowest) >> g_chunkDigits > 0)
    {
        lowest *= 2;
    }
    return number / lowest * lowest;
}

/// A variable that is not written, the fields that it would be from, and their value in the times.
struct LeftVariable
{
    std::string variable;
    std::string keys;
    std::string counted;
};

/// Writes one plan. The order of its steps is that of the text.
class NcclWriter
{
  public:
    explicit NcclWriter(const PlannedJob& job)
        : m_job(job),
          m_network(job.plan.network)
    {
    }

    std::string Text()
    {
        m_text.Comment(fmt::format("{}\nof {}: {}\n\n"
                                   "For {}: all names below are in its list of variables.\n"
                                   "Source this file in a shell on every node before the processes "
                                   "start. How the job is laid out is in --format megatron and "
                                   "torchtitan.",
                                   Label(m_job.plan),
                                   m_job.study.name,
                                   m_job.source,
                                   g_checked));
        m_text.Blank();
        QueuePairs();
        Chunks();
        Retries();
        Paths();
        Collectives();
        Classes();
        LeaveAlone();
        RemarkElsewhere();
        m_text.Remarks("What the plan says and no variable does, with who decides it, or what is "
                       "used in its place:",
                       m_job.plan,
                       "network.");
        return m_text.Text();
    }

  private:
    template <class Value>
    void Export(const char* name, const Value& value, const std::string& keys)
    {
        m_text.Setting("export " + std::string(name) + "=" + ShellText(fmt::format("{}", value)),
                       keys);
    }

    void Unset(const char* name, const std::string& keys)
    {
        m_text.Setting("unset " + std::string(name), keys);
    }

    void Remark(const std::string& key, const std::string& text)
    {
        m_text.Remark(key, m_job.plan, text);
    }

    /// Whether the study gives or searches the field, or its value is another than the usual.
    bool IsChosen(const std::string& key) const
    {
        const auto& given = m_job.study.given;
        const PlanField* field = FindPlanField(key);
        return (field != nullptr && !field->usual(m_job.plan)) ||
               std::find(given.begin(), given.end(), key) != given.end();
    }

    /// The same of the queue pairs of the farthest GPUs.
    bool IsChosenOfQueuePairs(const std::string& what) const
    {
        return IsChosen("network." + what) ||
               IsChosen(WidestTier() == Tier::Cross ? "network.tiers.cross." + what
                                                    : "network.tiers.building." + what);
    }

    /// As Export(), of a value that somebody has chosen. What we merely assume is no reason to
    /// change what NCCL or the site has: NCCL waits 64 times as long as our usual timeout.
    template <class Value>
    void ExportChosen(bool isChosen,
                      const char* name,
                      const Value& value,
                      const std::string& keys,
                      const std::string& counted)
    {
        if (isChosen)
        {
            Export(name, value, keys);
        }
        else
        {
            m_left.push_back({name, keys, counted});
        }
    }

    /// Where the times count with what the first of the keys says.
    template <class Value>
    void ExportChosen(bool isChosen, const char* name, const Value& value, const std::string& keys)
    {
        ExportChosen(isChosen,
                     name,
                     value,
                     keys,
                     FindPlanField(keys.substr(0, keys.find(' ')))->get(m_job.plan));
    }

    /// The variables of fields that nobody has chosen, with what the plan's times count with.
    void LeaveAlone()
    {
        if (m_left.empty())
        {
            return;
        }
        m_text.Blank();
        m_text.Comment(
            "The study does not give these fields, so their variables stay as the site "
            "has them, or NCCL by default; the plan's times count with what stands behind:");
        for (const LeftVariable& left : m_left)
        {
            const auto* found = std::find_if(
                std::begin(g_defaults),
                std::end(g_defaults),
                [&left](const NcclDefault& one) { return one.variable == left.variable; });
            SCALEACROSS_INVARIANT(found != std::end(g_defaults), left.variable);
            m_text.Note(fmt::format("- {} (NCCL's own: {}) for {}",
                                    left.variable,
                                    found->value,
                                    left.counted),
                        left.keys);
        }
    }

    /// The widest tier that connections have: buildings where there are several.
    Tier WidestTier() const
    {
        return m_job.Cluster().buildings.size() > 1 ? Tier::Cross : Tier::Building;
    }

    /// One number for all connections: that of the longest, which need most.
    void QueuePairs()
    {
        const QueuePairUse use = m_network.QueuePairsAt(WidestTier());
        const uint32_t qps = std::min(use.qps, g_mostQueuePairs);
        ExportChosen(IsChosenOfQueuePairs("qps"), "NCCL_IB_QPS_PER_CONNECTION", qps, "network.qps");
        if (use.qps > qps)
        {
            Remark("network.qps", "NCCL has 128 at most");
        }
        ExportChosen(IsChosenOfQueuePairs("balance"),
                     "NCCL_IB_SPLIT_DATA_ON_QPS",
                     use.balance->splits ? 1 : 0,
                     "network.balance");
        if (!use.balance->splits && !use.balance->usual)
        {
            Remark("network.balance", "NCCL takes queue pairs by turns, a chunk each");
        }
        for (const std::string tier : {"leaf", "zone", "building", "cross"})
        {
            for (const std::string what : {"qps", "segment", "balance"})
            {
                const std::string key = "network.tiers." + tier + "." + what;
                if (!FindPlanField(key)->usual(m_job.plan))
                {
                    Remark(key, "one value for all connections: that between the farthest GPUs");
                }
            }
        }
    }

    /// A chunk of a point-to-point message is what goes to one queue pair before the next has its
    /// turn, and an eighth of a buffer.
    void Chunks()
    {
        const QueuePairUse use = m_network.QueuePairsAt(WidestTier());
        // Copies through buffers count with eight slots whatever the segment is.
        const bool staged = m_network.copy->staged;
        const uint64_t most = staged ? StagedCopy::kSlot.Count() : g_mostChunk;
        const uint64_t chunk = use.balance->splits ? 0 : std::min(use.segment.Count(), most);
        const bool isChosen = chunk > 0 && IsChosenOfQueuePairs("segment");
        if (chunk > 0)
        {
            ExportChosen(isChosen, "NCCL_P2P_NET_CHUNKSIZE", chunk, "network.segment");
        }
        const uint64_t buffer = std::max(g_usualBuffer, StagedCopy::kSlots * chunk);
        ExportChosen(isChosen || IsChosen("network.copy"),
                     "NCCL_BUFFSIZE",
                     buffer,
                     "network.segment network.copy",
                     ToString(Bytes(buffer)));
        if (use.balance->splits && IsChosenOfQueuePairs("segment"))
        {
            Remark("network.segment", "network.balance is " + use.balance->word);
        }
        if (isChosen)
        {
            RemarkSegment(use.segment.Count(), chunk);
        }
        if (!staged)
        {
            Remark("network.copy",
                   "NCCL copies through buffers, but for memory that is registered with it");
        }
    }

    /// How NCCL cuts otherwise than the plan.
    void RemarkSegment(uint64_t segment, uint64_t chunk)
    {
        const std::string key = "network.segment";
        if (chunk < segment)
        {
            Remark(key,
                   ToString(Bytes(chunk)) + ", eight of which NCCL has for each channel" +
                       (m_network.copy->staged ? ", as the plan's copies have" : ""));
        }
        if (FirstDigits(chunk) < chunk)
        {
            Remark(key,
                   fmt::format("NCCL tells its kernels the first {} binary digits of a chunk, so "
                               "{} bytes",
                               g_chunkDigits,
                               FirstDigits(chunk)));
        }
        if (StagedCopy::kSlots * chunk < g_usualBuffer)
        {
            Remark(key,
                   "of messages between two ranks: collectives send an eighth of NCCL_BUFFSIZE or "
                   "more, which is not made smaller than NCCL has it");
        }
    }

    void Retries()
    {
        ExportChosen(IsChosen("network.timeout_exponent"),
                     "NCCL_IB_TIMEOUT",
                     m_network.timeoutExponent,
                     "network.timeout_exponent");
        ExportChosen(IsChosen("network.retries"),
                     "NCCL_IB_RETRY_CNT",
                     std::min(m_network.retries, g_mostRetries),
                     "network.retries");
        if (m_network.retries > g_mostRetries)
        {
            Remark("network.retries", "7 at most");
        }
    }

    bool HasRails() const
    {
        const auto& buildings = m_job.Cluster().buildings;
        return std::all_of(buildings.begin(), buildings.end(), [](const BuildingSpec& b) {
            return b.fabric.rails;
        });
    }

    void Paths()
    {
        // NCCL sends in another way where packets may overtake.
        ExportChosen(IsChosen("network.multipath"),
                     "NCCL_IB_ADAPTIVE_ROUTING",
                     m_network.multipath->IsSprayed() ? 1 : 0,
                     "network.multipath");
        ExportChosen(IsChosen(kRailsKey),
                     "NCCL_CROSS_NIC",
                     HasRails() ? 0 : 2,
                     kRailsKey,
                     HasRails() ? "0" : "2");
    }

    void Collectives()
    {
        const CollectiveAlgorithmFacts& facts = *m_network.collective;
        if (facts.library)
        {
            LibraryChoices();
            return;
        }
        const std::string key = "network.collective";
        if (facts.trees)
        {
            Export("NCCL_ALGO", "Ring;allreduce:Tree", key);
        }
        else if (IsOneRing(facts))
        {
            Export("NCCL_ALGO", "Ring", key);
        }
        else if (IsChosen(key))
        {
            Unset("NCCL_ALGO", key);
            Remark(key, "NCCL chooses, and knows of no buildings");
        }
        else
        {
            m_left.push_back({"NCCL_ALGO", key, facts.word});
        }
        if (m_network.channels > 1)
        {
            Remark("network.channels", "NCCL chooses its channels");
        }
        for (const PlanField& field : PlanFields())
        {
            if (IsWordOfNccl(field) && field.IsSaid(m_job.plan))
            {
                Remark(field.key, "only network.collective: nccl reads it, this is " + facts.word);
            }
        }
    }

    void NamedAlgorithm(NcclKind kind, const std::string& keys)
    {
        Export("NCCL_ALGO", NcclAlgorithmList(kind, m_network.ncclCollnet), keys);
        if (IsCollnet(kind) && !m_network.ncclCollnet)
        {
            Remark("network.nccl_algorithm",
                   "NCCL takes another of its list, since network.nccl_collnet is false");
        }
        else if (!RunsEverywhere(kind))
        {
            Remark("network.nccl_algorithm",
                   "NCCL takes another of its list where a communicator cannot run it, or where "
                   "its model finds another faster");
        }
    }

    static bool IsOneRing(const CollectiveAlgorithmFacts& facts)
    {
        return !facts.buildings && !facts.chooses && facts.steps == LevelSteps::Ring;
    }

    void LibraryChoices()
    {
        const std::string algorithm = "network.collective network.nccl_algorithm";
        if (m_network.ncclAlgorithm->chooses)
        {
            Unset("NCCL_ALGO", algorithm);
        }
        else
        {
            NamedAlgorithm(m_network.ncclAlgorithm->kind, algorithm);
        }
        const std::string protocol =
            NcclProtocolList(m_network.ncclProtocol, m_network.ncclAlgorithm);
        if (protocol.empty())
        {
            Unset("NCCL_PROTO", "network.nccl_protocol");
        }
        else
        {
            Export("NCCL_PROTO", protocol, "network.nccl_protocol");
        }
        if (m_network.ncclChannels > 0)
        {
            Export("NCCL_MAX_NCHANNELS", m_network.ncclChannels, "network.nccl_channels");
        }
        ExportChosen(IsChosen("network.nccl_collnet"),
                     "NCCL_COLLNET_ENABLE",
                     m_network.ncclCollnet ? 1 : 0,
                     "network.nccl_collnet");
        if (m_network.ncclCollnet)
        {
            m_text.Comment("Megatron-LM core_v0.19.0 deletes NCCL_COLLNET_ENABLE when it starts. "
                           "With --use-sharp, which --format megatron writes, it sets it for the "
                           "communicators of data parallelism alone.");
        }
    }

    void Classes()
    {
        const TrafficClasses& classes = m_network.classes;
        const bool lanes = m_network.transport->credits;
        const char* const variable = lanes ? "NCCL_IB_SL" : "NCCL_IB_TC";
        std::string keys;
        std::string values;
        bool isSaid = false;
        for (uint32_t c = 0; c < kCommClasses; c++)
        {
            const std::string name = ToString(static_cast<CommClass>(c));
            const std::string key = "network.classes." + name;
            keys += (c == 0 ? "" : " ") + key;
            isSaid = isSaid || FindPlanField(key)->IsSaid(m_job.plan);
            values += fmt::format("{}{} {}",
                                  c == 0 ? "" : ", ",
                                  name,
                                  lanes ? classes.of[c] : g_byteOfClass * classes.of[c]);
        }
        if (!isSaid)
        {
            // Which class is lossless there is not known here, and 0 seldom is.
            m_text.Note(fmt::format("one class for all, so {} stays as the site has it", variable),
                        keys);
            return;
        }
        if (classes.AreOne())
        {
            Export(variable, lanes ? classes.of[0] : g_byteOfClass * classes.of[0], keys);
            return;
        }
        // A communicator's class is taken for both, unless a variable says one of them.
        Unset(variable, keys);
        Export(lanes ? "NCCL_IB_TC" : "NCCL_IB_SL", 0, "lest it follow trafficClass");
        m_text.Comment("Classes are of communicators: ncclConfig_t.trafficClass has to be " +
                       values +
                       ". Megatron-LM's --nccl-communicator-config-path and TorchTitan do not set "
                       "it; as long as nothing does, all is in class 0.");
    }

    void RemarkElsewhere()
    {
        for (const Elsewhere& one : g_elsewhere)
        {
            if (FindPlanField(one.key)->IsSaid(m_job.plan))
            {
                Remark(one.key, one.who);
            }
        }
        for (const auto& [name, value] : m_network.ns3Attributes)
        {
            m_text.Comment(name + "=" + value + " is of the simulation alone.");
        }
    }

    const PlannedJob& m_job;
    const NetworkPlan& m_network;
    OptionText m_text;
    std::vector<LeftVariable> m_left;
};

} // namespace

const PlanFormat&
NcclFormat()
{
    static const PlanFormat format = {"nccl",
                                      "environment variables of NCCL, for a shell",
                                      [](const PlannedJob& job) { return NcclWriter(job).Text(); }};
    return format;
}

} // namespace scaleacross
