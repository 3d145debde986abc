// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/event-heap.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace scaleacross
{

namespace
{

EventTime
At(int64_t ns, uint64_t order)
{
    return {Duration::Nanoseconds(ns), order};
}

uint32_t
Pop(EventHeap& heap)
{
    const uint32_t first = heap.First();
    heap.Remove(first);
    return first;
}

} // namespace

TEST(EventHeap, EqualTimesInTheOrderTheyWereMade)
{
    EventHeap heap;
    heap.Set(2, At(5, 0));
    heap.Set(0, At(5, 1));
    heap.Set(1, At(4, 2));
    EXPECT_EQ(Pop(heap), 1U);
    EXPECT_EQ(Pop(heap), 2U);
    EXPECT_EQ(Pop(heap), 0U);
    EXPECT_TRUE(heap.Empty());
}

TEST(EventHeap, ATimeSetAgainReplacesTheOneBefore)
{
    // 0 at 5, 1 at 6, 2 at 7; then 0 goes to 8 and 2 to 1: 2, 1, 0.
    EventHeap heap;
    heap.Set(0, At(5, 0));
    heap.Set(1, At(6, 1));
    heap.Set(2, At(7, 2));
    heap.Set(0, At(8, 3));
    heap.Set(2, At(1, 4));
    EXPECT_EQ(heap.Earliest().at, Duration::Nanoseconds(1));
    EXPECT_EQ(Pop(heap), 2U);
    EXPECT_EQ(Pop(heap), 1U);
    heap.Set(2, At(9, 5)); // a number that has been removed is free again
    EXPECT_EQ(Pop(heap), 0U);
    EXPECT_EQ(Pop(heap), 2U);
    EXPECT_TRUE(heap.Empty());
}

TEST(EventHeap, AgreesWithASortedMap)
{
    // 10,000 random changes and removals of 50 entries; the reference keeps them in a std::map.
    std::mt19937 random(1);
    EventHeap heap;
    std::map<EventTime, uint32_t> byTime;
    std::map<uint32_t, EventTime> byId;
    for (uint64_t order = 0; order < 10000; order++)
    {
        if (random() % 3 == 0 && !byTime.empty())
        {
            const auto [time, id] = *byTime.begin();
            ASSERT_EQ(heap.Earliest().order, time.order);
            ASSERT_EQ(Pop(heap), id);
            byTime.erase(time);
            byId.erase(id);
            continue;
        }
        const uint32_t id = random() % 50;
        const EventTime time = At(random() % 100, order);
        const auto before = byId.find(id);
        if (before != byId.end())
        {
            byTime.erase(before->second);
        }
        if (random() % 4 == 0)
        {
            heap.Remove(id);
            byId.erase(id);
            continue;
        }
        byId[id] = time;
        byTime[time] = id;
        heap.Set(id, time);
    }
    EXPECT_EQ(heap.Empty(), byTime.empty());
}

} // namespace scaleacross
