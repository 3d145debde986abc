// SPDX-License-Identifier: GPL-2.0-only

// How fast the ns-3 packet model is: data packet-hops per CPU second, the measure in which packet
// simulators of RDMA are compared. Every data packet has its ACK unless the name says otherwise;
// ACKs and pauses cost time but do not count.
//
//   bench-packet-model --benchmark_filter='Permutation/16'

#include "ns3/fabric-balance.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/object-factory.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <benchmark/benchmark.h>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint64_t kMiB = 1 << 20;

void
UseHpccSizes(FabricHelper& fabric)
{
    fabric.SetNicAttribute("Mtu", UintegerValue(1000));
    fabric.SetNicAttribute("FixedOverhead", UintegerValue(48));
    fabric.SetNicAttribute("AckSize", UintegerValue(64));
}

/// `leaves` leaves with `leaves` hosts each and as many spines; all wires 100 Gb/s and 1 us.
void
BuildLeafSpine(FabricHelper& fabric, uint32_t leaves)
{
    const DataRate rate("100Gbps");
    std::vector<Ptr<FabricSwitch>> leaf;
    for (uint32_t i = 0; i < leaves; ++i)
    {
        leaf.push_back(fabric.AddSwitch());
        for (uint32_t j = 0; j < leaves; ++j)
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()), leaf[i], rate, MicroSeconds(1));
        }
    }
    for (uint32_t i = 0; i < leaves; ++i)
    {
        Ptr<FabricSwitch> spine = fabric.AddSwitch();
        for (uint32_t j = 0; j < leaves; ++j)
        {
            fabric.Connect(leaf[j], spine, rate, MicroSeconds(1));
        }
    }
    fabric.InstallRoutes();
}

/// A permutation in which everyone sends to another leaf: random, then repaired by exchanges.
std::vector<uint32_t>
Permutation(uint32_t leaves)
{
    const uint32_t n = leaves * leaves;
    std::mt19937 random(1);
    std::vector<uint32_t> to(n);
    for (uint32_t i = 0; i < n; ++i)
    {
        to[i] = i;
        std::swap(to[i], to[random() % (i + 1)]);
    }
    auto inside = [leaves](uint32_t a, uint32_t b) { return a / leaves == b / leaves; };
    for (uint32_t i = 0; i < n; ++i)
    {
        while (inside(i, to[i]))
        {
            uint32_t other = random() % n;
            if (!inside(i, to[other]) && !inside(other, to[i]))
            {
                std::swap(to[i], to[other]);
            }
        }
    }
    return to;
}

/// Runs what has been built and counts data packets that arrived, times `hops`.
uint64_t
RunAndCount(const FabricHelper& fabric, uint64_t hops)
{
    Simulator::Run();
    CheckConservation(fabric);
    uint64_t packets = 0;
    for (const auto& nic : fabric.Nics())
    {
        packets += nic->GetDataReceived();
    }
    return packets * hops;
}

void
Use(const std::string& scheduler)
{
    static const bool picoseconds = (Time::SetResolution(Time::PS), true);
    benchmark::DoNotOptimize(picoseconds);
    Simulator::SetScheduler(ObjectFactory("ns3::" + scheduler));
}

void
Report(benchmark::State& state, uint64_t hops, uint64_t events)
{
    state.counters["hops"] =
        benchmark::Counter(static_cast<double>(hops), benchmark::Counter::kIsRate);
    state.counters["events_per_hop"] =
        benchmark::Counter(static_cast<double>(events) / static_cast<double>(hops));
}

/// 8 x 8 leaf-spine, 64 hosts, every host sends range(0) MiB over four wires.
void
RunPermutation(benchmark::State& state, const std::string& scheduler, uint32_t ackInterval)
{
    uint64_t hops = 0;
    uint64_t events = 0;
    for (auto _ : state)
    {
        Use(scheduler);
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(ackInterval));
        BuildLeafSpine(fabric, 8);
        std::vector<uint32_t> to = Permutation(8);
        for (uint32_t i = 0; i < to.size(); ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[to[i]]);
            connection->Send(scaleacross::Bytes(static_cast<uint64_t>(state.range(0)) * kMiB), i);
        }
        hops += RunAndCount(fabric, 4);
        events += Simulator::GetEventCount();
        Simulator::Destroy();
    }
    Report(state, hops, events);
}

void
PermutationMap(benchmark::State& state)
{
    RunPermutation(state, "MapScheduler", 1);
}

void
PermutationQuadHeap(benchmark::State& state)
{
    RunPermutation(state, "QuadHeapScheduler", 1);
}

void
PermutationAckPerFour(benchmark::State& state)
{
    RunPermutation(state, "QuadHeapScheduler", 4);
}

/// 16 hosts send range(0) MiB each to one, with PFC.
void
Incast(benchmark::State& state)
{
    uint64_t hops = 0;
    uint64_t events = 0;
    for (auto _ : state)
    {
        Use("QuadHeapScheduler");
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(8 * kMiB));
        Ptr<FabricSwitch> centre = fabric.AddSwitch();
        for (uint32_t i = 0; i < 17; ++i)
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           centre,
                           DataRate("100Gbps"),
                           MicroSeconds(1));
        }
        fabric.InstallRoutes();
        for (uint32_t i = 0; i < 16; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[16]);
            connection->Send(scaleacross::Bytes(static_cast<uint64_t>(state.range(0)) * kMiB), i);
        }
        hops += RunAndCount(fabric, 2);
        events += Simulator::GetEventCount();
        Simulator::Destroy();
    }
    Report(state, hops, events);
}

/// One flow of range(0) MiB at 400 Gb/s over 1 ms: 12,000 packets are under way at a time.
void
LongHaul(benchmark::State& state)
{
    uint64_t hops = 0;
    uint64_t events = 0;
    for (auto _ : state)
    {
        Use("QuadHeapScheduler");
        FabricHelper fabric;
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(1024 * kMiB));
        Ptr<FabricSwitch> a = fabric.AddSwitch();
        Ptr<FabricSwitch> b = fabric.AddSwitch();
        Ptr<RdmaNic> from = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> to = fabric.AddNic(fabric.AddHost());
        fabric.Connect(from, a, DataRate("400Gbps"), MicroSeconds(1));
        fabric.Connect(a, b, DataRate("400Gbps"), MilliSeconds(1));
        fabric.Connect(to, b, DataRate("400Gbps"), MicroSeconds(1));
        fabric.InstallRoutes();
        auto connection = fabric.CreateConnection(from, to);
        connection->Send(scaleacross::Bytes(static_cast<uint64_t>(state.range(0)) * kMiB), 0);
        hops += RunAndCount(fabric, 3);
        events += Simulator::GetEventCount();
        Simulator::Destroy();
    }
    Report(state, hops, events);
}

BENCHMARK(PermutationMap)->Arg(2)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(PermutationQuadHeap)->Arg(2)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(PermutationAckPerFour)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(Incast)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(LongHaul)->Arg(1024)->Unit(benchmark::kMillisecond);

} // namespace
