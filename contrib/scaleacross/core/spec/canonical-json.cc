// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/canonical-json.h"

#include "core/spec/study-json.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// The names of buildings and hubs in a canonical text.
std::string
PlainName(const ClusterSpec& cluster, uint32_t site)
{
    const auto buildings = static_cast<uint32_t>(cluster.buildings.size());
    return site < buildings ? "building" + std::to_string(site + 1)
                            : "hub" + std::to_string(site - buildings + 1);
}

/// A vertex with the plain name of its site.
std::string
PlainVertex(const ClusterSpec& cluster, const std::string& name)
{
    for (uint32_t site = 0; site < cluster.Sites(); site++)
    {
        const std::string prefix = cluster.SiteName(site) + "/";
        if (name.compare(0, prefix.size(), prefix) == 0)
        {
            return PlainName(cluster, site) + "/" + name.substr(prefix.size());
        }
    }
    return name;
}

/// Whether a text begins with the name of a site and a slash.
bool
IsVertex(const ClusterSpec& cluster, const std::string& name)
{
    for (uint32_t site = 0; site < cluster.Sites(); site++)
    {
        const std::string prefix = cluster.SiteName(site) + "/";
        if (name.compare(0, prefix.size(), prefix) == 0)
        {
            return true;
        }
    }
    return false;
}

/// The plain name of a vertex or site; nothing if it is neither.
std::optional<std::string>
PlainEnd(const ClusterSpec& cluster, const std::string& name)
{
    for (uint32_t site = 0; site < cluster.Sites(); site++)
    {
        if (cluster.SiteName(site) == name)
        {
            return PlainName(cluster, site);
        }
    }
    return IsVertex(cluster, name) ? std::optional(PlainVertex(cluster, name)) : std::nullopt;
}

/// An event's target by plain names, the ends of a link or span in one order.
std::string
PlainTarget(const ClusterSpec& cluster, const std::string& target)
{
    const std::string ends = target.substr(0, target.find('#'));
    for (size_t dashes = ends.find("--"); dashes != std::string::npos;
         dashes = ends.find("--", dashes + 1))
    {
        const auto a = PlainEnd(cluster, ends.substr(0, dashes));
        const auto b = PlainEnd(cluster, ends.substr(dashes + 2));
        if (a && b)
        {
            const auto [first, last] = std::minmax({*a, *b});
            return first + "--" + last + target.substr(ends.size());
        }
    }
    return PlainVertex(cluster, target);
}

void
MakePlain(BuildingSpec& building)
{
    building.gpu.name.clear();
    FabricSpec& fabric = building.fabric;
    // Another way to say that the building is one pod.
    fabric.nodesPerPod = fabric.nodesPerPod == building.Nodes() ? 0 : fabric.nodesPerPod;
    if (fabric.aggregations == 0)
    {
        fabric.aggregationDelay = FabricSpec().aggregationDelay;
    }
}

/// The scenario of equal results that all scenarios have in common which differ from it in nothing
/// that can change a result: names, the order of spans, and what is not looked at.
Scenario
Plain(const Scenario& scenario)
{
    Scenario plain = scenario;
    for (JobSpec& job : plain.jobs)
    {
        job.name = JobSpec().name;
        job.model.name.clear();
        job.workload.stack.name = SoftwareStack().name;
        if (job.trace)
        {
            job.trace->files.clear();
        }
    }
    for (EventSpec& event : plain.events)
    {
        event.target = PlainTarget(scenario.cluster, event.target);
    }
    ClusterSpec& cluster = plain.cluster;
    for (uint32_t site = 0; site < cluster.Sites(); site++)
    {
        const size_t buildings = cluster.buildings.size();
        (site < buildings ? cluster.buildings[site].name : cluster.hubs[site - buildings].name) =
            PlainName(cluster, site);
    }
    std::for_each(cluster.buildings.begin(), cluster.buildings.end(), MakePlain);
    for (CrossLinkSpec& link : cluster.crossLinks)
    {
        std::tie(link.a, link.b) =
            std::make_pair(std::min(link.a, link.b), std::max(link.a, link.b));
    }
    std::sort(cluster.crossLinks.begin(),
              cluster.crossLinks.end(),
              [](const CrossLinkSpec& x, const CrossLinkSpec& y) {
                  return std::tie(x.a, x.b) < std::tie(y.a, y.b);
              });
    return plain;
}

} // namespace

std::string
CanonicalJson(const Scenario& scenario)
{
    return StudyJson(Plain(scenario));
}

std::string
CanonicalSetting(const Scenario& scenario)
{
    StudyParts parts;
    parts.plan = false;
    return StudyJson(Plain(scenario), parts);
}

} // namespace scaleacross
