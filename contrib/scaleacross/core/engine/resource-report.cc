// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/resource-report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

/// Times are whole picoseconds: what rounding each of many transfers may add up to, as a share and
/// where all of it is next to nothing.
constexpr double kRounding = 1e-6;
constexpr double kRoundingSeconds = 1e-9;

constexpr std::array<const char*, kPorts> kPortNames = {"scale-up out",
                                                        "scale-up in",
                                                        "NIC out",
                                                        "NIC in"};

double
SecondsOf(double bytes, BitRate capacity)
{
    return bytes * 8.0 / capacity.Value();
}

} // namespace

double
CutBound(const ResourceUse& use, const NetworkModel& network, const TaskGraph& graph)
{
    double bound = 0;
    for (uint32_t cut = 0; cut < network.Cuts().Count(); cut++)
    {
        const double bytes = use.InevitableBytes(ResourceUse::Ports(graph) + cut);
        if (bytes > 0)
        {
            bound = std::max(bound, SecondsOf(bytes, network.Cuts().Named(cut).capacity));
        }
    }
    return bound;
}

std::vector<ResourceReport>
ResourcesOf(const ResourceUse& use, const NetworkModel& network, const TaskGraph& graph)
{
    std::vector<ResourceReport> resources;
    // Leaves of a building, or classes of a stage there, that are alike: the fullest.
    const auto add = [&](std::string name, double bytes, BitRate capacity, bool shared) {
        const Bytes rounded(static_cast<uint64_t>(std::llround(bytes)));
        const auto alike =
            std::find_if(resources.begin(), resources.end(), [&](const ResourceReport& other) {
                return other.name == name && other.capacity == capacity;
            });
        if (alike != resources.end())
        {
            alike->bytes = std::max(alike->bytes, rounded);
            return;
        }
        ResourceReport added;
        added.name = std::move(name);
        added.bytes = rounded;
        added.capacity = capacity;
        added.shared = shared;
        resources.push_back(std::move(added));
    };
    for (uint32_t cut = 0; cut < network.Cuts().Count(); cut++)
    {
        const double bytes = use.Bytes(ResourceUse::Ports(graph) + cut);
        if (bytes > 0)
        {
            NamedLink link = network.Cuts().Named(cut);
            add(std::move(link.name), bytes, link.capacity, true);
        }
    }
    for (uint32_t c = 0; c < graph.classes.size(); c++)
    {
        for (uint32_t p = 0; p < kPorts; p++)
        {
            const auto port = static_cast<Port>(p);
            const double bytes = use.Bytes(ResourceUse::OfPort(c, port));
            if (bytes > 0)
            {
                const RankClass& rankClass = graph.classes[c];
                add(network.ClassName(rankClass) + " " + kPortNames[p],
                    bytes,
                    network.PortRate(rankClass.representative, port),
                    false);
            }
        }
    }
    return resources;
}

std::optional<std::string>
FillBusy(RunReport& report)
{
    const double time = report.iterationTime.S();
    const ResourceReport* worst = nullptr;
    for (ResourceReport& resource : report.resources)
    {
        const double needed =
            SecondsOf(static_cast<double>(resource.bytes.Count()), resource.capacity);
        resource.busy = needed / time;
        if (resource.limited && needed > time * (1 + kRounding) + kRoundingSeconds &&
            (worst == nullptr || resource.busy > worst->busy))
        {
            worst = &resource;
        }
    }
    if (worst == nullptr)
    {
        return std::nullopt;
    }
    return worst->name + " carried " + ToString(worst->bytes) + " in an iteration of " +
           ToString(report.iterationTime) + "; its capacity of " + ToString(worst->capacity) +
           " needs " + ToString(Duration::Seconds(worst->busy * time)) + " for that";
}

} // namespace scaleacross
