// SPDX-License-Identifier: GPL-2.0-only

// How the two engines see the ways in which a study's packets choose paths.

#include "core/engine/analytical-engine.h"
#include "core/io/read-study.h"
#include "helper/engine/packet-engine.h"
#include "places.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

/// The small study with four planes, on which flows collide, and fewer microbatches.
Scenario
FourPlanes(Multipath multipath)
{
    Study study = ReadStudy(SourcePath("examples/small-two-buildings/study.yaml"),
                            {{"cluster.buildings.fabric.spines", "4"},
                             {"workload.global_batch", "16"},
                             {"network.recovery", "selective-repeat"}});
    study.scenario.network.multipath = multipath;
    study.scenario.Validate();
    return study.scenario;
}

RunReport
RunOn(const Engine& engine, Multipath multipath)
{
    return std::get<RunReport>(engine.Run(FourPlanes(multipath), RunOptions()));
}

/**
 * Sprayed packets use all planes alike: what one of four carries is a quarter, of N packets at
 * random with a standard deviation of sqrt(3 N) / 4, which is 1 % of a quarter from N = 30,000 on.
 * They overtake each other, and the tolerance keeps them from being sent again. Both engines agree
 * within the 2 % that they do without contention.
 */
TEST(MultipathStudy, SprayingLoadsPlanesEvenlyAndEnginesAgree)
{
    for (const Multipath multipath :
         {Multipath("spray-random"), Multipath("spray-rr"), Multipath("spray-adaptive")})
    {
        const RunReport packet = RunOn(PacketEngine(), multipath);
        const RunReport analytical = RunOn(AnalyticalEngine(), multipath);
        EXPECT_LE(packet.network.collisionFactor, 1.05) << multipath.Name();
        EXPECT_EQ(packet.network.retransmissions, 0U) << multipath.Name();
        EXPECT_EQ(packet.network.packetsDropped, 0U) << multipath.Name();
        EXPECT_NEAR(analytical.iterationTime.S(),
                    packet.iterationTime.S(),
                    0.02 * packet.iterationTime.S())
            << multipath.Name();
    }
}

/// What is hashed decides who collides: nothing when sprayed, 4 queue pairs a connection with
/// E-ECMP, whole connections with ECMP.
TEST(MultipathStudy, TheCoarserTheHashTheLongerItTakes)
{
    const AnalyticalEngine analytical;
    const double sprayed = RunOn(analytical, Multipath("spray-adaptive")).iterationTime.S();
    const double pairs = RunOn(analytical, Multipath("e-ecmp")).iterationTime.S();
    const double connections = RunOn(analytical, Multipath("ecmp")).iterationTime.S();
    EXPECT_LT(sprayed, pairs);
    EXPECT_LT(pairs, connections);
    const PacketEngine packet;
    const RunReport hashed = RunOn(packet, Multipath("ecmp"));
    EXPECT_GT(hashed.network.collisionFactor, 1.5);
    EXPECT_LT(RunOn(packet, Multipath("spray-adaptive")).iterationTime.S(),
              hashed.iterationTime.S());
}

} // namespace
} // namespace scaleacross
