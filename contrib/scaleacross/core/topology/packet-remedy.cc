// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/packet-remedy.h"

#include "core/topology/event-target.h"

#include <cstdint>
#include <map>
#include <numeric>

namespace scaleacross
{

namespace
{

/// Switches that have ways to each other, by a vertex that stands for all of them. No way leads
/// over a NIC.
class JoinedSwitches
{
  public:
    JoinedSwitches(const FabricGraph& graph, const std::vector<bool>& isDown)
        : m_parent(graph.vertices.size())
    {
        std::iota(m_parent.begin(), m_parent.end(), 0U);
        for (size_t l = 0; l < graph.links.size(); l++)
        {
            const FabricLink& link = graph.links[l];
            if (link.kind != LinkKind::Nic && !isDown[l])
            {
                m_parent[Of(link.a)] = Of(link.b);
            }
        }
    }

    uint32_t Of(uint32_t vertex)
    {
        while (m_parent[vertex] != vertex)
        {
            m_parent[vertex] = m_parent[m_parent[vertex]];
            vertex = m_parent[vertex];
        }
        return vertex;
    }

  private:
    std::vector<uint32_t> m_parent;
};

} // namespace

bool
CutNicsOff(const FabricGraph& graph, const std::vector<bool>& isDown)
{
    JoinedSwitches built(graph, std::vector<bool>(graph.links.size(), false));
    JoinedSwitches left(graph, isDown);
    std::map<uint32_t, uint32_t> leftOf; // of the switches with NICs that were joined
    for (size_t l = 0; l < graph.links.size(); l++)
    {
        const FabricLink& link = graph.links[l];
        if (link.kind != LinkKind::Nic)
        {
            continue;
        }
        const bool nicFirst = graph.vertices[link.a].kind == VertexKind::Nic;
        const uint32_t at = nicFirst ? link.b : link.a;
        if (isDown[l] || leftOf.try_emplace(built.Of(at), left.Of(at)).first->second != left.Of(at))
        {
            return true;
        }
    }
    return false;
}

bool
CutNicsOff(const ClusterSpec& cluster,
           const FabricGraph& graph,
           const std::vector<EventSpec>& events)
{
    std::vector<bool> isDown(graph.links.size(), false);
    for (size_t i = 0; i < events.size(); i++)
    {
        if (events[i].kind->change == EventChange::Fails && events[i].until == Duration())
        {
            for (const uint32_t l : TargetOf(cluster, graph, events[i], PlaceOf(events, i)).links)
            {
                isDown[l] = true;
            }
        }
    }
    return CutNicsOff(graph, isDown);
}

std::string
RemedyByPackets(const ClusterSpec& cluster,
                const FabricGraph& graph,
                const std::vector<EventSpec>& events)
{
    return CutNicsOff(cluster, graph, events) ? RemedyOfCutOff()
                                              : "the packet engine computes with it";
}

std::string
RemedyOfCutOff()
{
    return "leave a link, or give the cluster a second way; or let the failure end (until) before "
           "queue pairs give up, after network.retries + 1 timeouts of 4.096us x "
           "2^network.timeout_exponent, and run it with the packet engine";
}

} // namespace scaleacross
