// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/crew.h"
#include "core/explore/search.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <numeric>
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
constexpr uint64_t g_block = 2048;
/// Plans that run between two looks at what can be ruled out. A number of its own and not that of
/// the threads, so that what runs does not depend on these.
constexpr size_t g_batch = 64;

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

/// What is known of the plan at a position.
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
        return {m_board, m_frontier, m_engineRuns, m_interrupted};
    }

  private:
    void DoBlock()
    {
        std::vector<Candidate> block(
            static_cast<size_t>(std::min(g_block, m_space.Size() - m_frontier.next)));
        for (size_t i = 0; i < block.size(); i++)
        {
            block[i].position = m_frontier.next + i;
        }
        m_decided = m_frontier.next;
        Together(
            block.size(),
            [this, &block](size_t i) { LookAt(block[i]); },
            [this, &block](size_t i) { m_decided += block[i].rejected.reason.empty() ? 0 : 1; });
        if (m_interrupted)
        {
            return;
        }
        Frontier after = m_frontier;
        after.next += block.size();
        std::vector<Candidate*> open;
        for (Candidate& candidate : block)
        {
            if (!candidate.rejected.reason.empty())
            {
                Increment(after.rejected, candidate.rejected);
                continue;
            }
            after.bound =
                candidate.failed ? after.bound : std::min(after.bound, candidate.form.bound);
            open.push_back(&candidate);
        }
        std::stable_sort(open.begin(), open.end(), [](const Candidate* a, const Candidate* b) {
            return a->form.bound < b->form.bound;
        });
        for (auto next = open.begin(); next != open.end() && !m_interrupted;)
        {
            next = DoBatch(next, open.end(), after);
        }
        if (!m_interrupted)
        {
            m_frontier = after;
            Commit();
        }
    }

    using Place = std::vector<Candidate*>::iterator;

    /// Runs the next plans that can matter and counts them and those before them in `after`.
    Place DoBatch(Place next, Place end, Frontier& after)
    {
        std::vector<Candidate*> batch;
        for (; next != end && batch.size() < g_batch; ++next)
        {
            const Candidate& candidate = **next;
            if (CanMatter(candidate.plan, candidate.form))
            {
                batch.push_back(*next);
                continue;
            }
            m_decided++;
            Increment(after.rejected,
                      {kRuledOut,
                       Label(candidate.plan) + " cannot take less than " +
                           ToString(candidate.form.bound)});
        }
        const std::vector<Candidate*> mixed = Mixed(batch);
        Together(
            mixed.size(),
            [this, &mixed](size_t i) { Ask(*mixed[i]); },
            [this, &mixed](size_t i) { TakeOver(*mixed[i]); });
        for (const Candidate* candidate : batch)
        {
            if (const auto* no = std::get_if<Infeasible>(&candidate->evaluation))
            {
                Increment(after.rejected, *no);
            }
            else if (const auto* failure = std::get_if<Failure>(&candidate->evaluation))
            {
                Increment(after.failed, {failure->reason, failure->detail});
            }
            else
            {
                after.evaluated++;
            }
        }
        return next;
    }

    /// What is to run together in an order of this process's own. Counted it is in that of bounds.
    std::vector<Candidate*> Mixed(std::vector<Candidate*> batch)
    {
        if (m_options.process == 0)
        {
            return batch;
        }
        // std::shuffle is not the same in every library.
        for (size_t i = batch.size(); i > 1; i--)
        {
            std::swap(batch[i - 1], batch[m_random() % i]);
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
        const auto made = m_space.At(m_walk.At(candidate.position));
        if (const auto* duplicate = std::get_if<Infeasible>(&made))
        {
            candidate.rejected = *duplicate;
            return;
        }
        candidate.plan = std::get<Plan>(made);
        try
        {
            const auto canMatter = [this, &candidate](const ClosedForm& form) {
                return CanMatter(candidate.plan, form);
            };
            const auto filtered = m_options.filter(m_space.With(candidate.plan), canMatter);
            if (const auto* infeasible = std::get_if<Infeasible>(&filtered))
            {
                candidate.rejected = *infeasible;
                return;
            }
            candidate.form = std::get<ClosedForm>(filtered);
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
    Reporter m_reporter;
    uint64_t m_decided{0}; //!< positions that need no further look
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
