// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/read-study.h"
#include "core/topology/idle-network-words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two servers of two GPUs in each of two buildings, two leaves by rail and as many spines.
std::vector<std::string>
WarningsWith(const std::string& network, uint32_t spines = 2, uint32_t lanes = 2)
{
    const Scenario scenario =
        ParseStudy("model: llama3-8b\nworkload: {sequence: 2048, global_batch: 64}\n"
                   "cluster: {buildings: {count: 2, gpus: 4, gpus_per_node: 2, gpu: h100, fabric: "
                   "{spines: " +
                       std::to_string(spines) +
                       "}}, cross: {distance: 10km, oversubscription: 2, lanes: " +
                       std::to_string(lanes) + "}}\nnetwork: {" + network + "}\n",
                   "study.yaml")
            .scenario;
    return WarningsOfIdleNetworkWords(scenario.cluster, scenario.network);
}

TEST(IdleNetworkWords, AreOfTiersThatNoGpusAreApart)
{
    EXPECT_THAT(WarningsWith("tiers: {zone: {qps: 4}}"),
                ElementsAre("network.tiers.zone.qps changes nothing: no two GPUs of this cluster "
                            "are so far apart"));
    EXPECT_THAT(WarningsWith("tiers: {zone: {window: 1MiB, balance: spray}}"),
                ElementsAre(HasSubstr("network.tiers.zone.balance"),
                            HasSubstr("network.tiers.zone.window")));
    EXPECT_THAT(WarningsWith("tiers: {leaf: {qps: 4}, building: {qps: 4}, cross: {qps: 4}}"),
                IsEmpty());
}

TEST(IdleNetworkWords, AreOfAllTiersWhereEachHasItsOwn)
{
    const std::string tiers = "tiers: {leaf: {qps: 4}, building: {qps: 4}, cross: {qps: 4}}";
    EXPECT_THAT(WarningsWith("qps: 8, " + tiers),
                ElementsAre("network.qps changes nothing: every tier of this cluster has its own"));
    EXPECT_THAT(WarningsWith("window: 1MiB, " + tiers), IsEmpty());
    EXPECT_THAT(WarningsWith("qps: 8, tiers: {leaf: {qps: 4}, cross: {qps: 4}}"), IsEmpty());
}

TEST(IdleNetworkWords, AreOfMultipathsWithOnePath)
{
    const std::string spray = "multipath: spray-adaptive, recovery: selective-repeat";
    EXPECT_THAT(WarningsWith(spray, 1, 1),
                ElementsAre("network.multipath: spray-adaptive changes nothing: there is one path "
                            "between any two NICs"));
    EXPECT_THAT(WarningsWith(spray, 2, 1), IsEmpty());
    EXPECT_THAT(WarningsWith(spray, 1, 2), IsEmpty());
    EXPECT_THAT(WarningsWith("", 1, 1), IsEmpty());
}

} // namespace
} // namespace scaleacross
