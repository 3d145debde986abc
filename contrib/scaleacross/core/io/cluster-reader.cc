// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/cluster-reader.h"

#include "core/io/map-reader.h"
#include "core/io/text-file.h"
#include "core/spec/presets.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

namespace scaleacross
{

const std::vector<std::string>&
BuildingKeys()
{
    static const std::vector<std::string> keys =
        {"name", "gpus", "gpus_per_node", "gpu", "nic_rate", "fabric"};
    return keys;
}

const std::vector<std::string>&
GpuKeys()
{
    static const std::vector<std::string> keys = {"preset",
                                                  "name",
                                                  "bf16_peak",
                                                  "fp8_peak",
                                                  "hbm_capacity",
                                                  "hbm_reserve",
                                                  "hbm_bandwidth",
                                                  "nvlink_bandwidth",
                                                  "nvlink_latency",
                                                  "nic_rate",
                                                  "curve",
                                                  "gemm_efficiency",
                                                  "fp8_efficiency",
                                                  "attention_efficiency",
                                                  "kernel_gap",
                                                  "hbm_efficiency",
                                                  "nvlink_efficiency",
                                                  "collective_share"};
    return keys;
}

const std::vector<std::string>&
FabricKeys()
{
    static const std::vector<std::string> keys = {"rails",
                                                  "nodes_per_pod",
                                                  "spines",
                                                  "oversubscription",
                                                  "aggregations",
                                                  "pods_per_zone",
                                                  "zone_oversubscription",
                                                  "planes",
                                                  "dual_tor",
                                                  "nic_delay",
                                                  "leaf_delay",
                                                  "aggregation_delay"};
    return keys;
}

const std::vector<std::string>&
SpanKeys()
{
    static const std::vector<std::string> keys =
        {"distance", "latency", "capacity", "oversubscription", "loss", "lanes", "pfc"};
    return keys;
}

namespace
{

GpuSpec
PresetAt(const YamlNode& node, const std::string& path)
{
    const std::string name = ScalarText(node, path);
    try
    {
        return GpuPreset(name);
    }
    catch (const ConfigError& error)
    {
        throw error.At(node.Place() + " " + path);
    }
}

/// A curve that is built in, or a data file by its path.
GpuCurve
CurveAt(const YamlNode& node, const std::string& path, const std::string& folder)
{
    const std::string name = ScalarText(node, path);
    try
    {
        if (name.find('/') == std::string::npos && name.find(".yaml") == std::string::npos)
        {
            return GpuCurveOf(name);
        }
        const std::string file = (std::filesystem::path(folder) / name).string();
        const std::string text = ReadTextFile(file);
        CheckText(text, file);
        return ParseGpuCurve(text, file);
    }
    catch (const ConfigError& error)
    {
        throw error.At(node.Place() + " " + path +
                       (error.Where() == "gpu.curve" ? "" : ": " + error.Where()));
    }
}

/// A preset's name, or a map of fields that may stand on a preset or a curve.
GpuSpec
ReadGpu(const YamlNode& node, const std::string& path, const std::string& folder)
{
    if (node.kind != YamlNode::Kind::Map)
    {
        return PresetAt(node, path);
    }
    const MapReader map(node, path, GpuKeys());
    GpuSpec gpu;
    const YamlNode* preset = map.Find("preset");
    if (preset != nullptr)
    {
        gpu = PresetAt(*preset, map.PathOf("preset"));
    }
    else
    {
        gpu.name = "custom";
        for (const auto& [key, example] : {std::pair("bf16_peak", "989TFLOP/s"),
                                           {"hbm_capacity", "80GiB"},
                                           {"hbm_reserve", "6GiB"},
                                           {"hbm_bandwidth", "3350GB/s"},
                                           {"nvlink_bandwidth", "450GB/s"},
                                           {"nvlink_latency", "1.9us"},
                                           {"nic_rate", "400Gbps"}})
        {
            map.Require(key, std::string(key) + ": " + example + ", or start from a preset: h100");
        }
        if (map.Find("curve") == nullptr)
        {
            for (const auto& [key, example] : {std::pair("gemm_efficiency", "0.7"),
                                               {"hbm_efficiency", "0.8"},
                                               {"nvlink_efficiency", "0.6"}})
            {
                map.Require(key, std::string(key) + ": " + example + ", or take a curve: h100");
            }
        }
    }
    if (const YamlNode* curve = map.Find("curve"); curve != nullptr)
    {
        gpu.Take(CurveAt(*curve, map.PathOf("curve"), folder));
    }
    const auto text = [](const std::string& value) { return value; };
    map.Get("name", gpu.name, text);
    map.Get("bf16_peak", gpu.bf16Peak, ParseFlopRate);
    map.Get("fp8_peak", gpu.fp8Peak, ParseFlopRate);
    map.Get("hbm_capacity", gpu.hbmCapacity, ParseBytes);
    map.Get("hbm_reserve", gpu.hbmReserve, ParseBytes);
    map.Get("hbm_bandwidth", gpu.hbmBandwidth, ParseBitRate);
    map.Get("nvlink_bandwidth", gpu.nvlinkBandwidth, ParseBitRate);
    map.Get("nvlink_latency", gpu.nvlinkLatency, ParseDuration);
    map.Get("nic_rate", gpu.nicRate, ParseBitRate);
    map.Get("gemm_efficiency", gpu.gemmEfficiency, Number(0.001, 1));
    map.Get("fp8_efficiency", gpu.fp8Efficiency, Number(0, 1));
    map.Get("attention_efficiency", gpu.attentionEfficiency, Number(0, 1));
    map.Get("kernel_gap", gpu.kernelGap, ParseDuration);
    map.Get("hbm_efficiency", gpu.hbmEfficiency, Number(0.001, 1));
    map.Get("nvlink_efficiency", gpu.nvlinkEfficiency, Number(0.001, 1));
    map.Get("collective_share", gpu.collectiveShare, Number(0, 0.19));
    return gpu;
}

FabricSpec
ReadFabric(const YamlNode& node, const std::string& path)
{
    const MapReader map(node, path, FabricKeys());
    FabricSpec fabric;
    map.Get("rails", fabric.rails, ParseBool);
    map.Get("nodes_per_pod", fabric.nodesPerPod, Whole(0, UINT32_MAX));
    map.Get("spines", fabric.spines, Whole(1, 4096));
    map.Get("oversubscription", fabric.oversubscription, Number(1, 1000));
    map.Get("nic_delay", fabric.nicDelay, ParseDuration);
    map.Get("aggregations", fabric.aggregations, Whole(0, 4096));
    map.Get("pods_per_zone", fabric.podsPerZone, Whole(0, UINT32_MAX));
    map.Get("zone_oversubscription", fabric.zoneOversubscription, Number(1, 1000));
    map.Get("planes", fabric.planes, Whole(1, kMostPlanes));
    map.Get("dual_tor", fabric.dualTor, ParseBool);
    map.Get("leaf_delay", fabric.leafDelay, ParseDuration);
    map.Get("aggregation_delay", fabric.aggregationDelay, ParseDuration);
    return fabric;
}

BuildingSpec
ReadBuilding(const MapReader& map, const std::string& folder)
{
    BuildingSpec building;
    map.GetRequired("gpus", building.gpus, Whole(1, 1U << 22), "gpus: 8192");
    map.Get("gpus_per_node", building.gpusPerNode, Whole(1, 1024));
    const YamlNode& gpu = map.Require("gpu", "gpu: h100");
    building.gpu = ReadGpu(gpu, map.PathOf("gpu"), folder);
    if (const YamlNode* rate = map.Find("nic_rate"); rate != nullptr)
    {
        if (gpu.Find("nic_rate") != nullptr)
        {
            FailAt(*rate,
                   map.PathOf("nic_rate"),
                   "the NIC rate is given twice",
                   "either here or under gpu",
                   "remove one of them");
        }
        map.Get("nic_rate", building.gpu.nicRate, ParseBitRate);
    }
    if (const YamlNode* fabric = map.Find("fabric"); fabric != nullptr)
    {
        building.fabric = ReadFabric(*fabric, map.PathOf("fabric"));
    }
    return building;
}

/// A list of buildings, or one map with a count for equal ones.
std::vector<BuildingSpec>
ReadBuildings(const YamlNode& node, const std::string& path, const std::string& folder)
{
    const auto text = [](const std::string& value) { return value; };
    std::vector<BuildingSpec> buildings;
    if (node.kind == YamlNode::Kind::Map)
    {
        std::vector<std::string> keys{"count"};
        keys.insert(keys.end(), BuildingKeys().begin(), BuildingKeys().end());
        const MapReader map(node, path, keys);
        uint32_t count = 0;
        map.GetRequired("count", count, Whole(1, kMostBuildings), "count: 2");
        std::string name = "building";
        map.Get("name", name, text);
        buildings.assign(count, ReadBuilding(map, folder));
        for (uint32_t i = 0; i < count; i++)
        {
            buildings[i].name = name + std::to_string(i + 1);
        }
        return buildings;
    }
    if (node.kind != YamlNode::Kind::List || node.children.size() > kMostBuildings)
    {
        FailAt(node,
               path,
               node.kind == YamlNode::Kind::List
                   ? "there are " + std::to_string(node.children.size()) + " buildings"
                   : "this is " + node.KindName(),
               "a list of up to " + std::to_string(kMostBuildings) +
                   " buildings, or a map with a count",
               "write e.g. buildings: {count: 2, gpus: 8192, gpu: h100}");
    }
    for (size_t i = 0; i < node.children.size(); i++)
    {
        const MapReader map(node.children[i], path + "." + std::to_string(i), BuildingKeys());
        buildings.push_back(ReadBuilding(map, folder));
        buildings.back().name = "building" + std::to_string(i + 1);
        map.Get("name", buildings.back().name, text);
    }
    return buildings;
}

/// What is said of a span, for all pairs under `cross` or for one under `links`.
struct Span
{
    std::optional<Distance> distance;
    std::optional<Duration> latency;
    std::optional<BitRate> capacity;
    std::optional<double> oversubscription;
    std::optional<double> loss;
    std::optional<uint32_t> lanes;
    std::optional<bool> pfc;
};

std::vector<std::string>
WithSpanKeys(const std::string& key)
{
    std::vector<std::string> keys{key};
    keys.insert(keys.end(), SpanKeys().begin(), SpanKeys().end());
    return keys;
}

Span
ReadSpan(const MapReader& map)
{
    Span span;
    map.Get("distance", span.distance, ParseDistance);
    map.Get("latency", span.latency, ParseDuration);
    map.Get("capacity", span.capacity, ParseBitRate);
    map.Get("oversubscription", span.oversubscription, Number(0.01, 1e6));
    map.Get("loss", span.loss, Number(0, 0.5));
    map.Get("lanes", span.lanes, Whole(1, 1024));
    map.Get("pfc", span.pfc, ParseBool);
    if (span.capacity && span.oversubscription)
    {
        FailAt(*map.Find("oversubscription"),
               map.PathOf("oversubscription"),
               "capacity is given as well",
               "exactly one of capacity and oversubscription",
               "remove one of them");
    }
    return span;
}

/// `link` on top of `cross`. A distance of its own brings its own latency, and capacity and
/// oversubscription replace each other.
Span
Merged(const Span& cross, const Span& link)
{
    Span span = link;
    if (!link.distance)
    {
        span.distance = cross.distance;
        span.latency = link.latency ? link.latency : cross.latency;
    }
    if (!link.capacity && !link.oversubscription)
    {
        span.capacity = cross.capacity;
        span.oversubscription = cross.oversubscription;
    }
    span.loss = link.loss ? link.loss : cross.loss;
    span.lanes = link.lanes ? link.lanes : cross.lanes;
    span.pfc = link.pfc ? link.pfc : cross.pfc;
    return span;
}

/// One span of the cluster and the map that says the most about it.
struct PlacedSpan
{
    uint32_t a;
    uint32_t b;
    Span span;
    const MapReader* map;
};

/// NIC capacity of the smaller of two sites; hubs have no NICs and limit nothing.
BitRate
NicCapacity(const ClusterSpec& cluster, uint32_t a, uint32_t b)
{
    const auto of = [&cluster](uint32_t site) {
        return site < cluster.buildings.size() ? cluster.buildings[site].NicCapacity()
                                               : BitRate(std::numeric_limits<double>::infinity());
    };
    return std::min(of(a), of(b));
}

void
AddSpans(ClusterSpec& cluster, const std::vector<PlacedSpan>& spans)
{
    std::vector<uint32_t> peers(cluster.Sites(), 0);
    for (const auto& placed : spans)
    {
        peers[placed.a]++;
        peers[placed.b]++;
    }
    for (size_t hub = cluster.buildings.size(); hub < cluster.Sites(); hub++)
    {
        peers[hub] = 0; // a hub's spans are the buildings' concern
    }
    for (const auto& [a, b, span, map] : spans)
    {
        if (!span.distance)
        {
            FailAt(map->Node(),
                   map->PathOf("distance"),
                   "the key is missing",
                   "",
                   "add it, e.g. distance: 30km");
        }
        if (!span.capacity && !span.oversubscription)
        {
            FailAt(map->Node(),
                   map->PathOf("oversubscription"),
                   "neither capacity nor oversubscription is given",
                   "exactly one of them",
                   "add e.g. oversubscription: 2.8");
        }
        CrossLinkSpec link;
        link.a = a;
        link.b = b;
        link.distance = *span.distance;
        // Validate() refuses what is far too long; until then it still needs some delay.
        const Distance distance = std::min(*span.distance, Distance(1e9));
        link.latency = span.latency ? *span.latency : FibreDelay(distance);
        if (span.oversubscription && a >= cluster.buildings.size())
        {
            FailAt(map->Node(),
                   map->PathOf("oversubscription"),
                   "a span between two hubs has no NICs to compare with",
                   "capacity",
                   "give its capacity, e.g. capacity: 10Tbps");
        }
        link.capacity = span.capacity ? *span.capacity
                                      : NicCapacity(cluster, a, b) /
                                            (*span.oversubscription * std::max(peers[a], peers[b]));
        link.loss = span.loss.value_or(0.0);
        link.lanes = span.lanes.value_or(1);
        link.pfc = span.pfc.value_or(true);
        cluster.crossLinks.push_back(link);
    }
}

/// The building or hub that a name in `between` means.
uint32_t
SiteNamed(const ClusterSpec& cluster, const YamlNode& node, const std::string& path)
{
    const std::string& name = ScalarText(node, path);
    std::vector<std::string> names;
    for (uint32_t i = 0; i < cluster.Sites(); i++)
    {
        if (cluster.SiteName(i) == name)
        {
            return i;
        }
        names.push_back(cluster.SiteName(i));
    }
    const std::string nearest = Nearest(name, names);
    FailAt(node,
           path,
           "there is no building or hub " + Quoted(name),
           AnyOf(names),
           nearest.empty() ? "" : "did you mean " + nearest + "?");
}

using Pair = std::pair<uint32_t, uint32_t>;

/// The pairs of sites that `cross` joins.
std::vector<Pair>
PairsOf(ClusterSpec& cluster, const MapReader& cross)
{
    std::string shape = cluster.hubs.empty() ? "mesh" : "hub";
    cross.Get("shape", shape, OneOf({"mesh", "ring", "line", "hub"}));
    const auto buildings = static_cast<uint32_t>(cluster.buildings.size());
    std::vector<Pair> pairs;
    if (shape == "hub")
    {
        if (cluster.hubs.empty())
        {
            cluster.hubs.push_back({"hub"});
        }
        for (uint32_t hub = buildings; hub < cluster.Sites(); hub++)
        {
            for (uint32_t b = 0; b < buildings; b++)
            {
                pairs.emplace_back(b, hub);
            }
        }
        return pairs;
    }
    for (uint32_t a = 0; a < buildings; a++)
    {
        for (uint32_t b = a + 1; b < buildings; b++)
        {
            const bool closes = shape == "ring" && a == 0 && b == buildings - 1;
            if (shape == "mesh" || b == a + 1 || closes)
            {
                pairs.emplace_back(a, b);
            }
        }
    }
    return pairs;
}

std::vector<HubSpec>
ReadHubs(const YamlNode& node, const std::string& path)
{
    std::vector<HubSpec> hubs;
    for (const YamlNode* name : ListOf(node, path))
    {
        hubs.push_back({ScalarText(*name, path + "." + std::to_string(hubs.size()))});
    }
    return hubs;
}

void
ReadSpans(ClusterSpec& cluster, const MapReader& map)
{
    const YamlNode* crossNode = map.Find("cross");
    const YamlNode* linksNode = map.Find("links");
    std::optional<MapReader> cross;
    const MapReader* ofAll = nullptr; //!< what says it for all pairs
    Span common;
    std::vector<PlacedSpan> spans;
    if (crossNode != nullptr)
    {
        cross.emplace(*crossNode, map.PathOf("cross"), WithSpanKeys("shape"));
        ofAll = &*cross;
        common = ReadSpan(*cross);
        for (const auto& [a, b] : PairsOf(cluster, *cross))
        {
            spans.push_back({a, b, common, ofAll});
        }
    }
    std::vector<MapReader> links; // reserved below: spans point into it
    if (linksNode != nullptr)
    {
        const auto nodes = ListOf(*linksNode, map.PathOf("links"));
        links.reserve(nodes.size());
        for (size_t i = 0; i < nodes.size(); i++)
        {
            const MapReader& link = links.emplace_back(*nodes[i],
                                                       map.PathOf("links." + std::to_string(i)),
                                                       WithSpanKeys("between"));
            const YamlNode& between = link.Require("between", "between: [building1, building2]");
            const std::string path = link.PathOf("between");
            const auto ends = ListOf(between, path);
            if (ends.size() != 2)
            {
                FailAt(between,
                       path,
                       "there are " + std::to_string(ends.size()) + " names",
                       "the names of two buildings or hubs",
                       "");
            }
            auto a = SiteNamed(cluster, *ends[0], path + ".0");
            auto b = SiteNamed(cluster, *ends[1], path + ".1");
            if (a == b)
            {
                FailAt(between, path, "both ends are the same site", "two buildings or hubs", "");
            }
            const PlacedSpan placed{std::min(a, b),
                                    std::max(a, b),
                                    Merged(common, ReadSpan(link)),
                                    &link};
            const auto found = std::find_if(spans.begin(), spans.end(), [&](const auto& span) {
                return span.a == placed.a && span.b == placed.b;
            });
            if (found == spans.end())
            {
                spans.push_back(placed);
            }
            else if (found->map != ofAll)
            {
                FailAt(between,
                       path,
                       "this pair is given twice",
                       "every pair once",
                       "remove one of them");
            }
            else
            {
                *found = placed;
            }
        }
    }
    AddSpans(cluster, spans);
}

} // namespace

ClusterSpec
ReadCluster(const YamlNode& node, const std::string& folder)
{
    const MapReader map(node, "cluster", {"buildings", "hubs", "cross", "links"});
    ClusterSpec cluster;
    const YamlNode& buildings =
        map.Require("buildings", "buildings: {count: 2, gpus: 8192, gpu: h100}");
    cluster.buildings = ReadBuildings(buildings, map.PathOf("buildings"), folder);
    if (const YamlNode* hubs = map.Find("hubs"); hubs != nullptr)
    {
        cluster.hubs = ReadHubs(*hubs, map.PathOf("hubs"));
    }
    ReadSpans(cluster, map);
    return cluster;
}

} // namespace scaleacross
