// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/one-site.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/topology/event-target.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <utility>

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

bool
AreOfOneKind(const BuildingSpec& a, const BuildingSpec& b)
{
    return a.gpusPerNode == b.gpusPerNode && WithNicsOf(b.gpu, a.gpu) == a.gpu;
}

/// The first building of each kind of GPU.
std::vector<BuildingSpec>
KindsOf(const ClusterSpec& cluster)
{
    std::vector<BuildingSpec> kinds;
    for (const BuildingSpec& building : cluster.buildings)
    {
        if (std::none_of(kinds.begin(), kinds.end(), [&building](const BuildingSpec& kind) {
                return AreOfOneKind(kind, building);
            }))
        {
            kinds.push_back(building);
        }
    }
    return kinds;
}

/// The mean of a peak over all GPUs; what is equal everywhere stays as it is, to the last digit.
FlopRate
MeanPeak(const ClusterSpec& cluster, FlopRate GpuSpec::*peak)
{
    const FlopRate first = cluster.buildings.front().gpu.*peak;
    double sum = 0;
    bool same = true;
    for (const BuildingSpec& building : cluster.buildings)
    {
        const FlopRate own = building.gpu.*peak;
        sum += building.gpus * own.Value();
        same = same && own.Value() == first.Value();
    }
    return same ? first : FlopRate(sum / cluster.Gpus());
}

std::string
Factor(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", value);
    return text.data();
}

/// Gives the GPUs of a kind the mean peaks of the study, of BF16, which attention computes in, and
/// of its precision; says by how much they are scaled.
std::string
TakeMeanPeaks(const Scenario& scenario, GpuSpec& gpu)
{
    const Precision precision = scenario.Job().workload.precision;
    std::vector<std::pair<std::string, FlopRate GpuSpec::*>> peaks = {{"bf16", &GpuSpec::bf16Peak}};
    if (precision->peak != peaks.front().second)
    {
        peaks.emplace_back(ToString(precision), precision->peak);
    }
    std::string text;
    for (const auto& [name, peak] : peaks)
    {
        const double own = (gpu.*peak).Value();
        const FlopRate mean = MeanPeak(scenario.cluster, peak);
        if (mean.Value() != own)
        {
            gpu.*peak = mean;
            text +=
                (text.empty() ? "" : " and ") + Factor(mean.Value() / own) + " of it in " + name;
        }
    }
    if (text.empty())
    {
        return ", whose peak all GPUs of the study have";
    }
    gpu.name += " at the mean peak";
    return " with the mean peak of all GPUs of the study in place of their own, " + text;
}

/// "h200", or "h200 in servers of 4" where another kind has the same name.
std::string
KindName(const std::vector<BuildingSpec>& kinds, const BuildingSpec& kind)
{
    const auto same = std::count_if(kinds.begin(), kinds.end(), [&kind](const BuildingSpec& other) {
        return other.gpu.name == kind.gpu.name;
    });
    return same == 1 ? kind.gpu.name
                     : kind.gpu.name + " in servers of " + std::to_string(kind.gpusPerNode) +
                           " as in " + kind.name;
}

/// All GPUs of the study in a building as `site`, whose GPUs are as they are to be.
Study
InOneBuilding(const Study& study, BuildingSpec site)
{
    Study one = study;
    one.name = study.name + ", one site";
    one.baselines.clear();
    Scenario& scenario = one.scenario;
    ClusterSpec& cluster = scenario.cluster;
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

} // namespace

std::vector<OneSite>
OneSitesOf(const Study& study)
{
    const ClusterSpec& cluster = study.scenario.cluster;
    const std::vector<BuildingSpec> kinds = KindsOf(cluster);
    std::vector<OneSite> sites;
    std::string without;
    std::optional<ConfigError> first;
    for (BuildingSpec kind : kinds)
    {
        const std::string name = KindName(kinds, kind);
        std::string assumed = "fabric and NICs of " + kind.name;
        if (kinds.size() > 1)
        {
            assumed = std::to_string(cluster.Gpus()) + " " + name +
                      TakeMeanPeaks(study.scenario, kind.gpu) +
                      "; with memory, its bandwidth and the scale-up network of their own; " +
                      assumed;
        }
        try
        {
            sites.push_back({InOneBuilding(study, kind), name, assumed});
        }
        catch (const ConfigError& error)
        {
            without += "; none with " + name + ": " + error.Problem();
            if (!first)
            {
                first = error;
            }
        }
    }
    if (sites.empty())
    {
        throw ConfigError(*first);
    }
    for (OneSite& site : sites)
    {
        site.assumed += without;
    }
    return sites;
}

} // namespace scaleacross
