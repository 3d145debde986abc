// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/scenario.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/plan-fields.h"

#include <algorithm>
#include <string>
#include <vector>

namespace scaleacross
{

void
Scenario::CheckPrecision() const
{
    const Precision precision = Job().workload.precision;
    for (const auto& building : cluster.buildings)
    {
        if (!precision->IsOf(building.gpu))
        {
            std::vector<std::string> possible;
            for (const PrecisionFacts* facts : Precision::Rows())
            {
                if (facts->IsOf(building.gpu))
                {
                    possible.push_back(facts->word);
                }
            }
            throw ConfigError("workload.precision",
                              ToString(precision) + ", but the GPU " + building.gpu.name + " of " +
                                  building.name + " has no such GEMMs",
                              AnyOf(possible),
                              std::string("or give gpu.") + precision->peakKey);
        }
    }
}

void
Scenario::Validate() const
{
    if (jobs.empty())
    {
        throw ConfigError("jobs", "there is no job", "one job", "give model and workload");
    }
    if (jobs.size() > 1)
    {
        throw ConfigError("jobs",
                          std::to_string(jobs.size()) + " jobs: several jobs on one cluster are "
                                                        "part of the schema but no engine runs "
                                                        "them yet",
                          "one job",
                          "keep one job of the list");
    }
    if (Job().collective)
    {
        Job().collective->Validate();
    }
    else if (Job().Trains())
    {
        Job().model.Validate();
        Job().workload.Validate();
        ValidatePlanFields(Plan{Job().plan, network}, "plan.");
    }
    cluster.Validate();
    network.Validate();
    if (Job().Trains())
    {
        CheckPrecision();
    }
    if (const auto conflict = FindConflict())
    {
        throw ConfigError(*conflict);
    }
    for (size_t i = 0; i < events.size(); i++)
    {
        events[i].Validate("events." + std::to_string(i));
    }
}

/// Copies to host memory need a link whose rate is known.
std::optional<ConfigError>
Scenario::FindConflictOfOffload() const
{
    if (jobs.empty() || !Job().Trains() || Job().plan.offloadLayers == 0)
    {
        return std::nullopt;
    }
    for (const BuildingSpec& building : cluster.buildings)
    {
        if (building.gpu.hostBandwidth == BitRate())
        {
            return ConfigError("plan.offload_layers",
                               std::to_string(Job().plan.offloadLayers) + ", and the GPU " +
                                   building.gpu.name + " of " + building.name +
                                   " does not say how fast it reaches host memory",
                               "0 without gpu.host_bandwidth",
                               "give gpu.host_bandwidth, per direction: 55GB/s of PCIe 5 x16");
        }
    }
    return std::nullopt;
}

std::optional<ConfigError>
Scenario::FindConflict() const
{
    if (const auto conflict = network.FindConflict())
    {
        return conflict;
    }
    if (!jobs.empty())
    {
        if (const auto conflict = Job().plan.FindConflict())
        {
            return conflict;
        }
    }
    if (const auto conflict = FindConflictOfOffload())
    {
        return conflict;
    }
    const bool others = std::any_of(events.begin(), events.end(), [](const EventSpec& event) {
        return event.kind->change == EventChange::Shares;
    });
    const uint32_t largest = kTrafficClasses - 1;
    if (others && !network.classes.AreOne() && (network.classes.Used() >> largest & 1U) != 0)
    {
        return ConfigError("network.classes",
                           "class " + std::to_string(largest) +
                               " is in use, and foreign traffic, which comes before all of the "
                               "job, has the priority above the largest class: there is none left",
                           "classes 0 to " + std::to_string(largest - 1) +
                               " with foreign-traffic among the events",
                           "number the classes from 0, or leave out the event");
    }
    const std::string priority = "ns3::RdmaNic::ForeignPriority";
    if (others && network.ns3Attributes.count(priority) > 0)
    {
        return ConfigError("network.ns3." + priority,
                           "foreign-traffic among the events decides it: the one above the job's",
                           "left out beside it",
                           "leave it out, or the event");
    }
    for (const BuildingSpec& building : cluster.buildings)
    {
        if (!building.fabric.shape->detours || building.Leaves() <= 2)
        {
            continue;
        }
        if (network.multipath->owner == PathOwner::Destination)
        {
            return ConfigError("network.multipath",
                               ToString(network.multipath) +
                                   " deals paths out by destination, and all that goes to one of " +
                                   building.name + " (shape " + ToString(building.fabric.shape) +
                                   ") would take its detour over the same leaf",
                               "paths by queue pair, pair of NICs or packet",
                               "another multipath, or another shape");
        }
        if (network.transport->credits && !network.classes.AreOne())
        {
            return ConfigError("network.classes",
                               "several, and packets on detours over other leaves of " +
                                   building.name + " (shape " + ToString(building.fabric.shape) +
                                   ") change their lanes, which tell classes apart with " +
                                   network.transport->word,
                               "one class there",
                               "leave network.classes out, or take another transport or shape");
        }
        if (network.UsesPfc())
        {
            return ConfigError(
                "network.pfc",
                "true, and packets take detours over other leaves of " + building.name +
                    " (shape " + ToString(building.fabric.shape) +
                    "): pauses would wait for each other in circles",
                "false, or a transport whose lanes tell detours apart",
                "set network.pfc: false, or network.transport: " +
                    Transport::First([](const auto& row) { return row.credits; }).Name());
        }
    }
    for (const BuildingSpec& building : cluster.buildings)
    {
        if (network.collective->library && !building.gpu.architecture->known)
        {
            std::vector<std::string> known;
            for (const ArchitectureFacts* row : Architecture::Rows())
            {
                if (row->known)
                {
                    known.push_back(row->word);
                }
            }
            return ConfigError("network.collective",
                               ToString(network.collective) + ", and of the GPUs of " +
                                   building.name + " (" + building.gpu.name +
                                   ") the architecture is not known to it",
                               "GPUs with an architecture of " + AnyOf(known),
                               "give gpu.architecture, or take another collective");
        }
        const BuildingSpec& first = cluster.buildings.front();
        if (network.collective->library &&
            building.gpu.architecture->rccl != first.gpu.architecture->rccl)
        {
            return ConfigError("network.collective",
                               ToString(network.collective) + ", and GPUs of " + first.name + " (" +
                                   first.gpu.name + ") and of " + building.name + " (" +
                                   building.gpu.name + ") have different libraries",
                               "GPUs of one vendor",
                               "take another collective");
        }
        if (network.collective->library && network.ncclCollnet && building.fabric.shape->detours)
        {
            return ConfigError("network.nccl_collnet",
                               "true, and " + building.name + " is a " +
                                   ToString(building.fabric.shape),
                               "trees of switches, which reduce on the way up",
                               "set network.nccl_collnet: false");
        }
    }
    const auto& links = cluster.crossLinks;
    const bool lossy = std::any_of(links.begin(), links.end(), [](const CrossLinkSpec& link) {
        return !link.pfc;
    });
    if (lossy && !network.transport->pauses)
    {
        return ConfigError("network.transport",
                           ToString(network.transport) +
                               " has no pauses, and a span between buildings says pfc: false",
                           Transport::First([](const auto& other) { return other.pauses; }).Name() +
                               " with such spans",
                           "leave pfc out of cluster.cross");
    }
    return std::nullopt;
}

} // namespace scaleacross
