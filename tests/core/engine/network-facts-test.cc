// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/engine/network-facts.h"
#include "core/io/read-study.h"
#include "core/topology/fabric-graph.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace scaleacross
{
namespace
{

/// Three buildings of two zones of two pods, or two stages; 0 and 2 are two spans apart.
Scenario
Read(const Overrides& overrides = {})
{
    const std::string study = R"(
model: llama3-8b
workload: {sequence: 1024, global_batch: 96}
cluster:
  buildings:
    - {name: a, gpus: 16, gpus_per_node: 2, gpu: h100,
       fabric: {spines: 2, nodes_per_pod: 2, aggregations: 4, pods_per_zone: 2}}
    - {name: b, gpus: 16, gpus_per_node: 2, gpu: h100, fabric: {spines: 4, nodes_per_pod: 2}}
    - {name: c, gpus: 16, gpus_per_node: 2, gpu: h100, fabric: {spines: 4, rails: false}}
  links:
    - {between: [a, b], distance: 10km, capacity: 800Gbps, loss: 0.01}
    - {between: [b, c], distance: 20km, capacity: 400Gbps, lanes: 2}
)";
    return ParseStudy(study, "s.yaml", overrides).scenario;
}

TEST(ClusterPaths, SaysWhatThePathsOfThePairsAre)
{
    const ClusterSpec cluster = Read().cluster;
    const ClusterPaths paths(cluster);
    for (uint32_t a = 0; a < cluster.Gpus(); a++)
    {
        for (uint32_t b = 0; b < cluster.Gpus(); b++)
        {
            if (a == b)
            {
                continue;
            }
            const FabricPath one = PathBetween(cluster, a, b);
            const FabricPath& shared = paths.Between(a, b);
            ASSERT_EQ(paths.TierBetween(a, b), TierBetween(cluster, a, b)) << a << " " << b;
            ASSERT_EQ(shared.tier, one.tier);
            ASSERT_EQ(shared.propagation, one.propagation) << a << " " << b;
            ASSERT_EQ(shared.rates, one.rates) << a << " " << b;
            ASSERT_EQ(shared.loss, one.loss);
            ASSERT_EQ(shared.paths, one.paths);
        }
    }
    EXPECT_EQ(paths.Route(0, 2).longest.size(), 2U);
}

TEST(ClusterPaths, BuildingsThatAreNotJoinedHaveNone)
{
    ClusterSpec cluster = Read().cluster;
    cluster.crossLinks.pop_back();
    const ClusterPaths paths(cluster);
    EXPECT_EQ(paths.Between(0, 16).tier, Tier::Cross);
    EXPECT_THROW(paths.Between(0, 32), ConfigError);
    EXPECT_THROW(paths.Route(2, 1), ConfigError);
}

TEST(NetworkFacts, AreSharedByThePlansOfASearch)
{
    NetworkFactsCache cache;
    const Scenario scenario = Read();
    const auto facts = cache.Of(scenario);
    for (const auto* same :
         {"plan.tp=2", "network.multipath=ucmp", "network.qps=1", "workload.sequence=2048"})
    {
        const std::string text(same);
        const size_t equals = text.find('=');
        EXPECT_EQ(cache.Of(Read({{text.substr(0, equals), text.substr(equals + 1)}})), facts)
            << same;
    }
    for (const auto& [key, value] :
         {std::pair("cluster.links.0.distance", "11km"),
          {"cluster.buildings.2.fabric.nic_delay", "9us"},
          {"events", "[{kind: degradation, target: b/spine0--c/spine0, at: 0s, factor: 0.5}]"}})
    {
        EXPECT_NE(cache.Of(Read({{key, value}})), facts) << key;
        EXPECT_NE(cache.Of(scenario), nullptr);
    }
}

TEST(NetworkFacts, SpansAreNumberedAsInTheScenario)
{
    const Overrides slow{
        {"events", "[{kind: degradation, target: b/spine0--c/spine0, at: 0s, factor: 0.5}]"}};
    NetworkFactsCache cache;
    Scenario scenario = Read(slow);
    // A quarter of the traffic at half the rate.
    EXPECT_DOUBLE_EQ(cache.Of(scenario)->cuts.Shares(Multipath("e-ecmp")).Span(1).capacity, 0.5);
    // Equal for a database's key, but not here.
    std::swap(scenario.cluster.crossLinks[0], scenario.cluster.crossLinks[1]);
    EXPECT_DOUBLE_EQ(cache.Of(scenario)->cuts.Shares(Multipath("e-ecmp")).Span(0).capacity, 0.5);
    EXPECT_DOUBLE_EQ(cache.Of(scenario)->cuts.Shares(Multipath("e-ecmp")).Span(1).capacity, 1);
    EXPECT_EQ(cache.Of(scenario)->paths.Route(0, 1).uses[0].link, 1U);
}

TEST(NetworkFacts, WhatIsRefusedStaysRefused)
{
    NetworkFactsCache cache;
    const Scenario refused = Read({{"events", "[{kind: plane-failure, target: plane 0, at: 1s}]"}});
    EXPECT_THROW(cache.Of(refused), ConfigError);
    EXPECT_THROW(cache.Of(refused), ConfigError);
    EXPECT_NE(cache.Of(Read()), nullptr);
}

} // namespace
} // namespace scaleacross
