// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/span-quantity.h"

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/topology/switch-headroom.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>

namespace scaleacross
{

namespace
{

std::string
FourDigits(double value)
{
    std::array<char, 32> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.4g", value);
    return buffer.data();
}

/// Values of a study outside of a range widen it.
ValueRange
Widened(double least, double most, double own)
{
    return own > 0 ? ValueRange{std::min(least, own), std::max(most, own)}
                   : ValueRange{least, most};
}

/// Sets something of all spans so that the greatest is `value`: by their ratio, or, where all are
/// 0, alike.
template <class Get, class Set>
void
ScaleSpans(Scenario& scenario, double own, double value, Get get, Set set)
{
    for (CrossLinkSpec& span : scenario.cluster.crossLinks)
    {
        set(span, own > 0 ? get(span) * (value / own) : value);
    }
}

const CrossLinkSpec&
Scarcest(const ClusterSpec& cluster)
{
    return *std::min_element(cluster.crossLinks.begin(),
                             cluster.crossLinks.end(),
                             [](const auto& a, const auto& b) { return a.capacity < b.capacity; });
}

/// An axis of a search decides it for every plan, whatever the study says.
std::optional<ConfigError>
SearchedAlready(const Study& study, const std::string& key)
{
    for (const auto& axis : study.search)
    {
        if (axis.key == key)
        {
            return ConfigError(
                "search." + key,
                "the search sets this for every plan, so that it cannot be asked for",
                "what the study does not search",
                "leave search." + key + " out");
        }
    }
    return std::nullopt;
}

SpanQuantity
Capacity()
{
    SpanQuantity quantity;
    quantity.word = "span-capacity";
    quantity.key = "cluster.cross.capacity";
    quantity.unit = "bps";
    quantity.help = "capacity of a span, per direction; the scarcest where they differ";
    quantity.get = [](const Scenario& scenario) {
        return Scarcest(scenario.cluster).capacity.Value();
    };
    quantity.set = [get = quantity.get](Scenario& scenario, double value) {
        ScaleSpans(
            scenario,
            get(scenario),
            value,
            [](const CrossLinkSpec& span) { return span.capacity.Value(); },
            [](CrossLinkSpec& span, double bps) { span.capacity = BitRate(bps); });
    };
    quantity.text = [](const Scenario& scenario) {
        const CrossLinkSpec& span = Scarcest(scenario.cluster);
        const auto over = OversubscriptionOf(scenario.cluster, span);
        return ToString(span.capacity) + (over ? " (1:" + FourDigits(*over) + ")" : "");
    };
    // From as much as the NICs have, which more would not help, to a thousandth of it.
    quantity.range = [](const Scenario& scenario) {
        const ClusterSpec& cluster = scenario.cluster;
        const double own = Scarcest(cluster).capacity.Value();
        double greatest = 1;
        for (const CrossLinkSpec& span : cluster.crossLinks)
        {
            greatest = std::max(greatest, OversubscriptionOf(cluster, span).value_or(1));
        }
        return Widened(own * greatest / 1000, own * greatest, own);
    };
    return quantity;
}

SpanQuantity
Length()
{
    SpanQuantity quantity;
    quantity.word = "distance";
    quantity.key = "cluster.cross.distance";
    quantity.unit = "km";
    quantity.help = "fibre of a span, the longest where they differ; latency follows";
    quantity.sense = Sense::Greatest;
    quantity.get = [](const Scenario& scenario) {
        double farthest = 0;
        for (const CrossLinkSpec& span : scenario.cluster.crossLinks)
        {
            farthest = std::max(farthest, span.distance.Value());
        }
        return farthest;
    };
    quantity.set = [get = quantity.get](Scenario& scenario, double value) {
        const auto length = [](const CrossLinkSpec& span) { return span.distance.Value(); };
        ScaleSpans(scenario, get(scenario), value, length, [](CrossLinkSpec& span, double km) {
            // A latency that the study gives is more than that of fibre by what devices take, or is
            // of another way: what it has beyond fibre stays.
            const double beyond = span.latency.S() - FibreDelay(span.distance).S();
            span.distance = Distance(km);
            span.latency = Duration::Seconds(std::max(0.0, FibreDelay(span.distance).S() + beyond));
        });
    };
    quantity.text = [get = quantity.get](const Scenario& scenario) {
        return ToString(Distance(get(scenario)));
    };
    // From the same site to half way round the Earth.
    quantity.range = [get = quantity.get](const Scenario& scenario) {
        return Widened(0.1, 20000, get(scenario));
    };
    return quantity;
}

SpanQuantity
PacketLoss()
{
    SpanQuantity quantity;
    quantity.word = "packet-loss";
    quantity.key = "cluster.cross.loss";
    quantity.unit = "1";
    quantity.help = "probability that a span loses a packet, the greatest where they differ";
    quantity.sense = Sense::Greatest;
    quantity.get = [](const Scenario& scenario) {
        double most = 0;
        for (const CrossLinkSpec& span : scenario.cluster.crossLinks)
        {
            most = std::max(most, span.loss);
        }
        return most;
    };
    quantity.set = [get = quantity.get](Scenario& scenario, double value) {
        ScaleSpans(
            scenario,
            get(scenario),
            value,
            [](const CrossLinkSpec& span) { return span.loss; },
            [](CrossLinkSpec& span, double loss) { span.loss = loss; });
    };
    quantity.text = [get = quantity.get](const Scenario& scenario) {
        return FourDigits(get(scenario));
    };
    quantity.range = [get = quantity.get](const Scenario& scenario) {
        return Widened(1e-9, 0.1, get(scenario));
    };
    return quantity;
}

/// A plan counts only where spine buffers hold the headroom of PFC: the times of an engine without
/// buffers are those of a network that loses nothing.
Filter
HoldsHeadroom(const Filter& filter)
{
    // The cluster is the same for all plans of a search, so that the network decides alone.
    struct Verdicts
    {
        std::mutex mutex;
        std::map<std::string, std::optional<Infeasible>> ofNetwork;
    };

    const auto verdicts = std::make_shared<Verdicts>();
    return
        [filter, verdicts](const Scenario& scenario,
                           const IsWorthMore& isWorthMore) -> std::variant<ClosedForm, Infeasible> {
            NetworkPlan network = scenario.network;
            network.leafBuffer = Bytes(1ULL << 44); // the leaves' is another question
            const std::string text = CanonicalText({ParallelPlan(), network});
            std::optional<Infeasible> refusal;
            {
                const std::lock_guard lock(verdicts->mutex);
                const auto known = verdicts->ofNetwork.find(text);
                if (known == verdicts->ofNetwork.end())
                {
                    const auto warnings = HeadroomWarnings(scenario.cluster, network);
                    if (!warnings.empty())
                    {
                        refusal = Infeasible{"headroom", warnings.front()};
                    }
                    verdicts->ofNetwork.emplace(text, refusal);
                }
                else
                {
                    refusal = known->second;
                }
            }
            if (refusal)
            {
                return *refusal;
            }
            return filter(scenario, isWorthMore);
        };
}

/// An amount of memory of the network plan.
SpanQuantity
Memory(const std::string& word,
       const std::string& key,
       Bytes NetworkPlan::*member,
       ValueRange range)
{
    SpanQuantity quantity;
    quantity.word = word;
    quantity.key = key;
    quantity.unit = "B";
    quantity.get = [member](const Scenario& scenario) {
        return static_cast<double>((scenario.network.*member).Count());
    };
    quantity.set = [member](Scenario& scenario, double value) {
        scenario.network.*member = Bytes(static_cast<uint64_t>(std::llround(value)));
    };
    quantity.text = [member](const Scenario& scenario) {
        return ToString(scenario.network.*member);
    };
    quantity.range = [range, get = quantity.get](const Scenario& scenario) {
        return Widened(range.least, range.most, get(scenario));
    };
    quantity.refusal = [key](const Study& study) { return SearchedAlready(study, key); };
    return quantity;
}

SpanQuantity
Buffer()
{
    SpanQuantity quantity =
        Memory("buffer",
               "network.spine_buffer",
               &NetworkPlan::spineBuffer,
               {static_cast<double>(1ULL << 16), static_cast<double>(1ULL << 44)});
    quantity.help = "packet buffer of a spine; a plan counts where it holds the headroom of PFC";
    quantity.filter = HoldsHeadroom;
    return quantity;
}

SpanQuantity
Credits()
{
    SpanQuantity quantity =
        Memory("lane-credits",
               "network.lane_credits",
               &NetworkPlan::laneCredits,
               {static_cast<double>(16ULL << 10), static_cast<double>(1ULL << 40)});
    quantity.help = "with infiniband: credits of a lane of a wire";
    quantity.refusal = [](const Study& study) -> std::optional<ConfigError> {
        const auto words = SearchSpace(study).ValuesOf("network.transport");
        if (std::none_of(words.begin(), words.end(), [](const std::string& word) {
                return Transport(word)->credits;
            }))
        {
            return ConfigError(
                "--of lane-credits",
                "no plan of the study has a transport with credits",
                "a study with network.transport: " +
                    Transport::First([](const auto& row) { return row.credits; }).Name(),
                "ask for another quantity");
        }
        return SearchedAlready(study, "network.lane_credits");
    };
    return quantity;
}

} // namespace

const std::vector<SpanQuantity>&
SpanQuantities()
{
    static const std::vector<SpanQuantity> quantities = [] {
        std::vector<SpanQuantity> all{Capacity(), Length(), Buffer(), Credits(), PacketLoss()};
        for (SpanQuantity& quantity : all)
        {
            if (!quantity.refusal)
            {
                quantity.refusal = [](const Study&) { return std::nullopt; };
            }
            if (!quantity.filter)
            {
                quantity.filter = [](const Filter& filter) { return filter; };
            }
        }
        return all;
    }();
    return quantities;
}

const SpanQuantity*
FindSpanQuantity(const std::string& word)
{
    for (const SpanQuantity& quantity : SpanQuantities())
    {
        if (quantity.word == word)
        {
            return &quantity;
        }
    }
    return nullptr;
}

std::optional<double>
OversubscriptionOf(const ClusterSpec& cluster, const CrossLinkSpec& span)
{
    std::optional<double> nics;
    uint32_t most = 1; // spans of the end that has more of them
    for (const uint32_t site : {span.a, span.b})
    {
        if (site >= cluster.buildings.size())
        {
            continue; // a hub has no NICs, and its spans are the buildings' concern
        }
        const double own = cluster.buildings[site].NicCapacity().Value();
        nics = std::min(nics.value_or(own), own);
        const auto spans = std::count_if(
            cluster.crossLinks.begin(),
            cluster.crossLinks.end(),
            [site](const CrossLinkSpec& link) { return link.a == site || link.b == site; });
        most = std::max(most, static_cast<uint32_t>(spans));
    }
    return nics ? std::optional<double>(*nics / (span.capacity.Value() * most)) : std::nullopt;
}

} // namespace scaleacross
