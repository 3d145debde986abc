// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_VOLUME_PLAN_FEATURES_H
#define SCALEACROSS_TESTS_VOLUME_PLAN_FEATURES_H

#include "core/spec/plan-fields.h"
#include "core/work/partition/balance.h"
#include "parameter-units.h"
#include "volume-census.h"

#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

/// What random plans have to have among them, so that the laws are tried on it.
namespace scaleacross::volumes
{

inline std::vector<std::string>
AllFeatures()
{
    return {"DP-out",
            "PP-out",
            "EP-out",
            "order",
            "2 buildings",
            "3 buildings",
            "4 buildings",
            "tp crosses",
            "cp crosses",
            "ep crosses",
            "pp crosses",
            "dp crosses",
            "unequal replicas",
            "unequal stages, DP-out",
            "unequal stages, PP-out",
            "unequal stages, EP-out",
            "unequal stages, order",
            "layers as said",
            "ends as layers",
            "positions without layers",
            "stages without parameters",
            "multi-token prediction",
            "joined units",
            "ring",
            "hierarchical",
            "halving-doubling",
            "bidirectional-ring",
            "tree of ddp",
            "nccl",
            "nccl's ring",
            "nccl's tree",
            "nccl's pat",
            "nccl's ll",
            "nccl's ll128",
            "nccl's simple"};
}

/// Those that a plan has.
inline std::vector<std::string>
FeaturesOf(const Scenario& scenario)
{
    const ParallelPlan& plan = scenario.Job().plan;
    const auto layout = std::get<RankLayout>(LayOut(plan, scenario.cluster));
    const std::string crossing = plan.crossing.IsNamed() ? NameOf(plan.crossing) : "order";
    std::vector<std::string> features{crossing};
    const std::string algorithm = ToString(scenario.network.collective);
    features.push_back(algorithm + (algorithm == "tree" ? " of " + ToString(plan.sharding) : ""));
    for (const std::string& choice : Census(scenario).NcclChoices())
    {
        features.push_back("nccl's " + choice);
    }
    features.push_back(std::to_string(scenario.cluster.buildings.size()) + " buildings");
    const auto crossed = Census(scenario).CrossingBytes();
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        if (crossed[k] > 0)
        {
            features.push_back(ToString(static_cast<CommClass>(k)) + " crosses");
        }
    }
    const auto microbatches = std::get<std::vector<uint32_t>>(MicrobatchesOf(scenario, layout));
    if (std::set<uint32_t>(microbatches.begin(), microbatches.end()).size() > 1)
    {
        features.emplace_back("unequal replicas");
    }
    std::set<uint32_t> layers;
    std::set<uint32_t> holders; // stages that have parameters
    const auto stages = LayersOfStages(scenario);
    for (uint32_t position = 0; position < stages.size(); position++)
    {
        const StageLayers& stage = stages[position];
        layers.insert(stage.count);
        if (stage.count > 0 || stage.embedding || stage.head)
        {
            holders.insert(StageAt(plan, position));
        }
    }
    const auto add = [&features](bool has, const std::string& feature) {
        features.insert(features.end(), has ? 1 : 0, feature);
    };
    add(layers.size() > 1, "unequal stages, " + crossing);
    add(plan.layers.IsGiven(), "layers as said");
    add(plan.embeddingAsLayer || plan.lossAsLayer, "ends as layers");
    add(scenario.Job().model.mtpLayers > 0, "multi-token prediction");
    add(layers.count(0) > 0, "positions without layers");
    add(holders.size() < plan.pp, "stages without parameters");
    Scenario apart = scenario;
    apart.Job().plan.bucket = Bytes(0);
    if (GathersOf(scenario, UnitsOfModel(scenario)) != GathersOf(apart, UnitsOfModel(apart)) &&
        plan.Reshards())
    {
        features.emplace_back("joined units");
    }
    return features;
}

} // namespace scaleacross::volumes

#endif // SCALEACROSS_TESTS_VOLUME_PLAN_FEATURES_H
