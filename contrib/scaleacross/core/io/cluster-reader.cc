// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/cluster-reader.h"

#include "core/io/fabric-reader.h"
#include "core/io/gpu-reader.h"
#include "core/io/map-reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

namespace scaleacross
{

namespace
{

BuildingSpec
ReadBuilding(const MapReader& map, const std::string& folder)
{
    BuildingSpec building;
    const YamlNode& gpu = map.Require("gpu", "gpu: h100");
    building.gpu = ReadGpu(gpu, map.PathOf("gpu"), folder);
    building.gpusPerNode = building.gpu.scaleUpDomain; // unless the building says otherwise
    ReadFields(map, BuildingSpec::Fields(), building);
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
        building.fabric = ReadFabric(*fabric, map.PathOf("fabric"), folder);
    }
    return building;
}

/// What a building may say, after `own`.
std::vector<std::string>
BuildingKeys(const std::vector<std::string>& own)
{
    std::vector<std::string> keys = WithKeys(own, BuildingSpec::Fields());
    keys.insert(keys.end(), {"gpu", "nic_rate", "fabric"});
    return keys;
}

/// A list of buildings, or one map with a count for equal ones.
std::vector<BuildingSpec>
ReadBuildings(const YamlNode& node, const std::string& path, const std::string& folder)
{
    std::vector<BuildingSpec> buildings;
    if (node.kind == YamlNode::Kind::Map)
    {
        const MapReader map(node, path, BuildingKeys({"count"}));
        uint32_t count = 0;
        map.GetRequired("count", count, Whole(1, kMostBuildings), "count: 2");
        const BuildingSpec building = ReadBuilding(map, folder);
        const std::string name = map.Find("name") == nullptr ? "building" : building.name;
        buildings.assign(count, building);
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
        const MapReader map(node.children[i], path + "." + std::to_string(i), BuildingKeys({}));
        buildings.push_back(ReadBuilding(map, folder));
        if (map.Find("name") == nullptr)
        {
            buildings.back().name = "building" + std::to_string(i + 1);
        }
    }
    return buildings;
}

/// What a span may say, after `key`.
std::vector<std::string>
SpanKeys(const std::string& key)
{
    std::vector<std::string> keys = WithKeys({key}, CrossLinkSpec::Fields());
    keys.emplace_back("oversubscription");
    return keys;
}

double
OversubscriptionOf(const YamlNode& node, const std::string& path)
{
    return ParseScalar(node, path, Number(0.01, 1e6));
}

/// What a map says of a span is right by itself, whether it is used or not.
void
CheckSpan(const MapReader& map)
{
    CrossLinkSpec scratch;
    for (const auto& field : CrossLinkSpec::Fields())
    {
        if (const YamlNode* node = map.Find(field.key); node != nullptr)
        {
            SetField(field, scratch, *node, map.PathOf(field.key));
        }
    }
    const YamlNode* oversubscription = map.Find("oversubscription");
    if (oversubscription == nullptr)
    {
        return;
    }
    OversubscriptionOf(*oversubscription, map.PathOf("oversubscription"));
    if (map.Find("capacity") != nullptr)
    {
        FailAt(*oversubscription,
               map.PathOf("oversubscription"),
               "capacity is given as well",
               "exactly one of capacity and oversubscription",
               "remove one of them");
    }
}

/// A span of the cluster, and the maps that say what it is like: `cross`, which is for all pairs,
/// one of `links`, or both, the latter on top of the former.
struct PlacedSpan
{
    uint32_t a;
    uint32_t b;
    const MapReader* cross;
    const MapReader* link;

    /// The one that says the most about it.
    const MapReader& Map() const
    {
        return link != nullptr ? *link : *cross;
    }

    /// The map that says this, or nullptr. A distance of its own brings its own latency, and
    /// capacity and oversubscription replace each other.
    const MapReader* Saying(const std::string& key) const
    {
        if (link == nullptr || cross == nullptr)
        {
            return Map().Find(key) != nullptr ? &Map() : nullptr;
        }
        const auto has = [this](const char* other) { return link->Find(other) != nullptr; };
        const bool capacity = key == "capacity" || key == "oversubscription";
        const bool replaced = (key == "latency" && has("distance")) ||
                              (capacity && (has("capacity") || has("oversubscription")));
        const MapReader* map = link->Find(key) != nullptr || replaced ? link : cross;
        return map->Find(key) != nullptr ? map : nullptr;
    }
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
    for (const PlacedSpan& span : spans)
    {
        const MapReader& map = span.Map();
        if (span.Saying("distance") == nullptr)
        {
            FailAt(map.Node(),
                   map.PathOf("distance"),
                   "the key is missing",
                   "",
                   "add it, e.g. distance: 30km");
        }
        const MapReader* oversubscribed = span.Saying("oversubscription");
        if (span.Saying("capacity") == nullptr && oversubscribed == nullptr)
        {
            FailAt(map.Node(),
                   map.PathOf("oversubscription"),
                   "neither capacity nor oversubscription is given",
                   "exactly one of them",
                   "add e.g. oversubscription: 2.8");
        }
        if (oversubscribed != nullptr && span.a >= cluster.buildings.size())
        {
            FailAt(map.Node(),
                   map.PathOf("oversubscription"),
                   "a span between two hubs has no NICs to compare with",
                   "capacity",
                   "give its capacity, e.g. capacity: 10Tbps");
        }
        CrossLinkSpec link;
        link.a = span.a;
        link.b = span.b;
        for (const auto& field : CrossLinkSpec::Fields())
        {
            if (const MapReader* says = span.Saying(field.key); says != nullptr)
            {
                SetField(field, link, *says->Find(field.key), says->PathOf(field.key));
            }
        }
        if (span.Saying("latency") == nullptr)
        {
            link.latency = FibreDelay(link.distance);
        }
        if (oversubscribed != nullptr)
        {
            const double over = OversubscriptionOf(*oversubscribed->Find("oversubscription"),
                                                   oversubscribed->PathOf("oversubscription"));
            link.capacity = NicCapacity(cluster, span.a, span.b) /
                            (over * std::max(peers[span.a], peers[span.b]));
        }
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
    std::vector<PlacedSpan> spans;
    if (crossNode != nullptr)
    {
        cross.emplace(*crossNode, map.PathOf("cross"), SpanKeys("shape"));
        ofAll = &*cross;
        CheckSpan(*cross);
        for (const auto& [a, b] : PairsOf(cluster, *cross))
        {
            spans.push_back({a, b, ofAll, nullptr});
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
                                                       SpanKeys("between"));
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
            CheckSpan(link);
            const PlacedSpan placed{std::min(a, b), std::max(a, b), ofAll, &link};
            const auto found = std::find_if(spans.begin(), spans.end(), [&](const auto& span) {
                return span.a == placed.a && span.b == placed.b;
            });
            if (found == spans.end())
            {
                spans.push_back(placed);
            }
            else if (found->link != nullptr)
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

const std::vector<std::string> g_keys = {"buildings", "hubs", "cross", "links", "use"};

} // namespace

ClusterSpec
ReadCluster(const YamlNode& node, const std::string& folder)
{
    const MapReader map(node, "cluster", g_keys);
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

std::vector<uint32_t>
ReadUsedBuildings(const YamlNode& node, const ClusterSpec& cluster)
{
    const MapReader map(node, "cluster", g_keys);
    const YamlNode* use = map.Find("use");
    const std::string path = map.PathOf("use");
    if (use == nullptr || ScalarText(*use, path) == "all")
    {
        return {};
    }
    std::vector<std::string> names;
    for (const BuildingSpec& building : cluster.buildings)
    {
        names.push_back(building.name);
    }
    for (const std::string& name : names)
    {
        if (name == "all" || name.find('+') != std::string::npos)
        {
            FailAt(*use,
                   path,
                   "there is a building " + Quoted(name) + ", which would be taken for several",
                   "other names of buildings, where only some of them are used",
                   "call it something without + that is not all");
        }
    }
    std::vector<uint32_t> used;
    std::istringstream parts(ScalarText(*use, path) + "+");
    for (std::string name; std::getline(parts, name, '+');)
    {
        const auto known = std::find(names.begin(), names.end(), name);
        const auto index = static_cast<uint32_t>(known - names.begin());
        const bool twice = std::find(used.begin(), used.end(), index) != used.end();
        if (known == names.end() || twice)
        {
            const std::string nearest = Nearest(name, names);
            FailAt(*use,
                   path,
                   twice          ? Quoted(name) + " is given twice"
                   : name.empty() ? "a name is empty"
                                  : "there is no building " + Quoted(name),
                   "all, or names of buildings joined by +, each once: " + AnyOf(names),
                   name == "auto"             ? "explore --sweep cluster.use=auto takes all parts"
                   : twice || nearest.empty() ? ""
                                              : "did you mean " + nearest + "?");
        }
        used.push_back(index);
    }
    return used;
}

} // namespace scaleacross
