// SPDX-License-Identifier: GPL-2.0-only

#include "../hand-written-ops.h"
#include "core/engine/body-walk.h"

#include <gtest/gtest.h>
#include <utility>

namespace scaleacross
{
namespace
{

/// Collectives of 3 ms: tensor parallel on port 0, expert parallel on port 1, or on 0 if `index` is
/// not 0.
LoneCollective
ThreeMs(const Op& op)
{
    LoneCollective lone;
    const bool expert = op.stream == Stream::Expert;
    lone.comm = expert ? CommClass::Expert : CommClass::Tensor;
    lone.time = Ms(3);
    lone.ports = expert && op.index == 0 ? 2 : 1;
    return lone;
}

Duration
Exposed(const BodyTimes& times, CommClass comm)
{
    return times.exposed[static_cast<size_t>(comm)];
}

} // namespace

TEST(BodyWalk, WorkedCase)
{
    // 3 ms at rate 0.75 do 2.25 of 4 ms, 1.75 ms more alone.
    auto times =
        WalkBody({Post(Stream::Tensor, 0), Compute(4), Await(Stream::Tensor)}, {0.25}, ThreeMs);
    EXPECT_EQ(times.total, Ms(4.75));
    EXPECT_EQ(times.compute, Ms(4.75));
    EXPECT_EQ(Exposed(times, CommClass::Tensor), Duration());
    EXPECT_EQ(times.busy[static_cast<size_t>(CommClass::Tensor)], Ms(3));
    EXPECT_TRUE(times.closed);
    EXPECT_FALSE(times.contends);
    // 1 ms takes 1.5 ms beside a share of a third; what is left of the 3 ms is exposed.
    times =
        WalkBody({Post(Stream::Tensor, 0), Compute(1), Await(Stream::Tensor)}, {1.0 / 3}, ThreeMs);
    EXPECT_EQ(times.compute, Ms(1.5));
    EXPECT_EQ(Exposed(times, CommClass::Tensor), Ms(1.5));
    EXPECT_EQ(times.total, Ms(3));
}

TEST(BodyWalk, StreamsKeepTheirOrderAndRunBesideEachOther)
{
    // Two on one stream take 6 ms, one on another 3 ms beside the first of them. While both are
    // under way computing has 1 - 2 x 0.25, then 0.75: 3 x 0.5 + 3 x 0.75 = 3.75 of 5 ms in 6 ms,
    // 1.25 ms more alone.
    const auto times = WalkBody({Post(Stream::Tensor, 0),
                                 Post(Stream::Expert, 0),
                                 Post(Stream::Tensor, 0),
                                 Compute(5),
                                 Await(Stream::Expert),
                                 Await(Stream::Tensor)},
                                {0.25},
                                ThreeMs);
    EXPECT_EQ(times.total, Ms(7.25));
    EXPECT_FALSE(times.contends);
    // A blocking sequence is a sum, whatever the share.
    const auto sum = WalkBody({Post(Stream::Tensor, 0),
                               Await(Stream::Tensor),
                               Compute(5),
                               Post(Stream::Tensor, 0),
                               Await(Stream::Tensor)},
                              {0.25},
                              ThreeMs);
    EXPECT_EQ(sum.total, Ms(11));
    EXPECT_EQ(sum.compute, Ms(5));
    EXPECT_EQ(Exposed(sum, CommClass::Tensor), Ms(6));
}

TEST(BodyWalk, SaysWhenItsTimesWouldBeTooShort)
{
    // Two at the same time through one port; and after each other, which is fine.
    EXPECT_TRUE(WalkBody({Post(Stream::Tensor, 0),
                          Post(Stream::Expert, 1),
                          Await(Stream::Expert),
                          Await(Stream::Tensor)},
                         {},
                         ThreeMs)
                    .contends);
    EXPECT_FALSE(WalkBody({Post(Stream::Tensor, 0),
                           Await(Stream::Tensor),
                           Post(Stream::Expert, 1),
                           Await(Stream::Expert)},
                          {},
                          ThreeMs)
                     .contends);
    // Something is still under way at the end; something is awaited that another body posted.
    EXPECT_FALSE(WalkBody({Post(Stream::Tensor, 0), Compute(1)}, {}, ThreeMs).closed);
    EXPECT_FALSE(WalkBody({Await(Stream::Tensor)}, {}, ThreeMs).closed);
}

// A library's collective takes a processor for each of its channels, of 100 here and 19 at most: in
// 3 ms 2.7 ms of the work are done beside 10 channels, 2.43 ms beside 40.
TEST(BodyWalk, ChannelsTakeProcessors)
{
    const CollectiveShare share{0.25, 100, 19};
    for (const auto& [channels, total] : {std::pair{10U, 4.3}, {40U, 4.57}})
    {
        const auto lone = [most = channels](const Op& op) {
            LoneCollective one = ThreeMs(op);
            one.processors = most;
            return one;
        };
        const auto times =
            WalkBody({Post(Stream::Tensor, 0), Compute(4), Await(Stream::Tensor)}, share, lone);
        EXPECT_EQ(times.total, Ms(total));
    }
}

} // namespace scaleacross
