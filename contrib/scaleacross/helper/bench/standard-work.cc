// SPDX-License-Identifier: GPL-2.0-only

#include "standard-work.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include "ns3/fabric-control.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-multipath.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-transport.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

namespace
{

/// Everyone to the host half of all hosts further on.
void
ShiftByHalf(StandardWork& work, uint32_t hosts)
{
    for (uint32_t i = 0; i < hosts; ++i)
    {
        work.flows.emplace_back(i, (i + hosts / 2) % hosts);
    }
}

StandardWork
Permutation(const std::string& name, uint32_t hosts)
{
    const uint32_t k = static_cast<uint32_t>(std::lround(std::sqrt(hosts)));
    if (k * k != hosts || k % 2 != 0)
    {
        throw ConfigError(name + ": hosts",
                          std::to_string(hosts) + " hosts are not k leaves of k hosts",
                          "the square of an even number, such as 16, 64, 256 or 1024",
                          "");
    }
    StandardWork work;
    work.leaves = k;
    work.hostsPerLeaf = k;
    work.spines = k;
    ShiftByHalf(work, hosts);
    return work;
}

StandardWork
Permutation400g(const std::string& name, uint32_t hosts)
{
    StandardWork work = Permutation(name, hosts);
    work.bitRate = 400'000'000'000;
    work.payload = 4096;
    return work;
}

StandardWork
Incast(const std::string& /* name */, uint32_t senders)
{
    StandardWork work;
    work.leaves = 1;
    work.hostsPerLeaf = senders + 1;
    work.spines = 0;
    for (uint32_t i = 0; i < senders; ++i)
    {
        work.flows.emplace_back(i, senders);
    }
    return work;
}

StandardWork
LongHaul(const std::string& name, uint32_t hosts)
{
    if (hosts % 16 != 0 || hosts == 0)
    {
        throw ConfigError(name + ": hosts",
                          std::to_string(hosts) + " hosts are not two buildings of leaves of 8",
                          "a multiple of 16",
                          "");
    }
    StandardWork work;
    work.buildings = 2;
    work.leaves = hosts / 16;
    work.spansPerSpine = work.leaves; // as much capacity between buildings as below the leaves
    work.spanDelay = Duration::Microseconds(1000);
    SetSpanDelay(work, work.spanDelay);
    work.size = Bytes(32ULL << 20);
    ShiftByHalf(work, hosts);
    return work;
}

/// Longer wires would need more headroom than a switch can have.
const Duration kLongestSpan = Duration::Microseconds(100'000);

/// More packets than one can overtake: nothing is lost where this is used.
constexpr uint64_t kAnyOrder = 1 << 22;

struct Maker
{
    const char* name;
    uint32_t hosts; //!< default
    StandardWork (*make)(const std::string& name, uint32_t hosts);
};

constexpr Maker kMakers[] = {{"permutation", 64, Permutation},
                             {"incast", 16, Incast},
                             {"permutation-400g", 64, Permutation400g},
                             {"long-haul", 64, LongHaul}};

/// Beyond this the fabric's ports no longer have 16-bit numbers.
constexpr uint32_t kMostHosts = 65000;

/// Serialisation time of bytes, exact.
Duration
OnWire(const StandardWork& work, uint64_t bytes)
{
    return Duration::Picoseconds(static_cast<int64_t>(bytes * (8'000'000'000'000 / work.bitRate)));
}

/// The last ACK is back, if the last wire has to carry `flows` flows.
Duration
Bound(const StandardWork& work, uint64_t flows)
{
    const uint64_t bytes = work.size.Count() + work.overhead * PacketsPerFlow(work);
    const uint64_t longest = std::min<uint64_t>(work.payload, work.size.Count()) + work.overhead;
    const int64_t wires = WiresPerFlow(work);
    Duration delays = work.delay * wires;
    if (work.buildings > 1)
    {
        delays = delays - work.delay + work.spanDelay;
    }
    return OnWire(work, flows * bytes) + OnWire(work, longest) * (wires - 1) + delays +
           OnWire(work, work.ackSize) * wires + delays;
}

} // namespace

const std::vector<std::string>&
StandardWorkNames()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const Maker& maker : kMakers)
        {
            all.emplace_back(maker.name);
        }
        return all;
    }();
    return names;
}

StandardWork
MakeStandardWork(const std::string& name, uint32_t hosts)
{
    for (const Maker& maker : kMakers)
    {
        if (name != maker.name)
        {
            continue;
        }
        if (hosts > kMostHosts)
        {
            throw ConfigError(name + ": hosts",
                              std::to_string(hosts) + " hosts are too many",
                              "up to " + std::to_string(kMostHosts),
                              "");
        }
        StandardWork work = maker.make(name, hosts == 0 ? maker.hosts : hosts);
        work.name = name;
        return work;
    }
    throw ConfigError(name, "there is no such work", AnyOf(StandardWorkNames()), "");
}

void
SetSpanDelay(StandardWork& work, Duration delay)
{
    if (work.buildings == 1)
    {
        throw ConfigError(work.name + ": span",
                          "there is one building only",
                          "",
                          "take a work of several buildings, such as long-haul");
    }
    if (delay <= Duration() || delay > kLongestSpan)
    {
        throw ConfigError(work.name + ": span",
                          ExactText(delay) + " is no delay of a wire between buildings",
                          "more than 0, up to " + ExactText(kLongestSpan),
                          "");
    }
    work.spanDelay = delay;
    // The headroom of a span of 1 ms is 2 * 1 ms * 12.5 GB/s = 25 MB.
    const Duration least = Duration::Microseconds(1000);
    const auto mebibytes = static_cast<uint64_t>(64 * std::max(delay, least).Ps() / least.Ps());
    work.spineBuffer = Bytes(mebibytes << 20) * work.spansPerSpine;
}

void
SetPaths(StandardWork& work, uint32_t paths)
{
    const uint32_t hosts = work.leaves * work.hostsPerLeaf;
    if (work.spines == 0 || work.buildings > 1 || paths == 0 || hosts % (2 * paths) != 0)
    {
        throw ConfigError(work.name + ": paths",
                          std::to_string(paths) + " paths, and " + std::to_string(hosts) + " hosts",
                          "a permutation, and a number of paths of which half the hosts are a "
                          "multiple",
                          "");
    }
    work.leaves = hosts / paths;
    work.hostsPerLeaf = paths;
    work.spines = paths;
}

uint32_t
WiresPerFlow(const StandardWork& work)
{
    return work.spines == 0 ? 2 : 3 + work.buildings;
}

uint64_t
PacketsPerFlow(const StandardWork& work)
{
    return (work.size.Count() + work.payload - 1) / work.payload;
}

uint64_t
DataPacketHops(const StandardWork& work)
{
    return work.flows.size() * PacketsPerFlow(work) * WiresPerFlow(work);
}

Duration
FlowBound(const StandardWork& work)
{
    return Bound(work, 1);
}

Duration
WorkBound(const StandardWork& work)
{
    std::vector<uint64_t> ending(work.buildings * work.leaves * work.hostsPerLeaf);
    for (const auto& [from, to] : work.flows)
    {
        ++ending.at(to);
    }
    return Bound(work, *std::max_element(ending.begin(), ending.end()));
}

void
BuildFabric(const StandardWork& work, ns3::FabricHelper& fabric)
{
    using ns3::FabricSwitch;
    using ns3::Ptr;
    using ns3::UintegerValue;

    ns3::UseTransport(fabric, work.transport);
    fabric.SetNicAttribute("PathMtu", UintegerValue(work.payload));
    fabric.SetNicAttribute("FixedOverhead", UintegerValue(work.overhead));
    fabric.SetNicAttribute("AckSize", UintegerValue(work.ackSize));
    fabric.SetQueuePairAttribute("AckInterval", UintegerValue(work.ackInterval));
    fabric.SetSwitchAttribute("HashSeed", UintegerValue(work.seed));
    ns3::UseMultipath(fabric, work.multipath);
    ns3::UseControl(fabric, work.control);
    if (work.multipath->IsSprayed() || work.transport->needsSelectiveRepeat || work.control->pulls)
    {
        ns3::UseRecovery(fabric, "selective-repeat", kAnyOrder);
    }

    const ns3::DataRate rate(work.bitRate);
    const ns3::Time delay = ns3::PicoSeconds(work.delay.Ps());
    std::vector<Ptr<FabricSwitch>> otherSpines; // of the building before
    for (uint32_t building = 0; building < work.buildings; ++building)
    {
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(work.leafBuffer.Count()));
        std::vector<Ptr<FabricSwitch>> leaves;
        for (uint32_t i = 0; i < work.leaves; ++i)
        {
            leaves.push_back(fabric.AddSwitch());
            for (uint32_t j = 0; j < work.hostsPerLeaf; ++j)
            {
                fabric.Connect(fabric.AddNic(fabric.AddHost()), leaves.back(), rate, delay);
            }
        }
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(work.spineBuffer.Count()));
        std::vector<Ptr<FabricSwitch>> spines;
        for (uint32_t i = 0; i < work.spines; ++i)
        {
            spines.push_back(fabric.AddSwitch());
            for (const auto& leaf : leaves)
            {
                fabric.Connect(leaf, spines.back(), rate, delay);
            }
            for (uint32_t j = 0; building > 0 && j < work.spansPerSpine; ++j)
            {
                fabric.Connect(otherSpines[i],
                               spines[i],
                               rate,
                               ns3::PicoSeconds(work.spanDelay.Ps()));
            }
        }
        otherSpines = spines;
    }
    fabric.InstallRoutes();
    // A block of streams per seed, larger than any fabric's number of wires and ports.
    fabric.AssignStreams(static_cast<int64_t>(work.seed) << 24);
}

void
PostFlows(const StandardWork& work, ns3::FabricHelper& fabric)
{
    for (size_t i = 0; i < work.flows.size(); ++i)
    {
        const auto& [from, to] = work.flows[i];
        auto connection = fabric.CreateConnection(fabric.Nics().at(from), fabric.Nics().at(to));
        connection->Send(work.size, i);
    }
}

} // namespace scaleacross
