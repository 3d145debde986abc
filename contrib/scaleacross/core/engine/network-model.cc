// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/network-model.h"

#include "core/engine/longest-way.h"
#include "core/program/step-pattern.h"
#include "core/work/collectives/parameter-units.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace scaleacross
{

NetworkModel::NetworkModel(const Scenario& scenario,
                           const RankLayout& layout,
                           std::shared_ptr<const NetworkFacts> facts)
    : m_scenario(scenario),
      m_layout(layout),
      m_facts(std::move(facts)),
      m_paths(m_facts->paths),
      m_stages(m_facts->StagesOf(scenario.cluster,
                                 layout,
                                 SwitchPeriod(scenario.cluster, m_facts->paths, layout))),
      m_messages(scenario, m_paths),
      m_cuts(scenario, layout, *m_facts, *m_stages),
      m_known(layout.takingPart.empty() ? m_facts->costs.Of({layout.plan, scenario.network})
                                        : std::shared_ptr<PhaseCosts>()),
      m_edges(m_paths, layout),
      m_switchEdges(scenario.cluster, m_paths, layout, *m_stages)
{
}

NetworkModel::NetworkModel(const Scenario& scenario, const RankLayout& layout)
    : NetworkModel(scenario, layout, std::make_shared<const NetworkFacts>(scenario))
{
}

double
NetworkModel::StageRanksIn(uint32_t building, uint32_t stage) const
{
    return m_layout.takingPart.empty() ? m_layout.StageRanksIn(building, stage)
                                       : m_layout.TakingPartIn(building, stage);
}

void
NetworkModel::ApplyLoss(TransferCost& cost, double chains, uint32_t steps) const
{
    LossyChains& losses = cost.losses;
    losses.chains = chains;
    losses.steps = steps;
    losses.recovery = m_scenario.network.recovery;
    losses.timeout = m_scenario.network.Timeout().S();
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

std::vector<Duration>
NetworkModel::EarlierRounds(const std::vector<Phase>& rounds, Rank representative) const
{
    std::vector<Duration> earlier;
    const uint32_t n = rounds.front().group.Size();
    std::vector<Duration> now(n);
    Duration last;
    for (const Phase& round : rounds)
    {
        const double message = RoundsOf(round).message;
        std::vector<Duration> then = now;
        Duration most;
        for (uint32_t from = 0; from < n; from++)
        {
            const uint32_t to = MessageOf(round, from, 0, 0).to;
            const FabricPath& path = m_paths.Between(round.group.Member(representative, from),
                                                     round.group.Member(representative, to));
            const Duration latency = m_messages.StepLatency(round, path, message);
            then[to] = std::max(then[to], now[from] + latency);
            most = std::max(most, latency);
        }
        now = std::move(then);
        const Duration end = *std::max_element(now.begin(), now.end());
        earlier.push_back(most - (end - last));
        last = end;
    }
    return earlier;
}

Duration
NetworkModel::SparedByRing(const Phase& before, const Phase& phase, Rank representative) const
{
    const auto isPlain = [](const Phase& of) {
        return of.inTurn == 1 && of.group.Size() > 1 && RoundsOf(of).turns == 1;
    };
    if (before.pattern != Pattern::RingReduceScatter || phase.pattern != Pattern::RingAllGather ||
        !(before.group == phase.group) || !isPlain(before) || !isPlain(phase))
    {
        return Duration();
    }
    const uint32_t n = phase.group.Size();
    const auto latencies = [&](const Phase& of) {
        std::vector<Duration> edges;
        for (uint32_t i = 0; i < n; i++)
        {
            const FabricPath& path = m_paths.Between(of.group.Member(representative, i),
                                                     of.group.Member(representative, (i + 1) % n));
            edges.push_back(m_messages.StepLatency(of, path, RoundsOf(of).message));
        }
        return edges;
    };
    const std::vector<Duration> reduce = latencies(before);
    const std::vector<Duration> gather = latencies(phase);
    Duration spared = Duration::Max();
    for (uint32_t j = 0; j < n; j++)
    {
        spared = std::min(spared, reduce[j] + gather[(j + n - 1) % n]);
    }
    return spared - *std::min_element(reduce.begin(), reduce.end()) -
           *std::min_element(gather.begin(), gather.end());
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
    cost.latency = m_messages.EdgeLatency(path, payload);
    if (path.tier == Tier::Node)
    {
        const double seconds =
            payload * 8.0 / (gpu.scaleUpBandwidth.Value() * gpu.scaleUpEfficiency);
        cost.On(Port::ScaleUpOut) = cost.On(Port::ScaleUpIn) = seconds;
        cost.portBytes.fill(payload);
        return cost;
    }
    const QueuePairSpread spread = m_messages.SpreadOf(1.0, payload, path.tier);
    cost.On(Port::NicOut) = m_messages.PortSeconds(gpu.nicRate, payload, spread);
    cost.On(Port::NicIn) = m_messages.PortSeconds(buildings[there].gpu.nicRate, payload, spread);
    cost.portBytes.fill(m_messages.DataBytes(1.0, payload, spread));
    cost.least = std::max(m_messages.WindowSeconds(payload, path),
                          m_messages.AdmissionSeconds(payload, path));
    const double senders = some > 0 ? some : StageRanksIn(here, m_layout.StageOf(from));
    CutLoads loads;
    if (m_switchEdges.NeedsCount(RankGroup(), false))
    {
        const CountedEdges& counted = m_switchEdges.OfMessage(from, to);
        for (const SwitchEdges& edges : counted.kinds)
        {
            m_cuts.Load(loads,
                        m_paths.Between(edges.from, edges.to),
                        {edges.from,
                         edges.to,
                         edges.count * senders / counted.ranksIn[here],
                         m_messages.SpreadOf(1.0, payload, edges.kind.tier),
                         1.0,
                         payload,
                         &edges});
        }
    }
    else
    {
        m_cuts.Load(loads, path, {from, to, senders, spread, 1.0, payload, nullptr});
    }
    m_cuts.Use(cost, loads);
    cost.window = m_messages.WindowOf(1.0, payload, payload, cost.MovingSeconds(), path);
    cost.admission = m_messages.AdmissionOf(1.0, payload, path);
    cost.window.last = cost.admission.last = cost.latency;
    if (path.loss > 0)
    {
        // When the stage sends its next message is not known here: perhaps not before the timeout.
        LossyMessages messages = m_messages.LossyOf(path, payload, cost.Seconds(), 0);
        messages.untold = std::numeric_limits<double>::infinity();
        cost.losses.rounds = {{1.0, {messages}}};
        ApplyLoss(cost, senders, 1);
    }
    return cost;
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
    const double scaleUp = gpu.scaleUpBandwidth.Value() * gpu.scaleUpEfficiency;
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
        const QueuePairSpread spread = m_messages.SpreadOf(rounds.joined, part, path.tier);
        const double seconds =
            messages * m_messages.PortSeconds(buildings[building].gpu.nicRate, part, spread);
        const double bytes = m_messages.DataBytes(messages, part, spread);
        AtNic& nic = nics[building];
        // Whom a member of a ring sends to is one of these.
        const bool all = view.direct || rounds.turns > 1;
        nic.seconds = all ? nic.seconds + seconds : std::max(nic.seconds, seconds);
        nic.bytes = all ? nic.bytes + bytes : std::max(nic.bytes, bytes);
    };
    for (const auto& [kind, set] : view.edges.kinds)
    {
        const FabricPath& path = m_paths.Between(set.from, set.to);
        // Messages that one member sends over edges of this kind during the phase; of those that
        // take turns, in the mean.
        const double messages = view.direct        ? set.count
                                : rounds.turns > 1 ? rounds.perMember * set.count /
                                                         (rounds.turns * view.MembersIn(kind.from))
                                                   : rounds.perMember;
        if (rounds.turns > 1)
        {
            // Each of their rings goes on by itself, no faster than its slowest edge.
            const BitRate nic =
                std::min(buildings[kind.from].gpu.nicRate, buildings[kind.to].gpu.nicRate);
            const double edge =
                kind.tier == Tier::Node
                    ? part * 8.0 / scaleUp * view.phase.occupied
                    : m_messages.PortSeconds(nic,
                                             part,
                                             m_messages.SpreadOf(rounds.joined, part, path.tier));
            cost.least = std::max(cost.least, rounds.perMember * edge);
        }
        if (kind.tier == Tier::Node)
        {
            const double bytes = messages * part;
            for (const Port port : {Port::ScaleUpOut, Port::ScaleUpIn})
            {
                double& most = cost.portBytes[static_cast<size_t>(port)];
                most = std::max(most, bytes);
                cost.On(port) = most * 8.0 / scaleUp * view.phase.occupied;
            }
            continue;
        }
        // Every connection has its own window: those to several peers are open at once.
        const double perEdge = view.direct ? 1.0 : rounds.perEdge;
        const double runs = perEdge / rounds.joined;
        cost.least =
            std::max(cost.least, runs * m_messages.WindowSeconds(part * rounds.joined, path));
        // A receiver admits all that send to it.
        const double together = HeardOver(view, kind, set);
        cost.least =
            std::max(cost.least,
                     runs * m_messages.AdmissionSeconds(together * part * rounds.joined, path));
        // A member over there hears from all members here.
        const double heard = view.direct && kind.from != kind.to ? view.MembersIn(kind.from)
                             : rounds.turns > 1                  ? rounds.perMember * set.count /
                                                      (rounds.turns * view.MembersIn(kind.to))
                                                : messages;
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
    if (m_switchEdges.NeedsCount(view.phase.group, view.direct) ||
        (view.whole && !GroupsLieAlike(view.phase.group)))
    {
        LoadCounted(view, loads);
    }
    else
    {
        LoadAll(view, loads);
    }
    m_cuts.Use(cost, loads);
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
        m_switchEdges.OfPhase(view.phase, view.representative, view.whole);
    for (const SwitchEdges& edges : counted.kinds)
    {
        if (edges.kind.tier == Tier::Node)
        {
            continue;
        }
        // Of the groups that are alike, those that take part.
        const double part = view.ranksIn[edges.kind.from] / counted.ranksIn[edges.kind.from];
        m_cuts.Load(loads,
                    m_paths.Between(edges.from, edges.to),
                    {edges.from,
                     edges.to,
                     edges.count * part / view.rounds.turns,
                     m_messages.SpreadOf(view.rounds.joined, view.rounds.message, edges.kind.tier),
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
        const double senders =
            view.direct ? members * set.count : static_cast<double>(set.count) / view.rounds.turns;
        m_cuts.Load(loads,
                    m_paths.Between(set.from, set.to),
                    {set.from,
                     set.to,
                     groups * senders,
                     m_messages.SpreadOf(view.rounds.joined, view.rounds.message, kind.tier),
                     view.direct ? 1.0 : view.rounds.perEdge,
                     view.rounds.message,
                     nullptr});
    }
}

/**
 * Beyond the volume, of a lane's ring: edges inside servers and between them, of which the slower
 * kind passes n - 1 parts one behind the other. The last of them then goes on to whoever is next
 * before another slow edge. Where latencies are longer than that, a part's whole way counts.
 *
 * With t_i, a_i the time and latency of a step inside, t_b, a_b between, g GPUs in a server and N
 * servers: between is slower: max(a_b + (g - 1) (t_i + a_i), W - V); inside is: max(a_i + t_b +
 * a_b, W - V), where V is the volume and W = (n - N - 1) (t_i + a_i) + N (t_b + a_b).
 */
Duration
NetworkModel::LatencyOfLane(const PhaseView& view, const TransferCost& cost) const
{
    const double part = view.rounds.message;
    const GpuSpec& gpu = m_scenario.cluster.buildings[m_layout.BuildingOf(view.representative)].gpu;
    const double scaleUp = gpu.scaleUpBandwidth.Value() * gpu.scaleUpEfficiency;
    double inside = 0; // seconds of a step there, and its latency
    double insideLatency = 0;
    double insideEdges = 0;
    double between = 0; // of the slowest edge
    double betweenLatency = 0;
    double way = 0; // all edges
    for (const auto& [kind, set] : view.edges.kinds)
    {
        const FabricPath& path = m_paths.Between(set.from, set.to);
        const double latency = m_messages.StepLatency(view.phase, path, part).S();
        const double edges = static_cast<double>(set.count) / view.rounds.turns;
        if (kind.tier == Tier::Node)
        {
            inside = part * 8.0 / scaleUp * view.phase.occupied;
            insideLatency = latency;
            insideEdges += edges;
            way += edges * (inside + latency);
            continue;
        }
        const QueuePairSpread spread = m_messages.SpreadOf(view.rounds.joined, part, path.tier);
        const double seconds = m_messages.PortSeconds(gpu.nicRate, part, spread);
        between = std::max(between, seconds);
        betweenLatency = std::max(betweenLatency, latency);
        way += edges * (seconds + latency);
    }
    way -= insideEdges > 0 ? inside + insideLatency : 0; // a part spares one edge
    const double after =
        between >= inside ? betweenLatency + (view.phase.perServer - 1) * (inside + insideLatency)
                          : insideLatency + between + betweenLatency;
    return Duration::Seconds(std::max(after, way - cost.Seconds()));
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
            m_messages.StepLatency(phase, m_paths.Between(set.from, set.to), view.rounds.message);
        total += latency * set.count;
        least = std::min(least, latency);
        most = std::max(most, latency);
    }
    const Chain chain = StepsOf(phase).ChainOf();
    const double own = cost.PortSeconds();
    const double part = view.rounds.message;
    if (chain == Chain::Tree)
    {
        cost.latency =
            LongestWayOfTree(m_messages, m_paths, phase, view.representative, part, cost, false);
        // What is sent up waits for what comes down, a way later: a window of messages is not on
        // every level at once, so that those which take turns are counted once.
        const Duration way =
            LongestWayOfTree(m_messages, m_paths, phase, view.representative, part, cost, true);
        const double messages = TreeMessages(phase);
        const double rounds = std::max(0.0, messages / TreeWindow(phase) - 1);
        cost.least = std::max(cost.least, rounds * way.S());
        return;
    }
    if (view.rounds.turns > 1)
    {
        cost.latency = LatencyOfLane(view, cost);
        return;
    }
    // A part travels n-1 of a ring's n edges; which one it spares differs, so the shortest counts.
    cost.latency = chain == Chain::None ? most
                   : chain == Chain::Ring && phase.inTurn == 1
                       ? total - least
                       : LongestWayOfRing(m_messages, m_paths, phase, view.representative, part);
    if (chain != Chain::None && cost.CutSeconds() > own)
    {
        // The members of all groups that share the cut wait for it in turn, and stay apart by that:
        // while one's part travels on, the others' use the cut.
        const double turn = cost.CutSeconds() / steps;
        const double alone = std::max(own / steps, turn / std::max(1.0, cost.Tightest()->flows));
        const Duration hidden = Duration::Seconds((steps - 1) * (turn - alone));
        cost.latency = std::max(cost.latency - hidden, cost.latency / steps);
    }
}

/// Of how many a member hears at most over edges of a kind. In a ring those near by wait for what
/// is granted to those far away, and count like these; in a tree most are near by.
double
NetworkModel::HeardOver(const PhaseView& view, const EdgeKind& kind, const EdgeSet& set)
{
    if (view.direct)
    {
        return kind.from == kind.to ? set.count : view.MembersIn(kind.from);
    }
    const double peers = view.rounds.perMember / view.rounds.perEdge;
    return StepsOf(view.phase).ChainOf() == Chain::Tree
               ? std::min(peers, std::ceil(set.count / view.MembersIn(kind.to)))
               : peers;
}

/// The messages of an edge leave no faster than their window comes back, and a member is sent no
/// more than it admits. Who waits for parts from further round a ring does so at the same time: the
/// last part comes the way of one edge after it has left. In a tree it has the whole way before it.
void
NetworkModel::AwaitWindows(const PhaseView& view, TransferCost& cost) const
{
    const PhaseRounds& rounds = view.rounds;
    const double message = rounds.message;
    const double write =
        view.phase.slots.slots > 0 ? message / view.phase.slots.Of(message) : message;
    const double perEdge = view.direct ? 1.0 : rounds.perEdge;
    const double moving = cost.MovingSeconds() / (view.direct ? view.size - 1 : rounds.perMember);
    const bool tree = StepsOf(view.phase).ChainOf() == Chain::Tree;
    // The longest way first: whom a member hears from there it does not hear from near by.
    using Kind = std::pair<EdgeKind, EdgeSet>;
    std::vector<Kind> kinds;
    std::copy_if(view.edges.kinds.begin(),
                 view.edges.kinds.end(),
                 std::back_inserter(kinds),
                 [](const Kind& of) { return of.first.tier != Tier::Node; });
    const auto pathOf = [this](const Kind& of) -> const FabricPath& {
        return m_paths.Between(of.second.from, of.second.to);
    };
    std::stable_sort(kinds.begin(), kinds.end(), [&pathOf](const Kind& a, const Kind& b) {
        return pathOf(a).propagation > pathOf(b).propagation;
    });
    double others = view.direct ? view.size : rounds.perMember / rounds.perEdge;
    double admitted = 0; // seconds of round trips
    for (const Kind& kind : kinds)
    {
        const FabricPath& path = pathOf(kind);
        const Duration last =
            tree ? cost.latency : m_messages.StepLatency(view.phase, path, message);
        WindowUse use = m_messages.WindowOf(perEdge, message, write, moving, path);
        if (use.Seconds() > cost.window.Seconds())
        {
            cost.window = use;
            cost.window.last = last;
        }
        const double heard = std::min(others, HeardOver(view, kind.first, kind.second));
        others -= heard;
        use = m_messages.AdmissionOf(heard * perEdge, message, path);
        admitted += use.Seconds();
        if (cost.admission.round <= 0)
        {
            cost.admission = use;
            cost.admission.last = last;
        }
    }
    if (admitted > 0)
    {
        cost.admission.windows = admitted / cost.admission.round;
    }
    TransferCost without = cost;
    without.window.windows = without.admission.windows = 0;
    const double held = std::max(cost.window.LeastSeconds(), cost.admission.LeastSeconds());
    cost.latency = cost.LatencyBehind(held, without.Seconds());
    cost.window.share = cost.admission.share = 1.0 / rounds.turns;
}

/// The last message of an edge leaves when slots have let all before it go. Who waits for parts
/// from further round a ring does so at the same time, so that the longer of both counts; in a tree
/// the last message has the whole way before it.
void
NetworkModel::AwaitSlots(const PhaseView& view, TransferCost& cost) const
{
    const PhaseRounds& rounds = view.rounds;
    const std::vector<BuildingSpec>& buildings = m_scenario.cluster.buildings;
    const bool tree = StepsOf(view.phase).ChainOf() == Chain::Tree;
    const Duration wayOfTree = cost.latency;
    for (const auto& [kind, set] : view.edges.kinds)
    {
        const FabricPath& path = m_paths.Between(set.from, set.to);
        const BitRate nic =
            std::min(buildings[kind.from].gpu.nicRate, buildings[kind.to].gpu.nicRate);
        const SlotUse slots = m_messages.SlotsOf(view.phase, rounds, nic, path);
        const double seconds = tree ? SlotsOfTree(view, cost, slots) : slots.Seconds();
        if (slots.Share() >= cost.slots.Share())
        {
            cost.slots = slots;
        }
        if (seconds > 0)
        {
            const Duration last =
                tree ? wayOfTree : m_messages.StepLatency(view.phase, path, rounds.message);
            cost.latency =
                std::max(cost.latency, Duration::Seconds(seconds - cost.Seconds()) + last);
        }
    }
}

/// Until the last message of an edge of a tree has left. A window of messages is followed by the
/// next when its results have come down, or when its slots have let it go.
double
NetworkModel::SlotsOfTree(const PhaseView& view,
                          const TransferCost& cost,
                          const SlotUse& slots) const
{
    if (slots.Seconds() <= 0)
    {
        return 0.0;
    }
    const uint32_t messages = TreeMessages(view.phase);
    const uint32_t window = std::min(TreeWindow(view.phase), messages);
    const uint32_t before = (messages - 1) / window; // windows
    const double way = LongestWayOfTree(m_messages,
                                        m_paths,
                                        view.phase,
                                        view.representative,
                                        view.rounds.message,
                                        cost,
                                        true)
                           .S();
    const auto part = [messages](uint32_t some) { return static_cast<double>(some) / messages; };
    return before * std::max(way, slots.Share() * part(window)) +
           slots.Seconds(part(messages - before * window));
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
            m_messages.LossyOf(path, view.rounds.message * view.rounds.joined, seconds, nextAfter);
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
        edgesAtRisk == view.edges.count && StepsOf(view.phase).ChainOf() != Chain::Tree;
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
    if (phase.group.Size() == 1)
    {
        return {};
    }
    const auto find = [&] { return FindPhaseCost(phase, representative, members); };
    return m_known ? m_known->Of({phase, representative, members}, find) : find();
}

TransferCost
NetworkModel::FindPhaseCost(const Phase& phase,
                            Rank representative,
                            const std::vector<RankCount>& members) const
{
    TransferCost cost;
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
                         phase.group.Size(),
                         std::move(ranksIn),
                         members.empty(),
                         StepsOf(phase).IsDirect()};
    AddVolume(view, cost);
    AddLatency(view, cost);
    AwaitWindows(view, cost);
    AwaitSlots(view, cost);
    AddLosses(view, cost);
    return cost;
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

double
NetworkModel::Meeting() const
{
    const JobSpec& job = m_scenario.Job();
    const ParallelPlan& plan = job.plan;
    uint64_t ranks = uint64_t{plan.tp} * plan.cp;
    if (job.Trains() && job.model.IsMoe())
    {
        ranks = std::max(ranks, uint64_t{plan.ExpertTensor()} * plan.ep);
    }
    if (plan.Reshards())
    {
        ranks = std::max(ranks, uint64_t{plan.tp} * ShardSizesOf(m_layout).dense);
    }
    return static_cast<double>(ranks);
}

BitRate
NetworkModel::PortRate(Rank rank, Port port) const
{
    const GpuSpec& gpu = m_scenario.cluster.buildings[m_layout.BuildingOf(rank)].gpu;
    return IsNic(port) ? gpu.nicRate : gpu.scaleUpBandwidth * gpu.scaleUpEfficiency;
}

} // namespace scaleacross
