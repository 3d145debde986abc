// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/nccl/nccl-lowering.h"

#include "core/program/step-pattern.h"
#include "core/topology/server-split.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace scaleacross
{

namespace
{

// Fitted, see the header.
const Duration g_peer = Duration::Microseconds(2);
constexpr double g_directShare = 0.93;
constexpr double g_messagePerByte = 30e-12;

/// A collective being written.
class NcclWriter
{
  public:
    NcclWriter(CollectiveOp op,
               Bytes bytes,
               const RankGroup& group,
               const RankLayout& layout,
               const NcclRules& rules)
        : m_op(op),
          m_bytes(bytes),
          m_group(group),
          m_rules(rules),
          m_machine(MachineOf(rules, group, layout))
    {
        if (m_machine.servers > 1 && m_machine.PerServer() > 1)
        {
            m_halves = group.SplitAt(layout.gpusPerNode);
        }
    }

    Collective Write(CommClass comm)
    {
        m_collective.comm = comm;
        switch (m_op)
        {
        case CollectiveOp::AllReduce:
            m_collective.name = "all_reduce";
            break;
        case CollectiveOp::AllGather:
            m_collective.name = "all_gather";
            break;
        case CollectiveOp::ReduceScatter:
            m_collective.name = "reduce_scatter";
            break;
        case CollectiveOp::AllToAll:
            m_collective.name = "all_to_all";
            break;
        case CollectiveOp::SendReceive:
            m_collective.name = "sendrecv";
            break;
        case CollectiveOp::Dispatch:
        case CollectiveOp::Combine:
            break; // of experts' libraries, as an all-to-all
        }
        if (m_op == CollectiveOp::AllToAll || m_op == CollectiveOp::SendReceive)
        {
            WriteMessages();
            return std::move(m_collective);
        }
        Choose();
        m_collective.launch = NcclBase(m_choice.kind, m_choice.protocol);
        m_collective.protocol = ToString(m_choice.protocol);
        m_collective.libraryChannels = m_choice.channels;
        // With fewer, links and NICs keep their rates, so that computing beside them gains nothing.
        m_collective.processors = m_choice.unbounded;
        switch (m_choice.kind)
        {
        case NcclKind::Ring:
            WriteRing();
            break;
        case NcclKind::Tree:
        case NcclKind::CollnetDirect:
        case NcclKind::CollnetChain:
        case NcclKind::Nvls:
        case NcclKind::NvlsTree:
            WriteByServers();
            break;
        case NcclKind::Pat:
            WriteRounds();
            break;
        }
        return std::move(m_collective);
    }

  private:
    void Choose()
    {
        m_choice = NcclChoose(m_machine, m_op, m_bytes, m_rules.algorithm, m_rules.protocol);
        m_collective.algorithm = ToString(NcclAlgorithm::First(
            [this](const auto& row) { return !row.chooses && row.kind == m_choice.kind; }));
    }

    /// With the flags.
    Bytes OnWire(Bytes bytes) const
    {
        return Bytes(static_cast<uint64_t>(
            std::ceil(static_cast<double>(bytes.Count()) * m_choice.protocol->wire)));
    }

    /// Of a message through the network, by NCCL's table: a ring's LL step has nothing else in it.
    static Duration Way()
    {
        return NcclStepOf(NcclKind::Ring, "ll").between;
    }

    /// What a step between servers takes beyond the way, of which a GPU sends so much.
    Duration Between(Duration table, double bytes) const
    {
        constexpr double kMostFilled = 2 << 20;
        constexpr double kMostFlagged = 128 << 10;
        Duration step = std::max(Duration(), table - Way()) + m_rules.netStep;
        const bool flags = m_choice.protocol->wire > 1;
        const double rate = flags ? m_rules.netFlags : m_rules.netFill;
        if (rate > 0)
        {
            step += Duration::Seconds(std::min(bytes, flags ? kMostFlagged : kMostFilled) / rate);
        }
        return step;
    }

    /// @param message what a member sends in a step, in bytes.
    Phase Step(Pattern pattern, const RankGroup& group, Bytes bytes, double message) const
    {
        constexpr Duration kArity = Duration::Nanoseconds(400);
        const NcclStep step = NcclStepOf(m_choice.kind, m_choice.protocol);
        Phase phase(pattern, group, bytes);
        phase.inside = StepCost{step.inside, 0};
        if (m_choice.kind == NcclKind::CollnetDirect)
        {
            phase.inside->fixed += Duration::Seconds(kArity.S() * (group.Size() - 1));
        }
        // With one GPU a server NCCL takes a tree's step for any.
        const NcclKind kind =
            m_machine.PerServer() == 1 && IsCollnet(m_choice.kind) ? NcclKind::Tree : m_choice.kind;
        phase.between.fixed = Between(NcclStepOf(kind, m_choice.protocol).between, message);
        phase.slots = Slots();
        return phase;
    }

    /// Of the channels between a pair of GPUs: each channel leaves a server by one of its GPUs, and
    /// all GPUs have equal parts here, even of fewer channels than there are GPUs.
    SlotWindow Slots() const
    {
        const double channels =
            std::max(1.0, static_cast<double>(m_choice.channels) / m_machine.PerServer());
        const auto bytes = static_cast<double>(m_choice.protocol->slot.Count());
        if (m_choice.kind == NcclKind::Tree || m_choice.kind == NcclKind::NvlsTree)
        {
            // Half of them are of either tree.
            return {static_cast<uint32_t>(channels * kNcclSlots / 2),
                    m_choice.protocol->slot,
                    1,
                    1};
        }
        // Channels have a part of every message side by side. In a ring with flags by slot a chunk
        // takes half of the slots in two slices, however short it is.
        const bool slices = m_choice.kind == NcclKind::Ring && m_choice.protocol->wire == 1;
        const uint32_t together = slices ? 2 : 1;
        return {kNcclSlots / together,
                Bytes(static_cast<uint64_t>(bytes * channels * together)),
                together,
                m_choice.kind == NcclKind::Ring && m_op == CollectiveOp::AllReduce ? 2U : 1U};
    }

    /// Of a pair that sends messages: NCCL takes a channel for each NIC of the GPU and for each 14
    /// GB/s, a power of two, and fewer where eight peers at a time would ask for more than there
    /// are (paths.cc of 2.30.7).
    SlotWindow MessageSlots() const
    {
        constexpr double kPerChannel = 14;
        constexpr Bytes kSlot{128 << 10};
        const auto up = [](double least) { return std::exp2(std::ceil(std::log2(least))); };
        const double most = up(std::min(2.0 * ChannelsOf(m_machine, NcclKind::Ring).count, 32.0));
        const double eights = std::ceil(m_machine.ranks / 8.0);
        const double nics = std::max(1.0, m_machine.nicsPerGpu);
        const double path = m_machine.nicRate / std::min(1.0, m_machine.nicsPerGpu);
        // RCCL has two for each peer, whatever the NIC.
        double channels = m_machine.architecture->rccl
                              ? 2
                              : up(std::max(nics, std::ceil(std::floor(path) / kPerChannel)));
        channels = std::min(channels, most);
        while (channels > 1 && channels * eights > most)
        {
            channels /= 2;
        }
        return {static_cast<uint32_t>(channels) * kNcclSlots, kSlot, 1, 1};
    }

    /// Slowest of what every GPU sends by, B/s.
    double Rate() const
    {
        return m_machine.servers == 1 ? m_rules.scaleUpRate
               : m_machine.PerServer() == 1
                   ? m_rules.nicRate
                   : std::min(m_rules.scaleUpRate, m_rules.nicRate * m_machine.PerServer());
    }

    /// What NCCL's table has beyond the time of so many bytes at the rate, in seconds. (RCCL's has
    /// shares that eight GPUs of a server had of their NICs.)
    double Beyond(double wireBytes) const
    {
        const double size = static_cast<double>(m_bytes.Count());
        return m_choice.protocol->wire == 1 || m_rules.architecture->rccl
                   ? 0.0
                   : std::max(0.0, size / (m_choice.algbw * 1e9) - wireBytes / Rate());
    }

    void WriteRing()
    {
        const uint32_t n = m_machine.ranks;
        const bool lanes = m_halves.inner.Size() > 1;
        const double perServer = lanes ? m_machine.PerServer() : 1;
        const auto size = static_cast<double>(OnWire(m_bytes).Count());
        Phase scatter =
            Step(Pattern::RingReduceScatter, m_group, OnWire(m_bytes), size / (n * perServer));
        scatter.perServer = static_cast<uint32_t>(perServer);
        const double rounds = m_op == CollectiveOp::AllReduce ? 2 : 1;
        const double sent = rounds * (n - 1) / n * size;
        const double perByte = sent > 0 ? Beyond(sent) / sent * scatter.perServer : 0;
        scatter.inside->perByte = scatter.between.perByte = perByte;
        if (m_machine.servers > 1)
        {
            scatter.inside->fixed =
                std::max(scatter.inside->fixed, Pace(scatter, rounds * (n - 1)));
        }
        if (lanes)
        {
            // Of g GPUs g - 1 send on inside; what enters and leaves passes the links once more by
            // PXN, which RCCL does without.
            const double g = scatter.perServer;
            scatter.occupied = m_rules.architecture->rccl ? 1 : (g + 1) / (g - 1);
        }
        if (m_op != CollectiveOp::AllGather)
        {
            m_collective.phases.push_back(scatter);
        }
        if (m_op != CollectiveOp::ReduceScatter)
        {
            m_collective.phases.push_back(Gathering(scatter));
        }
        m_collective.chunks = m_collective.channels = scatter.perServer;
    }

    /// The mean time of a step of a ring over several servers below which its connections between
    /// servers do not keep up: of that many messages, those beyond the slots.
    Duration Pace(const Phase& ring, double messages) const
    {
        const double underWay = ring.slots.slots / ring.slots.least;
        const double beyond = std::max(0.0, messages - underWay) / messages;
        const Duration step =
            Way() + Between(NcclStepOf(NcclKind::Ring, m_choice.protocol).between, 0);
        return Duration::Seconds(step.S() * beyond);
    }

    /// What gathers as a phase reduces.
    Phase Gathering(Phase phase) const
    {
        if (phase.pattern != Pattern::DirectAllToAll)
        {
            phase.pattern = StepsOf(phase).Mirror();
        }
        else if (IsNvls(m_choice.kind))
        {
            phase.pattern = Pattern::SwitchAllGather;
        }
        return phase;
    }

    /// Reduced inside servers, by a chain, by messages to all or by the switch.
    Phase Inside(const RankGroup& group) const
    {
        const bool byRing =
            m_choice.kind == NcclKind::Tree || m_choice.kind == NcclKind::CollnetChain;
        Phase phase = Step(byRing ? Pattern::RingReduceScatter : Pattern::DirectAllToAll,
                           group,
                           OnWire(m_bytes),
                           0);
        const double n = group.Size();
        const auto size = static_cast<double>(OnWire(m_bytes).Count());
        if (byRing)
        {
            const double sent = 2 * (n - 1) / n * size;
            phase.inside->perByte = Beyond(sent) / sent;
        }
        else if (IsNvls(m_choice.kind))
        {
            // Up and down make one step of NCCL's.
            phase.inside->fixed = (phase.inside->fixed + FillOfSwitch(group.Size())) / 2;
            phase.occupied = 1 / m_rules.switchShare;
        }
        return phase;
    }

    /// What passes the switch before the first results are there: two loops, of as many chunks as
    /// channels times heads, 128 KiB each and less where that would be a large part of all
    /// (calcCollChunking() in NCCL's enqueue.cc).
    Duration FillOfSwitch(uint32_t members) const
    {
        const double heads = std::min(members, 32U);
        const double chunks = heads * m_choice.unbounded;
        const double size = static_cast<double>(m_bytes.Count());
        double chunk = 131072;
        for (const auto& [loops, smaller] :
             {std::pair{64.0, 65536.0}, {8.0, 32768.0}, {2.0, 16384.0}})
        {
            chunk = size < loops * chunks * chunk ? std::min(chunk, smaller) : chunk;
        }
        return Duration::Seconds(2 * std::min(size, chunks * chunk) /
                                 (m_rules.scaleUpRate * m_rules.switchShare));
    }

    void WriteOneServer()
    {
        const Phase reduce = Inside(m_group);
        m_collective.phases = {reduce, Gathering(reduce)};
    }

    /// Between servers, of which a GPU has so many bytes: by two trees, or by switches that reduce.
    Phase BetweenServers(uint64_t part) const
    {
        constexpr Bytes kSlot{512 << 10};
        const bool switches = IsCollnet(m_choice.kind) || m_choice.kind == NcclKind::Nvls;
        Phase between = Step(switches ? Pattern::SendToNext : Pattern::DoubleTree,
                             m_machine.PerServer() == 1 ? m_group : m_halves.outer,
                             Bytes(part),
                             static_cast<double>(part));
        if (!switches)
        {
            between.chunk = kSlot;
            between.between.fixed += m_bytes >= Bytes(4096) ? m_rules.netLong : Duration();
        }
        return between;
    }

    void WriteByServers()
    {
        constexpr uint64_t kMiB = 1 << 20;
        constexpr uint32_t kOnLinks = 4;
        constexpr uint32_t kOnTrees = 4;
        constexpr uint64_t kMost = 32;
        if (m_machine.servers == 1)
        {
            WriteOneServer();
            return;
        }
        const uint32_t perServer = m_machine.PerServer();
        const uint64_t part = (OnWire(m_bytes).Count() + perServer - 1) / perServer;
        Phase between = BetweenServers(part);
        if (perServer == 1)
        {
            between.between.perByte =
                Beyond(2.0 * static_cast<double>(part)) / std::max(1.0, static_cast<double>(part));
            m_collective.phases = {between};
            return;
        }
        const Phase reduce = Inside(m_halves.inner);
        m_collective.phases = {reduce, between, Gathering(reduce)};
        // Whole MiB, so that no half of a chunk is a little more than so many slots.
        const uint64_t chunk = (part + kMost * kMiB - 1) / (kMost * kMiB) * kMiB;
        m_collective.chunks = static_cast<uint32_t>((part + chunk - 1) / chunk);
        m_collective.channels = std::min(kOnLinks, m_collective.chunks);
        m_collective.streams = m_collective.chunks > 1;
        m_collective.phases[1].width = kOnTrees;
    }

    void WriteRounds()
    {
        const uint32_t n = m_machine.ranks;
        const auto rounds = DisseminationRounds(n);
        for (const DisseminationRound& round : rounds)
        {
            const double message = static_cast<double>(m_bytes.Count()) / n * round.parts;
            Phase phase = Step(Pattern::JumpAllGather, m_group, OnWire(m_bytes), message);
            phase.shift = round.shift;
            phase.parts = round.parts;
            phase.between.fixed =
                Between(Duration::Seconds(NcclStepOf(NcclKind::Pat, "simple").between.S() / 3.5),
                        message);
            m_collective.phases.push_back(phase);
        }
        if (m_op == CollectiveOp::ReduceScatter)
        {
            std::reverse(m_collective.phases.begin(), m_collective.phases.end());
            for (Phase& phase : m_collective.phases)
            {
                phase.pattern = Pattern::JumpReduceScatter;
            }
        }
        // What NCCL's model has for each rank.
        m_collective.launch += Duration::Seconds(2.8e-6 * n);
    }

    /// What an all-to-all takes to post its messages of so many bytes: by the GPU for every peer,
    /// by the plugin and its proxies for those on other servers.
    Duration Posting(double bytes) const
    {
        constexpr double kAtOnce = 8;     // peers that a channel works on at a time
        constexpr double kInjected = 192; // libfabric's CXI, in the command; see collectives.md
        const double peers = m_machine.ranks - 1.0;
        const double others = m_machine.ranks - m_machine.PerServer();
        double posting = g_peer.S() * peers;
        posting += m_rules.netMessage.S() * std::max(0.0, others - kAtOnce);
        posting += bytes <= kInjected ? m_rules.netInject.S() * others : 0;
        return Duration::Seconds(posting);
    }

    void WriteMessages()
    {
        const NcclProtocol simple = "simple";
        m_collective.algorithm = m_op == CollectiveOp::AllToAll ? "direct" : "next";
        m_collective.protocol = ToString(simple);
        m_collective.launch = NcclBase(NcclKind::Ring, simple);
        const double n = m_machine.ranks;
        Phase phase(m_op == CollectiveOp::AllToAll ? Pattern::DirectAllToAll : Pattern::SendToNext,
                    m_group,
                    m_bytes);
        const NcclStep step = NcclStepOf(NcclKind::Ring, simple);
        phase.inside = StepCost{step.inside, 0};
        const double size = static_cast<double>(m_bytes.Count());
        phase.between.fixed =
            Between(step.between, m_op == CollectiveOp::AllToAll ? size / n : size);
        phase.slots = MessageSlots();
        if (m_op == CollectiveOp::AllToAll)
        {
            m_collective.launch += Posting(size / n);
            phase.inside->perByte = n * (1 / g_directShare - 1) / m_rules.scaleUpRate;
            phase.between.perByte = n * (1 / g_directShare - 1) / m_rules.nicRate;
        }
        else
        {
            phase.between.perByte = g_messagePerByte;
        }
        m_collective.phases = {phase};
    }

    CollectiveOp m_op;
    Bytes m_bytes;
    const RankGroup& m_group;
    const NcclRules& m_rules;
    NcclMachine m_machine;
    RankGroup::Halves m_halves;
    NcclChoice m_choice;
    Collective m_collective;
};

} // namespace

NcclRules
NcclRulesOf(const Scenario& scenario)
{
    const NetworkPlan& network = scenario.network;
    NcclRules rules;
    rules.algorithm = network.ncclAlgorithm;
    rules.protocol = network.ncclProtocol;
    rules.mostChannels = network.ncclChannels;
    rules.netStep = network.ncclNetStep;
    rules.netLong = network.ncclNetLong;
    rules.netFill = network.ncclNetFill.Value() / 8;
    rules.netFlags = network.ncclNetFlags.Value() / 8;
    rules.netMessage = network.ncclNetMessage;
    rules.netInject = network.ncclNetInject;
    rules.collnet = network.ncclCollnet;
    bool first = true;
    const auto least = [&first](double& value, double other) {
        value = first ? other : std::min(value, other);
    };
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        const GpuSpec& gpu = building.gpu;
        if (first || gpu.architecture->column < rules.architecture->column)
        {
            rules.architecture = gpu.architecture;
        }
        least(rules.scaleUpNominal, gpu.scaleUpBandwidth.Value() / 8);
        least(rules.scaleUpRate, gpu.scaleUpBandwidth.Value() / 8 * gpu.scaleUpEfficiency);
        least(rules.nicRate, gpu.nicRate.Value() / 8);
        least(rules.nicNominal, gpu.nicRate.Value() / 8 / gpu.nicEfficiency);
        least(rules.nicsPerGpu, gpu.nicsPerGpu);
        least(rules.switchShare, gpu.switchReduction);
        first = false;
    }
    return rules;
}

NcclMachine
MachineOf(const NcclRules& rules, const RankGroup& group, const RankLayout& layout)
{
    NcclMachine machine;
    machine.architecture = rules.architecture;
    machine.ranks = group.Size();
    machine.servers = ServerSplit(group, layout).Servers();
    machine.linkRate = rules.scaleUpNominal * rules.architecture->links / 1e9;
    machine.nicRate = rules.nicNominal / 1e9;
    machine.nicsPerGpu = rules.nicsPerGpu;
    machine.reduces = rules.switchShare > 0;
    machine.collnet = rules.collnet && !layout.Crosses(group);
    machine.mostChannels = rules.mostChannels;
    return machine;
}

Collective
LowerByNccl(CollectiveOp op,
            CommClass comm,
            Bytes bytes,
            const RankGroup& group,
            const RankLayout& layout,
            const NcclRules& rules)
{
    return NcclWriter(op, bytes, group, layout, rules).Write(comm);
}

} // namespace scaleacross
