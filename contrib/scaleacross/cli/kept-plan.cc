// SPDX-License-Identifier: GPL-2.0-only

#include "cli/kept-plan.h"

#include "cli/chosen-search.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/plan-fields.h"

#include <fmt/format.h>
#include <utility>
#include <vector>

namespace scaleacross
{

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
    for (const auto& [key, value] : kept.search.settings)
    {
        study.settings.push_back({key, value});
    }
    study.path = name.db;
    return study;
}

} // namespace scaleacross
