// SPDX-License-Identifier: GPL-2.0-only

#include "cli/kept-plan.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/plan-fields.h"

#include <algorithm>
#include <fmt/core.h>
#include <vector>

namespace scaleacross
{

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
    if (search == 0)
    {
        return searches.front();
    }
    const auto found = std::find_if(searches.begin(), searches.end(), [&](const auto& one) {
        return one.id == search;
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
