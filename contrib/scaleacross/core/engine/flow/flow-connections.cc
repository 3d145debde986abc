// SPDX-License-Identifier: GPL-2.0-only

// Between whom connections of the flow engine are, over which links, and what limits them.

#include "core/engine/flow/flow-transport.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace scaleacross
{

namespace
{

/// In (0, 1].
double
Uniform(std::mt19937_64& random)
{
    return (static_cast<double>(random() >> 11U) + 1.0) * 0x1p-53;
}

} // namespace

uint32_t
FlowTransport::ConnectionOf(Rank from, Rank to, const MessageCare& care)
{
    const uint64_t key = uint64_t{from} << 32 | to;
    const bool gated = care.slots.slots > 0 && !m_scenario.network.copy->staged &&
                       m_clusterPaths.TierBetween(from, to) == Tier::Cross;
    const TrafficClasses& classes = m_scenario.network.classes;
    // Where all are in one, whichever that is, it is as without classes: also what is drawn.
    const uint32_t trafficClass = classes.AreOne() ? 0 : classes.Of(care.comm);
    if (!gated)
    {
        const auto [found, isNew] = m_connectionNumbers[trafficClass].try_emplace(key, 0);
        if (isNew)
        {
            found->second = Connect(from, to, trafficClass, {});
        }
        return found->second;
    }
    const auto [found, isNew] =
        m_slotConnections.try_emplace(ConnectionKey{care.slots, care.tree, trafficClass, key}, 0);
    if (isNew)
    {
        found->second = Connect(from, to, trafficClass, care);
        GoThrough(m_connections[found->second], care.slots);
    }
    return found->second;
}

/// `care`: of the slots that it is for, if any.
uint32_t
FlowTransport::Connect(Rank from, Rank to, uint32_t trafficClass, const MessageCare& care)
{
    Connection connection;
    connection.from = from;
    connection.to = to;
    connection.trafficClass = trafficClass;
    const Tier tier = m_clusterPaths.TierBetween(from, to);
    connection.pairs = connection.free = m_model.QueuePairsAt(tier);
    connection.splits = m_scenario.network.QueuePairsAt(tier).balance->splits;
    const Multipath multipath = m_scenario.network.multipath;
    const bool isSprayed = multipath->IsSprayed();
    connection.isShared = isSprayed || (m_collisions == Collisions::Expected &&
                                        multipath->owner != PathOwner::Destination);
    const uint32_t ways = connection.isShared ? m_ports : connection.pairs;
    const auto taken = [&](uint32_t fromNic, uint32_t toNic) -> uint32_t& {
        return m_pairsBetween[uint64_t{fromNic} << 32 | toNic];
    };
    BitRate least = FlowNetwork::kNoLimit;
    BitRate choice = FlowNetwork::kNoLimit;
    double loss = 0;
    for (uint32_t i = 0; i < ways; i++)
    {
        const uint32_t fromNic = from * m_ports + i % m_ports;
        const uint32_t toNic = to * m_ports + i % m_ports;
        const FlowWay way = connection.isShared
                                ? m_paths.OfAll(fromNic, toNic)
                                : m_paths.OfQueuePair(fromNic, toNic, taken(fromNic, toNic)++);
        connection.uses.push_back(m_links.UsesOf(way, from, connection.isShared));
        if (way.path.propagation > connection.path.propagation || connection.path.rates.empty())
        {
            connection.path = way.path;
        }
        for (const WayLink& part : way.links)
        {
            if (part.share < 1) // one of several links, which a queue pair has for itself at most
            {
                choice = std::min(choice, m_paths.RateOf(part.link));
                connection.room = std::min(connection.room,
                                           static_cast<double>(m_links.RoomAt(part.link).Count()));
            }
        }
        least = std::min(least, way.path.Slowest());
        loss += way.path.loss / ways;
    }
    connection.path.loss = loss;
    connection.path.tier = tier;
    if (loss > 0)
    {
        std::seed_seq words{static_cast<uint32_t>(m_seed),
                            static_cast<uint32_t>(m_seed >> 32),
                            from,
                            to,
                            trafficClass,
                            care.tree,
                            care.slots.slots,
                            static_cast<uint32_t>(care.slots.bytes.Count()),
                            care.slots.least,
                            care.slots.phases};
        connection.losses = std::make_unique<LossRecovery>(
            m_clock,
            connection.pairs,
            m_scenario.network.recovery,
            m_scenario.network.Timeout(),
            [random = std::mt19937_64(words)]() mutable { return Uniform(random); });
    }
    connection.rate = isSprayed || !connection.isShared ? FlowNetwork::kNoLimit : choice;
    // One more asks for admission.
    taken(from * m_ports, to * m_ports) += m_grants.empty() ? 0 : 1;
    SetLimits(connection);
    if (connection.isShared && !isSprayed && multipath->owner == PathOwner::NicPair)
    {
        // One hash for all queue pairs of a port: together they have one link of every bundle.
        const auto [path, isNew] = m_onePaths.try_emplace(uint64_t{from} << 32 | to, 0);
        if (isNew)
        {
            path->second = m_links.Network().AddLink(least * static_cast<double>(m_ports));
        }
        for (std::vector<FlowUse>& uses : connection.uses)
        {
            for (FlowUse& use : uses)
            {
                use.group = path->second;
            }
            uses.push_back({path->second});
        }
    }
    m_connections.push_back(std::move(connection));
    Connection& made = m_connections.back();
    made.all = UsesOf(made, made.pairs);
    return static_cast<uint32_t>(m_connections.size() - 1);
}

void
FlowTransport::GoThrough(Connection& connection, const SlotWindow& slots)
{
    connection.slotted = slots;
    connection.slots = slots.slots;
}

/// What of a connection may be under way, and in parts of how many bytes a queue pair sends then.
void
FlowTransport::SetLimits(Connection& connection) const
{
    const NetworkPlan& network = m_scenario.network;
    const QueuePairUse use = network.QueuePairsAt(connection.path.tier);
    double unit = std::numeric_limits<double>::infinity();
    double& window = connection.window.left;
    connection.roundTrip = connection.path.propagation * 2;
    connection.holdsSegments = use.outstanding > 0 || network.admission > Bytes();
    if (use.outstanding > 0 && use.balance->splits)
    {
        connection.countsWrites = true;
        connection.writes = use.outstanding;
        if (network.admission > Bytes())
        {
            connection.write = static_cast<double>(network.GrantSize().Count());
        }
    }
    else if (use.outstanding > 0)
    {
        const auto segment = static_cast<double>(use.segment.Count());
        window = std::min(window, segment * use.outstanding * use.qps);
        unit = std::min(unit, segment);
    }
    if (use.window > Bytes())
    {
        const auto mtu = static_cast<double>(network.mtu.Count());
        const double packets =
            std::max(1.0, std::floor(static_cast<double>(use.window.Count()) / mtu));
        const bool slides = packets * mtu * use.qps < window && network.admission == Bytes();
        window = std::min(window, packets * mtu * use.qps);
        // Halves, so that one is under way while the other one comes back.
        unit = std::min(unit, std::ceil(packets / 2) * mtu);
        connection.least = std::max(1.0, std::floor(packets / 2)) * mtu;
        connection.packet = slides ? mtu : 0;
    }
    if (network.copy->staged)
    {
        GoThrough(connection, {StagedCopy::kSlots * network.channels, StagedCopy::kSlot});
    }
    connection.most = window;
    if (network.admission > Bytes())
    {
        // A grant is the connection's, however many queue pairs share it.
        connection.most = std::min(window, static_cast<double>(network.GrantSize().Count()));
        unit = std::min(unit, connection.most);
    }
    connection.unit = unit;
}

} // namespace scaleacross
