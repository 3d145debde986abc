// SPDX-License-Identifier: GPL-2.0-only

// Nothing beats physics: over random plans of every shipped study, and over random studies, no port
// and no cut moves more than its capacity, the bound of rung 1 stays below rung 2, and a link that
// is x per cent slower costs at most 1 / (1 - x) times.
//
// Drawn from the tables of what a study can say, so that a new field or word is drawn as it comes.
// SCALEACROSS_DRAWS=10000 draws as many plans of shipped studies, and a fiftieth as many studies
// with fifty plans each; the default fits in CI.

#include "../../draws.h"
#include "../volumes/volume-plans.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/first-look.h"
#include "core/engine/network-facts.h"
#include "core/io/presets.h"
#include "core/io/read-study.h"
#include "core/spec/plan-fields.h"
#include "places.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using Random = std::mt19937_64;

template <class T>
const T&
Pick(Random& random, const std::vector<T>& values)
{
    return values[random() % values.size()];
}

/// Values of the fields that are not one of some words; those without any keep the study's.
const std::map<std::string, std::vector<std::string>>&
Numbers()
{
    static const std::map<std::string, std::vector<std::string>> numbers = {
        {"plan.prefetch", {"0", "1", "2", "3"}},
        {"plan.bucket", {"0B", "1MB", "25MB", "100MB"}},
        {"plan.microbatch", {"1", "2", "4"}},
        {"plan.chunks", {"1", "2", "3", "4", "6"}},
        {"plan.round", {"0", "4", "8"}},
        {"plan.in_flight", {"0", "8", "20"}},
        {"plan.offload_layers", {"0", "1", "4"}},
        {"network.reorder_tolerance", {"1", "16", "64"}},
        {"network.qps", {"1", "4", "16", "64"}},
        {"network.segment", {"64KiB", "512KiB", "4MiB"}},
        {"network.outstanding", {"0", "6", "128"}},
        {"network.window", {"0B", "256KiB", "4MiB"}},
        {"network.admission", {"0B", "1MiB", "16MiB"}},
        {"network.collective_chunk", {"0B", "16MiB", "64MiB"}},
        {"network.channels", {"1", "2", "4"}},
        {"network.nccl_channels", {"0", "1", "8"}},
        {"network.nccl_net_step", {"0us", "3us", "60us"}},
        {"network.nccl_net_long", {"0us", "8us"}},
        {"network.nccl_net_fill", {"0bps", "110Gbps", "500Gbps"}},
        {"network.nccl_net_flags", {"0bps", "24Gbps"}},
        {"network.nccl_net_message", {"0us", "7us"}},
        {"network.nccl_net_inject", {"0us", "12us"}},
        {"network.token_start", {"0us", "30us"}},
        {"network.token_message", {"0us", "1us"}},
        {"network.mtu", {"1024B", "4096B"}},
        {"network.headers", {"48B", "82B"}},
        {"network.ack_every", {"1", "4", "16"}},
        {"network.lane_credits", {"128KiB", "1MiB"}},
        {"network.classes.tp", {"0", "1", "3"}},
        {"network.classes.ep", {"0", "1", "2"}},
        {"network.classes.pp", {"0", "1", "2"}},
        {"network.classes.dp", {"0", "1"}},
        {"network.class_weights", {"1:3", "4:1:1", "0:2:1"}},
    };
    return numbers;
}

void
Set(Plan& plan, const std::string& key, const std::string& value)
{
    FindPlanField(key)->set(plan, value);
}

/// Degrees whose product is the number of GPUs.
void
DrawDegrees(Random& random, uint32_t gpus, Plan& plan)
{
    uint32_t left = gpus;
    const auto take = [&](std::vector<uint32_t> values) {
        values.erase(std::remove_if(values.begin(),
                                    values.end(),
                                    [&](uint32_t value) { return left % value != 0; }),
                     values.end());
        const uint32_t value = Pick(random, values);
        left /= value;
        return value;
    };
    plan.parallel.tp = take({1, 2, 4, 8, 8, 16});
    plan.parallel.pp = take({1, 2, 3, 4, 7, 8, 14, 16});
    plan.parallel.cp = take({1, 1, 1, 2, 4});
    plan.parallel.dp = left;
    plan.parallel.ep = 1;
    if (random() % 2 == 0)
    {
        plan.parallel.ep = take({1, 2, 4, 8, 16, 32});
    }
}

/// Experts that count the ranks of a stage in a way of their own, where what is drawn divides.
void
DrawExperts(Random& random, ParallelPlan& plan)
{
    ParallelPlan drawn = plan;
    drawn.etp = Pick(random, std::vector<uint32_t>{1, 1, 2, 4});
    drawn.ep = Pick(random, std::vector<uint32_t>{2, 4, 8, 16, 32});
    if (drawn.tp % drawn.etp == 0 && drawn.tp * drawn.cp * drawn.dp % (drawn.etp * drawn.ep) == 0)
    {
        plan = drawn;
    }
}

/// What a study says, with a plan that is drawn over everything that plan and network can say; none
/// if the draw is refused.
std::optional<Scenario>
DrawPlan(Random& random, const Scenario& base)
{
    Plan plan{base.Job().plan, base.network};
    try
    {
        for (const PlanField& field : PlanFields())
        {
            const auto numbers = Numbers().find(field.key);
            // Most fields as they are, or hardly any combination would be allowed.
            if (random() % 5 != 0)
            {
                continue;
            }
            if (!field.words.empty())
            {
                field.set(plan, Pick(random, field.words));
            }
            else if (numbers != Numbers().end())
            {
                field.set(plan, Pick(random, numbers->second));
            }
        }
        Set(plan, "plan.schedule", Pick(random, FindPlanField("plan.schedule")->words));
        Set(plan, "plan.sharding", Pick(random, FindPlanField("plan.sharding")->words));
        Set(plan, "network.collective", Pick(random, FindPlanField("network.collective")->words));
        plan.parallel.recompute = volumes::AnyRecompute(random);
        if (plan.parallel.offloadLayers > 0)
        {
            plan.parallel.recompute = Recompute("none");
        }
        plan.parallel.reshard = random() % 2 == 0;
        plan.parallel.asyncTensor = random() % 4 == 0;
        std::mt19937 orders(static_cast<uint32_t>(random()));
        const std::vector<Crossing> crossings = {Crossing::Data,
                                                 Crossing::Pipeline,
                                                 Crossing::Expert,
                                                 volumes::DrawOrder(orders)};
        plan.parallel.crossing = Pick(random, crossings);
        DrawDegrees(random, base.cluster.Gpus(), plan);
        if (base.Job().model.IsMoe() && random() % 2 == 0)
        {
            DrawExperts(random, plan.parallel);
        }
        Scenario scenario = base;
        scenario.Job().plan = plan.parallel;
        volumes::DrawSplit(scenario.Job());
        scenario.network = plan.network;
        scenario.Validate();
        if (std::holds_alternative<PreparedRun>(PrepareRun(scenario)))
        {
            return scenario;
        }
    }
    catch (const ConfigError&) // two words that exclude each other
    {
    }
    catch (const ValueError&)
    {
    }
    return std::nullopt;
}

/// GPUs of any memory, so that plans are not all refused for it.
void
GiveMemory(ClusterSpec& cluster)
{
    for (BuildingSpec& building : cluster.buildings)
    {
        building.gpu.hbmCapacity = Bytes(uint64_t{1} << 50);
    }
}

/// As text, so that everything goes through the reader.
std::string
DrawStudy(Random& random)
{
    const auto pick = [&random](const std::vector<std::string>& values) {
        return Pick(random, values);
    };
    std::vector<std::string> gpus;
    for (const auto& preset : Presets<GpuSpec>())
    {
        gpus.push_back(preset.value.name);
    }
    const bool moe = random() % 2 == 0;
    std::string text = "study: drawn\nmodel: {name: drawn, layers: " + pick({"16", "24", "56"}) +
                       ", hidden: 2048, heads: 16, kv_heads: 16, head_dim: 128, dense_ffn: 8192, "
                       "vocabulary: " +
                       pick({"2048", "131072"}) +
                       (moe ? ", experts: 32, top_k: 2, expert_ffn: 2048, shared_ffn: 2048" : "") +
                       "}\nworkload: {sequence: " + pick({"1024", "8192"}) +
                       ", global_batch: " + pick({"192", "768"}) + "}\ncluster:\n  buildings:\n";
    const uint32_t buildings = 1 + random() % 4;
    const bool alike = random() % 2 == 0;
    bool detours = false;
    const auto building = [&] {
        std::string fabric = "rails: " + pick({"true", "false"}) +
                             ", spines: " + pick({"1", "2", "4", "8"}) +
                             ", nodes_per_pod: " + pick({"1", "2", "4"}) +
                             ", oversubscription: " + pick({"1", "1", "2", "4"});
        if (random() % 3 == 0)
        {
            fabric += ", aggregations: " + pick({"2", "4"}) +
                      ", pods_per_zone: " + pick({"1", "2"}) +
                      ", zone_oversubscription: " + pick({"1", "2.8"});
        }
        if (random() % 4 == 0)
        {
            fabric += random() % 2 == 0 ? ", planes: 2" : ", dual_tor: true";
        }
        // By what was drawn, so that all else is drawn as it was before there were shapes.
        const auto hash =
            std::accumulate(fabric.begin(), fabric.end(), 0U, [](uint32_t sum, char c) {
                return sum * 31 + static_cast<unsigned char>(c);
            });
        const auto& shapes = Shape::Rows();
        const ShapeFacts& shape = *shapes[hash % (shapes.size() + 1) % shapes.size()];
        if (shape.zones || fabric.find("aggregations") == std::string::npos)
        {
            fabric += ", shape: " + shape.word;
            detours = detours || shape.detours;
        }
        return "gpus: " + pick({"16", "32", "64", "96", "128"}) +
               ", gpus_per_node: 8, nic_rate: " + pick({"100", "200", "400", "800"}) +
               "Gbps, gpu: " + pick(gpus) + ", fabric: {" + fabric + "}}\n";
    };
    const std::string first = building();
    for (uint32_t b = 0; b < buildings; b++)
    {
        text += "    - {name: b" + std::to_string(b) + ", " + (alike ? first : building());
    }
    if (buildings > 1)
    {
        text += "  cross: {shape: " + pick({"mesh", "ring", "line", "hub"}) +
                ", distance: " + pick({"1", "30", "300"}) + "km, lanes: " + pick({"1", "2"}) +
                ", oversubscription: " + pick({"1", "2.8", "16", "64", "200"}) +
                ", loss: " + pick({"0", "0", "1e-6", "1e-4"}) + "}\n";
    }
    // What holds for the whole run; a switch or plane that is not there is refused.
    if (random() % 4 == 0)
    {
        text += "events:\n  - {at: 0s, kind: " +
                pick({"degradation, factor: 0.5", "plane-failure", "switch-failure"}) +
                ", target: " + pick({"plane 0", "plane 1", "b0/spine0", "b1/agg0"}) + "}\n";
    }
    text += detours ? "network: {pfc: false}\n" : "";
    return text + "plan: {}\n";
}

std::string
TextOf(const Scenario& scenario)
{
    return CanonicalText(Plan{scenario.Job().plan, scenario.network});
}

/// Runs it and holds the laws of one run. The engine itself ends with a broken invariant if a
/// resource was too fast.
double
HoldLaws(const Scenario& scenario)
{
    const auto result = AnalyticalEngine().Run(scenario, RunOptions());
    const auto& report = std::get<RunReport>(result);
    const auto prepared = PrepareRun(scenario);
    const auto glance = std::get<ClosedForm>(FirstLook(scenario));
    const ClosedForm form = ClosedFormOf(scenario, std::get<PreparedRun>(prepared));
    const ClosedForm replay =
        ClosedFormOf(scenario, std::get<PreparedRun>(prepared), BoundOf::Analytical);
    const double time = report.iterationTime.S();
    EXPECT_LE(glance.bound, form.bound) << TextOf(scenario);
    EXPECT_LE(form.bound, replay.bound) << TextOf(scenario);
    EXPECT_LE(replay.bound, report.iterationTime) << TextOf(scenario);
    for (const ResourceReport& resource : report.resources)
    {
        EXPECT_LE(resource.busy, 1 + 1e-6) << resource.name << ' ' << TextOf(scenario);
    }
    return time;
}

/// How far sweeps went beyond one of the two laws.
struct Anomaly
{
    double most{0};
    uint32_t clear{0}; //!< of the comparisons; so far beyond that it is no rounding
    uint32_t far{0};   //!< of them, beyond what there is but now and then
    std::string worst;
};

/// What the sweeps have shown, x less capacity c:
struct Anomalies
{
    Anomaly saved; //!< T(c) / T(c (1-x)) - 1: it was faster
    Anomaly added; //!< T(c (1-x)) (1-x) / T(c) - 1: it was slower than in proportion
    uint32_t compared{0};
};

// A list of passes with fixed orders has no anomalies of its own, but what shares a link does:
// reductions that nobody waits for, held back on a cut of their own, leave more of the NICs to what
// is waited for. Shares are even whatever is urgent, so that a slower link may save time. And it
// may cost more than in proportion: if everything were slower by as much, times would be in
// proportion, so what it costs more is what the others, faster than that, may cost. Theory sets no
// small limit: where reductions of many stages wait for each other at a cut for every microbatch,
// the time depends on capacities as chaotically as on anything, in packets too (446.7 ms, and 465.6
// with 99 % of the NICs, where 16 stages reduce over three buildings at 1:16). So what is limited
// is how often; doc/engines.md says what there was.
constexpr double kClear = 0.01;
constexpr double kClearShare = 0.005;
constexpr double kFar = 0.1;
constexpr double kFarShare = 0.0002;

/// The capacities that are swept.
const std::vector<std::string>&
Capacities()
{
    static const std::vector<std::string> capacities = {"spans",
                                                        "leaf uplinks",
                                                        "zones",
                                                        "scale-up",
                                                        "NICs"};
    return capacities;
}

/// Some words choose by times, which may be the worse choice among others (and the better one over
/// a slower link): `auto` by what a collective takes alone, `latency-aware` makes its order of
/// passes (Graham's anomalies). Such a scenario with the first that `auto` chooses from; none with
/// such an order.
std::optional<Scenario>
WithoutChoice(Scenario scenario)
{
    if (scenario.Job().plan.schedule == Schedule("latency-aware"))
    {
        return std::nullopt;
    }
    if (scenario.network.collective == CollectiveAlgorithm("auto"))
    {
        scenario.network.collective = CollectiveAlgorithm("ring");
    }
    return scenario;
}

/// Scales one of the capacities of a scenario.
void
Scale(Scenario& scenario, size_t which, double by)
{
    for (CrossLinkSpec& link : scenario.cluster.crossLinks)
    {
        link.capacity = which == 0 ? link.capacity * by : link.capacity;
    }
    for (BuildingSpec& building : scenario.cluster.buildings)
    {
        FabricSpec& fabric = building.fabric;
        fabric.oversubscription /= which == 1 ? by : 1;
        fabric.zoneOversubscription /= which == 2 ? by : 1;
        // Less of what data sheets say, as NCCL chooses by these.
        building.gpu.scaleUpEfficiency *= which == 3 ? by : 1;
        building.gpu.nicRate = building.gpu.nicRate * (which == 4 ? by : 1); // uplinks with it
        building.gpu.nicEfficiency *= which == 4 ? by : 1;
    }
}

/// One comparison; `beyond` is 0 or less where the law holds.
void
Hold(double beyond, const std::string& what, Anomaly& anomaly)
{
    anomaly.clear += beyond > kClear ? 1 : 0;
    anomaly.far += beyond > kFar ? 1 : 0;
    if (beyond > anomaly.most)
    {
        anomaly.most = beyond;
        anomaly.worst = what;
    }
}

/// Whether it was swept.
bool
HoldSweep(const Scenario& drawn, Anomalies& anomalies)
{
    const std::optional<Scenario> scenario = WithoutChoice(drawn);
    if (!scenario)
    {
        return false;
    }
    const double time = HoldLaws(*scenario);
    for (size_t which = 0; which < Capacities().size(); which++)
    {
        for (const double left : {0.99, 0.7})
        {
            Scenario slower = *scenario;
            Scale(slower, which, left);
            const auto result = AnalyticalEngine().Run(slower, RunOptions());
            const double then = std::get<RunReport>(result).iterationTime.S();
            std::ostringstream what;
            what << time << " s, with " << 100 * left << " % of " << Capacities()[which] << ' '
                 << then << " s; " << TextOf(*scenario);
            anomalies.compared++;
            Hold(time / then - 1, what.str(), anomalies.saved);
            Hold(then * left / time - 1, what.str(), anomalies.added);
        }
    }
    return true;
}

void
Tell(const char* what, size_t plans, size_t sweeps, uint64_t seed, const Anomalies& anomalies)
{
    std::cout << what << ": " << plans << " plans, " << sweeps << " of them swept, seed " << seed
              << "; of " << anomalies.compared << " runs with less capacity\n";
    const auto tell = [&](const char* how, const Anomaly& anomaly) {
        std::cout << "  " << anomaly.clear << " were more than 1 % " << how << ", at most "
                  << 100 * anomaly.most << " %: " << anomaly.worst << '\n';
        EXPECT_LE(anomaly.clear, std::max(1.0, kClearShare * anomalies.compared)) << how;
        EXPECT_LE(anomaly.far, kFarShare * anomalies.compared) << how << ' ' << anomaly.worst;
    };
    tell("faster", anomalies.saved);
    tell("slower than in proportion", anomalies.added);
}

} // namespace

TEST(CapacityLaw, HoldsOverPlansOfShippedStudies)
{
    constexpr uint64_t seed = 20260731;
    Random random(seed);
    const size_t plans = Draws(60);
    std::vector<Scenario> studies;
    for (const auto& folder : std::filesystem::directory_iterator(SourcePath("examples")))
    {
        const std::filesystem::path file = folder.path() / "study.yaml";
        if (std::filesystem::exists(file))
        {
            studies.push_back(ReadStudy(file.string()).scenario);
            GiveMemory(studies.back().cluster);
        }
    }
    ASSERT_GE(studies.size(), 4U);
    Anomalies anomalies;
    size_t done = 0;
    size_t swept = 0;
    while (done < plans)
    {
        // The order of a folder is not the same everywhere, but every study has its turn.
        const auto scenario = DrawPlan(random, studies[done % studies.size()]);
        if (!scenario)
        {
            continue;
        }
        HoldLaws(*scenario);
        if (++done % 20 == 0)
        {
            swept += HoldSweep(*scenario, anomalies) ? 1 : 0;
        }
    }
    Tell("shipped studies", done, swept, seed, anomalies);
}

TEST(CapacityLaw, HoldsOverRandomStudies)
{
    constexpr uint64_t seed = 20260801;
    Random random(seed);
    const size_t studies = std::max<size_t>(1, Draws(100) / 50);
    Anomalies anomalies;
    size_t done = 0;
    size_t swept = 0;
    for (size_t study = 0; study < studies;)
    {
        std::optional<Scenario> base;
        const std::string text = DrawStudy(random);
        SCOPED_TRACE(text);
        try
        {
            base = ParseStudy(text, "drawn.yaml").scenario;
            const NetworkFacts facts(*base); // refuses events that take a cut away
        }
        catch (const ConfigError&) // two values that exclude each other
        {
            continue;
        }
        GiveMemory(base->cluster);
        size_t plans = 0;
        for (size_t tries = 0; tries < 2000 && plans < 50; tries++)
        {
            const auto scenario = DrawPlan(random, *base);
            if (!scenario)
            {
                continue;
            }
            HoldLaws(*scenario);
            if (++plans % 10 == 0)
            {
                swept += HoldSweep(*scenario, anomalies) ? 1 : 0;
            }
        }
        study += plans > 0 ? 1 : 0;
        done += plans;
    }
    Tell("random studies", done, swept, seed, anomalies);
}

} // namespace scaleacross
