// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/resource-report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
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

std::string
PortName(const NetworkModel& network, const RankClass& rankClass, Port port)
{
    return network.ClassName(rankClass) + " " + kPortNames[static_cast<size_t>(port)];
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
            const NamedLink link = network.Cuts().Named(cut);
            bound = std::max(bound, SecondsOf(bytes, link.Held()));
        }
    }
    return bound;
}

void
NameSeries(NetworkSeries& series, const NetworkModel& network, const TaskGraph& graph)
{
    std::vector<Series> named;
    std::map<std::string, size_t> numbers;
    const uint32_t ports = ResourceUse::Ports(graph);
    for (uint32_t r = 0; r < series.series.size(); r++)
    {
        Series& one = series.series[r];
        if (one.IsIdle())
        {
            continue; // no link may stand behind it
        }
        one.shared = r >= ports;
        if (one.shared)
        {
            const NamedLink link = network.Cuts().Named(r - ports);
            one.name = link.name;
            one.capacity = link.Left();
        }
        else
        {
            const RankClass& rankClass = graph.classes[r / kPorts];
            const auto port = static_cast<Port>(r % kPorts);
            one.name = PortName(network, rankClass, port);
            one.capacity = network.PortRate(rankClass.representative, port);
        }
        const auto [at, added] = numbers.emplace(one.name, named.size());
        if (added)
        {
            named.push_back(std::move(one));
            continue;
        }
        Series& sum = named[at->second];
        sum.capacity = sum.capacity + one.capacity;
        for (uint32_t i = 0; i < series.Steps(); i++)
        {
            sum.values[i] += one.values[i];
        }
    }
    series.series = std::move(named);
}

std::vector<ResourceReport>
ResourcesOf(const ResourceUse& use, const NetworkModel& network, const TaskGraph& graph)
{
    std::vector<ResourceReport> resources;
    // Leaves of a building, or classes of a stage there, that are alike: the fullest.
    const auto add = [&](NamedLink link, double bytes, bool shared) {
        const Bytes rounded(static_cast<uint64_t>(std::llround(bytes)));
        const auto alike =
            std::find_if(resources.begin(), resources.end(), [&](const ResourceReport& other) {
                return other.name == link.name && other.capacity == link.Left();
            });
        if (alike != resources.end())
        {
            alike->bytes = std::max(alike->bytes, rounded);
            alike->held = std::max(alike->held, link.held / link.left);
            return;
        }
        ResourceReport added;
        added.name = std::move(link.name);
        added.bytes = rounded;
        added.capacity = link.Left();
        added.held = link.held / link.left;
        added.shared = shared;
        resources.push_back(std::move(added));
    };
    for (uint32_t cut = 0; cut < network.Cuts().Count(); cut++)
    {
        const double bytes = use.Bytes(ResourceUse::Ports(graph) + cut);
        if (bytes > 0)
        {
            add(network.Cuts().Named(cut), bytes, true);
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
                add({PortName(network, rankClass, port),
                     network.PortRate(rankClass.representative, port)},
                    bytes,
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
    double most = 0; // seconds
    for (ResourceReport& resource : report.resources)
    {
        const double needed =
            SecondsOf(static_cast<double>(resource.bytes.Count()), resource.capacity);
        resource.busy = needed / time;
        const double held = needed / resource.held;
        if (resource.limited && held > time * (1 + kRounding) + kRoundingSeconds && held > most)
        {
            worst = &resource;
            most = held;
        }
    }
    if (worst == nullptr)
    {
        return std::nullopt;
    }
    return worst->name + " carried " + ToString(worst->bytes) + " in an iteration of " +
           ToString(report.iterationTime) + "; its capacity of " +
           ToString(worst->capacity * worst->held) + " needs " + ToString(Duration::Seconds(most)) +
           " for that";
}

} // namespace scaleacross
