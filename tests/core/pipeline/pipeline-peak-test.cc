// SPDX-License-Identifier: GPL-2.0-only

// What a rank of a pipeline holds at most, in activations of one chunk and microbatch.

#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace scaleacross
{

TEST(PipelinePeak, OfOneForwardOneBackward)
{
    for (uint32_t p = 1; p <= 8; p++)
    {
        const uint32_t m = 3 * p;
        for (uint32_t r = 0; r < p; r++)
        {
            EXPECT_EQ(PeakInFlight({"gpipe", p, m, 1, 0}, r), m);
            EXPECT_EQ(PeakInFlight({"1f1b", p, m, 1, 0}, r), p - r);
            // Each rank delays its W so far that it holds as much as the first rank of 1F1B.
            EXPECT_EQ(PeakInFlight({"zb-h1", p, m, 1, 0}, r), p);
        }
        // 2205.05198: p (1 + (p-1)/(p v)) microbatches of v chunks each: p v + p - 1 chunks.
        for (uint32_t v = 2; v <= 4; v++)
        {
            EXPECT_EQ(PeakInFlight({"interleaved", p, m, v, 0}, 0), p * v + p - 1);
        }
    }
}

TEST(PipelinePeak, OfZeroBubble)
{
    // In units of chunks: ZB-H2 2p-1 on every rank; breadth first everything; ZB1P with rounds of p
    // as many as ZB-H1, p microbatches, and what chunks add: (v-1) p + p-1-r forwards before the
    // first backward, one in the pair and r that lag: p v chunks.
    for (uint32_t p = 1; p <= 8; p++)
    {
        const uint32_t m = 4 * p;
        for (uint32_t r = 0; r < p; r++)
        {
            EXPECT_EQ(PeakInFlight({"zb-h2", p, m}, r), 2 * p - 1);
            EXPECT_EQ(PeakInFlight({"breadth-first", p, m, 3}, r), 3 * m);
            EXPECT_EQ(PeakInFlight({"zb1p", p, m, 3}, r), 3 * p);
        }
    }
}

TEST(PipelinePeak, OfOneV)
{
    // ZBV. 2(p-r)-1 forwards of chunk 0, then r pairs F1 F0, leave 2p-1-r of chunk 0 and r of chunk
    // 1, and one more F1 comes before the first W: 2p-1-r and r+1, as far as there are
    // microbatches. From then on every F1 is followed by I1 W1 and every F0 by I0 W0, so that no
    // more is held.
    for (uint32_t p = 1; p <= 8; p++)
    {
        for (uint32_t m = 1; m <= 4 * p; m++)
        {
            for (uint32_t r = 0; r < p; r++)
            {
                const uint32_t peak = std::min(m, 2 * p - 1 - r) + std::min(m, r + 1);
                EXPECT_EQ(PeakInFlight({"zbv", p, m, 2}, r), peak);
                EXPECT_EQ(PeakInFlight({"zbv-interleaved", p, m, 2}, r), peak);
                EXPECT_TRUE(m < 2 * p - 1 || peak == 2 * p);
            }
        }
    }
}

TEST(PipelinePeak, OfRepeatedVs)
{
    // v = 4, 6 ...: v min(p, m) chunks on every rank. More cannot be held: the limit is p
    // microbatches of v chunks, and there are m. It is reached before the rank's first W:
    //
    // Passes take 1. A forward of the last chunk goes first, which is always one of the oldest
    // microbatch, so nothing delays a microbatch but older ones. Microbatch 0 is at position q at
    // time q. Rank p-1 runs its chunks 0 and 1 one after the other, so microbatch j < p is at
    // position q >= p-1 at time q + 2j: on rank r, even chunks take times of r's parity, odd ones
    // the other, and chunk c+2 begins 2p later than chunk c, when the p of that have passed.
    // Gradients of the last chunk, position p v-1-r, come at p v + r + 2j, between its forwards,
    // and those of the chunk before after all of them: so no time is left for a W while forwards
    // of these microbatches are to come, and all min(p, m) of them are held if memory allows.
    //
    // With m > p the rank may hold others as well. Those wait for rank p-1, which is taken by
    // microbatches j < p until p v + p-1; so rank r holds only their chunk 0. From r to p v + r it
    // has p v units of time, less (v-1) p of other chunks of which p-1-r come later: 2p-1-r
    // forwards of chunk 0 if there are so many, and then it holds p v. If there are only m of them,
    // it lacks 2p-1-r-m, and forwards of the last chunk follow: those of microbatches j <= 2p-1-m,
    // which the ranks before let pass, as they also lack forwards up to that one or are rank
    // 2p-1-m or later, and have held it since before.
    for (uint32_t p = 1; p <= 7; p++)
    {
        for (uint32_t m = 1; m <= 4 * p; m++)
        {
            for (const uint32_t v : {4U, 6U, 8U})
            {
                const PipelineShape shape{"zbv-interleaved", p, m, v};
                const auto orders = shape.schedule->Orders(shape);
                for (const auto& order : orders)
                {
                    EXPECT_EQ(PeakHeld(order, std::vector<uint64_t>(v, 1)), v * std::min(p, m))
                        << "p " << p << " m " << m << " v " << v;
                }
            }
        }
    }
}

TEST(PipelinePeak, OfDualPipeV)
{
    // m >= 2p. 2(p-1-r) F0 and r+1 pairs F0 F1 make 2p chunks. p-1-r times a W goes before the F1.
    // Then come m-2p+r+1 >= 1 pairs F0 B1, F1 B0, in which the forward's activations are there
    // before the backward's are gone: 2p+1. What follows frees two for every one it adds. So PP + 1
    // of DeepSeek's table of DualPipe, whose PP counts stages, of which a V has two on each rank.
    for (uint32_t p = 1; p <= 8; p++)
    {
        for (uint32_t m = 2 * p; m <= 5 * p; m++)
        {
            for (uint32_t r = 0; r < p; r++)
            {
                EXPECT_EQ(PeakInFlight({"dualpipev", p, m, 2}, r), 2 * p + 1);
            }
        }
    }
}

TEST(PipelinePeak, OfOverlappedOneForwardOneBackward)
{
    // The warm-up and the first pair's forward: (v-1) N + 2 (p-1-r) + 2, at most m v.
    for (uint32_t p = 1; p <= 6; p++)
    {
        for (uint32_t v = 1; v <= 3; v++)
        {
            for (uint32_t r = 0; r < p; r++)
            {
                const uint32_t m = 4 * p;
                EXPECT_EQ(PeakInFlight({"1f1b-overlapped", p, m, v, p}, r),
                          std::min((v - 1) * p + 2 * (p - r), m * v));
            }
        }
    }
}

/// A pair in n equal parts by turns, the forward's first: held + max(f / n, f - b (n-1) / n).
TEST(PipelinePeak, PairsHoldAPartMore)
{
    const auto order = PipelineOrder({"1f1b-overlapped", 1, 4, 1}, 0); // F0 F1&B0 F2&B1 F3&B2 B3
    EXPECT_EQ(PeakHeld(order, {120}), 240U);
    EXPECT_EQ(PeakHeld(order, {120}, 2), 180U);
    EXPECT_EQ(PeakHeld(order, {120}, 12), 130U);
    // p 2, r 0: F0 F1 F2 F3&B0: three and a part.
    EXPECT_EQ(PeakHeld(PipelineOrder({"1f1b-overlapped", 2, 4, 1}, 0), {120}, 4), 390U);
}

TEST(PipelinePeak, HeldBytesWeighTheChunks)
{
    // p = 2, v = 2, m = 2, rank 1: F0 F1 F0.1 B0.1 ...: chunk 0 twice and chunk 1 once.
    EXPECT_EQ(PeakHeld(PipelineOrder({"interleaved", 2, 2, 2, 0}, 1), {10, 7}), 27U);
    EXPECT_EQ(PeakInFlight({"interleaved", 2, 2, 2, 0}, 1), 3U);
}

} // namespace scaleacross
