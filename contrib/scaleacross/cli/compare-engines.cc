// SPDX-License-Identifier: GPL-2.0-only

#include "cli/compare-engines.h"

#include "cli/engines.h"
#include "core/store/run-store.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

namespace scaleacross
{

namespace
{

/// One run to make, and what became of it.
struct Job
{
    size_t plan;
    size_t engine;
    std::optional<Evaluation> evaluation;
};

/// Runs of an engine, and where they are stored.
struct StoredEngine
{
    std::unique_ptr<Engine> engine;
    RunStore store;
};

/// What is stored for a plan, if anything; it is kept from now on.
std::optional<Evaluation>
TakeStored(Database& database, StoredEngine& engine, const Plan& plan)
{
    RunStore& store = engine.store;
    std::optional<Evaluation> evaluation;
    database.Transact([&] {
        if (const auto run = store.Find(plan))
        {
            store.Request(*run);
            evaluation = LoadRun(database, *run).evaluation;
        }
    });
    return evaluation;
}

/// Runs jobs on several threads; stores each result under a lock.
class Runner
{
  public:
    Runner(const SearchSpace& space,
           const std::vector<Plan>& plans,
           std::vector<StoredEngine>& engines,
           const CompareSetting& setting,
           Database& database,
           const std::atomic<bool>& stop,
           CompareProgress& progress)
        : m_space(space),
          m_plans(plans),
          m_engines(engines),
          m_setting(setting),
          m_database(database),
          m_stop(stop),
          m_progress(progress)
    {
    }

    void Run(std::vector<Job>& jobs)
    {
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < JobsOf(m_setting.common); i++)
        {
            threads.emplace_back([this, &jobs] { Work(jobs); });
        }
        for (auto& thread : threads)
        {
            thread.join();
        }
        if (m_error)
        {
            std::rethrow_exception(m_error);
        }
    }

  private:
    void Work(std::vector<Job>& jobs)
    {
        while (!m_stop && !m_failed)
        {
            const size_t turn = m_next.fetch_add(1);
            if (turn >= jobs.size())
            {
                return;
            }
            try
            {
                // Begun at different places, several processes do not run the same at one time.
                Do(jobs[(turn + m_first) % jobs.size()]);
            }
            catch (const Interrupted&)
            {
                return;
            }
            catch (...)
            {
                const std::lock_guard<std::mutex> lock(m_mutex);
                m_failed = true;
                m_error = std::current_exception();
            }
        }
    }

    void Do(Job& job)
    {
        if (job.evaluation = StoredMeanwhile(job); job.evaluation)
        {
            m_progress.Skip(1);
            return;
        }
        Make(job);
        m_progress.Add();
    }

    void Make(Job& job)
    {
        const Plan& plan = m_plans[job.plan];
        try
        {
            job.evaluation =
                Evaluate(*m_engines[job.engine].engine, m_space.With(plan), m_setting.run);
        }
        catch (const ConfigError& error)
        {
            job.evaluation = RefusalOf(error);
            return;
        }
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_database.Transact([&] { m_engines[job.engine].store.Put(plan, *job.evaluation, true); });
    }

    /// What another process has found out since this one began.
    std::optional<Evaluation> StoredMeanwhile(const Job& job)
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        return TakeStored(m_database, m_engines[job.engine], m_plans[job.plan]);
    }

    const SearchSpace& m_space;
    const std::vector<Plan>& m_plans;
    std::vector<StoredEngine>& m_engines;
    const CompareSetting& m_setting;
    Database& m_database;
    const std::atomic<bool>& m_stop;
    const size_t m_first{static_cast<size_t>(getpid())};
    std::atomic<size_t> m_next{0};
    std::atomic<bool> m_failed{false};
    std::mutex m_mutex;
    std::exception_ptr m_error;
    CompareProgress& m_progress;
};

} // namespace

CompareProgress::CompareProgress(uint64_t total)
    : m_total(total)
{
}

void
CompareProgress::Skip(uint64_t runs)
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_done += runs;
}

void
CompareProgress::Add()
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_done++;
    m_made++;
    const auto elapsed = std::chrono::steady_clock::now() - m_start;
    const double seconds = std::chrono::duration<double>(elapsed).count();
    m_line.Show({m_done, m_total, static_cast<double>(m_made) / std::max(seconds, 1e-9)});
}

std::vector<Comparison>
CompareEngines(const Study& study,
               const SearchSpace& space,
               const std::vector<Plan>& plans,
               const std::vector<std::string>& names,
               const CompareSetting& setting,
               Database& database,
               const std::atomic<bool>& stop,
               CompareProgress& progress)
{
    std::vector<StoredEngine> engines;
    for (const auto& name : names)
    {
        auto engine = MakeSweepEngine(name, "engines", stop);
        RunStore store(database,
                       MakeRunSetting(study.scenario, *engine, setting.run),
                       setting.failures);
        engines.push_back({std::move(engine), std::move(store)});
    }
    std::vector<std::vector<std::optional<Evaluation>>> found(
        plans.size(),
        std::vector<std::optional<Evaluation>>(names.size()));
    std::vector<Job> jobs;
    for (size_t p = 0; p < plans.size(); p++)
    {
        for (size_t e = 0; e < names.size(); e++)
        {
            found[p][e] = TakeStored(database, engines[e], plans[p]);
            if (!found[p][e])
            {
                jobs.push_back({p, e, std::nullopt});
            }
        }
    }
    progress.Skip(plans.size() * names.size() - jobs.size());
    Runner(space, plans, engines, setting, database, stop, progress).Run(jobs);
    for (auto& job : jobs)
    {
        found[job.plan][job.engine] = std::move(job.evaluation);
    }
    std::vector<Comparison> comparisons;
    for (size_t p = 0; p < plans.size(); p++)
    {
        Comparison comparison{plans[p], {}, {}};
        for (size_t e = 0; e < names.size(); e++)
        {
            if (found[p][e])
            {
                comparison.engines.push_back(engines[e].engine->Name());
                comparison.evaluations.push_back(*found[p][e]);
            }
        }
        comparisons.push_back(std::move(comparison));
    }
    return comparisons;
}

} // namespace scaleacross
