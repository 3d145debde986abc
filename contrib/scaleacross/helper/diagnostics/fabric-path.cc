// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-path.h"

#include "core/base/errors.h"

#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/node.h"
#include "ns3/rdma-entropy-ops.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"

#include <algorithm>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::FabricPacket;

namespace
{

/// More switches than any packet may pass: the routes contain a loop.
constexpr size_t kMostPorts = 256;

/// From port to port until the neighbour is no switch.
std::vector<Ptr<FabricPort>>
Walk(Ptr<FabricPort> start, const FabricPacket& packet)
{
    std::vector<Ptr<FabricPort>> path{start};
    while (path.size() < kMostPorts)
    {
        const Ptr<FabricPort> peer = path.back()->GetPeer();
        if (!peer)
        {
            throw ConfigError("PathOf", path.back()->Describe() + " has no wire", "wires", "");
        }
        const Ptr<FabricSwitch> next = peer->GetNode()->GetObject<FabricSwitch>();
        if (!next)
        {
            return path;
        }
        path.push_back(next->GetPort(next->PredictPort(packet)));
    }
    throw ConfigError("PathOf",
                      "the routes from " + start->Describe() + " to address " +
                          std::to_string(packet.destination) + " contain a loop",
                      "routes without loops",
                      "");
}

} // namespace

std::vector<Ptr<FabricPort>>
PathOf(const FabricFlow& flow)
{
    FabricPacket packet{};
    packet.source = flow.from->GetFabricAddress();
    packet.destination = flow.to->GetFabricAddress();
    packet.entropy = flow.entropy;
    packet.queuePair = flow.queuePair;
    return Walk(flow.from, packet);
}

std::vector<Ptr<FabricPort>>
PathOf(const RdmaQueuePair& queuePair)
{
    const bool connected = queuePair.GetState() != RdmaQueuePair::State::Reset;
    if (!connected || queuePair.GetEntropyOps())
    {
        throw ConfigError("PathOf",
                          connected ? queuePair.Describe() + " has " +
                                          queuePair.GetEntropyOps()->GetName() + " entropies"
                                    : "the queue pair is not connected",
                          "a connected queue pair with one entropy",
                          "");
    }
    FabricPacket packet{};
    packet.source = queuePair.GetNic().GetFabricAddress();
    packet.destination = queuePair.GetRemoteAddress();
    packet.entropy = queuePair.GetEntropy();
    packet.queuePair = queuePair.GetRemoteNumber();
    return Walk(Ptr<FabricPort>(&queuePair.GetNic()), packet);
}

std::optional<uint16_t>
FindEntropy(FabricFlow flow, Ptr<FabricPort> port)
{
    for (uint32_t i = 0; i < RdmaEntropyOps::kCount; ++i)
    {
        flow.entropy = static_cast<uint16_t>(RdmaEntropyOps::kFirst + i);
        const auto path = PathOf(flow);
        if (std::find(path.begin(), path.end(), port) != path.end())
        {
            return flow.entropy;
        }
    }
    return std::nullopt;
}

} // namespace ns3
