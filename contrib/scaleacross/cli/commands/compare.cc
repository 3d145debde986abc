// SPDX-License-Identifier: GPL-2.0-only

#include "cli/compare-engines.h"
#include "cli/compared-cases.h"
#include "cli/engines.h"
#include "cli/explore-study.h"
#include "cli/grid.h"
#include "cli/output-file.h"
#include "cli/rows-file.h"
#include "cli/workers/interrupt.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/explore/fit-check.h"
#include "core/explore/scale-down.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

/// Up to so many plans of a study are all compared without being asked.
constexpr uint64_t g_fewPlans = 100;

struct CompareOptions
{
    ExploreOptions explore; //!< for finding the best plans
    RunOptions run;
    size_t top{0}; //!< 0: all if they are few, else 5
    std::vector<std::string> engines;
    std::vector<std::string> more; //!< in front of them
    uint32_t seeds{1};             //!< of engines that draw
    RowsFile csv;
    bool scaleDown{false}; //!< what is too large for an engine
    uint32_t scaleTo{0};   //!< GPUs; 0: what the engines take
};

/// Every plan of a space that can run; the others are `leftOut`.
std::vector<Plan>
AllPlans(const SearchSpace& space,
         const std::vector<std::string>& point,
         std::vector<LeftOutPlan>& leftOut)
{
    std::vector<Plan> plans;
    for (uint64_t i = 0; i < space.Size(); i++)
    {
        const auto made = space.At(i);
        const auto* plan = std::get_if<Plan>(&made);
        if (plan == nullptr)
        {
            const Infeasible& no = std::get<Infeasible>(made);
            if (no.reason != kDuplicate)
            {
                leftOut.push_back({point, "number " + std::to_string(i), no});
            }
            continue;
        }
        if (const auto no = CheckFit(space.With(*plan)))
        {
            leftOut.push_back({point, space.LabelOf(*plan), *no});
            continue;
        }
        plans.push_back(*plan);
    }
    return plans;
}

/// The best plans by the first engine.
std::vector<Plan>
BestPlans(const Study& study,
          const SearchSpace& space,
          const CompareOptions& options,
          size_t count,
          Database& database,
          const std::atomic<bool>& stop)
{
    const Answer answer = ExploreStudy(study, space, options.explore, database, stop);
    if (answer.search.interrupted)
    {
        throw Interrupted();
    }
    std::vector<Plan> plans;
    for (const auto& ranked : answer.search.board.Best())
    {
        if (plans.size() < count)
        {
            plans.push_back(ranked.plan);
        }
    }
    return plans;
}

/// The plans of a point with one seed, and what they are called in.
struct ComparedPlans
{
    std::shared_ptr<const SearchSpace> space;
    std::string head; //!< of their table; "" if there is one
    std::vector<Comparison> comparisons;
};

/// What runs at a point of the grid: its plans on the study, or on a part of it.
struct PointPlans
{
    Study study;
    std::vector<Plan> plans;
    std::vector<ScaledPart> scaled;           //!< of each plan
    std::shared_ptr<const SearchSpace> space; //!< of the study
};

/// The most GPUs that all of the engines take, or less if asked for; 0: any number.
uint32_t
MostGpusOf(const CompareOptions& options, const std::vector<std::string>& engines)
{
    if (options.scaleTo > 0)
    {
        return options.scaleTo;
    }
    uint32_t most = 0;
    for (const std::string& engine : engines)
    {
        const uint32_t here = FindEngine(engine, "--engines").row->mostGpus;
        most = most == 0 || (here > 0 && here < most) ? here : most;
    }
    return most;
}

/// Whether a part of a study is run for the whole.
bool
IsScaled(const CompareOptions& options, const Study& study, const std::vector<std::string>& engines)
{
    return options.scaleDown && study.scenario.cluster.Gpus() > MostGpusOf(options, engines);
}

/// The plans of a point on a part of its study, all on the same; those without one are `leftOut`.
PointPlans
ScaledPlans(const GridPoint& point,
            const SearchSpace& space,
            const std::vector<Plan>& plans,
            uint32_t most,
            std::vector<LeftOutPlan>& leftOut)
{
    PointPlans part{point.study, {}, {}, nullptr};
    const uint32_t factor = ScaleFactorFor(point.study.scenario, plans, most);
    for (const Plan& plan : plans)
    {
        const Scenario whole = space.With(plan);
        const auto made = ScaleDown(whole, factor);
        if (const auto* no = std::get_if<Infeasible>(&made))
        {
            leftOut.push_back({point.values, space.LabelOf(plan), *no});
            continue;
        }
        const auto& scenario = std::get<Scenario>(made);
        part.study.scenario = scenario;
        part.plans.push_back({scenario.Job().plan, scenario.network});
        part.scaled.push_back({factor, ScaledSettings(whole, scenario)});
    }
    return part;
}

/// What is compared.
struct Compared
{
    std::vector<ComparedCase> cases;
    std::vector<LeftOutPlan> leftOut;
    std::vector<ComparedPlans> plans; //!< the same cases, in their order
};

/// "cluster.cross.distance=30km, seed 2:" above the plans of a point; "" if there is one.
std::string
HeadOf(const CompareOptions& options,
       const std::vector<SweepAxis>& axes,
       const GridPoint& point,
       uint32_t seed)
{
    std::string head;
    for (size_t i = 0; i < axes.size(); i++)
    {
        head += (head.empty() ? "" : ", ") + axes[i].key + "=" + point.values[i];
    }
    if (options.seeds > 1)
    {
        head += (head.empty() ? "seed " : ", seed ") + std::to_string(point.study.seed + seed);
    }
    return head.empty() ? "" : head + ":\n";
}

/// What the plans of a point are parts of, a line each where they are; "" of wholes.
std::string
HeadOf(const std::vector<ScaledPart>& scaled)
{
    std::string head;
    for (const ScaledPart& part : scaled)
    {
        const std::string line = ToString(part) + "\n";
        head += part.factor > 1 && head.find(line) == std::string::npos ? line : "";
    }
    return head;
}

/// The plans that are compared at a point; the others are `leftOut`.
PointPlans
PlansAt(const CompareOptions& options,
        const GridPoint& point,
        const std::vector<std::string>& engines,
        Database& database,
        const std::atomic<bool>& stop,
        std::vector<LeftOutPlan>& leftOut)
{
    const Study& study = point.study;
    const auto space = std::make_shared<const SearchSpace>(study);
    CompareOptions here = options;
    here.explore.common = point.common;
    const bool all = options.top == 0 && space->Size() <= g_fewPlans;
    const size_t count = options.top == 0 ? 5 : options.top;
    PointPlans runs{study,
                    all ? AllPlans(*space, point.values, leftOut)
                        : BestPlans(study, *space, here, count, database, stop),
                    {},
                    space};
    runs.scaled.resize(runs.plans.size());
    if (IsScaled(options, study, engines))
    {
        const uint32_t most = MostGpusOf(options, engines);
        runs = ScaledPlans(point, *space, runs.plans, most, leftOut);
        runs.space = std::make_shared<const SearchSpace>(runs.study);
    }
    return runs;
}

/// All plans of all points of the grid, point by point and seed by seed; those of which nothing has
/// run, since it was stopped, are left out.
void
CompareAll(const CompareOptions& options,
           const std::vector<SweepAxis>& axes,
           const std::vector<GridPoint>& points,
           const std::vector<PointPlans>& runs,
           const std::vector<std::string>& engines,
           Database& database,
           const std::atomic<bool>& stop,
           Compared& compared)
{
    std::vector<ComparedSet> sets;
    uint64_t total = 0;
    for (size_t i = 0; i < points.size(); i++)
    {
        CompareSetting setting{points[i].common, options.explore.worker.failures, options.run};
        setting.run.limits = LimitsOf(options.explore.worker);
        for (uint32_t s = 0; s < options.seeds; s++)
        {
            setting.run.seed = runs[i].study.seed + s;
            sets.push_back({runs[i].study, *runs[i].space, runs[i].plans, setting});
            total += runs[i].plans.size() * engines.size();
        }
    }
    CompareProgress progress(total);
    const unsigned jobs = JobsOf(options.explore.common);
    const auto comparisons = CompareEngines(sets,
                                            MakeSweepEngines(engines, "engines", stop),
                                            jobs,
                                            database,
                                            stop,
                                            progress);
    for (size_t i = 0; i < sets.size(); i++)
    {
        const size_t at = i / options.seeds;
        const bool hasRun = std::any_of(comparisons[i].begin(),
                                        comparisons[i].end(),
                                        [](const Comparison& one) { return !one.engines.empty(); });
        if (!hasRun && stop)
        {
            continue;
        }
        const auto seed = static_cast<uint32_t>(i % options.seeds);
        ComparedPlans part{runs[at].space,
                           HeadOf(options, axes, points[at], seed) +
                               (runs[at].plans.empty() ? "" : HeadOf(runs[at].scaled)),
                           comparisons[i]};
        for (size_t p = 0; p < part.comparisons.size(); p++)
        {
            const Comparison& comparison = part.comparisons[p];
            compared.cases.push_back({points[at].values,
                                      sets[i].setting.run.seed,
                                      part.space->LabelOf(comparison.plan),
                                      comparison,
                                      runs[at].scaled[p]});
        }
        compared.plans.push_back(std::move(part));
    }
}

Json
JsonOf(const ComparedCases& cases, const Compared& compared)
{
    std::vector<Json> rows;
    for (const ComparedPlans& part : compared.plans)
    {
        for (const Comparison& comparison : part.comparisons)
        {
            rows.push_back(ComparisonJson(*part.space, {comparison}, cases.Reference()));
        }
    }
    return cases.ToJson(rows);
}

/// What has run or was refused, then what is left out, in the same columns.
Json
RowsOf(const Json& json)
{
    Json rows = json.at("rows");
    for (const Json& plan : json.at("left_out"))
    {
        rows.push_back(
            {{"plan", {{"label", plan.at("label")}}},
             {"point", plan.at("point")},
             {"infeasible", {{"reason", plan.at("reason")}, {"detail", plan.at("detail")}}}});
    }
    return rows;
}

void
Print(const ComparedCases& cases, const Compared& compared, bool json)
{
    if (json)
    {
        std::cout << JsonOf(cases, compared).dump(2) << "\n";
        return;
    }
    std::cout << cases.ErrorsText();
    std::string between;
    for (const ComparedPlans& part : compared.plans)
    {
        if (!part.comparisons.empty())
        {
            std::cout << between << part.head
                      << ComparisonText(*part.space, part.comparisons, cases.Reference());
            between = "\n";
        }
    }
    const std::string leftOut = cases.LeftOutText();
    std::cout << (leftOut.empty() ? "" : between) << leftOut;
}

/// Throws ConfigError where there are plans and none of them has a part to run.
void
ExpectSomePart(const Compared& compared)
{
    const auto scale =
        std::find_if(compared.leftOut.begin(), compared.leftOut.end(), [](const LeftOutPlan& plan) {
            return plan.why.reason == "scale";
        });
    if (compared.cases.empty() && scale != compared.leftOut.end())
    {
        throw ConfigError("--scale-down",
                          "no plan has a part that is small enough, such as " + scale->label +
                              ", " + scale->why.detail,
                          "plans with a dp that the cluster's factors divide",
                          "give others, or another --scale-to");
    }
}

Exit
CompareWith(const CompareOptions& options,
            const std::vector<SweepAxis>& axes,
            const std::vector<GridPoint>& points,
            const std::vector<std::string>& engines,
            Database& database)
{
    const auto& stop = CatchInterrupts();
    Compared compared;
    bool interrupted = false;
    try
    {
        std::vector<PointPlans> runs;
        for (const GridPoint& point : points)
        {
            runs.push_back(PlansAt(options, point, engines, database, stop, compared.leftOut));
        }
        CompareAll(options, axes, points, runs, engines, database, stop, compared);
        interrupted = stop;
    }
    catch (const Interrupted&)
    {
        interrupted = true;
    }
    const ComparedCases cases(axes, compared.cases, compared.leftOut, ReferenceEngine(engines));
    if (!interrupted)
    {
        cases.ExpectSomeRun();
        ExpectSomePart(compared);
    }
    Print(cases, compared, options.explore.common.json);
    options.csv.Write([&] { return RowsOf(JsonOf(cases, compared)); });
    if (interrupted)
    {
        std::cerr << "scaleacross: interrupted; the same command goes on from here\n";
        return Exit::Interrupted;
    }
    return compared.cases.empty() ? Exit::Failed : Exit::Done;
}

/// The engines that are asked for, once it is known that they can be made. Those of --engine stand
/// in front, for the last one is what others are held against.
std::vector<std::string>
EnginesOf(const CompareOptions& options)
{
    std::vector<std::string> engines;
    std::vector<std::string> names;
    const auto add = [&](const std::string& option, const std::vector<std::string>& more) {
        for (const std::string& engine : more)
        {
            const std::string name = MakeEngine(engine, option)->Name();
            if (std::find(names.begin(), names.end(), name) != names.end())
            {
                const bool asked = option == "--engine" || !options.engines.empty();
                throw ConfigError(asked ? option : "--engine",
                                  Quoted(name) +
                                      (asked ? " is given twice" : " is compared in any case"),
                                  "every engine once, by a name of its own",
                                  asked ? "leave one of them out"
                                        : "leave it out, or name all engines with --engines");
            }
            names.push_back(name);
            engines.push_back(engine);
        }
    };
    add("--engine", options.more);
    add("--engines", options.engines.empty() ? ComparedEngines() : options.engines);
    return engines;
}

/// Throws ConfigError where nothing is too large for an engine whatever it is, and where what is
/// has no part.
void
ExpectParts(const CompareOptions& options,
            const std::vector<GridPoint>& points,
            const std::vector<std::string>& engines)
{
    const uint32_t most = MostGpusOf(options, engines);
    if (options.scaleDown && most == 0)
    {
        throw ConfigError("--scale-down",
                          "none of the engines refuses a cluster for its size",
                          "an engine that does, such as packet, or --scale-to",
                          "leave it out, or give --scale-to GPUS");
    }
    for (const GridPoint& point : points)
    {
        if (IsScaled(options, point.study, engines))
        {
            ScaleFactors(point.study.scenario, most);
        }
    }
}

Exit
Compare(const CompareOptions& options)
{
    LimitsOf(options.explore.worker);
    const CommonOptions& common = options.explore.common;
    const std::vector<SweepAxis> axes = AxesOf(common, options.explore.sweeps);
    std::vector<GridPoint> points = GridOf(common, options.explore.sweeps, axes);
    WarnOfModel(points.front().study);
    for (GridPoint& point : points)
    {
        ExpectOwnRanking(point.study);
        point.study.baselines.clear();
        if (point.study.seed + options.seeds - 1 > UINT32_MAX)
        {
            throw ConfigError("--seeds",
                              "seeds from " + std::to_string(point.study.seed) + " on end before " +
                                  std::to_string(options.seeds) + " of them",
                              "seeds up to 4294967295",
                              "");
        }
    }
    const std::vector<std::string> engines = EnginesOf(options);
    ExpectParts(options, points, engines);
    ExpectDatabase(DatabasePathOf(common, points.front().study));
    options.csv.Expect();
    return WithDatabase(common, points.front().study, [&](Database& database) {
        return CompareWith(options, axes, points, engines, database);
    });
}

} // namespace

void
AddCompare(CommandLine& program)
{
    auto options = std::make_shared<CompareOptions>();
    Command command = program.Add("compare", "run plans of a study on several engines and compare");
    AddCommonOptions(command, options->explore.common);
    AddWorkerOptions(command, options->explore.worker);
    AddRunOptions(command, options->run);
    command
        .Add("--engines",
             options->engines,
             "engines, the most exact one last; default: analytical, flow, packet")
        .SeparatedByCommas();
    command
        .Add("--engine",
             options->more,
             "one engine more, with all its commas, such as mine='command:python3 mine.py'; given "
             "again for another")
        .Repeatable();
    command
        .Add("--sweep",
             options->explore.sweeps,
             "compare at several values of a setting, such as "
             "cluster.cross.oversubscription=1,2.8,7; given again for another setting, at all "
             "combinations")
        .Repeatable();
    command
        .Add("--seeds", options->seeds, "how many seeds engines that draw run with, from --seed on")
        .Between(1, 1000)
        .ShowDefault();
    command.Flag(
        "--scale-down",
        options->scaleDown,
        "run studies of more GPUs than an engine takes (packet: 4,096) scaled down, on all "
        "engines: fewer replicas, with the GPUs, switches and spans that go with them");
    command
        .Add("--scale-to",
             options->scaleTo,
             "GPUs above which they are; default: what the engines take")
        .Between(1, 1U << 22)
        .Needs("--scale-down");
    options->csv.AddTo(command, "case and engine, and plan that is left out");
    command
        .Add("--top",
             options->top,
             "compare only so many of the best plans; default: all plans if there are at "
             "most 100, else 5")
        .Between(1, 1000000);
    command.Does([options] { return Compare(*options); });
}

} // namespace scaleacross
