// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/known-differences.h"

#include "core/base/text.h"

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

/// Less is not worth a word.
constexpr double kNear = 0.05;

} // namespace

const std::vector<KnownDifference>&
KnownDifferences()
{
    static const std::vector<KnownDifference> rows = {
        // Written by analysis/engine_agreement.py.
        {"controls", "analytical", 37, 0.36, 1.06},
        {"controls", "flow", 37, 0.36, 1.15},
        {"controls", "flow:expected", 37, 0.36, 1.13},
        {"infiniband", "analytical", 39, 0.91, 1.15},
        {"infiniband", "flow", 39, 0.92, 1.11},
        {"infiniband", "flow:expected", 39, 0.89, 1.11},
        {"limits", "analytical", 38, 0.95, 1.13},
        {"limits", "flow", 38, 0.98, 1.05},
        {"limits", "flow:expected", 38, 0.93, 1.05},
        {"losses", "analytical", 39, 0.34, 1.35},
        {"losses", "flow", 39, 0.91, 3.33},
        {"losses", "flow:expected", 39, 0.75, 3.33},
        {"schedulers", "analytical", 40, 0.65, 1.11},
        {"schedulers", "flow", 40, 0.92, 1.31},
        {"schedulers", "flow:expected", 40, 0.75, 1.19},
        {"trimming", "analytical", 40, 0.26, 1.01},
        {"trimming", "flow", 40, 0.25, 1.00},
        {"trimming", "flow:expected", 40, 0.25, 1.00},
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
            const bool isFar = row.low < 1 - kNear || row.high > 1 + kNear;
            if (row.kind == std::string(trait.kind) && row.engine == drawn && isFar &&
                trait.has(scenario))
            {
                warnings.push_back(trait.text(scenario) + ": of " + std::to_string(row.studies) +
                                   " drawn studies with it one in ten took " + engine +
                                   " less than " + NumberText(row.low) +
                                   " times, and one in ten more than " + NumberText(row.high) +
                                   " times, what packets take; compare with packet before you "
                                   "choose by it");
            }
        }
    }
    return warnings;
}

} // namespace scaleacross
