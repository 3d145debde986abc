// SPDX-License-Identifier: GPL-2.0-only

#include "cli/check-ranking.h"
#include "cli/explore-study.h"
#include "cli/output-file.h"
#include "cli/robust-plan.h"
#include "cli/show/progress-line.h"
#include "cli/study-settings.h"
#include "cli/sweep.h"
#include "cli/workers/interrupt.h"
#include "cli/workers/time-limit.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/store/search-store.h"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace scaleacross
{

namespace
{

/// What holds whatever the spans turn out to be, where that is asked for and nothing has stopped
/// it.
std::optional<RobustFinding>
Robust(const Study& study,
       const SearchSpace& space,
       const ExploreOptions& options,
       const Answer& answer,
       Database& database,
       const std::atomic<bool>& stop)
{
    if (!options.robust || answer.search.interrupted || !answer.HasWinner())
    {
        return std::nullopt;
    }
    try
    {
        return FindRobustPlan(study, space, options, answer, database, stop);
    }
    catch (const Interrupted&)
    {
        return std::nullopt;
    }
}

Exit
ExploreWith(const ExploreOptions& options,
            const Study& study,
            const SearchSpace& space,
            Database& database)
{
    const auto& stop = CatchInterrupts();
    const Answer answer = ExploreStudy(study, space, options, database, stop);
    const RankingCheck check = CheckRanking(study, space, options, answer, database, stop);
    if (!check.comparisons.empty() || !check.leftOut.empty())
    {
        StoreChecked(database, answer.id, CheckSentences(space, answer, check));
    }
    const auto robust = Robust(study, space, options, answer, database, stop);
    if (robust)
    {
        StoreRobust(database, answer.id, RobustJson(study, space, *robust, options.top).dump());
    }
    if (options.common.json)
    {
        Json json = AnswerJson(study, space, answer, options.top);
        json.update(CheckJson(space, answer, check));
        json["robust"] = robust ? RobustJson(study, space, *robust, options.top) : Json(nullptr);
        std::cout << json.dump(2) << "\n";
    }
    else
    {
        std::cout << AnswerText(study, space, answer, options.top)
                  << CheckText(space, answer, check)
                  << (robust ? "\n" + RobustText(study, space, *robust, options.top) : "")
                  << "\nStored in " << database.Path() << ".\n";
    }
    options.csv.Write([&] {
        return WithChanges(study, AnswerJson(study, space, answer, options.top).at("ranking"));
    });
    if (stop)
    {
        std::cerr << "scaleacross: interrupted; what has run is kept, and the same command goes on "
                     "from here\n";
        if (!answer.HasWinner() && options.stopAfter.empty() && !options.exhaustive)
        {
            std::cerr << "scaleacross: no plan has run yet: --stop-after TIME, as in 60s, has an "
                         "answer from the first plan on that runs\n";
        }
        return Exit::Interrupted;
    }
    return answer.HasWinner() ? Exit::Done : Exit::Failed;
}

/// Does one part of the search.
Exit
ExploreShard(const ExploreOptions& options,
             const Study& study,
             const SearchSpace& space,
             Database& database)
{
    const auto& stop = CatchInterrupts();
    const Answer answer = ExploreStudy(study, space, options, database, stop);
    std::cout << (options.common.json
                      ? ShardJson(study, space, *options.shard, answer).dump(2) + "\n"
                      : ShardText(study, space, *options.shard, answer));
    if (answer.search.interrupted)
    {
        std::cerr << "scaleacross: interrupted; what has run is kept, and the same command goes on "
                     "from here\n";
        return Exit::Interrupted;
    }
    return Exit::Done; // also where none of its plans can run, for others' may
}

Shard
ShardOf(const std::string& text)
{
    try
    {
        return ParseShard(text);
    }
    catch (const ValueError& error)
    {
        throw ConfigError("--shard", error.Problem(), error.Allowed(), error.Remedy());
    }
}

Exit
Explore(ExploreOptions options, const std::string& shard)
{
    const Study study = StudyOf(options.common);
    const SearchSpace space(study);
    ExpectExplorable(options, study);
    if (!shard.empty())
    {
        options.shard = ShardOf(shard);
        if (options.common.db.empty())
        {
            options.common.db = ShardDatabaseOf(study, *options.shard);
        }
    }
    ExpectDatabase(DatabasePathOf(options.common, study));
    options.csv.Expect();
    if (options.shard)
    {
        return WithDatabase(options.common, study, [&](Database& database) {
            return ExploreShard(options, study, space, database);
        });
    }
    return WithDatabase(options.common, study, [&](Database& database) {
        return ExploreWith(options, study, space, database);
    });
}

} // namespace

void
AddExplore(CommandLine& program)
{
    auto options = std::make_shared<ExploreOptions>();
    auto shard = std::make_shared<std::string>();
    Command command = program.Add("explore", "search the plans of a study, rank and explain them");
    AddSearchOptions(command, *options);
    AddAnswerOptions(command, *options);
    command
        .Add("--stop-after",
             options->stopAfter,
             "how long baselines and search may take together, such as 60s; the answer is then the "
             "best so far, and how far from the very best it can be; default: until it is done")
        .Named("TIME")
        .Excludes("--robust");
    command.Flag("--json", options->common.json, "print JSON instead of tables");
    AddDatabase(command, options->common);
    AddJobs(command, options->common);
    options->csv.AddTo(command, "plan of the ranking, or value of a sweep");
    command
        .Add("--sweep",
             options->sweeps,
             "explore at several values of one setting and print where the better placement "
             "flips, such as cluster.cross.oversubscription=1,2.8,7; given again for another "
             "setting, at all of their combinations; cluster.use=auto: on every part of the "
             "cluster")
        .Named("KEY=V1,V2,...")
        .Repeatable()
        .Excludes("--objective")
        .Excludes("--gap")
        .Excludes("--verify")
        .Excludes("--robust")
        .Excludes("--stop-after")
        .Excludes("--top");
    command
        .Add("--shard",
             *shard,
             "search only the i-th of n parts, into <name of the study>.shard-i-of-n.db; merge "
             "puts the parts together")
        .Named("i/n")
        .Excludes("--sweep")
        .Excludes("--verify")
        .Excludes("--robust")
        .Excludes("--stop-after")
        .Excludes("--csv")
        .Excludes("--top");
    command.Does([options, shard, command] {
        EndBeforeAnythingRuns(); // while the study is read
        if (!options->progress.empty())
        {
            ProgressLine::Every(TimeLimitOf(options->progress, "--progress"));
        }
        return command.IsGiven("--sweep") ? Sweep(*options) : Explore(*options, *shard);
    });
}

} // namespace scaleacross
