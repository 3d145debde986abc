// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/loss-warnings.h"

#include "core/topology/event-target.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/packet-remedy.h"
#include "core/topology/shapes/fabric-shape.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace scaleacross
{

std::vector<std::string>
WarningsOfMeanLosses(const Scenario& scenario)
{
    const NetworkPlan& network = scenario.network;
    if (!scenario.cluster.LosesPackets() || !network.recovery->selective ||
        !network.multipath->MayReorder())
    {
        return {};
    }
    return {"network.multipath " + network.multipath->word +
            ": packets that are lost between buildings may wait for a timeout, " +
            ToString(network.Timeout()) +
            ", which this engine does not have where few messages follow; compare with flow or "
            "packet before you choose by it"};
}

namespace
{

/// The tiers with packets, and what a study calls them.
constexpr std::array<std::pair<Tier, const char*>, 4> kTiers{{{Tier::Leaf, "leaf"},
                                                              {Tier::Zone, "zone"},
                                                              {Tier::Building, "building"},
                                                              {Tier::Cross, "cross"}}};

/// Whether a cluster has GPUs that are so far apart.
bool
HasTier(const ClusterSpec& cluster, Tier tier)
{
    if (tier == Tier::Cross)
    {
        return !cluster.crossLinks.empty();
    }
    return std::any_of(cluster.buildings.begin(),
                       cluster.buildings.end(),
                       [tier](const BuildingSpec& building) {
                           const auto shape = ShapeOf(building);
                           for (uint32_t gpu = 1; gpu < building.gpus; gpu++)
                           {
                               if (shape->TierBetween(0, gpu) == tier)
                               {
                                   return true;
                               }
                           }
                           return false;
                       });
}

/// The least of two amounts of which 0 is any.
uint64_t
LeastOf(uint64_t a, uint64_t b)
{
    return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

uint64_t
Product(uint64_t a, uint64_t b)
{
    constexpr uint64_t most = std::numeric_limits<uint64_t>::max();
    return b != 0 && a > most / b ? most : a * b;
}

/// Bytes that a connection of a tier may have sent and not acknowledged, 0: any number.
uint64_t
MostUnderWay(const NetworkPlan& network, Tier tier)
{
    const QueuePairUse use = network.QueuePairsAt(tier);
    uint64_t ofPair = 0;
    if (use.window > Bytes())
    {
        const uint64_t packet = network.mtu.Count();
        ofPair = std::max<uint64_t>(1, use.window.Count() / packet) * packet;
    }
    if (!use.balance->splits) // into parts of any size
    {
        ofPair = LeastOf(ofPair, Product(use.outstanding, use.segment.Count()));
    }
    const uint64_t slots =
        network.copy->staged
            ? Product(uint64_t{StagedCopy::kSlots} * network.channels, StagedCopy::kSlot.Count())
            : 0;
    return LeastOf(Product(ofPair, use.qps), slots);
}

/// The tiers of a cluster where nothing limits what is under way: "leaf, cross".
std::string
TiersWithoutLimit(const Scenario& scenario)
{
    const NetworkPlan& network = scenario.network;
    std::string text;
    if (network.control->controls || network.admission > Bytes())
    {
        return text;
    }
    for (const auto& [tier, name] : kTiers)
    {
        // Of messages that are split so many may be under way, of whatever size.
        const bool limited =
            MostUnderWay(network, tier) > 0 || network.QueuePairsAt(tier).outstanding > 0;
        if (!limited && HasTier(scenario.cluster, tier))
        {
            text += (text.empty() ? "" : ", ") + std::string(name);
        }
    }
    return text;
}

} // namespace

std::vector<std::string>
WarningsOfRepeats(const Scenario& scenario)
{
    const NetworkPlan& network = scenario.network;
    std::vector<std::string> warnings;
    if (network.multipath->MayReorder() && !network.recovery->selective)
    {
        const Recovery selective =
            Recovery::First([](const RecoveryFacts& other) { return other.selective; });
        warnings.push_back("network.recovery: " + network.recovery.Name() +
                           " sends all again from a packet on that another one overtakes, and "
                           "network.multipath " +
                           network.multipath->word +
                           " lets packets overtake where paths differ by more than the gaps "
                           "between them; say network.recovery: " +
                           selective.Name());
    }
    const auto& spans = scenario.cluster.crossLinks;
    const bool lossySpan = std::any_of(spans.begin(), spans.end(), [](const CrossLinkSpec& span) {
        return !span.pfc;
    });
    if (!network.transport->pauses || (network.UsesPfc() && !lossySpan))
    {
        return warnings;
    }
    const std::string tiers = TiersWithoutLimit(scenario);
    if (!network.UsesPfc() && !tiers.empty())
    {
        warnings.push_back("network.pfc is false, and nothing limits what is under way in tiers " +
                           tiers +
                           ": what finds network.leaf_buffer or network.spine_buffer full is "
                           "dropped and sent again, which only packets show; say network.pfc: "
                           "true, network.window or network.control");
    }
    else if (tiers.find("cross") != std::string::npos)
    {
        warnings.emplace_back(
            "cluster.cross.pfc is false, and nothing limits what is under way between buildings: "
            "what comes over a span and finds network.spine_buffer full is dropped and sent again, "
            "which only packets show; say cluster.cross.pfc: true, network.window or "
            "network.control");
    }
    return warnings;
}

std::optional<Duration>
LongestWait(const Scenario& scenario)
{
    const NetworkPlan& network = scenario.network;
    const ClusterSpec& cluster = scenario.cluster;
    if (cluster.crossLinks.empty() || network.transport->credits || network.transport->trimming ||
        network.admission > Bytes() || network.control->controls)
    {
        return std::nullopt;
    }
    BitRate slowest = LaneRate(cluster, cluster.crossLinks.front());
    for (const CrossLinkSpec& link : cluster.crossLinks)
    {
        slowest = std::min(slowest, LaneRate(cluster, link));
    }
    const uint64_t ahead = LeastOf(network.spineBuffer.Count(),
                                   Product(cluster.Gpus(), MostUnderWay(network, Tier::Cross)));
    constexpr double longest = 9e6; // s, which a Duration holds
    return Duration::Seconds(std::min(longest, 8.0 * static_cast<double>(ahead) / slowest.Value()));
}

namespace
{

/// How long a queue pair waits for an answer.
Duration
Patience(const NetworkPlan& network)
{
    return network.Timeout() * (int64_t{network.retries} + 1);
}

/// After which a queue pair gives up, and why.
std::string
PatienceText(const NetworkPlan& network)
{
    return "a queue pair gives up after " + ToString(Patience(network)) +
           " without an answer (network.retries + 1 timeouts of " + ToString(network.Timeout()) +
           "); raise network.timeout_exponent";
}

/// What is said of a wait that is too long.
std::string
WaitText(const NetworkPlan& network, Duration wait)
{
    const bool ofTier = network.tiers[static_cast<size_t>(Tier::Cross) - 1].window.has_value();
    const std::string window = ofTier ? "network.tiers.cross.window" : "network.window";
    const bool given = network.QueuePairsAt(Tier::Cross).window > Bytes();
    return "behind a full buffer at the slowest lane between buildings a packet may wait " +
           ToString(wait) + ", and " + PatienceText(network) +
           (given ? ", or lower network.spine_buffer or " + window
                  : ", lower network.spine_buffer, or set " + window + " or network.control");
}

/// When the network is as it was before an event that takes links down; the latest time there is
/// where it never is.
Duration
BackAt(const EventSpec& event)
{
    if (event.kind->change == EventChange::Flaps)
    {
        return event.at + event.down;
    }
    return event.until > Duration() ? event.until : Duration::Max();
}

/// Of what takes links down before `now`, that which leaves NICs without a way for longer than
/// `patience`, together with what is down at the same time: its number. None: nothing does.
std::optional<size_t>
EventThatCutsOff(const Scenario& scenario, Duration patience, Duration now)
{
    const auto& events = scenario.events;
    const auto begun = [&](const EventSpec& event, Duration by) {
        const EventChange change = event.kind->change;
        return (change == EventChange::Fails || change == EventChange::Flaps) && event.at <= by;
    };
    if (std::none_of(events.begin(), events.end(), [&](const EventSpec& e) {
            return begun(e, now);
        }))
    {
        return std::nullopt;
    }
    const FabricGraph graph = BuildFabricGraph(scenario.cluster);
    for (size_t last = 0; last < events.size(); last++)
    {
        std::vector<bool> isDown(graph.links.size(), false);
        const Duration from = events[last].at;
        const auto lasts = [&](const EventSpec& event) {
            return begun(event, from) && from < now && BackAt(event) > from &&
                   BackAt(event) - from > patience;
        };
        for (size_t i = 0; lasts(events[last]) && i < events.size(); i++)
        {
            if (lasts(events[i]))
            {
                const std::string place = PlaceOf(events, i);
                for (const uint32_t l : TargetOf(scenario.cluster, graph, events[i], place).links)
                {
                    isDown[l] = true;
                }
            }
        }
        if (CutNicsOff(graph, isDown))
        {
            return last;
        }
    }
    return std::nullopt;
}

} // namespace

std::vector<std::string>
WarningsOfLongWaits(const Scenario& scenario)
{
    const auto wait = LongestWait(scenario);
    if (!wait || *wait <= Patience(scenario.network))
    {
        return {};
    }
    return {WaitText(scenario.network, *wait)};
}

std::string
RetryLimitRemedy(const Scenario& scenario, Duration now)
{
    const NetworkPlan& network = scenario.network;
    const Duration patience = Patience(network);
    // Tables lead to what is back only when it has been seen, and all switches know.
    const Duration unseen = network.detection + network.convergence;
    const Duration atLeast = std::max(Duration(), patience - unseen);
    if (const auto cause = EventThatCutsOff(scenario, atLeast, now))
    {
        const EventSpec& event = scenario.events[*cause];
        const std::string name = PlaceOf(scenario.events, *cause) + " (" + event.kind.Name() +
                                 " of " + event.target + ")";
        const Duration back = BackAt(event);
        return name + " leaves NICs without a way " +
               (back == Duration::Max()
                    ? "for good: " + RemedyOfCutOff()
                    : "for " + ToString(back - event.at) + ", and " + PatienceText(network) +
                          ", let it end sooner, leave a link, or give the cluster a second way");
    }
    const auto wait = LongestWait(scenario);
    if (wait && *wait > patience)
    {
        return WaitText(network, *wait);
    }
    return "raise network.timeout_exponent or network.retries";
}

} // namespace scaleacross
