// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/known-differences.h"

#include "core/base/text.h"
#include "core/topology/idle-network-words.h"

#include <algorithm>
#include <utility>

namespace scaleacross
{

namespace
{

/// Something that studies have.
struct Trait
{
    const char* kind;
    bool (*has)(const Scenario& scenario);
    std::string (*text)(const Scenario& scenario);
};

/// What holds back a connection until something comes back; empty: nothing.
std::string
LimitsText(const Scenario& scenario)
{
    const NetworkPlan& network = scenario.network;
    bool outstanding = false;
    bool window = false;
    for (const Tier tier : {Tier::Leaf, Tier::Zone, Tier::Building, Tier::Cross})
    {
        outstanding = outstanding || network.QueuePairsAt(tier).outstanding > 0;
        window = window || network.QueuePairsAt(tier).window > Bytes();
    }
    std::string text;
    for (const auto& [has, name] : {std::pair(outstanding, "network.outstanding"),
                                    {window, "network.window"},
                                    {network.admission > Bytes(), "network.admission"},
                                    {network.copy->staged, "network.copy staged"}})
    {
        text += !has ? "" : (text.empty() ? "" : ", ") + std::string(name);
    }
    return text;
}

std::string
TransportText(const Scenario& scenario)
{
    return "network.transport " + scenario.network.transport->word;
}

const std::vector<Trait> kTraits = {
    {"controls",
     [](const Scenario& scenario) { return scenario.network.control->controls; },
     [](const Scenario& scenario) { return "network.control " + scenario.network.control->word; }},
    {"infiniband",
     [](const Scenario& scenario) { return scenario.network.transport->credits; },
     TransportText},
    {"limits", [](const Scenario& scenario) { return !LimitsText(scenario).empty(); }, LimitsText},
    {"losses",
     [](const Scenario& scenario) { return scenario.cluster.LosesPackets(); },
     [](const Scenario&) { return std::string("packets that are lost between buildings"); }},
    {"schedulers",
     [](const Scenario& scenario) { return !scenario.network.qpScheduler->perPacket; },
     [](const Scenario& scenario) {
         return "network.qp_scheduler " + scenario.network.qpScheduler->word;
     }},
    {"trimming",
     [](const Scenario& scenario) { return scenario.network.transport->trimming.has_value(); },
     TransportText},
};

/// What is to know of messages that go by segments, which fluids take for one flow each; empty:
/// nothing. The figures are those of the page on study files, at `balance`.
std::string
SegmentsText(const Scenario& scenario)
{
    const NetworkPlan& network = scenario.network;
    for (const Tier tier : {Tier::Leaf, Tier::Zone, Tier::Building, Tier::Cross})
    {
        const QueuePairUse use = network.QueuePairsAt(tier);
        if (use.balance->splits || use.qps == 1 || !HasTier(scenario.cluster, tier))
        {
            continue;
        }
        const std::string word = "network.balance " + use.balance->word;
        if (use.balance->lastWrite)
        {
            return word + ": last writes wait behind segments of other messages, and packets took "
                          "up to 2.1 times as long as by flow, 8.1 times as by analytical";
        }
        if (network.qpScheduler->perPacket) // others are a kind of their own
        {
            const auto whole =
                QpScheduler::First([](const auto& row) { return !row.perPacket && !row.bursts; });
            return word + " with network.qp_scheduler " + network.qpScheduler->word +
                   ": segments of several messages that a NIC sends packet by packet in turn all "
                   "end late and go round a ring as a bunch, and packets took up to 2.3 times as "
                   "long as by flow, 5 times as by analytical; with network.qp_scheduler: " +
                   whole.Name() + " they do not bunch";
        }
    }
    return "";
}

} // namespace

const std::vector<KnownDifference>&
KnownDifferences()
{
    static const std::vector<KnownDifference> rows = {
        // Written by analysis/engine_agreement.py.
        {"controls", "analytical", 37, 0.36, 1.06, 20, 0.23},
        {"controls", "flow", 37, 0.36, 1.13, 21, 0.23},
        {"controls", "flow:expected", 37, 0.36, 1.13, 24, 0.24},
        {"infiniband", "analytical", 39, 0.91, 1.15, 21, 0.49},
        {"infiniband", "flow", 39, 0.92, 1.09, 15, 0.50},
        {"infiniband", "flow:expected", 39, 0.89, 1.11, 22, 0.50},
        {"limits", "analytical", 57, 0.95, 1.13, 20, 0.63},
        {"limits", "flow", 57, 0.98, 1.02, 4, 1.14},
        {"limits", "flow:expected", 57, 0.93, 1.02, 9, 0.71},
        {"losses", "analytical", 39, 0.34, 1.35, 25, 2.51},
        {"losses", "flow", 39, 0.91, 3.33, 10, 104.26},
        {"losses", "flow:expected", 39, 0.75, 3.33, 13, 104.26},
        {"schedulers", "analytical", 40, 0.65, 1.11, 20, 0.29},
        {"schedulers", "flow", 40, 0.92, 1.31, 18, 2.06},
        {"schedulers", "flow:expected", 40, 0.75, 1.19, 22, 1.98},
        {"trimming", "analytical", 40, 0.26, 1.01, 29, 0.13},
        {"trimming", "flow", 40, 0.25, 1.00, 30, 0.13},
        {"trimming", "flow:expected", 40, 0.25, 1.00, 30, 0.13},
        // End.
    };
    return rows;
}

std::vector<std::string>
WarningsOfKnownDifferences(const Scenario& scenario, const std::string& engine)
{
    const std::string drawn = engine == "flow:sampled" ? "flow" : engine; // paths drawn as there
    std::vector<std::string> warnings;
    for (const Trait& trait : kTraits)
    {
        for (const KnownDifference& row : KnownDifferences())
        {
            const bool isFar = 10 * row.far >= row.studies;
            if (row.kind == std::string(trait.kind) && row.engine == drawn && isFar &&
                trait.has(scenario))
            {
                warnings.push_back(
                    trait.text(scenario) + ": of " + std::to_string(row.studies) +
                    " drawn studies with it one in ten took " + engine + " less than " +
                    NumberText(row.low) + " times, and one in ten more than " +
                    NumberText(row.high) + " times, what packets take; " + std::to_string(row.far) +
                    " were off by more than 5 %, the farthest took " + NumberText(row.worst) +
                    " times that; compare with packet before you choose by it");
            }
        }
    }
    const auto& rows = KnownDifferences();
    const bool isKnown = std::any_of(rows.begin(), rows.end(), [&](const KnownDifference& row) {
        return row.engine == drawn;
    });
    if (const std::string text = isKnown ? SegmentsText(scenario) : ""; !text.empty())
    {
        warnings.push_back(text + "; compare with packet before you choose by it");
    }
    return warnings;
}

} // namespace scaleacross
