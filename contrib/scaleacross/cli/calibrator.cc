// SPDX-License-Identifier: GPL-2.0-only

#include "cli/calibrator.h"

#include "cli/show/table.h"
#include "cli/workers/interrupt.h"
#include "cli/workers/worker-engine.h"
#include "core/base/errors.h"
#include "core/engine/analytical-engine.h"
#include "core/explore/search.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

namespace scaleacross
{

namespace
{

/// Seconds of one core for a packet from one NIC to another, about 8 events of 0.4 us.
constexpr double kSecondsPerPacket = 4e-6;
constexpr double kStartSeconds = 0.1;       // of a worker process
constexpr double kLargestShare = 0.1;       // of the budget, for one measurement, but at least
constexpr double kStartsPerMeasurement = 2; // times what a process takes to start
constexpr double kMostShare = 0.9;          // of the budget, where less would say nothing
constexpr double kLeastPart = 1.0 / 4096;
constexpr double kMostOff = 0.05; // of the model's time, of what its windows say

RunOptions
OptionsOf(const SliceSpec& slice, uint64_t seed)
{
    RunOptions options;
    options.slice = slice;
    options.seed = seed;
    return options;
}

/// The report of a run that has to succeed.
RunReport
ReportOf(const Engine& engine, const Scenario& scenario, const RunOptions& options)
{
    const RunResult result = engine.Run(scenario, options);
    if (const auto* no = std::get_if<Infeasible>(&result))
    {
        throw RunError(no->reason, no->detail);
    }
    return std::get<RunReport>(result);
}

/// A slice of a message is one there and one back.
double
TimesIn(const Operation& operation)
{
    return operation.IsMessage() ? 2.0 : 1.0;
}

/// By an engine, with its launch.
double
SecondsOf(const Engine& engine,
          const Scenario& scenario,
          const Operation& operation,
          const RunOptions& options)
{
    return ReportOf(engine, scenario, options).iterationTime.S() / TimesIn(operation);
}

/// Parts of an operation that one measurement sends, together.
double
PartsSent(double part)
{
    return part < 1 ? 1.5 * part : 1.0;
}

/// Has a measurement send up to so much of a subject; why that says nothing, or "".
std::string
SetPart(const Engine& engine,
        const Scenario& scenario,
        const TaskGraph& graph,
        double most,
        Subject& subject)
{
    const Operation& operation = subject.operation;
    subject.part = most;
    if (subject.part < 1 && !operation.IsMessage())
    {
        subject.part = WindowOf(graph.collectives[operation.collective], most);
        if (subject.part == 0)
        {
            subject.part = most;
            return "it has too few chunks for two parts of whole chunks";
        }
    }
    subject.byParts =
        WholeTime(
            subject.part,
            [&](double part) {
                return SecondsOf(engine, scenario, operation, OptionsOf({subject.number, part}, 1));
            }) -
        subject.launch;
    const double off = subject.byParts / subject.model - 1;
    return std::abs(off) > kMostOff
               ? fmt::format("by {:.3g} of its bytes the model itself would have its time {} off",
                             subject.part,
                             SignedPercent(off))
               : "";
}

/// Chooses what a measurement sends of a subject, or refuses it: see SubjectsOf().
void
ChoosePart(const Engine& engine,
           const Scenario& scenario,
           const TaskGraph& graph,
           double budget,
           Subject& subject)
{
    const double all = budget * kMostShare;
    const double aim =
        std::max(budget * kLargestShare, std::min(all, kStartsPerMeasurement * kStartSeconds));
    double most = 1;
    for (subject.part = most; most > kLeastPart && subject.ExpectedSeconds() > aim;)
    {
        most /= 2;
        subject.part = most;
    }
    std::string why = SetPart(engine, scenario, graph, most, subject);
    std::string smaller; // why those before say nothing
    while (!why.empty() && most < 1)
    {
        smaller = why;
        most = std::min(1.0, most * 2);
        why = SetPart(engine, scenario, graph, most, subject);
    }
    if (subject.ExpectedSeconds() > all)
    {
        subject.refusal = fmt::format("window: {}{} of it takes about {:.2g} s; give it more "
                                      "--budget",
                                      smaller.empty() ? "" : smaller + "; ",
                                      PercentText(subject.part),
                                      subject.ExpectedSeconds());
    }
}

std::vector<CalibrationSubject>
DesignOf(const std::vector<Subject>& subjects)
{
    std::vector<CalibrationSubject> all;
    for (const Subject& subject : subjects)
    {
        all.push_back({static_cast<double>(subject.operation.times) * subject.model,
                       subject.ExpectedSeconds()});
    }
    return all;
}

} // namespace

std::string
Subject::Name() const
{
    return ToString(operation.kind);
}

double
Subject::PacketsSent() const
{
    return packets * PartsSent(part) * TimesIn(operation);
}

double
Subject::ExpectedSeconds() const
{
    return kStartSeconds + PacketsSent() * kSecondsPerPacket;
}

std::vector<Subject>
SubjectsOf(const Scenario& scenario, Duration budget)
{
    const AnalyticalEngine engine;
    const RunReport whole = ReportOf(engine, scenario, {});
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    const std::vector<Operation> operations = OperationsOf(run, ClusterPaths(scenario.cluster));
    std::vector<Subject> subjects;
    for (uint32_t number = 0; number < operations.size(); number++)
    {
        Subject subject;
        subject.operation = operations[number];
        subject.number = number;
        const Operation& operation = subject.operation;
        const RunReport report = ReportOf(engine, scenario, OptionsOf({number, 1.0}, 1));
        subject.launch =
            operation.IsMessage() ? 0.0 : run.graph.collectives[operation.collective].launch.S();
        subject.model = report.iterationTime.S() / TimesIn(operation) - subject.launch;
        if (subject.model <= 0)
        {
            continue; // what takes no time is not missed
        }
        const ClassReport& comm = report.Of(operation.kind.comm);
        subject.packets = static_cast<double>(comm.bytes.Count()) / TimesIn(operation) /
                          static_cast<double>(scenario.network.mtu.Count());
        ChoosePart(engine, scenario, run.graph, budget.S(), subject);
        const auto cross = static_cast<double>(whole.Of(operation.kind.comm).crossBytes.Count());
        subject.share = cross == 0 ? 0.0
                                   : static_cast<double>(comm.crossBytes.Count()) *
                                         PartsSent(subject.part) / cross;
        subjects.push_back(std::move(subject));
    }
    return subjects;
}

Calibrator::Calibrator(const Setting& setting,
                       std::vector<Subject> subjects,
                       const std::atomic<bool>& stop)
    : m_setting(setting),
      m_subjects(std::move(subjects)),
      m_stop(stop),
      m_engine(MakeSweepEngine("packet", "--engine", stop)),
      m_design(DesignOf(m_subjects), setting.seeds)
{
    for (size_t i = 0; i < m_subjects.size(); i++)
    {
        if (!m_subjects[i].refusal.empty())
        {
            Fail(i, m_subjects[i].refusal);
        }
    }
}

void
Calibrator::Run()
{
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < m_setting.jobs; i++)
    {
        threads.emplace_back([this] { Work(); });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    m_line.Clear();
    if (m_error)
    {
        std::rethrow_exception(m_error);
    }
}

void
Calibrator::Work()
{
    while (!m_stop)
    {
        std::optional<Calibration::Trial> trial;
        {
            const std::lock_guard<std::mutex> lock(m_mutex);
            trial = m_error ? std::nullopt : m_design.Next(Left().S());
        }
        if (!trial)
        {
            return;
        }
        try
        {
            Measure(*trial);
        }
        catch (const Interrupted&)
        {
            return;
        }
        catch (const RunError& error)
        {
            const std::lock_guard<std::mutex> lock(m_mutex);
            Fail(trial->subject, error.what());
        }
        catch (...)
        {
            const std::lock_guard<std::mutex> lock(m_mutex);
            m_error = std::current_exception();
        }
    }
}

/// A subject cannot be measured.
void
Calibrator::Fail(size_t subject, const std::string& why)
{
    m_design.GiveUp(subject);
    const std::string failure = ToString(m_subjects[subject].operation) + ": " + why;
    if (std::find(m_failures.begin(), m_failures.end(), failure) == m_failures.end())
    {
        m_failures.push_back(failure);
    }
}

void
Calibrator::Measure(const Calibration::Trial& trial)
{
    const auto start = std::chrono::steady_clock::now();
    Subject& subject = m_subjects[trial.subject];
    const double seconds =
        WholeTime(
            subject.part,
            [&](double part) {
                RunOptions options = OptionsOf({subject.number, part}, m_setting.seed + trial.seed);
                options.limits.wallTime = Left();
                return SecondsOf(*m_engine, m_setting.scenario, subject.operation, options);
            }) -
        subject.launch;
    if (seconds <= 0)
    {
        throw RunError(
            "window",
            "a part of it takes no longer than half of that part; give it more --budget");
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_design.Record(trial.subject, seconds / subject.byParts, spent.count());
    m_done++;
    m_line.ShowText(fmt::format("{} measurements, {:.0f} of {:.0f} s left; the last: {}, {:.3f}",
                                m_done,
                                Left().S(),
                                m_setting.budget.S(),
                                subject.Name(),
                                seconds / subject.byParts));
}

Duration
Calibrator::Left() const
{
    constexpr double kLeast = 1e-3; // a run without any time is none
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_start;
    return Duration::Seconds(std::max(kLeast, m_setting.budget.S() - spent.count()));
}

Duration
Calibrator::LeastBudget() const
{
    double least = std::numeric_limits<double>::infinity();
    for (const Subject& subject : m_subjects)
    {
        least = std::min(least, subject.ExpectedSeconds());
    }
    return Duration::Seconds(least / kMostShare);
}

std::vector<MeasuredOperation>
Calibrator::Found() const
{
    std::vector<MeasuredOperation> found;
    for (size_t i = 0; i < m_subjects.size(); i++)
    {
        const auto factor = m_design.Of(i);
        if (!factor)
        {
            continue;
        }
        const Subject& subject = m_subjects[i];
        const Operation& operation = subject.operation;
        MeasuredOperation measured;
        measured.row = {operation.kind, operation.levels, operation.bytes, *factor};
        measured.seeds = static_cast<uint32_t>(m_design.FactorsOf(i).size());
        measured.part = subject.part;
        measured.share = subject.share;
        measured.modelSeconds = subject.model;
        found.push_back(std::move(measured));
    }
    return found;
}

Duration
Calibrator::RunWhole() const
{
    RunOptions options;
    options.seed = m_setting.seed;
    options.limits.wallTime = Left();
    return ReportOf(*m_engine, m_setting.scenario, options).iterationTime;
}

} // namespace scaleacross
