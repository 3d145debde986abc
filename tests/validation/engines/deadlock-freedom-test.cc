// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/read-study.h"
#include "places.h"

#include "ns3/buffer-dependency.h"
#include "ns3/cluster-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/simulator.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

struct Shape
{
    const char* buildings;
    const char* rails;
    const char* spines;
    const char* nodesPerPod;
};

class DeadlockFreedom : public testing::TestWithParam<Shape>
{
};

Scenario
Built(const Shape& shape, const Overrides& more)
{
    Overrides overrides = {{"cluster.buildings.count", shape.buildings},
                           {"cluster.buildings.fabric.rails", shape.rails},
                           {"cluster.buildings.fabric.spines", shape.spines},
                           {"cluster.buildings.fabric.nodes_per_pod", shape.nodesPerPod},
                           {"network.leaf_buffer", "4GiB"},
                           {"network.spine_buffer", "4GiB"}};
    overrides.insert(overrides.end(), more.begin(), more.end());
    return ReadStudy(SourcePath("examples/small-two-buildings/study.yaml"), overrides).scenario;
}

/// What waits for each other in a circle; "" if nothing does.
std::string
CircleOf(const Scenario& scenario)
{
    std::string circle;
    {
        const ns3::ClusterHelper cluster(scenario);
        EXPECT_GT(cluster.GetFabric().Switches().size(), 1U);
        circle = ns3::FindBufferDependencyCycle(cluster.GetFabric()).Text();
    }
    ns3::Simulator::Destroy();
    return circle;
}

/// Inside a building packets go up and down; from one building to another they go up, across, down,
/// as every pair of buildings has a span of its own: never across twice. So no wire follows itself,
/// whatever the shape, and pauses cannot lock a fabric that is built from a study.
TEST_P(DeadlockFreedom, OfFabricsBuiltFromStudies)
{
    EXPECT_EQ(CircleOf(Built(GetParam(), {})), "");
}

/// Nor where leaves send over other leaves, which InfiniBand's lanes for detours tell apart; on one
/// lane there are circles from three leaves on.
TEST_P(DeadlockFreedom, OfMeshesWithLanesForDetours)
{
    Scenario mesh = Built(
        GetParam(),
        {{"cluster.buildings.fabric.shape", "full-mesh"}, {"network.transport", "infiniband"}});
    EXPECT_EQ(CircleOf(mesh), "");
    mesh.network.ns3Attributes["ns3::FabricSwitch::LaneMap"] = "in any out any 3:3,6:6,7:7";
    EXPECT_EQ(CircleOf(mesh).empty(), mesh.cluster.buildings[0].Leaves() <= 2);
}

INSTANTIATE_TEST_SUITE_P(Shapes,
                         DeadlockFreedom,
                         testing::Values(Shape{"2", "true", "1", "2"},
                                         Shape{"2", "false", "4", "1"},
                                         Shape{"3", "true", "2", "2"},
                                         Shape{"4", "false", "2", "2"},
                                         Shape{"5", "true", "1", "4"}));

} // namespace

} // namespace scaleacross
