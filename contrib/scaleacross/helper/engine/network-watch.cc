// SPDX-License-Identifier: GPL-2.0-only

#include "network-watch.h"

#include "cluster-helper.h"

#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

using namespace scaleacross;

namespace
{

std::vector<Series>
SeriesOf(const NamedLinks& links, const ClusterSpec& cluster)
{
    std::vector<Series> series = links.loads;
    for (uint32_t site = 0; site < cluster.Sites(); site++)
    {
        series.push_back({cluster.SiteName(site) + " queues", SeriesKind::Level, {}, true, {}, {}});
    }
    for (const char* name : {"retransmissions", "pauses", "drops"})
    {
        series.push_back({name, SeriesKind::Count, {}, true, {}, {}});
    }
    return series;
}

} // namespace

NetworkWatch::NetworkWatch(ClusterHelper& helper,
                           const ClusterSpec& cluster,
                           const WireResources& resources,
                           Ptr<JobClock> clock)
    : m_helper(helper),
      m_resources(resources),
      m_clock(clock),
      m_links(resources.ByName()),
      m_sites(cluster.Sites()),
      m_sampler(SeriesOf(m_links, cluster))
{
    for (const auto& wire : helper.GetFabric().Wires())
    {
        m_reach = std::max(m_reach, wire->GetDelay());
    }
}

NetworkWatch::~NetworkWatch()
{
    m_event.Cancel();
}

Duration
NetworkWatch::Now() const
{
    return Duration::Picoseconds(m_clock->Now());
}

std::vector<double>
NetworkWatch::Totals() const
{
    const FabricGraph& graph = m_helper.GetGraph();
    std::vector<double> queued(m_sites, 0.0);
    double pauses = 0;
    double drops = 0;
    FabricHelper& fabric = m_helper.GetFabric();
    // Not those of others, which the graph has not.
    const size_t nics = graph.vertices.size() - fabric.Switches().size();
    for (size_t i = 0; i < fabric.Switches().size(); i++)
    {
        const Ptr<FabricSwitch>& one = fabric.Switches()[i];
        queued[graph.vertices[nics + i].site] += static_cast<double>(one->GetOccupancy());
        pauses += static_cast<double>(one->GetPauses());
        drops += static_cast<double>(one->GetDrops());
    }
    double again = 0;
    for (const Ptr<RdmaNic>& nic : fabric.Nics())
    {
        again += static_cast<double>(nic->GetRetransmissions());
        drops += static_cast<double>(nic->GetDrops());
    }
    for (const auto& wire : fabric.Wires())
    {
        drops += static_cast<double>(wire->GetLost() + wire->GetCut());
    }
    // Last: what was read so far has brought switches and NICs up to date, and so the wires.
    std::vector<double> totals = m_links.Sum(m_resources.Count());
    totals.insert(totals.end(), queued.begin(), queued.end());
    totals.insert(totals.end(), {again, pauses, drops});
    return totals;
}

void
NetworkWatch::Begin()
{
    m_sampler.Begin(Now(), Totals());
    // Switches may be ahead by as much already.
    m_announced = Simulator::Now() + m_reach;
    Plan();
}

void
NetworkWatch::Plan()
{
    const Duration step = m_sampler.Due() - Now();
    const Time period = PicoSeconds(step.Ps());
    const Time next = Simulator::Now() + period;
    // A switch may be ahead by a wire's delay: samples are announced before it can be there.
    for (Time at = next; at <= next + m_reach + period; at += period)
    {
        if (at > m_announced)
        {
            m_helper.GetFabric().HoldAt(at);
            m_announced = at;
        }
    }
    m_event = Simulator::Schedule(period, &NetworkWatch::Sample, this);
}

void
NetworkWatch::Sample()
{
    m_sampler.Take(Now(), Totals());
    Plan();
}

NetworkSeries
NetworkWatch::End()
{
    m_event.Cancel();
    m_sampler.Take(Now(), Totals());
    return m_sampler.Result();
}

} // namespace ns3
