// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/switch-headroom.h"

#include "core/base/headroom.h"
#include "core/topology/fabric-graph.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace scaleacross
{

namespace
{

/// What one switch has to reserve.
struct Reservation
{
    uint32_t ports{0};
    uint64_t bytes{0};
    uint64_t largest{0}; //!< bytes of one port
    const FabricLink* longest{nullptr};
};

/// The larger of a data packet and an ACK, in bytes on the wire.
uint32_t
LargestPacket(const NetworkPlan& network)
{
    return static_cast<uint32_t>(
        std::max<uint64_t>((network.mtu + network.Format().DataHeaders()).Count(),
                           network.Format().ack));
}

/// What a switch has to hold for a port whose link is this one.
uint64_t
BytesOfPort(const FabricLink& link, const NetworkPlan& network)
{
    HeadroomInput input;
    input.delay = link.delay.Ps();
    input.inRate = static_cast<uint64_t>(std::llround(link.rate.Value()));
    input.outRate = input.inRate;
    input.maxPacket = LargestPacket(network);
    if (network.transport->credits)
    {
        // One credit packet of each lane may be due at once.
        input.pauseFrames = kCreditLanes;
        input.pauseSize = kCreditPacket;
        const uint64_t blocks = std::min(CreditBlocks(CreditBufferBytes(input, kCreditUpdate)),
                                         network.laneCredits.Count() / kCreditBlock);
        return kCreditLanes * blocks * kCreditBlock;
    }
    return link.pfc ? network.classes.Count() * HeadroomBytes(input) : 0;
}

/// By vertex.
std::vector<Reservation>
Reservations(const FabricGraph& graph, const NetworkPlan& network)
{
    std::vector<Reservation> all(graph.vertices.size());
    for (const FabricLink& link : graph.links)
    {
        const uint64_t bytes = BytesOfPort(link, network);
        for (const uint32_t vertex : {link.a, link.b})
        {
            Reservation& own = all[vertex];
            own.ports++;
            own.bytes += bytes;
            if (bytes > own.largest)
            {
                own.largest = bytes;
                own.longest = &link;
            }
        }
    }
    return all;
}

/// The fullest of the leaves, or of the other switches, and how many lack some.
struct Shortfall
{
    size_t worst{0};
    uint32_t lacking{0};
};

Shortfall
ShortfallOf(const FabricGraph& graph,
            const std::vector<Reservation>& all,
            bool leaves,
            uint64_t besides,
            uint64_t buffer)
{
    Shortfall found;
    for (size_t v = 0; v < all.size(); v++)
    {
        const VertexKind kind = graph.vertices[v].kind;
        if (kind == VertexKind::Nic || (kind == VertexKind::Leaf) != leaves ||
            all[v].bytes + besides <= buffer)
        {
            continue;
        }
        found.worst = found.lacking == 0 || all[v].bytes > all[found.worst].bytes ? v : found.worst;
        found.lacking++;
    }
    return found;
}

/// "of b1 spine 0, and 3 more lack some".
std::string
Lacking(const ClusterSpec& cluster, const FabricGraph& graph, const Shortfall& found)
{
    return VertexName(cluster, graph.vertices[found.worst]) +
           (found.lacking == 1 ? ""
                               : ", and " + std::to_string(found.lacking - 1) + " more lack some");
}

std::string
PauseText(const NetworkPlan& network, const Reservation& most, const std::string& where)
{
    const uint32_t priorities = network.classes.Count();
    const uint32_t maxPacket = LargestPacket(network);
    return "the PFC headroom of " + std::to_string(most.bytes) + " bytes (" +
           std::to_string(most.ports) + " ports, " + std::to_string(priorities) +
           " lossless priorities, the largest " + std::to_string(most.largest / priorities) +
           " bytes for one port) of " + where + "; the largest is 2 packets of " +
           std::to_string(maxPacket) + " bytes, and what " + ToString(most.longest->rate) +
           " bring in 2 x " + ToString(most.longest->delay) +
           " and while such a packet and a pause of " + std::to_string(kPauseFrame) +
           " bytes are sent. Times are those of a network that loses nothing; this one would, and "
           "the packet engine refuses it.";
}

std::string
CreditText(const Reservation& most, const std::string& where)
{
    return "the receive buffers of " + std::to_string(most.bytes) + " bytes (" +
           std::to_string(most.ports) + " ports, " + std::to_string(kCreditLanes) +
           " virtual lanes, the largest " + std::to_string(most.largest / kCreditLanes) +
           " bytes for a lane of one port) of " + where +
           ". Times are those of switches that grant as many credits as keep their links full; "
           "this one cannot, and the packet engine refuses it.";
}

} // namespace

std::vector<std::string>
HeadroomWarnings(const ClusterSpec& cluster, const NetworkPlan& network)
{
    std::vector<std::string> warnings;
    const bool credits = network.transport->credits;
    if (!credits && !network.UsesPfc())
    {
        return warnings;
    }
    const FabricGraph graph = BuildFabricGraph(cluster);
    const uint64_t besides = credits ? 0 : LargestPacket(network);
    const std::vector<Reservation> all = Reservations(graph, network);
    for (const bool leaves : {true, false})
    {
        const uint64_t buffer = (leaves ? network.leafBuffer : network.spineBuffer).Count();
        const Shortfall found = ShortfallOf(graph, all, leaves, besides, buffer);
        if (found.lacking == 0)
        {
            continue;
        }
        const Reservation& most = all[found.worst];
        const std::string where = Lacking(cluster, graph, found);
        const std::string key = leaves ? "network.leaf_buffer" : "network.spine_buffer";
        warnings.push_back(
            key + ": " + std::to_string(buffer) + " bytes cannot hold " +
            (credits ? CreditText(most, where) : PauseText(network, most, where)) + " Raise " +
            key + " to at least " + std::to_string(most.bytes + besides) + " bytes, " +
            (credits ? "say less network.lane_credits, or shorten or slow the links"
                     : "or shorten or slow the links; pfc: false in cluster.cross or network drops "
                       "what "
                       "finds the buffer full, which is sent again after a timeout"));
    }
    return warnings;
}

} // namespace scaleacross
