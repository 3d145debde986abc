// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/sensitivity.h"

#include "cli/question.h"
#include "cli/rows-file.h"
#include "cli/show/progress-line.h"
#include "cli/show/report-json.h"
#include "cli/show/report-text.h"
#include "cli/show/table.h"
#include "cli/study-settings.h"
#include "cli/workers/interrupt.h"
#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/engine/analytical-engine.h"
#include "core/topology/switch-headroom.h"
#include "core/work/memory/memory.h"

#include <algorithm>
#include <fmt/core.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

struct SensitivityCommand
{
    CommonOptions common;
    std::string by{"20%"};
    std::vector<std::string> of; //!< keys, or what they begin with; empty: all
    RowsFile csv;
};

/// What was found of a study.
struct Tornado
{
    double by{0};
    BestPlan base;
    std::vector<Sensitivity> bars; //!< by effect
    std::vector<FixedInput> fixed;

    Duration BaseTime() const
    {
        return base.plan->report.iterationTime;
    }
};

/// Whether `key` is the input, or begins it before a dot.
bool
Names(const std::string& key, const std::string& input)
{
    return input == key || input.rfind(key + ".", 0) == 0;
}

/// Leaves the inputs that the user names. Throws ConfigError where one names none.
void
Choose(const std::vector<std::string>& keys, StudyInputs& inputs)
{
    std::vector<std::string> known;
    for (const StudyInput& input : inputs.varied)
    {
        known.push_back(input.key);
    }
    for (const std::string& key : keys)
    {
        const auto named = [&key](const auto& input) { return Names(key, input.key); };
        if (std::any_of(inputs.varied.begin(), inputs.varied.end(), named))
        {
            continue;
        }
        const auto fixed = std::find_if(inputs.fixed.begin(), inputs.fixed.end(), named);
        const std::string nearest = Nearest(key, known);
        throw ConfigError("--of",
                          fixed != inputs.fixed.end()
                              ? Quoted(key) + " is " + fixed->value + ", " + fixed->reason
                              : Quoted(key) + " is no input of the study",
                          AnyOf(known) + ", or what these begin with before a dot",
                          nearest.empty() ? "" : "did you mean " + nearest + "?");
    }
    const auto other = [&keys](const auto& input) {
        return !keys.empty() && std::none_of(keys.begin(), keys.end(), [&](const auto& key) {
            return Names(key, input.key);
        });
    };
    auto& varied = inputs.varied;
    auto& fixed = inputs.fixed;
    varied.erase(std::remove_if(varied.begin(), varied.end(), other), varied.end());
    fixed.erase(std::remove_if(fixed.begin(), fixed.end(), other), fixed.end());
}

/// What times do not show: memory and buffers that a plan lacks.
std::vector<std::string>
LacksOf(const Scenario& scenario)
{
    std::vector<std::string> lacks = MemoryWarnings(scenario);
    const auto headroom = HeadroomWarnings(scenario.cluster, scenario.network);
    lacks.insert(lacks.end(), headroom.begin(), headroom.end());
    return lacks;
}

std::vector<std::string>
BaseWarnings(const Study& study, const Tornado& tornado)
{
    return LacksOf(SearchSpace(study).With(tornado.base.plan->plan));
}

/// What is to be said of the best plan at an end and was not of that of the study.
std::vector<std::string>
NewWarnings(const SensitivityEnd& end, const std::vector<std::string>& before)
{
    std::vector<std::string> warnings;
    if (end.scenario)
    {
        for (const std::string& warning : LacksOf(*end.scenario))
        {
            if (std::find(before.begin(), before.end(), warning) == before.end())
            {
                warnings.push_back(warning);
            }
        }
    }
    return warnings;
}

// --- As text -------------------------------------------------------------------------------------

std::string
ChangeText(const std::optional<double>& change)
{
    const std::string text = change ? fmt::format("{:+.2f} %", 100 * *change) : "-";
    return text == "-0.00 %" || text == "+0.00 %" ? "0.00 %" : text;
}

std::string
ChangeText(const std::optional<Duration>& time, Duration base)
{
    return ChangeText(time ? std::optional<double>(time->S() / base.S() - 1) : std::nullopt);
}

/// Neither end does anything to the study; one that the field does not take says nothing.
bool
IsIdle(const Sensitivity& bar, Duration base)
{
    const auto same = [base](const SensitivityEnd& end) {
        return end.refused || (end.kept == base && end.best == base);
    };
    return same(bar.low) && same(bar.high);
}

std::string
ChoiceText(const Sensitivity& bar)
{
    std::string text;
    for (const auto& [name, end] : {std::pair("low", &bar.low), std::pair("high", &bar.high)})
    {
        const std::string what = end->refused   ? "refused"
                                 : !end->best   ? "none can run"
                                 : end->changes ? end->label
                                                : "";
        text += what.empty() ? "" : (text.empty() ? "" : "; ") + (name + (": " + what));
    }
    return text.empty() ? "same" : text;
}

std::string
TextOf(const Study& study, const Tornado& tornado)
{
    const Duration base = tornado.BaseTime();
    std::string text = fmt::format("{}: best plan {} takes {}\n"
                                   "Every input by itself, lowered and raised by {:g} %: time of "
                                   "that plan (kept) and of the best of a new search (best).\n\n",
                                   TitleOf(study),
                                   tornado.base.label,
                                   ToString(base),
                                   100 * tornado.by);
    Table table({{"input", Table::Align::Left},
                 {"value"},
                 {"low"},
                 {"kept"},
                 {"best"},
                 {"high"},
                 {"kept"},
                 {"best"},
                 {"choice", Table::Align::Left}});
    std::string idle;
    std::string reasons;
    std::vector<std::string> warnings;
    const auto before = BaseWarnings(study, tornado);
    for (const Sensitivity& bar : tornado.bars)
    {
        std::string why;
        for (const SensitivityEnd* end : {&bar.low, &bar.high})
        {
            const std::string at =
                bar.key + (end->value.empty() ? (end == &bar.low ? ", lowered" : ", raised")
                                              : "=" + end->value);
            why += end->reason.empty() ? "" : at + ": " + end->reason + "\n";
            for (const std::string& warning : NewWarnings(*end, before))
            {
                warnings.push_back("at " + at + ": " + warning);
            }
        }
        if (IsIdle(bar, base))
        {
            const bool refused = bar.low.refused && bar.high.refused;
            idle += refused ? "" : (idle.empty() ? "" : ", ") + bar.key;
            reasons += refused ? why : "";
            continue;
        }
        reasons += why;
        table.Add({bar.key,
                   bar.value,
                   bar.low.value.empty() ? "-" : bar.low.value,
                   ChangeText(bar.low.kept, base),
                   ChangeText(bar.low.Change(base)),
                   bar.high.value.empty() ? "-" : bar.high.value,
                   ChangeText(bar.high.kept, base),
                   ChangeText(bar.high.Change(base)),
                   ChoiceText(bar)});
    }
    text += table.Text() + (reasons.empty() ? "" : "\n" + reasons);
    text += idle.empty() ? "" : "\nWithout any effect: " + idle + ".\n";
    std::string fixed;
    for (const FixedInput& input : tornado.fixed)
    {
        fixed += (fixed.empty() ? "" : ", ") + input.key + " (" + input.value + ")";
    }
    text +=
        fixed.empty()
            ? ""
            : "\nNot varied, since they are 0 or have no whole number so near: " + fixed + ".\n";
    return text + WarningText(warnings);
}

// --- As JSON -------------------------------------------------------------------------------------

Json
SecondsOf(const std::optional<Duration>& time)
{
    return time ? Json(time->S()) : Json(nullptr);
}

Json
JsonOf(const SensitivityEnd& end, const std::vector<std::string>& before)
{
    return {{"value", end.value.empty() ? Json(nullptr) : Json(end.value)},
            {"kept_s", SecondsOf(end.kept)},
            {"best_s", SecondsOf(end.best)},
            {"label", end.best ? Json(end.label) : Json(nullptr)},
            {"changes", end.changes},
            {"refused", end.refused},
            {"reason", end.reason.empty() ? Json(nullptr) : Json(end.reason)},
            {"warnings", NewWarnings(end, before)}};
}

Json
JsonOf(const Study& study, const Tornado& tornado)
{
    const Duration base = tornado.BaseTime();
    Json json = {{"study", study.name},
                 {"settings", SettingsJson(study.settings)},
                 {"engine", study.engines.front()},
                 {"by", tornado.by}};
    json["base"] = {{"iteration_time_s", base.S()}, {"plan", ToJson(tornado.base.plan->plan)}};
    json["base"]["plan"]["label"] = tornado.base.label;
    const auto before = BaseWarnings(study, tornado);
    json["inputs"] = Json::array();
    for (const Sensitivity& bar : tornado.bars)
    {
        const auto effect = bar.Effect(base);
        json["inputs"].push_back({{"key", bar.key},
                                  {"value", bar.value},
                                  {"effect", effect ? Json(*effect) : Json(nullptr)},
                                  {"low", JsonOf(bar.low, before)},
                                  {"high", JsonOf(bar.high, before)}});
    }
    json["not_varied"] = Json::array();
    for (const FixedInput& input : tornado.fixed)
    {
        json["not_varied"].push_back(
            {{"key", input.key}, {"value", input.value}, {"reason", input.reason}});
    }
    return json;
}

// -------------------------------------------------------------------------------------------------

Exit
AskSensitivity(const SensitivityCommand& options)
{
    Tornado tornado;
    tornado.by = ParseAt("--by", [&] { return ParseFraction(options.by, 0.001, 1); });
    const Study study = StudyOf(options.common);
    WarnOfModel(study);
    ExpectAnalytical(study);
    StudyInputs inputs = InputsOf(study, tornado.by);
    Choose(options.of, inputs);
    tornado.fixed = inputs.fixed;
    options.csv.Expect();
    const auto& stop = CatchInterrupts();
    const SearchOptions search = SearchOptionsOf(options.common, study, stop);
    return Uninterrupted([&] {
        const AnalyticalEngine engine;
        ProgressLine line("sensitivity");
        tornado.base = FindBestPlan(study, engine, search);
        if (!tornado.base.plan)
        {
            PrintError("no plan of " + study.name + " can run: " + tornado.base.reason);
            return Exit::Failed;
        }
        const SensitivityProbe probe(study, *tornado.base.plan, engine, search);
        for (size_t i = 0; i < inputs.varied.size(); i++)
        {
            line.ShowText(
                fmt::format("{} of {}: {}", i + 1, inputs.varied.size(), inputs.varied[i].key));
            tornado.bars.push_back(probe.Of(inputs.varied[i], tornado.by));
        }
        line.Clear();
        SortByEffect(tornado.bars, tornado.BaseTime());
        std::cout << (options.common.json ? JsonOf(study, tornado).dump(2) + "\n"
                                          : TextOf(study, tornado));
        options.csv.Write([&] { return WithChanges(study, JsonOf(study, tornado).at("inputs")); });
        return Exit::Done;
    });
}

} // namespace

void
AddSensitivity(CommandLine& program)
{
    auto options = std::make_shared<SensitivityCommand>();
    Command command =
        program.Add("sensitivity", "what each figure of a study does to the best time and plan");
    AddStudyOptions(command, options->common);
    AddJobs(command, options->common);
    options->csv.AddTo(command, "figure that is varied");
    command.Add("--by", options->by, "how much every figure is lowered and raised, below 100%")
        .ShowDefault();
    command
        .Add("--of",
             options->of,
             "figures to vary, or what they begin with, such as cluster.cross,workload.sequence; "
             "default: all")
        .Named("KEY")
        .SeparatedByCommas();
    command.Does([options] { return AskSensitivity(*options); });
}

} // namespace scaleacross
