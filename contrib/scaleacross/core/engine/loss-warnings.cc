// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/loss-warnings.h"

#include "core/topology/cluster-paths.h"
#include "core/topology/event-target.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/idle-network-words.h"
#include "core/topology/packet-remedy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace scaleacross
{

Scenario
WithoutIdleLosses(Scenario scenario, const RunReport& report)
{
    if (report.resources.empty())
    {
        return scenario;
    }
    const ClusterSpec& cluster = scenario.cluster;
    for (CrossLinkSpec& span : scenario.cluster.crossLinks)
    {
        const std::string a = cluster.SiteName(span.a);
        const std::string b = cluster.SiteName(span.b);
        const bool isUsed =
            std::any_of(report.resources.begin(),
                        report.resources.end(),
                        [&](const ResourceReport& link) {
                            return link.bytes > Bytes() && link.shared &&
                                   (link.name == a + " to " + b || link.name == b + " to " + a);
                        });
        span.loss = isUsed ? span.loss : 0;
    }
    return scenario;
}

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

namespace
{

/// LongestWait() where no buffer holds more than `buffer`.
std::optional<Duration>
WaitBehind(const Scenario& scenario, Bytes buffer)
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
    const uint64_t ahead =
        LeastOf(buffer.Count(), Product(cluster.Gpus(), MostUnderWay(network, Tier::Cross)));
    constexpr double longest = 9e6; // s, which a Duration holds
    return Duration::Seconds(std::min(longest, 8.0 * static_cast<double>(ahead) / slowest.Value()));
}

} // namespace

std::optional<Duration>
LongestWait(const Scenario& scenario)
{
    return WaitBehind(scenario, scenario.network.spineBuffer);
}

namespace
{

/// What an answer takes on an empty way: there a full packet is stored at every switch, and back
/// an ACK, whose bits count for nothing.
Duration
AnswerTime(const NetworkPlan& network, const FabricPath& path)
{
    Duration time = path.propagation * 2;
    for (const BitRate rate : path.rates)
    {
        time += SerialisationTime(network.mtu, rate);
    }
    return time;
}

/// The longest AnswerTime() of a cluster.
Duration
LongestAnswer(const Scenario& scenario)
{
    const ClusterSpec& cluster = scenario.cluster;
    const ClusterPaths paths(cluster);
    Duration longest;
    const auto see = [&](uint32_t a, uint32_t b) {
        longest = std::max(longest, AnswerTime(scenario.network, paths.Between(a, b)));
    };
    for (uint32_t b = 0; b < cluster.buildings.size(); b++)
    {
        const uint32_t first = cluster.FirstGpu(b);
        see(first, first + cluster.buildings[b].gpus - 1);
        for (uint32_t other = 0; other < b; other++)
        {
            see(first, cluster.FirstGpu(other));
        }
    }
    return longest;
}

/// What is said where a timeout is shorter than an answer takes; the remedy has twice that, for
/// packets that wait on their way.
std::optional<std::string>
ShortTimeoutText(const NetworkPlan& network, Duration answer)
{
    if (network.Timeout() > answer)
    {
        return std::nullopt;
    }
    NetworkPlan enough = network;
    while (enough.timeoutExponent < NetworkPlan::kMostTimeoutExponent &&
           enough.Timeout() < answer * 2)
    {
        enough.timeoutExponent++;
    }
    return "network.timeout_exponent: after a timeout of " + ToString(network.Timeout()) +
           " what is not acknowledged is sent again, and an answer takes " + ToString(answer) +
           " on an empty network; set network.timeout_exponent: " +
           std::to_string(enough.timeoutExponent) + " or more";
}

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

/// What is said of a wait that is too long, behind so full a buffer.
std::string
WaitText(const NetworkPlan& network, const std::string& buffer, Duration wait)
{
    const bool ofTier = network.tiers[static_cast<size_t>(Tier::Cross) - 1].window.has_value();
    const std::string window = ofTier ? "network.tiers.cross.window" : "network.window";
    const bool given = network.QueuePairsAt(Tier::Cross).window > Bytes();
    return "behind " + buffer + " at the slowest lane between buildings a packet may wait " +
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
    std::vector<std::string> warnings;
    if (const auto text = ShortTimeoutText(scenario.network, LongestAnswer(scenario)))
    {
        warnings.push_back(*text);
    }
    const auto wait = LongestWait(scenario);
    if (wait && *wait > Patience(scenario.network))
    {
        warnings.push_back(WaitText(scenario.network, "a full buffer", *wait));
    }
    return warnings;
}

namespace
{

/// What happened to packets of a queue pair that gave up while nothing was cut off.
std::vector<std::string>
CausesOf(const Scenario& scenario, const UnansweredPair& pair)
{
    const NetworkPlan& network = scenario.network;
    std::vector<std::string> causes;
    const Duration answer = AnswerTime(network, PathBetween(scenario.cluster, pair.from, pair.to));
    const Bytes held = std::min(network.spineBuffer, pair.peak);
    const auto wait = held > Bytes() ? WaitBehind(scenario, held) : std::nullopt;
    if (const auto text = ShortTimeoutText(network, answer))
    {
        causes.push_back(*text); // so that buffers hold what need not have been sent again
    }
    else if (wait && *wait > Patience(network))
    {
        const bool full = pair.peak >= network.spineBuffer;
        causes.push_back(
            WaitText(network,
                     full ? "a full buffer" : "the " + ToString(held) + " that it held",
                     *wait));
    }
    if (pair.dropped > 0)
    {
        causes.push_back(
            std::to_string(pair.dropped) +
            " packets found the buffer of a switch full and were dropped; set " +
            (network.transport->pauses && !network.UsesPfc() ? "network.pfc: true, " : "") +
            "network.window or network.control");
    }
    if (pair.lost > 0)
    {
        causes.push_back("wires lost " + std::to_string(pair.lost) +
                         " packets by chance, the last ones of messages or their answers among "
                         "them, which only a timeout repairs; raise network.retries (" +
                         std::to_string(NetworkPlan().retries) + " is usual)");
    }
    return causes;
}

} // namespace

std::string
RetryLimitRemedy(const Scenario& scenario, const UnansweredPair& pair)
{
    const NetworkPlan& network = scenario.network;
    const Duration patience = Patience(network);
    // Tables lead to what is back only when it has been seen, and all switches know.
    const Duration unseen = network.detection + network.convergence;
    const Duration atLeast = std::max(Duration(), patience - unseen);
    if (const auto cause = EventThatCutsOff(scenario, atLeast, pair.now))
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
    std::string text;
    for (const std::string& cause : CausesOf(scenario, pair))
    {
        text += (text.empty() ? "" : "; ") + cause;
    }
    return text.empty() ? "raise network.timeout_exponent or network.retries" : text;
}

} // namespace scaleacross
