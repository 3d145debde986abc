// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_VOLUME_PLANS_H
#define SCALEACROSS_TESTS_VOLUME_PLANS_H

#include "core/base/text.h"
#include "core/engine/engine.h"
#include "core/io/presets.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/spec/plan-fields.h"
#include "core/spec/scenario.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// Random plans whose sizes divide by every degree, as volume-laws.h wants.
namespace scaleacross::volumes
{

/// Any word of a vocabulary.
template <class Value, class Random>
Value
AnyWord(Random& random)
{
    return *Value::Rows()[random() % Value::Rows().size()];
}

/// Any kind of recomputation: a word that stands alone, or some of the modules.
template <class Random>
Recompute
AnyRecompute(Random& random)
{
    std::vector<std::string> alone;
    std::string modules;
    for (const RecomputeFacts* row : RecomputeWord::Rows())
    {
        if (row->module == nullptr)
        {
            alone.push_back(row->word);
        }
        else if (random() % 3 == 0)
        {
            modules += (modules.empty() ? "" : "+") + row->word;
        }
    }
    return modules.empty() || random() % 2 == 0 ? alone[random() % alone.size()] : modules;
}

/// A cluster of equal buildings with servers of four.
inline ClusterSpec
Buildings(uint32_t count, uint32_t gpus)
{
    ClusterSpec cluster;
    for (uint32_t b = 0; b < count; b++)
    {
        BuildingSpec building;
        building.name = "b" + std::to_string(b);
        building.gpus = gpus;
        building.gpusPerNode = 4;
        building.gpu = GpuPreset("h100");
        building.fabric.nicDelay = Duration::Nanoseconds(500);
        building.fabric.leafDelay = Duration::Microseconds(1);
        for (uint32_t other = 0; other < b; other++)
        {
            CrossLinkSpec span;
            span.a = other;
            span.b = b;
            span.latency = Duration::Microseconds(20);
            span.capacity = GigabitsPerSecond(1600);
            cluster.crossLinks.push_back(span);
        }
        cluster.buildings.push_back(building);
    }
    return cluster;
}

/// Dimensions that divide by every degree below, as the laws want.
inline ModelSpec
Model(bool moe)
{
    ModelSpec model;
    model.name = "volumes";
    model.layers = 16;
    model.hidden = 384;
    model.heads = 8;
    model.kvHeads = 8;
    model.headDim = 48;
    model.denseFfn = 512;
    model.vocabulary = 1024;
    if (moe)
    {
        model.experts = 8;
        model.topK = 2;
        model.expertFfn = 256;
        model.sharedFfn = 256;
        model.moeEvery = 2;
    }
    return model;
}

inline Scenario
ScenarioOf(const ClusterSpec& cluster, const ModelSpec& model, const ParallelPlan& plan, uint32_t m)
{
    Scenario scenario;
    scenario.cluster = cluster;
    JobSpec job;
    job.model = model;
    job.plan = plan;
    job.workload.sequence = 256;
    job.workload.globalBatch = plan.dp * plan.microbatch * m;
    scenario.jobs.push_back(job);
    return scenario;
}

/// A random plan for `gpus` GPUs; most fit none of the rules of layout or schedule.
inline Scenario
Draw(std::mt19937& random)
{
    const auto pick = [&random](std::initializer_list<uint32_t> values) {
        return *(values.begin() + random() % values.size());
    };
    const uint32_t buildings = pick({2, 2, 3});
    ParallelPlan plan;
    plan.tp = pick({1, 2, 4});
    plan.cp = pick({1, 2});
    plan.pp = buildings == 3 ? pick({1, 3}) : pick({1, 2, 4});
    plan.dp = pick({2, 4, 8}) * (buildings == 3 && random() % 2 == 0 ? 3 : 1);
    plan.ep = pick({1, 1, 2, 4});
    plan.crossing = random() % 2 == 0 ? Crossing::Data : Crossing::Pipeline;
    plan.sharding = AnyWord<Sharding>(random);
    plan.reshard = random() % 2 == 0;
    plan.prefetch = pick({0, 1, 2, 2, 3});
    plan.schedule = AnyWord<Schedule>(random);
    plan.chunks = pick({1, 2, 2, 4});
    plan.microbatch = pick({1, 2});
    // By a generator of its own: what else is drawn does not depend on these.
    std::mt19937 kinds(static_cast<uint32_t>(random()));
    plan.recompute = AnyRecompute(kinds);
    plan.asyncTensor = random() % 4 == 0;
    if (random() % 3 == 0)
    {
        plan.reduce = random() % 2 == 0 ? Reduction("microbatch") : Reduction("accumulated");
    }
    ModelSpec model = Model(plan.ep > 1 || random() % 4 == 0);
    model.layers = buildings == 3 ? 24 : 16;
    model.tiedEmbedding = random() % 3 == 0;
    const auto gpus = static_cast<uint32_t>(plan.Ranks());
    Scenario scenario = ScenarioOf(Buildings(buildings, std::max(gpus / buildings, 4U)),
                                   model,
                                   plan,
                                   pick({2, 4, 8, 12}));
    scenario.Job().workload.gradientBytes = pick({2, 4});
    scenario.network.collective =
        random() % 2 == 0 ? CollectiveAlgorithm("ring") : CollectiveAlgorithm("hierarchical");
    scenario.Job().workload.stack.clipsGradients = kinds() % 4 == 0;
    return scenario;
}

inline std::string
TextOf(const Scenario& scenario)
{
    return CanonicalText(Plan{scenario.Job().plan, scenario.network});
}

/// A random order of dimensions, of which up to two are split.
inline Crossing
DrawOrder(std::mt19937& random)
{
    std::vector<std::string> words = {"tp", "cp", "ep", "pp", "dp"};
    const char* const inner[] = {"pp2", "dp2", "ep2", "dp3", "pp3", "tp2"};
    for (uint32_t splits = random() % 3; splits > 0; splits--)
    {
        words.emplace_back(inner[random() % std::size(inner)]);
    }
    // std::shuffle is not the same in every library.
    for (size_t i = words.size() - 1; i > 0; i--)
    {
        std::swap(words[i], words[random() % (i + 1)]);
    }
    std::string order;
    for (const std::string& word : words)
    {
        order += (order.empty() ? "" : "-") + word;
    }
    try
    {
        return Crossing::Parse(order);
    }
    catch (const ValueError&) // a dimension follows itself
    {
        return DrawOrder(random);
    }
}

/// Layers on any positions: dealt out one by one, to some three of them as a rule.
inline LayerLayout
DrawLayers(std::mt19937& random, uint32_t layers, uint32_t positions)
{
    std::vector<uint32_t> counts(positions, 0);
    std::vector<uint32_t> some(1 + random() % 6);
    for (uint32_t& position : some)
    {
        position = random() % positions;
    }
    for (uint32_t i = 0; i < layers; i++)
    {
        counts[some[random() % some.size()]]++;
    }
    return LayerLayout::Of(counts);
}

/// Of a generator whose draws change none of the others, and follow from what was drawn.
inline uint32_t
SeedOf(const ParallelPlan& plan)
{
    const std::string text = CanonicalText(Plan{plan, {}});
    return std::accumulate(text.begin(), text.end(), 0U, [](uint32_t sum, char c) {
        return sum * 31 + static_cast<unsigned char>(c);
    });
}

/// Every third plan says where its layers are, or counts its ends as layers; every sixth model has
/// modules of multi-token prediction; every second has fewer KV heads, often fewer than tp;
/// software posts receives in any way, and every third has a host that is late with layers,
/// backward or experts. By what was drawn, so that all else is drawn as it was before there were
/// such plans.
inline void
DrawSplit(JobSpec& job)
{
    ModelSpec& model = job.model;
    ParallelPlan& plan = job.plan;
    std::mt19937 random(SeedOf(plan));
    switch (random() % 9)
    {
    case 0:
    case 1:
        plan.apportion = Apportion("even");
        plan.layers = DrawLayers(random, model.layers, plan.pp * plan.chunks);
        break;
    case 2:
        plan.embeddingAsLayer = random() % 2 == 0;
        plan.lossAsLayer = !plan.embeddingAsLayer || random() % 2 == 0;
        break;
    default:
        break;
    }
    model.mtpLayers = random() % 6 == 0 ? 1 + random() % 2 : model.mtpLayers;
    job.workload.stack.receives = AnyWord<Receives>(random);
    const uint32_t kvHeads[] = {8, 8, 2, 1};
    model.kvHeads = kvHeads[SeedOf(plan) % std::size(kvHeads)];
    if (random() % 3 == 0)
    {
        const auto late = [&random](std::initializer_list<int64_t> microseconds) {
            return Duration::Microseconds(*(microseconds.begin() + random() % microseconds.size()));
        };
        job.workload.stack.hostPerLayer = late({0, 300});
        job.workload.stack.hostPerLayerBackward = late({0, 600, 20000});
        job.workload.stack.hostPerExpert = late({0, 20});
    }
}

/// NCCL's collectives, which choose by themselves every other time.
inline void
DrawNccl(std::mt19937& random, NetworkPlan& network)
{
    network.collective =
        CollectiveAlgorithm::First([](const CollectiveAlgorithmFacts& row) { return row.library; });
    if (random() % 2 == 0)
    {
        network.ncclAlgorithm = AnyWord<NcclAlgorithm>(random);
        network.ncclProtocol = AnyWord<NcclProtocol>(random);
    }
    const uint32_t channels[] = {0, 0, 1, 4};
    network.ncclChannels = channels[random() % std::size(channels)];
    network.ncclCollnet = random() % 2 == 0;
    if (random() % 3 == 0) // Slingshot's plugin
    {
        network.ncclNetLong = Duration::Microseconds(8);
        network.ncclNetFill = GigabitsPerSecond(500);
        network.ncclNetFlags = GigabitsPerSecond(24);
    }
}

/// A random plan whose buildings are crossed by anything: EP-out or an order of dimensions, in two
/// to four buildings, with unequal stages and replicas, buckets, and what else changes volumes.
inline Scenario
DrawAny(std::mt19937& random)
{
    const auto pick = [&random](std::initializer_list<uint32_t> values) {
        return *(values.begin() + random() % values.size());
    };
    Scenario scenario = Draw(random);
    const uint32_t buildings = pick({2, 2, 3, 4});
    ParallelPlan plan = scenario.Job().plan;
    plan.cp = pick({1, 2});
    plan.pp = buildings == 3 ? pick({1, 1, 3}) : pick({1, 2, 2, 4});
    plan.ep = buildings == 3 ? pick({1, 3, 3, 6}) : pick({1, 2, 4, 8});
    plan.dp = plan.ep * pick({1, 2, 4});
    const Crossing crossings[] = {plan.crossing, Crossing::Expert, DrawOrder(random)};
    plan.crossing = crossings[std::min<size_t>(random() % 6, 2)];
    plan.bucket = Bytes(pick({0, 0, 1'000'000, 4'000'000, 16'000'000}));
    plan.apportion = random() % 2 == 0 ? Apportion("time") : Apportion("even");
    ModelSpec model = Model(plan.ep > 1);
    model.layers = buildings == 3 ? 24 : 16;
    model.experts *= plan.ep > 1 && buildings == 3 ? 3 : 1;
    model.sharedFfn = random() % 2 == 0 ? 0 : model.sharedFfn;
    model.tiedEmbedding = scenario.Job().model.tiedEmbedding;
    model.vocabulary *= pick({1, 12}); // as much to compute as some layers
    const WorkloadSpec workload = scenario.Job().workload;
    const auto gpus = static_cast<uint32_t>(plan.Ranks());
    scenario = ScenarioOf(Buildings(buildings, std::max(gpus / buildings, 4U)),
                          model,
                          plan,
                          pick({2, 4, 8, 12}));
    WorkloadSpec& drawn = scenario.Job().workload;
    drawn.gradientBytes = workload.gradientBytes;
    drawn.precision = random() % 4 == 0 ? Precision("fp8") : Precision("bf16");
    drawn.expertImbalance = random() % 4 == 0 ? 1.5 : 1;
    std::vector<CollectiveAlgorithm> algorithms; // that are one and the same for every size
    for (const CollectiveAlgorithmFacts* algorithm : CollectiveAlgorithm::Rows())
    {
        if (!algorithm->chooses && !algorithm->library) // NCCL's: DrawNccl()
        {
            algorithms.emplace_back(*algorithm);
        }
    }
    scenario.network.collective = algorithms[random() % algorithms.size()];
    scenario.network.allToAll = AnyWord<AllToAllAlgorithm>(random);
    std::mt19937 words(SeedOf(plan));
    if (words() % 6 == 0)
    {
        DrawNccl(words, scenario.network);
    }
    // Without gaps small layers and heads differ in time, and buildings may.
    const double slower = pick({1, 4});
    for (BuildingSpec& building : scenario.cluster.buildings)
    {
        building.gpu.kernelGap = Duration();
    }
    GpuSpec& slow = scenario.cluster.buildings.back().gpu;
    slow.bf16Peak = slow.bf16Peak / slower;
    slow.fp8Peak = slow.fp8Peak / slower;
    slow.hbmBandwidth = slow.hbmBandwidth / slower;
    DrawSplit(scenario.Job());
    return scenario;
}

/// The same with experts that count the ranks of a stage in a way of their own.
inline Scenario
DrawFolded(std::mt19937& random)
{
    const auto pick = [&random](std::initializer_list<uint32_t> values) {
        return *(values.begin() + random() % values.size());
    };
    Scenario scenario = DrawAny(random);
    const bool threes = scenario.cluster.buildings.size() == 3;
    ParallelPlan& plan = scenario.Job().plan;
    plan.etp = pick({1, 1, 2, 4});
    plan.ep = threes ? pick({1, 2, 3, 6, 12}) : pick({1, 2, 4, 8, 16});
    const ModelSpec drawn = scenario.Job().model;
    ModelSpec& model = scenario.Job().model;
    model = Model(true);
    model.layers = drawn.layers;
    model.experts = threes ? 24 : 16;
    model.sharedFfn = random() % 2 == 0 ? 0 : model.sharedFfn;
    model.tiedEmbedding = drawn.tiedEmbedding;
    model.vocabulary = drawn.vocabulary;
    if (!plan.FoldsExperts())
    {
        return DrawFolded(random);
    }
    return scenario;
}

/// Plans that can run, drawn until there are as many.
inline std::vector<Scenario>
Plans(size_t count, uint32_t mostGpus, Scenario (*draw)(std::mt19937&) = Draw)
{
    std::mt19937 random(20260522);
    std::vector<Scenario> plans;
    const size_t most = std::max<size_t>(200000, 200 * count);
    for (size_t tries = 0; tries < most && plans.size() < count; tries++)
    {
        Scenario scenario = draw(random);
        if (scenario.cluster.Gpus() <= mostGpus &&
            std::holds_alternative<PreparedRun>(PrepareRun(scenario)))
        {
            plans.push_back(std::move(scenario));
        }
    }
    return plans;
}

} // namespace scaleacross::volumes

#endif // SCALEACROSS_TESTS_VOLUME_PLANS_H
