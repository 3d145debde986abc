// SPDX-License-Identifier: GPL-2.0-only

#include "cli/kept-plan.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/plan-fields.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

/// What --set and --sweep have made another question of the study.
size_t
ChangesOf(const SearchSummary& search)
{
    static const std::array<std::string, 3> without = {"study", "engines", "baselines"};
    return static_cast<size_t>(
        std::count_if(search.settings.begin(), search.settings.end(), [](const auto& setting) {
            return std::find(without.begin(), without.end(), setting.first) == without.end();
        }));
}

bool
IsAnswered(const SearchSummary& search)
{
    return search.finished && !search.conclusion.explanation.empty();
}

} // namespace

int64_t
UsualSearch(const std::vector<SearchSummary>& searches)
{
    // They stand in the order in which they were worked on, the last one first.
    return std::max_element(searches.begin(),
                            searches.end(),
                            [](const SearchSummary& a, const SearchSummary& b) {
                                return std::pair(IsAnswered(a), ChangesOf(b)) <
                                       std::pair(IsAnswered(b), ChangesOf(a));
                            })
        ->id;
}

SearchSummary
ChosenSearch(Database& database, int64_t search)
{
    const auto searches = ListSearches(database);
    if (searches.empty())
    {
        throw ConfigError(database.Path(),
                          "no search is stored here",
                          "a database in which explore has stored one",
                          "");
    }
    const int64_t id = search == 0 ? UsualSearch(searches) : search;
    const auto found = std::find_if(searches.begin(), searches.end(), [&](const auto& one) {
        return one.id == id;
    });
    if (found == searches.end())
    {
        throw ConfigError("--search " + std::to_string(search),
                          "the database has no such search",
                          "a number that `show` lists",
                          "");
    }
    return *found;
}

namespace
{

struct KeptPlan
{
    SearchSummary search;
    Plan plan;
};

KeptPlan
Find(const KeptPlanName& name)
{
    Database database(name.db, Database::Access::Read);
    KeptPlan found;
    database.Snapshot([&] {
        found.search = ChosenSearch(database, name.search);
        const auto best = BestRuns(database, found.search, name.rank);
        if (best.size() < name.rank)
        {
            throw ConfigError("--rank " + std::to_string(name.rank),
                              fmt::format("search {} keeps {} plan{} that can run",
                                          found.search.id,
                                          best.size(),
                                          best.size() == 1 ? "" : "s"),
                              best.empty() ? "a search that has found one"
                                           : fmt::format("1 to {}", best.size()),
                              best.empty() ? "" : "explore with a greater --keep has more");
        }
        const auto plan = PlanOfText(best.back().run.planText);
        if (!plan)
        {
            throw ConfigError(database.Path(),
                              fmt::format("the plan of rank {} is that of a release with other "
                                          "fields: {}",
                                          name.rank,
                                          Quoted(best.back().run.planText)),
                              "a search of this release",
                              "explore the study again");
        }
        found.plan = *plan;
    });
    return found;
}

} // namespace

Study
StudyOfPlan(const std::string& setting,
            const Plan& plan,
            const std::string& where,
            const Overrides& changes)
{
    Overrides overrides;
    for (const PlanField& field : PlanFields())
    {
        // Degrees that are changed shall not have to go with that of before.
        if (field.key != "plan.dp" && !field.usual(plan))
        {
            overrides.emplace_back(field.key, field.get(plan));
        }
    }
    overrides.insert(overrides.end(), changes.begin(), changes.end());
    return ParseStudy(setting, where, overrides);
}

std::string
TextOf(const KeptPlanName& name)
{
    Database database(name.db, Database::Access::Read);
    const SearchSummary search = ChosenSearch(database, name.search);
    std::vector<std::string> set;
    for (const auto& [key, value] : search.settings)
    {
        set.push_back(key + "=" + value);
    }
    return fmt::format("{}, plan {} of search {}{}",
                       name.db,
                       name.rank,
                       search.id,
                       set.empty() ? "" : fmt::format(" ({})", fmt::join(set, ", ")));
}

Study
StudyOfKept(const KeptPlanName& name, const Overrides& changes)
{
    const KeptPlan kept = Find(name);
    Study study =
        StudyOfPlan(kept.search.setting,
                    kept.plan,
                    fmt::format("{}, plan {} of search {}", name.db, name.rank, kept.search.id),
                    changes);
    study.given.insert(study.given.end(), kept.search.searched.begin(), kept.search.searched.end());
    study.name = kept.search.study;
    study.path = name.db;
    return study;
}

} // namespace scaleacross
