// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/crew.h"
#include "core/explore/families.h"
#include "core/explore/in-order.h"
#include "core/explore/search.h"
#include "core/explore/waiting.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

using Clock = std::chrono::steady_clock;

/// Work is committed once this much has gathered, or has waited this long.
constexpr size_t g_batchRows = 100;
constexpr auto g_batchTime = std::chrono::milliseconds(50);
constexpr auto g_progressTime = std::chrono::milliseconds(100);
/// Families of the first level that are put in the order of their bounds together: bounds memory,
/// and what a resumption has to look at again.
constexpr uint64_t g_block = uint64_t{1} << 20;
/// In spaces of so many combinations, the first families of every level are looked at, and the
/// first plans run, ahead of their turn after every look: where bounds are far below times, they
/// rule nothing out until something has run.
constexpr uint64_t g_large = uint64_t{1} << 20;
constexpr size_t g_ahead = 8;
constexpr size_t g_runAhead = 2;
/// Of those plans only what would matter if it took so much of its bound, which most do at least.
constexpr double g_usual = 1.02;
/// Families that are looked at in one job.
constexpr size_t g_together = 256;
/// Families that are asked more of between two looks at what can be ruled out. A number of its own
/// and not that of the threads, so that what is found does not depend on these.
constexpr size_t g_asked = 64;
/// Plans that run together: as many as take about this long, since some of them may turn out to
/// need no run, within limits.
constexpr double g_runSeconds = 2;
constexpr size_t g_runLeast = 4;
constexpr size_t g_runMost = 32;

/// A plan that is to run.
struct Candidate
{
    Family family;
    Plan plan;
    bool failed{false}; //!< already when it was looked at: nothing is known of it
    Evaluation evaluation;
    bool known{false};    //!< stored already: to be recalled
    bool ran{false};      //!< the engine was asked just now
    bool ruledOut{false}; //!< by those before it
    bool taken{false};    //!< its evaluation counts; not where the search was interrupted before
    double best{std::numeric_limits<double>::infinity()}; //!< the least value of all taken by then
};

void
Increment(std::map<std::string, Count>& counts, const Infeasible& why)
{
    Count& count = counts[why.reason];
    if (count.count++ == 0)
    {
        count.example = why.detail;
    }
}

/// Tells progress at sensible intervals.
class Reporter
{
  public:
    explicit Reporter(const SearchOptions& options)
        : m_callback(options.progress)
    {
    }

    void Tell(const std::function<Progress()>& progress, bool always)
    {
        const auto now = Clock::now();
        if (m_callback && (always || now - m_last >= g_progressTime))
        {
            m_last = now;
            m_callback(progress());
        }
    }

  private:
    const std::function<void(const Progress&)>& m_callback;
    Clock::time_point m_last{Clock::now()};
};

/// One call of Run().
class Course
{
  public:
    Course(const SearchSpace& space,
           const Engine& engine,
           const SearchOptions& options,
           ResultSink& sink,
           Runs runs)
        : m_space(space),
          m_engine(engine),
          m_options(options),
          m_sink(sink),
          m_families(space, options, runs),
          m_random(options.process),
          m_board(options.keep, options.goals, options.keeps),
          m_frontier(sink.Resume()),
          m_reporter(options),
          m_least(std::max<size_t>(g_runLeast, Crew::ThreadsOf(options.jobs)))
    {
        m_sink.Restore(m_frontier.next, [this](uint64_t position, const RunReport& report) {
            return OfferStored(position, report);
        });
        const RankOrder isBefore{options.goals.objective, options.goals.rates};
        for (const Ranked& ranked : options.offered)
        {
            if (space.Holds(ranked.plan) && (!m_offered || isBefore(ranked, *m_offered)))
            {
                m_offered = ranked;
            }
        }
    }

    SearchResult Run()
    {
        while (!m_interrupted && m_frontier.next < m_families.Positions())
        {
            DoBlock();
        }
        if (!m_interrupted)
        {
            m_sink.Finish(m_frontier, m_board);
        }
        if (m_interrupted)
        {
            CountOpen();
            TakeWhatRanElsewhere();
        }
        return {m_board, m_interrupted ? m_partial : m_frontier, m_engineRuns, m_interrupted};
    }

  private:
    /// Lowers bound and least value to those of what is not decided; to 0 as long as nothing is
    /// known of some of it.
    void CountOpen()
    {
        if (m_partial.DecidedPositions() == m_families.Positions())
        {
            return; // it was stopped when nothing was left
        }
        const bool isAll = m_partial.next == m_families.Positions();
        m_partial.left = std::min(m_partial.left, isAll && m_open ? m_open->least : 0);
        m_partial.bound =
            std::min(m_partial.bound, isAll && m_open ? m_open->form.bound : Duration());
    }

    /// What another call has run and this one has not come to, and what was offered, is an answer
    /// too, and stored as such. It rules nothing out, so that what is run does not depend on when
    /// calls end.
    void TakeWhatRanElsewhere()
    {
        std::vector<Ranked> beside;
        std::set<std::string> texts = m_ran;
        const auto add = [&](const Ranked& ranked) {
            if (texts.insert(ranked.text).second)
            {
                beside.push_back(ranked);
            }
        };
        m_sink.Restore(m_families.Positions(), [&](uint64_t position, const RunReport& report) {
            const auto plan = m_space.PlanAt(m_families.IndexOf(position));
            if (plan)
            {
                add({position, *plan, CanonicalText(*plan), report});
            }
            return plan.has_value();
        });
        const size_t restored = beside.size();
        for (Ranked ranked : m_options.offered)
        {
            if (m_space.Holds(ranked.plan))
            {
                ranked.index = m_families.PositionOf(m_space.NumberOf(ranked.plan));
                add(ranked);
            }
        }
        std::vector<std::optional<ClosedForm>> forms(beside.size());
        Crew crew(m_options.jobs, beside.size(), nullptr, [&](size_t i) {
            forms[i] = m_families.KnownOf(beside[i].plan);
        });
        for (bool last = false; !last;)
        {
            crew.Take(g_batchTime, last);
        }
        if (const auto error = crew.Error())
        {
            std::rethrow_exception(error);
        }
        const Leaderboard board = m_board;
        for (size_t i = 0; i < beside.size(); i++)
        {
            const bool isTaken = TakeBeside(beside[i], forms[i], board);
            if (isTaken && i >= restored)
            {
                m_sink.CountIn(beside[i].index, beside[i].plan, beside[i].report);
                m_uncommitted++;
            }
        }
        if (m_uncommitted > 0)
        {
            Commit();
        }
    }

    /// Counts a plan as one that ran: it was not decided, or ruled out by this board. False where
    /// its time is below its bound.
    bool TakeBeside(const Ranked& ranked,
                    const std::optional<ClosedForm>& form,
                    const Leaderboard& board)
    {
        if (!form || ranked.report.iterationTime < form->bound)
        {
            return false;
        }
        m_ran.insert(ranked.text);
        m_board.Offer(ranked);
        m_partial.evaluated++;
        const auto ruledOut = m_partial.rejected.find(kRuledOut);
        if (ruledOut != m_partial.rejected.end() &&
            !m_families.CanMatter(ranked.plan, *form, board) && --ruledOut->second.count == 0)
        {
            m_partial.rejected.erase(ruledOut);
        }
        return true;
    }

    /// Whether there is a plan at the position, whose report is offered if it is a time.
    bool OfferStored(uint64_t position, const RunReport& report)
    {
        const auto plan = m_space.PlanAt(m_families.IndexOf(position));
        if (plan && KeepsBound(*plan, report))
        {
            m_board.Offer({position, *plan, CanonicalText(*plan), report});
            m_ran.insert(CanonicalText(*plan));
        }
        return plan.has_value();
    }

    /// The least value so far; infinite as long as none is known.
    double BestValue() const
    {
        const Goals& goals = m_options.goals;
        const Ranked* best = m_board.First();
        return best == nullptr ? std::numeric_limits<double>::infinity()
                               : goals.objective->value(best->report, goals.rates);
    }

    /// Notes when nothing that is left can be better than the best so far.
    /// @param best the least value so far
    /// @param least below the values of all that is not decided
    void LookForProof(double best, double least)
    {
        const bool isAll = m_partial.next == m_families.Positions();
        if (!m_partial.provenAfter && isAll && std::isfinite(best) && m_partial.failed.empty() &&
            best <= std::min(m_partial.left, least))
        {
            m_partial.provenAfter = m_partial.evaluated;
        }
    }

    Progress ProgressSoFar() const
    {
        const std::lock_guard lock(m_counting);
        const Ranked* best = m_board.First();
        const RankOrder isBefore{m_options.goals.objective, m_options.goals.rates};
        if (m_offered && (best == nullptr || isBefore(*m_offered, *best)))
        {
            best = &*m_offered;
        }
        return {m_decided,
                m_families.Positions(),
                m_ran.size(),
                best == nullptr ? std::nullopt : std::optional(*best),
                m_partial.provenAfter.has_value()};
    }

    void DoBlock()
    {
        const uint64_t begin = m_frontier.next;
        const uint64_t head = m_families.SizeOf(0);
        const uint64_t heads = std::min(g_block, (m_families.Positions() - begin) / head);
        m_decided = begin;
        m_partial = m_frontier;
        m_open.reset();
        Waiting waiting(m_space.Levels().size());
        std::vector<Glancing> jobs;
        for (uint64_t i = 0; i < heads; i += g_together)
        {
            const uint64_t count = std::min<uint64_t>(g_together, heads - i);
            jobs.push_back([this, position = begin + i * head, count] {
                return m_families.AtHeads(position, count, m_board);
            });
        }
        Glance(jobs, waiting);
        if (m_interrupted)
        {
            return;
        }
        m_partial.next += heads * head;
        while (!m_interrupted && !waiting.IsEmpty())
        {
            m_open = waiting.First();
            LookForProof(BestValue(), m_open->least);
            if (waiting.IsTimeToRun())
            {
                RunSome(waiting, m_together, [&waiting] { return waiting.IsTimeToRun(); });
                continue;
            }
            FindOutMore(waiting);
            if (m_space.Size() >= g_large && !m_interrupted)
            {
                LookAhead(waiting);
            }
        }
        if (!m_interrupted)
        {
            m_frontier = m_partial;
            Commit();
        }
    }

    using Glancing = std::function<Look()>;

    void Glance(const std::vector<Glancing>& jobs, Waiting& waiting)
    {
        std::vector<Look> looks(jobs.size());
        Together(
            jobs.size(),
            [&](size_t i) { looks[i] = jobs[i](); },
            [&](size_t i) { m_decided += looks[i].decided; });
        if (m_interrupted)
        {
            return;
        }
        for (Look& some : looks)
        {
            Take(some, waiting);
            some = {};
        }
    }

    void Take(Look& look, Waiting& waiting)
    {
        for (Family& family : look.open)
        {
            family.least = m_board.Least(family.form);
            waiting.Push(family);
        }
        m_failures.merge(look.failures);
        m_partial.bound = std::min(m_partial.bound, look.bound);
        m_partial.left = std::min(m_partial.left, look.left);
        for (const auto& [reason, count] : look.rejected)
        {
            Count& sum = m_partial.rejected[reason];
            sum.count += count.count;
            if (sum.example.empty())
            {
                // Why a duplicate is one is said of the first alone.
                const bool is = reason == kDuplicate && look.duplicate;
                const auto at = [&] { return m_space.At(m_families.IndexOf(*look.duplicate)); };
                sum.example = is ? std::get<Infeasible>(at()).detail : count.example;
            }
        }
    }

    /// Takes the first of a queue, or none where it cannot matter, which is counted.
    std::optional<Candidate> Next(Waiting::Queue& queue, Waiting& waiting)
    {
        Candidate candidate;
        candidate.family = queue.top();
        queue.pop();
        candidate.plan = m_families.FirstOf(candidate.family);
        if (CanMatter(candidate))
        {
            return candidate;
        }
        m_decided += RuleOut(candidate, waiting);
        return std::nullopt;
    }

    bool CanMatter(const Candidate& candidate) const
    {
        return m_families.CanMatter(candidate.plan, candidate.family.form, m_board);
    }

    /// How many positions that decides.
    uint64_t RuleOut(const Candidate& candidate, Waiting& waiting)
    {
        Look look;
        m_families.RuleOut(candidate.family, candidate.plan, m_board, look);
        Take(look, waiting);
        return look.decided;
    }

    /// Splits or has filtered the next ones that can matter.
    void FindOutMore(Waiting& waiting)
    {
        std::vector<Glancing> jobs;
        for (size_t taken = 0; taken < g_asked && !waiting.IsTimeToRun();)
        {
            Waiting::Queue* queue = waiting.FirstUnclear();
            if (queue == nullptr)
            {
                break;
            }
            taken += AskOne(*queue, waiting, jobs) ? 1 : 0;
        }
        Glance(jobs, waiting);
    }

    /// The first of every queue, ahead of their turn.
    void LookAhead(Waiting& waiting)
    {
        std::vector<Glancing> jobs;
        for (Waiting::Queue& queue : waiting.Unclear())
        {
            for (size_t taken = 0; taken < g_ahead && !queue.empty();)
            {
                taken += AskOne(queue, waiting, jobs) ? 1 : 0;
            }
        }
        Glance(jobs, waiting);
        if (!m_interrupted)
        {
            RunSome(waiting, g_runAhead, [this, &waiting] {
                return IsWorthRunning(waiting.Ready());
            });
        }
    }

    /// Whether the first of the plans that are ready matters if it takes as long as is usual.
    bool IsWorthRunning(const Waiting::Queue& ready) const
    {
        if (ready.empty())
        {
            return false;
        }
        ClosedForm form = ready.top().form;
        form.bound = Duration::Seconds(form.bound.S() * g_usual);
        return m_families.CanMatter(m_families.FirstOf(ready.top()), form, m_board);
    }

    /// Takes the first of a queue; false where it cannot matter.
    bool AskOne(Waiting::Queue& queue, Waiting& waiting, std::vector<Glancing>& jobs)
    {
        const Family family = queue.top();
        if (!Next(queue, waiting))
        {
            return false;
        }
        if (family.next == Family::Next::Filter)
        {
            jobs.push_back([this, family] { return m_families.Filtered(family, m_board); });
            return true;
        }
        const size_t parts = m_families.PartsOf(family).size();
        for (size_t begin = 0; begin < parts; begin += g_together)
        {
            jobs.push_back([this, family, begin, end = std::min(parts, begin + g_together)] {
                return m_families.AtParts(family, begin, end, m_board);
            });
        }
        return true;
    }

    /// Runs the next plans that are ready, as long as `goesOn`, and counts them: as if one ran
    /// after the other, and only if it can matter after those before it. So what counts depends
    /// neither on the threads nor on how many are taken together.
    void RunSome(Waiting& waiting, size_t most, const std::function<bool()>& goesOn)
    {
        std::vector<Candidate> batch;
        while (batch.size() < most && goesOn())
        {
            if (auto next = Next(waiting.Ready(), waiting))
            {
                batch.push_back(std::move(*next));
                const auto failure = m_failures.find(batch.back().family.position);
                if (failure != m_failures.end())
                {
                    batch.back().failed = true;
                    batch.back().evaluation = failure->second;
                }
            }
        }
        const auto begin = Clock::now();
        const std::vector<size_t> order = OrderOf(batch.size());
        InOrder counting(batch.size(), m_counting, [&](size_t i) { TakeOver(batch[i]); });
        Together(
            batch.size(),
            [&](size_t job) {
                Candidate& candidate = batch[order[job]];
                Ask(candidate);
                if (!candidate.known)
                {
                    counting.Done(order[job]);
                }
            },
            [&](size_t job) {
                Candidate& candidate = batch[order[job]];
                if (candidate.known && Recall(candidate))
                {
                    counting.Done(order[job]);
                }
                Store(candidate);
            });
        counting.PassOver();
        TakeTime(std::chrono::duration<double>(Clock::now() - begin).count(), batch);
        bool isWhole = true; // all before it are decided
        for (size_t i = 0; i < batch.size(); i++)
        {
            AddUp(batch[i], waiting);
            isWhole = isWhole && (batch[i].taken || batch[i].ruledOut);
            if (!isWhole)
            {
                continue;
            }
            const double after = i + 1 < batch.size() ? batch[i + 1].family.least
                                                      : std::numeric_limits<double>::infinity();
            const double open = waiting.IsEmpty() ? after : waiting.First().least;
            LookForProof(batch[i].best, std::min(after, open));
        }
        if (m_interrupted)
        {
            Commit(); // what counts since the last one
        }
    }

    /// Adds what has become of it to what is decided.
    void AddUp(const Candidate& candidate, Waiting& waiting)
    {
        if (candidate.ruledOut)
        {
            RuleOut(candidate, waiting);
        }
        if (!candidate.taken)
        {
            return;
        }
        m_sink.CountIn(candidate.family.position, candidate.plan, candidate.evaluation);
        m_uncommitted++;
        m_partial.bound = std::min(m_partial.bound, candidate.family.form.bound);
        if (const auto* no = std::get_if<Infeasible>(&candidate.evaluation))
        {
            Increment(m_partial.rejected, *no);
        }
        else if (const auto* failure = std::get_if<Failure>(&candidate.evaluation))
        {
            Increment(m_partial.failed, {failure->reason, failure->detail});
        }
        else
        {
            m_partial.evaluated++;
        }
    }

    /// The order in which so many plans are begun: the first, which may rule out others, and then
    /// one of this process's own, so that processes which search together run different ones.
    std::vector<size_t> OrderOf(size_t plans)
    {
        std::vector<size_t> order(plans);
        std::iota(order.begin(), order.end(), size_t{0});
        // std::shuffle is not the same in every library.
        for (size_t i = plans; m_options.process != 0 && i > 2; i--)
        {
            std::swap(order[i - 1], order[1 + m_random() % (i - 1)]);
        }
        return order;
    }

    /// Chooses how many are to run together next. On this depends only what is run in vain.
    void TakeTime(double seconds, const std::vector<Candidate>& batch)
    {
        const auto ran = std::count_if(batch.begin(), batch.end(), [](const Candidate& candidate) {
            return candidate.ran;
        });
        if (ran > 0)
        {
            const double most = g_runSeconds * static_cast<double>(ran) / seconds;
            m_together = std::clamp(static_cast<size_t>(std::min<double>(most, g_runMost)),
                                    m_least,
                                    std::max(m_least, g_runMost));
        }
    }

    /// Does the jobs on several threads and hands each that is done to `take` on this one.
    void Together(size_t jobs,
                  const std::function<void(size_t)>& work,
                  const std::function<void(size_t)>& take)
    {
        Crew crew(m_options.jobs, jobs, m_options.stop, work);
        size_t taken = 0;
        for (bool last = false; !last;)
        {
            for (const size_t job : crew.Take(g_batchTime, last))
            {
                take(job);
                taken++;
            }
            if (m_uncommitted > 0 && (last || Clock::now() - m_lastCommit >= g_batchTime))
            {
                Commit();
            }
            m_reporter.Tell([this] { return ProgressSoFar(); }, last);
        }
        if (const auto error = crew.Error())
        {
            std::rethrow_exception(error);
        }
        m_interrupted = m_interrupted || taken < jobs;
    }

    /// Runs a plan, unless it is stored, or cannot matter by what counts already. Called from
    /// several threads.
    void Ask(Candidate& candidate) const
    {
        {
            const std::lock_guard lock(m_counting);
            candidate.ruledOut = !CanMatter(candidate);
        }
        if (candidate.ruledOut)
        {
            return;
        }
        candidate.known = m_sink.Knows(candidate.plan);
        if (candidate.known || candidate.failed)
        {
            candidate.ran = !candidate.known;
            return;
        }
        RunPlan(candidate);
        HoldToBound(candidate);
    }

    static void HoldToBound(Candidate& candidate)
    {
        scaleacross::HoldToBound(candidate.evaluation, candidate.plan, candidate.family.form.bound);
    }

    void RunPlan(Candidate& candidate) const
    {
        try
        {
            candidate.evaluation = Evaluate(m_engine, m_space.With(candidate.plan), m_options.run);
            candidate.ran = true;
        }
        catch (const ConfigError& error)
        {
            candidate.evaluation = RefusalOf(error);
        }
    }

    /// Takes what is stored for a plan, or runs it if somebody has removed that in the meantime;
    /// false if that was interrupted.
    bool Recall(Candidate& candidate)
    {
        if (const auto stored = m_sink.Recall(candidate.plan))
        {
            candidate.evaluation = *stored;
            HoldToBound(candidate);
            return true;
        }
        try
        {
            RunPlan(candidate);
            HoldToBound(candidate);
        }
        catch (const Interrupted&)
        {
            m_interrupted = true;
        }
        return !m_interrupted;
    }

    /// Whether a report that is found again takes no less than its plan's bound (HoldToBound).
    bool KeepsBound(const Plan& plan, const RunReport& report) const
    {
        const auto form = m_families.KnownOf(plan);
        return form && report.iterationTime >= form->bound;
    }

    /// Lets its time count, unless those before it have ruled it out. Called from several threads,
    /// one at a time.
    void TakeOver(Candidate& candidate)
    {
        candidate.ruledOut = candidate.ruledOut || !CanMatter(candidate);
        if (!candidate.ruledOut)
        {
            candidate.taken = true;
            if (const auto* report = std::get_if<RunReport>(&candidate.evaluation))
            {
                const std::string text = CanonicalText(candidate.plan);
                m_board.Offer({candidate.family.position, candidate.plan, text, *report});
                m_ran.insert(text);
            }
        }
        candidate.best = BestValue();
        m_decided++;
    }

    /// Also of what was run in vain: others who work on the same results may need it.
    void Store(const Candidate& candidate)
    {
        if (candidate.ran)
        {
            m_sink.Add(candidate.plan, candidate.evaluation);
            m_engineRuns++;
            m_uncommitted++;
        }
        if (m_uncommitted >= g_batchRows)
        {
            Commit();
        }
    }

    void Commit()
    {
        m_sink.Commit(m_frontier);
        m_uncommitted = 0;
        m_lastCommit = Clock::now();
    }

    const SearchSpace& m_space;
    const Engine& m_engine;
    const SearchOptions& m_options;
    ResultSink& m_sink;
    Families m_families;
    std::mt19937 m_random;
    Leaderboard m_board;
    Frontier m_frontier;
    Frontier m_partial; //!< with what is decided in the block so far
    /// The one with the least bound of the block's that were not decided a moment ago; none while
    /// its first level is looked at.
    std::optional<Family> m_open;
    Reporter m_reporter;
    std::map<uint64_t, Failure> m_failures; //!< of looks, by position of the plan
    std::set<std::string> m_ran;            //!< canonical texts of plans whose times count
    std::optional<Ranked> m_offered;        //!< the best that was offered
    mutable std::mutex m_counting;          //!< of the board and what is decided, while plans run
    size_t m_least;                         //!< of what runs together
    size_t m_together{m_least};
    uint64_t m_decided{0}; //!< positions that need no further look
    uint64_t m_engineRuns{0};
    size_t m_uncommitted{0};
    Clock::time_point m_lastCommit{Clock::now()};
    bool m_interrupted{false};
};

} // namespace

void
HoldToBound(Evaluation& evaluation, const Plan& plan, Duration bound)
{
    const auto* report = std::get_if<RunReport>(&evaluation);
    if (report != nullptr && report->iterationTime < bound)
    {
        evaluation = Failure{"below-bound",
                             Label(plan) + " took " + ToString(report->iterationTime) +
                                 ", but no steady state takes less than " + ToString(bound) +
                                 "; run it by itself over more iterations"};
    }
}

Evaluation
Evaluate(const Engine& engine, const Scenario& scenario, const RunOptions& options)
{
    try
    {
        const RunResult result = engine.Run(scenario, options);
        if (const auto* infeasible = std::get_if<Infeasible>(&result))
        {
            return *infeasible;
        }
        return std::get<RunReport>(result);
    }
    catch (const RunError& error)
    {
        return Failure{error.Reason(), error.what()};
    }
}

std::string
BestFirstSearch::Name() const
{
    return "best-first";
}

SearchResult
BestFirstSearch::Run(const SearchSpace& space,
                     const Engine& engine,
                     const SearchOptions& options,
                     ResultSink& sink) const
{
    return Course(space, engine, options, sink, Runs::WhatCanMatter).Run();
}

std::string
ExhaustiveSearch::Name() const
{
    return "exhaustive";
}

SearchResult
ExhaustiveSearch::Run(const SearchSpace& space,
                      const Engine& engine,
                      const SearchOptions& options,
                      ResultSink& sink) const
{
    return Course(space, engine, options, sink, Runs::Everything).Run();
}

} // namespace scaleacross
