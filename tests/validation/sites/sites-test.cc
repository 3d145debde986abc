// SPDX-License-Identifier: GPL-2.0-only

// Field trials of China Telecom with 1,024 GPUs over two sites, as the trade press has them:
//
// - GPT-3 175B over 120 km with PP and DP across: above 95 % of the throughput of one site; a lost
//   800G wave costs more than 40 % (meatechwatch.com/?p=28249);
// - the same over 240 km with PP across: above 99 %;
// - 177B over 500 km with PP and DP: 97 to 99 %, with NICs of 102.4 Tb/s and 3.2 Tb/s between the
//   sites (developingtelecoms.com, 18795).
//
// Assumed, since no source says it: A100 with 200G NICs (512 of a site are the 102.4 Tb/s); four
// waves of 800G at all distances; TP8 PP8 DP16, 1F1B, ZeRO-1, microbatches of 1; a batch of 1,536
// sequences of 2,048 tokens, as of GPT-3. The model knows no sources of loss but bandwidth and
// latency, so that it is an upper bound of the ratios.

#include "../study/report-of.h"
#include "core/engine/analytical-engine.h"
#include "core/io/read-study.h"
#include "places.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

double
Seconds(const std::string& study, const Overrides& overrides)
{
    const std::string path = SourcePath("tests/validation/sites/") + study + ".yaml";
    return ReportOf(AnalyticalEngine(), ReadStudy(path, overrides).scenario).iterationTime.S();
}

/// Throughput over two sites over that of one.
double
Ratio(const std::string& crossing, const std::string& distance, const Overrides& more = {})
{
    Overrides overrides{{"plan.crossing", crossing}, {"cluster.cross.distance", distance}};
    overrides.insert(overrides.end(), more.begin(), more.end());
    return Seconds("one-site", {}) / Seconds("two-sites", overrides);
}

const Overrides g_lostWave{
    {"events", "[{kind: link-failure, target: building1/spine3--building2/spine3, at: 0s}]"}};

} // namespace

TEST(Sites, PipelineOver120And240Kilometres)
{
    EXPECT_GT(Ratio("pp", "120km"), 0.95);
    EXPECT_GT(Ratio("pp", "240km"), 0.99);
}

TEST(Sites, DataParallelOver120Kilometres)
{
    // It depends on the number of waves, which is not published: two are not enough.
    EXPECT_GT(Ratio("dp", "120km"), 0.95);
    EXPECT_LT(Ratio("dp", "120km", {{"cluster.cross.capacity", "1600Gbps"}}), 0.95);
}

TEST(Sites, DataParallelOver500Kilometres)
{
    // Published in whole per cent, 97 to 99.
    const double percent = std::round(100 * Ratio("dp", "500km"));
    EXPECT_GE(percent, 97);
    EXPECT_LT(percent, 99);
}

TEST(Sites, PipelineOver500KilometresIsMissed)
{
    // Published 97 to 99 %, here above 99.9 %: each of 192 microbatches' passes takes far longer
    // than the 2.5 ms to the other site, and eight microbatches are in flight.
    EXPECT_GT(Ratio("pp", "500km"), 0.999);
}

TEST(Sites, ALostWaveIsMissed)
{
    // Published: more than 40 % less. With DP half of the reduced FP32 gradients and of the
    // gathered BF16 parameters cross in either direction, 0.5 x 6 B x 174.6e9 = 524 GB, 2 % more
    // with headers. A quarter of the capacity less can cost no more than 534 GB x 8 x (1 / 2.4e12 -
    // 1 / 3.2e12) = 0.45 s of an iteration of 20 s, 2.2 %, if traffic takes the other waves at once
    // and in equal parts. With PP there is next to no traffic. By bandwidth alone 40 % would need a
    // transfer of more than half of the iteration, hidden as long as all waves are there. So the
    // trial lost something else: messages on the wave that failed, and the time of all that waited
    // for them.
    const double data = Ratio("dp", "120km", g_lostWave) / Ratio("dp", "120km");
    EXPECT_GT(1 - data, 0);
    EXPECT_LT(1 - data, 0.023);
    EXPECT_LT(1 - Ratio("pp", "120km", g_lostWave) / Ratio("pp", "120km"), 0.001);
}

} // namespace scaleacross
