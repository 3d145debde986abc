// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/search.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
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
/// Looked at but not yet taken over: bounds memory if the sink is slow.
constexpr size_t g_queueLimit = 4096;

/// What a worker found out about one plan.
struct Finding
{
    uint64_t index{0};
    Plan plan;
    Duration bound{Duration::Max()};
    Evaluation evaluation;
    bool known{false}; //!< stored already: to be recalled
    bool ran{false};   //!< the engine was asked just now
};

/// Threads that look at plans in the order of their numbers.
class Workers
{
  public:
    Workers(const SearchSpace& space,
            const Engine& engine,
            const SearchOptions& options,
            const ResultSink& sink,
            uint64_t first)
        : m_space(space),
          m_engine(engine),
          m_options(options),
          m_sink(sink),
          m_next(first)
    {
        const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
        m_running = options.jobs == 0 ? cores : options.jobs;
        for (unsigned i = 0, n = m_running; i < n; i++)
        {
            m_threads.emplace_back([this] { Work(); });
        }
    }

    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    ~Workers()
    {
        {
            const std::lock_guard<std::mutex> lock(m_mutex);
            m_abort = true;
        }
        m_spaceLeft.notify_all();
        for (auto& thread : m_threads)
        {
            thread.join();
        }
    }

    /// What has been found since the last call, after at most `patience`; `last` once nothing
    /// follows.
    std::vector<Finding> Take(Clock::duration patience, bool& last)
    {
        std::unique_lock<std::mutex> lock(m_mutex);
        m_found.wait_for(lock, patience, [this] { return !m_queue.empty() || m_running == 0; });
        last = m_running == 0;
        std::vector<Finding> taken;
        taken.swap(m_queue);
        m_spaceLeft.notify_all();
        return taken;
    }

    /// The first thing thrown that no result stands for, if any.
    std::exception_ptr Error()
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        return m_error;
    }

  private:
    bool Stopped() const
    {
        return m_abort || (m_options.stop != nullptr && m_options.stop->load());
    }

    void Work()
    {
        try
        {
            while (!Stopped())
            {
                const uint64_t index = m_next.fetch_add(1);
                if (index >= m_space.Size())
                {
                    break;
                }
                Put(LookAt(index));
            }
        }
        catch (const Interrupted&)
        {
            m_abort = true;
        }
        catch (...)
        {
            m_abort = true;
            const std::lock_guard<std::mutex> lock(m_mutex);
            if (!m_error)
            {
                m_error = std::current_exception();
            }
        }
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_running--;
        m_found.notify_all();
    }

    Finding LookAt(uint64_t index) const
    {
        Finding finding;
        finding.index = index;
        const auto made = m_space.At(index);
        if (const auto* duplicate = std::get_if<Infeasible>(&made))
        {
            finding.evaluation = *duplicate;
            return finding;
        }
        finding.plan = std::get<Plan>(made);
        const Scenario scenario = m_space.With(finding.plan);
        try
        {
            const auto filtered = m_options.filter(scenario);
            if (const auto* infeasible = std::get_if<Infeasible>(&filtered))
            {
                finding.evaluation = *infeasible;
                return finding;
            }
            finding.bound = std::get<ClosedForm>(filtered).bound;
            finding.known = m_sink.Knows(finding.plan);
            finding.ran = !finding.known;
            if (finding.ran)
            {
                finding.evaluation = Evaluate(m_engine, scenario, m_options.run);
            }
        }
        catch (const ConfigError& error)
        {
            finding.evaluation = Infeasible{"unsupported", error.what()};
            finding.ran = false;
        }
        catch (const RunError& error) // of the filter: as if the engine had thrown it
        {
            finding.evaluation = Failure{error.Reason(), error.what()};
            finding.known = m_sink.Knows(finding.plan);
            finding.ran = !finding.known;
        }
        return finding;
    }

    void Put(Finding finding)
    {
        std::unique_lock<std::mutex> lock(m_mutex);
        m_spaceLeft.wait(lock, [this] { return m_queue.size() < g_queueLimit || m_abort; });
        m_queue.push_back(std::move(finding));
        m_found.notify_one();
    }

    const SearchSpace& m_space;
    const Engine& m_engine;
    const SearchOptions& m_options;
    const ResultSink& m_sink;
    std::atomic<uint64_t> m_next;
    std::atomic<bool> m_abort{false};
    std::mutex m_mutex;
    std::condition_variable m_found;
    std::condition_variable m_spaceLeft;
    std::vector<Finding> m_queue;
    std::exception_ptr m_error;
    unsigned m_running{0};
    std::vector<std::thread> m_threads;
};

/// Adds up findings in the order of their numbers, however they arrive.
class Tally
{
  public:
    explicit Tally(Frontier start)
        : m_frontier(std::move(start))
    {
    }

    void Add(const Finding& finding)
    {
        m_ahead.emplace(finding.index, Entry(finding));
        for (auto next = m_ahead.begin(); next != m_ahead.end() && next->first == m_frontier.next;
             next = m_ahead.erase(next))
        {
            Pass(next->second);
            m_frontier.next++;
        }
    }

    const Frontier& Get() const
    {
        return m_frontier;
    }

    /// Plans looked at, those beyond the frontier included.
    uint64_t Done() const
    {
        return m_frontier.next + m_ahead.size();
    }

  private:
    struct Entry
    {
        explicit Entry(const Finding& finding)
            : bound(finding.bound)
        {
            if (const auto* infeasible = std::get_if<Infeasible>(&finding.evaluation))
            {
                rejected = *infeasible;
            }
            else if (const auto* failure = std::get_if<Failure>(&finding.evaluation))
            {
                failed = *failure;
            }
        }

        Duration bound;
        Infeasible rejected;
        Failure failed;
    };

    static void Increment(std::map<std::string, Count>& counts,
                          const std::string& reason,
                          const std::string& detail)
    {
        Count& count = counts[reason];
        if (count.count++ == 0)
        {
            count.example = detail;
        }
    }

    void Pass(const Entry& entry)
    {
        if (!entry.rejected.reason.empty())
        {
            Increment(m_frontier.rejected, entry.rejected.reason, entry.rejected.detail);
            return;
        }
        m_frontier.bound = std::min(m_frontier.bound, entry.bound);
        if (!entry.failed.reason.empty())
        {
            Increment(m_frontier.failed, entry.failed.reason, entry.failed.detail);
            return;
        }
        m_frontier.evaluated++;
    }

    Frontier m_frontier;
    std::map<uint64_t, Entry> m_ahead;
};

/// Calls a progress callback now and then.
class Reporter
{
  public:
    Reporter(const SearchOptions& options, uint64_t total, uint64_t before)
        : m_callback(options.progress),
          m_total(total),
          m_before(before)
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

void
Offer(Leaderboard& board, uint64_t index, const Plan& plan, const Evaluation& evaluation)
{
    if (const auto* report = std::get_if<RunReport>(&evaluation))
    {
        board.Offer({index, plan, CanonicalText(plan), *report});
    }
}

/// Takes what is stored for a plan, or runs it if somebody has removed that in the meantime; false
/// if that was interrupted.
bool
Recall(const SearchSpace& space,
       const Engine& engine,
       const SearchOptions& options,
       ResultSink& sink,
       Finding& finding)
{
    if (const auto stored = sink.Recall(finding.index, finding.plan))
    {
        finding.evaluation = *stored;
        return true;
    }
    try
    {
        finding.evaluation = Evaluate(engine, space.With(finding.plan), options.run);
        finding.ran = true;
        return true;
    }
    catch (const Interrupted&)
    {
        return false;
    }
}

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
    SearchResult result;
    result.board = Leaderboard(options.keep);
    Tally tally(sink.Resume());
    sink.Restore([&](uint64_t index, const RunReport& report) {
        const auto made = space.At(index);
        const auto* plan = std::get_if<Plan>(&made);
        if (plan != nullptr)
        {
            Offer(result.board, index, *plan, report);
        }
        return plan != nullptr;
    });

    Reporter reporter(options, space.Size(), tally.Done());
    Workers workers(space, engine, options, sink, tally.Get().next);
    auto lastCommit = Clock::now();
    size_t uncommitted = 0;
    for (bool last = false; !last;)
    {
        for (auto& finding : workers.Take(g_batchTime, last))
        {
            if (finding.known && !Recall(space, engine, options, sink, finding))
            {
                continue;
            }
            if (finding.ran)
            {
                sink.Add(finding.index, finding.plan, finding.evaluation);
                result.engineRuns++;
            }
            Offer(result.board, finding.index, finding.plan, finding.evaluation);
            tally.Add(finding);
            uncommitted++;
            if (uncommitted >= g_batchRows)
            {
                sink.Commit(tally.Get());
                uncommitted = 0;
                lastCommit = Clock::now();
            }
        }
        if (last || (uncommitted > 0 && Clock::now() - lastCommit >= g_batchTime))
        {
            sink.Commit(tally.Get());
            uncommitted = 0;
            lastCommit = Clock::now();
        }
        reporter.Tell(tally.Done(), last);
    }
    if (const auto error = workers.Error())
    {
        std::rethrow_exception(error);
    }
    result.counts = tally.Get();
    result.interrupted = result.counts.next < space.Size();
    if (!result.interrupted)
    {
        sink.Finish(result.counts, result.board);
    }
    return result;
}

} // namespace scaleacross
