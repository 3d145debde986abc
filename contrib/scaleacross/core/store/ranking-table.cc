// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/ranking-table.h"

#include "core/base/text.h"
#include "core/store/schema.h"

namespace scaleacross
{

std::vector<std::vector<std::string>>
RankingTable(Database& database, int64_t search)
{
    // Not by the view itself, which a file that another release has written may not have.
    auto& select = database.Prepare("SELECT * FROM (" + RankingSelect() +
                                    ") WHERE search_id = ? ORDER BY rank IS NULL, rank, "
                                    "iteration_time_s IS NULL, iteration_time_s, plan_index");
    select.bind(1, search);
    std::vector<std::vector<std::string>> rows(1);
    for (int i = 0; i < select.getColumnCount(); i++)
    {
        rows.front().emplace_back(select.getColumnName(i));
    }
    while (select.executeStep())
    {
        auto& row = rows.emplace_back();
        for (int i = 0; i < select.getColumnCount(); i++)
        {
            const SQLite::Column cell = select.getColumn(i);
            row.push_back(cell.isFloat() ? NumberText(cell.getDouble()) : cell.getString());
        }
    }
    select.reset();
    return rows;
}

} // namespace scaleacross
