// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-building-helper.h"

#include "core/base/errors.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/graph-names.h"
#include "core/topology/routing.h"

#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/graph-fabric.h"
#include "ns3/node.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ns3
{

using scaleacross::BitRate;
using scaleacross::BuildingSpec;
using scaleacross::Bytes;
using scaleacross::BytesPerSecond;
using scaleacross::ConfigError;
using scaleacross::CrossLinkSpec;
using scaleacross::Distance;
using scaleacross::Duration;
using scaleacross::FlopRate;
using scaleacross::GpuSpec;

namespace
{

/// As BuildingSpec::Fields() has it.
constexpr uint64_t kMostNics = 1U << 22;

/// What a study asks of an accelerator, of which a fabric needs no more than the NIC's rate.
GpuSpec
AnyGpu(DataRate nicRate, uint32_t perServer)
{
    GpuSpec gpu;
    gpu.nicRate = BitRate(static_cast<double>(nicRate.GetBitRate()));
    gpu.scaleUpDomain = perServer;
    gpu.bf16Peak = FlopRate(1e15);
    gpu.hbmCapacity = Bytes(80'000'000'000);
    gpu.hbmBandwidth = BytesPerSecond(1e12);
    gpu.scaleUpBandwidth = BytesPerSecond(1e11);
    gpu.scaleUpLatency = Duration::Microseconds(2);
    gpu.gemmEfficiency = gpu.attentionEfficiency = gpu.hbmEfficiency = gpu.scaleUpEfficiency = 1;
    return gpu;
}

Duration
DurationOf(Time time)
{
    return Duration::Picoseconds(time.GetPicoSeconds());
}

void
CheckNumber(const std::string& where, const std::string& what, uint32_t value)
{
    if (value == 0)
    {
        throw ConfigError("FabricBuildingHelper::" + where, "0 " + what, "1 or more", "");
    }
}

} // namespace

void
FabricBuildingHelper::SetServersPerPod(uint32_t servers)
{
    m_fabric.nodesPerPod = servers;
}

void
FabricBuildingHelper::SetSpines(uint32_t spines)
{
    CheckNumber("SetSpines", "spines", spines);
    m_fabric.spines = spines;
}

void
FabricBuildingHelper::SetOversubscription(double ratio)
{
    m_fabric.oversubscription = ratio;
}

void
FabricBuildingHelper::SetRails(bool rails)
{
    m_fabric.rails = rails;
}

void
FabricBuildingHelper::SetDelays(Time nicToLeaf, Time leafToSpine)
{
    m_fabric.nicDelay = DurationOf(nicToLeaf);
    m_fabric.leafDelay = DurationOf(leafToSpine);
}

void
FabricBuildingHelper::SetLanes(uint32_t lanes)
{
    CheckNumber("SetLanes", "lanes", lanes);
    m_span.lanes = lanes;
}

void
FabricBuildingHelper::SetSpanPfc(bool pfc)
{
    m_span.pfc = pfc;
}

uint32_t
FabricBuildingHelper::AddBuilding(uint32_t servers, uint32_t nicsPerServer, DataRate nicRate)
{
    CheckNumber("AddBuilding", "servers", servers);
    CheckNumber("AddBuilding", "NICs per server", nicsPerServer);
    const uint64_t nics = uint64_t{servers} * nicsPerServer;
    if (nics > kMostNics)
    {
        throw ConfigError("FabricBuildingHelper::AddBuilding",
                          std::to_string(servers) + " servers of " + std::to_string(nicsPerServer) +
                              " NICs, " + std::to_string(nics) + " together",
                          "up to " + std::to_string(kMostNics) + " NICs in a building",
                          "");
    }
    BuildingSpec building;
    building.name = "building" + std::to_string(m_cluster.buildings.size());
    building.gpus = static_cast<uint32_t>(nics);
    building.gpusPerNode = nicsPerServer;
    building.gpu = AnyGpu(nicRate, nicsPerServer);
    building.fabric = m_fabric;
    m_cluster.buildings.push_back(building);
    return static_cast<uint32_t>(m_cluster.buildings.size() - 1);
}

void
FabricBuildingHelper::AddSpan(uint32_t a, uint32_t b, DataRate capacity, Time delay, double loss)
{
    const uint32_t buildings = m_cluster.Sites();
    if (a >= buildings || b >= buildings || a == b)
    {
        throw ConfigError("FabricBuildingHelper::AddSpan",
                          "a span between building " + std::to_string(a) + " and " +
                              std::to_string(b) + " of " + std::to_string(buildings),
                          "two different numbers that AddBuilding has returned",
                          "add the buildings first");
    }
    // As CrossLinkSpec::Fields() has it, by the names here.
    const auto refuse = [a, b](const std::string& what, const std::string& allowed) {
        throw ConfigError("FabricBuildingHelper::AddSpan",
                          what + ", between building " + std::to_string(a) + " and " +
                              std::to_string(b),
                          allowed,
                          "");
    };
    if (delay.IsNegative() || delay > MilliSeconds(200))
    {
        refuse("delay is " + std::to_string(delay.GetSeconds()) + " s", "0 to 0.2 s, one way");
    }
    if (capacity.GetBitRate() < 1'000'000 || capacity.GetBitRate() > 10'000'000'000'000'000'000U)
    {
        refuse("capacity is " + std::to_string(capacity.GetBitRate()) + " bit/s",
               "1 Mb/s to 10 Eb/s");
    }
    if (!(loss >= 0 && loss <= 0.5))
    {
        refuse("loss is " + std::to_string(loss), "a probability of 0 to 0.5");
    }
    CrossLinkSpec span = m_span;
    span.a = a;
    span.b = b;
    span.capacity = BitRate(static_cast<double>(capacity.GetBitRate()));
    span.latency = DurationOf(delay);
    span.distance =
        Distance(std::min(delay.GetSeconds() / 5e-6, 40'000.0)); // of fibre; nothing is built of it
    span.loss = loss;
    m_cluster.crossLinks.push_back(span);
}

std::vector<RdmaNicContainer>
FabricBuildingHelper::Install(FabricHelper& fabric)
{
    if (m_installed || !fabric.Nics().empty() || !fabric.Switches().empty())
    {
        throw ConfigError("FabricBuildingHelper::Install",
                          m_installed ? "called twice" : "the fabric has NICs or switches already",
                          "once, on an empty FabricHelper",
                          "add further hosts after Install");
    }
    m_cluster.Validate();
    m_installed = true;
    const scaleacross::FabricGraph graph = BuildFabricGraph(m_cluster);
    std::vector<Ptr<Node>> hosts; // by NIC
    std::vector<RdmaNicContainer> nics;
    for (const BuildingSpec& building : m_cluster.buildings)
    {
        for (uint32_t server = 0; server < building.Nodes(); server++)
        {
            hosts.insert(hosts.end(), building.gpusPerNode, fabric.AddHost());
        }
    }
    const GraphFabric built = BuildGraph(fabric, graph, hosts, VertexNames(m_cluster, graph));
    fabric.SetRouting(RoutingOf(m_cluster));
    fabric.InstallRoutes();
    for (uint32_t i = 0; i < m_cluster.buildings.size(); i++)
    {
        const auto first = built.nics.begin() + m_cluster.FirstGpu(i);
        nics.emplace_back(std::vector<Ptr<RdmaNic>>(first, first + m_cluster.buildings[i].gpus));
    }
    for (size_t i = 0; i < graph.links.size(); i++)
    {
        if (graph.links[i].kind == scaleacross::LinkKind::Cross)
        {
            const CrossLinkSpec& span = m_cluster.crossLinks[graph.links[i].span];
            m_spanWires[std::minmax(span.a, span.b)].push_back(built.wires[i]);
        }
    }
    return nics;
}

const std::vector<Ptr<FabricWire>>&
FabricBuildingHelper::GetSpanWires(uint32_t a, uint32_t b) const
{
    const auto found = m_spanWires.find(std::minmax(a, b));
    if (found == m_spanWires.end())
    {
        throw ConfigError("FabricBuildingHelper::GetSpanWires",
                          "no span joins building " + std::to_string(a) + " and " +
                              std::to_string(b),
                          "two buildings of an AddSpan, after Install",
                          "");
    }
    return found->second;
}

} // namespace ns3
