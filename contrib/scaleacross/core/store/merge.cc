// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/merge.h"

#include "core/base/text.h"
#include "core/explore/leaderboard.h"
#include "core/store/kept-runs.h"
#include "core/store/schema.h"
#include "core/store/search-reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

using Columns = std::vector<std::string>;

/// What makes the key of a search (SearchStore), as people call it, and whether its value tells
/// them something.
struct KeyColumn
{
    const char* column;
    const char* name;
    bool told;
};

const KeyColumn g_key[] = {{"objective", "objective", true},
                           {"keep", "keep", true},
                           {"pareto_of", "pareto", true},
                           {"gap_asked", "gap", true},
                           {"rest_gap_asked", "rest gap", true},
                           {"method", "method", true},
                           {"settings", "set", true},
                           {"engine", "engine", true},
                           {"seed", "seed", true},
                           {"cost_per_hour", "cost per hour", true},
                           {"scenario_id", "study", false},
                           {"space", "search space", false},
                           {"options", "options of the engine", false},
                           {"correction", "corrections", false},
                           {"fingerprint", "release of the program", false}};

/// Parts of a run.
const char* const g_parts[] = {"run_class",
                               "run_memory",
                               "run_resource",
                               "run_correction",
                               "run_correction_note",
                               "run_fast_forward"};

Columns
ColumnsOfTable(Database& database, const std::string& table)
{
    auto& select =
        database.Prepare("SELECT name FROM pragma_table_info('" + table + "') ORDER BY cid");
    Columns columns;
    while (select.executeStep())
    {
        columns.push_back(select.getColumn(0).getString());
    }
    select.reset();
    return columns;
}

Columns
Without(Columns columns, const std::set<std::string>& some)
{
    columns.erase(std::remove_if(columns.begin(),
                                 columns.end(),
                                 [&](const std::string& name) { return some.count(name) > 0; }),
                  columns.end());
    return columns;
}

/// `before` and each column in quotes and `after`, separated by commas.
std::string
List(const Columns& columns, const std::string& before = "", const std::string& after = "")
{
    std::string list;
    for (const auto& column : columns)
    {
        list += (list.empty() ? "" : ", ") + before;
        list += "\"" + column + "\"" + after;
    }
    return list;
}

/// "a" = excluded."a", ...
std::string
Assign(const Columns& columns, const std::string& from)
{
    std::string list;
    for (const auto& column : columns)
    {
        list += (list.empty() ? "\"" : ", \"") + column + "\" = " + from + "\"" + column + "\"";
    }
    return list;
}

void
BindAs(SQLite::Statement& statement, int position, const SQLite::Column& value)
{
    if (value.isInteger())
    {
        statement.bind(position, value.getInt64());
    }
    else if (value.isFloat())
    {
        statement.bind(position, value.getDouble());
    }
    else if (!value.isNull())
    {
        statement.bind(position, value.getString());
    }
}

/// One call of Merge(). What the files hold is gathered in temporary tables first, with the number
/// of its file: 0 is the output itself.
class Merger
{
  public:
    explicit Merger(Database& out)
        : m_out(out)
    {
        for (const char* table : {"scenario",
                                  "network",
                                  "plan",
                                  "run",
                                  "run_class",
                                  "run_memory",
                                  "run_resource",
                                  "run_correction",
                                  "run_correction_note",
                                  "run_fast_forward",
                                  "collective_run",
                                  "search",
                                  "sweep",
                                  "sweep_point",
                                  "search_count",
                                  "search_run",
                                  "baseline"})
        {
            m_columns[table] = ColumnsOfTable(m_out, table);
            m_out.Execute(std::string("CREATE TEMP TABLE from_") + table +
                          " AS SELECT 0 AS source, " + List(m_columns[table]) + " FROM main." +
                          table + " WHERE 0");
        }
    }

    void Gather(const std::string& path)
    {
        Database from(path, Database::Access::Read);
        m_source++;
        from.Snapshot([&] {
            auto& broken = from.Prepare("PRAGMA foreign_key_check");
            if (broken.executeStep())
            {
                const std::string table = broken.getColumn(0).getString();
                broken.reset();
                from.Damaged("a row of " + table + " belongs to one that is not there");
            }
            for (const auto& [table, columns] : m_columns)
            {
                m_out.Snapshot([&, &table = table] { Copy(from, table); });
            }
        });
    }

    std::vector<MergedShards> Join()
    {
        for (const char* table : {"scenario", "network", "plan", "run", "search", "sweep"})
        {
            m_out.Execute(std::string("INSERT INTO from_") + table + " SELECT 0, " +
                          List(m_columns[table]) + " FROM main." + table);
        }
        for (const auto& [table, columns] : m_columns)
        {
            const std::string key = std::find(columns.begin(), columns.end(), "id") != columns.end()
                                        ? "id"
                                    : table.rfind("run", 0) == 0 ? "run_id"
                                                                 : "search_id";
            m_out.Execute("CREATE INDEX temp.by_" + table + " ON from_" + table + " (source, " +
                          key + ")");
        }
        JoinByHash("scenario");
        JoinByHash("plan");
        JoinByHash("network");
        JoinCollectives();
        JoinRuns();
        JoinSearches();
        JoinSweeps();
        std::vector<MergedShards> all = JoinShards();
        m_out.Execute("DELETE FROM run WHERE status = 'ok' AND requested = 0 AND engine <> "
                      "'packet' AND id NOT IN (SELECT run_id FROM search_run)");
        m_out.Execute("DELETE FROM plan WHERE id NOT IN (SELECT plan_id FROM run)");
        return all;
    }

  private:
    void Copy(Database& from, const std::string& table)
    {
        const Columns theirs = ColumnsOfTable(from, table);
        std::string values;
        std::string places = "?";
        for (const auto& column : m_columns.at(table))
        {
            const bool known = std::find(theirs.begin(), theirs.end(), column) != theirs.end();
            values += (values.empty() ? "" : ", ") + (known ? "\"" + column + "\"" : "NULL");
            places += ", ?";
        }
        auto& select = from.Prepare("SELECT " + values + " FROM " + table);
        auto& insert = m_out.Prepare("INSERT INTO from_" + table + " VALUES (" + places + ")");
        while (select.executeStep())
        {
            insert.clearBindings();
            insert.bind(1, m_source);
            for (int i = 0; i < select.getColumnCount(); i++)
            {
                BindAs(insert, i + 2, select.getColumn(i));
            }
            Database::Run(insert);
        }
        select.reset();
    }

    /// Rows that are the same where their hash is. What one of them does not know, for it is of an
    /// older release, another may.
    void JoinByHash(const std::string& table)
    {
        const Columns rest = Without(m_columns[table], {"id", "hash"});
        m_out.Execute("INSERT INTO main." + table + " (hash, " + List(rest) + ") SELECT hash, " +
                      List(rest, "max(", ")") + " FROM from_" + table +
                      " WHERE 1 GROUP BY hash ORDER BY hash ON CONFLICT (hash) DO UPDATE SET " +
                      Assign(rest, "excluded."));
    }

    void JoinRuns()
    {
        const std::string key = "s.hash, r.engine, r.options, r.correction, r.fingerprint, "
                                "IFNULL(r.seed, -1), p.hash";
        const Columns results = Without(
            m_columns["run"],
            {"id", "scenario_id", "plan_id", "requested", "evaluations", "status", "created_at"});
        // The runs by their names, each with its place among those of the same one.
        m_out.Execute("CREATE TEMP TABLE named AS SELECT r.source, r.id, r.requested, "
                      "r.evaluations, ms.id AS scenario_id, mp.id AS plan_id, "
                      "DENSE_RANK() OVER (ORDER BY " +
                      key + ") AS name, ROW_NUMBER() OVER (PARTITION BY " + key +
                      " ORDER BY CASE r.status WHEN 'ok' THEN 0 WHEN 'infeasible' THEN 1 ELSE 2 "
                      "END, IFNULL(r.time_limit_s, 9e999) DESC, "
                      "IFNULL(r.memory_limit, 9e999) DESC, r.created_at, " +
                      List(results, "r.") +
                      ", r.source) AS place FROM from_run AS r "
                      "JOIN from_scenario AS s ON s.source = r.source AND s.id = r.scenario_id "
                      "JOIN from_plan AS p ON p.source = r.source AND p.id = r.plan_id "
                      "JOIN main.scenario AS ms ON ms.hash = s.hash "
                      "JOIN main.plan AS mp ON mp.hash = p.hash");
        m_out.Execute("CREATE INDEX temp.by_named ON named (source, id)");
        m_out.Execute(
            "CREATE TEMP TABLE chosen AS SELECT name, max(CASE place WHEN 1 THEN source END) AS "
            "source, max(CASE place WHEN 1 THEN id END) AS id, max(requested) AS requested, "
            "max(evaluations) AS evaluations, max(scenario_id) AS scenario_id, "
            "max(plan_id) AS plan_id, max(CASE source WHEN 0 THEN id END) AS run_id, "
            "max(source = 0) AS known FROM named GROUP BY name");
        m_out.Execute("CREATE UNIQUE INDEX temp.by_chosen ON chosen (name)");
        const Columns own =
            Without(m_columns["run"], {"id", "scenario_id", "plan_id", "requested", "evaluations"});
        m_out.Execute(
            "INSERT INTO main.run (scenario_id, plan_id, requested, evaluations, " + List(own) +
            ") SELECT c.scenario_id, c.plan_id, c.requested, c.evaluations, " + List(own, "r.") +
            " FROM chosen AS c JOIN from_run AS r ON r.source = c.source AND r.id = c.id "
            "WHERE NOT c.known ORDER BY c.name");
        m_out.Execute("UPDATE main.run SET requested = c.requested, evaluations = c.evaluations, " +
                      Assign(own, "r.") +
                      " FROM chosen AS c JOIN from_run AS r ON r.source = c.source AND r.id = c.id "
                      "WHERE c.known AND main.run.id = c.run_id");
        m_out.Execute(
            "UPDATE chosen SET run_id = (SELECT m.id FROM from_run AS r JOIN main.run AS m ON "
            "m.scenario_id = chosen.scenario_id AND m.engine = r.engine AND m.options = r.options "
            "AND m.correction = r.correction AND m.fingerprint = r.fingerprint AND "
            "IFNULL(m.seed, -1) = IFNULL(r.seed, -1) AND m.plan_id = chosen.plan_id "
            "WHERE r.source = chosen.source AND r.id = chosen.id) WHERE NOT known");
        for (const std::string part : g_parts)
        {
            const Columns rest = Without(m_columns[part], {"run_id"});
            m_out.Execute("DELETE FROM main." + part +
                          " WHERE run_id IN (SELECT run_id FROM chosen WHERE known AND "
                          "source <> 0)");
            m_out.Execute("INSERT INTO main." + part + " (run_id, " + List(rest) +
                          ") SELECT c.run_id, " + List(rest, "f.") +
                          " FROM chosen AS c JOIN from_" + part +
                          " AS f ON f.source = c.source AND f.run_id = c.id WHERE c.source <> 0");
        }
    }

    /// Of one name all say the same but when, where and how often they were computed.
    void JoinCollectives()
    {
        const Columns own = Without(m_columns["collective_run"], {"id", "network_id"});
        m_out.Execute(
            "INSERT INTO main.collective_run (network_id, " + List(own) + ") SELECT m.id, " +
            List(own, "f.") +
            " FROM from_collective_run AS f JOIN from_network AS n ON n.source = f.source AND "
            "n.id = f.network_id JOIN main.network AS m ON m.hash = n.hash WHERE 1 "
            "ORDER BY m.hash, f.operation, f.engine, f.options, f.fingerprint, f.seed "
            "ON CONFLICT (network_id, operation, engine, options, fingerprint, IFNULL(seed, -1)) "
            "DO UPDATE SET evaluations = max(evaluations, excluded.evaluations), "
            "program_version = min(program_version, excluded.program_version), "
            "git_commit = min(git_commit, excluded.git_commit), "
            "created_at = min(created_at, excluded.created_at)");
    }

    void JoinSearches()
    {
        const Columns own = Without(m_columns["search"], {"id", "hash", "scenario_id"});
        m_out.Execute(
            "CREATE TEMP TABLE picked AS SELECT * FROM (SELECT f.source, f.id, f.hash, "
            "ms.id AS scenario_id, ROW_NUMBER() OVER (PARTITION BY f.hash ORDER BY "
            "f.finished DESC, f.shard IS NULL AND f.shards IS NOT NULL, IFNULL(f.shards, 0), "
            "f.next_plan DESC, f.explanation IS NULL, f.created_at, " +
            List(own, "f.") +
            ", f.source) AS place FROM from_search AS f "
            "JOIN from_scenario AS s ON s.source = f.source AND s.id = f.scenario_id "
            "JOIN main.scenario AS ms ON ms.hash = s.hash) WHERE place = 1 AND source <> 0");
        m_out.Execute("INSERT INTO main.search (hash, scenario_id, " + List(own) +
                      ") SELECT c.hash, c.scenario_id, " + List(own, "f.") +
                      " FROM picked AS c JOIN from_search AS f ON f.source = c.source AND "
                      "f.id = c.id WHERE 1 ORDER BY c.hash ON CONFLICT (hash) DO UPDATE SET " +
                      Assign(own, "excluded."));
        m_out.Execute("CREATE TEMP TABLE taken AS SELECT c.source, c.id, m.id AS search_id "
                      "FROM picked AS c JOIN main.search AS m ON m.hash = c.hash");
        for (const std::string table : {"search_count", "search_run", "baseline"})
        {
            m_out.Execute("DELETE FROM main." + table +
                          " WHERE search_id IN (SELECT search_id FROM taken)");
            const bool runs = table != "search_count";
            const Columns rest = Without(m_columns[table],
                                         runs ? std::set<std::string>{"search_id", "run_id"}
                                              : std::set<std::string>{"search_id"});
            m_out.Execute("INSERT INTO main." + table + " (search_id, " + (runs ? "run_id, " : "") +
                          List(rest) + ") SELECT t.search_id, " + (runs ? "c.run_id, " : "") +
                          List(rest, "f.") + " FROM taken AS t JOIN from_" + table +
                          " AS f ON f.source = t.source AND f.search_id = t.id" +
                          (runs
                               ? " LEFT JOIN named AS n ON n.source = f.source AND n.id = f.run_id "
                                 "LEFT JOIN chosen AS c ON c.name = n.name"
                               : ""));
        }
    }

    std::vector<MergedShards> JoinShards()
    {
        auto& select = m_out.Prepare("SELECT DISTINCT whole, shards FROM main.search "
                                     "WHERE shard IS NOT NULL ORDER BY shards, whole");
        std::vector<std::pair<std::string, uint64_t>> groups;
        while (select.executeStep())
        {
            groups.emplace_back(select.getColumn(0).getString(),
                                static_cast<uint64_t>(select.getColumn(1).getInt64()));
        }
        select.reset();
        std::vector<MergedShards> all;
        std::vector<Columns> keys;
        for (const auto& [whole, shards] : groups)
        {
            keys.push_back(KeyOf(whole));
            all.push_back(JoinShardsOf(whole, shards));
        }
        TellDifferences(keys, all);
        return all;
    }

    /// The values of g_key.
    Columns KeyOf(const std::string& whole)
    {
        Columns columns;
        for (const KeyColumn& column : g_key)
        {
            columns.emplace_back(column.column);
        }
        std::string said = List(columns);
        const std::string settings = "\"settings\"";
        said.replace(said.find(settings), settings.size(), SettingsText());
        auto& select =
            m_out.Prepare("SELECT " + said + " FROM main.search AS search WHERE whole = ? LIMIT 1");
        select.bind(1, whole);
        select.executeStep();
        Columns key;
        for (int i = 0; i < select.getColumnCount(); i++)
        {
            const SQLite::Column value = select.getColumn(i);
            key.push_back(value.isNull()    ? "none"
                          : value.isFloat() ? NumberText(value.getDouble())
                                            : value.getString());
        }
        select.reset();
        return key;
    }

    /// What keeps apart searches that are not whole, of each beside the first of its study.
    static void TellDifferences(const std::vector<Columns>& keys, std::vector<MergedShards>& all)
    {
        for (size_t i = 0; i < all.size(); i++)
        {
            const auto isLike = [&merged = all[i]](const MergedShards& other) {
                return !merged.IsWhole() && !other.IsWhole() && other.study == merged.study &&
                       other.shards == merged.shards;
            };
            const auto first = static_cast<size_t>(
                std::find_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), isLike) -
                all.begin());
            for (size_t k = 0; first < i && k < keys[i].size(); k++)
            {
                if (keys[i][k] != keys[first][k])
                {
                    all[i].differs.push_back({g_key[k].name, g_key[k].told ? keys[i][k] : ""});
                    all[i].others.push_back(g_key[k].told ? keys[first][k] : "");
                }
            }
        }
    }

    /// Points of one place are the same search, of which the sweep's name is made.
    void JoinSweeps()
    {
        JoinByHash("sweep");
        m_out.Execute(
            "INSERT INTO main.sweep_point (sweep_id, position, search_id) SELECT mw.id, "
            "f.position, ms.id FROM from_sweep_point AS f JOIN from_sweep AS w ON w.source = "
            "f.source AND w.id = f.sweep_id JOIN main.sweep AS mw ON mw.hash = w.hash "
            "JOIN from_search AS s ON s.source = f.source AND s.id = f.search_id "
            "JOIN main.search AS ms ON ms.hash = s.hash WHERE 1 "
            "ORDER BY mw.hash, f.position, ms.hash ON CONFLICT DO NOTHING");
    }

    MergedShards JoinShardsOf(const std::string& whole, uint64_t shards)
    {
        MergedShards merged;
        merged.shards = shards;
        std::vector<int64_t> rows;
        std::set<uint64_t> there;
        auto& select = m_out.Prepare("SELECT id, shard, finished, study FROM main.search WHERE "
                                     "whole = ? AND shards = ? AND shard IS NOT NULL "
                                     "ORDER BY shard");
        select.bind(1, whole);
        select.bind(2, static_cast<int64_t>(shards));
        while (select.executeStep())
        {
            const auto number = static_cast<uint64_t>(select.getColumn(1).getInt64());
            rows.push_back(select.getColumn(0).getInt64());
            there.insert(number);
            merged.study = select.getColumn(3).getString();
            if (select.getColumn(2).getInt() == 0)
            {
                merged.unfinished.push_back(number);
            }
        }
        select.reset();
        for (uint64_t number = 1; number <= shards; number++)
        {
            if (there.count(number) == 0)
            {
                merged.missing.push_back(number);
            }
        }
        auto& known = m_out.Prepare("SELECT id FROM main.search WHERE hash = ? AND finished AND "
                                    "IFNULL(shards, 0) <= ?");
        known.bind(1, whole);
        known.bind(2, static_cast<int64_t>(shards));
        if (known.executeStep())
        {
            merged.whole = known.getColumn(0).getInt64();
        }
        known.reset();
        if (merged.IsWhole())
        {
            Drop(rows);
        }
        else if (merged.missing.empty() && merged.unfinished.empty())
        {
            merged.whole = MakeWhole(whole, rows);
        }
        return merged;
    }

    void Drop(const std::vector<int64_t>& rows)
    {
        for (const int64_t row : rows)
        {
            auto& remove = m_out.Prepare("DELETE FROM main.search WHERE id = ?");
            remove.bind(1, row);
            Database::Run(remove);
        }
    }

    /// A run that a shard keeps.
    struct Kept
    {
        uint64_t index; //!< in the order of the whole
        int64_t run;
        std::string label;
    };

    /// The search of the whole, in the place of its shards.
    int64_t MakeWhole(const std::string& whole, const std::vector<int64_t>& rows)
    {
        Leaderboard board(KeepOf(rows.front()), GoalsOf(m_out, rows.front()));
        Frontier counts;
        std::vector<Kept> kept;
        for (const int64_t row : rows)
        {
            Add(CountsOf(m_out, row), counts);
            for (const Kept& each : KeptOf(row))
            {
                kept.push_back(each);
                const StoredRun stored = LoadRun(m_out, each.run);
                if (const auto* report = std::get_if<RunReport>(&stored.evaluation))
                {
                    Plan plan; // of which the leaderboard looks at what crosses alone
                    plan.parallel.crossing = stored.crossing;
                    board.Offer({each.index, plan, stored.planText, *report});
                }
            }
        }
        const int64_t search = PutSearch(whole, rows);
        PutCounts(search, counts);
        for (const Kept& each : kept)
        {
            auto& insert = m_out.Prepare("INSERT INTO main.search_run (search_id, plan_index, "
                                         "run_id, label) VALUES (?, ?, ?, ?)");
            insert.bind(1, search);
            insert.bind(2, static_cast<int64_t>(each.index));
            insert.bind(3, each.run);
            insert.bind(4, each.label);
            Database::Run(insert);
        }
        MarkKept(m_out, search, board, [](uint64_t index) { return index; });
        Prune(m_out, search);
        return search;
    }

    size_t KeepOf(int64_t search)
    {
        auto& select = m_out.Prepare("SELECT keep FROM main.search WHERE id = ?");
        select.bind(1, search);
        select.executeStep();
        const int64_t keep = select.getColumn(0).getInt64();
        select.reset();
        if (keep < 1)
        {
            m_out.Damaged("search " + std::to_string(search) + " keeps " + std::to_string(keep) +
                          " plans");
        }
        return static_cast<size_t>(keep);
    }

    std::vector<Kept> KeptOf(int64_t row)
    {
        auto& select = m_out.Prepare("SELECT plan_index, run_id, label FROM main.search_run "
                                     "WHERE search_id = ? ORDER BY plan_index");
        select.bind(1, row);
        std::vector<Kept> kept;
        while (select.executeStep())
        {
            kept.push_back({static_cast<uint64_t>(select.getColumn(0).getInt64()),
                            select.getColumn(1).getInt64(),
                            select.getColumn(2).getString()});
        }
        select.reset();
        return kept;
    }

    /// An example is that of the first shard that has one.
    static void Add(const Frontier& counts, Frontier& sum)
    {
        sum.next += counts.next;
        sum.evaluated += counts.evaluated;
        sum.bound = std::min(sum.bound, counts.bound);
        sum.left = std::min(sum.left, counts.left);
        const auto add = [](const std::map<std::string, Count>& from,
                            std::map<std::string, Count>& to) {
            for (const auto& [reason, count] : from)
            {
                Count& all = to.emplace(reason, Count{0, count.example}).first->second;
                all.count += count.count;
            }
        };
        add(counts.rejected, sum.rejected);
        add(counts.failed, sum.failed);
    }

    int64_t PutSearch(const std::string& whole, const std::vector<int64_t>& rows)
    {
        const Columns same{"method",
                           "scenario_id",
                           "engine",
                           "options",
                           "correction",
                           "seed",
                           "fingerprint",
                           "space",
                           "keep",
                           "objective",
                           "pareto_of",
                           "gap_asked",
                           "rest_gap_asked",
                           "gpus",
                           "tokens",
                           "shards"};
        const Columns sums{"plans", "next_plan", "evaluated", "engine_runs", "seconds"};
        const Columns least{"study",
                            "bound_s",
                            "ruled_out_least",
                            "created_at",
                            "settings",
                            "cost_per_hour",
                            "held"};
        std::optional<int64_t> replaced;
        auto& before = m_out.Prepare("SELECT id FROM main.search WHERE hash = ?");
        before.bind(1, whole);
        if (before.executeStep())
        {
            replaced = before.getColumn(0).getInt64();
        }
        before.reset();
        if (replaced)
        {
            Drop({*replaced});
        }
        auto& insert =
            m_out.Prepare("INSERT INTO main.search (hash, finished, updated_at, " + List(same) +
                          ", " + List(sums) + ", " + List(least) +
                          ") SELECT whole, 1, max(updated_at), " + List(same, "max(", ")") + ", " +
                          List(sums, "sum(", ")") + ", " + List(least, "min(", ")") +
                          " FROM main.search WHERE whole = :whole AND shards = :shards AND shard "
                          "IS NOT NULL GROUP BY whole");
        insert.bind(":whole", whole);
        insert.bind(":shards", static_cast<int64_t>(rows.size()));
        Database::Run(insert);
        const int64_t last = m_out.LastInsertId();
        Drop(rows);
        // That of a search of the whole which somebody may be at work on, else the first that has
        // become free, so that it does not tell of the shards.
        const int64_t id = replaced.value_or(*std::min_element(rows.begin(), rows.end()));
        auto& number = m_out.Prepare("UPDATE main.search SET id = ? WHERE id = ?");
        number.bind(1, id);
        number.bind(2, last);
        Database::Run(number);
        return id;
    }

    void PutCounts(int64_t search, const Frontier& counts)
    {
        for (const auto& [outcome, reasons] :
             {std::pair<const char*, const std::map<std::string, Count>&>("rejected",
                                                                          counts.rejected),
              {"failed", counts.failed}})
        {
            for (const auto& [reason, count] : reasons)
            {
                auto& insert = m_out.Prepare("INSERT INTO main.search_count (search_id, outcome, "
                                             "reason, count, example) VALUES (?, ?, ?, ?, ?)");
                insert.bind(1, search);
                insert.bind(2, outcome);
                insert.bind(3, reason);
                insert.bind(4, static_cast<int64_t>(count.count));
                insert.bind(5, count.example);
                Database::Run(insert);
            }
        }
    }

    Database& m_out;
    std::map<std::string, Columns> m_columns; //!< of the output, by table
    int64_t m_source{0};
};

} // namespace

std::vector<MergedShards>
Merge(Database& out, const std::vector<std::string>& paths)
{
    std::vector<MergedShards> merged;
    Merger merger(out);
    for (const auto& path : paths)
    {
        merger.Gather(path);
    }
    out.Transact([&] { merged = merger.Join(); });
    out.ReturnSpace();
    return merged;
}

} // namespace scaleacross
