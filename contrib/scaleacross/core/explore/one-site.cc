// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/one-site.h"

#include "core/base/errors.h"
#include "core/topology/event-target.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// The GPUs of a building as they would be with the NICs of another one.
GpuSpec
WithNicsOf(GpuSpec gpu, const GpuSpec& other)
{
    gpu.nicRate = other.nicRate;
    gpu.nicsPerGpu = other.nicsPerGpu;
    gpu.nicEfficiency = other.nicEfficiency;
    // A name is for people, and may be that of another preset with the same figures.
    gpu.name = other.name;
    return gpu;
}

void
ExpectAlike(const BuildingSpec& first, const BuildingSpec& other)
{
    if (other.gpusPerNode != first.gpusPerNode)
    {
        throw ConfigError("cluster.buildings",
                          first.name + " has servers of " + std::to_string(first.gpusPerNode) +
                              " GPUs and " + other.name + " of " +
                              std::to_string(other.gpusPerNode) +
                              ", and so there is no single building to compare with",
                          "equal gpus_per_node in all buildings",
                          "");
    }
    if (!(WithNicsOf(other.gpu, first.gpu) == first.gpu))
    {
        throw ConfigError("cluster.buildings",
                          "the GPUs of " + first.name + " (" + first.gpu.name + ") and " +
                              other.name + " (" + other.gpu.name +
                              ") differ, and so there is no single building to compare with",
                          "GPUs that differ in nothing but their NICs",
                          "");
    }
}

} // namespace

Study
OneSiteOf(const Study& study)
{
    Study one = study;
    one.name = study.name + ", one site";
    one.baselines.clear();
    Scenario& scenario = one.scenario;
    ClusterSpec& cluster = scenario.cluster;
    BuildingSpec site = cluster.buildings.front();
    for (const BuildingSpec& building : cluster.buildings)
    {
        ExpectAlike(site, building);
    }
    site.gpus = cluster.Gpus();
    cluster.buildings = {site};
    cluster.hubs.clear();
    cluster.crossLinks.clear();
    EraseEventsWithoutTarget(scenario);
    const auto isOfSpans = [](const SearchAxis& axis) {
        return axis.key.rfind("network.tiers.cross.", 0) == 0;
    };
    one.search.erase(std::remove_if(one.search.begin(), one.search.end(), isOfSpans),
                     one.search.end());
    try
    {
        scenario.Validate();
    }
    catch (const ConfigError& error)
    {
        throw ConfigError("cluster.buildings",
                          "the fabric of " + site.name + " does not grow to " +
                              std::to_string(site.gpus) + " GPUs: " + error.Problem(),
                          "a fabric of whole pods and zones for all of them",
                          error.Remedy());
    }
    return one;
}

} // namespace scaleacross
