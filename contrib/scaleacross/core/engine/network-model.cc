// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/network-model.h"

#include "core/engine/credit-rate.h"
#include "core/topology/ecmp-collision.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
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
    m_stages = m_facts->StagesOf(scenario.cluster, layout, SwitchPeriod(scenario.cluster, layout));
    m_switchEdges.emplace(scenario.cluster, m_paths, layout, *m_stages);
    m_zoneCuts = 2 * m_stages->leaves.Kinds();
    m_spanCuts = m_zoneCuts + 2 * m_stages->zones.Kinds();
    m_cuts = m_spanCuts + 2 * static_cast<uint32_t>(scenario.cluster.crossLinks.size());
}

NetworkModel::NetworkModel(const Scenario& scenario, const RankLayout& layout)
    : NetworkModel(scenario, layout, std::make_shared<const NetworkFacts>(scenario))
{
}

double
NetworkModel::StageRanksIn(uint32_t building, uint32_t stage) const
{
    return m_layout.takingPart.empty() ? m_layout.StageRanksIn(building, stage)
                                       : m_layout.TakingPartIn(building);
}

namespace
{

/// Beyond so many queue pairs it makes no difference with which one a message begins.
constexpr uint32_t g_mostTurns = 64;

/**
 * What each queue pair carries of `messages` messages in a row, in segments: each has `whole`
 * segments and one more of which `rest` is there, and the turn goes on from one to the next.
 */
std::vector<double>
LoadsOf(uint64_t messages, uint64_t whole, double rest, uint32_t pairs)
{
    const uint64_t segments = whole + 1;
    std::vector<double> loads(pairs);
    const auto add = [&](uint64_t count, double times) {
        for (uint64_t i = 0; i < count; i++)
        {
            const uint64_t begin = i * segments % pairs;
            for (uint64_t j = 0; j < whole % pairs; j++)
            {
                loads[(begin + j) % pairs] += times;
            }
            loads[(begin + whole) % pairs] += rest * times;
        }
        for (double& load : loads)
        {
            load += static_cast<double>(whole / pairs) * static_cast<double>(count) * times;
        }
    };
    // After that many it begins anew.
    const uint64_t turn = pairs / std::gcd<uint64_t>(segments, pairs);
    if (messages >= turn)
    {
        add(turn, static_cast<double>(messages / turn));
    }
    add(messages % turn, 1.0);
    return loads;
}

/// The most that one of `parts` equal parts of the ports carries, in the mean over the queue pairs
/// that may be the first.
double
FullestPart(const std::vector<double>& loads, uint32_t ports, uint32_t parts)
{
    const auto pairs = static_cast<uint32_t>(loads.size());
    // Where every port has as many queue pairs, another first one only exchanges the ports; where
    // parts have several ports it may not.
    const bool alike = pairs % ports == 0 && parts == ports;
    const uint32_t turns = alike || pairs > g_mostTurns ? 1 : pairs;
    double sum = 0;
    std::vector<double> carried(parts);
    for (uint32_t first = 0; first < turns; first++)
    {
        std::fill(carried.begin(), carried.end(), 0.0);
        for (uint32_t i = 0; i < pairs; i++)
        {
            carried[(first + i) % pairs % ports / (ports / parts)] += loads[i];
        }
        sum += *std::max_element(carried.begin(), carried.end());
    }
    return sum / turns;
}

} // namespace

NetworkModel::Spread
NetworkModel::SpreadOf(double messages, double messageBytes, Tier tier) const
{
    const QueuePairUse use = m_scenario.network.QueuePairsAt(tier);
    const FabricShape& shape = m_paths.Shape(0);
    const bool splits = use.balance->splits;
    const double size = splits ? 0.0 : static_cast<double>(use.segment.Count());
    const double segments =
        splits ? std::clamp<double>(messageBytes, 1.0, use.qps) // of a byte at least
               : std::max(1.0, std::ceil(messageBytes / size));
    const double used = splits ? segments : std::min(messages * segments, double{1} * use.qps);
    if (shape.ports == 1)
    {
        return {used, 1.0, 1.0};
    }
    const double rest =
        splits || messageBytes <= 0 ? 1.0 : (messageBytes - (segments - 1) * size) / size;
    const auto loads = LoadsOf(splits ? 1 : std::max<uint64_t>(1, static_cast<uint64_t>(messages)),
                               static_cast<uint64_t>(segments) - 1,
                               rest,
                               use.qps);
    const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
    const auto share = [&](uint32_t parts) {
        return parts == 1 ? 1.0 : all / (parts * FullestPart(loads, shape.ports, parts));
    };
    return {used, share(shape.ports), share(shape.planes)};
}

double
NetworkModel::CreditShareOf(BitRate link, Duration delay) const
{
    const NetworkPlan& network = m_scenario.network;
    return !network.transport->credits ? 1.0
                                       : CreditShare(network.laneCredits,
                                                     network.mtu + network.Format().DataHeaders(),
                                                     link,
                                                     delay);
}

double
NetworkModel::PortSeconds(BitRate nic, double messageBytes, double ports) const
{
    const double credits = CreditShareOf(nic / m_paths.Shape(0).ports,
                                         m_scenario.cluster.buildings[0].fabric.nicDelay);
    return WireBytes(1.0, messageBytes) * 8.0 / (nic.Value() * ports * credits);
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
    if (use.outstanding > 0 && !use.balance->splits) // that has a part per queue pair
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
        const double pairs = SpreadOf(1.0, messageBytes, path.tier).pairs;
        const double asked = std::min<double>(network.ackEvery, packets);
        seconds = std::max(
            seconds,
            WindowedSeconds(messageBytes, pairs * packets * mtu, pairs * asked * mtu, path));
    }
    if (network.copy->staged)
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
NetworkModel::DataBytes(double messages, double bytes) const
{
    const NetworkPlan& network = m_scenario.network;
    // Parts of a buffer differ by a byte: the smaller ones, as this is part of a bound.
    const double packets =
        messages *
        std::max(1.0, std::ceil(std::floor(bytes) / static_cast<double>(network.mtu.Count())));
    return messages * bytes + packets * static_cast<double>(network.Format().DataHeaders().Count());
}

double
NetworkModel::WireBytes(double messages, double bytes) const
{
    const NetworkPlan& network = m_scenario.network;
    const double packets =
        messages * std::max(1.0, std::ceil(bytes / static_cast<double>(network.mtu.Count())));
    const double acks = packets / network.ackEvery;
    return DataBytes(messages, bytes) + acks * network.Format().ack;
}

Duration
NetworkModel::StagingTime(Bytes bytes) const
{
    if (!m_scenario.network.copy->staged)
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
    const Bytes packet = Bytes(payload) + network.Format().DataHeaders();
    for (const BitRate rate : path.rates)
    {
        latency += SerialisationTime(packet, rate);
    }
    if (network.QueuePairsAt(path.tier).balance->lastWrite)
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
NetworkModel::AddLoad(CutLoads& loads,
                      const CutLoad& whole,
                      const Flows& flows,
                      const CutShare& left,
                      const CutShare& usable,
                      double share) const
{
    auto load =
        std::lower_bound(loads.begin(), loads.end(), whole.cut, [](const CutLoad& a, uint32_t cut) {
            return a.cut < cut;
        });
    if (load == loads.end() || load->cut != whole.cut)
    {
        load = loads.insert(load, whole);
        load->capacity = whole.capacity * left.capacity;
    }
    const double count = flows.count * share;
    load->flows += count;
    load->bytes += count * DataBytes(flows.messages, flows.message);
    load->loading += count * WireBytes(flows.messages, flows.message) * left.capacity /
                     usable.capacity / whole.reached;
    // In a part that is used.
    load->pairs = std::min(load->pairs, flows.spread.pairs / (whole.parts * whole.reached));
    load->links = static_cast<uint32_t>(std::lround(whole.links * usable.links));
}

void
NetworkModel::LoadBuilding(CutLoads& loads,
                           const FabricPath& path,
                           const Flows& flows,
                           bool up) const
{
    const Rank rank = up ? flows.from : flows.to;
    const uint32_t building = m_layout.BuildingOf(rank);
    const uint32_t towards = m_layout.BuildingOf(up ? flows.to : flows.from);
    const uint32_t stage = m_layout.StageOf(rank);
    const FabricShape& shape = m_paths.Shape(building);
    const FabricSpec& fabric = m_scenario.cluster.buildings[building].fabric;
    CutLoad whole;
    whole.parts = shape.ports;
    whole.reached = flows.spread.ports;
    whole.links = shape.spines * shape.ports;
    whole.capacity =
        shape.uplinkRate * whole.links * CreditShareOf(shape.uplinkRate, fabric.leafDelay);
    const SwitchEdges* const over = flows.over;
    for (const SwitchShare& leaf : over == nullptr ? m_stages->leaves.Of(building, stage)
                                   : up            ? over->leavesUp
                                                   : over->leavesDown)
    {
        whole.cut = (up ? 0 : m_stages->leaves.Kinds()) + leaf.kind;
        AddLoad(loads,
                whole,
                flows,
                m_shares.Leaf(building),
                m_shares.LeafTowards(building, towards),
                leaf.share);
    }
    if (path.tier == Tier::Zone || shape.aggregations == 0)
    {
        return;
    }
    whole.parts = shape.planes;
    whole.reached = flows.spread.planes;
    whole.links = shape.planes * shape.spines * shape.aggregations;
    whole.capacity = shape.zoneUplinkRate * whole.links *
                     CreditShareOf(shape.zoneUplinkRate, fabric.aggregationDelay);
    for (const SwitchShare& zone : over == nullptr ? m_stages->zones.Of(building, stage)
                                   : up            ? over->zonesUp
                                                   : over->zonesDown)
    {
        whole.cut = m_zoneCuts + (up ? 0 : m_stages->zones.Kinds()) + zone.kind;
        AddLoad(loads,
                whole,
                flows,
                m_shares.Zone(building),
                m_shares.ZoneTowards(building, towards),
                zone.share);
    }
}

void
NetworkModel::LoadSpans(CutLoads& loads, const Flows& flows) const
{
    const ClusterSpec& cluster = m_scenario.cluster;
    const SiteRoute& route =
        m_paths.Route(m_layout.BuildingOf(flows.from), m_layout.BuildingOf(flows.to));
    for (const SiteRoute::Use& use : route.uses)
    {
        const CrossLinkSpec& link = cluster.crossLinks[use.link];
        CutLoad whole;
        whole.parts = m_paths.Shape(0).planes;
        whole.reached = flows.spread.planes;
        whole.cut = m_spanCuts + 2 * use.link + (use.forward ? 0 : 1);
        whole.links = cluster.TopSwitches() * link.lanes;
        whole.capacity = link.capacity * CreditShareOf(link.capacity / whole.links, link.latency);
        AddLoad(loads, whole, flows, m_shares.Span(use.link), m_shares.Span(use.link), use.share);
    }
}

void
NetworkModel::LoadCuts(CutLoads& loads, const FabricPath& path, const Flows& flows) const
{
    if (path.tier < Tier::Zone)
    {
        return;
    }
    // Links are full duplex: what climbs in one building and what descends do not share.
    LoadBuilding(loads, path, flows, true);
    LoadBuilding(loads, path, flows, false);
    if (path.tier == Tier::Cross)
    {
        LoadSpans(loads, flows);
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

double
NetworkModel::SharedSeconds(const CutUse& use, double flows) const
{
    return use.wire * Slowdown(std::max(1.0, flows), use.pairs, use.links);
}

void
NetworkModel::UseCuts(TransferCost& cost, CutLoads& loads) const
{
    for (const CutLoad& load : loads)
    {
        CutUse use;
        use.cut = load.cut;
        use.bytes = load.bytes;
        use.flows = load.flows;
        use.pairs = load.pairs;
        use.links = std::max(1U, load.links / load.parts);
        use.wire = load.loading * 8.0 / load.capacity.Value();
        // The fullest switch has at least one flow.
        use.seconds = SharedSeconds(use, use.flows) * std::max(1.0, 1.0 / use.flows);
        use.demand = use.seconds;
        if (use.seconds > 0)
        {
            cost.cuts.push_back(use);
        }
    }
}

LossyMessages
NetworkModel::LossyOf(const FabricPath& path, double bytes, double seconds, double nextAfter) const
{
    const NetworkPlan& network = m_scenario.network;
    const double packetBits =
        static_cast<double>((network.mtu + network.Format().DataHeaders()).Count()) * 8.0;
    LossyMessages messages;
    messages.loss = path.loss;
    messages.roundTrip = 2.0 * path.propagation.S() + packetBits / SlowestRate(path).Value();
    messages.pairs = SpreadOf(1.0, bytes, path.tier).pairs;
    const double packets = std::ceil(bytes / static_cast<double>(network.mtu.Count()));
    messages.packets = std::max(1.0, std::ceil(packets / messages.pairs));
    messages.inFlight = messages.packets * messages.roundTrip / seconds;
    // Where packets may overtake, one tells of the loss of another only if it is so much later.
    const bool tolerant = network.recovery->selective && network.multipath->MayReorder();
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
    for (double& seconds : cost.ports)
    {
        seconds *= volume;
    }
    for (CutUse& use : cost.cuts)
    {
        use.seconds *= volume;
        use.demand *= volume;
        use.wire *= volume;
    }
    cost.least *= volume;
}

TransferCost
NetworkModel::MessageCost(Bytes bytes, Rank from, Rank to, uint32_t some) const
{
    const FabricPath& path = m_paths.Between(from, to);
    const std::vector<BuildingSpec>& buildings = m_scenario.cluster.buildings;
    const uint32_t here = m_layout.BuildingOf(from);
    const uint32_t there = m_layout.BuildingOf(to);
    const GpuSpec& gpu = buildings[here].gpu;
    const auto payload = static_cast<double>(bytes.Count());
    TransferCost cost;
    cost.latency = EdgeLatency(path, payload);
    if (path.tier == Tier::Node)
    {
        const double seconds = payload * 8.0 / (gpu.nvlinkBandwidth.Value() * gpu.nvlinkEfficiency);
        cost.On(Port::NvlinkOut) = cost.On(Port::NvlinkIn) = seconds;
        cost.portBytes.fill(payload);
        return cost;
    }
    const Spread spread = SpreadOf(1.0, payload, path.tier);
    cost.On(Port::NicOut) = PortSeconds(gpu.nicRate, payload, spread.ports);
    cost.On(Port::NicIn) = PortSeconds(buildings[there].gpu.nicRate, payload, spread.ports);
    cost.portBytes.fill(DataBytes(1.0, payload));
    cost.least = std::max(WindowSeconds(payload, path), AdmissionSeconds(payload, path));
    const double senders = some > 0 ? some : StageRanksIn(here, m_layout.StageOf(from));
    CutLoads loads;
    if (m_switchEdges->NeedsCount(RankGroup()))
    {
        const CountedEdges& counted = m_switchEdges->OfMessage(from, to);
        for (const SwitchEdges& edges : counted.kinds)
        {
            LoadCuts(loads,
                     m_paths.Between(edges.from, edges.to),
                     {edges.from,
                      edges.to,
                      edges.count * senders / counted.ranksIn[here],
                      SpreadOf(1.0, payload, edges.kind.tier),
                      1.0,
                      payload,
                      &edges});
        }
    }
    else
    {
        LoadCuts(loads, path, {from, to, senders, spread, 1.0, payload, nullptr});
    }
    UseCuts(cost, loads);
    if (path.loss > 0)
    {
        // When the stage sends its next message is not known here: perhaps not before the timeout.
        LossyMessages messages = LossyOf(path, payload, cost.Seconds(), 0);
        messages.untold = std::numeric_limits<double>::infinity();
        cost.losses.rounds = {{1.0, {messages}}};
        ApplyLoss(cost, senders, 1);
    }
    return cost;
}

Duration
NetworkModel::LongestWayOfRing(const Phase& phase, Rank representative, double message) const
{
    // As many edges in a row as there are steps, either way round.
    const uint32_t n = phase.group.Size();
    const uint32_t steps = StepCount(phase);
    Duration longest;
    for (const bool forward : {true, false})
    {
        const auto edge = [&](uint32_t i) {
            const Rank a = phase.group.Member(representative, i % n);
            const Rank b = phase.group.Member(representative, (i + 1) % n);
            return EdgeLatency(forward ? m_paths.Between(a, b) : m_paths.Between(b, a), message);
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

Duration
NetworkModel::LongestWayOfTree(const Phase& phase,
                               Rank representative,
                               double message,
                               const TransferCost& volume,
                               bool inTurn) const
{
    const uint32_t n = phase.group.Size();
    const double messages = TreeMessages(phase);
    const double node = std::max(volume.On(Port::NvlinkOut), volume.On(Port::NvlinkIn));
    const double nic = std::max({volume.least, volume.On(Port::NicOut), volume.On(Port::NicIn)});
    // Of messages that are sent at once and take turns on the queue pairs of a connection, all
    // arrive with the last; of such that come one by one, each before the next. So between one and
    // all of them pass before the next level has something to send: half.
    const auto passing = [&](Tier tier) {
        const double side = std::floor(m_scenario.network.QueuePairsAt(tier).qps /
                                       SpreadOf(1.0, message, tier).pairs);
        return (1.0 + std::clamp(side, 1.0, std::min<double>(TreeWindow(phase), messages))) / 2;
    };
    Duration longest;
    for (uint32_t tree = 0; tree < 2; tree++)
    {
        for (uint32_t i = 0; i < n; i++)
        {
            Duration way; // up from a member, and down to it
            uint32_t from = i;
            for (TreePlace place = PlaceInTree(tree, i, n); place.parent != TreePlace::kNone;
                 place = PlaceInTree(tree, from, n))
            {
                const Rank a = phase.group.Member(representative, from);
                const Rank b = phase.group.Member(representative, place.parent);
                const FabricPath& up = m_paths.Between(a, b);
                way += EdgeLatency(up, message) + EdgeLatency(m_paths.Between(b, a), message);
                const double passed =
                    up.tier == Tier::Node ? node : nic * (inTurn ? 1.0 : passing(up.tier));
                way += Duration::Seconds(from == i ? 0.0 : passed / messages);
                from = place.parent;
            }
            longest = std::max(longest, way);
        }
    }
    return longest;
}

struct NetworkModel::PhaseView
{
    const Phase& phase;
    Rank representative;
    uint32_t stage;
    PhaseRounds rounds;
    const PhaseEdges& edges;
    uint32_t size;
    std::vector<double> ranksIn; //!< by building: ranks that take part
    bool whole;                  //!< all groups of the stage do
    bool direct;                 //!< all-to-all
    bool once;                   //!< one step, which waits for nothing

    double MembersIn(uint32_t building) const
    {
        return edges.membersIn.at(building).count;
    }
};

void
NetworkModel::AddVolume(const PhaseView& view, TransferCost& cost) const
{
    const PhaseRounds& rounds = view.rounds;
    const std::vector<BuildingSpec>& buildings = m_scenario.cluster.buildings;
    const uint32_t here = m_layout.BuildingOf(view.representative);
    const GpuSpec& gpu = buildings[here].gpu;
    const double nvlink = gpu.nvlinkBandwidth.Value() * gpu.nvlinkEfficiency;
    const double part = rounds.message;

    // What the busiest member sends and receives, by building; here, that of all buildings whose
    // NICs are as fast, in which a class may have ranks as well.
    struct AtNic
    {
        double seconds{0};
        double bytes{0};
    };

    std::map<uint32_t, AtNic> out;
    std::map<uint32_t, AtNic> in;
    const auto add = [&](std::map<uint32_t, AtNic>& nics,
                         uint32_t building,
                         double messages,
                         const FabricPath& path) {
        const double ports = SpreadOf(rounds.joined, part, path.tier).ports;
        const double seconds = messages * PortSeconds(buildings[building].gpu.nicRate, part, ports);
        const double bytes = DataBytes(messages, part);
        AtNic& nic = nics[building];
        // Whom a member of a ring sends to is one of these.
        nic.seconds = view.direct ? nic.seconds + seconds : std::max(nic.seconds, seconds);
        nic.bytes = view.direct ? nic.bytes + bytes : std::max(nic.bytes, bytes);
    };
    for (const auto& [kind, set] : view.edges.kinds)
    {
        const FabricPath& path = m_paths.Between(set.from, set.to);
        // Messages that one member sends over edges of this kind during the phase.
        const double messages = view.direct ? set.count : rounds.perMember;
        if (kind.tier == Tier::Node)
        {
            const double seconds = messages * part * 8.0 / nvlink;
            for (const Port port : {Port::NvlinkOut, Port::NvlinkIn})
            {
                cost.On(port) = std::max(cost.On(port), seconds);
                cost.portBytes[static_cast<size_t>(port)] = cost.On(port) * nvlink / 8.0;
            }
            continue;
        }
        // Every connection has its own window: those to several peers are open at once.
        const double peers = view.direct ? set.count : 1.0;
        const double perEdge = view.direct ? 1.0 : rounds.perEdge;
        const double runs = perEdge / rounds.joined;
        cost.least = std::max(cost.least, runs * WindowSeconds(part * rounds.joined, path));
        // A receiver admits all that send to it.
        const double together = view.direct ? peers : rounds.perMember / perEdge;
        cost.least =
            std::max(cost.least, runs * AdmissionSeconds(together * part * rounds.joined, path));
        // A member over there hears from all members here.
        const double heard =
            view.direct && kind.from != kind.to ? view.MembersIn(kind.from) : messages;
        add(out, kind.from, messages, path);
        add(in, kind.to, heard, path);
    }
    const auto use = [&](Port port, const std::map<uint32_t, AtNic>& nics) {
        for (const auto& [building, nic] : nics)
        {
            if (buildings[building].gpu.nicRate == gpu.nicRate)
            {
                double& bytes = cost.portBytes[static_cast<size_t>(port)];
                cost.On(port) = std::max(cost.On(port), nic.seconds);
                bytes = std::max(bytes, nic.bytes);
            }
            cost.least = std::max(cost.least, nic.seconds); // all wait for the slowest
        }
    };
    use(Port::NicOut, out);
    use(Port::NicIn, in);
    CutLoads loads;
    if (m_switchEdges->NeedsCount(view.phase.group) ||
        (view.whole && !GroupsLieAlike(view.phase.group)))
    {
        LoadCounted(view, loads);
    }
    else
    {
        LoadAll(view, loads);
    }
    UseCuts(cost, loads);
}

/// Where buildings hold different numbers of blocks, only groups of all blocks of a stage are sure
/// to have equally many members in a building.
bool
NetworkModel::GroupsLieAlike(const RankGroup& group) const
{
    const uint32_t span = m_layout.buildingSpan;
    const uint32_t reached = group.SplitAt(span).outer.Size();
    const uint32_t blocks = m_layout.ranks / span / m_layout.pipeline.SplitAt(span).outer.Size();
    return reached == 1 || reached == blocks || span * m_layout.Buildings() == m_layout.ranks;
}

void
NetworkModel::LoadCounted(const PhaseView& view, CutLoads& loads) const
{
    const CountedEdges& counted =
        m_switchEdges->OfPhase(view.phase, view.representative, view.whole);
    for (const SwitchEdges& edges : counted.kinds)
    {
        if (edges.kind.tier == Tier::Node)
        {
            continue;
        }
        // Of the groups that are alike, those that take part.
        const double part = view.ranksIn[edges.kind.from] / counted.ranksIn[edges.kind.from];
        LoadCuts(loads,
                 m_paths.Between(edges.from, edges.to),
                 {edges.from,
                  edges.to,
                  edges.count * part,
                  SpreadOf(view.rounds.joined, view.rounds.message, edges.kind.tier),
                  view.direct ? 1.0 : view.rounds.perEdge,
                  view.rounds.message,
                  &edges});
    }
}

void
NetworkModel::LoadAll(const PhaseView& view, CutLoads& loads) const
{
    LoadGroups(view, view.edges, loads);
    std::vector<bool> loaded(m_layout.Buildings(), false);
    const auto haveLoaded = [&loaded](const PhaseEdges& edges) {
        for (const auto& [building, members] : edges.membersIn)
        {
            loaded[building] = true;
        }
    };
    haveLoaded(view.edges);
    for (uint32_t b = 0; b < loaded.size() && view.whole; b++)
    {
        if (!loaded[b] && view.ranksIn[b] > 0)
        {
            const Rank there = m_layout.pipeline.Member(m_layout.buildingBegin[b], view.stage);
            const PhaseEdges& edges = m_edges.Of(view.phase, there);
            LoadGroups(view, edges, loads);
            haveLoaded(edges);
            loaded[b] = true;
        }
    }
}

void
NetworkModel::LoadGroups(const PhaseView& view, const PhaseEdges& edges, CutLoads& loads) const
{
    for (const auto& [kind, set] : edges.kinds)
    {
        if (kind.tier == Tier::Node)
        {
            continue;
        }
        // Groups look alike: those that reach into a building have equally many members there.
        const double members = edges.membersIn.at(kind.from).count;
        const double groups = view.ranksIn[kind.from] / members;
        const double senders = view.direct ? members * set.count : set.count;
        LoadCuts(loads,
                 m_paths.Between(set.from, set.to),
                 {set.from,
                  set.to,
                  groups * senders,
                  SpreadOf(view.rounds.joined, view.rounds.message, kind.tier),
                  view.direct ? 1.0 : view.rounds.perEdge,
                  view.rounds.message,
                  nullptr});
    }
}

void
NetworkModel::AddLatency(const PhaseView& view, TransferCost& cost) const
{
    const Phase& phase = view.phase;
    const uint32_t steps = view.rounds.steps;
    Duration total;
    Duration least = Duration::Max();
    Duration most;
    for (const auto& [kind, set] : view.edges.kinds)
    {
        const Duration latency =
            EdgeLatency(m_paths.Between(set.from, set.to), view.rounds.message);
        total += latency * set.count;
        least = std::min(least, latency);
        most = std::max(most, latency);
    }
    // A part travels n-1 of a ring's n edges; which one it spares differs, so the shortest counts.
    const bool ring =
        phase.pattern == Pattern::RingReduceScatter || phase.pattern == Pattern::RingAllGather;
    const double own = cost.PortSeconds();
    const double part = view.rounds.message;
    if (phase.pattern == Pattern::DoubleTree)
    {
        cost.latency = LongestWayOfTree(phase, view.representative, part, cost, false);
        // What is sent up waits for what comes down, a way later: a window of messages is not on
        // every level at once, so that those which take turns are counted once.
        const Duration way = LongestWayOfTree(phase, view.representative, part, cost, true);
        const double messages = TreeMessages(phase);
        const double rounds = std::max(0.0, messages / TreeWindow(phase) - 1);
        cost.least = std::max(cost.least, rounds * way.S());
        return;
    }
    cost.latency = view.direct || view.once ? most
                   : ring                   ? total - least
                                            : LongestWayOfRing(phase, view.representative, part);
    if (!view.direct && !view.once && cost.CutSeconds() > own)
    {
        // The members of all groups that share the cut wait for it in turn, and stay apart by that:
        // while one's part travels on, the others' use the cut.
        const double turn = cost.CutSeconds() / steps;
        const double alone = std::max(own / steps, turn / std::max(1.0, cost.Tightest()->flows));
        const Duration hidden = Duration::Seconds((steps - 1) * (turn - alone));
        cost.latency = std::max(cost.latency - hidden, cost.latency / steps);
    }
}

/// What may be lost, by chain: rings have as many as members, each of which passes n-1 edges.
void
NetworkModel::AddLosses(const PhaseView& view, TransferCost& cost) const
{
    const uint32_t steps = view.rounds.steps;
    const double seconds = cost.Seconds() / steps;
    const double nextAfter = cost.Alone().S() / steps;
    std::vector<LossyRounds>& lossy = cost.losses.rounds;
    double edgesAtRisk = 0;
    for (const auto& [kind, set] : view.edges.kinds)
    {
        const FabricPath& path = m_paths.Between(set.from, set.to);
        if (path.loss <= 0)
        {
            continue;
        }
        LossyMessages messages =
            LossyOf(path, view.rounds.message * view.rounds.joined, seconds, nextAfter);
        if (view.direct)
        {
            messages.count = view.MembersIn(kind.from) * set.count / view.size;
            lossy.resize(1);
            lossy.front().messages.push_back(messages);
            continue;
        }
        edgesAtRisk += set.count;
        const double passed = static_cast<double>(set.count) * steps / view.edges.count;
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
    if (lossy.empty())
    {
        return;
    }
    // In a ring those behind a safe edge always go on.
    const bool isCircle =
        edgesAtRisk == view.edges.count && view.phase.pattern != Pattern::DoubleTree;
    for (LossyRounds& round : lossy)
    {
        for (LossyMessages& messages : round.messages)
        {
            messages.circle = view.direct ? 2
                              : isCircle  ? view.size
                                          : std::numeric_limits<double>::infinity();
        }
    }
    const uint32_t here = m_layout.BuildingOf(view.representative);
    const double groups = view.ranksIn[here] / view.MembersIn(here);
    ApplyLoss(cost, groups * view.rounds.chains, steps);
}

TransferCost
NetworkModel::PhaseCost(const Phase& phase,
                        Rank representative,
                        const std::vector<RankCount>& members) const
{
    TransferCost cost;
    const uint32_t n = phase.group.Size();
    if (n == 1)
    {
        return cost;
    }
    const PhaseRounds rounds = RoundsOf(phase);
    const uint32_t stage = m_layout.StageOf(representative);
    std::vector<double> ranksIn(m_layout.Buildings(), 0.0);
    for (uint32_t b = 0; b < ranksIn.size() && members.empty(); b++)
    {
        ranksIn[b] = StageRanksIn(b, stage);
    }
    for (const RankCount& some : members)
    {
        ranksIn[m_layout.BuildingOf(some.one)] += some.ranks;
    }
    const PhaseView view{phase,
                         representative,
                         stage,
                         rounds,
                         m_edges.Of(phase, representative),
                         n,
                         std::move(ranksIn),
                         members.empty(),
                         phase.pattern == Pattern::DirectAllToAll,
                         rounds.steps == 1 && !rounds.chained};
    AddVolume(view, cost);
    AddLatency(view, cost);
    AddLosses(view, cost);
    return cost;
}

NamedLink
NetworkModel::CutNamed(uint32_t cut) const
{
    const ClusterSpec& cluster = m_scenario.cluster;
    if (cut >= m_spanCuts)
    {
        const CrossLinkSpec& link = cluster.crossLinks[(cut - m_spanCuts) / 2];
        const bool forward = (cut - m_spanCuts) % 2 == 0;
        const std::string a = cluster.SiteName(link.a);
        const std::string b = cluster.SiteName(link.b);
        return {forward ? a + " to " + b : b + " to " + a,
                link.capacity * m_shares.Span((cut - m_spanCuts) / 2).capacity};
    }
    const bool isZone = cut >= m_zoneCuts;
    const StageSwitches& switches = isZone ? m_stages->zones : m_stages->leaves;
    const uint32_t index = isZone ? cut - m_zoneCuts : cut;
    const uint32_t building = switches.BuildingOf(index % switches.Kinds());
    const FabricShape& shape = m_paths.Shape(building);
    const BitRate capacity =
        isZone ? shape.zoneUplinkRate * (shape.planes * shape.spines * shape.aggregations) *
                     m_shares.Zone(building).capacity
               : shape.uplinkRate * (shape.spines * shape.ports) * m_shares.Leaf(building).capacity;
    return {cluster.buildings[building].name + (isZone ? " zone " : " leaf ") +
                (index < switches.Kinds() ? "up" : "down"),
            capacity};
}

std::string
NetworkModel::ClassName(const RankClass& rankClass) const
{
    const std::string stage = "stage " + std::to_string(rankClass.stage);
    const uint32_t building = m_layout.BuildingOf(rankClass.representative);
    uint32_t all = 0;
    for (uint32_t b = 0; b < m_layout.Buildings(); b++)
    {
        all += m_layout.StageRanksIn(b, rankClass.stage);
    }
    return rankClass.ranks == all ? stage
                                  : stage + " in " + m_scenario.cluster.buildings[building].name;
}

BitRate
NetworkModel::PortRate(Rank rank, Port port) const
{
    const GpuSpec& gpu = m_scenario.cluster.buildings[m_layout.BuildingOf(rank)].gpu;
    return IsNic(port) ? gpu.nicRate : gpu.nvlinkBandwidth * gpu.nvlinkEfficiency;
}

} // namespace scaleacross
