// SPDX-License-Identifier: GPL-2.0-only

#include "cli/compare-engines.h"
#include "cli/engines.h"
#include "cli/show/report-text.h"
#include "cli/show/table.h"
#include "core/explore/explanation.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

/// Whether it can be said why two reports differ: by classes, which not every model knows of.
bool
IsExplained(const RunReport& report, const RunReport& reference)
{
    return report.KnowsBusy() && reference.KnowsBusy() && DiffersSomewhere(report, reference);
}

Json
ClassesJson(const RunReport& report, const RunReport* reference)
{
    Json json = Json::object();
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        const ClassReport& part = report.classes[c];
        if (part.bytes.Count() == 0) // engines send the same
        {
            continue;
        }
        Json entry = {{"busy_s", nullptr},
                      {"exposed_s", nullptr},
                      {"bytes", part.bytes.Count()},
                      {"cross_bytes", part.crossBytes.Count()},
                      {"relative_error", nullptr}};
        if (report.KnowsParts())
        {
            entry["exposed_s"] = part.exposed.S();
        }
        if (report.KnowsBusy())
        {
            entry["busy_s"] = part.busy.S();
        }
        if (reference != nullptr && report.KnowsBusy() && reference->KnowsBusy())
        {
            entry["relative_error"] =
                (part.busy - reference->classes[c].busy).S() / reference->iterationTime.S();
        }
        json[ToString(static_cast<CommClass>(c))] = entry;
    }
    return json;
}

/// "tp +6.1 %, dp -7.0 %" of the classes that differ.
std::string
DifferencesText(const RunReport& report, const RunReport& reference)
{
    std::string text;
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        if (Differs(report.classes[c], reference.classes[c]))
        {
            text += (text.empty() ? "" : ", ") + ToString(static_cast<CommClass>(c)) + " " +
                    SignedPercent(RelativeError(report.classes[c].busy, reference.classes[c].busy));
        }
    }
    return text.empty() ? "no class by itself" : text;
}

} // namespace

const Infeasible*
RefusalIn(const Evaluation& evaluation)
{
    const auto* infeasible = std::get_if<Infeasible>(&evaluation);
    return infeasible != nullptr && infeasible->reason == kUnsupported ? infeasible : nullptr;
}

const RunReport*
ReportBy(const Comparison& comparison, const std::string& engine)
{
    for (size_t i = 0; i < comparison.engines.size(); i++)
    {
        if (comparison.engines[i] == engine)
        {
            return std::get_if<RunReport>(&comparison.evaluations[i]);
        }
    }
    return nullptr;
}

std::string
ReferenceEngine(const std::vector<std::string>& engines)
{
    const auto own = std::find_if(engines.rbegin(), engines.rend(), [](const std::string& engine) {
        return !IsForeign(engine);
    });
    return FindEngine(own == engines.rend() ? engines.back() : *own).call.name;
}

std::string
RefusalsText(const std::vector<Comparison>& comparisons)
{
    struct Refusals
    {
        size_t asked{0};
        size_t refused{0};
        std::set<std::string> reasons;
        std::string first;
    };

    std::vector<std::pair<std::string, Refusals>> engines; // in the order of the columns
    for (const Comparison& comparison : comparisons)
    {
        for (size_t i = 0; i < comparison.engines.size(); i++)
        {
            const std::string& name = comparison.engines[i];
            auto entry = std::find_if(engines.begin(), engines.end(), [&name](const auto& one) {
                return one.first == name;
            });
            if (entry == engines.end())
            {
                entry = engines.insert(entry, {name, {}});
            }
            Refusals& refusals = entry->second;
            refusals.asked++;
            if (const Infeasible* refusal = RefusalIn(comparison.evaluations[i]))
            {
                refusals.first = refusals.refused == 0 ? refusal->detail : refusals.first;
                refusals.refused++;
                refusals.reasons.insert(refusal->detail);
            }
        }
    }
    std::string text;
    for (const auto& entry : engines)
    {
        const Refusals& refusals = entry.second;
        if (refusals.refused > 0)
        {
            text += fmt::format("Refused by {}, {} of {}{}: {}\n",
                                entry.first,
                                refusals.refused,
                                refusals.asked,
                                refusals.reasons.size() > 1 ? ", such as" : "",
                                refusals.first);
        }
    }
    return text;
}

Json
ComparisonJson(const SearchSpace& space,
               const std::vector<Comparison>& comparisons,
               const std::string& referenceEngine)
{
    Json list = Json::array();
    for (const auto& comparison : comparisons)
    {
        const RunReport* reference = ReportBy(comparison, referenceEngine);
        for (size_t i = 0; i < comparison.engines.size(); i++)
        {
            Json entry = {{"plan", ToJson(comparison.plan)}, {"engine", comparison.engines[i]}};
            entry["plan"]["label"] = space.LabelOf(comparison.plan);
            const auto* report = std::get_if<RunReport>(&comparison.evaluations[i]);
            if (report == nullptr)
            {
                entry["iteration_time_s"] = nullptr;
                entry["relative_error"] = nullptr;
                entry.update(ToJson(comparison.evaluations[i]));
            }
            else
            {
                entry["iteration_time_s"] = report->iterationTime.S();
                entry["relative_error"] =
                    reference == nullptr
                        ? Json()
                        : Json(RelativeError(report->iterationTime, reference->iterationTime));
                if (report->correction)
                {
                    const CorrectionReport& correction = *report->correction;
                    entry["correction"] = {{"operations", correction.operations},
                                           {"covered", correction.covered},
                                           {"uncovered_share", correction.uncovered},
                                           {"unreached", correction.unreached}};
                }
                entry["classes"] = ClassesJson(*report, reference);
                entry["reason"] =
                    reference != nullptr && IsExplained(*report, *reference)
                        ? Json(ReasonOfDifference(comparison.plan.parallel, *reference))
                        : Json(nullptr);
            }
            list.push_back(entry);
        }
    }
    return list;
}

std::string
ComparisonText(const SearchSpace& space,
               const std::vector<Comparison>& comparisons,
               const std::string& referenceEngine)
{
    std::vector<Table::Column> columns = {{"plan", Table::Align::Left},
                                          {"engine", Table::Align::Left},
                                          {"iteration"},
                                          {"error"}};
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        columns.push_back({ToString(static_cast<CommClass>(c))});
    }
    Table table(columns);
    std::string remarks;
    std::string failures;
    std::string corrections;
    for (const auto& comparison : comparisons)
    {
        const RunReport* reference = ReportBy(comparison, referenceEngine);
        for (size_t i = 0; i < comparison.engines.size(); i++)
        {
            std::vector<std::string> cells = {i == 0 ? space.LabelOf(comparison.plan) : "",
                                              comparison.engines[i]};
            const auto* report = std::get_if<RunReport>(&comparison.evaluations[i]);
            if (report == nullptr)
            {
                const auto* infeasible = std::get_if<Infeasible>(&comparison.evaluations[i]);
                const Failure failure = infeasible != nullptr
                                            ? Failure{infeasible->reason, infeasible->detail}
                                            : std::get<Failure>(comparison.evaluations[i]);
                cells.push_back(failure.reason);
                cells.resize(columns.size(), "-");
                if (RefusalIn(comparison.evaluations[i]) == nullptr)
                {
                    failures += fmt::format("{} on {}: {}: {}\n",
                                            space.LabelOf(comparison.plan),
                                            comparison.engines[i],
                                            failure.reason,
                                            failure.detail);
                }
            }
            else
            {
                const double error = reference == nullptr ? 0.0
                                                          : RelativeError(report->iterationTime,
                                                                          reference->iterationTime);
                cells.push_back(ToString(report->iterationTime));
                cells.push_back(reference == nullptr  ? "-"
                                : report == reference ? ""
                                                      : SignedPercent(error));
                for (const auto& part : report->classes)
                {
                    const bool known = part.bytes.Count() > 0 && report->KnowsBusy();
                    cells.push_back(known ? ToString(part.busy) : "-");
                }
                if (report->correction)
                {
                    corrections += fmt::format("{} on {}: {}\n",
                                               space.LabelOf(comparison.plan),
                                               comparison.engines[i],
                                               CoverageText(*report->correction));
                    for (const std::string& unreached : report->correction->unreached)
                    {
                        corrections += "  not reached: " + unreached + "\n";
                    }
                }
                if (reference != nullptr && IsExplained(*report, *reference))
                {
                    remarks +=
                        fmt::format("{} on {}: iteration {}; {} against {}: {}\n",
                                    space.LabelOf(comparison.plan),
                                    comparison.engines[i],
                                    SignedPercent(error),
                                    DifferencesText(*report, *reference),
                                    reference->engine,
                                    ReasonOfDifference(comparison.plan.parallel, *reference));
                }
            }
            table.Add(cells);
        }
    }
    std::string text = table.Text();
    if (!failures.empty())
    {
        text += "\nWithout a result:\n" + failures;
    }
    if (!corrections.empty())
    {
        text += "\nCorrected:\n" + corrections;
    }
    if (!remarks.empty())
    {
        text += fmt::format("\nDifferences beyond {:.0f} % in the time of a class:\n{}",
                            100 * kEngineTolerance,
                            remarks);
    }
    return text;
}

std::string
FastestText(const SearchSpace& space, const std::vector<Comparison>& comparisons)
{
    const auto timeOf = [](const Comparison& comparison) {
        const auto* report = std::get_if<RunReport>(&comparison.evaluations.back());
        return report == nullptr ? Duration::Max() : report->iterationTime;
    };
    const auto fastest = std::min_element(
        comparisons.begin(),
        comparisons.end(),
        [&](const Comparison& a, const Comparison& b) { return timeOf(a) < timeOf(b); });
    const auto ran =
        std::count_if(comparisons.begin(), comparisons.end(), [&](const Comparison& some) {
            return timeOf(some) < Duration::Max();
        });
    if (ran < 2)
    {
        return "";
    }
    const std::string by = "\nBy the " + fastest->engines.back() + " engine ";
    if (fastest == comparisons.begin())
    {
        return fmt::format("{}the best plan is the fastest of these {} as well.\n", by, ran);
    }
    const Duration first = timeOf(comparisons.front());
    return fmt::format("{}{} is the fastest of these {}; the best plan {}.\n",
                       by,
                       space.LabelOf(fastest->plan),
                       ran,
                       first == Duration::Max()
                           ? "has no time by it"
                           : "takes " + PercentText(RelativeExcess(timeOf(*fastest), first)) +
                                 " longer");
}

} // namespace scaleacross
