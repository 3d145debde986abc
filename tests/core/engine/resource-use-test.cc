// SPDX-License-Identifier: GPL-2.0-only

#include "../hand-written-ops.h"
#include "core/engine/resource-report.h"
#include "core/engine/resource-use.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

constexpr uint32_t kTensor = 0;
constexpr uint32_t kExpert = 1;
constexpr uint32_t kData = 2;

/// A class of two ranks that runs one body per iteration, and three collectives of one phase.
struct Setting
{
    TaskGraph graph;
    TransferTimes times;
    std::map<uint64_t, TransferCost> costs; //!< by bytes of the phase: 1, 2 and 3

    explicit Setting(const std::vector<Op>& body)
    {
        graph.ranks = graph.blockRanks = 2;
        graph.classOf = {0};
        graph.handles = kStreams;
        graph.messages = 1;
        RankClass both;
        both.ranks = 2;
        Op run;
        run.kind = OpKind::Run;
        both.program.ops = {run};
        graph.classes = {both};
        graph.bodies = {Program{body}};
        for (const CommClass comm : {CommClass::Tensor, CommClass::Expert, CommClass::Data})
        {
            Collective collective;
            collective.comm = comm;
            const Bytes bytes(graph.collectives.size() + 1);
            collective.phases = {{Pattern::RingAllGather, RankGroup({{1, 2}}), bytes}};
            graph.collectives.push_back(collective);
        }
        times.cuts = 1;
        times.phase = [this](const Phase& phase, Rank, const std::vector<RankCount>&) {
            return costs[phase.bytes.Count()];
        };
        times.message = [](Bytes, Rank, Rank, uint32_t) {
            TransferCost cost;
            cost.On(Port::NicOut) = 1e-3;
            return cost;
        };
        times.shared = [](const CutUse& use, double) { return use.seconds; };
    }

    TransferCost& Of(uint32_t collective)
    {
        return costs[collective + 1];
    }

    /// Takes so long of the cut, of which `flows` have a part.
    static CutUse OnCut(double seconds, double flows)
    {
        CutUse use;
        use.seconds = use.demand = use.wire = seconds;
        use.flows = flows;
        return use;
    }

    /// Whether a port of the class can hold anything back; Ports(): the cut.
    bool IsNeeded(uint32_t resource)
    {
        ClassCosts classCosts(graph, times);
        return ResourceUse(graph, classCosts).IsNeeded(resource);
    }

    ResourceUse::Step Step()
    {
        ClassCosts classCosts(graph, times);
        return ResourceUse(graph, classCosts).StepOf(0, 0);
    }

    void Add(const Op& op)
    {
        graph.classes[0].program.ops.push_back(op);
    }
};

const uint32_t g_nicOut = ResourceUse::OfPort(0, Port::NicOut);
const uint32_t g_nicIn = ResourceUse::OfPort(0, Port::NicIn);
const uint32_t g_cut = kPorts; //!< behind the ports of the only class

/// A layer that computes, and waits for an exchange of its experts.
std::vector<Op>
Layer()
{
    return {Compute(1), Post(Stream::Expert, kExpert), Await(Stream::Expert)};
}

Op
SendToOther()
{
    Op send;
    send.kind = OpKind::Send;
    send.peer = 1;
    send.bytes = Bytes(1);
    return send;
}

} // namespace

TEST(ResourceUse, WhatIsAloneOnAPortIsNotHeldBackByIt)
{
    Setting setting(Layer());
    setting.Of(kExpert).On(Port::NicOut) = 1e-3;
    EXPECT_FALSE(setting.IsNeeded(g_nicOut));
    EXPECT_FALSE(setting.IsNeeded(g_nicIn)); // nothing is on it
    // A gather beside it may be under way at the same time, and they share the port.
    setting.Add(Post(Stream::Gather, kData));
    setting.Of(kData).On(Port::NicOut) = 1e-3;
    EXPECT_TRUE(setting.IsNeeded(g_nicOut));
}

TEST(ResourceUse, OfTwoThatAreUsedAlikeOneIsEnough)
{
    Setting setting(Layer());
    setting.Add(Post(Stream::Gather, kData));
    for (const uint32_t collective : {kExpert, kData})
    {
        setting.Of(collective).On(Port::NicOut) = 1e-3;
        setting.Of(collective).On(Port::NicIn) = 1e-3;
    }
    EXPECT_NE(setting.IsNeeded(g_nicOut), setting.IsNeeded(g_nicIn));
    // Where one receives twice as much as it sends, the NIC's way in is the one that counts.
    setting.Of(kData).On(Port::NicIn) = 2e-3;
    EXPECT_FALSE(setting.IsNeeded(g_nicOut));
    EXPECT_TRUE(setting.IsNeeded(g_nicIn));
}

TEST(ResourceUse, ACutCountsIfItMayBeFull)
{
    // All that the class has under way comes through its NIC. For every second of it the cut needs
    // half a second, so that it is never full.
    Setting setting(Layer());
    setting.Add(Post(Stream::Gather, kData));
    for (const uint32_t collective : {kExpert, kData})
    {
        setting.Of(collective).On(Port::NicOut) = 1e-3;
        setting.Of(collective).cuts = {Setting::OnCut(0.5e-3, 2)};
    }
    EXPECT_FALSE(setting.IsNeeded(g_cut));
    // One that the cut holds back when it is alone.
    setting.Of(kData).cuts = {Setting::OnCut(1.5e-3, 2)};
    EXPECT_TRUE(setting.IsNeeded(g_cut));
}

TEST(ResourceUse, ABodyAloneIsTakenInOneStep)
{
    Setting setting(Layer());
    setting.Of(kExpert).On(Port::NicOut) = 1e-3;
    EXPECT_EQ(setting.Step(), ResourceUse::Step::Always);
    // Collectives that are queued take a share of its computing.
    setting.graph.classes[0].collectiveShare.usual = 0.1;
    EXPECT_EQ(setting.Step(), ResourceUse::Step::WhileIdle);
}

TEST(ResourceUse, ABodyBesideGathersIsTakenInOneStepWhileThereAreNone)
{
    Setting setting(Layer());
    setting.Of(kExpert).On(Port::NicOut) = 1e-3;
    setting.Add(Post(Stream::Gather, kData));
    setting.Of(kData).On(Port::ScaleUpOut) = 1e-3;
    EXPECT_EQ(setting.Step(), ResourceUse::Step::Always);
    setting.Of(kData).On(Port::NicOut) = 1e-3;
    EXPECT_EQ(setting.Step(), ResourceUse::Step::WhileIdle);
    // A cut is one more thing that they share.
    setting.Of(kExpert).cuts = {Setting::OnCut(0.5e-3, 2)};
    setting.Of(kData).cuts = {Setting::OnCut(0.5e-3, 2)};
    EXPECT_EQ(setting.Step(), ResourceUse::Step::WhileIdle);
}

TEST(ResourceUse, ABodyBesideMessagesIsWalked)
{
    Setting setting(Layer());
    setting.Of(kExpert).On(Port::NicOut) = 1e-3;
    setting.Add(SendToOther());
    EXPECT_EQ(setting.Step(), ResourceUse::Step::Never);
    // Not where the messages have the NIC and the body NVLink.
    setting.costs.clear();
    setting.Of(kExpert).On(Port::ScaleUpOut) = 1e-3;
    EXPECT_EQ(setting.Step(), ResourceUse::Step::Always);
}

TEST(ResourceUse, ABodyThatPostsAGatherIsWalked)
{
    std::vector<Op> body = Layer();
    body.push_back(Post(Stream::Gather, kData));
    Setting setting(body);
    setting.Of(kExpert).On(Port::ScaleUpOut) = 1e-3;
    setting.Of(kData).On(Port::NicOut) = 1e-3;
    EXPECT_EQ(setting.Step(), ResourceUse::Step::Never);
}

TEST(ResourceReport, SaysWhatCarriedMoreThanItCan)
{
    // 1 Gb/s carries 125,000 B in a millisecond.
    RunReport report;
    report.iterationTime = Ms(1);
    for (const auto& [name, bytes] :
         std::vector<std::pair<std::string, uint64_t>>{{"a", 125'000}, {"b", 62'500}})
    {
        ResourceReport resource;
        resource.name = name;
        resource.bytes = Bytes(bytes);
        resource.capacity = GigabitsPerSecond(1);
        report.resources.push_back(resource);
    }
    EXPECT_FALSE(FillBusy(report));
    EXPECT_DOUBLE_EQ(report.resources[0].busy, 1.0);
    EXPECT_DOUBLE_EQ(report.resources[1].busy, 0.5);
    report.resources[0].bytes = Bytes(250'000);
    report.resources[1].bytes = Bytes(375'000);
    const auto said = FillBusy(report);
    ASSERT_TRUE(said);
    EXPECT_EQ(*said,
              "b carried " + ToString(Bytes(375'000)) +
                  " in an iteration of 1 ms; its capacity of " + ToString(GigabitsPerSecond(1)) +
                  " needs 3 ms for that");
    EXPECT_DOUBLE_EQ(report.resources[0].busy, 2.0); // filled in behind it, too
}

} // namespace scaleacross
