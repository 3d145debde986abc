// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/max-min.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace scaleacross
{
namespace
{

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

TEST(MaxMin, TheWorkedSystem)
{
    // Levels rise to 1/3, where Q is full: 1/3 + 2 x 1/3. Flow 2 rises on to 2/3, where P is.
    constexpr uint32_t p = 0;
    constexpr uint32_t q = 1;
    MaxMin system(2);
    const auto one = system.Add(1, kNoLimit, {{p, 1}, {q, 1}});
    const auto two = system.Add(1, kNoLimit, {{p, 1}});
    const auto three = system.Add(1, kNoLimit, {{q, 2}});
    system.Solve();
    EXPECT_NEAR(system.Rate(one), 1.0 / 3, 1e-15);
    EXPECT_NEAR(system.Rate(two), 2.0 / 3, 1e-15);
    EXPECT_NEAR(system.Rate(three), 1.0 / 3, 1e-15);
    EXPECT_NEAR(system.Load(p), 1, 1e-15);
    EXPECT_NEAR(system.Load(q), 1, 1e-15);
    system.Remove(three);
    system.Solve();
    EXPECT_NEAR(system.Rate(one), 0.5, 1e-15);
    EXPECT_NEAR(system.Rate(two), 0.5, 1e-15);
    system.Remove(one);
    const auto limited = system.Add(1, 0.1, {{p, 1}, {q, 1}});
    const auto last = system.Add(1, kNoLimit, {{q, 2}});
    system.Solve();
    EXPECT_EQ(system.Rate(limited), 0.1);
    EXPECT_NEAR(system.Rate(two), 0.9, 1e-15);
    EXPECT_NEAR(system.Rate(last), 0.45, 1e-15);
}

TEST(MaxMin, WeightsAreShares)
{
    // One resource, weights 1 and 3, demands 1 and 0.5: level l with l + 1.5 l = 1.
    MaxMin system(1);
    const auto one = system.Add(1, kNoLimit, {{0, 1}});
    const auto two = system.Add(3, kNoLimit, {{0, 0.5}});
    system.Solve();
    EXPECT_NEAR(system.Rate(one), 0.4, 1e-15);
    EXPECT_NEAR(system.Rate(two), 1.2, 1e-15);
}

TEST(MaxMin, WithoutUsesAFlowIsAsFastAsItsLimit)
{
    MaxMin system(1);
    const auto limited = system.Add(1, 7, {});
    const auto free = system.Add(1, kNoLimit, {});
    system.Solve();
    EXPECT_EQ(system.Rate(limited), 7);
    EXPECT_EQ(system.Rate(free), kNoLimit);
}

struct Given
{
    double weight;
    double limit;
    std::vector<MaxMin::Use> uses;
};

/// The definition, nothing else: nobody exceeds anything, and everybody is at its limit or has a
/// full resource on which nobody's level is higher.
void
ExpectSolved(const MaxMin& system, const std::map<MaxMin::Flow, Given>& flows, uint32_t resources)
{
    constexpr double kRounding = 1e-9;
    std::vector<double> load(resources, 0);
    std::vector<double> highest(resources, 0);
    for (const auto& [id, flow] : flows)
    {
        EXPECT_LE(system.Rate(id), flow.limit);
        for (const MaxMin::Use& use : flow.uses)
        {
            load[use.resource] += use.demand * system.Rate(id);
            highest[use.resource] = std::max(highest[use.resource], system.Rate(id) / flow.weight);
        }
    }
    for (const double sum : load)
    {
        EXPECT_LE(sum, 1 + kRounding);
    }
    for (const auto& [id, flow] : flows)
    {
        bool held = system.Rate(id) == flow.limit;
        for (const MaxMin::Use& use : flow.uses)
        {
            held =
                held || (load[use.resource] > 1 - kRounding &&
                         system.Rate(id) / flow.weight > highest[use.resource] * (1 - kRounding));
        }
        EXPECT_TRUE(held) << "flow " << id << " could be faster than " << system.Rate(id);
    }
}

TEST(MaxMin, EveryoneHasABottleneckWhateverComesAndGoes)
{
    // 200 random systems of 100 changes each: few resources and many, flows on up to five of them,
    // often equal so that many are held at once.
    std::mt19937 random(1);
    for (uint32_t round = 0; round < 200; round++)
    {
        const uint32_t resources = 1 + random() % 20;
        const bool equal = random() % 2 == 0;
        std::uniform_real_distribution<double> some(0.1, 3.0);
        const auto draw = [&] { return equal ? 1.0 : some(random); };
        MaxMin system(resources);
        std::map<MaxMin::Flow, Given> flows;
        for (uint32_t change = 0; change < 100; change++)
        {
            if (!flows.empty() && random() % 3 == 0)
            {
                const auto gone = std::next(flows.begin(), random() % flows.size());
                system.Remove(gone->first);
                flows.erase(gone);
            }
            else
            {
                Given flow;
                flow.weight = draw();
                flow.limit = random() % 3 == 0 ? 0.3 * draw() : kNoLimit;
                for (uint32_t r = random() % resources; r < resources && flow.uses.size() < 5;
                     r += 1 + random() % 4)
                {
                    flow.uses.push_back({r, draw()});
                }
                flows.emplace(system.Add(flow.weight, flow.limit, flow.uses), flow);
            }
            if (random() % 2 == 0)
            {
                system.Solve();
                ExpectSolved(system, flows, resources);
            }
        }
    }
}

TEST(MaxMin, RatesDependOnWhoIsThereOnly)
{
    // The same flows, some of them after others that have gone again.
    std::mt19937 random(2);
    std::uniform_real_distribution<double> some(0.1, 3.0);
    for (uint32_t round = 0; round < 200; round++)
    {
        MaxMin direct(6);
        MaxMin detour(6);
        std::vector<std::pair<MaxMin::Flow, MaxMin::Flow>> same;
        for (uint32_t i = 0; i < 20; i++)
        {
            const std::vector<MaxMin::Use> uses = {
                {static_cast<uint32_t>(random() % 3), some(random)},
                {3 + static_cast<uint32_t>(random() % 3), some(random)}};
            const double weight = some(random);
            const auto other = detour.Add(some(random), kNoLimit, {{i % 6, some(random)}});
            detour.Solve();
            same.emplace_back(direct.Add(weight, 1, uses), detour.Add(weight, 1, uses));
            detour.Solve();
            detour.Remove(other);
        }
        direct.Solve();
        detour.Solve();
        for (const auto& [a, b] : same)
        {
            EXPECT_NEAR(direct.Rate(a), detour.Rate(b), 1e-12 * direct.Rate(a));
        }
    }
}

TEST(MaxMin, TellsWhoseRateHasChanged)
{
    MaxMin system(2);
    const auto one = system.Add(1, kNoLimit, {{0, 1}});
    system.Add(1, kNoLimit, {{1, 1}});
    system.Solve();
    system.Changed().clear();
    const auto three = system.Add(1, kNoLimit, {{0, 1}});
    system.Solve();
    EXPECT_EQ(system.Changed(), (std::vector<MaxMin::Flow>{one, three}));
}

} // namespace
} // namespace scaleacross
