// SPDX-License-Identifier: GPL-2.0-only

// Bytes across the cut between buildings: what the packets of the packet engine carried over the
// spans, against closed forms.

#include "helper/engine/cluster-helper.h"
#include "plan-features.h"
#include "volume-census.h"
#include "volume-laws.h"
#include "volume-plans.h"

#include "ns3/config.h"
#include "ns3/fabric-packet.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/switch-port.h"
#include "ns3/training-application.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace scaleacross::volumes
{

namespace
{

/// Bytes of the credits that cross in an iteration: 64 for every message that does, where receives
/// are planned.
uint64_t
CreditsOnSpans(const Scenario& scenario)
{
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    uint64_t messages = 0;
    for (Rank rank = 0; rank < run.graph.ranks; rank++)
    {
        for (const Op& op : run.graph.classes[run.graph.ClassOf(rank)].program.ops)
        {
            const bool crosses = op.kind == OpKind::Receive &&
                                 run.layout.BuildingOf(rank) !=
                                     run.layout.BuildingOf(rank + static_cast<Rank>(op.peer));
            messages += crosses ? 1 : 0;
        }
    }
    return scenario.Job().workload.stack.receives == Receives("planned") ? 64 * messages : 0;
}

/// Slots that a message between buildings goes through.
uint64_t
SlotsOf(const SlotWindow& window, Bytes message)
{
    const uint64_t bytes = message.Count();
    const uint64_t piece =
        std::min((bytes + window.least - 1) / window.least, window.bytes.Count());
    return bytes == 0 ? 1 : (bytes + piece - 1) / piece;
}

/// Those of all messages that a rank sends to other buildings in a collective.
uint64_t
SlotsOf(const PreparedRun& run, const Collective& collective, Rank rank)
{
    uint64_t slots = 0;
    for (uint32_t c = 0; c < collective.chunks; c++)
    {
        for (const Phase& whole : collective.phases)
        {
            const Phase phase = ChunkOf(whole, c, collective.chunks);
            if (phase.slots.slots == 0)
            {
                continue;
            }
            const uint32_t index = phase.group.IndexOf(rank);
            const MemberFlows flows = FlowsOf(phase, index);
            for (uint32_t output = 0; output < kMostFlows; output++)
            {
                for (uint32_t number = 0; number < flows.outputs[output].messages; number++)
                {
                    const PhaseMessage message = MessageOf(phase, index, output, number);
                    const Rank to = phase.group.Member(rank, message.to);
                    slots += run.layout.BuildingOf(to) != run.layout.BuildingOf(rank)
                                 ? SlotsOf(phase.slots, message.bytes)
                                 : 0;
                }
            }
        }
    }
    return slots;
}

uint64_t
SlotsOf(const PreparedRun& run, const std::vector<Op>& ops, Rank rank)
{
    uint64_t slots = 0;
    for (const Op& op : ops)
    {
        slots += op.kind == OpKind::Run ? SlotsOf(run, run.graph.bodies[op.index].ops, rank)
                 : op.kind == OpKind::Collective
                     ? SlotsOf(run, run.graph.collectives[op.index], rank)
                     : 0;
    }
    return slots;
}

/// Bytes that say slots of a library are free again: 32 for every slot between buildings.
uint64_t
FreedSlotsOnSpans(const Scenario& scenario)
{
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    uint64_t slots = 0;
    for (Rank rank = 0; rank < run.graph.ranks; rank++)
    {
        const Program& program = run.graph.classes[run.graph.ClassOf(rank)].program;
        slots += SlotsOf(run, program.ops, rank);
    }
    return 32 * slots;
}

/// Payload that data packets carry over the spans in `iterations` of a job, on the packet engine.
uint64_t
CountOnSpans(const Scenario& scenario, uint32_t iterations)
{
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    ns3::ClusterHelper cluster(scenario);
    cluster.AssignStreams(0);
    uint64_t payload = 0;
    const auto count =
        ns3::Callback<void, const FabricPacket&>([&payload](const FabricPacket& packet) {
            payload += packet.kind == PacketKind::Data ? packet.payload : 0;
        });
    const FabricGraph& graph = cluster.GetGraph();
    std::set<ns3::Ptr<ns3::FabricWire>> spans;
    for (uint32_t link = 0; link < graph.links.size(); link++)
    {
        if (graph.links[link].kind == LinkKind::Cross)
        {
            spans.insert(cluster.GetWire(link));
        }
    }
    for (const auto& fabricSwitch : cluster.GetFabric().Switches())
    {
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); i++)
        {
            const auto port = fabricSwitch->GetPort(i);
            if (spans.count(port->GetWire()) > 0)
            {
                port->TraceConnectWithoutContext("Transmit", count);
            }
        }
    }
    std::vector<ns3::Ptr<ns3::TrainingApplication>> ranks;
    for (Rank rank = 0; rank < run.graph.ranks; rank++)
    {
        auto application = ns3::CreateObject<ns3::TrainingApplication>();
        application->SetRank(&run.graph, rank, cluster.GetTransport());
        application->SetIterations(iterations);
        cluster.GetNode(rank)->AddApplication(application);
        ranks.push_back(application);
    }
    ns3::Simulator::Run();
    for (const auto& application : ranks)
    {
        EXPECT_EQ(application->DescribeWait(), "nothing");
    }
    ns3::Simulator::Destroy();
    ns3::Config::Reset();
    return payload;
}

} // namespace

TEST(VolumeLaws, SpansCarryWhatTheClosedFormsSay)
{
    const auto plans = Plans(400, 16);
    ASSERT_EQ(plans.size(), 400U);
    size_t counted = 0;
    for (size_t i = 0; i < plans.size(); i += 40)
    {
        const Scenario& scenario = plans[i];
        const uint64_t expected = Law(scenario).CrossingBytes();
        EXPECT_EQ(CountOnSpans(scenario, 2), 2 * expected) << TextOf(scenario);
        counted++;
    }
    EXPECT_EQ(counted, 10U);
}

TEST(VolumeLaws, SpansCarryTheCensusWhateverCrosses)
{
    // The first plans with each feature.
    const auto features = AllFeatures();
    std::set<std::string> missing(features.begin(), features.end());
    for (const Scenario& scenario : Plans(2000, 16, DrawAny))
    {
        size_t news = 0;
        for (const std::string& feature : FeaturesOf(scenario))
        {
            news += missing.erase(feature);
        }
        if (news > 0)
        {
            const auto crossing = Census(scenario).CrossingBytes();
            const auto expected = std::accumulate(crossing.begin(), crossing.end(), uint64_t{0});
            EXPECT_EQ(CountOnSpans(scenario, 1),
                      expected + CreditsOnSpans(scenario) + FreedSlotsOnSpans(scenario))
                << TextOf(scenario);
        }
    }
    EXPECT_TRUE(missing.empty()) << *missing.begin();
}

} // namespace scaleacross::volumes
