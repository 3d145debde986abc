// SPDX-License-Identifier: GPL-2.0-only

#include "cli/question.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/engine/first-look.h"
#include "core/explore/model-error.h"

#include <iostream>

namespace scaleacross
{

void
ExpectAnalytical(const Study& study)
{
    if (study.engines.front() != kMeasuredEngine)
    {
        throw ConfigError(study.path + " engines",
                          "the study ranks with the engine " + Quoted(study.engines.front()) +
                              ", and this takes many searches",
                          std::string(kMeasuredEngine) + " as the first engine",
                          std::string("add --set engines=[") + kMeasuredEngine + "]");
    }
}

SearchOptions
SearchOptionsOf(const CommonOptions& options, const Study& study, const std::atomic<bool>& stop)
{
    SearchOptions search;
    // Questions are asked of the analytical engine alone.
    SetBounds(search, BoundOf::Analytical);
    search.jobs = JobsOf(options);
    search.run.seed = study.seed;
    search.stop = &stop;
    return search;
}

Exit
Uninterrupted(const std::function<Exit()>& answer)
{
    try
    {
        return answer();
    }
    catch (const Interrupted&)
    {
        std::cerr << "scaleacross: interrupted; nothing is kept of what was found so far\n";
        return Exit::Interrupted;
    }
}

} // namespace scaleacross
