// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/loss-warnings.h"

#include "core/topology/fabric-graph.h"
#include "core/topology/packet-remedy.h"

#include <algorithm>
#include <cstdint>

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
    const bool limited = network.control->controls || network.admission > Bytes() ||
                         network.QueuePairsAt(Tier::Cross).window > Bytes();
    if (network.transport->pauses && !network.UsesPfc() && !limited)
    {
        warnings.push_back(
            "network.pfc is false, and nothing limits what is under way: what finds "
            "network.leaf_buffer or network.spine_buffer full is dropped and sent again, which "
            "only packets show; say network.pfc: true, network.window or network.control");
    }
    return warnings;
}

std::optional<Duration>
LongestWait(const Scenario& scenario)
{
    const NetworkPlan& network = scenario.network;
    const ClusterSpec& cluster = scenario.cluster;
    if (cluster.crossLinks.empty() || network.transport->credits || network.transport->trimming ||
        network.admission > Bytes())
    {
        return std::nullopt;
    }
    BitRate slowest = LaneRate(cluster, cluster.crossLinks.front());
    for (const CrossLinkSpec& link : cluster.crossLinks)
    {
        slowest = std::min(slowest, LaneRate(cluster, link));
    }
    Bytes ahead = network.spineBuffer;
    const QueuePairUse use = network.QueuePairsAt(Tier::Cross);
    if (use.window > Bytes())
    {
        const Bytes window = std::max(use.window, network.mtu);
        const uint64_t most = ahead.Count() / window.Count(); // the product may be past 64 bits
        const uint64_t pairs = cluster.Gpus() * use.qps;
        ahead = pairs < most ? window * pairs : ahead;
    }
    constexpr double longest = 9e6; // s, which a Duration holds
    return Duration::Seconds(
        std::min(longest, 8.0 * static_cast<double>(ahead.Count()) / slowest.Value()));
}

namespace
{

/// How long a queue pair waits for an answer.
Duration
Patience(const NetworkPlan& network)
{
    return network.Timeout() * (int64_t{network.retries} + 1);
}

/// What is said of a wait that is too long.
std::string
WaitText(const NetworkPlan& network, Duration wait)
{
    return "behind a full buffer at the slowest lane between buildings a packet may wait " +
           ToString(wait) + ", and a queue pair gives up after " + ToString(Patience(network)) +
           " without an answer (network.retries + 1 timeouts of " + ToString(network.Timeout()) +
           "); raise network.timeout_exponent, or lower network.spine_buffer or network.window";
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
RetryLimitRemedy(const Scenario& scenario)
{
    const auto& events = scenario.events;
    if (!events.empty())
    {
        const FabricGraph graph = BuildFabricGraph(scenario.cluster);
        if (CutNicsOff(scenario.cluster, graph, events))
        {
            return "events leave NICs without a way: " + RemedyOfCutOff();
        }
    }
    const auto wait = LongestWait(scenario);
    if (wait && *wait > scenario.network.Timeout())
    {
        return WaitText(scenario.network, *wait);
    }
    return "raise network.timeout_exponent or network.retries";
}

} // namespace scaleacross
