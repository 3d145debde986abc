// SPDX-License-Identifier: GPL-2.0-only

#include "cluster-helper.h"

#include "core/topology/cluster-paths.h"
#include "core/topology/graph-names.h"
#include "core/topology/routing.h"
#include "helper/attribute-setter.h"
#include "study-attributes.h"

#include "ns3/data-rate.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-classes.h"
#include "ns3/fabric-control.h"
#include "ns3/fabric-detours.h"
#include "ns3/fabric-multipath.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-transport.h"
#include "ns3/fabric-wire.h"
#include "ns3/graph-fabric.h"
#include "ns3/node.h"
#include "ns3/nvlink-domain.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/staged-link.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace ns3
{

using namespace scaleacross;

namespace
{
/// CheckConfig, in the words of the study that the switch was built from.
void
CheckBuffer(FabricSwitch& fabricSwitch, const std::string& key, bool pfc)
{
    try
    {
        fabricSwitch.CheckConfig();
    }
    catch (const ConfigError& error)
    {
        if (error.Where().find("BufferSize") == std::string::npos)
        {
            throw;
        }
        throw ConfigError(
            key,
            error.Problem(),
            error.Allowed(),
            "raise " + key + ", shorten or slow the links" +
                (pfc ? "; network.pfc: false runs, too, but what finds a buffer full is "
                       "dropped and sent again after a timeout, which may take "
                       "a hundred times as long"
                     : ""));
    }
}

/// Switches that a packet may pass. A route without loops passes each at most once, whatever has
/// failed; the limit is below what 8 bits hold, and not below that of other fabrics.
uint32_t
HopLimitOf(const FabricGraph& graph)
{
    const auto switches =
        std::count_if(graph.vertices.begin(), graph.vertices.end(), [](const Vertex& vertex) {
            return vertex.kind != VertexKind::Nic;
        });
    return static_cast<uint32_t>(std::clamp<int64_t>(switches, 64, 255));
}

} // namespace

ClusterHelper::ClusterHelper(const Scenario& scenario, Ptr<JobClock> clock)
    : m_graph(BuildFabricGraph(scenario.cluster)),
      m_transport(CreateObject<ClusterTransport>())
{
    clock = clock ? clock : Create<JobClock>();
    m_transport->SetClock(clock);
    const NetworkPlan& network = scenario.network;
    CheckAttributes(network);
    const std::set<std::string> chosen = ChosenAttributes(network);
    AttributeSetter set(m_fabric, chosen);
    set.Nic("HopLimit", UintegerValue(HopLimitOf(m_graph)));
    UseTransport(m_fabric, network.transport, chosen);
    for (const auto& [name, value] : StudyAttributesOf(FabricSwitch::GetTypeId(), network))
    {
        m_fabric.SetSwitchAttribute(name, *value);
    }
    for (const auto& [name, value] : StudyAttributesOf(RdmaNic::GetTypeId(), network))
    {
        m_fabric.SetNicAttribute(name, *value);
    }
    for (const auto& [name, value] : StudyAttributesOf(RdmaQueuePair::GetTypeId(), network))
    {
        m_fabric.SetQueuePairAttribute(name, *value);
    }
    // IP packets, which only others send, have to fit in the credits of InfiniBand too.
    set.Nic("IpMtu", UintegerValue(std::min<uint64_t>(network.mtu.Count(), 1500)));
    const PacketFormat format = network.Format();
    UseFormat(m_fabric, format, chosen);
    m_fabric.SetSwitchAttribute(
        "MaxPacketSize",
        UintegerValue(std::max<uint64_t>((network.mtu + format.DataHeaders()).Count() +
                                             network.control->TelemetryBytes(HopLimitOf(m_graph)),
                                         format.ack)));
    UseMultipath(m_fabric, network.multipath, chosen);
    UseControl(m_fabric, network.control, chosen);
    UseRecovery(m_fabric,
                network.recovery,
                network.multipath->MayReorder() ? network.reorderTolerance : 0);
    UseAdmission(m_fabric, network.admission, network.GrantSize());
    UseClasses(m_fabric, network, chosen);
    m_transport->SetTrafficClasses(network.classes.of);
    BuildServers(scenario.cluster, clock);
    BuildFabric(scenario);
    m_transport->SetConnectionFactory(
        [this, cluster = scenario.cluster, network](Rank from, Rank to, uint32_t trafficClass) {
            UseClass(m_fabric, network.classes, trafficClass);
            UseQueuePairs(m_fabric, network.QueuePairsAt(TierBetween(cluster, from, to)));
            const uint32_t ports = cluster.PortsPerNic();
            std::vector<std::pair<Ptr<RdmaNic>, Ptr<RdmaNic>>> nics;
            for (uint32_t port = 0; port < ports; port++)
            {
                nics.emplace_back(m_fabric.Nics()[from * ports + port],
                                  m_fabric.Nics()[to * ports + port]);
            }
            return m_fabric.CreateConnection(nics);
        });
    if (network.copy->staged)
    {
        std::vector<BitRate> memory; // by rank
        for (const BuildingSpec& building : scenario.cluster.buildings)
        {
            memory.insert(memory.end(), building.gpus, building.gpu.hbmBandwidth);
        }
        const auto slots = StudyAttributesOf(StagedLink::GetTypeId(), network);
        m_transport->SetStagingFactory([memory, slots, clock](Rank from, Rank to) {
            const auto rate = [](BitRate value) {
                return DataRateValue(DataRate(static_cast<uint64_t>(value.Value())));
            };
            const auto link = CreateObject<StagedLink>();
            link->SetClock(clock);
            for (const auto& [name, value] : slots)
            {
                link->SetAttribute(name, *value);
            }
            link->SetAttribute("SenderMemoryRate", rate(memory[from]));
            link->SetAttribute("ReceiverMemoryRate", rate(memory[to]));
            return link;
        });
        return; // all messages go through these slots
    }
    m_transport->SetSlotsFactory(
        [cluster = scenario.cluster, clock](Rank from, Rank to, const SlotWindow& window) {
            if (TierBetween(cluster, from, to) != Tier::Cross)
            {
                return Ptr<StagedLink>();
            }
            // What copies and handovers take is in the messages' own cost.
            const DataRateValue none{DataRate(std::numeric_limits<uint64_t>::max())};
            const auto link = CreateObject<StagedLink>();
            link->SetClock(clock);
            link->SetAttribute("Slots", UintegerValue(window.slots));
            link->SetAttribute("SlotSize", UintegerValue(window.bytes.Count()));
            link->SetAttribute("LeastPieces", UintegerValue(window.least));
            link->SetAttribute("Handover", TimeValue(Time(0)));
            link->SetAttribute("SenderMemoryRate", none);
            link->SetAttribute("ReceiverMemoryRate", none);
            return link;
        });
}

ClusterHelper::~ClusterHelper()
{
    m_transport->Dispose();
}

void
ClusterHelper::BuildServers(const ClusterSpec& cluster, Ptr<JobClock> clock)
{
    std::vector<Ptr<NvlinkDomain>> domains;
    for (const BuildingSpec& building : cluster.buildings)
    {
        for (uint32_t node = 0; node < building.Nodes(); node++)
        {
            const Ptr<Node> host = m_fabric.AddHost();
            const auto domain = CreateObject<NvlinkDomain>();
            domain->SetClock(clock);
            domain->SetGpus(building.gpusPerNode);
            domain->SetRate(building.gpu.scaleUpBandwidth * building.gpu.scaleUpEfficiency);
            domain->SetLatency(building.gpu.scaleUpLatency);
            host->AggregateObject(domain);
            domains.push_back(domain);
            for (uint32_t gpu = 0; gpu < building.gpusPerNode; gpu++)
            {
                m_nodes.push_back(host);
            }
        }
    }
    m_transport->SetServers(domains, cluster.buildings.front().gpusPerNode);
}

void
ClusterHelper::BuildFabric(const Scenario& scenario)
{
    std::vector<Ptr<Node>> hosts; // by NIC
    for (const Ptr<Node>& node : m_nodes)
    {
        hosts.insert(hosts.end(), scenario.cluster.PortsPerNic(), node);
    }
    const auto names = VertexNames(scenario.cluster, m_graph);
    const GraphFabric built =
        BuildGraph(m_fabric, m_graph, hosts, names, [&](const Vertex& vertex) {
            const bool leaf = vertex.kind == VertexKind::Leaf;
            const Bytes buffer = leaf ? scenario.network.leafBuffer : scenario.network.spineBuffer;
            m_fabric.SetSwitchAttribute("BufferSize", UintegerValue(buffer.Count()));
        });
    // Equal choices: what leads out of one switch by a cut, and all that leads from one site to
    // another. Not where packets on detours pass, which had no choice any more.
    const ClusterPaths paths(scenario.cluster);
    std::map<std::tuple<LinkKind, uint32_t, uint32_t>, std::vector<Ptr<FabricPort>>> choices;
    for (size_t i = 0; i < m_graph.links.size(); i++)
    {
        const FabricLink& link = m_graph.links[i];
        if (link.kind == LinkKind::Nic)
        {
            continue;
        }
        for (const bool back : {false, true})
        {
            const auto port = DynamicCast<FabricPort>(built.wires[i]->GetDevice(back ? 1 : 0));
            const uint32_t from = back ? link.b : link.a;
            const Vertex& near = m_graph.vertices[from];
            const Vertex& far = m_graph.vertices[back ? link.a : link.b];
            if (link.kind == LinkKind::Cross)
            {
                choices[{link.kind, near.site, far.site}].push_back(port);
                continue;
            }
            for (const CutSide& side : paths.Shape(near.site).SidesOf(near, far))
            {
                if (side.up && paths.Shape(near.site).Cuts()[side.level].detour == 0)
                {
                    choices[{link.kind, from, side.level}].push_back(port);
                }
            }
        }
    }
    for (const auto& [key, ports] : choices)
    {
        if (ports.size() > 1)
        {
            m_choices.push_back(ports);
        }
    }
    const Routing& routing = RoutingOf(scenario.cluster);
    m_fabric.SetRouting(routing);
    if (routing.HasDetours() &&
        scenario.network.ns3Attributes.count("ns3::FabricSwitch::LaneMap") == 0)
    {
        UseDetourLanes(m_fabric);
    }
    for (size_t i = 0; i < built.switches.size(); i++)
    {
        const bool leaf = m_graph.vertices[built.nics.size() + i].kind == VertexKind::Leaf;
        CheckBuffer(*built.switches[i],
                    leaf ? "network.leaf_buffer" : "network.spine_buffer",
                    scenario.network.UsesPfc());
    }
    m_fabric.InstallRoutes();
}

Rank
ClusterHelper::GetRanks() const
{
    return static_cast<Rank>(m_nodes.size());
}

Ptr<Node>
ClusterHelper::GetNode(Rank rank) const
{
    return m_nodes.at(rank);
}

Ptr<ClusterTransport>
ClusterHelper::GetTransport() const
{
    return m_transport;
}

const FabricGraph&
ClusterHelper::GetGraph() const
{
    return m_graph;
}

Ptr<FabricWire>
ClusterHelper::GetWire(uint32_t link) const
{
    return m_fabric.Wires().at(link); // connected in the order of the graph's links
}

Ptr<FabricSwitch>
ClusterHelper::GetSwitch(uint32_t vertex) const
{
    return m_fabric.Switches().at(vertex - (m_graph.vertices.size() - m_fabric.Switches().size()));
}

FabricHelper&
ClusterHelper::GetFabric()
{
    return m_fabric;
}

const FabricHelper&
ClusterHelper::GetFabric() const
{
    return m_fabric;
}

void
ClusterHelper::SetFailureCallback(ClusterTransport::FailureCallback callback)
{
    m_transport->SetFailureCallback(std::move(callback));
}

int64_t
ClusterHelper::AssignStreams(int64_t stream)
{
    int64_t used = m_fabric.AssignStreams(stream);
    used += m_foreign.AssignStreams(stream + used);
    m_nextStream = stream + used;
    return used;
}

void
ClusterHelper::AddForeignTraffic(const Scenario& scenario)
{
    m_foreign.Install(scenario, *this);
    if (m_nextStream >= 0)
    {
        m_nextStream += m_foreign.AssignStreams(m_nextStream);
    }
}

double
ClusterHelper::CollisionFactor() const
{
    double worst = 1.0;
    for (const std::vector<Ptr<FabricPort>>& ports : m_choices)
    {
        double sum = 0;
        double most = 0;
        for (const Ptr<FabricPort>& port : ports)
        {
            // The job's: others' packets are spread evenly, and answers are small.
            const std::size_t end = port == port->GetWire()->GetDevice(0) ? 0 : 1;
            const auto bytes = static_cast<double>(port->GetWire()->GetLane(end).DataCarried());
            sum += bytes;
            most = std::max(most, bytes);
        }
        if (sum > 0)
        {
            worst = std::max(worst, most * static_cast<double>(ports.size()) / sum);
        }
    }
    return worst;
}

void
ClusterHelper::FillNetwork(NetworkReport& report) const
{
    const FabricBalance balance = BalanceOf(m_fabric);
    report = NetworkReport();
    report.packetsSent = balance.sent;
    report.packetsDelivered = balance.delivered;
    report.packetsDropped = balance.Dropped();
    report.packetsInFlight = balance.inFlight;
    for (const Ptr<RdmaNic>& nic : m_fabric.Nics())
    {
        report.retransmissions += nic->GetRetransmissions();
    }
    for (const Ptr<FabricSwitch>& fabricSwitch : m_fabric.Switches())
    {
        report.pauses += fabricSwitch->GetPauses();
    }
    report.collisionFactor = CollisionFactor();
}

} // namespace ns3
