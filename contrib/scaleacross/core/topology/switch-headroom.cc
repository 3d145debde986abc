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

/// By vertex.
std::vector<Reservation>
Reservations(const FabricGraph& graph, uint32_t maxPacket, uint32_t priorities)
{
    std::vector<Reservation> all(graph.vertices.size());
    for (const FabricLink& link : graph.links)
    {
        HeadroomInput input;
        input.delay = link.delay.Ps();
        input.inRate = static_cast<uint64_t>(std::llround(link.rate.Value()));
        input.outRate = input.inRate;
        input.maxPacket = maxPacket;
        const uint64_t bytes = link.pfc ? HeadroomBytes(input) : 0;
        for (const uint32_t vertex : {link.a, link.b})
        {
            Reservation& own = all[vertex];
            own.ports++;
            own.bytes += bytes * priorities;
            if (bytes > own.largest)
            {
                own.largest = bytes;
                own.longest = &link;
            }
        }
    }
    return all;
}

} // namespace

std::vector<std::string>
HeadroomWarnings(const ClusterSpec& cluster, const NetworkPlan& network)
{
    std::vector<std::string> warnings;
    if (!network.UsesPfc())
    {
        return warnings;
    }
    const FabricGraph graph = BuildFabricGraph(cluster);
    const uint32_t maxPacket = LargestPacket(network);
    const uint32_t priorities = network.classes.Count();
    const std::vector<Reservation> all = Reservations(graph, maxPacket, priorities);
    for (const bool leaves : {true, false})
    {
        const uint64_t buffer = (leaves ? network.leafBuffer : network.spineBuffer).Count();
        uint32_t lacking = 0;
        size_t worst = 0;
        for (size_t v = 0; v < all.size(); v++)
        {
            const VertexKind kind = graph.vertices[v].kind;
            if (kind == VertexKind::Nic || (kind == VertexKind::Leaf) != leaves ||
                all[v].bytes + maxPacket <= buffer)
            {
                continue;
            }
            worst = lacking == 0 || all[v].bytes > all[worst].bytes ? v : worst;
            lacking++;
        }
        if (lacking == 0)
        {
            continue;
        }
        const Reservation& most = all[worst];
        const std::string key = leaves ? "network.leaf_buffer" : "network.spine_buffer";
        warnings.push_back(
            key + ": " + std::to_string(buffer) + " bytes cannot hold the PFC headroom of " +
            std::to_string(most.bytes) + " bytes (" + std::to_string(most.ports) + " ports, " +
            std::to_string(priorities) + " lossless priorities, the largest " +
            std::to_string(most.largest) + " bytes for one port) of " +
            VertexName(cluster, graph.vertices[worst]) +
            (lacking == 1 ? "" : ", and " + std::to_string(lacking - 1) + " more lack some") +
            "; the largest is 2 packets of " + std::to_string(maxPacket) + " bytes, and what " +
            ToString(most.longest->rate) + " bring in 2 x " + ToString(most.longest->delay) +
            " and while such a packet and a pause of " + std::to_string(kPauseFrame) +
            " bytes are sent. Times are those of a network that loses nothing; this one would, and "
            "the packet engine refuses it. Raise " +
            key + " to at least " + std::to_string(most.bytes + maxPacket) +
            " bytes, shorten or slow the links, or set pfc: false in cluster.cross or network");
    }
    return warnings;
}

} // namespace scaleacross
