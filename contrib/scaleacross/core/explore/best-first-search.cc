// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/crew.h"
#include "core/explore/search.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
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
/// Plans that are put in the order of their bounds together: bounds memory, and what a resumption
/// has to look at again.
constexpr uint64_t g_block = uint64_t{1} << 20;
/// Plans that are asked more of, or run, between two looks at what can be ruled out. Numbers of
/// their own and not that of the threads, so that what runs does not depend on these.
constexpr size_t g_asked = 64;
constexpr size_t g_run = 32;

/**
 * The order in which a search goes through the numbers of a space, position by position: in strides
 * of about the golden section of its size, so that any stretch is a sample of the whole and the
 * first one already has plans that rule out others.
 *
 * Spaces of more than 2^31 plans, which nobody walks through to the end, go in their own order.
 */
class Walk
{
  public:
    explicit Walk(uint64_t size)
        : m_size(size)
    {
        if (size > 2 && size < uint64_t{1} << 31)
        {
            m_stride = static_cast<uint64_t>(0.6180339887498949 * static_cast<double>(size));
            while (std::gcd(m_stride, size) != 1)
            {
                m_stride++;
            }
        }
    }

    uint64_t At(uint64_t position) const
    {
        return m_stride == 1 ? position : position * m_stride % m_size;
    }

  private:
    uint64_t m_size;
    uint64_t m_stride{1};
};

/// A plan that can run, by its position: it is made again when it comes up.
struct Open
{
    ClosedForm form; //!< what is known of it
    uint64_t position{0};

    /// Whether it comes up later.
    bool operator<(const Open& other) const
    {
        return form.bound != other.form.bound ? form.bound > other.form.bound
                                              : position > other.position;
    }
};

using Queue = std::priority_queue<Open>;

/// What is found out of the plan at a position.
struct Candidate
{
    uint64_t position{0};
    Plan plan;
    Infeasible rejected; //!< no reason: it can run
    ClosedForm form;
    bool failed{false}; //!< already when it was looked at: nothing is known of it
    Evaluation evaluation;
    bool known{false}; //!< stored already: to be recalled
    bool ran{false};   //!< the engine was asked just now
    bool taken{false}; //!< its evaluation counts; not where the search was interrupted before
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

/// What a first look at a run of positions has found: little, for there are many.
struct Look
{
    std::vector<Open> open;
    std::map<uint64_t, Failure> failures; //!< of those, by position
    std::map<std::string, Count> rejected;
    std::optional<uint64_t> duplicate; //!< position of the first
    uint64_t decided{0};

    void Add(const Candidate& candidate)
    {
        if (candidate.rejected.reason.empty())
        {
            open.push_back({candidate.form, candidate.position});
            if (candidate.failed)
            {
                failures[candidate.position] = std::get<Failure>(candidate.evaluation);
            }
            return;
        }
        decided++;
        if (candidate.rejected.reason == kDuplicate && !duplicate)
        {
            duplicate = candidate.position;
        }
        Increment(rejected, candidate.rejected);
    }
};

/// Tells progress at sensible intervals.
class Reporter
{
  public:
    Reporter(const SearchOptions& options, uint64_t total, uint64_t done)
        : m_callback(options.progress),
          m_total(total),
          m_before(done)
    {
    }

    void Tell(uint64_t done, bool always)
    {
        const auto now = Clock::now();
        if (m_callback && (always || now - m_last >= g_progressTime))
        {
            m_last = now;
            const double seconds = std::chrono::duration<double>(now - m_start).count();
            const double rate = static_cast<double>(done - m_before) / std::max(seconds, 1e-9);
            m_callback({done, m_total, rate});
        }
    }

  private:
    const std::function<void(const Progress&)>& m_callback;
    uint64_t m_total;
    uint64_t m_before;
    Clock::time_point m_start{Clock::now()};
    Clock::time_point m_last{m_start};
};

/// One call of BestFirstSearch::Run().
class Course
{
  public:
    Course(const SearchSpace& space,
           const Engine& engine,
           const SearchOptions& options,
           ResultSink& sink)
        : m_space(space),
          m_engine(engine),
          m_options(options),
          m_sink(sink),
          m_walk(space.Size()),
          m_random(options.process),
          m_board(options.keep, options.keeps),
          m_frontier(sink.Resume()),
          m_reporter(options, space.Size(), m_frontier.next)
    {
        m_sink.Restore([this](uint64_t position, const RunReport& report) {
            const auto made = m_space.At(m_walk.At(position));
            const auto* plan = std::get_if<Plan>(&made);
            if (plan != nullptr && KeepsBound(*plan, report))
            {
                m_board.Offer({position, *plan, CanonicalText(*plan), report});
            }
            return plan != nullptr;
        });
    }

    SearchResult Run()
    {
        while (!m_interrupted && m_frontier.next < m_space.Size())
        {
            DoBlock();
        }
        if (!m_interrupted)
        {
            m_sink.Finish(m_frontier, m_board);
        }
        return {m_board, m_interrupted ? m_partial : m_frontier, m_engineRuns, m_interrupted};
    }

  private:
    void DoBlock()
    {
        const uint64_t begin = m_frontier.next;
        const uint64_t size = std::min(g_block, m_space.Size() - begin);
        m_decided = begin;
        m_partial = m_frontier;
        Frontier& after = m_partial;
        Queue glanced; // of which the filter knows more
        Queue asked;
        // In runs of positions, so that few jobs are handed over.
        constexpr uint64_t run = 256;
        std::vector<Look> looks(static_cast<size_t>((size + run - 1) / run));
        const auto look = [&](size_t i) {
            const uint64_t end = begin + std::min(size, (i + 1) * run);
            for (uint64_t position = begin + i * run; position < end; position++)
            {
                Candidate candidate;
                candidate.position = position;
                LookAt(candidate);
                looks[i].Add(candidate);
            }
        };
        Together(looks.size(), look, [&](size_t i) { m_decided += looks[i].decided; });
        if (m_interrupted)
        {
            return;
        }
        after.next += size;
        for (Look& some : looks)
        {
            for (const Open& open : some.open)
            {
                const bool failed = some.failures.count(open.position) > 0;
                (m_options.glance && !failed ? glanced : asked).push(open);
            }
            m_failures.merge(some.failures);
            AddRejected(some, after);
            some = {};
        }
        while (!m_interrupted && !(glanced.empty() && asked.empty()))
        {
            if (!glanced.empty() && (asked.empty() || asked.top() < glanced.top()))
            {
                AskMore(glanced, asked, after);
            }
            else
            {
                RunSome(asked, glanced, after);
            }
        }
        if (!m_interrupted)
        {
            m_frontier = after;
            Commit();
        }
    }

    /// Takes the next of a queue that can matter, at most `most` of them, and no further than the
    /// first of the other; those that cannot are counted.
    std::vector<Candidate> Next(Queue& queue, const Queue& other, size_t most, Frontier& after)
    {
        std::vector<Candidate> next;
        while (!queue.empty() && next.size() < most && (other.empty() || other.top() < queue.top()))
        {
            const Open open = queue.top();
            queue.pop();
            Candidate candidate;
            candidate.position = open.position;
            candidate.form = open.form;
            candidate.plan = m_space.PlanAt(m_walk.At(open.position)).value();
            if (const auto failure = m_failures.find(open.position); failure != m_failures.end())
            {
                candidate.failed = true;
                candidate.evaluation = failure->second;
            }
            if (CanMatter(candidate.plan, candidate.form))
            {
                next.push_back(std::move(candidate));
                continue;
            }
            RuleOut(candidate, after);
        }
        return next;
    }

    void RuleOut(const Candidate& candidate, Frontier& after)
    {
        m_decided++;
        after.bound = std::min(after.bound, candidate.form.bound);
        Count& count = after.rejected[kRuledOut];
        if (count.count++ == 0)
        {
            count.example =
                Label(candidate.plan) + " cannot take less than " + ToString(candidate.form.bound);
        }
    }

    /// Has the filter find out more of the next plans.
    void AskMore(Queue& glanced, Queue& asked, Frontier& after)
    {
        std::vector<Candidate> batch = Next(glanced, asked, g_asked, after);
        Together(
            batch.size(),
            [this, &batch](size_t i) { Filtered(batch[i]); },
            [](size_t /* i */) {});
        if (m_interrupted)
        {
            return;
        }
        for (const Candidate& candidate : batch)
        {
            if (!candidate.rejected.reason.empty())
            {
                m_decided++;
                Increment(after.rejected, candidate.rejected);
                continue;
            }
            Enqueue(candidate, asked);
        }
    }

    /// Adds up what cannot run; why a duplicate is one is said of the first alone.
    void AddRejected(const Look& look, Frontier& after) const
    {
        for (const auto& [reason, count] : look.rejected)
        {
            Count& sum = after.rejected[reason];
            if (sum.count == 0)
            {
                sum.example =
                    reason == kDuplicate
                        ? std::get<Infeasible>(m_space.At(m_walk.At(*look.duplicate))).detail
                        : count.example;
            }
            sum.count += count.count;
        }
    }

    void Enqueue(const Candidate& candidate, Queue& queue)
    {
        if (candidate.failed)
        {
            m_failures[candidate.position] = std::get<Failure>(candidate.evaluation);
        }
        queue.push({candidate.form, candidate.position});
    }

    /// Runs the next plans and counts them in `after`.
    void RunSome(Queue& asked, const Queue& glanced, Frontier& after)
    {
        std::vector<Candidate> batch = Next(asked, glanced, g_run, after);
        std::vector<Candidate*> mixed;
        for (Candidate& candidate : batch)
        {
            mixed.push_back(&candidate);
        }
        mixed = Mixed(mixed);
        Together(
            mixed.size(),
            [this, &mixed](size_t i) { Ask(*mixed[i]); },
            [this, &mixed](size_t i) { TakeOver(*mixed[i]); });
        for (const Candidate& candidate : batch)
        {
            if (!candidate.taken)
            {
                continue;
            }
            if (!candidate.failed)
            {
                after.bound = std::min(after.bound, candidate.form.bound);
            }
            if (const auto* no = std::get_if<Infeasible>(&candidate.evaluation))
            {
                Increment(after.rejected, *no);
            }
            else if (const auto* failure = std::get_if<Failure>(&candidate.evaluation))
            {
                Increment(after.failed, {failure->reason, failure->detail});
            }
            else
            {
                after.evaluated++;
            }
        }
    }

    /// What is to run together: what is stored first, so that an answer which is interrupted again
    /// has it, then in an order of this process's own. Counted it is in that of bounds.
    std::vector<Candidate*> Mixed(std::vector<Candidate*> batch)
    {
        const auto fresh =
            std::stable_partition(batch.begin(), batch.end(), [this](const Candidate* candidate) {
                return m_sink.Knows(candidate->plan);
            });
        if (m_options.process == 0)
        {
            return batch;
        }
        // std::shuffle is not the same in every library.
        const auto known = static_cast<size_t>(fresh - batch.begin());
        for (size_t i = batch.size() - known; i > 1; i--)
        {
            std::swap(batch[known + i - 1], batch[known + m_random() % i]);
        }
        return batch;
    }

    /// By what is kept so far; the more that is, the fewer can matter.
    bool CanMatter(const Plan& plan, const ClosedForm& form) const
    {
        return m_board.CanMatter(plan.parallel.crossing,
                                 form.bound,
                                 form.memoryMax,
                                 form.crossBuildingBytes);
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
            m_reporter.Tell(m_decided, last);
        }
        if (const auto error = crew.Error())
        {
            std::rethrow_exception(error);
        }
        m_interrupted = m_interrupted || taken < jobs;
    }

    /// Whether a plan can run, and how fast at best. Called from several threads.
    void LookAt(Candidate& candidate) const
    {
        auto plan = m_space.PlanAt(m_walk.At(candidate.position));
        if (!plan)
        {
            candidate.rejected.reason = kDuplicate;
            return;
        }
        candidate.plan = std::move(*plan);
        if (!m_options.glance)
        {
            Filtered(candidate);
            return;
        }
        Hear(candidate, [this](const Scenario& scenario) { return m_options.glance(scenario); });
    }

    /// The same by the filter, as far as it is worth it.
    void Filtered(Candidate& candidate) const
    {
        const Duration glance = candidate.form.bound;
        Hear(candidate, [this, &candidate, glance](const Scenario& scenario) {
            return m_options.filter(scenario, [this, &candidate, glance](const ClosedForm& form) {
                ClosedForm known = form;
                known.bound = std::max(known.bound, glance);
                return CanMatter(candidate.plan, known);
            });
        });
        candidate.form.bound = std::max(candidate.form.bound, glance);
    }

    /// What `tell` says of the plan.
    template <class Tell>
    void Hear(Candidate& candidate, const Tell& tell) const
    {
        try
        {
            const std::variant<ClosedForm, Infeasible> told = tell(m_space.With(candidate.plan));
            if (const auto* infeasible = std::get_if<Infeasible>(&told))
            {
                candidate.rejected = *infeasible;
                return;
            }
            candidate.form = std::get<ClosedForm>(told);
        }
        catch (const ConfigError& error)
        {
            candidate.rejected = {"unsupported", error.what()};
        }
        catch (const RunError& error) // as if the engine had thrown it
        {
            candidate.failed = true;
            candidate.evaluation = Failure{error.Reason(), error.what()};
        }
    }

    /// Runs a plan, unless it is stored. Called from several threads.
    void Ask(Candidate& candidate) const
    {
        candidate.known = m_sink.Knows(candidate.plan);
        if (candidate.known || candidate.failed)
        {
            candidate.ran = !candidate.known;
            return;
        }
        RunPlan(candidate);
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
            candidate.evaluation = Infeasible{"unsupported", error.what()};
        }
    }

    /// Takes what is stored for a plan, or runs it if somebody has removed that in the meantime;
    /// false if that was interrupted.
    bool Recall(Candidate& candidate)
    {
        if (const auto stored = m_sink.Recall(candidate.position, candidate.plan))
        {
            candidate.evaluation = *stored;
            return true;
        }
        try
        {
            RunPlan(candidate);
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
        const auto filtered =
            m_options.filter(m_space.With(plan), [](const ClosedForm&) { return true; });
        const auto* form = std::get_if<ClosedForm>(&filtered);
        return form != nullptr && report.iterationTime >= form->bound;
    }

    /// A time below the bound is none: ranked, it would beat plans that were ruled out by theirs.
    static void HoldToBound(Candidate& candidate)
    {
        const auto* report = std::get_if<RunReport>(&candidate.evaluation);
        if (report != nullptr && report->iterationTime < candidate.form.bound)
        {
            candidate.evaluation = Failure{
                "below-bound",
                Label(candidate.plan) + " took " + ToString(report->iterationTime) +
                    ", but no steady state takes less than " + ToString(candidate.form.bound) +
                    "; run it by itself over more iterations"};
        }
    }

    void TakeOver(Candidate& candidate)
    {
        if (candidate.known && !Recall(candidate))
        {
            return;
        }
        candidate.taken = true;
        HoldToBound(candidate);
        if (candidate.ran)
        {
            m_sink.Add(candidate.position, candidate.plan, candidate.evaluation);
            m_engineRuns++;
        }
        if (const auto* report = std::get_if<RunReport>(&candidate.evaluation))
        {
            m_board.Offer(
                {candidate.position, candidate.plan, CanonicalText(candidate.plan), *report});
        }
        m_decided++;
        m_uncommitted++;
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
    Walk m_walk;
    std::mt19937 m_random;
    Leaderboard m_board;
    Frontier m_frontier;
    Frontier m_partial; //!< with what is decided in the block so far
    Reporter m_reporter;
    std::map<uint64_t, Failure> m_failures; //!< of looks, by position of the plan
    uint64_t m_decided{0};                  //!< positions that need no further look
    uint64_t m_engineRuns{0};
    size_t m_uncommitted{0};
    Clock::time_point m_lastCommit{Clock::now()};
    bool m_interrupted{false};
};

} // namespace

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
    return Course(space, engine, options, sink).Run();
}

} // namespace scaleacross
