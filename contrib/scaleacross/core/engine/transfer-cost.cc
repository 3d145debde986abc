// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/transfer-cost.h"

#include "core/engine/credit-rate.h"
#include "core/topology/ecmp-collision.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace scaleacross
{

namespace
{

BitRate
SlowestRate(const FabricPath& path)
{
    return *std::min_element(path.rates.begin(), path.rates.end());
}

/// What the members of a phase send.
struct PhaseRounds
{
    double message{0};   //!< bytes
    double perEdge{1};   //!< messages over an edge
    double perMember{1}; //!< messages of the member that sends most; all-to-all apart
    double joined{1};    //!< messages of an edge that follow each other without a wait
    uint32_t steps{1};   //!< that follow each other
    bool chained{false}; //!< what a member sends depends on what it receives
    double chains{1};    //!< of messages of a group, side by side
};

PhaseRounds
RoundsOf(const Phase& phase)
{
    const uint32_t n = phase.group.Size();
    const auto buffer = static_cast<double>(phase.bytes.Count());
    PhaseRounds rounds;
    rounds.steps = StepCount(phase);
    rounds.message = buffer / n;
    rounds.chains = n;
    switch (phase.pattern)
    {
    case Pattern::RingReduceScatter:
    case Pattern::RingAllGather:
        rounds.perEdge = rounds.perMember = n - 1;
        rounds.chained = true;
        break;
    case Pattern::TwoWayReduceScatter:
    case Pattern::TwoWayAllGather:
        rounds.perEdge = (n - 1) / 2.0;
        rounds.perMember = n - 1;
        rounds.chained = true;
        rounds.chains = 2.0 * n;
        break;
    case Pattern::SendToNext:
        rounds.message = buffer;
        break;
    case Pattern::JumpReduceScatter:
    case Pattern::JumpAllGather:
        rounds.message = buffer * phase.parts / n;
        break;
    case Pattern::DirectAllToAll:
        break;
    case Pattern::DoubleTree:
        rounds.perEdge = rounds.joined = TreeMessages(phase);
        rounds.perMember = rounds.perEdge * MostPeers(phase);
        rounds.message = buffer / 2 / rounds.perEdge;
        rounds.chained = true;
        break;
    }
    return rounds;
}

} // namespace

Duration
TransferCost::Alone() const
{
    return Duration::Seconds(std::max(portSeconds, cutSeconds)) + latency;
}

NetworkModel::NetworkModel(const Scenario& scenario,
                           const RankLayout& layout,
                           std::shared_ptr<const NetworkFacts> facts)
    : m_scenario(scenario),
      m_layout(layout),
      m_facts(std::move(facts)),
      m_paths(m_facts->paths),
      m_edges(m_paths, layout),
      m_shares(m_facts->cuts.Shares(scenario.network.multipath))
{
    const auto buildings = static_cast<uint32_t>(scenario.cluster.buildings.size());
    m_buildingCuts = buildings * layout.plan.pp;
    m_spanCuts = 4 * m_buildingCuts;
    m_cuts = m_spanCuts + 2 * static_cast<uint32_t>(scenario.cluster.crossLinks.size());
}

NetworkModel::NetworkModel(const Scenario& scenario, const RankLayout& layout)
    : NetworkModel(scenario, layout, std::make_shared<const NetworkFacts>(scenario))
{
}

NetworkModel::Part
NetworkModel::PartOf(uint32_t building, uint32_t stage, uint32_t nicsPerPart, uint32_t parts) const
{
    // Ranks of a stage lie in runs, one run in every period. (Of a pipeline with several parts the
    // innermost counts; the others, if they do not lie beyond the building, spare whole periods.)
    const auto& axes = m_layout.pipeline.Axes();
    const uint32_t gpus = m_scenario.cluster.buildings[building].gpus;
    const uint32_t run = axes.empty() ? gpus : axes.front().stride;
    const uint32_t period = axes.empty() ? gpus : std::min(run * axes.front().count, gpus);
    const uint32_t partsPerRun = (run + nicsPerPart - 1) / nicsPerPart;
    const double share = std::min(1.0, static_cast<double>(partsPerRun) * nicsPerPart / period);
    Part part;
    part.count = std::max(1.0, std::round(parts * share));
    // Stages that share no part share no uplink: each has a cut of its own then.
    part.cut = building * m_layout.plan.pp + (part.count < parts ? stage : 0);
    return part;
}

NetworkModel::Part
NetworkModel::LeavesOf(uint32_t building, uint32_t stage) const
{
    const FabricShape& shape = m_paths.Shape(building);
    if (!m_layout.active.empty())
    {
        const RankLayout::Active& active = m_layout.active[building];
        return {static_cast<double>(active.ranks) / active.onLeaf, building * m_layout.plan.pp};
    }
    Part part = PartOf(building, stage, shape.nicsPerLeaf * shape.leavesPerPod, shape.pods);
    part.count *= shape.leavesPerPod;
    return part;
}

NetworkModel::Part
NetworkModel::ZonesOf(uint32_t building, uint32_t stage) const
{
    const FabricShape& shape = m_paths.Shape(building);
    if (!m_layout.active.empty())
    {
        const RankLayout::Active& active = m_layout.active[building];
        return {static_cast<double>(active.ranks) / active.inZone, building * m_layout.plan.pp};
    }
    const uint32_t pod = shape.nicsPerLeaf * shape.leavesPerPod;
    return PartOf(building, stage, pod * shape.podsPerZone, shape.zones);
}

double
NetworkModel::StageRanksIn(uint32_t building, uint32_t stage) const
{
    return m_layout.active.empty() ? m_layout.StageRanksIn(building, stage)
                                   : m_layout.active[building].ranks;
}

double
NetworkModel::QueuePairsUsed(double messageBytes, Tier tier) const
{
    const QueuePairUse use = m_scenario.network.QueuePairsAt(tier);
    const double segments =
        use.balance == Balance::Split
            ? messageBytes // in parts of a byte at least
            : std::ceil(messageBytes / static_cast<double>(use.segment.Count()));
    return std::clamp(segments, 1.0, static_cast<double>(use.qps));
}

double
NetworkModel::CreditShareOf(BitRate link, Duration delay) const
{
    const NetworkPlan& network = m_scenario.network;
    return network.transport != Transport::Infiniband
               ? 1.0
               : CreditShare(network.laneCredits, network.mtu + network.DataHeaders(), link, delay);
}

double
NetworkModel::PortSeconds(BitRate nic, double messageBytes, const FabricPath& path) const
{
    const double share =
        std::min(1.0, QueuePairsUsed(messageBytes, path.tier) / m_paths.Shape(0).ports);
    const double ports = m_paths.Shape(0).ports;
    const double credits =
        CreditShareOf(nic / ports, m_scenario.cluster.buildings[0].fabric.nicDelay);
    return WireBytes(1.0, messageBytes) * 8.0 / (nic.Value() * share * credits);
}

double
NetworkModel::WindowedSeconds(double bytes,
                              double window,
                              double unit,
                              const FabricPath& path,
                              double staging) const
{
    if (bytes <= window)
    {
        return 0.0;
    }
    // The first bytes of the last window leave when all windows before have come back.
    const double before = std::ceil(bytes / window) - 1.0;
    const double rate = SlowestRate(path).Value();
    const double roundTrip =
        2.0 * path.propagation.S() + WireBytes(1.0, unit) * 8.0 / rate + staging;
    return before * roundTrip + WireBytes(1.0, bytes - before * window) * 8.0 / rate;
}

double
NetworkModel::WindowSeconds(double messageBytes, const FabricPath& path) const
{
    const NetworkPlan& network = m_scenario.network;
    const QueuePairUse use = network.QueuePairsAt(path.tier);
    double seconds = 0;
    if (use.outstanding > 0 && use.balance != Balance::Split) // that has a part per queue pair
    {
        const auto segment = static_cast<double>(use.segment.Count());
        const double window = segment * use.outstanding * use.qps;
        seconds = WindowedSeconds(messageBytes, window, segment, path);
    }
    if (use.window > Bytes())
    {
        const auto mtu = static_cast<double>(network.mtu.Count());
        const double packets =
            std::max(1.0, std::floor(static_cast<double>(use.window.Count()) / mtu));
        const double pairs = QueuePairsUsed(messageBytes, path.tier);
        const double asked = std::min<double>(network.ackEvery, packets);
        seconds = std::max(
            seconds,
            WindowedSeconds(messageBytes, pairs * packets * mtu, pairs * asked * mtu, path));
    }
    if (network.copy == Copy::Staged)
    {
        const auto slot = static_cast<double>(StagedCopy::kSlot.Count());
        const double slots = StagedCopy::kSlots * network.channels;
        const double staging = StagingTime(StagedCopy::kSlot).S();
        seconds =
            std::max(seconds, WindowedSeconds(messageBytes, slots * slot, slot, path, staging));
    }
    return seconds;
}

double
NetworkModel::AdmissionSeconds(double bytes, const FabricPath& path) const
{
    const NetworkPlan& network = m_scenario.network;
    return network.admission == Bytes()
               ? 0.0
               : WindowedSeconds(bytes,
                                 static_cast<double>(network.admission.Count()),
                                 static_cast<double>(network.GrantSize().Count()),
                                 path);
}

double
NetworkModel::WireBytes(double messages, double bytes) const
{
    const NetworkPlan& network = m_scenario.network;
    const double packets =
        messages * std::max(1.0, std::ceil(bytes / static_cast<double>(network.mtu.Count())));
    const double acks = packets / network.ackEvery;
    return messages * bytes + packets * static_cast<double>(network.DataHeaders().Count()) +
           acks * static_cast<double>(network.AckOnWire().Count());
}

Duration
NetworkModel::StagingTime(Bytes bytes) const
{
    if (m_scenario.network.copy == Copy::Zero)
    {
        return Duration();
    }
    // The slower of all GPUs: both ends copy the first, or only, slot.
    Duration copy;
    for (const BuildingSpec& building : m_scenario.cluster.buildings)
    {
        copy = std::max(
            copy,
            StagedCopy::CopyTime(std::min(bytes, StagedCopy::kSlot), building.gpu.hbmBandwidth));
    }
    return copy * 2 + StagedCopy::kHandover;
}

Duration
NetworkModel::EdgeLatency(const FabricPath& path, double bytes) const
{
    Duration latency = path.propagation;
    if (path.rates.empty())
    {
        return latency;
    }
    const NetworkPlan& network = m_scenario.network;
    const auto payload =
        static_cast<uint64_t>(std::min(bytes, static_cast<double>(network.mtu.Count())));
    const Bytes packet = Bytes(payload) + network.DataHeaders();
    for (const BitRate rate : path.rates)
    {
        latency += SerialisationTime(packet, rate);
    }
    if (network.QueuePairsAt(path.tier).balance == Balance::Spray)
    {
        latency += path.propagation * 2; // the last ACK back, and the write that tells
    }
    if (network.admission > Bytes())
    {
        latency += path.propagation * 2; // the request, and the grant
    }
    latency += StagingTime(Bytes(static_cast<uint64_t>(bytes)));
    return latency - SerialisationTime(packet, SlowestRate(path));
}

void
NetworkModel::LoadCuts(CutLoads& loads,
                       const FabricPath& path,
                       Rank from,
                       Rank to,
                       double flows,
                       double pairs,
                       double wireBytes) const
{
    // `left` is what events leave of the capacity, `usable` what of it such flows can use.
    const auto add = [&](uint32_t cut,
                         double parts,
                         BitRate capacity,
                         uint32_t links,
                         const CutShare& left,
                         const CutShare& usable,
                         double n) {
        CutLoad& load = loads[cut];
        load.bytes += n * wireBytes * left.capacity / usable.capacity;
        load.flows += n;
        load.pairs = std::min(load.pairs, pairs);
        load.parts = parts;
        load.capacity = capacity * left.capacity;
        load.links = static_cast<uint32_t>(std::lround(links * usable.links));
    };
    if (path.tier < Tier::Zone)
    {
        return;
    }
    const ClusterSpec& cluster = m_scenario.cluster;
    // Links are full duplex: what climbs in one building and what descends do not share.
    const auto addBuilding = [&](Rank rank, Rank other, bool up) {
        const uint32_t building = m_layout.BuildingOf(rank);
        const uint32_t towards = m_layout.BuildingOf(other);
        const uint32_t stage = m_layout.StageOf(rank);
        const FabricShape& shape = m_paths.Shape(building);
        const Part leaves = LeavesOf(building, stage);
        const uint32_t leafLinks = shape.spines * shape.ports;
        add((up ? 0 : 1) * m_buildingCuts + leaves.cut,
            leaves.count,
            shape.uplinkRate * leafLinks *
                CreditShareOf(shape.uplinkRate, cluster.buildings[building].fabric.leafDelay),
            leafLinks,
            m_shares.Leaf(building),
            m_shares.LeafTowards(building, towards),
            flows);
        if (path.tier > Tier::Zone && shape.aggregations > 0)
        {
            const Part zones = ZonesOf(building, stage);
            const uint32_t zoneLinks = shape.planes * shape.spines * shape.aggregations;
            add((up ? 2 : 3) * m_buildingCuts + zones.cut,
                zones.count,
                shape.zoneUplinkRate * zoneLinks *
                    CreditShareOf(shape.zoneUplinkRate,
                                  cluster.buildings[building].fabric.aggregationDelay),
                zoneLinks,
                m_shares.Zone(building),
                m_shares.ZoneTowards(building, towards),
                flows);
        }
    };
    addBuilding(from, to, true);
    addBuilding(to, from, false);
    if (path.tier == Tier::Cross)
    {
        const SiteRoute& route = m_paths.Route(m_layout.BuildingOf(from), m_layout.BuildingOf(to));
        for (const SiteRoute::Use& use : route.uses)
        {
            const CrossLinkSpec& link = cluster.crossLinks[use.link];
            const uint32_t lanes = cluster.TopSwitches() * link.lanes;
            const double credits = CreditShareOf(link.capacity / lanes, link.latency);
            add(m_spanCuts + 2 * use.link + (use.forward ? 0 : 1),
                1,
                link.capacity * credits,
                lanes,
                m_shares.Span(use.link),
                m_shares.Span(use.link),
                flows * use.share);
        }
    }
}

double
NetworkModel::Slowdown(double flows, double pairs, uint32_t links) const
{
    const auto [entry, isNew] = m_slowdowns.try_emplace({flows, pairs, links});
    if (isNew)
    {
        entry->second = PathSlowdown(m_scenario.network.multipath, flows, pairs, links);
    }
    return entry->second;
}

void
NetworkModel::ChooseCut(TransferCost& cost, const CutLoads& loads) const
{
    const double ports = m_paths.Shape(0).ports;
    for (const auto& [cut, load] : loads)
    {
        // The fullest part has at least one flow.
        const double flows = std::max(1.0, load.flows / load.parts);
        const double bytes = load.bytes * flows / load.flows;
        const double pairs = load.pairs / ports; // at each port
        const auto links = std::max(1U, static_cast<uint32_t>(load.links / ports));
        const double seconds = bytes * 8.0 / load.capacity.Value() * Slowdown(flows, pairs, links);
        if (seconds > cost.cutSeconds)
        {
            cost.cut = cut;
            cost.cutSeconds = seconds;
            cost.flows = flows;
        }
    }
}

LossyMessages
NetworkModel::LossyOf(const FabricPath& path, double bytes, double seconds, double nextAfter) const
{
    const NetworkPlan& network = m_scenario.network;
    const double packetBits =
        static_cast<double>((network.mtu + network.DataHeaders()).Count()) * 8.0;
    LossyMessages messages;
    messages.loss = path.loss;
    messages.roundTrip = 2.0 * path.propagation.S() + packetBits / SlowestRate(path).Value();
    messages.pairs = QueuePairsUsed(bytes, path.tier);
    const double packets = std::ceil(bytes / static_cast<double>(network.mtu.Count()));
    messages.packets = std::max(1.0, std::ceil(packets / messages.pairs));
    messages.inFlight = messages.packets * messages.roundTrip / seconds;
    // Where packets may overtake, one tells of the loss of another only if it is so much later.
    const bool tolerant =
        network.recovery == Recovery::SelectiveRepeat && MayReorder(network.multipath);
    messages.silent = 1.0 + (tolerant ? network.reorderTolerance : 0.0);
    // The next message's first packet comes the way's time after the last one of this; messages
    // shorter than all queue pairs take the next of them in turn.
    const double turns = std::ceil(network.QueuePairsAt(path.tier).qps / messages.pairs);
    messages.untold = path.propagation.S() + (turns - 1.0) * nextAfter;
    return messages;
}

void
NetworkModel::ApplyLoss(TransferCost& cost, double chains, uint32_t steps) const
{
    LossyChains& losses = cost.losses;
    losses.chains = chains;
    losses.steps = steps;
    losses.recovery = m_scenario.network.recovery;
    losses.timeout = 4.096e-6 * std::pow(2.0, m_scenario.network.timeoutExponent);
    double volume = 1;
    for (const LossyRounds& lossy : losses.rounds)
    {
        for (const LossyMessages& messages : lossy.messages)
        {
            volume = std::max(volume, LossVolume(messages, losses.recovery));
        }
    }
    cost.portSeconds *= volume;
    cost.cutSeconds *= volume;
}

TransferCost
NetworkModel::MessageCost(Bytes bytes, Rank from, Rank to) const
{
    const FabricPath& path = m_paths.Between(from, to);
    const std::vector<BuildingSpec>& buildings = m_scenario.cluster.buildings;
    const GpuSpec& gpu = buildings[m_layout.BuildingOf(from)].gpu;
    const auto payload = static_cast<double>(bytes.Count());
    TransferCost cost;
    cost.latency = EdgeLatency(path, payload);
    if (path.tier == Tier::Node)
    {
        cost.port = Port::Nvlink;
        cost.portSeconds = payload * 8.0 / (gpu.nvlinkBandwidth.Value() * gpu.nvlinkEfficiency);
        return cost;
    }
    const BitRate nic = std::min(gpu.nicRate, buildings[m_layout.BuildingOf(to)].gpu.nicRate);
    cost.portSeconds = std::max({PortSeconds(nic, payload, path),
                                 WindowSeconds(payload, path),
                                 AdmissionSeconds(payload, path)});
    CutLoads loads;
    LoadCuts(loads,
             path,
             from,
             to,
             StageRanksIn(m_layout.BuildingOf(from), m_layout.StageOf(from)),
             QueuePairsUsed(payload, path.tier),
             WireBytes(1.0, payload));
    ChooseCut(cost, loads);
    if (path.loss > 0)
    {
        const double seconds = std::max(cost.portSeconds, cost.cutSeconds);
        // When the stage sends its next message is not known here: perhaps not before the timeout.
        LossyMessages messages = LossyOf(path, payload, seconds, 0);
        messages.untold = std::numeric_limits<double>::infinity();
        cost.losses.rounds = {{1.0, {messages}}};
        ApplyLoss(cost, StageRanksIn(m_layout.BuildingOf(from), m_layout.StageOf(from)), 1);
    }
    return cost;
}

Duration
NetworkModel::LongestWay(const Phase& phase, Rank representative, double message) const
{
    const uint32_t n = phase.group.Size();
    const auto latency = [&](uint32_t from, uint32_t to) {
        return EdgeLatency(m_paths.Between(phase.group.Member(representative, from),
                                           phase.group.Member(representative, to)),
                           message);
    };
    Duration longest;
    if (phase.pattern != Pattern::DoubleTree)
    {
        // Of a ring, as many edges in a row as there are steps, either way round.
        const uint32_t steps = StepCount(phase);
        for (const bool forward : {true, false})
        {
            const auto edge = [&](uint32_t i) {
                const uint32_t a = i % n;
                const uint32_t b = (i + 1) % n;
                return forward ? latency(a, b) : latency(b, a);
            };
            Duration way;
            for (uint32_t i = 0; i < n + steps; i++)
            {
                way += edge(i);
                way -= i >= steps ? edge(i - steps) : Duration();
                longest = std::max(longest, way);
            }
        }
        return longest;
    }
    for (uint32_t tree = 0; tree < 2; tree++)
    {
        for (uint32_t i = 0; i < n; i++)
        {
            Duration way; // up from a member, and down to it
            uint32_t from = i;
            for (TreePlace place = PlaceInTree(tree, i, n); place.parent != TreePlace::kNone;
                 place = PlaceInTree(tree, from, n))
            {
                way += latency(from, place.parent) + latency(place.parent, from);
                from = place.parent;
            }
            longest = std::max(longest, way);
        }
    }
    return longest;
}

TransferCost
NetworkModel::PhaseCost(const Phase& phase, Rank representative) const
{
    TransferCost cost;
    cost.port = Port::Nvlink;
    const uint32_t n = phase.group.Size();
    if (n == 1)
    {
        return cost;
    }
    const uint32_t stage = m_layout.StageOf(representative);
    const ClusterSpec& cluster = m_scenario.cluster;
    const bool direct = phase.pattern == Pattern::DirectAllToAll;
    const PhaseRounds rounds = RoundsOf(phase);
    const bool once = rounds.steps == 1 && !rounds.chained;
    const double part = rounds.message;

    const PhaseEdges& edges = m_edges.Of(phase, representative);
    const std::map<uint32_t, MembersThere>& membersIn = edges.membersIn;
    const GpuSpec& gpu = cluster.buildings[m_layout.BuildingOf(representative)].gpu;
    const double nvlink = gpu.nvlinkBandwidth.Value() * gpu.nvlinkEfficiency;
    double nvlinkSeconds = 0;
    // By building: what the NIC of a member sends, and receives.
    std::map<uint32_t, double> nicOut;
    std::map<uint32_t, double> nicIn;
    double windows = 0;
    CutLoads loads;
    Duration total;
    Duration least = Duration::Max();
    Duration most;
    for (const auto& [kind, set] : edges.kinds)
    {
        const FabricPath& path = m_paths.Between(set.from, set.to);
        const Duration latency = EdgeLatency(path, part);
        total += latency * set.count;
        least = std::min(least, latency);
        most = std::max(most, latency);
        // Messages that one member sends over edges of this kind during the phase.
        const double messages = direct ? set.count : rounds.perMember;
        if (kind.tier == Tier::Node)
        {
            nvlinkSeconds = std::max(nvlinkSeconds, messages * part * 8.0 / nvlink);
            continue;
        }
        const auto alone = [&](uint32_t building) {
            return PortSeconds(cluster.buildings[building].gpu.nicRate, part, path);
        };
        // Every connection has its own window: those to several peers are open at once.
        const double peers = direct ? set.count : 1.0;
        const double perEdge = direct ? 1.0 : rounds.perEdge;
        windows =
            std::max(windows, perEdge / rounds.joined * WindowSeconds(part * rounds.joined, path));
        // A receiver admits all that send to it.
        const double together = direct ? peers : rounds.perMember / perEdge;
        windows = std::max(windows,
                           perEdge / rounds.joined *
                               AdmissionSeconds(together * part * rounds.joined, path));
        const double out = messages * alone(kind.from);
        if (direct)
        {
            // A member over there hears from all members here.
            const double heard = kind.from == kind.to ? messages : membersIn.at(kind.from).count;
            nicOut[kind.from] += out;
            nicIn[kind.to] += heard * alone(kind.to);
        }
        else
        {
            nicOut[kind.from] = std::max(nicOut[kind.from], out);
            nicIn[kind.to] = std::max(nicIn[kind.to], messages * alone(kind.to));
        }
        // Groups look alike: those that reach into a building have equally many members there.
        const double senders = direct ? membersIn.at(kind.from).count : set.count;
        const double groups = StageRanksIn(kind.from, stage) / membersIn.at(kind.from).count;
        LoadCuts(loads,
                 path,
                 set.from,
                 set.to,
                 groups * senders * peers,
                 QueuePairsUsed(part, kind.tier),
                 WireBytes(perEdge, part));
    }
    ChooseCut(cost, loads);
    double slowestNic = 0;
    for (const auto& nics : {nicOut, nicIn})
    {
        for (const auto& [building, seconds] : nics)
        {
            slowestNic = std::max(slowestNic, seconds);
        }
    }
    cost.port = nicOut.empty() ? Port::Nvlink : Port::Nic;
    cost.portSeconds = std::max({nvlinkSeconds, slowestNic, windows});
    // A part travels n-1 of a ring's n edges; which one it spares differs, so the shortest counts.
    const bool ring =
        phase.pattern == Pattern::RingReduceScatter || phase.pattern == Pattern::RingAllGather;
    cost.latency = direct || once ? most
                   : ring         ? total - least
                                  : LongestWay(phase, representative, part);
    if (phase.pattern == Pattern::DoubleTree)
    {
        // A member passes on what it has whole: each level but the lowest waits for one more
        // message of each kind that the busiest member sends.
        const uint32_t levels = rounds.steps / 2;
        const double messages = TreeMessages(phase);
        const double window = TreeWindow(phase);
        cost.latency += Duration::Seconds((levels - 1) * cost.portSeconds / messages);
        // What is sent up waits for what comes down, a way later.
        const double rounds = std::max(0.0, messages / window - 1);
        cost.portSeconds = std::max(cost.portSeconds, rounds * cost.latency.S());
    }
    else if (!direct && !once && cost.cutSeconds > cost.portSeconds)
    {
        // The members of all groups that share the cut wait for it in turn, and stay apart by that:
        // while one's part travels on, the others' use the cut.
        const double turn = cost.cutSeconds / rounds.steps;
        const double own = std::max(cost.portSeconds / rounds.steps, turn / cost.flows);
        const Duration hidden = Duration::Seconds((rounds.steps - 1) * (turn - own));
        cost.latency = std::max(cost.latency - hidden, cost.latency / rounds.steps);
    }
    // What may be lost, by chain: rings have as many as members, each of which passes n-1 edges.
    const uint32_t steps = rounds.steps;
    const double seconds = std::max(cost.portSeconds, cost.cutSeconds) / steps;
    const double nextAfter = cost.Alone().S() / steps;
    std::vector<LossyRounds>& lossy = cost.losses.rounds;
    double edgesAtRisk = 0;
    for (const auto& [kind, set] : edges.kinds)
    {
        const FabricPath& path = m_paths.Between(set.from, set.to);
        if (path.loss <= 0)
        {
            continue;
        }
        LossyMessages messages = LossyOf(path, part * rounds.joined, seconds, nextAfter);
        if (direct)
        {
            messages.count = static_cast<double>(membersIn.at(kind.from).count) * set.count / n;
            lossy.resize(1);
            lossy.front().messages.push_back(messages);
            continue;
        }
        edgesAtRisk += set.count;
        const double passed = static_cast<double>(set.count) * steps / edges.count;
        const auto alike = std::find_if(lossy.begin(), lossy.end(), [&](const LossyRounds& other) {
            return other.messages.front().loss == messages.loss &&
                   other.messages.front().roundTrip == messages.roundTrip;
        });
        if (alike != lossy.end())
        {
            alike->rounds += passed;
        }
        else
        {
            lossy.push_back({passed, {messages}});
        }
    }
    for (LossyRounds& round : lossy)
    {
        // In a ring those behind a safe edge always go on.
        for (LossyMessages& messages : round.messages)
        {
            messages.circle = direct ? 2
                              : edgesAtRisk == edges.count && phase.pattern != Pattern::DoubleTree
                                  ? n
                                  : std::numeric_limits<double>::infinity();
        }
    }
    if (!cost.losses.rounds.empty())
    {
        const uint32_t here = m_layout.BuildingOf(representative);
        ApplyLoss(cost,
                  StageRanksIn(here, stage) / membersIn.at(here).count * rounds.chains,
                  steps);
    }
    return cost;
}

} // namespace scaleacross
