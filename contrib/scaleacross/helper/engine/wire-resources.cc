// SPDX-License-Identifier: GPL-2.0-only

#include "wire-resources.h"

#include "cluster-helper.h"

#include "ns3/cluster-transport.h"
#include "ns3/fabric-wire.h"
#include "ns3/nvlink-domain.h"

#include <utility>

namespace ns3
{

using namespace scaleacross;

WireResources::WireResources(const ClusterHelper& helper,
                             const ClusterSpec& cluster,
                             const TaskGraph& graph)
    : m_helper(helper),
      m_ranks(graph.ranks),
      m_gpusPerNode(cluster.buildings.front().gpusPerNode),
      m_resources(cluster, helper.GetGraph(), graph)
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
WireResources::Begin()
{
    m_begin = Count();
}

void
WireResources::End()
{
    m_end = Count();
}

std::vector<ResourceReport>
WireResources::Report(uint32_t iterations, Duration iterationTime) const
{
    return m_resources.Report(m_end - m_begin, iterations, iterationTime);
}

} // namespace ns3
