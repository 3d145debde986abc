// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/first-look.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

PipelineShape
Shape(const std::string& schedule, uint32_t chunks)
{
    PipelineShape shape;
    shape.schedule = schedule;
    shape.ranks = 4;
    shape.microbatches = 8;
    shape.chunks = chunks;
    return shape;
}

/// Of F, I and W milliseconds each.
PassTimes
Pass(int64_t f, int64_t i, int64_t w)
{
    PassTimes pass;
    pass.forward = Duration::Microseconds(1000 * f);
    pass.inputGradient = Duration::Microseconds(1000 * i);
    pass.weightGradient = Duration::Microseconds(1000 * w);
    return pass;
}

TEST(ComputeBound, IsWorkBetweenTheWayThereAndBack)
{
    std::vector<PassTimes> passes;
    passes.assign(4, Pass(1, 1, 1));
    // The last of four ranks has 8 x 3, and 3 x 3 before its first and behind its last: what 1F1B
    // takes, (m + p - 1)(F + B).
    EXPECT_DOUBLE_EQ(ComputeBound(Shape("1f1b", 1), passes), 33e-3);
    // W may be put off: 8 x 2 + 3 x 2 + 1 = 23 is less than its own 24.
    EXPECT_DOUBLE_EQ(ComputeBound(Shape("zb-h1", 1), passes), 24e-3);
    // With I = 4: 8 x 5 + 3 x 5 + 1 = 56 against 48.
    passes.assign(4, Pass(1, 4, 1));
    EXPECT_DOUBLE_EQ(ComputeBound(Shape("zb-h1", 1), passes), 56e-3);
}

TEST(ComputeBound, ComesToARankByItsFirstPosition)
{
    // Eight positions of half the work: 8 x 3 between 3 x 1.5, (m + (p - 1) / v)(F + B).
    std::vector<PassTimes> passes;
    passes.assign(8,
                  PassTimes{Duration::Microseconds(500),
                            Duration::Microseconds(500),
                            Duration::Microseconds(500)});
    EXPECT_DOUBLE_EQ(ComputeBound(Shape("interleaved", 2), passes), 28.5e-3);
    // A V: the second position of rank 3 is the fifth, and its first comes after three as well.
    // W may be put off: 8 x 2 + 3 x 1 + 0.5 = 19.5, less than its own 24.
    EXPECT_DOUBLE_EQ(ComputeBound(Shape("zbv", 2), passes), 24e-3);
}

TEST(ComputeBound, IsTheSlowestRanks)
{
    // Rank 2 has 8 x 9, with 2 x 3 around it.
    const std::vector<PassTimes> passes = {Pass(1, 1, 1),
                                           Pass(1, 1, 1),
                                           Pass(3, 3, 3),
                                           Pass(1, 1, 1)};
    EXPECT_DOUBLE_EQ(ComputeBound(Shape("1f1b", 1), passes), 78e-3);
}

} // namespace

} // namespace scaleacross
