// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/search-store.h"

#include "core/base/text.h"
#include "core/store/kept-runs.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace scaleacross
{

namespace
{

/// Of none NULL stays.
void
BindIf(SQLite::Statement& statement, int position, const std::optional<double>& value)
{
    if (value)
    {
        statement.bind(position, *value);
    }
}

/// A line each.
std::string
TextOf(const std::vector<std::string>& lines)
{
    std::string text;
    for (const std::string& line : lines)
    {
        text += line + "\n";
    }
    return text;
}

/// What of it decides the answer.
std::string
TextOf(const Goals& goals)
{
    std::vector<Objective> all = goals.front.objectives;
    all.push_back(goals.objective);
    const bool priced = std::any_of(all.begin(), all.end(), [](const Objective& objective) {
        return objective->needsPrices;
    });
    return goals.objective.Name() + "\n" + FrontText(goals.front) + "\n" + NumberText(goals.gap) +
           "\n" + NumberText(goals.restGap) +
           (priced ? "\n" + NumberText(goals.rates.costPerHour.value()) : "");
}

/// What decides the answer of the whole search.
std::string
TextOf(const RunSetting& setting, const SearchSpace& space, const SearchIdentity& identity)
{
    return Text(setting) + "\n" + identity.method + "\n" + space.Text() + "\n" +
           std::to_string(identity.keep) + "\n" + TextOf(identity.goals);
}

} // namespace

std::string
SearchHash(const RunSetting& setting, const SearchSpace& space, const SearchIdentity& identity)
{
    const std::string text = TextOf(setting, space, identity);
    return HashOf(identity.shard.IsWhole() ? text : text + "\n" + ToString(identity.shard));
}

SearchStore::SearchStore(Database& database,
                         RunSetting setting,
                         const SearchSpace& space,
                         SearchIdentity identity,
                         Failures failures)
    : m_database(database),
      m_runs(database, std::move(setting), failures),
      m_space(space),
      m_identity(std::move(identity)),
      m_start(std::chrono::steady_clock::now())
{
}

double
SearchStore::Seconds() const
{
    const auto own = std::chrono::steady_clock::now() - m_start;
    return m_secondsBefore + std::chrono::duration<double>(own).count();
}

void
SearchStore::Find()
{
    if (m_id != 0)
    {
        return;
    }
    const RunSetting& setting = m_runs.Setting();
    const Goals& goals = m_identity.goals;
    const Shard& shard = m_identity.shard;
    auto& insert = m_database.Prepare(
        "INSERT INTO search (hash, study, method, scenario_id, engine, options, correction, seed, "
        "fingerprint, space, plans, keep, objective, pareto_of, gap_asked, "
        "rest_gap_asked, gpus, tokens, cost_per_hour, whole, shard, shards, settings, held) VALUES "
        "(:hash, :study, :method, :scenario, :engine, :options, :correction, :seed, :fingerprint, "
        ":space, :plans, :keep, :objective, :pareto_of, :gap_asked, :rest_gap_asked, :gpus, "
        ":tokens, :cost_per_hour, :whole, :shard, :shards, NULLIF(:settings, ''), :held) "
        // Prices by which nothing is ranked may have changed, and how the study says the same.
        "ON CONFLICT (hash) DO UPDATE SET cost_per_hour = excluded.cost_per_hour, "
        "held = excluded.held RETURNING id");
    insert.bind(":hash", SearchHash(setting, m_space, m_identity));
    if (!shard.IsWhole())
    {
        insert.bind(":whole", HashOf(TextOf(setting, m_space, m_identity)));
        insert.bind(":shard", static_cast<int64_t>(shard.index + 1));
        insert.bind(":shards", static_cast<int64_t>(shard.count));
    }
    insert.bind(":settings", m_identity.settings);
    insert.bind(":held", m_identity.held);
    insert.bind(":study", m_identity.study);
    insert.bind(":method", m_identity.method);
    insert.bind(":scenario", m_runs.ScenarioId());
    insert.bind(":engine", setting.engine);
    insert.bind(":options", setting.options);
    insert.bind(":correction", setting.correction);
    if (setting.seed)
    {
        insert.bind(":seed", static_cast<int64_t>(*setting.seed));
    }
    insert.bind(":fingerprint", setting.fingerprint);
    insert.bind(":space", m_space.Text());
    insert.bind(":plans", static_cast<int64_t>(Positions()));
    insert.bind(":keep", static_cast<int64_t>(m_identity.keep));
    insert.bind(":objective", goals.objective.Name());
    insert.bind(":pareto_of", FrontText(goals.front));
    insert.bind(":gap_asked", goals.gap);
    insert.bind(":rest_gap_asked", goals.restGap);
    insert.bind(":gpus", static_cast<int64_t>(goals.rates.gpus));
    insert.bind(":tokens", goals.rates.tokens);
    if (goals.rates.costPerHour)
    {
        insert.bind(":cost_per_hour", *goals.rates.costPerHour);
    }
    insert.executeStep();
    m_id = insert.getColumn(0).getInt64();
    insert.reset();
    // Of several ways to ask the one that changes least names the search: the study as it is may
    // have been a point of a sweep. What decides no answer does not count.
    const std::string effects =
        "(SELECT count(*) FROM json_each($) WHERE key NOT IN ('study', 'engines', 'baselines'))";
    const auto of = [&effects](const std::string& settings) {
        return std::string(effects).replace(effects.find('$'), 1, settings);
    };
    auto& update = m_database.Prepare("UPDATE search SET settings = NULLIF(?1, '') WHERE id = ?2 "
                                      "AND " +
                                      of("NULLIF(?1, '')") + " < " + of("settings"));
    update.bind(1, m_identity.settings);
    update.bind(2, m_id);
    Database::Run(update);
}

/// Those that it goes through.
uint64_t
SearchStore::Positions() const
{
    return m_identity.shard.Positions(m_space.Size(), m_space.FamilySize(0));
}

/// A position of them in the order of the whole, by which files know them.
uint64_t
SearchStore::InWhole(uint64_t position) const
{
    return m_identity.shard.Begin(m_space.Size(), m_space.FamilySize(0)) + position;
}

SearchStore::State
SearchStore::Now()
{
    auto& row = m_database.Prepare("SELECT next_plan, finished FROM search WHERE id = ?");
    row.bind(1, m_id);
    State state;
    if (row.executeStep())
    {
        state.next = static_cast<uint64_t>(row.getColumn(0).getInt64());
        state.finished = row.getColumn(1).getInt() != 0;
    }
    row.reset();
    return state;
}

void
SearchStore::TakeOver()
{
    // It changes with every commit of somebody else.
    const int64_t version = m_database.Pragma("data_version");
    if (version == m_dataVersion)
    {
        return;
    }
    m_dataVersion = version;
    const auto runs = m_runs.Since(m_lastRun);
    const std::lock_guard<std::mutex> lock(m_mutex);
    for (const auto& [hash, run] : runs)
    {
        m_known.insert(hash);
        m_lastRun = std::max(m_lastRun, run);
    }
}

Frontier
SearchStore::Load()
{
    auto& row = m_database.Prepare("SELECT seconds FROM search WHERE id = ?");
    row.bind(1, m_id);
    row.executeStep();
    m_secondsBefore = row.getColumn(0).getDouble();
    row.reset();
    return CountsOf(m_database, m_id);
}

/// Takes back what was concluded, and which runs are kept: that is of other runs.
void
SearchStore::ForgetAnswer()
{
    for (const char* sql : {
             "UPDATE search SET gap = NULL, explanation = NULL, topics = NULL, robust = NULL, "
             "sure = NULL, placement_probability = NULL, time_error_kind = NULL, time_error_mean = "
             "NULL, time_error_within = NULL, time_error_worst = NULL, time_error_runs = NULL, "
             "time_error_families = NULL, time_error_figures_of = NULL, time_error_unvalidated = "
             "NULL, warnings = NULL, checked = NULL, so_far = NULL WHERE id = ?",
             "UPDATE search_run SET rank = NULL, pareto = 0, best_of_crossing = 0, "
             "probability_best = NULL, probability_slower = NULL, same_as = NULL "
             "WHERE search_id = ?",
             "UPDATE baseline SET probability_slower = NULL WHERE search_id = ?",
         })
    {
        auto& statement = m_database.Prepare(sql);
        statement.bind(1, m_id);
        Database::Run(statement);
    }
}

/// Takes back an answer that has some of the runs alone, where others have come.
void
SearchStore::ForgetSoFar()
{
    auto& select = m_database.Prepare("SELECT so_far IS NOT NULL FROM search WHERE id = ?");
    select.bind(1, m_id);
    const bool isSoFar = select.executeStep() && select.getColumn(0).getInt() != 0;
    select.reset();
    if (isSoFar)
    {
        ForgetAnswer();
    }
}

/// Back to the beginning, and without an answer. Runs stay, and are found again by their plans.
void
SearchStore::Reopen()
{
    ForgetAnswer();
    for (const char* sql : {
             "UPDATE search SET next_plan = 0, evaluated = 0, bound_s = NULL, ruled_out_least = "
             "NULL, proven_after = NULL, finished = 0 WHERE id = ?",
             "DELETE FROM search_count WHERE search_id = ?",
             "DELETE FROM search_run WHERE search_id = ? AND run_id IN "
             "(SELECT id FROM run WHERE status = 'failed')",
         })
    {
        auto& statement = m_database.Prepare(sql);
        statement.bind(1, m_id);
        Database::Run(statement);
    }
}

Frontier
SearchStore::Resume()
{
    Frontier frontier;
    m_database.Transact([&] {
        Find();
        frontier = Load();
        if (m_runs.HasOpenFailures(m_id))
        {
            Reopen();
            frontier = Load();
        }
        TakeOver();
    });
    m_resumed = frontier.next;
    return frontier;
}

Frontier
SearchStore::KnownBefore()
{
    Frontier known;
    m_database.Transact([&] {
        Find();
        known = KnownCounts(m_database, m_id);
    });
    return known;
}

void
SearchStore::Restore(uint64_t below, const std::function<bool(uint64_t, const RunReport&)>& visit)
{
    // One state of the file: another process may finish, and prune, at any time.
    m_database.Snapshot([&] {
        auto& select = m_database.Prepare(
            "SELECT plan_index, run_id FROM search_run WHERE search_id = ? ORDER BY plan_index");
        select.bind(1, m_id);

        struct Found
        {
            int64_t index;
            uint64_t own;
            int64_t run;
        };

        std::vector<Found> rows;
        while (select.executeStep())
        {
            const int64_t index = select.getColumn(0).getInt64();
            const uint64_t own = static_cast<uint64_t>(index) - InWhole(0);
            if (index < 0 || static_cast<uint64_t>(index) < InWhole(0) || own >= Positions())
            {
                select.reset();
                RefuseIndex(index);
            }
            if (own < below)
            {
                rows.push_back({index, own, select.getColumn(1).getInt64()});
            }
        }
        select.reset();
        for (const auto& [index, own, run] : rows)
        {
            const StoredRun stored = LoadRun(m_database, run);
            const auto* report = std::get_if<RunReport>(&stored.evaluation);
            if (report != nullptr && !visit(own, *report))
            {
                RefuseIndex(index);
            }
        }
    });
}

void
SearchStore::RefuseIndex(int64_t index) const
{
    m_database.Damaged("plan_index of search_run is " + std::to_string(index) +
                       ", which is no plan of this search");
}

bool
SearchStore::Knows(const Plan& plan) const
{
    const std::string hash = HashOf(CanonicalText(plan));
    const std::lock_guard<std::mutex> lock(m_mutex);
    return m_known.count(hash) > 0;
}

std::optional<Evaluation>
SearchStore::Recall(const Plan& plan)
{
    const auto stored = m_runs.Load(plan);
    return stored ? std::optional(stored->evaluation) : std::nullopt;
}

void
SearchStore::Add(const Plan& plan, const Evaluation& evaluation)
{
    m_added.emplace_back(plan, evaluation);
}

void
SearchStore::CountIn(uint64_t index, const Plan& plan, const Evaluation& evaluation)
{
    m_counted.push_back({index, plan, evaluation});
}

/// Whether that is new.
bool
SearchStore::Link(uint64_t index, int64_t run, const Plan& plan)
{
    auto& insert = m_database.Prepare(
        "INSERT INTO search_run (search_id, plan_index, run_id, label) VALUES (?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING");
    insert.bind(1, m_id);
    insert.bind(2, static_cast<int64_t>(InWhole(index)));
    insert.bind(3, run);
    insert.bind(4, m_space.LabelOf(plan));
    const bool isNew = insert.exec() > 0;
    insert.reset();
    return isNew;
}

/// Whether that is new.
bool
SearchStore::PutRow(const Row& row)
{
    // An engine that finds a plan infeasible after all: counted, as by the filter.
    return !std::holds_alternative<Infeasible>(row.evaluation) &&
           Link(row.index, m_runs.Put(row.plan, row.evaluation, false), row.plan);
}

void
SearchStore::PutFrontier(const Frontier& frontier)
{
    auto& spent = m_database.Prepare(
        "UPDATE search SET engine_runs = engine_runs + :runs, seconds = MAX(seconds, :seconds), "
        "updated_at = CURRENT_TIMESTAMP WHERE id = :id");
    spent.bind(":runs", static_cast<int64_t>(m_added.size()));
    spent.bind(":seconds", Seconds());
    spent.bind(":id", m_id);
    Database::Run(spent);
    const State now = Now();
    if (now.finished || frontier.next < now.next)
    {
        return; // another process is farther, and has counted all of this
    }
    auto& update = m_database.Prepare(
        "UPDATE search SET next_plan = :next, evaluated = :evaluated, bound_s = :bound, "
        "ruled_out_least = :left, proven_after = :proven WHERE id = :id");
    update.bind(":next", static_cast<int64_t>(frontier.next));
    update.bind(":evaluated", static_cast<int64_t>(frontier.evaluated));
    if (frontier.bound != Duration::Max())
    {
        update.bind(":bound", frontier.bound.S());
    }
    if (std::isfinite(frontier.left))
    {
        update.bind(":left", frontier.left);
    }
    if (frontier.provenAfter)
    {
        update.bind(":proven", static_cast<int64_t>(*frontier.provenAfter));
    }
    update.bind(":id", m_id);
    Database::Run(update);
    // The counts belong to the frontier as a whole, not reason by reason.
    auto& clear = m_database.Prepare("DELETE FROM search_count WHERE search_id = ?");
    clear.bind(1, m_id);
    Database::Run(clear);
    const auto put = [this](const char* outcome, const std::map<std::string, Count>& counts) {
        for (const auto& [reason, count] : counts)
        {
            auto& insert = m_database.Prepare("INSERT INTO search_count "
                                              "(search_id, outcome, reason, count, example) "
                                              "VALUES (?, ?, ?, ?, ?)");
            insert.bind(1, m_id);
            insert.bind(2, outcome);
            insert.bind(3, reason);
            insert.bind(4, static_cast<int64_t>(count.count));
            insert.bind(5, count.example);
            Database::Run(insert);
        }
    };
    put("rejected", frontier.rejected);
    put("failed", frontier.failed);
}

void
SearchStore::Commit(const Frontier& frontier)
{
    m_database.Transact([&] {
        // What another process has finished has been reduced to what is kept.
        if (!Now().finished)
        {
            PutRows();
        }
        PutFrontier(frontier);
    });
    m_added.clear();
    m_counted.clear();
    TakeOver();
}

void
SearchStore::PutRows()
{
    for (const auto& [plan, evaluation] : m_added)
    {
        if (!std::holds_alternative<Infeasible>(evaluation))
        {
            m_runs.Put(plan, evaluation, false);
        }
    }
    bool isNew = false;
    for (const auto& row : m_counted)
    {
        // Another process may have removed it since.
        const auto run = m_runs.Find(row.plan);
        const bool own = run ? Link(row.index, *run, row.plan) : PutRow(row);
        isNew = isNew || own;
    }
    if (isNew)
    {
        ForgetSoFar();
    }
}

void
SearchStore::Finish(const Frontier& frontier, const Leaderboard& board)
{
    m_database.Transact([&] {
        if (Now().finished)
        {
            return; // by another process, with the same answer
        }
        PutFrontier(frontier);
        ForgetSoFar();
        MarkKept(m_database, m_id, board, [this](uint64_t index) { return InWhole(index); });
        Prune(m_database, m_id);
        auto& update = m_database.Prepare("UPDATE search SET finished = 1 WHERE id = ?");
        update.bind(1, m_id);
        Database::Run(update);
    });
    m_database.ReturnSpace();
}

void
SearchStore::PutBaselineRow(const std::string& name,
                            const std::optional<RunOfPlan>& run,
                            const Infeasible& reason,
                            const std::string& assumed)
{
    Find();
    ForgetSoFar();
    auto& insert = m_database.Prepare(
        "INSERT INTO baseline (search_id, name, run_id, label, reason, detail) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET run_id = excluded.run_id, "
        "label = excluded.label, reason = excluded.reason, detail = excluded.detail");
    insert.bind(1, m_id);
    insert.bind(2, name);
    if (run)
    {
        insert.bind(3, run->run);
        insert.bind(4, run->label);
        if (!assumed.empty())
        {
            insert.bind(6, assumed);
        }
    }
    else
    {
        insert.bind(5, reason.reason);
        insert.bind(6, reason.detail);
    }
    Database::Run(insert);
}

void
SearchStore::PutBaseline(const std::string& name, const Plan& plan, const Evaluation& evaluation)
{
    PutBaseline(name, m_runs, plan, m_space.LabelOf(plan), evaluation);
}

void
SearchStore::PutBaseline(const std::string& name,
                         RunStore& runs,
                         const Plan& plan,
                         const std::string& label,
                         const Evaluation& evaluation,
                         const std::string& assumed)
{
    m_database.Transact([&] {
        const auto stored = runs.Find(plan);
        if (stored)
        {
            runs.Request(*stored);
        }
        const int64_t run = stored ? *stored : runs.Put(plan, evaluation, true);
        PutBaselineRow(name, RunOfPlan{run, label}, {}, assumed);
    });
}

void
SearchStore::PutBaseline(const std::string& name, const Infeasible& reason)
{
    m_database.Transact([&] { PutBaselineRow(name, std::nullopt, reason); });
}

std::optional<KeptBaseline>
SearchStore::FindBaseline(const std::string& name)
{
    std::optional<KeptBaseline> found;
    m_database.Snapshot([&] {
        for (KeptBaseline& baseline : BaselinesOf(m_database, m_id))
        {
            if (baseline.name == name && (!baseline.run || m_runs.Answers(*baseline.run)))
            {
                found = std::move(baseline);
            }
        }
    });
    return found;
}

bool
SearchStore::SaysMoreThan(const std::vector<std::string>& baselines)
{
    auto& select = m_database.Prepare("SELECT name FROM baseline JOIN search ON search.id = "
                                      "search_id WHERE search_id = ? AND explanation IS NOT NULL");
    select.bind(1, m_id);
    bool more = false;
    while (select.executeStep())
    {
        const std::string name = select.getColumn(0).getString();
        more = more || std::find(baselines.begin(), baselines.end(), name) == baselines.end();
    }
    select.reset();
    return more;
}

void
SearchStore::PutConclusion(const Conclusion& conclusion)
{
    std::string text;
    std::string topics;
    for (const Statement& line : conclusion.explanation)
    {
        text += line.text + "\n";
        topics += line.topic + "\n";
    }
    auto& update = m_database.Prepare(
        "UPDATE search SET gap = ?, explanation = ?, seconds = ?, sure = ?, time_error_kind = ?, "
        "time_error_mean = ?, time_error_worst = ?, time_error_runs = ?, topics = ?, "
        "placement_probability = ?, warnings = ?, time_error_within = ?, time_error_families = ?, "
        "time_error_figures_of = ?, time_error_unvalidated = ?, checked = NULL, so_far = NULL "
        "WHERE id = ?");
    BindIf(update, 1, conclusion.gap);
    update.bind(2, text);
    update.bind(3, Seconds());
    BindIf(update, 4, conclusion.sure);
    if (conclusion.timeError)
    {
        update.bind(5, conclusion.timeError->kind);
        update.bind(6, conclusion.timeError->mean);
        update.bind(7, conclusion.timeError->worst);
        update.bind(8, conclusion.timeError->runs);
    }
    update.bind(9, topics);
    BindIf(update, 10, conclusion.placement);
    update.bind(11, TextOf(conclusion.warnings));
    if (conclusion.timeError)
    {
        update.bind(12, conclusion.timeError->within);
        update.bind(13, conclusion.timeError->families);
        update.bind(14, TextOf(conclusion.timeError->figuresOf));
        update.bind(15, conclusion.timeError->unvalidated);
    }
    update.bind(16, m_id);
    Database::Run(update);
}

void
SearchStore::PutSureness(const Conclusion& conclusion)
{
    for (size_t i = 0; i < conclusion.plans.size(); i++)
    {
        const PlanSureness& plan = conclusion.plans[i];
        auto& update = m_database.Prepare(
            "UPDATE search_run SET probability_best = ?, probability_slower = ?, same_as = ? "
            "WHERE search_id = ? AND rank = ?");
        BindIf(update, 1, plan.best);
        BindIf(update, 2, plan.slower);
        if (plan.sameAs > 0)
        {
            update.bind(3, static_cast<int64_t>(plan.sameAs));
        }
        update.bind(4, m_id);
        update.bind(5, static_cast<int64_t>(i + 1));
        Database::Run(update);
    }
    for (const auto& [name, slower] : conclusion.baselines)
    {
        auto& update = m_database.Prepare(
            "UPDATE baseline SET probability_slower = ? WHERE search_id = ? AND name = ?");
        update.bind(1, slower);
        update.bind(2, m_id);
        update.bind(3, name);
        Database::Run(update);
    }
}

void
SearchStore::Conclude(const Conclusion& conclusion)
{
    m_database.Transact([&] {
        PutConclusion(conclusion);
        PutSureness(conclusion);
    });
}

/// Whether there is an answer of all that runs so far, as there is where a time was up.
bool
SearchStore::IsConcludedSoFar()
{
    auto& select = m_database.Prepare("SELECT so_far FROM search WHERE id = ?");
    select.bind(1, m_id);
    select.executeStep();
    const std::string text = select.getColumn(0).getString();
    select.reset();
    return !text.empty() && SoFarOf(m_database, text, Positions()).end == SoFar::End::Time;
}

void
SearchStore::ConcludeSoFar(const Conclusion& conclusion,
                           const SoFar& soFar,
                           const Leaderboard& board)
{
    m_database.Transact([&] {
        // What another process has finished is the answer. And of the same runs one that was
        // concluded in full says more than one that was stopped at once.
        if (Now().finished || (soFar.end == SoFar::End::Signal && IsConcludedSoFar()))
        {
            return;
        }
        ForgetAnswer();
        MarkKept(m_database, m_id, board, [this](uint64_t index) { return InWhole(index); });
        PutConclusion(conclusion);
        PutSureness(conclusion);
        auto& update = m_database.Prepare("UPDATE search SET so_far = ? WHERE id = ?");
        update.bind(1, ToText(soFar));
        update.bind(2, m_id);
        Database::Run(update);
    });
}

void
StoreChecked(Database& database, int64_t search, const std::vector<std::string>& sentences)
{
    auto& update = database.Prepare("UPDATE search SET checked = ? WHERE id = ?");
    update.bind(1, TextOf(sentences));
    update.bind(2, search);
    database.Transact([&update] { Database::Run(update); });
}

void
StoreRobust(Database& database, int64_t search, const std::string& answer)
{
    auto& update = database.Prepare(
        "UPDATE search SET robust = ?, updated_at = CURRENT_TIMESTAMP WHERE id = ?");
    update.bind(1, answer);
    update.bind(2, search);
    database.Transact([&update] { Database::Run(update); });
}

} // namespace scaleacross
