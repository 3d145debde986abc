// SPDX-License-Identifier: GPL-2.0-only

#include "ideal-time.h"

#include "core/base/errors.h"

#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/node.h"
#include "ns3/path-selector.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-entropy-ops.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::PortGroup;
using scaleacross::RdmaOperation;

namespace
{

using Path = std::vector<IdealLink>;

IdealLink
LinkOf(const FabricPort& port)
{
    return {static_cast<double>(port.GetDataRate().GetBitRate()),
            port.GetWire()->GetDelay().GetSeconds()};
}

/// Paths that differ in a rate or delay, and whether packets of a flow spread over several.
struct Ways
{
    std::set<Path> paths;
    bool spread{false};
};

/// Over all shortest ways from NIC to NIC, switch by switch; ways alike are followed once.
Ways
WaysBetween(const RdmaNic& from, const RdmaNic& to)
{
    constexpr uint32_t kMostSwitches = 256;
    Ways ways;
    std::set<std::pair<FabricSwitch*, Path>> here;
    const auto follow = [&](auto& next, Path path, const FabricPort& port) {
        path.push_back(LinkOf(port));
        const Ptr<FabricPort> peer = port.GetPeer();
        if (const auto fabricSwitch = peer->GetNode()->GetObject<FabricSwitch>())
        {
            next.emplace(PeekPointer(fabricSwitch), std::move(path));
        }
        else
        {
            ways.paths.insert(std::move(path));
        }
    };
    if (from.GetPeer())
    {
        follow(here, {}, from);
    }
    for (uint32_t hop = 0; hop < kMostSwitches && !here.empty(); ++hop)
    {
        std::set<std::pair<FabricSwitch*, Path>> next;
        for (const auto& [fabricSwitch, path] : here)
        {
            const PortGroup* group = fabricSwitch->Routes().Lookup(to.GetFabricAddress());
            if (group == nullptr)
            {
                continue;
            }
            ways.spread = ways.spread ||
                          (group->ports.size() > 1 && fabricSwitch->GetPathSelector()->Reorders());
            for (const uint16_t port : group->ports)
            {
                follow(next, path, *fabricSwitch->GetPort(port));
            }
        }
        here = std::move(next);
    }
    if (ways.paths.empty())
    {
        throw ConfigError("IdealTime",
                          "no route from " + from.Describe() + " to " + to.Describe(),
                          "NICs that reach each other",
                          "call InstallRoutes first");
    }
    return ways;
}

/// One more packet.
void
Append(const Path& path, double size, std::vector<double>& left)
{
    double before = 0;
    for (size_t i = 0; i < path.size(); ++i)
    {
        before = left[i] = std::max(left[i], before) + size * 8 / path[i].rate;
    }
}

} // namespace

double
StoreAndForwardTime(const Path& path, double first, uint64_t middle, double full, double last)
{
    std::vector<double> left(path.size(), 0);
    if (first > 0)
    {
        Append(path, first, left);
    }
    if (middle > 0)
    {
        std::vector<double> after(path.size(), 0);
        for (size_t i = 0; i < path.size(); ++i)
        {
            // From link j of the packet before, along the slowest link, up to link i.
            double between = 0; // sum over j + 1 to i
            double slowest = std::numeric_limits<double>::infinity();
            for (size_t j = i + 1; j-- > 0;)
            {
                slowest = std::min(slowest, path[j].rate);
                after[i] =
                    std::max(after[i],
                             left[j] + between + static_cast<double>(middle) * full * 8 / slowest);
                between += full * 8 / path[j].rate;
            }
        }
        left = std::move(after);
    }
    if (last > 0)
    {
        Append(path, last, left);
    }
    double delays = 0;
    for (const IdealLink& link : path)
    {
        delays += link.delay;
    }
    return (left.empty() ? 0 : left.back()) + delays;
}

Time
IdealTime(const RdmaConnection& connection, uint64_t bytes)
{
    const RdmaNic& from = *connection.GetSender();
    std::set<const RdmaNic*> senders;
    bool entropies = false;
    for (uint32_t i = 0; i < connection.GetNQueuePairs(); ++i)
    {
        const Ptr<RdmaQueuePair> queuePair = connection.GetQueuePair(i);
        senders.insert(&queuePair->GetNic());
        entropies = entropies || queuePair->GetEntropyOps();
    }
    const Ways ways = WaysBetween(from, *connection.GetReceiver());
    const bool spread = ways.spread || entropies || connection.GetNQueuePairs() > 1;

    const uint64_t share = (bytes + senders.size() - 1) / senders.size();
    const uint64_t mtu = from.GetPathMtu();
    const uint64_t packets = std::max<uint64_t>(1, (share + mtu - 1) / mtu);
    const auto rest = static_cast<uint32_t>(share - (packets - 1) * mtu);
    const auto size = [&](uint64_t payload, bool first, bool last) {
        return static_cast<double>(
            from.WireSize(static_cast<uint32_t>(payload), RdmaOperation::Write, first, last));
    };
    double least = std::numeric_limits<double>::infinity();
    for (Path path : ways.paths)
    {
        double alone = 0; // of the last packet on links that hold nobody up
        if (spread && path.size() > 2)
        {
            for (size_t i = 1; i + 1 < path.size(); ++i)
            {
                alone += size(rest, packets == 1, true) * 8 / path[i].rate + path[i].delay;
            }
            path.erase(path.begin() + 1, path.end() - 1);
        }
        const double time = alone + StoreAndForwardTime(path,
                                                        packets > 1 ? size(mtu, true, false) : 0,
                                                        packets > 1 ? packets - 2 : 0,
                                                        size(mtu, false, false),
                                                        size(rest, packets == 1, true));
        least = std::min(least, time);
    }
    return PicoSeconds(static_cast<uint64_t>(std::llround(least * 1e12)));
}

} // namespace ns3
