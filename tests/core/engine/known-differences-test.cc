// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/known-differences.h"
#include "core/io/read-study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{
namespace
{

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string>
WarningsWith(const std::string& network,
             const std::string& engine = "analytical",
             const std::string& loss = "0")
{
    return WarningsOfKnownDifferences(
        ParseStudy("model: llama3-8b\nworkload: {sequence: 2048, global_batch: 64}\n"
                   "cluster: {buildings: {count: 2, gpus: 16, gpu: h100}, cross: {distance: 10km, "
                   "capacity: 400Gbps, loss: " +
                       loss + "}}\nnetwork: {" + network + "}\n",
                   "study.yaml")
            .scenario,
        engine);
}

TEST(KnownDifferences, AreToldOfWhatAStudyHas)
{
    EXPECT_THAT(WarningsWith("transport: infiniband"),
                ElementsAre(AllOf(HasSubstr("network.transport infiniband: of "),
                                  HasSubstr(" one in ten took analytical less than "),
                                  HasSubstr("compare with packet"))));
    EXPECT_THAT(WarningsWith("transport: trimming, recovery: selective-repeat", "flow"),
                ElementsAre(AllOf(HasSubstr("network.transport trimming: "),
                                  HasSubstr("took flow less than"))));
    EXPECT_THAT(
        WarningsWith("transport: roce, control: dcqcn, recovery: selective-repeat", "flow", "1e-5"),
        ElementsAre(HasSubstr("network.control dcqcn: "),
                    HasSubstr("packets that are lost between buildings: ")));
}

TEST(KnownDifferences, AreOfSchedulersThatDoNotShareEvenly)
{
    EXPECT_THAT(WarningsWith("qp_scheduler: message"),
                ElementsAre(HasSubstr("network.qp_scheduler message: of ")));
    EXPECT_THAT(WarningsWith("qp_scheduler: burst"),
                ElementsAre(HasSubstr("network.qp_scheduler burst: of ")));
    EXPECT_THAT(WarningsWith("qp_scheduler: packet"), IsEmpty());
}

TEST(KnownDifferences, AreOfLimitsOfAnyTier)
{
    const auto of = [](const std::string& names) {
        return ElementsAre(HasSubstr(names + ": of "));
    };
    EXPECT_THAT(WarningsWith("outstanding: 4"), of("network.outstanding"));
    EXPECT_THAT(WarningsWith("tiers: {cross: {window: 1MiB}}"), of("network.window"));
    EXPECT_THAT(WarningsWith("admission: 1MiB, copy: staged"),
                of("network.admission, network.copy staged"));
}

/// Segments bunch where a NIC serves queue pairs packet by packet, and last writes wait anyway.
TEST(KnownDifferences, AreOfMessagesThatGoBySegments)
{
    for (const char* word : {"dqplb", "round-robin"})
    {
        const std::string balance = std::string("balance: ") + word;
        EXPECT_THAT(WarningsWith(balance),
                    ElementsAre(AllOf(HasSubstr(std::string("network.balance ") + word +
                                                " with network.qp_scheduler packet: "),
                                      HasSubstr("with network.qp_scheduler: message"))));
        EXPECT_THAT(WarningsWith(balance + ", qp_scheduler: message"),
                    ElementsAre(HasSubstr("network.qp_scheduler message: of ")));
        EXPECT_THAT(WarningsWith(balance + ", qps: 1"), IsEmpty());
        EXPECT_THAT(WarningsWith(balance, "packet"), IsEmpty());
    }
    EXPECT_THAT(WarningsWith("tiers: {cross: {balance: spray}}", "flow"),
                ElementsAre(HasSubstr("network.balance spray: last writes wait")));
    EXPECT_EQ(WarningsWith("balance: spray, qp_scheduler: message").size(), 2U);
    // 16 GPUs are two servers on shared leaves: there are no zones.
    EXPECT_THAT(WarningsWith("tiers: {zone: {balance: spray}}"), IsEmpty());
}

/// Told where one study in ten is off by more than 5 %, with how many are, and the farthest.
TEST(KnownDifferences, AreToldWhereOneInTenIsFar)
{
    uint32_t told = 0;
    for (const KnownDifference& row : KnownDifferences())
    {
        if (row.kind != std::string("limits"))
        {
            continue;
        }
        const auto warnings = WarningsWith("admission: 1MiB", row.engine);
        const bool isFar = row.far / double(row.studies) >= 0.1;
        ASSERT_EQ(warnings.size(), isFar ? 1U : 0U) << row.engine;
        told += isFar ? 1 : 0;
        if (isFar)
        {
            EXPECT_THAT(warnings[0],
                        AllOf(HasSubstr("network.admission: of "),
                              HasSubstr("; " + std::to_string(row.far) +
                                        " were off by more than 5 %, the farthest took ")));
        }
    }
    EXPECT_GE(told, 1U);
}

TEST(KnownDifferences, AreOfWhatIsFarOnly)
{
    EXPECT_EQ(WarningsWith("transport: infiniband", "flow:sampled").size(), 1U) << "as flow";
    EXPECT_THAT(WarningsWith("transport: roce"), IsEmpty());
    EXPECT_THAT(WarningsWith("transport: infiniband", "packet"), IsEmpty());
    EXPECT_THAT(WarningsWith("transport: infiniband", "command:model"), IsEmpty());
}

TEST(KnownDifferences, AreOfEnginesAndKindsOnce)
{
    std::set<std::pair<std::string, std::string>> seen;
    for (const KnownDifference& row : KnownDifferences())
    {
        EXPECT_TRUE(seen.insert({row.kind, row.engine}).second) << row.kind << ", " << row.engine;
        EXPECT_GE(row.studies, 30U);
        EXPECT_LT(0, row.low);
        EXPECT_LE(row.low, row.high);
    }
    EXPECT_EQ(seen.size(), 18U) << "six kinds, three engines";
}

} // namespace
} // namespace scaleacross
