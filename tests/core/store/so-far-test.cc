// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/store/so-far.h"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

const char* const g_path = "so-far-test.db";

/// What is written comes back, and what is not known stays so.
TEST(SoFar, ComesBackAsItWas)
{
    SoFar soFar{SoFar::End::Signal, {}};
    soFar.counts.evaluated = 3;
    soFar.counts.rejected = {{"memory", {5, "tp 1 has \"no\" room"}}, {kDuplicate, {2, ""}}};
    soFar.counts.failed = {{"timeout", {1, "late"}}};
    {
        const Database database(g_path, Database::Access::Write);
        const SoFar unbounded = SoFarOf(database, ToText(soFar), 11);
        EXPECT_EQ(unbounded.end, SoFar::End::Signal);
        EXPECT_EQ(unbounded.counts.evaluated, 3);
        EXPECT_EQ(unbounded.counts.bound, Duration::Max());
        EXPECT_FALSE(std::isfinite(unbounded.counts.left));
        EXPECT_FALSE(unbounded.counts.provenAfter);
        EXPECT_EQ(unbounded.counts.rejected.at("memory").count, 5);
        EXPECT_EQ(unbounded.counts.rejected.at("memory").example, "tp 1 has \"no\" room");
        EXPECT_EQ(unbounded.counts.failed.at("timeout").example, "late");
        EXPECT_EQ(unbounded.counts.DecidedPositions(), 11); // 3 + 5 + 2 + 1

        soFar.end = SoFar::End::Time;
        soFar.counts.bound = Duration::Seconds(0.5);
        soFar.counts.left = 0.25;
        soFar.counts.provenAfter = 2;
        const SoFar bounded = SoFarOf(database, ToText(soFar), 11);
        EXPECT_EQ(bounded.end, SoFar::End::Time);
        EXPECT_EQ(bounded.counts.bound, Duration::Seconds(0.5));
        EXPECT_EQ(bounded.counts.left, 0.25);
        EXPECT_EQ(bounded.counts.provenAfter, 2);

        EXPECT_THROW(SoFarOf(database, ToText(soFar), 10), ConfigError);
        EXPECT_THROW(SoFarOf(database, "{}", 11), ConfigError);
        EXPECT_THROW(SoFarOf(database, "three", 11), ConfigError);
    }
    for (const char* end : {"", "-wal", "-shm"})
    {
        std::filesystem::remove(std::string(g_path) + end);
    }
}

} // namespace
} // namespace scaleacross
