// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/read-study.h"
#include "core/topology/fast-links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Two buildings of 64 GPUs with NICs of 400 Gb/s.
std::vector<std::string>
Warnings(const std::string& fabric, const std::string& span)
{
    const std::string building =
        "gpus: 64, gpu: h100, nic_rate: 400Gbps, fabric: {" + fabric + "}}";
    const std::string study = "model: llama3-8b\nworkload: {sequence: 1024, global_batch: 128}\n"
                              "cluster:\n  buildings:\n    - {name: a, " +
                              building + "\n    - {name: b, " + building + "\n  cross: {" + span +
                              ", distance: 1km}\n";
    return FastLinkWarnings(ParseStudy(study, "s.yaml").scenario.cluster);
}

} // namespace

// Rails: a leaf has 8 NICs, 3.2 Tb/s below and to its spines. Two spines have 1.6 Tb/s each.
TEST(FastLinks, OneSpineOfManyNics)
{
    EXPECT_THAT(Warnings("spines: 1", "capacity: 1Tbps"),
                ElementsAre(AllOf(StartsWith("cluster.buildings.fabric.spines: "),
                                  HasSubstr("3.2 Tbps"),
                                  HasSubstr("from 1 to 2 "))));
    EXPECT_THAT(Warnings("spines: 2", "capacity: 1Tbps"), ElementsAre());
}

// 8 Tb/s over two spines with one lane each: 4 Tb/s, three ports; with six lanes in all 1.333 Tb/s.
TEST(FastLinks, SpansOfFewLanes)
{
    EXPECT_THAT(Warnings("spines: 2", "capacity: 8Tbps"),
                ElementsAre(AllOf(HasSubstr("span a--b have 4 Tbps"), HasSubstr("from 1 to 3 "))));
    EXPECT_THAT(Warnings("spines: 2", "capacity: 8Tbps, lanes: 3"), ElementsAre());
}

// Of two spans one has 8 Tb/s in two links, three ports, the other 12 Tb/s in four lanes of each
// spine, one port.
TEST(FastLinks, OneLineForAllSpans)
{
    const std::string building = "gpus: 64, gpu: h100, nic_rate: 400Gbps, fabric: {spines: 2}}";
    const std::string study =
        "model: llama3-8b\nworkload: {sequence: 1024, global_batch: 192}\ncluster:\n"
        "  buildings:\n    - {name: a, " +
        building + "\n    - {name: b, " + building + "\n    - {name: c, " + building +
        "\n  cross: {shape: line, distance: 1km, capacity: 8Tbps}\n"
        "  links: [{between: [b, c], capacity: 12Tbps, lanes: 4}]\n";
    EXPECT_THAT(FastLinkWarnings(ParseStudy(study, "s.yaml").scenario.cluster),
                ElementsAre(AllOf(HasSubstr("span a--b have 4 Tbps"), HasSubstr("from 1 to 4 "))));
}

// Two leaves of 32 NICs: 12.8 Tb/s to the other one and to the spines, 8 ports.
TEST(FastLinks, AFullMesh)
{
    const std::string mesh = "shape: full-mesh, rails: false, nodes_per_pod: 4, spines: 1";
    const std::vector<std::string> warnings = Warnings(mesh, "capacity: 1Tbps");
    ASSERT_EQ(warnings.size(), 2U);
    EXPECT_THAT(warnings[0],
                AllOf(StartsWith("cluster.buildings.fabric.oversubscription: "),
                      HasSubstr("from 1 to 8 ")));
    EXPECT_THAT(warnings[1], HasSubstr("from 1 to 8 "));
    EXPECT_THAT(Warnings("shape: full-mesh, rails: false, nodes_per_pod: 4, spines: 8, "
                         "oversubscription: 8",
                         "capacity: 1Tbps"),
                ElementsAre());
}

} // namespace scaleacross
