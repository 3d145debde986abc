// SPDX-License-Identifier: GPL-2.0-only

// The flow engine beside packets and rung 2, over plans that are drawn from everything that changes
// what is sent: bytes of every class are equal, and times as near as engines.md says.

#include "../../draws.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "drawn-networks.h"
#include "helper/engine/packet-engine.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

/// Times over that of packets.
struct Compared
{
    double flow{1};
    double sampled{1};
    double analytical{1};
    std::string plan;
};

RunReport
ReportOf(const Engine& engine, const Scenario& scenario)
{
    return std::get<RunReport>(engine.Run(scenario, RunOptions()));
}

Compared
Compare(const Scenario& scenario)
{
    const RunReport packet = ReportOf(PacketEngine(), scenario);
    const RunReport flow = ReportOf(FlowEngine(Collisions::Expected), scenario);
    const RunReport sampled = ReportOf(FlowEngine(Collisions::Sampled), scenario);
    const RunReport rung2 = ReportOf(AnalyticalEngine(), scenario);
    const std::string plan = volumes::TextOf(scenario);
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        EXPECT_EQ(flow.classes[k].bytes, packet.classes[k].bytes) << plan;
        EXPECT_EQ(flow.classes[k].crossBytes, packet.classes[k].crossBytes) << plan;
    }
    const double time = packet.iterationTime.S();
    return {flow.iterationTime.S() / time,
            sampled.iterationTime.S() / time,
            rung2.iterationTime.S() / time,
            plan};
}

/// The difference that so large a share of the plans does not exceed.
double
Quantile(const std::vector<Compared>& all, double Compared::*which, double share)
{
    std::vector<double> errors;
    for (const Compared& one : all)
    {
        errors.push_back(std::abs(one.*which - 1));
    }
    std::sort(errors.begin(), errors.end());
    return errors[static_cast<size_t>(share * (errors.size() - 1))];
}

void
Print(const std::vector<Compared>& all, double Compared::*which, const char* name)
{
    const auto [least, most] =
        std::minmax_element(all.begin(), all.end(), [&](const Compared& a, const Compared& b) {
            return a.*which < b.*which;
        });
    std::cout << name << ": " << all.size() << " plans, half within "
              << 100 * Quantile(all, which, 0.5) << " %, 95 of 100 within "
              << 100 * Quantile(all, which, 0.95) << " %; least " << (*least).*which << ": "
              << least->plan << "; most " << (*most).*which << ": " << most->plan << '\n';
}

} // namespace

class FlowAgreementOfPlans : public testing::TestWithParam<uint32_t>
{
};

INSTANTIATE_TEST_SUITE_P(FlowAgreement, FlowAgreementOfPlans, testing::Values(1, 16));

TEST_P(FlowAgreementOfPlans, AreAsNearToPacketsAsThePageSays)
{
    std::vector<Compared> all;
    for (Scenario& scenario : volumes::Plans(Draws(15), 32, volumes::DrawAny))
    {
        scenario.network.qps = GetParam();
        all.push_back(Compare(scenario));
    }
    Print(all, &Compared::flow, "flow");
    Print(all, &Compared::sampled, "sampled");
    Print(all, &Compared::analytical, "analytical");
    EXPECT_LE(Quantile(all, &Compared::flow, 0.5), 0.05);
    EXPECT_LE(Quantile(all, &Compared::flow, 0.95), 0.15);
}

TEST(FlowAgreement, DrawnNetworksAreAsNearToPacketsAsThePageSays)
{
    // Losses and trimmed packets cost timeouts and repetitions that depend on single packets;
    // credits over long spans go their own way. So each kind is told apart, and one is held.
    std::mt19937 random(20261126);
    std::map<std::string, std::vector<Compared>> kinds;
    const size_t most = Draws(6);
    for (size_t count = 0; count < most;)
    {
        const std::optional<Scenario> scenario = volumes::DrawNetwork(random);
        if (!scenario)
        {
            continue;
        }
        count++;
        Compared one;
        try
        {
            one = Compare(*scenario);
        }
        catch (const RunError& error)
        {
            // Only where packets give up; a flow always gets through.
            EXPECT_GT(scenario->cluster.crossLinks.front().loss, 0) << error.what();
            continue;
        }
        one.plan = volumes::NetworkText(*scenario);
        const bool lossy = scenario->cluster.crossLinks.front().loss > 0;
        kinds[lossy ? "with losses" : scenario->network.transport->word].push_back(one);
    }
    for (const auto& [kind, all] : kinds)
    {
        Print(all, &Compared::flow, (kind + ", flow").c_str());
        Print(all, &Compared::sampled, (kind + ", flow:sampled").c_str());
        Print(all, &Compared::analytical, (kind + ", analytical").c_str());
    }
    const std::vector<Compared>& roce = kinds["roce"];
    if (roce.size() >= 5)
    {
        EXPECT_LE(Quantile(roce, &Compared::flow, 0.5), 0.05);
        EXPECT_LE(Quantile(roce, &Compared::sampled, 0.5), 0.05);
    }
}

} // namespace scaleacross
