// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/transfer-cost.h"

#include "core/topology/ecmp-collision.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace scaleacross
{

namespace
{

BitRate
SlowestRate(const FabricPath& path)
{
    return *std::min_element(path.rates.begin(), path.rates.end());
}

/// Edges of a phase's group that look alike: same tier, same buildings.
struct EdgeKind
{
    Tier tier;
    uint32_t from; //!< building
    uint32_t to;

    bool operator<(const EdgeKind& o) const
    {
        return std::tie(tier, from, to) < std::tie(o.tier, o.from, o.to);
    }
};

struct EdgeSet
{
    uint32_t count{0};
    Rank from{0}; //!< an example
    Rank to{0};
};

} // namespace

Duration
TransferCost::Alone() const
{
    return Duration::Seconds(std::max(portSeconds, cutSeconds)) + latency;
}

NetworkModel::NetworkModel(const Scenario& scenario, const RankLayout& layout)
    : m_scenario(scenario),
      m_layout(layout)
{
    const auto buildings = static_cast<uint32_t>(scenario.cluster.buildings.size());
    m_cuts = buildings * layout.plan.pp + buildings * buildings;
}

NetworkModel::LeafUse
NetworkModel::LeavesOf(uint32_t building, uint32_t stage) const
{
    const BuildingSpec& spec = m_scenario.cluster.buildings[building];
    const FabricShape shape = ShapeOf(spec);
    // Ranks of a stage lie in runs of ppStride, one run in every ppStride x pp ranks.
    const uint32_t pod = shape.nicsPerLeaf * shape.leavesPerPod;
    const uint32_t run = m_layout.ppStride;
    const uint32_t period = std::min(run * m_layout.plan.pp, spec.gpus);
    const uint32_t podsPerRun = (run + pod - 1) / pod;
    const double part = std::min(1.0, static_cast<double>(podsPerRun) * pod / period);
    const double pods = std::max(1.0, std::round(shape.pods * part));
    LeafUse use;
    use.leaves = pods * shape.leavesPerPod;
    // Stages that share no leaf share no uplink: each has a cut of its own then.
    use.cut = building * m_layout.plan.pp + (pods < shape.pods ? stage : 0);
    return use;
}

double
NetworkModel::QueuePairsUsed(double messageBytes) const
{
    const NetworkPlan& network = m_scenario.network;
    const double segments = std::ceil(messageBytes / static_cast<double>(network.segment.Count()));
    return std::clamp(segments, 1.0, static_cast<double>(network.qps));
}

double
NetworkModel::WireBytes(double messages, double bytes) const
{
    const NetworkPlan& network = m_scenario.network;
    const double packets =
        messages * std::max(1.0, std::ceil(bytes / static_cast<double>(network.mtu.Count())));
    const double acks = packets / network.ackEvery;
    return messages * bytes + packets * static_cast<double>(network.headers.Count()) +
           acks * static_cast<double>(network.ackSize.Count());
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
    const Bytes packet = Bytes(payload) + network.headers;
    for (const BitRate rate : path.rates)
    {
        latency += SerialisationTime(packet, rate);
    }
    return latency - SerialisationTime(packet, SlowestRate(path));
}

void
NetworkModel::LoadCuts(TransferCost& cost,
                       const FabricPath& path,
                       Rank from,
                       Rank to,
                       double flows,
                       double messageBytes,
                       double wireBytes) const
{
    const ClusterSpec& cluster = m_scenario.cluster;
    const uint32_t a = m_layout.BuildingOf(from);
    const uint32_t b = m_layout.BuildingOf(to);
    const double spread = QueuePairsUsed(messageBytes);
    const auto load = [&](uint32_t cut, BitRate capacity, uint32_t links, double share) {
        const auto hashed = static_cast<uint64_t>(std::ceil(share * spread));
        const double seconds =
            share * wireBytes * 8.0 / capacity.Value() * EcmpSlowdown(hashed, links);
        if (seconds > cost.cutSeconds)
        {
            cost.cut = cut;
            cost.cutSeconds = seconds;
            cost.flows = share;
        }
    };
    if (path.tier == Tier::Building || path.tier == Tier::Cross)
    {
        const FabricShape shape = ShapeOf(cluster.buildings[a]);
        const LeafUse use = LeavesOf(a, m_layout.StageOf(from));
        // The flows are spread evenly over the leaves, each with its own uplinks.
        load(use.cut,
             shape.uplinkRate * shape.spines,
             shape.spines,
             std::max(1.0, flows / use.leaves));
    }
    if (path.tier == Tier::Cross)
    {
        const auto buildings = static_cast<uint32_t>(cluster.buildings.size());
        load(buildings * m_layout.plan.pp + a * buildings + b,
             cluster.Between(a, b)->capacity,
             path.paths,
             flows);
    }
}

void
NetworkModel::ApplyLoss(TransferCost& cost,
                        const FabricPath& path,
                        double messages,
                        double messageBytes) const
{
    const double q = path.loss;
    if (q <= 0.0)
    {
        return;
    }
    const NetworkPlan& network = m_scenario.network;
    const double packetBits = static_cast<double>((network.mtu + network.headers).Count()) * 8.0;
    const double rtt = 2.0 * path.propagation.S();
    const double spread = QueuePairsUsed(messageBytes);
    const double inFlight = std::max(1.0, SlowestRate(path).Value() * rtt / packetBits / spread);
    const double factor = (1.0 - q + q * inFlight) / (1.0 - q);
    cost.portSeconds *= factor;
    cost.cutSeconds *= factor;
    const double timeout = 4.096e-6 * std::pow(2.0, network.timeoutExponent);
    // A message has one last packet per QP; while one of them is lost the step stands still.
    const double lostTail = 1.0 - std::pow(1.0 - q, spread);
    cost.latency += Duration::Seconds(messages * lostTail * timeout);
}

TransferCost
NetworkModel::MessageCost(Bytes bytes, Rank from, Rank to, uint32_t ranks) const
{
    const FabricPath path = PathBetween(m_scenario.cluster, from, to);
    const uint32_t a = m_layout.BuildingOf(from);
    const GpuSpec& gpu = m_scenario.cluster.buildings[a].gpu;
    const auto payload = static_cast<double>(bytes.Count());
    TransferCost cost;
    cost.latency = EdgeLatency(path, payload);
    if (path.tier == Tier::Node)
    {
        cost.port = Port::Nvlink;
        cost.portSeconds = payload * 8.0 / (gpu.nvlinkBandwidth.Value() * gpu.nvlinkEfficiency);
        return cost;
    }
    const double wire = WireBytes(1.0, payload);
    cost.portSeconds = wire * 8.0 / gpu.nicRate.Value();
    LoadCuts(cost, path, from, to, ranks, payload, wire);
    ApplyLoss(cost, path, 1.0, payload);
    return cost;
}

TransferCost
NetworkModel::PhaseCost(const Phase& phase, Rank representative, uint32_t ranks) const
{
    TransferCost cost;
    cost.port = Port::Nvlink;
    const uint32_t n = phase.group.Size();
    if (n == 1)
    {
        return cost;
    }
    const ClusterSpec& cluster = m_scenario.cluster;
    const bool direct = phase.pattern == Pattern::DirectAllToAll;
    const double part = static_cast<double>(phase.bytes.Count()) / n;
    const double groups = static_cast<double>(ranks) / n;

    // What kinds of edge a group has. A ring: from each member to the next. All-to-all: from each
    // building's first member to everyone, which stands for the members of that building.
    std::map<EdgeKind, EdgeSet> edges;
    const auto count = [&](Rank from, Rank to) {
        const EdgeKind kind{TierBetween(cluster, from, to),
                            m_layout.BuildingOf(from),
                            m_layout.BuildingOf(to)};
        EdgeSet& set = edges[kind];
        set.count++;
        set.from = from;
        set.to = to;
    };
    std::map<uint32_t, uint32_t> membersIn;
    for (uint32_t i = 0; i < n; i++)
    {
        const Rank member = phase.group.Member(representative, i);
        const bool firstThere = membersIn[m_layout.BuildingOf(member)]++ == 0;
        if (!direct)
        {
            count(member, phase.group.Member(representative, (i + 1) % n));
        }
        else if (firstThere)
        {
            for (uint32_t j = 0; j < n; j++)
            {
                if (j != i)
                {
                    count(member, phase.group.Member(representative, j));
                }
            }
        }
    }

    const GpuSpec& gpu = cluster.buildings[m_layout.BuildingOf(representative)].gpu;
    const double nvlink = gpu.nvlinkBandwidth.Value() * gpu.nvlinkEfficiency;
    double nvlinkSeconds = 0;
    std::map<uint32_t, double> nicSeconds; // by building
    Duration total;
    Duration least = Duration::Max();
    Duration most;
    double rounds = 0;
    const FabricPath* lossy = nullptr;
    std::map<EdgeKind, FabricPath> paths;
    for (const auto& [kind, set] : edges)
    {
        const FabricPath& path = paths[kind] = PathBetween(cluster, set.from, set.to);
        const Duration latency = EdgeLatency(path, part);
        total += latency * set.count;
        least = std::min(least, latency);
        most = std::max(most, latency);
        // Messages that one member sends over an edge of this kind during the phase.
        const double messages = direct ? set.count : n - 1;
        if (kind.tier == Tier::Node)
        {
            nvlinkSeconds = std::max(nvlinkSeconds, messages * part * 8.0 / nvlink);
            continue;
        }
        const double wire = WireBytes(messages, part);
        const double seconds = wire * 8.0 / cluster.buildings[kind.from].gpu.nicRate.Value();
        nicSeconds[kind.from] =
            direct ? nicSeconds[kind.from] + seconds : std::max(nicSeconds[kind.from], seconds);
        const double senders = direct ? membersIn[kind.from] : set.count;
        LoadCuts(cost, path, set.from, set.to, groups * senders, part, wire);
        if (path.loss > 0)
        {
            lossy = &path;
            rounds = direct ? 1.0 : n - 1;
        }
    }
    double slowestNic = 0;
    for (const auto& [building, seconds] : nicSeconds)
    {
        slowestNic = std::max(slowestNic, seconds);
    }
    cost.port = nicSeconds.empty() ? Port::Nvlink : Port::Nic;
    cost.portSeconds = std::max(nvlinkSeconds, slowestNic);
    // A part travels n-1 of a ring's n edges; which one it spares differs, so the shortest counts.
    cost.latency = direct ? most : total - least;
    if (lossy != nullptr)
    {
        ApplyLoss(cost, *lossy, rounds, part);
    }
    return cost;
}

} // namespace scaleacross
