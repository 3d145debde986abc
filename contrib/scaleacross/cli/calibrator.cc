// SPDX-License-Identifier: GPL-2.0-only

#include "cli/calibrator.h"

#include "cli/show/table.h"
#include "cli/workers/interrupt.h"
#include "cli/workers/worker-engine.h"
#include "core/base/errors.h"
#include "core/engine/analytical-engine.h"
#include "core/explore/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

namespace scaleacross
{

namespace
{

constexpr double kMostOff = 0.05;           // of the model's time, of what its windows say
constexpr double kStartsPerMeasurement = 2; // at least, times what one takes to start
constexpr double kMostShare = 0.9;          // of the time, where less would say nothing

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

/// What a slice sends, whatever the engine.
std::array<ClassReport, kCommClasses>
BytesOf(const Scenario& scenario, const SliceSpec& slice)
{
    RunReport report;
    report.iterationTime = Duration::Seconds(1); // of any
    CompleteReport(scenario, std::get<PreparedRun>(PrepareRun(scenario, slice)), report);
    return report.classes;
}

/// Of a subject's slice, or of a part of it: one of the operations by an engine, with its launch.
double
SecondsOf(const Engine& engine,
          const Scenario& scenario,
          const Subject& subject,
          const RunOptions& options)
{
    return ReportOf(engine, scenario, options).iterationTime.S() /
           (TimesIn(subject.operation) * subject.size.times);
}

/// By an engine, of all of a slice of which a part is sent, without the launch.
double
WholeTimeOf(const Engine& engine,
            const Scenario& scenario,
            const Subject& subject,
            const RunOptions& options)
{
    return WholeTime(subject.size.part,
                     [&](double part) {
                         RunOptions some = options;
                         some.slice = subject.Slice(part);
                         return SecondsOf(engine, scenario, subject, some);
                     }) -
           subject.launch;
}

/// By how much the model's time of a slice is off by its windows.
double
ErrorOfWindows(const Scenario& scenario, const Subject& subject)
{
    const AnalyticalEngine engine;
    Subject whole = subject;
    whole.size.part = 1;
    return subject.size.part == 1 ? 0.0
                                  : WholeTimeOf(engine, scenario, subject, {}) /
                                            WholeTimeOf(engine, scenario, whole, {}) -
                                        1;
}

/// Why a measurement of this size, which the subject then has, would say nothing; "": it does.
std::string
TrySize(const Scenario& scenario, const TaskGraph& graph, const SliceSize& size, Subject& subject)
{
    const Operation& operation = subject.operation;
    subject.size = size;
    if (size.part < 1 && !operation.IsMessage())
    {
        subject.size.part = WindowOf(graph.collectives[operation.collective], size.part);
        if (subject.size.part == 0)
        {
            subject.size.part = size.part;
            return "it has too few chunks for two parts of whole chunks";
        }
    }
    const Subject alone = subject.Alone();
    subject.byParts = WholeTimeOf(AnalyticalEngine(), scenario, subject, {});
    subject.aloneByParts = WholeTimeOf(AnalyticalEngine(), scenario, alone, {});
    for (const double off : {ErrorOfWindows(scenario, subject), ErrorOfWindows(scenario, alone)})
    {
        if (std::abs(off) > kMostOff)
        {
            return fmt::format("by {:.3g} of its bytes the model itself would have its time {} off",
                               subject.size.part,
                               SignedPercent(off));
        }
    }
    return "";
}

/// The same subject's costs where one stage does it once.
SliceSubject
OneStage(const Subject& subject)
{
    SliceSubject one = subject.costs;
    one.stages = 1;
    one.mostTimes = 1;
    return one;
}

/// Sets the size of a subject's slice: the best one that a measurement can send in so many seconds,
/// or if that is a window of all stages that says nothing, the best one of one stage.
void
SetSize(const Scenario& scenario,
        const TaskGraph& graph,
        const PacketSpeed& speed,
        double seconds,
        Subject& subject)
{
    const SliceSize best = BestWithin(subject.costs, speed, seconds);
    subject.refusal = TrySize(scenario, graph, best, subject);
    if (!subject.refusal.empty() && best.allStages)
    {
        subject.refusal =
            TrySize(scenario, graph, BestWithin(OneStage(subject), speed, seconds), subject);
    }
}

/// Sets the size of a subject's slice in that time, or refuses it: see SubjectsOf().
void
SetFirstSize(const Scenario& scenario, const TaskGraph& graph, double time, Subject& subject)
{
    const PacketSpeed speed;
    const double all = time * kMostShare;
    SetSize(scenario,
            graph,
            speed,
            std::max(time * kFirstShare, std::min(all, kStartsPerMeasurement * speed.start)),
            subject);
    std::string smaller; // why those before say nothing
    for (const SliceSize& size : SizesOf(OneStage(subject)))
    {
        if (!subject.refusal.empty() && size.part > subject.size.part)
        {
            smaller = subject.refusal;
            subject.refusal = TrySize(scenario, graph, size, subject);
        }
    }
    const double seconds = subject.ExpectedSeconds();
    if (seconds > all)
    {
        subject.refusal =
            fmt::format("window: {}{} of it takes about {:.2g} s; give it more --budget",
                        smaller.empty() ? "" : smaller + "; ",
                        PercentText(subject.size.part),
                        seconds);
    }
}

std::vector<CalibrationSubject>
DesignOf(const std::vector<Subject>& subjects, const PacketSpeed& speed)
{
    std::vector<CalibrationSubject> all;
    for (const Subject& subject : subjects)
    {
        all.push_back({static_cast<double>(subject.operation.times) * subject.model,
                       speed.Seconds(subject.costs, subject.size)});
    }
    return all;
}

std::vector<SliceSubject>
CostsOf(const std::vector<Subject>& subjects)
{
    std::vector<SliceSubject> costs;
    for (const Subject& subject : subjects)
    {
        costs.push_back(subject.costs);
    }
    return costs;
}

/// That it has to be done for the goal: of messages one there and one back are sent each time.
uint32_t
TimesForTheGoal(const Operation& operation)
{
    return operation.kind.reach == Tier::Cross
               ? std::max(1U,
                          static_cast<uint32_t>(
                              std::ceil(kCoverageGoal * static_cast<double>(operation.times) /
                                        TimesIn(operation))))
               : 1;
}

} // namespace

std::string
Subject::Name() const
{
    return ToString(operation.kind);
}

SliceSpec
Subject::Slice(double part) const
{
    SliceSpec slice(number, part);
    slice.pieces.front().allStages = size.allStages;
    slice.pieces.front().times = size.times;
    return slice;
}

Subject
Subject::Alone() const
{
    Subject alone = *this;
    alone.size.allStages = false;
    alone.size.times = 1;
    return alone;
}

double
Subject::ExpectedSeconds() const
{
    return PacketSpeed().Seconds(costs, size);
}

std::vector<Subject>
SubjectsOf(const Scenario& scenario, const MeasuringTime& time)
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
        const CommClass comm = operation.kind.comm;
        const RunReport report = ReportOf(engine, scenario, OptionsOf(subject.Slice(1), 1));
        subject.launch =
            operation.IsMessage() ? 0.0 : run.graph.collectives[operation.collective].launch.S();
        subject.model = report.iterationTime.S() / TimesIn(operation) - subject.launch;
        if (subject.model <= 0)
        {
            continue; // what takes no time is not missed
        }
        const auto cross = static_cast<double>(whole.Of(comm).crossBytes.Count());
        const auto set = [&](const ClassReport& sent, double& packets, double& share) {
            packets = static_cast<double>(sent.bytes.Count()) /
                      static_cast<double>(scenario.network.mtu.Count());
            share = cross == 0 ? 0.0 : static_cast<double>(sent.crossBytes.Count()) / cross;
        };
        SliceSubject& costs = subject.costs;
        costs.comm = comm;
        costs.stages = operation.stages;
        costs.mostTimes = TimesForTheGoal(operation);
        set(report.Of(comm), costs.onePackets, costs.oneShare);
        Subject all = subject;
        all.size.allStages = operation.stages > 1;
        set(BytesOf(scenario, all.Slice(1)).at(static_cast<size_t>(comm)),
            costs.allPackets,
            costs.allShare);
        SetFirstSize(scenario, run.graph, time.seconds, subject);
        subjects.push_back(std::move(subject));
    }
    return subjects;
}

Calibrator::Calibrator(const Setting& setting,
                       std::vector<Subject> subjects,
                       const std::atomic<bool>& stop)
    : m_setting(setting),
      m_all(std::move(subjects)),
      m_subjects(m_all),
      m_stop(stop),
      m_engine(MakeSweepEngine("packet", "--engine", stop)),
      m_design({}, setting.time.seeds)
{
}

void
Calibrator::Run()
{
    uint32_t before = 0;
    do
    {
        before = m_done;
        MeasureAll();
        Keep();
    } while (m_done > before && Grow());
    m_line.Clear();
}

/// What m_subjects are, with the speed that is known.
void
Calibrator::MeasureAll()
{
    m_design = Calibration(DesignOf(m_subjects, m_speed), m_setting.time.seeds);
    for (size_t i = 0; i < m_subjects.size(); i++)
    {
        if (!m_subjects[i].refusal.empty())
        {
            Fail(i, m_subjects[i].refusal);
        }
    }
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < m_setting.time.jobs; i++)
    {
        threads.emplace_back([this] { Work(); });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    if (m_error)
    {
        m_line.Clear();
        std::rethrow_exception(m_error);
    }
}

/// Keeps what was measured; it is more than what was kept of the same operation.
void
Calibrator::Keep()
{
    for (size_t i = 0; i < m_subjects.size(); i++)
    {
        auto factor = m_design.Of(i);
        if (!factor)
        {
            continue;
        }
        const Subject& subject = m_subjects[i];
        // Both are within the interval.
        const double apart = std::accumulate(subject.apart.begin(), subject.apart.end(), 0.0) /
                             static_cast<double>(subject.apart.size());
        factor->low *= std::exp(-apart);
        factor->high *= std::exp(apart);
        const Operation& operation = subject.operation;
        MeasuredOperation measured;
        measured.row = {operation.kind, operation.levels, operation.bytes, *factor};
        measured.seeds = static_cast<uint32_t>(m_design.FactorsOf(i).size());
        measured.slice = ToString(subject.Slice(subject.size.part));
        measured.stages = subject.size.allStages ? operation.stages : 1;
        measured.times = subject.size.times;
        measured.part = subject.size.part;
        measured.share = subject.Share();
        measured.modelSeconds = subject.model;
        m_found[subject.number] = std::move(measured);
    }
    m_speed.start *= m_design.Pace();
    m_speed.perPacket *= m_design.Pace();
}

/// Whether larger slices are worth being measured in the time that is left; then m_subjects are
/// these.
bool
Calibrator::Grow()
{
    MeasuringTime left = m_setting.time;
    left.seconds = Left().S();
    if (m_stop || left.seconds < kWorthwhileShare * m_setting.time.seconds)
    {
        return false;
    }
    std::vector<double> known;
    for (const Subject& subject : m_all)
    {
        const auto found = m_found.find(subject.number);
        const double amount = found == m_found.end()
                                  ? 0.0
                                  : found->second.part * found->second.times * found->second.stages;
        // What has failed is not tried again.
        known.push_back(m_failed.count(subject.number) > 0 ? std::numeric_limits<double>::infinity()
                                                           : amount);
    }
    const double seconds = EvenSeconds(CostsOf(m_all), known, m_speed, left);
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(m_setting.scenario));
    m_subjects.clear();
    for (size_t i = 0; i < m_all.size(); i++)
    {
        Subject larger = m_all[i];
        const SliceSize best = BestWithin(larger.costs, m_speed, seconds);
        if (!IsWorthwhile(best.Amount(larger.operation.stages), known[i]) ||
            m_speed.Seconds(larger.costs, best) > seconds)
        {
            continue;
        }
        SetSize(m_setting.scenario, run.graph, m_speed, seconds, larger);
        if (larger.refusal.empty() &&
            IsWorthwhile(larger.size.Amount(larger.operation.stages), known[i]))
        {
            m_subjects.push_back(std::move(larger));
        }
    }
    return !m_subjects.empty();
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
            m_failed.insert(m_subjects[trial->subject].number);
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
    const Subject& failed = m_subjects[subject];
    m_failures.emplace_back(failed.number,
                            ToString(failed.operation) + " as " +
                                ToString(failed.Slice(failed.size.part)) + ": " + why);
}

void
Calibrator::Measure(const Calibration::Trial& trial)
{
    const auto start = std::chrono::steady_clock::now();
    Subject& subject = m_subjects[trial.subject];
    const auto factorOf = [&](const Subject& measured, double model) {
        RunOptions options;
        options.seed = m_setting.seed + trial.seed;
        options.limits.wallTime = Left();
        const double seconds = WholeTimeOf(*m_engine, m_setting.scenario, measured, options);
        if (seconds <= 0)
        {
            throw RunError(
                "window",
                "a part of it takes no longer than half of that part; give it more --budget");
        }
        return seconds / model;
    };
    const double together = factorOf(subject, subject.byParts);
    const double alone =
        subject.size.allStages ? factorOf(subject.Alone(), subject.aloneByParts) : together;
    const double factor = std::sqrt(together * alone);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_design.Record(trial.subject, factor, spent.count());
    subject.apart.push_back(std::abs(std::log(together / alone)) / 2);
    m_done++;
    m_line.ShowText(fmt::format("{} measurements, {:.0f} of {:.0f} s left; the last: {}, {:.3f}",
                                m_done,
                                Left().S(),
                                m_setting.time.seconds,
                                subject.Name(),
                                factor));
}

Duration
Calibrator::Left() const
{
    constexpr double kLeast = 1e-3; // a run without any time is none
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_start;
    return Duration::Seconds(std::max(kLeast, m_setting.time.seconds - spent.count()));
}

Duration
Calibrator::LeastBudget() const
{
    double least = std::numeric_limits<double>::infinity();
    for (const Subject& subject : m_all)
    {
        least = std::min(least, subject.ExpectedSeconds());
    }
    return Duration::Seconds(least / kMostShare);
}

std::vector<MeasuredOperation>
Calibrator::Found() const
{
    std::vector<MeasuredOperation> found;
    for (const auto& entry : m_found)
    {
        found.push_back(entry.second);
    }
    return found;
}

std::vector<std::string>
Calibrator::Failures() const
{
    std::vector<std::string> failures;
    for (const auto& [number, failure] : m_failures)
    {
        // What was refused may have been measured since; what was tried and failed is said.
        if ((m_found.count(number) == 0 || m_failed.count(number) > 0) &&
            std::find(failures.begin(), failures.end(), failure) == failures.end())
        {
            failures.push_back(failure);
        }
    }
    return failures;
}

std::vector<ClassCoverage>
Calibrator::Coverage() const
{
    const std::vector<SliceSubject> costs = CostsOf(m_all);
    std::vector<ClassCoverage> classes;
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        ClassCoverage coverage;
        coverage.comm = static_cast<CommClass>(c);
        for (const Subject& subject : m_all)
        {
            if (subject.costs.comm == coverage.comm && subject.costs.oneShare > 0)
            {
                const auto found = m_found.find(subject.number);
                coverage.operations++;
                coverage.measured += found != m_found.end() ? 1 : 0;
                coverage.share += found != m_found.end() ? found->second.share : 0.0;
            }
        }
        if (coverage.operations == 0)
        {
            continue;
        }
        coverage.most =
            CoverageWithin(costs, coverage.comm, m_speed, std::numeric_limits<double>::infinity());
        if (coverage.share < kCoverageGoal)
        {
            constexpr double kMore = 1.1; // this time was not enough, whatever was expected
            MeasuringTime time = m_setting.time;
            time.seconds *= kMore;
            const auto seconds =
                SecondsToCover(kCoverageGoal, costs, coverage.comm, PacketSpeed(), m_speed, time);
            coverage.budget = seconds ? std::optional(Duration::Seconds(*seconds)) : std::nullopt;
        }
        classes.push_back(coverage);
    }
    return classes;
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
