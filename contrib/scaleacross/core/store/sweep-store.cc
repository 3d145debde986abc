// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/sweep-store.h"

#include "core/store/key.h"

#include <utility>

namespace scaleacross
{

namespace
{

std::string
SweepHash(const std::string& axes, const std::vector<std::string>& searches)
{
    std::string text = axes;
    for (const std::string& search : searches)
    {
        text += "\n" + search;
    }
    return HashOf(text);
}

} // namespace

SweepStore::SweepStore(Database& database,
                       std::string study,
                       std::string axes,
                       const std::vector<std::string>& searches)
    : m_database(database),
      m_study(std::move(study)),
      m_axes(std::move(axes)),
      m_hash(SweepHash(m_axes, searches))
{
}

void
SweepStore::Add(int64_t search)
{
    m_database.Transact([&] {
        if (m_id == 0)
        {
            auto& insert = m_database.Prepare(
                "INSERT INTO sweep (hash, study, axes) VALUES (?, ?, ?) ON CONFLICT (hash) DO "
                "UPDATE SET updated_at = CURRENT_TIMESTAMP RETURNING id");
            insert.bind(1, m_hash);
            insert.bind(2, m_study);
            insert.bind(3, m_axes);
            insert.executeStep();
            m_id = insert.getColumn(0).getInt64();
            insert.reset();
        }
        auto& insert = m_database.Prepare(
            "INSERT INTO sweep_point (sweep_id, position, search_id) VALUES (?, ?, ?) "
            "ON CONFLICT DO NOTHING");
        insert.bind(1, m_id);
        insert.bind(2, m_next++);
        insert.bind(3, search);
        Database::Run(insert);
    });
}

std::vector<StoredSweep>
ListSweeps(Database& database)
{
    auto& select = database.Prepare(
        "SELECT sweep.id, study, axes, search_id, position FROM sweep JOIN sweep_point ON "
        "sweep_id = sweep.id ORDER BY sweep.id, position");
    std::vector<StoredSweep> sweeps;
    while (select.executeStep())
    {
        const int64_t id = select.getColumn(0).getInt64();
        if (sweeps.empty() || sweeps.back().id != id)
        {
            sweeps.push_back(
                {id, select.getColumn(1).getString(), select.getColumn(2).getString(), {}});
        }
        // What comes behind one that is missing has no place among the values.
        if (select.getColumn(4).getInt64() == static_cast<int64_t>(sweeps.back().searches.size()))
        {
            sweeps.back().searches.push_back(select.getColumn(3).getInt64());
        }
    }
    select.reset();
    return sweeps;
}

} // namespace scaleacross
