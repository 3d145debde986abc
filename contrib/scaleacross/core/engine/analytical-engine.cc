// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/analytical-engine.h"

#include "core/base/errors.h"
#include "core/base/version.h"
#include "core/engine/program-evaluator.h"
#include "core/engine/resource-report.h"
#include "core/spec/canonical-json.h"

#include <optional>
#include <string>
#include <utility>

namespace scaleacross
{

std::string
AnalyticalEngine::Name() const
{
    return "analytical";
}

bool
AnalyticalEngine::UsesSeed() const
{
    return false;
}

std::string
AnalyticalEngine::Fingerprint() const
{
    return SourceHash(Sources::Core);
}

RunResult
AnalyticalEngine::Run(const Scenario& scenario, const RunOptions& options) const
{
    auto prepared = PrepareRun(scenario, options.slice);
    if (auto* no = std::get_if<Infeasible>(&prepared))
    {
        return *no;
    }
    const PreparedRun& run = std::get<PreparedRun>(prepared);
    if (const auto known = m_runs.Find(scenario, run, options))
    {
        return *known;
    }
    RunReport report = RunAnalytically(scenario, run, options, m_facts.Of(scenario));
    report.engine = Name();
    m_runs.Keep(scenario, run, options, report);
    return report;
}

RunReport
RunAnalytically(const Scenario& scenario,
                const PreparedRun& run,
                const RunOptions& options,
                std::shared_ptr<const NetworkFacts> facts,
                const std::function<void(TransferTimes&)>& change)
{
    const NetworkModel network(scenario, run.layout, std::move(facts));
    TransferTimes times = TimesOf(network);
    if (change)
    {
        change(times);
    }
    ClassCosts costs(run.graph, times);
    const ResourceUse use(run.graph, costs);
    // An iteration after the warm-up may not be steady yet: classes begin theirs at times of their
    // own, and the longest of them may hold less than an iteration of the others. What the links
    // had to carry tells; more iterations are measured then, and their mean is reported.
    constexpr uint32_t kMostIterations = 256;
    RunReport report;
    std::optional<std::string> tooFast;
    RunOptions longer = options;
    while (true)
    {
        report = RunReport();
        EvaluateProgram(run.graph, costs, use, longer, report);
        report.resources = ResourcesOf(use, network, run.graph);
        if (report.timeline)
        {
            NameSeries(report.timeline->network, network, run.graph);
        }
        CompleteReport(scenario, run, report);
        tooFast = FillBusy(report);
        if (!tooFast || run.graph.once || longer.iterations > kMostIterations)
        {
            break;
        }
        longer.warmup += longer.iterations;
        longer.iterations *= 2;
    }
    SCALEACROSS_INVARIANT(!tooFast,
                          *tooFast + "; over " + std::to_string(report.iterations) +
                              " iterations of the scenario\n  " + CanonicalJson(scenario));
    return report;
}

} // namespace scaleacross
