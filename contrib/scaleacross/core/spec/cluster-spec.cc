// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/cluster-spec.h"

#include "core/base/errors.h"
#include "core/base/field-rows.h"
#include "core/base/one-line.h"
#include "core/base/text.h"
#include "core/spec/check.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

const Duration g_longestDelay = Duration::Seconds(10);

void
CheckZones(const std::string& key, const BuildingSpec& building)
{
    const FabricSpec& fabric = building.fabric;
    const char* const set = fabric.podsPerZone != 0            ? ".pods_per_zone"
                            : fabric.zoneOversubscription != 1 ? ".zone_oversubscription"
                                                               : nullptr;
    if (!fabric.shape->zones && (fabric.aggregations != 0 || set != nullptr))
    {
        throw ConfigError(key + (fabric.aggregations != 0 ? ".aggregations" : set),
                          "a fabric of shape " + ToString(fabric.shape) + " has no zones",
                          "aggregations: 0, pods_per_zone: 0 and zone_oversubscription: 1",
                          "give these three where a preset has others, or shape: " +
                              Shape::First([](const auto& row) { return row.zones; }).Name());
    }
    if (fabric.aggregations == 0 && set != nullptr)
    {
        throw ConfigError(key + set,
                          "there are no zones in a fabric of two stages",
                          "pods_per_zone: 0 and zone_oversubscription: 1",
                          "give these, or aggregations, the number of switches above the spines");
    }
    const uint32_t pods = building.Nodes() / building.NodesPerPod();
    if (fabric.podsPerZone != 0 && pods % fabric.podsPerZone != 0)
    {
        throw ConfigError(key + ".pods_per_zone",
                          std::to_string(fabric.podsPerZone) + " does not divide the " +
                              std::to_string(pods) + " pods of the building",
                          "a divisor of the pods, or 0 for one zone",
                          "give another, also beside a preset of the fabric");
    }
}

void
CheckFabric(const std::string& key, const BuildingSpec& building)
{
    const FabricSpec& fabric = building.fabric;
    CheckFields(FabricSpec::Fields(), fabric, key);
    if (fabric.nodesPerPod != 0 && building.Nodes() % fabric.nodesPerPod != 0)
    {
        throw ConfigError(key + ".nodes_per_pod",
                          std::to_string(fabric.nodesPerPod) + " does not divide the " +
                              std::to_string(building.Nodes()) + " servers of the building",
                          "a divisor of gpus / gpus_per_node, or 0 for one pod",
                          "give another, also beside a preset of the fabric: fabric: {preset: "
                          "..., nodes_per_pod: 0}");
    }
    CheckZones(key, building);
    if (building.Leaves() > fabric.shape->mostLeaves)
    {
        throw ConfigError(key + ".shape",
                          ToString(fabric.shape) + " of " + std::to_string(building.Leaves()) +
                              " leaves",
                          "up to " + std::to_string(fabric.shape->mostLeaves) + " leaves",
                          "give more nodes_per_pod, rails: false, or another shape");
    }
}

void
CheckBuilding(const std::string& key, const BuildingSpec& building)
{
    CheckFields(BuildingSpec::Fields(), building, key);
    if (building.gpus % building.gpusPerNode != 0)
    {
        throw ConfigError(
            key + ".gpus",
            std::to_string(building.gpus) + " is not a multiple of gpus_per_node " +
                std::to_string(building.gpusPerNode),
            "a multiple of gpus_per_node",
            "change gpus, or give gpus_per_node if a job takes a part of each server");
    }
    if (building.gpusPerNode > building.gpu.scaleUpDomain)
    {
        throw ConfigError(key + ".gpus_per_node",
                          std::to_string(building.gpusPerNode) +
                              " GPUs of a server, and the scale-up network of a " +
                              building.gpu.name + " joins " +
                              std::to_string(building.gpu.scaleUpDomain),
                          "up to " + std::to_string(building.gpu.scaleUpDomain),
                          "fewer, or gpu: {preset: " + building.gpu.name +
                              ", scale_up_domain: " + std::to_string(building.gpusPerNode) + "}");
    }
    try
    {
        building.gpu.Validate();
    }
    catch (const ConfigError& error)
    {
        throw error.At(key + "." + error.Where());
    }
    CheckFabric(key + ".fabric", building);
}

void
CheckLink(const ClusterSpec& cluster, const CrossLinkSpec& link)
{
    try
    {
        CheckFields(CrossLinkSpec::Fields(), link, "cluster.cross");
    }
    catch (const ConfigError& error)
    {
        throw ConfigError(error.Where(),
                          error.Problem() + ", between " + cluster.SiteName(link.a) + " and " +
                              cluster.SiteName(link.b),
                          error.Allowed(),
                          error.Remedy());
    }
}

/// Why no site may have this name, whatever the others are called.
std::optional<std::string>
ProblemOfName(const std::string& name)
{
    if (name.empty())
    {
        return "the name is empty";
    }
    if (name.size() > kLongestName)
    {
        return "the name " + Quoted(name) + " has " + std::to_string(name.size()) + " bytes";
    }
    if (!IsOneLine(name))
    {
        return "the name " + Quoted(name) + " has a control character";
    }
    // Names of switches and events are made of a site's name, a slash and a number.
    if (name.find('/') != std::string::npos)
    {
        return "the name " + Quoted(name) + " has a slash";
    }
    return std::nullopt;
}

/// Spans join equal planes and top switches of all sites.
void
CheckEqualTops(const ClusterSpec& cluster)
{
    struct Part
    {
        const char* name;
        uint32_t (*of)(const FabricSpec& fabric);
        const char* reason;
    };

    const Part parts[] = {
        {"planes", [](const FabricSpec& f) { return f.planes; }, "traffic stays in its plane"},
        {"ports per NIC",
         [](const FabricSpec& f) { return f.PortsPerNic(); },
         "port i of a NIC sends to port i of another"},
        {"switches at the top (spines, or aggregations where there are three stages)",
         [](const FabricSpec& f) { return f.TopSwitches(); },
         "switch i of one building meets switch i of the others"}};
    const BuildingSpec& first = cluster.buildings.front();
    for (const BuildingSpec& building : cluster.buildings)
    {
        for (const Part& part : parts)
        {
            const uint32_t here = part.of(building.fabric);
            const uint32_t there = part.of(first.fabric);
            if (here != there)
            {
                throw ConfigError("cluster.buildings",
                                  first.name + " has " + std::to_string(there) + " and " +
                                      building.name + " has " + std::to_string(here) + " " +
                                      part.name,
                                  "equally many, since " + std::string(part.reason),
                                  "");
            }
        }
    }
}

/// Every building can be reached from the first one.
void
CheckReachable(const ClusterSpec& cluster)
{
    std::vector<bool> reached(cluster.Sites(), false);
    reached[0] = true;
    for (bool more = true; more;)
    {
        more = false;
        for (const CrossLinkSpec& link : cluster.crossLinks)
        {
            if (reached[link.a] != reached[link.b])
            {
                reached[link.a] = reached[link.b] = more = true;
            }
        }
    }
    const auto lost = std::find(reached.begin(), reached.end(), false) - reached.begin();
    if (lost < static_cast<ptrdiff_t>(reached.size()))
    {
        throw ConfigError("cluster.links",
                          "no spans lead from " + cluster.SiteName(0) + " to " +
                              cluster.SiteName(static_cast<uint32_t>(lost)),
                          "a way between every two sites, over others if need be",
                          "give cluster.cross, which joins all of them, or add a link");
    }
}

} // namespace

const FieldTable<FabricSpec>&
FabricSpec::Fields()
{
    using Row = FieldRows<FabricSpec>;
    using F = FabricSpec;
    static const FieldTable<FabricSpec> fields = {
        Row::Word("shape", "how leaves and spines are joined", &F::shape),
        Row::Bool("rails", "one leaf for each NIC position of a pod", &F::rails),
        Row::Whole("nodes_per_pod",
                   0,
                   UINT32_MAX,
                   "servers under one set of leaves; 0: all of the building",
                   &F::nodesPerPod),
        Row::Whole("spines",
                   1,
                   4096,
                   "spine switches of a zone, or of the building, in each plane",
                   &F::spines),
        Row::Number(
            "oversubscription",
            1,
            1000,
            "of a leaf: port capacity below over capacity to the spines, and to other leaves",
            &F::oversubscription),
        Row::Whole("aggregations",
                   0,
                   4096,
                   "switches above the spines in each plane; 0: two stages",
                   &F::aggregations),
        Row::Whole("pods_per_zone",
                   0,
                   UINT32_MAX,
                   "three stages: pods under one set of spines; 0: all of them",
                   &F::podsPerZone),
        Row::Number("zone_oversubscription",
                    1,
                    1000,
                    "of a spine: capacity to the leaves over capacity upwards",
                    &F::zoneOversubscription),
        Row::Whole("planes",
                   1,
                   kMostPlanes,
                   "copies of the fabric, with a port of each NIC in each",
                   &F::planes),
        Row::Bool("dual_tor", "two ports per plane, on leaves of their own", &F::dualTor),
        Row::Amount("nic_delay",
                    Duration(),
                    g_longestDelay,
                    "one way from NIC to leaf",
                    &F::nicDelay),
        Row::Amount("leaf_delay",
                    Duration(),
                    g_longestDelay,
                    "one way from leaf to spine, or to another leaf",
                    &F::leafDelay),
        Row::Amount("aggregation_delay",
                    Duration(),
                    g_longestDelay,
                    "one way from spine to aggregation",
                    &F::aggregationDelay),
    };
    return fields;
}

bool
operator==(const FabricSpec& a, const FabricSpec& b)
{
    return EqualFields(FabricSpec::Fields(), a, b);
}

const FieldTable<BuildingSpec>&
BuildingSpec::Fields()
{
    using Row = FieldRows<BuildingSpec>;
    using B = BuildingSpec;
    Field<BuildingSpec> perNode =
        Row::Whole("gpus_per_node",
                   1,
                   1024,
                   "GPUs and NICs of a server; left out: the GPU's scale_up_domain",
                   &B::gpusPerNode);
    perNode.usual = [](const BuildingSpec& building) {
        return building.gpusPerNode == building.gpu.scaleUpDomain;
    };
    static const FieldTable<BuildingSpec> fields = {
        Row::Text("name", "for people, ends of spans and targets of events", &B::name).Label(),
        Row::Whole("gpus",
                   1,
                   1U << 22,
                   "GPUs of the building, a multiple of gpus_per_node",
                   &B::gpus)
            .Required("gpus: 8192"),
        perNode,
    };
    return fields;
}

bool
operator==(const BuildingSpec& a, const BuildingSpec& b)
{
    return EqualFields(BuildingSpec::Fields(), a, b) && a.gpu == b.gpu && a.fabric == b.fabric;
}

bool
operator==(const HubSpec& a, const HubSpec& b)
{
    return a.name == b.name;
}

const FieldTable<CrossLinkSpec>&
CrossLinkSpec::Fields()
{
    using Row = FieldRows<CrossLinkSpec>;
    using L = CrossLinkSpec;
    // Once round the Earth: nothing on land is farther.
    const Distance farthest(40000);
    static const FieldTable<CrossLinkSpec> fields = [&] {
        Field<CrossLinkSpec> latency = Row::Amount("latency",
                                                   Duration(),
                                                   g_longestDelay,
                                                   "one way; left out: 5us a kilometre",
                                                   &L::latency);
        latency.usual = [](const CrossLinkSpec& link) {
            return link.latency == FibreDelay(link.distance);
        };
        return FieldTable<CrossLinkSpec>{
            Row::Amount("distance", Distance(), farthest, "of fibre", &L::distance)
                .Required("distance: 30km"),
            latency,
            Row::Amount("capacity",
                        BitRate(1e6),
                        BitRate(1e19),
                        "per direction, all planes together",
                        &L::capacity)
                .Required("capacity: 10Tbps"),
            // 1 in 10 is beyond repair for every transport here; 1 would never end.
            Row::Number("loss",
                        0,
                        0.5,
                        "probability that a packet is lost, in either direction",
                        &L::loss),
            Row::Whole("lanes", 1, 1024, "parallel links of each plane", &L::lanes),
            Row::Bool("pfc", "what arrives over it is lossless where the network is", &L::pfc),
        };
    }();
    return fields;
}

bool
operator==(const CrossLinkSpec& a, const CrossLinkSpec& b)
{
    return a.a == b.a && a.b == b.b && EqualFields(CrossLinkSpec::Fields(), a, b);
}

bool
operator==(const ClusterSpec& a, const ClusterSpec& b)
{
    return a.buildings == b.buildings && a.hubs == b.hubs && a.crossLinks == b.crossLinks;
}

uint32_t
BuildingSpec::NodesPerPod() const
{
    return fabric.nodesPerPod == 0 ? Nodes() : std::min(fabric.nodesPerPod, Nodes());
}

uint32_t
BuildingSpec::Leaves() const
{
    const uint32_t pods = (Nodes() + NodesPerPod() - 1) / NodesPerPod();
    return pods * (fabric.rails ? gpusPerNode : 1);
}

BitRate
BuildingSpec::NicCapacity() const
{
    return gpu.nicRate * static_cast<double>(gpus);
}

const std::string&
ClusterSpec::SiteName(uint32_t site) const
{
    SCALEACROSS_INVARIANT(site < Sites(), std::to_string(site));
    return site < buildings.size() ? buildings[site].name : hubs[site - buildings.size()].name;
}

uint32_t
ClusterSpec::Gpus() const
{
    uint32_t sum = 0;
    for (const auto& building : buildings)
    {
        sum += building.gpus;
    }
    return sum;
}

uint32_t
ClusterSpec::BuildingOf(uint32_t gpu) const
{
    for (uint32_t i = 0; i < buildings.size(); i++)
    {
        if (gpu < buildings[i].gpus)
        {
            return i;
        }
        gpu -= buildings[i].gpus;
    }
    InvariantBroken("gpu < Gpus()", __FILE__, __LINE__, std::to_string(gpu) + " beyond the last");
}

uint32_t
ClusterSpec::FirstGpu(uint32_t building) const
{
    SCALEACROSS_INVARIANT(building < buildings.size(), std::to_string(building));
    uint32_t first = 0;
    for (uint32_t i = 0; i < building; i++)
    {
        first += buildings[i].gpus;
    }
    return first;
}

const CrossLinkSpec*
ClusterSpec::Between(uint32_t a, uint32_t b) const
{
    for (const auto& link : crossLinks)
    {
        if ((link.a == a && link.b == b) || (link.a == b && link.b == a))
        {
            return &link;
        }
    }
    return nullptr;
}

void
ClusterSpec::Validate() const
{
    if (buildings.empty())
    {
        throw ConfigError("cluster.buildings", "there is no building", "at least one", "");
    }
    CheckWhole("cluster.buildings", buildings.size(), 1, kMostBuildings);
    // Of a part of a cluster, buildings that are left out are hubs, too.
    CheckWhole("cluster.hubs", hubs.size(), 0, 2 * kMostBuildings);
    for (size_t i = 0; i < buildings.size(); i++)
    {
        CheckBuilding("cluster.buildings." + std::to_string(i), buildings[i]);
    }
    std::set<std::string> names;
    for (uint32_t site = 0; site < Sites(); site++)
    {
        const std::string& name = SiteName(site);
        if (const auto problem = ProblemOfName(name); problem || !names.insert(name).second)
        {
            const size_t hub = site - buildings.size();
            throw ConfigError(
                site < buildings.size() ? "cluster.buildings." + std::to_string(site) + ".name"
                                        : "cluster.hubs." + std::to_string(hub),
                problem ? *problem : "the name " + Quoted(name) + " is another site's, too",
                "a name of its own for every building and hub, up to " +
                    std::to_string(kLongestName) + " bytes in one line, without a slash",
                "");
        }
    }
    CheckEqualTops(*this);
    std::set<std::pair<uint32_t, uint32_t>> pairs;
    for (const auto& link : crossLinks)
    {
        if (link.a >= Sites() || link.b >= Sites() || link.a == link.b)
        {
            throw ConfigError("cluster.links",
                              "a span joins site " + std::to_string(link.a) + " and " +
                                  std::to_string(link.b),
                              "two different buildings or hubs of the cluster",
                              "");
        }
        CheckLink(*this, link);
        if (!pairs.insert(std::minmax(link.a, link.b)).second)
        {
            throw ConfigError("cluster.links",
                              "two spans between " + SiteName(link.a) + " and " + SiteName(link.b),
                              "one span for a pair",
                              "add their capacities, or give lanes");
        }
    }
    CheckReachable(*this);
}

} // namespace scaleacross
