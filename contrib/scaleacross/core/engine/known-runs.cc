// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/known-runs.h"

#include "core/spec/canonical-json.h"

#include <algorithm>
#include <utility>

namespace scaleacross
{

namespace
{

/// Plans that do the same follow each other closely in a search: their bounds are equal.
constexpr size_t g_mostRuns = 32;

bool
IsKept(const RunOptions& options)
{
    return options.timeline == Timelines::None && !options.slice;
}

/// Names of buildings and hubs are no part of the canonical text, but of the report.
std::string
KeyOf(const Scenario& scenario, const RunOptions& options)
{
    const NetworkPlan usual;
    Scenario neutral = scenario;
    neutral.network.collective = usual.collective;
    neutral.network.allToAll = usual.allToAll;
    std::string key = CanonicalJson(neutral) + "\n" + std::to_string(options.warmup) + " " +
                      std::to_string(options.iterations);
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        key += "\n" + building.name;
    }
    for (const HubSpec& hub : scenario.cluster.hubs)
    {
        key += "\n" + hub.name;
    }
    return key;
}

} // namespace

std::optional<RunReport>
KnownRuns::Find(const Scenario& scenario, const PreparedRun& run, const RunOptions& options)
{
    if (!IsKept(options))
    {
        return std::nullopt;
    }
    const std::string key = KeyOf(scenario, options);
    const std::vector<Collective>& own = run.graph.collectives;
    const std::lock_guard lock(m_mutex);
    const auto same = std::find_if(m_known.begin(), m_known.end(), [&](const Known& known) {
        return known.scenario == key && known.classOf == run.graph.classOf &&
               std::equal(known.collectives.begin(),
                          known.collectives.end(),
                          own.begin(),
                          own.end(),
                          MoveAlike);
    });
    return same == m_known.end() ? std::nullopt : std::optional(same->report);
}

void
KnownRuns::Keep(const Scenario& scenario,
                const PreparedRun& run,
                const RunOptions& options,
                const RunReport& report)
{
    if (!IsKept(options))
    {
        return;
    }
    Known known{KeyOf(scenario, options), run.graph.classOf, run.graph.collectives, report};
    const std::lock_guard lock(m_mutex);
    m_known.push_back(std::move(known));
    if (m_known.size() > g_mostRuns)
    {
        m_known.pop_front();
    }
}

} // namespace scaleacross
