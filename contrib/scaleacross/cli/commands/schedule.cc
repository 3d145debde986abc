// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/output-file.h"
#include "cli/schedule-run.h"
#include "cli/show/report-json.h"
#include "cli/show/schedule-picture.h"
#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

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

double
MostOf(const std::vector<double>& values)
{
    return *std::max_element(values.begin(), values.end());
}

uint32_t
CrossingsOf(const ScheduleRun& run)
{
    uint32_t sum = 0;
    for (const Crossings& pair : run.crossings)
    {
        sum += pair.count;
    }
    return sum;
}

void
PrintText(const ScheduleSetting& setting, const ScheduleRun& run, uint32_t width)
{
    const PipelineShape& shape = setting.shape;
    std::cout << fmt::format("{}, {} stages, {} microbatches, {} chunk{} per stage\n\n{}\n",
                             ToString(shape.schedule),
                             shape.ranks,
                             shape.microbatches,
                             shape.chunks,
                             shape.chunks > 1 ? "s" : "",
                             ScheduleText(setting, run, width));
    const auto line = [](const char* what, const std::string& value) {
        std::cout << fmt::format("{:<20}{}\n", what, value);
    };
    line("makespan", ToString(run.makespan));
    line("longest span", ToString(run.span) + " of a stage, first to last action");
    line("bubble_fraction", fmt::format("{:.4f}", run.bubbleFraction));
    std::string peaks;
    for (const double peak : run.peak)
    {
        peaks += (peaks.empty() ? "" : " ") + fmt::format("{:.4g}", peak);
    }
    line("peak activations",
         fmt::format("{:.4g} microbatches; by stage {}", MostOf(run.peak), peaks));
    line("transfers", fmt::format("{} per microbatch and direction", run.transfers));
    std::string pairs;
    for (const Crossings& pair : run.crossings)
    {
        pairs +=
            fmt::format("{} {}-{}: {}", pairs.empty() ? ";" : ",", pair.from, pair.to, pair.count);
    }
    line("crossings",
         fmt::format("{} per microbatch and direction between {} building{}{}",
                     CrossingsOf(run),
                     setting.buildings,
                     setting.buildings > 1 ? "s" : "",
                     pairs));
}

Json
ToJson(const ScheduleSetting& setting, const ScheduleRun& run)
{
    const PipelineShape& shape = setting.shape;
    Json crossings = Json::array();
    for (const Crossings& pair : run.crossings)
    {
        crossings.push_back({{"from", pair.from}, {"to", pair.to}, {"messages", pair.count}});
    }
    Json timeline = Json::array();
    for (const ScheduledPass& entry : run.timeline)
    {
        const bool both = entry.action == Action::ForwardBackward;
        Json action = {
            {"stage", entry.stage},
            {"action", both ? "FB" : std::string(1, "FBIWO"[static_cast<size_t>(entry.action)])},
            {"chunk", entry.chunk},
            {"microbatch", entry.microbatch}};
        if (both)
        {
            action["back_chunk"] = entry.backChunk;
            action["back_microbatch"] = entry.backMicrobatch;
        }
        action["begin_s"] = entry.begin.S();
        action["end_s"] = entry.end.S();
        timeline.push_back(action);
    }
    return {{"schedule", ToString(shape.schedule)},
            {"stages", shape.ranks},
            {"microbatches", shape.microbatches},
            {"chunks", shape.chunks},
            {"makespan_s", run.makespan.S()},
            {"span_s", run.span.S()},
            {"bubble_fraction", run.bubbleFraction},
            {"peak_activations", run.peak},
            {"transfers", run.transfers},
            {"crossings", CrossingsOf(run)},
            {"crossings_by_pair", crossings},
            {"timeline", timeline}};
}

Exit
DrawSchedule(const ScheduleCommand& options)
{
    const bool draws = !options.output.empty();
    if (draws && std::filesystem::path(options.output).extension() != ".svg")
    {
        throw ConfigError("--output",
                          Quoted(options.output) + " does not say what to write",
                          "a file that ends in .svg",
                          "for instance -o schedule.svg");
    }
    const ScheduleSetting setting = SettingOf(options);
    const ScheduleRun run = RunSchedule(setting);
    if (draws)
    {
        WriteOutput(options.output, ScheduleSvg(setting, run));
    }
    if (options.json)
    {
        std::cout << ToJson(setting, run).dump(2) << "\n";
    }
    else
    {
        PrintText(setting, run, options.width);
    }
    return Exit::Done;
}

} // namespace

void
AddSchedule(CommandLine& program)
{
    auto options = std::make_shared<ScheduleCommand>();
    Command command = program.Add(
        "schedule",
        "draw a pipeline schedule; its bubble, activations held and building crossings");
    const auto whole = [&](const char* name, uint32_t& value, const char* help) {
        return command.Add(name, value, help).Between(1, 65535);
    };
    command.Add("--name", options->name, AnyOf(Schedule::Names())).Required();
    whole("--stages", options->stages, "pipeline stages p").Required();
    whole("--microbatches", options->microbatches, "microbatches m").Required();
    whole("--chunks",
          options->chunks,
          "model chunks per stage v; default: the least the schedule takes");
    command
        .Add("--forward",
             options->forward,
             "time of one microbatch's forward on a stage, all its chunks together, such "
             "as 11.3ms")
        .Required();
    command.Add("--input-grad", options->inputGrad, "of its input gradient").Required();
    command.Add("--weight-grad", options->weightGrad, "of its weight gradient").Required();
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
    command.Does([options] { return DrawSchedule(*options); });
}

} // namespace scaleacross
