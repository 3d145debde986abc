// SPDX-License-Identifier: GPL-2.0-only

// What packets know of one plan's operations corrects rung 2 for other plans on the same network.

#include "../../draws.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/corrected-engine.h"
#include "drawn-networks.h"
#include "helper/engine/packet-engine.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

namespace
{

RunReport
ReportOf(const Engine& engine, const Scenario& scenario, const RunOptions& options = {})
{
    return std::get<RunReport>(engine.Run(scenario, options));
}

/// Plans of other models and degrees on one cluster and network, that network's first.
std::vector<Scenario>
PlansOn(const Scenario& network, size_t count, std::mt19937& random)
{
    std::vector<Scenario> plans = {network};
    for (int tries = 0; tries < 400 && plans.size() < count; tries++)
    {
        Scenario other = volumes::DrawAny(random);
        other.cluster = network.cluster;
        other.network = network.network;
        other.events = network.events;
        try
        {
            other.Validate();
        }
        catch (const ConfigError&)
        {
            continue;
        }
        if (std::holds_alternative<PreparedRun>(PrepareRun(other)))
        {
            plans.push_back(std::move(other));
        }
    }
    return plans;
}

/// Factors of all operations of a plan, by one seed.
void
Calibrate(const Scenario& scenario, std::vector<CorrectionRow>& rows)
{
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    const std::vector<Operation> operations = OperationsOf(run, ClusterPaths(scenario.cluster));
    for (uint32_t i = 0; i < operations.size(); i++)
    {
        RunOptions options;
        options.slice = SliceSpec{i, 1};
        const Operation& operation = operations[i];
        const double launch =
            operation.IsMessage() ? 0.0 : run.graph.collectives[operation.collective].launch.S();
        const double packets = ReportOf(PacketEngine(), scenario, options).iterationTime.S();
        const double model = ReportOf(AnalyticalEngine(), scenario, options).iterationTime.S();
        const double factor = (packets - launch) / (model - launch);
        rows.push_back(
            {operation.kind, operation.levels, operation.bytes, {factor, factor, factor}});
    }
}

/// The analytical engine, corrected by rows.
CorrectedEngine
CorrectedBy(const std::vector<CorrectionRow>& rows)
{
    return CorrectedEngine("corrected", "", "", [rows](const Scenario&) {
        return Corrections(rows);
    });
}

/// Networks without losses, of which what one seed says is chance.
std::optional<Scenario>
DrawLossless(std::mt19937& random)
{
    std::optional<Scenario> network = volumes::DrawNetwork(random);
    return network && network->cluster.crossLinks.front().loss == 0 ? network : std::nullopt;
}

/// Times over that of packets.
struct Case
{
    double model{1};
    double corrected{1};
    bool covered{false}; //!< every operation
    std::string text;
};

void
Print(std::vector<Case> cases, double Case::*which, const std::string& name)
{
    std::sort(cases.begin(), cases.end(), [which](const Case& a, const Case& b) {
        return std::abs(a.*which - 1) < std::abs(b.*which - 1);
    });
    const auto at = [&](double share) {
        return 100 * std::abs(cases[static_cast<size_t>(share * (cases.size() - 1))].*which - 1);
    };
    std::cout << name << ": " << cases.size() << " plans, half within " << at(0.5)
              << " %, 95 of 100 within " << at(0.95) << " %; worst " << cases.back().*which << ": "
              << cases.back().text << '\n';
}

double
MedianError(const std::vector<Case>& cases, double Case::*which)
{
    std::vector<double> errors;
    for (const Case& one : cases)
    {
        errors.push_back(std::abs(one.*which - 1));
    }
    std::sort(errors.begin(), errors.end());
    return errors[(errors.size() - 1) / 2];
}

} // namespace

TEST(CorrectionAgreement, ASliceTakesWhatPacketsTookForIt)
{
    // The loop is closed: measured, corrected and run again, an operation takes what packets took,
    // but for those that are shorter than ports allow, which is said.
    std::mt19937 random(20261128);
    const size_t networks = Draws(4);
    size_t operations = 0;
    size_t missed = 0;
    for (size_t count = 0; count < networks;)
    {
        const std::optional<Scenario> network = DrawLossless(random);
        if (!network)
        {
            continue;
        }
        count++;
        std::vector<CorrectionRow> rows;
        Calibrate(*network, rows);
        const CorrectedEngine engine = CorrectedBy(rows);
        for (uint32_t i = 0; i < rows.size(); i++)
        {
            RunOptions options;
            options.slice = SliceSpec{i, 1};
            const double packets = ReportOf(PacketEngine(), *network, options).iterationTime.S();
            const RunReport corrected = ReportOf(engine, *network, options);
            operations++;
            missed += std::abs(rows[i].factor.value - 1) > 0.01 ? 1 : 0;
            if (corrected.correction->unreached.empty())
            {
                EXPECT_NEAR(corrected.iterationTime.S() / packets, 1, 1e-6)
                    << ToString(rows[i].kind) << " by " << rows[i].factor.value << ": "
                    << volumes::NetworkText(*network);
            }
            else
            {
                EXPECT_LT(rows[i].factor.value, 1);
                EXPECT_GT(corrected.iterationTime.S(), packets);
            }
        }
    }
    std::cout << operations << " operations, of " << missed << " the model is more than 1 % off\n";
    EXPECT_GT(missed, 0U);
}

/// Whether every iteration takes as long as the first that is measured. Where none does, any time
/// that changes at all is followed by others.
bool
IsSteady(const Scenario& scenario, double first)
{
    const auto timeAfter = [&scenario](uint32_t warmup) {
        RunOptions options;
        options.warmup = warmup;
        return ReportOf(AnalyticalEngine(), scenario, options).iterationTime.S();
    };
    return std::abs(timeAfter(2) / first - 1) < 1e-6 && std::abs(timeAfter(3) / first - 1) < 1e-6;
}

TEST(CorrectionAgreement, FactorsNextToOneChangeNextToNothing)
{
    std::mt19937 random(20261129);
    const size_t plans = Draws(100);
    double most = 0;
    size_t unsteady = 0;
    for (size_t count = 0; count < plans;)
    {
        const std::optional<Scenario> plan = volumes::DrawNetwork(random);
        // That schedule makes its order from times: another millionth may be another order.
        if (!plan || plan->Job().plan.schedule == Schedule("latency-aware"))
        {
            continue;
        }
        count++;
        const PreparedRun run = std::get<PreparedRun>(PrepareRun(*plan));
        const auto operations = OperationsOf(run, ClusterPaths(plan->cluster));
        const auto timeBy = [&](double factor) {
            std::vector<CorrectionRow> rows;
            for (const Operation& operation : operations)
            {
                rows.push_back(
                    {operation.kind, operation.levels, operation.bytes, {factor, factor, factor}});
            }
            return ReportOf(CorrectedBy(rows), *plan).iterationTime.S();
        };
        const double plain = ReportOf(AnalyticalEngine(), *plan).iterationTime.S();
        EXPECT_EQ(timeBy(1), plain) << volumes::NetworkText(*plan);
        if (!IsSteady(*plan, plain))
        {
            unsteady++;
            continue;
        }
        const double next = timeBy(1 + 1e-6) / plain - 1;
        EXPECT_LT(std::abs(next), 1e-5) << volumes::NetworkText(*plan);
        most = std::max(most, std::abs(next));
        double before = plain;
        for (const double factor : {1.01, 1.1, 1.5})
        {
            const double now = timeBy(factor);
            EXPECT_GE(now, before * (1 - 1e-6)) << factor << ": " << volumes::NetworkText(*plan);
            before = now;
        }
    }
    std::cout << "a factor of 1 + 1e-6 changes " << plans - unsteady << " steady plans by up to "
              << most << '\n';
    EXPECT_LE(unsteady, plans / 10);
}

TEST(CorrectionAgreement, OtherPlansComeNearerToPackets)
{
    // On each network two plans are measured, and two others run. Losses are left out: what one
    // seed of a lossy slice says is chance.
    constexpr size_t kMeasured = 2;
    constexpr size_t kOthers = 2;
    std::mt19937 random(20261127);
    std::vector<Case> all;
    std::vector<Case> covered;
    const size_t networks = Draws(2);
    for (size_t count = 0; count < networks;)
    {
        const std::optional<Scenario> network = DrawLossless(random);
        if (!network)
        {
            continue;
        }
        const std::vector<Scenario> plans = PlansOn(*network, kMeasured + kOthers, random);
        if (plans.size() < kMeasured + kOthers)
        {
            continue;
        }
        count++;
        std::vector<CorrectionRow> rows;
        for (size_t i = 0; i < kMeasured; i++)
        {
            Calibrate(plans[i], rows);
        }
        const CorrectedEngine engine = CorrectedBy(rows);
        for (size_t i = kMeasured; i < plans.size(); i++)
        {
            const double packets = ReportOf(PacketEngine(), plans[i]).iterationTime.S();
            const RunReport corrected = ReportOf(engine, plans[i]);
            Case one;
            one.model = ReportOf(AnalyticalEngine(), plans[i]).iterationTime.S() / packets;
            one.corrected = corrected.iterationTime.S() / packets;
            one.covered = corrected.correction->missing.empty();
            one.text = volumes::NetworkText(plans[i]);
            all.push_back(one);
            if (one.covered)
            {
                covered.push_back(one);
            }
        }
    }
    Print(all, &Case::model, "all, analytical");
    Print(all, &Case::corrected, "all, corrected");
    if (!covered.empty())
    {
        Print(covered, &Case::model, "covered, analytical");
        Print(covered, &Case::corrected, "covered, corrected");
    }
    EXPECT_LE(MedianError(all, &Case::corrected), 0.05);
    EXPECT_LT(MedianError(all, &Case::corrected), MedianError(all, &Case::model))
        << "they are of use";
}

} // namespace scaleacross
