// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/option-text.h"
#include "cli/plan-formats/plan-format.h"
#include "cli/shell-text.h"

#include <algorithm>
#include <fmt/core.h>

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

/// As NCCL_ALGO has it: what reduces or gathers in rings does so, but for `function`.
std::string
AlgorithmText(NcclKind kind)
{
    switch (kind)
    {
    case NcclKind::Tree:
        return "Ring;allreduce:Tree";
    case NcclKind::Ring:
        return "Ring";
    case NcclKind::CollnetDirect:
        return "Ring;allreduce:CollNetDirect";
    case NcclKind::CollnetChain:
        return "Ring;allreduce:CollNetChain";
    case NcclKind::Nvls:
        return "Ring;allreduce:NVLS";
    case NcclKind::NvlsTree:
        return "Ring;allreduce:NVLSTree";
    case NcclKind::Pat:
        return "Ring;allgather:PAT;reducescatter:PAT";
    }
    return "";
}

/// As NCCL_PROTO has it. Nothing: all.
std::string
ProtocolText(const NcclProtocolFacts& facts)
{
    static const std::vector<std::string> columns = {"LL", "LL128", "Simple"};
    if (!facts.chooses)
    {
        return columns.at(facts.column);
    }
    std::string text;
    for (size_t column = 0; facts.without >= 0 && column < columns.size(); column++)
    {
        if (static_cast<int>(column) != facts.without)
        {
            text += (text.empty() ? "" : ",") + columns[column];
        }
    }
    return text;
}

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
        Export("NCCL_IB_QPS_PER_CONNECTION", qps, "network.qps");
        if (use.qps > qps)
        {
            Remark("network.qps", "NCCL has 128 at most");
        }
        Export("NCCL_IB_SPLIT_DATA_ON_QPS", use.balance->splits ? 1 : 0, "network.balance");
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
        const uint64_t chunk = std::min(use.segment.Count(), g_mostChunk);
        if (!use.balance->splits)
        {
            Export("NCCL_P2P_NET_CHUNKSIZE", chunk, "network.segment");
            if (chunk < use.segment.Count())
            {
                Remark("network.segment", "2 MiB, eight of which NCCL has for each channel");
            }
        }
        const uint64_t buffer = std::max(g_usualBuffer, StagedCopy::kSlots * chunk);
        Export("NCCL_BUFFSIZE", buffer, "network.segment network.copy");
        if (!m_network.copy->staged)
        {
            Remark("network.copy",
                   "NCCL copies through buffers, but for memory that is registered with it");
        }
    }

    void Retries()
    {
        Export("NCCL_IB_TIMEOUT", m_network.timeoutExponent, "network.timeout_exponent");
        Export("NCCL_IB_RETRY_CNT", std::min(m_network.retries, g_mostRetries), "network.retries");
        if (m_network.retries > g_mostRetries)
        {
            Remark("network.retries", "7 at most");
        }
    }

    void Paths()
    {
        // NCCL sends in another way where packets may overtake.
        Export("NCCL_IB_ADAPTIVE_ROUTING",
               m_network.multipath->IsSprayed() ? 1 : 0,
               "network.multipath");
        const auto& buildings = m_job.Cluster().buildings;
        const bool rails = std::all_of(buildings.begin(),
                                       buildings.end(),
                                       [](const BuildingSpec& b) { return b.fabric.rails; });
        Export("NCCL_CROSS_NIC", rails ? 0 : 2, "cluster.buildings.fabric.rails");
    }

    void Collectives()
    {
        const std::string keys = "network.collective network.nccl_algorithm";
        const CollectiveAlgorithmFacts& facts = *m_network.collective;
        if (facts.library && !m_network.ncclAlgorithm->chooses)
        {
            Export("NCCL_ALGO", AlgorithmText(m_network.ncclAlgorithm->kind), keys);
        }
        else if (!facts.library && facts.trees)
        {
            Export("NCCL_ALGO", AlgorithmText(NcclKind::Tree), keys);
        }
        else if (IsOneRing(facts))
        {
            Export("NCCL_ALGO", AlgorithmText(NcclKind::Ring), keys);
        }
        else
        {
            Unset("NCCL_ALGO", keys);
            if (!facts.library)
            {
                Remark("network.collective", "NCCL chooses, and knows of no buildings");
            }
        }
        if (facts.library)
        {
            LibraryChoices();
        }
        else if (m_network.channels > 1)
        {
            Remark("network.channels", "NCCL chooses its channels");
        }
    }

    static bool IsOneRing(const CollectiveAlgorithmFacts& facts)
    {
        return !facts.library && !facts.buildings && !facts.chooses &&
               facts.steps == LevelSteps::Ring;
    }

    void LibraryChoices()
    {
        const std::string protocol = ProtocolText(*m_network.ncclProtocol);
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
        Export("NCCL_COLLNET_ENABLE", m_network.ncclCollnet ? 1 : 0, "network.nccl_collnet");
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
