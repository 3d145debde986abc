// SPDX-License-Identifier: GPL-2.0-only

#include "cli/workers/worker-engine.h"

#include "cli/engines.h"
#include "cli/show/report-json.h"
#include "cli/workers/time-limit.h"
#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/explore/outcome.h"
#include "core/spec/study-json.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace scaleacross
{

namespace
{

/// The last line of what a worker said, for a reason of one line.
std::string
LastLine(std::string text)
{
    text.erase(text.find_last_not_of("\n") + 1);
    const auto begin = text.rfind('\n');
    return begin == std::string::npos ? text : text.substr(begin + 1);
}

/// Why a worker ended, in one line: all of what it says from its error on, or else its last line.
std::string
ReasonOf(const std::string& text)
{
    const auto error = text.find("error: ");
    const auto begin = error != std::string::npos ? error + 7 : text.find("broken invariant: ");
    if (begin == std::string::npos)
    {
        return LastLine(text);
    }
    std::istringstream lines(text.substr(begin));
    std::string joined;
    for (std::string line; std::getline(lines, line);)
    {
        line.erase(0, line.find_first_not_of(' '));
        joined += (joined.empty() || line.empty() ? "" : "; ") + line;
    }
    return joined;
}

/// Why a worker has ended that could not say so in order.
std::string
ReasonOfEnd(const WorkerEnd& end)
{
    return end.err.find("bad_alloc") == std::string::npos ? "crash" : "memory";
}

/// A reason of a worker, which is given events without their places, with the place of the one that
/// it is about.
std::string
Placed(const std::string& reason, const std::vector<EventSpec>& events)
{
    const std::string all = "events";
    if (events.empty() || reason.rfind(all, 0) != 0)
    {
        return reason;
    }
    for (size_t i = 0; i < events.size(); i++)
    {
        const std::string one = all + "." + std::to_string(i);
        if (reason.rfind(one + ":", 0) == 0 || reason.rfind(one + ".", 0) == 0)
        {
            return PlaceOf(events, i) + reason.substr(one.size());
        }
    }
    return reason.rfind(all + ":", 0) == 0 ? PlaceOf(events) + reason.substr(all.size()) : reason;
}

/// The plan that a worker printed as infeasible or failed, as what Run() gives or throws.
RunResult
ResultOf(const WorkerEnd& end, const std::vector<EventSpec>& events)
{
    const Json json = Json::parse(end.out, nullptr, false);
    if (!json.is_discarded() && json.contains("infeasible"))
    {
        const Json& reason = json.at("infeasible");
        return Infeasible{reason.at("reason"), reason.at("detail")};
    }
    if (!json.is_discarded() && json.contains("failed"))
    {
        const Json& reason = json.at("failed");
        throw RunError(reason.at("reason"), reason.at("detail"));
    }
    if (json.is_discarded() && end.code == static_cast<int>(Exit::BadInput))
    {
        return Infeasible{kUnsupported, Placed(ReasonOf(end.err), events)};
    }
    if (json.is_discarded() || end.code != static_cast<int>(Exit::Done))
    {
        throw RunError(ReasonOfEnd(end),
                       "the worker ended with code " + std::to_string(end.code) + ": " +
                           ReasonOf(end.err));
    }
    return ReportFromJson(json);
}

} // namespace

void
AddWorkerOptions(Command command, WorkerOptions& options)
{
    command
        .Add("--time-limit",
             options.timeLimit,
             "wall clock time of one run; beyond it the run is stored as a timeout")
        .ShowDefault();
    command.Add("--memory-limit",
                options.memoryLimit,
                "address space of one packet run, such as 8GiB; default: no limit");
    command.Flag(
        "--retry-failed",
        [&options] { options.failures = Failures::Repeat; },
        "run again what is stored as failed; what failed under lower limits is, always");
}

RunLimits
LimitsOf(const WorkerOptions& options)
{
    RunLimits limits;
    limits.wallTime = TimeLimitOf(options.timeLimit);
    if (!options.memoryLimit.empty())
    {
        limits.memory = ParseAt("--memory-limit", [&] { return ParseBytes(options.memoryLimit); });
        if (limits.memory == Bytes())
        {
            throw ConfigError("--memory-limit", "nothing is done in no memory", "1B or more", "");
        }
    }
    return limits;
}

WorkerEngine::WorkerEngine(std::unique_ptr<Engine> engine, const std::atomic<bool>& stop)
    : m_engine(std::move(engine)),
      m_stop(stop)
{
}

std::string
WorkerEngine::Name() const
{
    return m_engine->Name();
}

bool
WorkerEngine::UsesSeed() const
{
    return m_engine->UsesSeed();
}

std::string
WorkerEngine::Fingerprint() const
{
    return m_engine->Fingerprint();
}

RunResult
WorkerEngine::Run(const Scenario& scenario, const RunOptions& options) const
{
    SCALEACROSS_INVARIANT(options.timeline == Timelines::None, "a worker's answer has no timeline");
    std::vector<std::string> arguments = {"run",
                                          "-",
                                          "--engine",
                                          Name(),
                                          "--json",
                                          "--no-store",
                                          "--warmup",
                                          std::to_string(options.warmup),
                                          "--iterations",
                                          std::to_string(options.iterations)};
    if (options.slice)
    {
        arguments.insert(arguments.end(), {"--slice", ToString(*options.slice)});
    }
    StudyParts parts;
    parts.seed = options.seed;
    const WorkerEnd end = RunWorker(arguments, StudyJson(scenario, parts), options.limits, &m_stop);
    if (options.limits.memory != Bytes() && !end.started &&
        (end.how == WorkerEnd::How::Signalled || end.how == WorkerEnd::How::Exited))
    {
        throw RunError("memory",
                       "the program does not start in " + ToString(options.limits.memory) +
                           " of address space");
    }
    switch (end.how)
    {
    case WorkerEnd::How::Stopped:
        throw Interrupted();
    case WorkerEnd::How::TimedOut:
        throw RunError("timeout",
                       "not done after " + ToString(options.limits.wallTime) + " of wall clock");
    case WorkerEnd::How::Signalled:
        throw RunError(ReasonOfEnd(end),
                       "killed by signal " + std::to_string(end.code) +
                           (end.err.empty() ? "" : ": " + ReasonOf(end.err)));
    case WorkerEnd::How::TooLong: // a worker may print as much as it likes
    case WorkerEnd::How::Exited:
        break;
    }
    return ResultOf(end, scenario.events);
}

std::unique_ptr<Engine>
MakeSweepEngine(const std::string& name, const std::string& where, const std::atomic<bool>& stop)
{
    auto engine = MakeEngine(name, where, &stop);
    if (!FindEngine(name, where).row->ownProcess)
    {
        return engine;
    }
    return std::make_unique<WorkerEngine>(std::move(engine), stop);
}

std::vector<std::unique_ptr<Engine>>
MakeSweepEngines(const std::vector<std::string>& names,
                 const std::string& where,
                 const std::atomic<bool>& stop)
{
    std::vector<std::unique_ptr<Engine>> engines;
    for (const std::string& name : names)
    {
        engines.push_back(MakeSweepEngine(name, where, stop));
    }
    return engines;
}

} // namespace scaleacross
