// SPDX-License-Identifier: GPL-2.0-only

#include "../../draws.h"
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

/// Progressive filling of all flows from nothing, one after the other: rates by flow.
std::map<MaxMin::Flow, double>
FilledFromNothing(const std::map<MaxMin::Flow, Given>& flows, const std::vector<double>& capacities)
{
    std::map<MaxMin::Flow, double> rates;
    while (rates.size() < flows.size())
    {
        // The lowest level at which somebody is stopped, and by what.
        double level = std::numeric_limits<double>::infinity();
        for (const auto& [id, flow] : flows)
        {
            level = rates.count(id) == 0 ? std::min(level, flow.limit / flow.weight) : level;
        }
        std::vector<double> full(capacities.size(), std::numeric_limits<double>::infinity());
        for (size_t r = 0; r < capacities.size(); r++)
        {
            double left = capacities[r];
            double weight = 0;
            for (const auto& [id, flow] : flows)
            {
                for (const MaxMin::Use& use : flow.uses)
                {
                    if (use.resource == r && rates.count(id) == 1)
                    {
                        left -= use.demand * rates[id];
                    }
                    else if (use.resource == r)
                    {
                        weight += use.demand * flow.weight;
                    }
                }
            }
            if (weight > 0)
            {
                full[r] = std::max(0.0, left) / weight;
                level = std::min(level, full[r]);
            }
        }
        std::vector<MaxMin::Flow> held;
        for (const auto& [id, flow] : flows)
        {
            bool stops = flow.limit / flow.weight <= level * (1 + 1e-12);
            for (const MaxMin::Use& use : flow.uses)
            {
                stops = stops || full[use.resource] <= level * (1 + 1e-12);
            }
            if (stops && rates.count(id) == 0)
            {
                held.push_back(id);
            }
        }
        for (const MaxMin::Flow id : held)
        {
            rates[id] = std::min(level * flows.at(id).weight, flows.at(id).limit);
        }
    }
    return rates;
}

TEST(MaxMin, RatesAreThoseOfAFillingOfAllFromNothing)
{
    // Random networks, of which each changes up to thirty times: flows come and go, and resources
    // give more or less.
    std::mt19937 random(20261126);
    const auto some = std::uniform_real_distribution<double>(0.1, 3.0);
    for (size_t network = 0; network < Draws(300); network++)
    {
        const uint32_t resources = 1 + random() % 12;
        const bool equal = random() % 2 == 0;
        auto any = some;
        const auto draw = [&] { return equal ? 1.0 : any(random); };
        MaxMin system(resources - 1);
        EXPECT_EQ(system.AddResource(), resources - 1);
        std::vector<double> capacities(resources, 1);
        std::map<MaxMin::Flow, Given> flows;
        const uint32_t changes = 1 + random() % 30;
        for (uint32_t change = 0; change < changes; change++)
        {
            const uint32_t kind = random() % 5;
            if (kind == 0 && !flows.empty())
            {
                const auto gone = std::next(flows.begin(), random() % flows.size());
                system.Remove(gone->first);
                flows.erase(gone);
            }
            else if (kind == 1)
            {
                const uint32_t r = random() % resources;
                capacities[r] = any(random) / 3;
                system.SetCapacity(r, capacities[r]);
            }
            else
            {
                Given flow;
                flow.weight = draw();
                flow.limit = random() % 3 == 0 ? 0.3 * draw() : 100;
                for (uint32_t r = 0; r < resources; r++)
                {
                    if (random() % 3 == 0)
                    {
                        flow.uses.push_back({r, draw()});
                    }
                }
                flows.emplace(system.Add(flow.weight, flow.limit, flow.uses), flow);
            }
            if (random() % 2 == 0)
            {
                system.Solve();
                for (const auto& [id, rate] : FilledFromNothing(flows, capacities))
                {
                    ASSERT_NEAR(system.Rate(id), rate, 1e-9 * rate)
                        << "network " << network << ", change " << change << ", flow " << id;
                }
            }
        }
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
