// SPDX-License-Identifier: GPL-2.0-only

#include "cli/explore-study.h"
#include "cli/interrupt.h"

#include <iostream>
#include <memory>

namespace scaleacross
{

namespace
{

Exit
Explore(const ExploreOptions& options)
{
    const Study study = StudyOf(options.common);
    const SearchSpace space(study);
    const auto& stop = CatchInterrupts();
    Database database = OpenDatabase(options.common, study);
    const Answer answer = ExploreStudy(study, space, options, database, stop);
    if (options.common.json)
    {
        std::cout << AnswerJson(study, space, answer, options.top).dump(2) << "\n";
    }
    else
    {
        std::cout << AnswerText(study, space, answer, options.top) << "Stored in "
                  << database.Path() << ".\n";
    }
    if (answer.search.interrupted)
    {
        std::cerr << "scaleacross: interrupted; the same command goes on from here\n";
        return Exit::Interrupted;
    }
    return answer.HasWinner() ? Exit::Done : Exit::Failed;
}

} // namespace

void
AddExplore(CLI::App& app, CommandAction& chosen)
{
    auto options = std::make_shared<ExploreOptions>();
    CLI::App* command =
        app.add_subcommand("explore", "search the plans of a study, rank and explain them");
    AddCommonOptions(*command, options->common);
    AddWorkerOptions(*command, options->worker);
    command
        ->add_option("--keep",
                     options->keep,
                     "best plans to keep in the database, beside Pareto front, baselines and "
                     "failures")
        ->check(CLI::Range(1U, 1000000U))
        ->capture_default_str();
    command->add_option("--top", options->top, "rows of the ranking to print")
        ->check(CLI::Range(1U, 1000000U))
        ->capture_default_str();
    command->callback([options, &chosen] { chosen = [options] { return Explore(*options); }; });
}

} // namespace scaleacross
