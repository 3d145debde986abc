// SPDX-License-Identifier: GPL-2.0-only

#include "cli/warnings.h"

#include "cli/engines.h"
#include "core/engine/loss-warnings.h"
#include "core/spec/without-effect.h"
#include "core/topology/fast-links.h"
#include "core/topology/switch-headroom.h"
#include "core/work/graph/trace-graph.h"
#include "core/work/memory/memory.h"

#include <algorithm>

namespace scaleacross
{

std::vector<std::string>
WarningsOf(const Scenario& scenario, const std::string& engine)
{
    std::vector<std::string> warnings;
    const auto add = [&warnings](const std::vector<std::string>& more) {
        warnings.insert(warnings.end(), more.begin(), more.end());
    };
    if (scenario.Job().trace) // of which neither model nor plan is looked at
    {
        add(TraceWarnings(scenario));
    }
    else
    {
        add(scenario.Job().model.warnings);
        add(MemoryWarnings(scenario));
        add(WarningsOfNoEffect(scenario));
    }
    add(FastLinkWarnings(scenario.cluster));
    const auto& engines = EngineRows();
    if (std::any_of(engines.begin(), engines.end(), [&engine](const EngineRow& row) {
            return row.meanLosses && row.word == engine;
        }))
    {
        add(WarningsOfMeanLosses(scenario));
    }
    // The packet engine has buffers, and has refused them if they are too small.
    if (std::none_of(engines.begin(), engines.end(), [&engine](const EngineRow& row) {
            return row.packets && row.word == engine;
        }))
    {
        add(HeadroomWarnings(scenario.cluster, scenario.network));
    }
    return warnings;
}

} // namespace scaleacross
