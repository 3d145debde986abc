// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/link-resources.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// In the order of the report.
enum class Place : uint8_t
{
    Building, //!< a cut of its fabric
    Link,     //!< between two switches of such a cut, where packets take detours
    Span,
    ScaleUp,
    Nic
};

/// Links that count as one, in one direction: of a switch or group of switches, a span, or a rank.
struct Bundle
{
    uint64_t bytes{0};
    BitRate capacity;
};

/// Place and level of the cut, which site (or span, or class), whether it is the way back, and
/// which one there; of links the number of the first end times that of switches and the second's.
using BundleKey = std::tuple<Place, uint32_t, uint32_t, bool, uint32_t>;

/// What one direction of a link counts for.
std::vector<BundleKey>
KeysOf(const FabricGraph& fabric,
       const FabricLink& link,
       bool back,
       const ClusterSpec& cluster,
       const ClusterPaths& paths,
       const TaskGraph& graph)
{
    if (link.kind == LinkKind::Nic)
    {
        const Rank rank = link.a / cluster.PortsPerNic();
        return {{Place::Nic, 0, graph.ClassOf(rank), back, rank}};
    }
    if (link.kind == LinkKind::Cross)
    {
        return {{Place::Span, 0, link.span, back, 0}};
    }
    const Vertex& from = fabric.vertices[back ? link.b : link.a];
    const Vertex& to = fabric.vertices[back ? link.a : link.b];
    const FabricShape& shape = paths.Shape(from.site);
    std::vector<BundleKey> keys;
    for (const CutSide& side : shape.SidesOf(from, to))
    {
        keys.emplace_back(Place::Building, side.level, from.site, !side.up, side.which);
        if (side.up && shape.Cuts()[side.level].detour > 0)
        {
            // Those of all ports are one, as the cuts are.
            const uint32_t ends =
                from.index % shape.Leaves() * shape.Leaves() + to.index % shape.Leaves();
            keys.emplace_back(Place::Link, side.level, from.site, false, ends);
        }
    }
    return keys;
}

/// As in the analytical engine: with the building if the stage's ranks are not of one class.
std::string
ClassName(const RankClass& rankClass, const ClusterSpec& cluster, const TaskGraph& graph)
{
    uint32_t all = 0;
    for (const RankClass& other : graph.classes)
    {
        all += other.stage == rankClass.stage ? other.ranks : 0;
    }
    const std::string stage = "stage " + std::to_string(rankClass.stage);
    const uint32_t building = cluster.BuildingOf(rankClass.representative);
    return rankClass.ranks == all ? stage : stage + " in " + cluster.SiteName(building);
}

std::string
NameOf(const BundleKey& key,
       const ClusterSpec& cluster,
       const ClusterPaths& paths,
       const TaskGraph& graph)
{
    const auto [place, level, which, back, index] = key;
    switch (place)
    {
    case Place::Building:
        return cluster.SiteName(which) + " " + paths.Shape(which).Cuts()[level].name +
               (back ? " down" : " up");
    case Place::Link:
        return cluster.SiteName(which) + " " + paths.Shape(which).Cuts()[level].name + " link";
    case Place::Span: {
        const std::string a = cluster.SiteName(cluster.crossLinks[which].a);
        const std::string b = cluster.SiteName(cluster.crossLinks[which].b);
        return back ? b + " to " + a : a + " to " + b;
    }
    case Place::ScaleUp:
    case Place::Nic:
        break;
    }
    return ClassName(graph.classes[which], cluster, graph) +
           (place == Place::Nic ? " NIC " : " scale-up ") + (back ? "in" : "out");
}

BundleKey
ScaleUpKey(Rank rank, bool back, const TaskGraph& graph)
{
    return {Place::ScaleUp, 0, graph.ClassOf(rank), back, rank};
}

BitRate
ScaleUpRate(Rank rank, const ClusterSpec& cluster)
{
    const GpuSpec& gpu = cluster.buildings[cluster.BuildingOf(rank)].gpu;
    return gpu.scaleUpBandwidth * gpu.scaleUpEfficiency;
}

bool
IsShared(const BundleKey& key)
{
    return std::get<Place>(key) < Place::ScaleUp;
}

} // namespace

CarriedBytes
operator-(const CarriedBytes& a, const CarriedBytes& b)
{
    CarriedBytes difference = a;
    for (size_t i = 0; i < b.links.size(); i++)
    {
        difference.links[i] -= b.links[i];
    }
    for (size_t i = 0; i < b.scaleUp.size(); i++)
    {
        difference.scaleUp[i] -= b.scaleUp[i];
    }
    return difference;
}

std::vector<double>
NamedLinks::Sum(const CarriedBytes& carried) const
{
    std::vector<double> sums(loads.size(), 0.0);
    for (size_t i = 0; i < carried.links.size(); i++)
    {
        for (const uint32_t load : ofLink[i])
        {
            sums[load] += static_cast<double>(carried.links[i]);
        }
    }
    for (size_t i = 0; i < carried.scaleUp.size(); i++)
    {
        sums[ofScaleUp[i]] += static_cast<double>(carried.scaleUp[i]);
    }
    return sums;
}

LinkResources::LinkResources(const ClusterSpec& cluster,
                             const std::vector<EventSpec>& events,
                             const FabricGraph& fabric,
                             const TaskGraph& graph)
    : m_cluster(cluster),
      m_fabric(fabric),
      m_graph(graph),
      m_paths(cluster),
      m_left(cluster, events, fabric)
{
}

std::vector<ResourceReport>
LinkResources::Report(const CarriedBytes& carried, const MeasuredTime& time) const
{
    std::map<BundleKey, Bundle> bundles;
    const auto add = [&](const BundleKey& key, uint64_t bytes, BitRate rate) {
        Bundle& bundle = bundles[key];
        bundle.bytes += bytes;
        bundle.capacity = bundle.capacity + rate;
    };
    for (size_t i = 0; i < carried.links.size(); i++)
    {
        const FabricLink& link = m_fabric.links[i / 2];
        for (const BundleKey& key : KeysOf(m_fabric, link, i % 2 == 1, m_cluster, m_paths, m_graph))
        {
            add(key,
                carried.links[i],
                link.rate * m_left.Mean(static_cast<uint32_t>(i / 2), time.begin, time.end));
        }
    }
    for (size_t i = 0; i < carried.scaleUp.size(); i++)
    {
        const auto rank = static_cast<Rank>(i / 2);
        add(ScaleUpKey(rank, i % 2 == 1, m_graph),
            carried.scaleUp[i],
            ScaleUpRate(rank, m_cluster));
    }
    std::vector<ResourceReport> resources;
    for (const auto& [key, bundle] : bundles)
    {
        if (bundle.bytes == 0)
        {
            continue;
        }
        ResourceReport added;
        added.name = NameOf(key, m_cluster, m_paths, m_graph);
        added.bytes = Bytes(bundle.bytes / time.iterations);
        added.capacity = bundle.capacity;
        added.shared = IsShared(key);
        // What arrives from a server's own GPUs nobody holds back.
        added.limited = std::get<Place>(key) != Place::ScaleUp || !std::get<bool>(key);
        // Look-ahead may count bytes just after what carried them has gone down.
        added.busy = added.capacity.Value() > 0
                         ? static_cast<double>(added.bytes.Count()) * 8.0 / added.capacity.Value() /
                               time.iterationTime.S()
                         : 1.0;
        const auto alike =
            std::find_if(resources.begin(), resources.end(), [&](const ResourceReport& other) {
                return other.name == added.name;
            });
        if (alike == resources.end())
        {
            resources.push_back(std::move(added));
        }
        else if (alike->busy < added.busy)
        {
            *alike = std::move(added);
        }
    }
    return resources;
}

NamedLinks
LinkResources::ByName() const
{
    NamedLinks named;
    std::map<std::string, uint32_t> numbers;
    const auto number = [&](const BundleKey& key, BitRate rate) {
        const std::string name = NameOf(key, m_cluster, m_paths, m_graph);
        const auto [at, added] = numbers.emplace(name, static_cast<uint32_t>(named.loads.size()));
        if (added)
        {
            named.loads.push_back({name, SeriesKind::Load, BitRate(), IsShared(key), {}, {}});
        }
        Series& load = named.loads[at->second];
        load.capacity = load.capacity + rate;
        return at->second;
    };
    for (const FabricLink& link : m_fabric.links)
    {
        for (const bool back : {false, true})
        {
            std::vector<uint32_t>& loads = named.ofLink.emplace_back();
            for (const BundleKey& key : KeysOf(m_fabric, link, back, m_cluster, m_paths, m_graph))
            {
                loads.push_back(number(key, link.rate));
            }
        }
    }
    for (Rank rank = 0; rank < m_graph.ranks; rank++)
    {
        for (const bool back : {false, true})
        {
            named.ofScaleUp.push_back(
                number(ScaleUpKey(rank, back, m_graph), ScaleUpRate(rank, m_cluster)));
        }
    }
    return named;
}

void
LinkResources::FillLeft(NetworkSeries& series) const
{
    if (m_left.AreWhole())
    {
        return;
    }
    std::map<std::string, Series*> loads;
    for (Series& one : series.series)
    {
        if (one.kind == SeriesKind::Load)
        {
            loads[one.name] = &one;
        }
    }
    for (uint32_t l = 0; l < m_fabric.links.size(); l++)
    {
        if (!m_left.Changes(l))
        {
            continue;
        }
        const FabricLink& link = m_fabric.links[l];
        for (const bool back : {false, true})
        {
            for (const BundleKey& key : KeysOf(m_fabric, link, back, m_cluster, m_paths, m_graph))
            {
                const auto load = loads.find(NameOf(key, m_cluster, m_paths, m_graph));
                if (load == loads.end())
                {
                    continue; // idle
                }
                Series& one = *load->second;
                one.left.resize(series.Steps(), 1.0);
                for (uint32_t step = 0; step < series.Steps(); step++)
                {
                    const double mean = m_left.Mean(l, series.at[step], series.at[step + 1]);
                    one.left[step] -= (1 - mean) * (link.rate / one.capacity);
                }
            }
        }
    }
    for (Series& one : series.series)
    {
        for (double& left : one.left)
        {
            left = std::max(0.0, left); // but for rounding it is
        }
    }
}

} // namespace scaleacross
