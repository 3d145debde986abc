// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/kept-runs.h"

#include <string>

namespace scaleacross
{

void
MarkKept(Database& database,
         int64_t search,
         const Leaderboard& board,
         const std::function<uint64_t(uint64_t)>& inFile)
{
    const auto mark = [&](const std::string& what, const Ranked& ranked, int64_t value) {
        auto& update = database.Prepare("UPDATE search_run SET " + what +
                                        " = ? WHERE search_id = ? AND plan_index = ?");
        update.bind(1, value);
        update.bind(2, search);
        update.bind(3, static_cast<int64_t>(inFile(ranked.index)));
        Database::Run(update);
    };
    int64_t rank = 1;
    for (const auto& ranked : board.Best())
    {
        mark("rank", ranked, rank++);
    }
    for (const auto& ranked : board.ParetoFront())
    {
        mark("pareto", ranked, 1);
    }
    for (const auto& ranked : board.BestOfEach())
    {
        mark("best_of_crossing", ranked, 1);
    }
}

void
Prune(Database& database, int64_t search)
{
    for (const char* sql : {
             "DELETE FROM search_run WHERE search_id = ? AND rank IS NULL AND pareto = 0 AND "
             "best_of_crossing = 0 AND run_id IN (SELECT id FROM run WHERE status = 'ok')",
             "DELETE FROM run WHERE scenario_id = (SELECT scenario_id FROM search WHERE id = ?) "
             "AND status = 'ok' AND requested = 0 AND engine <> 'packet' AND "
             "id NOT IN (SELECT run_id FROM search_run)",
         })
    {
        auto& remove = database.Prepare(sql);
        remove.bind(1, search);
        Database::Run(remove);
    }
    auto& plans = database.Prepare("DELETE FROM plan WHERE id NOT IN (SELECT plan_id FROM run)");
    Database::Run(plans);
}

} // namespace scaleacross
