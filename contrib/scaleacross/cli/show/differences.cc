// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/differences.h"

#include "core/explore/difference.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

/// "tp" of "plan.tp".
std::string
NameOf(const FieldDifference& difference)
{
    return difference.key.substr(difference.key.find('.') + 1);
}

std::string
ChangeText(Duration change)
{
    return ToString(Magnitude(change)) + (change.Ps() > 0 ? " more" : " less");
}

std::string
FieldsText(const RankedRun& run, const RankedRun& best)
{
    std::string text;
    for (const FieldDifference& field : FieldsThatDiffer(run.plan, best.plan))
    {
        text += (text.empty() ? "" : ", ") + NameOf(field) + " " + field.value + " (" +
                field.other + ")";
    }
    return text;
}

std::string
TimesText(const RankedRun& run, const RankedRun& best)
{
    Duration rest = run.report.iterationTime - best.report.iterationTime;
    const Duration time = best.report.iterationTime;
    if (IsRounding(rest, time))
    {
        return "as long";
    }
    std::string text = ChangeText(rest) + ":";
    const char* comma = " ";
    for (const TimeChange& part : MainChanges(best.report, run.report))
    {
        std::string name = part.key;
        std::replace(name.begin(), name.end(), '_', ' ');
        text += comma + name + " " + ChangeText(part.change);
        rest -= part.change;
        comma = ", ";
    }
    return text + (IsRounding(rest, time) ? "" : comma + ("the rest " + ChangeText(rest)));
}

} // namespace

std::string
DifferencesText(const std::vector<RankedRun>& runs)
{
    if (runs.size() < 2)
    {
        return "";
    }
    const RankedRun& best = runs.front();
    std::string text = "What differs from the best (its value there), and what that makes of the "
                       "time:\n";
    for (size_t i = 1; i < runs.size(); i++)
    {
        text += "  " + std::to_string(runs[i].rank) + ": " + FieldsText(runs[i], best) + ": " +
                TimesText(runs[i], best) + "\n";
    }
    return text;
}

Json
DifferencesJson(const RankedRun& run, const RankedRun& best)
{
    Json differs = Json::object();
    for (const FieldDifference& field : FieldsThatDiffer(run.plan, best.plan))
    {
        differs[NameOf(field)] = {FieldJson(field.value), FieldJson(field.other)};
    }
    Json because = Json::object();
    for (const TimeChange& part : TimeChanges(best.report, run.report))
    {
        because[part.key] = part.change.S();
    }
    return {{"differs", differs}, {"because", because}};
}

} // namespace scaleacross
