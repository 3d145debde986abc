// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/in-order.h"

#include <gtest/gtest.h>
#include <thread>

namespace scaleacross
{

namespace
{

using Jobs = std::vector<size_t>;

TEST(InOrder, CountsWhatIsDoneOnceAllBeforeItAre)
{
    std::mutex mutex;
    Jobs counted;
    InOrder order(5, mutex, [&counted](size_t job) { counted.push_back(job); });
    order.Done(2);
    EXPECT_EQ(counted, Jobs());
    order.Done(0);
    EXPECT_EQ(counted, Jobs({0}));
    order.Done(1);
    EXPECT_EQ(counted, Jobs({0, 1, 2}));
    order.Done(4);
    order.PassOver(); // 3 was never begun
    EXPECT_EQ(counted, Jobs({0, 1, 2, 4}));
}

TEST(InOrder, IsTheSameOnAnyThreads)
{
    constexpr size_t jobs = 1000;
    constexpr size_t threads = 4;
    std::mutex mutex;
    Jobs counted;
    InOrder order(jobs, mutex, [&counted](size_t job) { counted.push_back(job); });
    std::vector<std::thread> crew;
    for (size_t thread = 0; thread < threads; thread++)
    {
        crew.emplace_back([&order, thread] {
            for (size_t job = thread; job < jobs; job += threads)
            {
                order.Done(job);
            }
        });
    }
    for (std::thread& each : crew)
    {
        each.join();
    }
    Jobs all(jobs);
    for (size_t job = 0; job < jobs; job++)
    {
        all[job] = job;
    }
    EXPECT_EQ(counted, all);
}

} // namespace

} // namespace scaleacross
