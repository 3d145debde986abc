// SPDX-License-Identifier: GPL-2.0-only

#include "cli/question.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/engine/first-look.h"
#include "core/explore/model-error.h"

#include <iostream>
#include <stdexcept>

namespace scaleacross
{

double
FractionOf(const std::string& option, const std::string& text, double least, double below)
{
    const Decimal decimal = ScanDecimal(text);
    const std::string rest = text.substr(decimal.length);
    const bool percent = rest == "%" || rest == " %";
    const std::string allowed = "from " + NumberText(100 * least) + "% to below " +
                                NumberText(100 * below) + "%, also as a fraction";
    if (decimal.length == 0 || !(percent || rest.empty()))
    {
        throw ConfigError(option,
                          Quoted(text) + " is neither a fraction nor a percentage",
                          allowed,
                          "write it as 2% or 0.02");
    }
    // "2" may be meant as 2%; what is beyond 100% may not.
    const auto refuse = [&](double asPercentage) {
        const bool meant = !percent && asPercentage >= least && asPercentage < below;
        throw ConfigError(option,
                          Quoted(text) + " is out of range",
                          allowed,
                          meant ? "did you mean " + text + "%?" : "");
    };
    double value = 0;
    try
    {
        value = DecimalValue(decimal, percent ? -2 : 0);
    }
    catch (const std::out_of_range&)
    {
        refuse(below);
    }
    if (value < least || value >= below)
    {
        refuse(value / 100);
    }
    return value;
}

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
