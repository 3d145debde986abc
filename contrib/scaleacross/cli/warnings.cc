// SPDX-License-Identifier: GPL-2.0-only

#include "cli/warnings.h"

#include "cli/engines.h"
#include "core/engine/known-differences.h"
#include "core/engine/loss-warnings.h"
#include "core/spec/without-effect.h"
#include "core/topology/fast-links.h"
#include "core/topology/idle-network-words.h"
#include "core/topology/switch-headroom.h"
#include "core/work/graph/trace-graph.h"
#include "core/work/memory/memory.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

void
Append(const std::vector<std::string>& more, std::vector<std::string>& warnings)
{
    warnings.insert(warnings.end(), more.begin(), more.end());
}

/// Whether the engine of this word has what the member says.
bool
Has(const std::string& engine, bool EngineRow::*member)
{
    const auto& engines = EngineRows();
    return std::any_of(engines.begin(), engines.end(), [&](const EngineRow& row) {
        return row.*member && row.word == engine;
    });
}

/// What is said of attributes that only packets have.
std::vector<std::string>
AttributeWarnings(const NetworkPlan& network, const std::string& engine)
{
    std::string names;
    for (const auto& [name, value] : network.ns3Attributes)
    {
        names += (names.empty() ? "" : ", ") + name;
    }
    if (names.empty())
    {
        return {};
    }
    return {"network.ns3: " + names + " changes packets only, and " + engine +
            " leaves it out; compare with packet before you choose by it"};
}

} // namespace

std::vector<std::string>
WarningsOf(const Scenario& scenario,
           const std::string& engine,
           const std::vector<SearchAxis>& search,
           const RunReport* report)
{
    std::vector<std::string> warnings;
    if (scenario.Job().trace) // of which neither model nor plan is looked at
    {
        Append(TraceWarnings(scenario), warnings);
    }
    else
    {
        Append(scenario.Job().model.warnings, warnings);
        Append(MemoryWarnings(scenario), warnings);
        Append(WarningsOfNoEffect(scenario, search), warnings);
    }
    Append(NetworkWarnings(scenario, engine, report), warnings);
    return warnings;
}

std::vector<std::string>
NetworkWarnings(const Scenario& scenario, const std::string& engine, const RunReport* report)
{
    const Scenario met = report != nullptr ? WithoutIdleLosses(scenario, *report) : scenario;
    std::vector<std::string> warnings = FastLinkWarnings(scenario.cluster);
    if (Has(engine, &EngineRow::meanLosses))
    {
        Append(WarningsOfMeanLosses(met), warnings);
    }
    Append(WarningsOfRepeats(scenario), warnings);
    Append(WarningsOfLongWaits(scenario), warnings);
    Append(WarningsOfKnownDifferences(met, engine), warnings);
    Append(WarningsOfIdleNetworkWords(scenario.cluster, scenario.network), warnings);
    // The packet engine has buffers, and has refused them if they are too small.
    if (!Has(engine, &EngineRow::packets))
    {
        Append(HeadroomWarnings(scenario.cluster, scenario.network), warnings);
        Append(AttributeWarnings(scenario.network, engine), warnings);
    }
    return warnings;
}

} // namespace scaleacross
