// SPDX-License-Identifier: GPL-2.0-only

#include "wire-resources.h"

#include "cluster-helper.h"

#include "ns3/cluster-transport.h"
#include "ns3/fabric-wire.h"
#include "ns3/nvlink-domain.h"

#include <algorithm>
#include <utility>

namespace ns3
{

using namespace scaleacross;

WireResources::WireResources(const ClusterHelper& helper,
                             const Scenario& scenario,
                             const TaskGraph& graph)
    : m_helper(helper),
      m_ranks(graph.ranks),
      m_gpusPerNode(scenario.cluster.buildings.front().gpusPerNode),
      m_resources(scenario.cluster, scenario.events, helper.GetGraph(), graph),
      m_others(
          std::any_of(scenario.events.begin(), scenario.events.end(), [](const EventSpec& event) {
              return event.kind->change == EventChange::Shares;
          }))
{
}

CarriedBytes
WireResources::Count() const
{
    CarriedBytes carried;
    for (uint32_t i = 0; i < m_helper.GetGraph().links.size(); i++)
    {
        // Wires join the ends of a link in their order.
        const Ptr<FabricWire> wire = m_helper.GetWire(i);
        for (const std::size_t end : {0, 1})
        {
            carried.links.push_back(wire->GetLane(end).DataCarried() +
                                    (m_leftOut ? m_leftOut(i, end) : 0));
        }
    }
    for (Rank rank = 0; rank < m_ranks; rank++)
    {
        const Ptr<NvlinkDomain> server = m_helper.GetTransport()->GetServerOf(rank);
        carried.scaleUp.push_back(server->GetSent(rank % m_gpusPerNode));
        carried.scaleUp.push_back(server->GetReceived(rank % m_gpusPerNode));
    }
    return carried;
}

void
WireResources::SetLeftOut(std::function<uint64_t(std::size_t wire, std::size_t end)> leftOut)
{
    m_leftOut = std::move(leftOut);
}

void
WireResources::Begin(Duration now)
{
    m_begin = Count();
    m_from = now;
}

void
WireResources::End(Duration now)
{
    m_end = Count();
    m_until = now;
}

std::vector<ResourceReport>
WireResources::Report(uint32_t iterations, Duration iterationTime) const
{
    std::vector<ResourceReport> resources =
        m_resources.Report(m_end - m_begin, {iterations, iterationTime, m_from, m_until});
    for (ResourceReport& resource : resources)
    {
        // Others, who come first, may send less in a short time than in the mean.
        resource.busy = m_others ? std::min(resource.busy, 1.0) : resource.busy;
    }
    return resources;
}

} // namespace ns3
