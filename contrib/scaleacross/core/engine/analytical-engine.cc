// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/analytical-engine.h"

#include "core/engine/program-evaluator.h"
#include "core/engine/resource-report.h"

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

uint32_t
AnalyticalEngine::ResultVersion() const
{
    return 10;
}

RunResult
AnalyticalEngine::Run(const Scenario& scenario, const RunOptions& options) const
{
    auto prepared = PrepareRun(scenario);
    if (auto* no = std::get_if<Infeasible>(&prepared))
    {
        return *no;
    }
    const PreparedRun& run = std::get<PreparedRun>(prepared);
    const NetworkModel network(scenario, run.layout, m_facts.Of(scenario));
    RunReport report;
    report.engine = Name();
    const TransferTimes times = TimesOf(network);
    ClassCosts costs(run.graph, times);
    const ResourceUse use(run.graph, costs);
    EvaluateProgram(run.graph, costs, use, options, report);
    report.resources = ResourcesOf(use, network, run.graph);
    CheckResources(report);
    CompleteReport(scenario, run, report);
    return report;
}

} // namespace scaleacross
