// SPDX-License-Identifier: GPL-2.0-only

#include "cli/explore-study.h"
#include "core/base/text.h"

namespace scaleacross
{

void
AddSearchOptions(Command command, ExploreOptions& options)
{
    AddStudy(command, options.common);
    AddSeed(command, options.common);
    AddSet(command, options.common);
    AddWorkerOptions(command, options.worker);
    command
        .Add("--keep",
             options.keep,
             "best plans to keep in the database, beside Pareto front, baselines and "
             "failures")
        .Between(1, 1000000)
        .ShowDefault();
    command
        .Add("--objective",
             options.objective,
             "what plans are ranked by: " + AnyOf(Objective::Names()) +
                 "; cost by the prices of the study; default: " + Objective().Name())
        .Named("WORD");
    command
        .Add("--gap",
             options.gap,
             "how near to the best the answer has to come, such as 0.1% or 0.001; default: 0, the "
             "very best")
        .Named("PART");
    command
        .Add("--rest-gap",
             options.restGap,
             "how exactly the other plans that are kept and the other placements have to be known: "
             "part of what they are behind the best; default: " +
                 NumberText(100 * kUsualRestGap) + "%")
        .Named("PART");
    command
        .Flag("--exhaustive",
              options.exhaustive,
              "run every plan that can run, also where a bound says that it cannot matter")
        .Excludes("--gap")
        .Excludes("--rest-gap");
    command
        .Add(
            "--pareto",
            options.pareto,
            "keep the Pareto front of two or three of " + AnyOf(Objective::Names()) +
                " as well, such as time,memory; or of what is near the least of the first, such as "
                "time+50%,memory; default: " +
                FrontText({}))
        .Named("A,B");
    command
        .Add("--progress",
             options.progress,
             "how often a line on standard error says how far the search is, where that is no "
             "terminal, such as 10s; default: 60s")
        .Named("TIME");
}

void
AddAnswerOptions(Command command, ExploreOptions& options)
{
    command.Add("--top", options.top, "rows of the ranking to print")
        .Between(1, 1000000)
        .ShowDefault();
    command
        .Add("--verify",
             options.verify,
             "plans that the further engines of the study, or flows where it names no engine, run "
             "as well, at most: the best ones that the first does not tell apart; 0: no check")
        .Between(0, 1000)
        .ShowDefault();
    command
        .Flag("--robust",
              options.robust,
              "find the plan with the least 95th percentile (or another) of its times over what "
              "the study's spans may turn out to be, by its key uncertain")
        .Excludes("--objective")
        .Excludes("--gap")
        .Excludes("--rest-gap");
}

} // namespace scaleacross
