// SPDX-License-Identifier: GPL-2.0-only

#include "cli/compare-engines.h"
#include "cli/engines.h"
#include "cli/explore-study.h"
#include "cli/workers/interrupt.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/explore/fit-check.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

/// Up to so many plans of a study are all compared without being asked.
constexpr uint64_t g_fewPlans = 100;

struct CompareOptions
{
    ExploreOptions explore; //!< for finding the best plans
    RunOptions run;
    size_t top{0}; //!< 0: all if they are few, else 5
    std::vector<std::string> engines;
    std::vector<std::string> more; //!< in front of them
};

/// Every plan of a space that can run.
std::vector<Plan>
AllPlans(const SearchSpace& space)
{
    std::vector<Plan> plans;
    for (uint64_t i = 0; i < space.Size(); i++)
    {
        const auto made = space.At(i);
        const auto* plan = std::get_if<Plan>(&made);
        if (plan != nullptr && !CheckFit(space.With(*plan)))
        {
            plans.push_back(*plan);
        }
    }
    return plans;
}

/// The best plans by the first engine.
std::vector<Plan>
BestPlans(const Study& study,
          const SearchSpace& space,
          const CompareOptions& options,
          size_t count,
          Database& database,
          const std::atomic<bool>& stop)
{
    const Answer answer = ExploreStudy(study, space, options.explore, database, stop);
    if (answer.search.interrupted)
    {
        throw Interrupted();
    }
    std::vector<Plan> plans;
    for (const auto& ranked : answer.search.board.Best())
    {
        if (plans.size() < count)
        {
            plans.push_back(ranked.plan);
        }
    }
    return plans;
}

Exit
CompareWith(const CompareOptions& options,
            const Study& study,
            const SearchSpace& space,
            const std::vector<std::string>& engines,
            Database& database)
{
    CompareSetting setting{options.explore.common, options.explore.worker.failures, options.run};
    setting.run.seed = study.seed;
    setting.run.limits = LimitsOf(options.explore.worker);
    const auto& stop = CatchInterrupts();
    try
    {
        const bool all = options.top == 0 && space.Size() <= g_fewPlans;
        const size_t count = options.top == 0 ? 5 : options.top;
        const auto plans =
            all ? AllPlans(space) : BestPlans(study, space, options, count, database, stop);
        const auto comparisons =
            CompareEngines(study, space, plans, engines, setting, database, stop);
        std::cout << (setting.common.json ? ComparisonJson(space, comparisons).dump(2) + "\n"
                                          : ComparisonText(space, comparisons));
        if (stop)
        {
            throw Interrupted();
        }
        return plans.empty() ? Exit::Failed : Exit::Done;
    }
    catch (const Interrupted&)
    {
        std::cerr << "scaleacross: interrupted; the same command goes on from here\n";
        return Exit::Interrupted;
    }
}

/// The engines that are asked for, once it is known that they can be made. Those of --engine stand
/// in front, for the last one is what others are held against.
std::vector<std::string>
EnginesOf(const CompareOptions& options)
{
    std::vector<std::string> engines;
    std::vector<std::string> names;
    const auto add = [&](const std::string& option, const std::vector<std::string>& more) {
        for (const std::string& engine : more)
        {
            const std::string name = MakeEngine(engine, option)->Name();
            if (std::find(names.begin(), names.end(), name) != names.end())
            {
                throw ConfigError(option,
                                  Quoted(name) + " is given twice",
                                  "every engine once, by a name of its own",
                                  "");
            }
            names.push_back(name);
            engines.push_back(engine);
        }
    };
    add("--engine", options.more);
    add("--engines", options.engines.empty() ? ComparedEngines() : options.engines);
    return engines;
}

Exit
Compare(const CompareOptions& options)
{
    const Study study = StudyOf(options.explore.common);
    const SearchSpace space(study);
    LimitsOf(options.explore.worker);
    ExpectOwnRanking(study);
    const std::vector<std::string> engines = EnginesOf(options);
    return WithDatabase(options.explore.common, study, [&](Database& database) {
        return CompareWith(options, study, space, engines, database);
    });
}

} // namespace

void
AddCompare(CommandLine& program)
{
    auto options = std::make_shared<CompareOptions>();
    Command command = program.Add("compare", "run plans of a study on several engines and compare");
    AddCommonOptions(command, options->explore.common);
    AddWorkerOptions(command, options->explore.worker);
    AddRunOptions(command, options->run);
    command
        .Add("--engines",
             options->engines,
             "engines, the most exact one last; default: analytical, flow, packet")
        .SeparatedByCommas();
    command
        .Add("--engine",
             options->more,
             "one engine more, with all its commas, such as mine='command:python3 mine.py'; given "
             "again for another")
        .Repeatable();
    command
        .Add("--top",
             options->top,
             "compare only so many of the best plans; default: all plans if there are at "
             "most 100, else 5")
        .Between(1, 1000000);
    command.Does([options] { return Compare(*options); });
}

} // namespace scaleacross
