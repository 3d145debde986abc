// SPDX-License-Identifier: GPL-2.0-only

#include "cli/calibrator.h"

#include "cli/workers/interrupt.h"
#include "cli/workers/worker-engine.h"
#include "core/base/errors.h"
#include "core/engine/analytical-engine.h"
#include "core/explore/search.h"

#include <algorithm>
#include <fmt/core.h>
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
constexpr double kStartSeconds = 0.1; // of a worker process
constexpr double kLargestShare = 0.1; // of the budget, for one measurement
constexpr double kLeastPart = 1.0 / 4096;

RunOptions
OptionsOf(const SliceSpec& slice, uint64_t seed)
{
    RunOptions options;
    options.slice = slice;
    options.warmup = 0;
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
    return operation.peer != 0 ? 2.0 : 1.0;
}

/// Parts of an operation that one measurement sends, together.
double
PartsSent(double part)
{
    return part < 1 ? 1.5 * part : 1.0;
}

double
ExpectedSeconds(const Subject& subject)
{
    return kStartSeconds + subject.PacketsSent() * kSecondsPerPacket;
}

std::vector<CalibrationSubject>
DesignOf(const std::vector<Subject>& subjects)
{
    std::vector<CalibrationSubject> all;
    for (const Subject& subject : subjects)
    {
        all.push_back({static_cast<double>(subject.operation.times) * subject.model,
                       ExpectedSeconds(subject)});
    }
    return all;
}

} // namespace

std::string
Subject::Name() const
{
    return ToString(operation.comm) + " " + ToString(operation.kind);
}

double
Subject::PacketsSent() const
{
    return packets * PartsSent(part) * TimesIn(operation);
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
        const bool isMessage = operation.peer != 0;
        subject.launch = isMessage ? 0.0 : run.graph.collectives[operation.collective].launch.S();
        subject.model = report.iterationTime.S() / TimesIn(operation) - subject.launch;
        if (subject.model <= 0)
        {
            continue; // what takes no time is not missed
        }
        const ClassReport& comm = report.Of(operation.comm);
        subject.packets = static_cast<double>(comm.bytes.Count()) / TimesIn(operation) /
                          static_cast<double>(scenario.network.mtu.Count());
        while (subject.part > kLeastPart && ExpectedSeconds(subject) > budget.S() * kLargestShare)
        {
            subject.part /= 2;
        }
        const auto cross = static_cast<double>(whole.Of(operation.comm).crossBytes.Count());
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
            const std::string failure = m_subjects[trial->subject].Name() + ": " + error.what();
            const std::lock_guard<std::mutex> lock(m_mutex);
            m_design.GiveUp(trial->subject);
            if (std::find(m_failures.begin(), m_failures.end(), failure) == m_failures.end())
            {
                m_failures.push_back(failure);
            }
        }
        catch (...)
        {
            const std::lock_guard<std::mutex> lock(m_mutex);
            m_error = std::current_exception();
        }
    }
}

/// Seconds of a part of an operation by packets, with its launch.
double
Calibrator::PacketSeconds(const Subject& subject, double part, uint64_t seed) const
{
    RunOptions options = OptionsOf({subject.number, part}, seed);
    options.limits.wallTime = Left();
    return ReportOf(*m_engine, m_setting.scenario, options).iterationTime.S() /
           TimesIn(subject.operation);
}

void
Calibrator::Measure(const Calibration::Trial& trial)
{
    const auto start = std::chrono::steady_clock::now();
    Subject& subject = m_subjects[trial.subject];
    const uint64_t seed = m_setting.seed + trial.seed;
    double seconds = PacketSeconds(subject, subject.part, seed);
    if (subject.part < 1)
    {
        const double half = PacketSeconds(subject, subject.part / 2, seed);
        seconds += (1 - subject.part) * (seconds - half) / (subject.part / 2);
    }
    seconds -= subject.launch;
    if (seconds <= 0)
    {
        throw RunError(
            "window",
            "a part of it takes no longer than half of that part; give it more --budget");
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_design.Record(trial.subject, seconds / subject.model, spent.count());
    subject.packetTime += seconds;
    m_done++;
    m_line.ShowText(fmt::format("{} measurements, {:.0f} of {:.0f} s left; the last: {}, {:.3f}",
                                m_done,
                                Left().S(),
                                m_setting.budget.S(),
                                subject.Name(),
                                seconds / subject.model));
}

Duration
Calibrator::Left() const
{
    constexpr double kLeast = 1e-3; // a run without any time is none
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_start;
    return Duration::Seconds(std::max(kLeast, m_setting.budget.S() - spent.count()));
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
        measured.comm = operation.comm;
        measured.row = {operation.kind, operation.members, operation.bytes, *factor};
        measured.seeds = static_cast<uint32_t>(m_design.FactorsOf(i).size());
        measured.part = subject.part;
        measured.share = subject.share;
        measured.modelSeconds = subject.model;
        measured.packetSeconds = subject.packetTime / measured.seeds;
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
