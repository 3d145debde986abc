// SPDX-License-Identifier: GPL-2.0-only

#include "cli/models/foreign-engine.h"

#include "core/base/errors.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace scaleacross
{

ForeignEngine::ForeignEngine(std::string name)
    : m_name(std::move(name))
{
}

std::string
ForeignEngine::Name() const
{
    return m_name;
}

bool
ForeignEngine::UsesSeed() const
{
    return false;
}

RunResult
ForeignEngine::Run(const Scenario& scenario, const RunOptions& options) const
{
    const auto start = std::chrono::steady_clock::now();
    if (options.slice)
    {
        throw ConfigError("--slice",
                          "a model of somebody else's has a time for plans as a whole",
                          "analytical, flow, flow:sampled, flow:expected or packet",
                          "");
    }
    if (options.timeline != Timelines::None)
    {
        throw ConfigError(
            "--trace",
            "a model of somebody else's has a time for plans as a whole",
            "analytical, flow, flow:sampled, flow:expected, packet or packet:fast-forward",
            "");
    }
    if (scenario.Job().trace)
    {
        throw ConfigError(
            "--engine",
            "a model of somebody else's is asked about plans, and the study replays "
            "traces",
            "analytical, flow, flow:sampled, flow:expected, packet or packet:fast-forward",
            "");
    }
    const auto prepared = PrepareRun(scenario);
    if (const auto* no = std::get_if<Infeasible>(&prepared))
    {
        return *no;
    }
    const PreparedRun& run = std::get<PreparedRun>(prepared);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const Duration limit = options.limits.wallTime;
    const Duration left = limit == Duration::Max()
                              ? limit
                              : Duration::Seconds(std::max(limit.S() - taken.count(), 0.0));
    const ModelAnswer answer = Ask(scenario, run, options, left);
    if (!answer.infeasible.empty())
    {
        return Infeasible{"refused", answer.infeasible};
    }
    RunReport report;
    report.engine = Name();
    report.warmup = options.warmup;
    report.iterations = options.iterations;
    report.iterationTime = answer.time;
    report.computeTime = answer.compute.value_or(Duration());
    report.bubble = answer.bubble.value_or(Duration());
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        report.classes[c].exposed = answer.exposed[c].value_or(Duration());
    }
    CompleteReport(scenario, run, report);
    return report;
}

} // namespace scaleacross
