// SPDX-License-Identifier: GPL-2.0-only

#include "cli/calibrator.h"
#include "cli/command.h"
#include "cli/models/correction-file.h"
#include "cli/output-file.h"
#include "cli/rows-file.h"
#include "cli/show/report-json.h"
#include "cli/show/table.h"
#include "cli/workers/interrupt.h"
#include "cli/workers/time-limit.h"
#include "core/base/errors.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/corrected-engine.h"
#include "core/explore/search.h"

#include <cmath>
#include <filesystem>
#include <fmt/core.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

namespace scaleacross
{

namespace
{

struct CalibrateCommand
{
    CommonOptions common;
    std::string budget{"5min"};
    std::string output; //!< empty: <name of the study>.corrections.json
    uint32_t seeds{3};
    bool list{false};
    bool whole{false};
    RowsFile csv;
};

Json
ToJson(const Subject& subject)
{
    const Operation& operation = subject.operation;
    return {{"number", subject.number},
            {"class", ToString(operation.kind.comm)},
            {"operation", operation.kind.name},
            {"algorithm", operation.kind.algorithm},
            {"protocol", operation.kind.protocol},
            {"reach", ToString(operation.kind.reach)},
            {"way", operation.kind.way},
            {"split", operation.kind.split},
            {"levels", operation.levels},
            {"bytes", operation.bytes.Count()},
            {"times", operation.times},
            {"model_s", subject.model},
            {"stages", subject.operation.stages},
            {"slice", ToString(subject.Slice(subject.size.part))},
            {"part", subject.size.part},
            {"refused", subject.refusal.empty() ? Json() : Json(subject.refusal)},
            {"share", subject.Share()}};
}

std::string
ListText(const std::vector<Subject>& subjects)
{
    Table table({{"#"},
                 {"operation", Table::Align::Left},
                 {"members"},
                 {"bytes"},
                 {"stages"},
                 {"times"},
                 {"model"},
                 {"slice"},
                 {"of its class"}});
    std::string refused;
    for (const Subject& subject : subjects)
    {
        table.Add({std::to_string(subject.number),
                   subject.Name(),
                   ToString(subject.operation.levels),
                   ToString(subject.operation.bytes),
                   std::to_string(subject.operation.stages),
                   std::to_string(subject.operation.times),
                   ToString(Duration::Seconds(subject.model)),
                   subject.refusal.empty() ? ToString(subject.Slice(subject.size.part)) : "-",
                   PercentText(subject.Share())});
        refused +=
            subject.refusal.empty()
                ? ""
                : fmt::format("{} cannot be measured: {}\n", subject.number, subject.refusal);
    }
    return table.Text() + refused;
}

/// The plan as a whole by packets, if that was possible, beside both models.
struct WholeRun
{
    Evaluation packets;
    Evaluation model;
    Evaluation corrected;
};

/// What came of a calibration.
struct Calibrated
{
    std::string path;
    std::vector<MeasuredOperation> found;
    std::vector<MeasuredOperation> kept; //!< of the file, though they were measured again
    std::vector<std::string> failures;
    std::vector<ClassCoverage> coverage;
    std::optional<WholeRun> whole;
};

std::string
FoundText(const std::vector<MeasuredOperation>& found)
{
    Table table({{"slice", Table::Align::Left},
                 {"operation", Table::Align::Left},
                 {"members"},
                 {"bytes"},
                 {"of its class"},
                 {"model"},
                 {"packets"},
                 {"factor"},
                 {"90 %"},
                 {"seeds"}});
    for (const MeasuredOperation& operation : found)
    {
        const CorrectionRow& row = operation.row;
        table.Add({operation.slice,
                   ToString(row.kind),
                   ToString(row.levels),
                   ToString(row.bytes),
                   PercentText(operation.share),
                   ToString(Duration::Seconds(operation.modelSeconds)),
                   ToString(Duration::Seconds(operation.modelSeconds * row.factor.value)),
                   fmt::format("{:.3f}", row.factor.value),
                   fmt::format("{:.3f} to {:.3f}", row.factor.low, row.factor.high),
                   std::to_string(operation.seeds)});
    }
    return table.Text();
}

/// A budget, rounded up, as --budget takes it.
std::string
BudgetText(Duration budget)
{
    constexpr double kMinute = 60;
    constexpr double kHour = 3600;
    const double seconds = budget.S();
    return seconds < kMinute     ? fmt::format("{:.0f}s", std::ceil(seconds))
           : seconds < 2 * kHour ? fmt::format("{:.0f}min", std::ceil(seconds / kMinute))
                                 : fmt::format("{:.0f}h", std::ceil(seconds / kHour));
}

std::string
CoverageText(const std::vector<ClassCoverage>& classes)
{
    std::string text;
    for (const ClassCoverage& coverage : classes)
    {
        text +=
            fmt::format("{}: {} of an iteration's bytes between buildings were sent as packets, "
                        "by slices of {} of {} operations",
                        ToString(coverage.comm),
                        PercentText(coverage.share),
                        coverage.measured,
                        coverage.operations);
        if (coverage.budget)
        {
            text += fmt::format("; {:.0f} % would take --budget {} here",
                                100 * kCoverageGoal,
                                BudgetText(*coverage.budget));
        }
        else if (coverage.share < kCoverageGoal)
        {
            text += fmt::format("; no budget makes it more than {}", PercentText(coverage.most));
        }
        text += "\n";
    }
    return text;
}

Json
ToJson(const ClassCoverage& coverage)
{
    return {{"class", ToString(coverage.comm)},
            {"share", coverage.share},
            {"operations", coverage.operations},
            {"measured", coverage.measured},
            {"goal", kCoverageGoal},
            {"budget_for_goal_s", coverage.budget ? Json(coverage.budget->S()) : Json()},
            {"most", coverage.most}};
}

WholeRun
RunWhole(const Study& study, const Calibrator& calibrator, const std::vector<CorrectionSet>& sets)
{
    const CorrectedEngine corrected("corrected", "", "", [&sets](const Scenario& scenario) {
        return CorrectionsFor(scenario, sets, "--output");
    });
    WholeRun whole;
    whole.model = Evaluate(AnalyticalEngine(), study.scenario, {});
    whole.corrected = Evaluate(corrected, study.scenario, {});
    try
    {
        RunReport report;
        report.iterationTime = calibrator.RunWhole();
        whole.packets = report;
    }
    catch (const RunError& error)
    {
        whole.packets = Failure{error.Reason(), error.what()};
    }
    catch (const Interrupted&)
    {
        whole.packets = Failure{"interrupted", "interrupted"};
    }
    return whole;
}

Duration
TimeOf(const Evaluation& evaluation)
{
    return std::get<RunReport>(evaluation).iterationTime;
}

std::string
WholeText(const WholeRun& whole)
{
    if (const auto* failure = std::get_if<Failure>(&whole.packets))
    {
        return "the whole plan: not run by packets: " + failure->detail + "\n";
    }
    const Duration packets = TimeOf(whole.packets);
    const auto beside = [packets](const Evaluation& model) {
        return fmt::format("{} ({:+.1f} %)",
                           ToString(TimeOf(model)),
                           100 * (TimeOf(model).S() / packets.S() - 1));
    };
    return fmt::format("the whole plan: {} by packets; by the model {}, corrected {}\n",
                       ToString(packets),
                       beside(whole.model),
                       beside(whole.corrected));
}

void
PrintText(const Calibrated& calibrated)
{
    std::cout << FoundText(calibrated.found) << CoverageText(calibrated.coverage);
    for (const std::string& failure : calibrated.failures)
    {
        std::cout << "not measured: " << failure << "\n";
    }
    for (const MeasuredOperation& kept : calibrated.kept)
    {
        std::cout << fmt::format(
            "as it was in the file, for that is better: {}: {} of it, {} seeds\n",
            ToString(kept),
            PercentText(kept.part),
            kept.seeds);
    }
    if (calibrated.whole)
    {
        std::cout << WholeText(*calibrated.whole);
    }
    std::cout << "written to " << calibrated.path << ": --engine corrected:" << calibrated.path
              << "\n";
}

Json
ToJson(const Calibrated& calibrated)
{
    const auto rowsOf = [](const std::vector<MeasuredOperation>& operations) {
        CorrectionSet set;
        set.operations = operations;
        return Json::parse(CorrectionFileText({set})).at("sets").at(0).at("operations");
    };
    Json json = {{"file", calibrated.path},
                 {"operations", rowsOf(calibrated.found)},
                 {"kept", rowsOf(calibrated.kept)},
                 {"failures", calibrated.failures},
                 {"coverage", Json::array()}};
    for (const ClassCoverage& coverage : calibrated.coverage)
    {
        json["coverage"].push_back(ToJson(coverage));
    }
    if (calibrated.whole)
    {
        const WholeRun& whole = *calibrated.whole;
        json["whole"] = {{"model_s", TimeOf(whole.model).S()},
                         {"corrected_s", TimeOf(whole.corrected).S()}};
        if (const auto* failure = std::get_if<Failure>(&whole.packets))
        {
            json["whole"]["failed"] = {{"reason", failure->reason}, {"detail", failure->detail}};
        }
        else
        {
            json["whole"]["packet_s"] = TimeOf(whole.packets).S();
        }
    }
    return json;
}

Exit
NothingMeasured(const Calibrator& calibrator, Duration budget, bool interrupted)
{
    const Duration least = calibrator.LeastBudget();
    std::string why = interrupted ? ": interrupted" : "";
    if (!interrupted && least > budget)
    {
        why = fmt::format(": no operation fits into --budget; the shortest needs about {:.1f}s",
                          std::ceil(least.S() * 10) / 10);
    }
    std::cerr << "scaleacross: nothing was measured" << why << "\n";
    for (const std::string& failure : calibrator.Failures())
    {
        std::cerr << "  " << failure << "\n";
    }
    return interrupted ? Exit::Interrupted : Exit::Failed;
}

Exit
Print(const std::vector<Subject>& subjects, const CalibrateCommand& options)
{
    Json list = Json::array();
    for (const Subject& subject : subjects)
    {
        list.push_back(ToJson(subject));
    }
    std::cout << (options.common.json ? list.dump(2) + "\n" : ListText(subjects));
    options.csv.Write([&list] { return list; });
    return Exit::Done;
}

/// Of a file, if it is there.
std::vector<CorrectionSet>
SetsIn(const std::string& path)
{
    if (!std::filesystem::exists(path))
    {
        return {};
    }
    try
    {
        return ReadCorrectionFile(path);
    }
    catch (const ConfigError& error)
    {
        throw ConfigError("--output " + error.Where(),
                          error.Problem(),
                          error.Allowed(),
                          error.Remedy());
    }
}

Exit
CalibrateStudy(const CalibrateCommand& options)
{
    const Study study = StudyOf(options.common);
    WarnOfModel(study);
    const Duration budget = TimeLimitOf(options.budget, "--budget");
    Calibrated calibrated;
    calibrated.path =
        options.output.empty() ? FileNameOf(study.name) + ".corrections.json" : options.output;
    options.csv.Expect();
    const MeasuringTime time{budget.S(), JobsOf(options.common), options.seeds};
    std::vector<Subject> subjects = SubjectsOf(study.scenario, time);
    if (options.list)
    {
        return Print(subjects, options);
    }
    if (subjects.empty())
    {
        throw ConfigError("STUDY",
                          "its plan sends nothing between servers",
                          "a plan that does",
                          "there is nothing to correct");
    }
    ExpectOutput(calibrated.path, "--output", Existing::Extended);
    SetsIn(calibrated.path); // what is no such file is not found out after hours
    const auto& stop = CatchInterrupts();
    Calibrator calibrator({study.scenario, study.seed, time}, std::move(subjects), stop);
    calibrator.Run();
    calibrated.found = calibrator.Found();
    calibrated.failures = calibrator.Failures();
    calibrated.coverage = calibrator.Coverage();
    if (calibrated.found.empty())
    {
        return NothingMeasured(calibrator, budget, stop);
    }
    CorrectionSet set = EmptySetOf(study.scenario, study.name);
    set.operations = calibrated.found;
    std::vector<CorrectionSet> sets = SetsIn(calibrated.path); // others may have written meanwhile
    calibrated.kept = Merge(sets, std::move(set));
    WriteOutput(calibrated.path, CorrectionFileText(sets), "--output", Existing::Extended);
    if (options.whole && !stop)
    {
        calibrated.whole = RunWhole(study, calibrator, sets);
    }
    if (options.common.json)
    {
        std::cout << ToJson(calibrated).dump(2) << "\n";
    }
    else
    {
        PrintText(calibrated);
    }
    options.csv.Write([&calibrated] { return ToJson(calibrated).at("operations"); });
    if (stop)
    {
        std::cerr << "scaleacross: interrupted; what was measured is in " << calibrated.path
                  << ", to which the same command adds\n";
        return Exit::Interrupted;
    }
    return Exit::Done;
}

} // namespace

void
AddCalibrate(CommandLine& program)
{
    auto options = std::make_shared<CalibrateCommand>();
    Command command =
        program.Add("calibrate",
                    "measure by packets what the analytical engine misses of a plan's "
                    "operations");
    AddStudyOptions(command, options->common);
    AddJobs(command, options->common);
    command.Add("--budget", options->budget, "wall clock time for all measurements").ShowDefault();
    command.Add("--output",
                options->output,
                "file of corrections, to which these are added; default: <name of the "
                "study>.corrections.json in the current folder");
    command.Add("--seeds", options->seeds, "measurements of each operation, at most")
        .Between(1, 100)
        .ShowDefault();
    options->csv.AddTo(command, "operation");
    command.Flag("--list", options->list, "print the operations, and measure nothing");
    command.Flag("--whole",
                 options->whole,
                 "then run the whole plan by packets in what is left of the budget, beside the "
                 "model and the corrected model");
    command.Does([options] { return CalibrateStudy(*options); });
}

} // namespace scaleacross
