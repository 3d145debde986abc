// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/topology/event-target.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// The GPU as it is in any network.
bool
AreSameGpus(const BuildingSpec& a, const BuildingSpec& b)
{
    GpuSpec other = b.gpu;
    other.nicRate = a.gpu.nicRate;
    return a.gpu == other && a.gpusPerNode == b.gpusPerNode;
}

/// Events of what is there: spans and other buildings are not.
std::vector<EventSpec>
EventsOf(const Scenario& scenario)
{
    std::vector<EventSpec> events;
    for (const auto& event : scenario.events)
    {
        Scenario one = scenario;
        one.events = {event};
        try
        {
            CheckEventTargets(one);
            events.push_back(event);
        }
        catch (const ConfigError&)
        {
        }
    }
    return events;
}

/**
 * The study with all of its servers in the first building, whose fabric grows by as many pods, and
 * its search but for what is said of connections between buildings. (What crosses stays: in one
 * building it is the order of ranks, which says what shares a server and a zone.)
 *
 * NICs are part of the network: all are as in the first building. With different GPUs, or servers
 * of different size, there is no such building.
 */
std::variant<Study, Infeasible>
Site(const Study& study)
{
    Study site = study;
    ClusterSpec& cluster = site.scenario.cluster;
    const BuildingSpec first = cluster.buildings.front();
    for (const auto& building : cluster.buildings)
    {
        if (!AreSameGpus(first, building))
        {
            return Infeasible{"building",
                              "one building has equal servers, and those of " + first.name +
                                  " and " + building.name +
                                  " differ in their GPUs or in the number of them"};
        }
    }
    const uint32_t gpus = cluster.Gpus();
    cluster.buildings = {first};
    cluster.buildings.front().gpus = gpus;
    cluster.hubs.clear();
    cluster.crossLinks.clear();
    site.scenario.events = EventsOf(site.scenario);
    try
    {
        site.scenario.Validate();
    }
    catch (const ConfigError& error)
    {
        return Infeasible{"building",
                          "the fabric of " + first.name + " does not grow to " +
                              std::to_string(gpus) + " GPUs: " + error.Problem()};
    }
    const auto isOfSpans = [](const SearchAxis& axis) {
        return axis.key.rfind("network.tiers.cross.", 0) == 0;
    };
    site.search.erase(std::remove_if(site.search.begin(), site.search.end(), isOfSpans),
                      site.search.end());
    return site;
}

} // namespace

const BaselineFacts&
OneSiteBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "one-site";
        known.help =
            "no school: the study's own search with all GPUs in one building, which has the "
            "first one's fabric and NICs";
        known.tunes = "what the study's search varies";
        known.untouched = "what the study fixes";
        known.source = "the same cluster without spans: what being spread out costs";
        known.prefersFirst = false; // a search as the study's own is
        known.site = Site;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
