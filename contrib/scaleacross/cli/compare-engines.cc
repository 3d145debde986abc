// SPDX-License-Identifier: GPL-2.0-only

#include "cli/compare-engines.h"

#include "cli/engines.h"
#include "core/store/run-store.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/core.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

namespace scaleacross
{

namespace
{

/// A set's plan on an engine.
struct Place
{
    size_t set;
    size_t plan;
    size_t engine;
};

/// One run, and what became of it.
struct Job
{
    Place place;      //!< the first that asks for it
    uint64_t asks{0}; //!< how many do
    std::optional<Evaluation> evaluation;
};

/// All runs, each once, and the number of that which each place asks for.
struct JobList
{
    std::vector<Job> jobs;
    std::vector<size_t> numbers; //!< by set, plan and engine
};

/// What is stored for a plan, if anything; it is kept from now on.
std::optional<Evaluation>
TakeStored(Database& database, RunStore& store, const Plan& plan)
{
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

/// Of all places; what is stored is taken.
JobList
JobsOfAll(const std::vector<ComparedSet>& sets,
          std::vector<std::vector<RunStore>>& stores,
          Database& database,
          CompareProgress& progress)
{
    JobList list;
    std::map<std::string, size_t> numbers; // by setting and plan
    for (size_t s = 0; s < sets.size(); s++)
    {
        std::vector<std::string> settings;
        for (const RunStore& store : stores[s])
        {
            settings.push_back(HashOf(Text(store.Setting())));
        }
        for (size_t p = 0; p < sets[s].plans.size(); p++)
        {
            const Plan& plan = sets[s].plans[p];
            const std::string text = CanonicalText(plan);
            for (size_t e = 0; e < stores[s].size(); e++)
            {
                const auto [found, isNew] =
                    numbers.try_emplace(settings[e] + text, list.jobs.size());
                if (isNew)
                {
                    list.jobs.push_back({{s, p, e}, 0, TakeStored(database, stores[s][e], plan)});
                }
                Job& job = list.jobs[found->second];
                job.asks++;
                list.numbers.push_back(found->second);
                progress.Skip(job.evaluation ? 1 : 0);
            }
        }
    }
    return list;
}

/// Runs jobs on several threads; stores each result under a lock.
class Runner
{
  public:
    /// `stores`: by set and engine.
    Runner(const std::vector<ComparedSet>& sets,
           const std::vector<std::unique_ptr<Engine>>& engines,
           std::vector<std::vector<RunStore>>& stores,
           unsigned threads,
           Database& database,
           const std::atomic<bool>& stop,
           CompareProgress& progress)
        : m_sets(sets),
          m_engines(engines),
          m_stores(stores),
          m_threads(threads),
          m_database(database),
          m_stop(stop),
          m_progress(progress)
    {
    }

    void Run(const std::vector<Job*>& jobs)
    {
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < m_threads; i++)
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
    void Work(const std::vector<Job*>& jobs)
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
                Do(*jobs[(turn + m_first) % jobs.size()]);
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
            m_progress.Skip(job.asks);
            return;
        }
        Make(job);
        m_progress.Skip(job.asks - 1);
        m_progress.Add();
    }

    void Make(Job& job)
    {
        const ComparedSet& set = m_sets[job.place.set];
        const Plan& plan = set.plans[job.place.plan];
        try
        {
            job.evaluation =
                Evaluate(*m_engines[job.place.engine], set.space.With(plan), set.setting.run);
        }
        catch (const ConfigError& error)
        {
            job.evaluation = RefusalOf(error);
            return;
        }
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_database.Transact([&] { StoreOf(job).Put(plan, *job.evaluation, true); });
    }

    /// What another process has found out since this one began.
    std::optional<Evaluation> StoredMeanwhile(const Job& job)
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        const Plan& plan = m_sets[job.place.set].plans[job.place.plan];
        return TakeStored(m_database, StoreOf(job), plan);
    }

    RunStore& StoreOf(const Job& job)
    {
        return m_stores[job.place.set][job.place.engine];
    }

    const std::vector<ComparedSet>& m_sets;
    const std::vector<std::unique_ptr<Engine>>& m_engines;
    std::vector<std::vector<RunStore>>& m_stores;
    unsigned m_threads;
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
    // How long those that are left will take is not known: engines and points differ widely.
    m_line.ShowShare(
        m_done,
        m_total,
        fmt::format("  {:.1f}/s", static_cast<double>(m_made) / std::max(seconds, 1e-9)));
}

std::vector<std::vector<Comparison>>
CompareEngines(const std::vector<ComparedSet>& sets,
               const std::vector<std::unique_ptr<Engine>>& engines,
               unsigned threads,
               Database& database,
               const std::atomic<bool>& stop,
               CompareProgress& progress)
{
    std::vector<std::vector<RunStore>> stores;
    for (const ComparedSet& set : sets)
    {
        stores.emplace_back();
        for (const auto& engine : engines)
        {
            stores.back().emplace_back(database,
                                       MakeRunSetting(set.study.scenario, *engine, set.setting.run),
                                       set.setting.failures);
        }
    }
    JobList list = JobsOfAll(sets, stores, database, progress);
    std::vector<Job*> missing;
    for (Job& job : list.jobs)
    {
        if (!job.evaluation)
        {
            missing.push_back(&job);
        }
    }
    Runner(sets, engines, stores, threads, database, stop, progress).Run(missing);
    std::vector<std::vector<Comparison>> all;
    auto number = list.numbers.begin();
    for (const ComparedSet& set : sets)
    {
        all.emplace_back();
        for (const Plan& plan : set.plans)
        {
            Comparison comparison{plan, {}, {}};
            for (const auto& engine : engines)
            {
                if (const auto& found = list.jobs[*number++].evaluation)
                {
                    comparison.engines.push_back(engine->Name());
                    comparison.evaluations.push_back(*found);
                }
            }
            all.back().push_back(std::move(comparison));
        }
    }
    return all;
}

std::vector<Comparison>
CompareEngines(const Study& study,
               const SearchSpace& space,
               const std::vector<Plan>& plans,
               const std::vector<std::unique_ptr<Engine>>& engines,
               const CompareSetting& setting,
               Database& database,
               const std::atomic<bool>& stop,
               CompareProgress& progress)
{
    return CompareEngines({{study, space, plans, setting}},
                          engines,
                          JobsOf(setting.common),
                          database,
                          stop,
                          progress)
        .front();
}

} // namespace scaleacross
