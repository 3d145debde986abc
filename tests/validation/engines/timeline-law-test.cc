// SPDX-License-Identifier: GPL-2.0-only

// A timeline is what the report says, to the picosecond, on every engine, of drawn plans on drawn
// networks.

#include "../../draws.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/topology/fabric-graph.h"
#include "drawn-networks.h"
#include "helper/engine/packet-engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

namespace
{

/// Picoseconds of the ranks, each as often as it stands for one.
struct Sums
{
    double compute{0};
    double bubble{0};
    std::array<double, kCommClasses> exposed{};
    std::array<double, kCommClasses> busy{};
};

double
Ps(Duration time)
{
    return static_cast<double>(time.Ps());
}

/// Time in which at least one of a rank's collectives of a class is under way.
double
UnionOf(const Timeline& timeline, const RankTimeline& rank, CommClass comm)
{
    std::vector<std::pair<Duration, Duration>> spans;
    for (const RankCollective& one : rank.record.collectives)
    {
        if (timeline.collectives[one.collective].comm == comm)
        {
            spans.emplace_back(one.begin, one.end);
        }
    }
    std::sort(spans.begin(), spans.end());
    double sum = 0;
    Duration until;
    for (const auto& [begin, end] : spans)
    {
        const Duration from = std::max(begin, until);
        until = std::max(until, end);
        sum += Ps(until) - Ps(std::min(from, until));
    }
    return sum;
}

Sums
SumsOf(const Timeline& timeline)
{
    Sums sums;
    for (const RankTimeline& rank : timeline.ranks)
    {
        for (const RankSpell& spell : rank.record.spells)
        {
            const double part = rank.ranks * Ps(spell.end - spell.begin);
            switch (spell.occupation)
            {
            case Occupation::Compute:
                sums.compute += part;
                break;
            case Occupation::Bubble:
                sums.bubble += part;
                break;
            case Occupation::Exposed:
                sums.exposed[static_cast<size_t>(spell.comm)] += part;
                break;
            }
        }
        for (uint32_t c = 0; c < kCommClasses; c++)
        {
            sums.busy[c] += rank.ranks * UnionOf(timeline, rank, static_cast<CommClass>(c));
        }
    }
    return sums;
}

/// The spells of a rank follow each other without a gap, and so do its passes but for gaps.
void
ExpectFilled(const RankTimeline& rank)
{
    Duration at = rank.begin;
    for (const RankSpell& spell : rank.record.spells)
    {
        ASSERT_EQ(spell.begin, at);
        ASSERT_LT(spell.begin, spell.end);
        at = spell.end;
    }
    EXPECT_EQ(at, rank.end);
    for (size_t i = 1; i < rank.record.runs.size(); i++)
    {
        EXPECT_LE(rank.record.runs[i - 1].end, rank.record.runs[i].begin);
    }
    for (const RankArrival& arrival : rank.record.arrivals)
    {
        EXPECT_LE(rank.begin, arrival.arrived);
        EXPECT_LE(arrival.posted, arrival.arrived);
        EXPECT_LT(arrival.arrived, rank.end);
        if (arrival.run != RankArrival::kNoRun)
        {
            ASSERT_LT(arrival.run, rank.record.runs.size());
            EXPECT_LE(arrival.arrived, rank.record.runs[arrival.run].begin);
        }
    }
}

/// Time that a packet takes on the slowest link.
Duration
LongestPacket(const Scenario& scenario)
{
    const FabricGraph graph = BuildFabricGraph(scenario.cluster);
    const double headers = 128; // more than any packet has
    double longest = 0;
    for (const FabricLink& link : graph.links)
    {
        longest = std::max(longest,
                           (static_cast<double>(scenario.network.mtu.Count()) + headers) * 8.0 /
                               link.rate.Value());
    }
    return Duration::Seconds(longest);
}

/// The longest delay of a wire: so far switches may be ahead of the last sample (NetworkWatch).
Duration
LongestWire(const Scenario& scenario)
{
    Duration longest;
    for (const FabricLink& link : BuildFabricGraph(scenario.cluster).links)
    {
        longest = std::max(longest, link.delay);
    }
    return longest;
}

/// No link carries more in a step than its capacity, plus one packet that begins at its end. Over
/// the scale-up network packets count when they are posted, and what comes in from the own server
/// nobody holds back: neither is compared.
void
ExpectWithinCapacity(const NetworkSeries& network, bool packets, Duration packet, Duration ahead)
{
    ASSERT_GT(network.Steps(), 0U);
    for (uint32_t i = 0; i < network.Steps(); i++)
    {
        ASSERT_LT(network.at[i], network.at[i + 1]);
    }
    for (const Series& one : network.series)
    {
        ASSERT_EQ(one.values.size(), network.Steps()) << one.name;
        const bool scaleUp = one.name.find(" scale-up ") != std::string::npos;
        const bool in = one.name.find(" scale-up in") != std::string::npos;
        for (uint32_t i = 0; i < network.Steps(); i++)
        {
            ASSERT_GE(one.values[i], 0) << one.name;
            if (one.kind == SeriesKind::Load && !in && !(packets && scaleUp))
            {
                const Duration step = network.at[i + 1] - network.at[i];
                const Duration beyond = i + 1 == network.Steps() ? packet + ahead : packet;
                const double most =
                    network.RoomOf(one, i) +
                    one.capacity.Value() / 8.0 * (packets ? beyond : Duration::Picoseconds(2)).S();
                // Flows end at whole picoseconds, and their bytes at whole ones.
                ASSERT_LE(one.values[i], most * (1 + 1e-9) + (packets ? 0 : 4))
                    << one.name << " in " << ToString(step) << " at " << ToString(network.at[i]);
            }
        }
    }
}

/// What spans carried until the rank that began first has ended its iterations is what the report
/// counts; one of the steps may reach beyond.
size_t
ExpectCounted(const Timeline& timeline, const RunReport& report)
{
    const NetworkSeries& network = timeline.network;
    Duration until;
    for (const RankTimeline& rank : timeline.ranks)
    {
        until = rank.begin == Duration() ? std::max(until, rank.end) : until;
    }
    size_t compared = 0;
    for (const ResourceReport& resource : report.resources)
    {
        const auto at = std::find_if(network.series.begin(),
                                     network.series.end(),
                                     [&](const Series& one) { return one.name == resource.name; });
        if (resource.name.find(" to ") == std::string::npos)
        {
            continue;
        }
        if (at == network.series.end())
        {
            ADD_FAILURE() << "no series of " << resource.name;
            continue;
        }
        EXPECT_EQ(at->capacity, resource.capacity);
        EXPECT_EQ(at->shared, resource.shared);
        double sum = 0;
        double last = 0;
        for (uint32_t i = 0; i < network.Steps() && network.at[i] < until; i++)
        {
            last = at->values[i];
            sum += last;
        }
        const double counted = static_cast<double>(resource.bytes.Count()) * report.iterations;
        EXPECT_GE(sum, counted - report.iterations) << resource.name;
        EXPECT_LE(sum - last, counted + report.iterations) << resource.name;
        compared++;
    }
    return compared;
}

} // namespace

TEST(Timelines, AddUpToTheReport)
{
    std::mt19937 random(20261127);
    const size_t plans = Draws(3);
    const std::array<std::unique_ptr<Engine>, 4> engines = {
        std::make_unique<AnalyticalEngine>(),
        std::make_unique<FlowEngine>(Collisions::Expected),
        std::make_unique<PacketEngine>(),
        std::make_unique<PacketEngine>(PacketEngine::FastForwards::Steady)};
    size_t bubbles = 0;
    size_t spans = 0;
    for (size_t count = 0; count < plans;)
    {
        const std::optional<Scenario> plan = volumes::DrawNetwork(random);
        if (!plan)
        {
            continue;
        }
        count++;
        for (const auto& engine : engines)
        {
            SCOPED_TRACE(engine->Name() + ": " + volumes::NetworkText(*plan));
            RunOptions options;
            const RunReport without = std::get<RunReport>(engine->Run(*plan, options));
            EXPECT_FALSE(without.timeline);
            options.timeline = Timelines::OfAll;
            const RunReport report = std::get<RunReport>(engine->Run(*plan, options));
            EXPECT_EQ(report.iterationTime, without.iterationTime);
            ASSERT_TRUE(report.timeline);
            const Timeline& timeline = *report.timeline;
            EXPECT_TRUE(timeline.IsWhole());
            Duration slowest;
            for (const RankTimeline& rank : timeline.ranks)
            {
                ExpectFilled(rank);
                slowest = std::max(slowest, rank.end - rank.begin);
            }
            EXPECT_EQ(slowest / static_cast<int64_t>(report.iterations), report.iterationTime);
            // Means are whole picoseconds, of sums of seconds: half a picosecond and the rounding
            // of a double.
            const Sums sums = SumsOf(timeline);
            const double over = static_cast<double>(timeline.of) * report.iterations;
            const auto expectMean = [&](double sum, Duration mean) {
                EXPECT_NEAR(sum / over, Ps(mean), 1 + 1e-12 * Ps(mean));
            };
            expectMean(sums.compute, report.computeTime);
            expectMean(sums.bubble, report.bubble);
            for (uint32_t c = 0; c < kCommClasses; c++)
            {
                expectMean(sums.exposed[c], report.classes[c].exposed);
                if (static_cast<CommClass>(c) != CommClass::Pipeline)
                {
                    expectMean(sums.busy[c], report.classes[c].busy);
                }
            }
            bubbles += report.bubble > Duration() ? 1 : 0;
            const bool packets = report.engine.rfind("packet", 0) == 0;
            ExpectWithinCapacity(timeline.network,
                                 packets,
                                 LongestPacket(*plan),
                                 LongestWire(*plan));
            spans += report.engine == "analytical" ? 0 : ExpectCounted(timeline, report);
        }
    }
    EXPECT_GT(bubbles, 0U);
    EXPECT_GT(spans, 0U);
}

TEST(Timelines, OfClassesAreThoseOfTheirRepresentatives)
{
    std::mt19937 random(20261128);
    const size_t plans = Draws(4);
    const FlowEngine flow(Collisions::Expected);
    for (size_t count = 0; count < plans;)
    {
        const std::optional<Scenario> plan = volumes::DrawNetwork(random);
        if (!plan)
        {
            continue;
        }
        count++;
        const PreparedRun run = std::get<PreparedRun>(PrepareRun(*plan));
        RunOptions options;
        options.timeline = Timelines::OfClasses;
        const RunReport report = std::get<RunReport>(flow.Run(*plan, options));
        std::vector<Rank> expected;
        for (const RankClass& rankClass : run.graph.classes)
        {
            if (!rankClass.program.ops.empty())
            {
                expected.push_back(rankClass.representative);
            }
        }
        std::sort(expected.begin(), expected.end());
        std::vector<Rank> got;
        for (const RankTimeline& rank : report.timeline->ranks)
        {
            got.push_back(rank.rank);
            ExpectFilled(rank);
        }
        EXPECT_EQ(got, expected) << volumes::NetworkText(*plan);
    }
}

} // namespace scaleacross
