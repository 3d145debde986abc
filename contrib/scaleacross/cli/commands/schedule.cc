// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/engines.h"
#include "cli/output-file.h"
#include "cli/plan-schedule.h"
#include "cli/rows-file.h"
#include "cli/schedule-run.h"
#include "cli/show/schedule-answer.h"
#include "cli/show/schedule-picture.h"
#include "cli/workers/interrupt.h"
#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/pipeline-schedule.h"

#include <filesystem>
#include <fmt/core.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace scaleacross
{

namespace
{

/// Most actions of one kind, so that no typing error fills the memory.
constexpr uint64_t kMostPasses = uint64_t{1} << 20;
/// Orders of zero-bubble schedules take time by the square of the stages: seconds for these.
constexpr uint32_t kMostStages = 1U << 14;

struct ScheduleCommand
{
    CommonOptions plan; //!< of a search, with --from
    std::string engine{"analytical"};
    std::string name;
    uint32_t stages{0};
    uint32_t microbatches{0};
    uint32_t chunks{0}; //!< 0: the least the schedule takes
    uint32_t round{0};
    uint32_t inFlight{0};
    std::string forward;
    std::string inputGrad;
    std::string weightGrad;
    std::string forwardBackward;
    std::string comm{"0s"};
    uint32_t buildings{1};
    std::string cross{"0s"};
    std::string crossTransfer{"0s"};
    std::string receives{Receives().Name()};
    std::string credit{"0s"};
    std::string output;
    uint32_t width{120};
    bool json{false};
    RowsFile csv; //!< of a plan
};

Duration
TimeOf(const std::string& option, const std::string& text)
{
    const Duration time = ParseAt(option, [&] { return ParseDuration(text); });
    if (time < Duration() || time > Duration::Seconds(1000))
    {
        throw ConfigError(option, Quoted(text) + " is out of range", "0s to 1000s", "");
    }
    return time;
}

/// Options that a schedule has no use for.
void
CheckUse(const ScheduleFacts& facts, const ScheduleCommand& options)
{
    const auto refuse = [&facts](const char* option, bool given, bool used, const char* what) {
        if (given && !used)
        {
            throw ConfigError(option,
                              facts.name + " has no " + what,
                              "a schedule that has",
                              "leave it out");
        }
    };
    refuse("--round", options.round != 0, facts.inRounds, "rounds of microbatches");
    refuse("--in-flight", options.inFlight != 0, facts.limitsHeld, "limit of activations held");
    refuse("--forward-backward",
           !options.forwardBackward.empty(),
           facts.overlapsPasses,
           "forwards overlapped with backwards");
}

ScheduleSetting
SettingOf(const ScheduleCommand& options)
{
    ScheduleSetting setting;
    PipelineShape& shape = setting.shape;
    shape.schedule = ParseAt("--name", [&options] { return Schedule(options.name); });
    const ScheduleFacts& facts = shape.schedule->Facts();
    CheckUse(facts, options);
    shape.ranks = options.stages;
    shape.microbatches = options.microbatches;
    shape.chunks = options.chunks != 0 ? options.chunks : facts.chunks.least;
    shape.round = options.round;
    shape.inFlight = options.inFlight;
    if (const auto no = CheckPipeline(shape))
    {
        throw ConfigError("--name " + options.name,
                          no->detail,
                          "stages, microbatches and chunks that the schedule has an order for",
                          "scaleacross list schedules names the chunks that each takes");
    }
    if (shape.ranks > kMostStages)
    {
        throw ConfigError("--stages",
                          fmt::format("{} is out of range", shape.ranks),
                          fmt::format("1 to {}", kMostStages),
                          "");
    }
    if (uint64_t{shape.microbatches} * Positions(shape) > kMostPasses)
    {
        throw ConfigError("--stages",
                          fmt::format("{} stages of {} chunks with {} microbatches are too many",
                                      shape.ranks,
                                      shape.chunks,
                                      shape.microbatches),
                          fmt::format("a product of at most {}", kMostPasses),
                          "");
    }
    if (shape.ranks % options.buildings != 0)
    {
        throw ConfigError("--buildings",
                          fmt::format("{} stages are not divisible by {} buildings",
                                      shape.ranks,
                                      options.buildings),
                          "a divisor of the stages",
                          "");
    }
    setting.buildings = options.buildings;
    setting.times = {TimeOf("--forward", options.forward),
                     TimeOf("--input-grad", options.inputGrad),
                     TimeOf("--weight-grad", options.weightGrad)};
    if (setting.times.Total() / shape.chunks == Duration())
    {
        throw ConfigError("--forward", "all passes take no time", "a time above 0", "");
    }
    setting.comm = TimeOf("--comm", options.comm);
    setting.cross = TimeOf("--cross", options.cross);
    setting.crossTransfer = TimeOf("--cross-transfer", options.crossTransfer);
    setting.credit = TimeOf("--credit", options.credit);
    for (const auto& [option, time] : {std::make_pair("--cross", setting.cross),
                                       std::make_pair("--cross-transfer", setting.crossTransfer),
                                       std::make_pair("--credit", setting.credit)})
    {
        if (time != Duration() && options.buildings == 1)
        {
            throw ConfigError(option,
                              "one building has no message between two",
                              "0s, or --buildings of 2 or more",
                              "");
        }
    }
    setting.receives = ParseAt("--receives", [&options] { return Receives(options.receives); });
    if (setting.credit != Duration() && !setting.receives->planned)
    {
        throw ConfigError("--credit",
                          "no message waits for a receive",
                          "0s, or --receives planned",
                          "");
    }
    if (!options.forwardBackward.empty())
    {
        setting.forwardBackward = TimeOf("--forward-backward", options.forwardBackward);
    }
    shape.times = std::make_shared<const PipelineTimes>(TimesOf(setting));
    return setting;
}

void
ExpectDrawing(const std::string& output)
{
    if (!output.empty() && std::filesystem::path(output).extension() != ".svg")
    {
        throw ConfigError("--output",
                          Quoted(output) + " does not say what to write",
                          "a file that ends in .svg",
                          "for instance -o schedule.svg");
    }
}

Exit
DrawPlan(const ScheduleCommand& options)
{
    ExpectDrawing(options.output);
    const Study study = StudyOf(options.plan);
    WarnOfModel(study);
    const auto engine = MakeEngine(options.engine, "--engine", StopFor(options.engine));
    ExpectOutput(options.output);
    options.csv.Expect();
    const PlanSchedule schedule = RunPlanSchedule(study, *engine);
    if (!options.output.empty())
    {
        WriteOutput(options.output, ScheduleSvg(schedule.shape, schedule.run));
    }
    if (options.json)
    {
        std::cout << ScheduleJson(study, schedule).dump(2) << "\n";
    }
    else
    {
        std::cout << ScheduleAnswerText(study, schedule, options.width);
    }
    options.csv.Write([&] { return ScheduleJson(study, schedule).at("stages"); });
    return Exit::Done;
}

Exit
DrawSchedule(const ScheduleCommand& options)
{
    ExpectDrawing(options.output);
    const ScheduleSetting setting = SettingOf(options);
    const ScheduleRun run = RunSchedule(setting);
    if (!options.output.empty())
    {
        WriteOutput(options.output, ScheduleSvg(setting.shape, run));
    }
    if (options.json)
    {
        std::cout << ScheduleJson(setting, run).dump(2) << "\n";
    }
    else
    {
        std::cout << ScheduleAnswerText(setting, run, options.width);
    }
    return Exit::Done;
}

/// A plan says what a schedule by itself has to be told, and the other way round.
void
CheckGiven(const Command& command, bool ofPlan)
{
    for (const char* name :
         {"--name", "--stages", "--microbatches", "--forward", "--input-grad", "--weight-grad"})
    {
        if (!ofPlan && !command.IsGiven(name))
        {
            throw ConfigError(name,
                              "is not given, nor is a plan",
                              "a STUDY, --from DB, or all of --name, --stages, --microbatches, "
                              "--forward, --input-grad and --weight-grad",
                              "");
        }
    }
    const std::set<std::string> both{"--width", "--output", "--json"};
    const std::set<std::string>
        plans{"--from", "--search", "--rank", "--seed", "--set", "--csv", "--engine"};
    for (const std::string& name : command.OptionNames())
    {
        if (command.IsGiven(name) && both.count(name) == 0 && (plans.count(name) > 0) != ofPlan)
        {
            throw ConfigError(name,
                              ofPlan ? "the plan says this" : "there is no plan",
                              ofPlan ? "none beside a STUDY or --from"
                                     : "only with a STUDY or --from DB",
                              "leave it out");
        }
    }
}

} // namespace

void
AddSchedule(CommandLine& program)
{
    auto options = std::make_shared<ScheduleCommand>();
    Command command = program.Add(
        "schedule",
        "draw the pipeline schedule of a plan, or one by itself; its bubble, activations held and "
        "building crossings");
    AddStudyOrKept(command, options->plan);
    AddSeed(command, options->plan);
    AddSet(command, options->plan);
    options->csv.AddTo(command, "stage of a plan");
    command.Add("--engine", options->engine, "of a plan: " + EngineHelp()).ShowDefault();
    const auto whole = [&](const char* name, uint32_t& value, const char* help) {
        return command.Add(name, value, help).Between(1, 65535);
    };
    command.Add("--name", options->name, "in place of a plan: " + AnyOf(Schedule::Names()));
    whole("--stages", options->stages, "pipeline stages p");
    whole("--microbatches", options->microbatches, "microbatches m");
    whole("--chunks",
          options->chunks,
          "model chunks per stage v; default: the least the schedule takes");
    command.Add("--forward",
                options->forward,
                "time of one microbatch's forward on a stage, all its chunks together, such as "
                "11.3ms");
    command.Add("--input-grad", options->inputGrad, "of its input gradient");
    command.Add("--weight-grad", options->weightGrad, "of its weight gradient");
    command.Add("--forward-backward",
                options->forwardBackward,
                "dualpipev: of a forward and a backward of one chunk each, overlapped; "
                "default: as long as both");
    command.Add("--comm", options->comm, "time of a message between two stages").ShowDefault();
    whole("--buildings", options->buildings, "buildings that hold equal numbers of stages in a row")
        .ShowDefault();
    command.Add("--cross", options->cross, "further time of a message between two buildings")
        .ShowDefault();
    command
        .Add("--cross-transfer",
             options->crossTransfer,
             "time for which a message between two buildings holds the way from its sender to "
             "its receiver, on top of --cross")
        .ShowDefault();
    command
        .Add(
            "--receives",
            options->receives,
            AnyOf(Receives::Names()) +
                ": "
                "when receives are posted: before any message comes, or where they stand in a plan "
                "of the times that the order is made for (F = I = W without delay, but for "
                "latency-aware)")
        .ShowDefault();
    command
        .Add("--credit",
             options->credit,
             "with planned receives: time until a sender in another building knows that a receive "
             "is posted")
        .ShowDefault();
    whole("--round", options->round, "schedules in rounds: microbatches per chunk and round");
    whole("--in-flight",
          options->inFlight,
          "latency-aware: most microbatches that a stage holds; default: the stages");
    command.Add("--width", options->width, "columns of the drawing")
        .Between(10, 10000)
        .ShowDefault();
    command.Add("-o,--output", options->output, "also write a drawing to this .svg file");
    command.Flag("--json", options->json, "print JSON with every action instead of a drawing");
    command.Does([options, command] {
        const bool ofPlan = command.IsGiven("STUDY") || command.IsGiven("--from");
        CheckGiven(command, ofPlan);
        return ofPlan ? DrawPlan(*options) : DrawSchedule(*options);
    });
}

} // namespace scaleacross
