// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-balance.h"

#include "core/base/errors.h"
#include "fabric-deadlock.h"

#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"

#include <numeric>

namespace ns3
{

using scaleacross::DropReason;
using scaleacross::kDropReasons;
using scaleacross::kPriorities;

uint64_t
FabricBalance::Dropped() const
{
    return std::accumulate(dropped.begin(), dropped.end(), uint64_t{0});
}

bool
FabricBalance::Holds() const
{
    return sent == delivered + Dropped() + inFlight;
}

std::string
FabricBalance::Text() const
{
    std::string reasons;
    for (uint32_t i = 0; i < kDropReasons; ++i)
    {
        if (dropped[i] > 0)
        {
            reasons += (reasons.empty() ? " (" : ", ") +
                       std::string(NameOf(static_cast<DropReason>(i))) + " " +
                       std::to_string(dropped[i]);
        }
    }
    reasons += reasons.empty() ? "" : ")";
    return "sent " + std::to_string(sent) + (Holds() ? " = " : " is not ") + "delivered " +
           std::to_string(delivered) + " + dropped " + std::to_string(Dropped()) + reasons +
           " + in flight " + std::to_string(inFlight);
}

FabricBalance
BalanceOf(const FabricHelper& fabric)
{
    FabricBalance balance;
    // First everything is brought up to date (counters of NICs do that), then counted.
    for (const auto& nic : fabric.Nics())
    {
        balance.sent += nic->GetSentPackets();
        balance.delivered +=
            nic->GetDataReceived() + nic->GetControlReceived() + nic->GetForeignReceived();
        for (uint32_t i = 0; i < kDropReasons; ++i)
        {
            balance.dropped[i] += nic->GetDrops(static_cast<DropReason>(i));
        }
    }
    for (const auto& fabricSwitch : fabric.Switches())
    {
        balance.inFlight += fabricSwitch->GetQueuedPackets();
        for (uint32_t i = 0; i < kDropReasons; ++i)
        {
            balance.dropped[i] += fabricSwitch->GetDrops(static_cast<DropReason>(i));
        }
    }
    for (const auto& wire : fabric.Wires())
    {
        balance.inFlight += wire->GetInFlight();
        balance.dropped[static_cast<size_t>(DropReason::WireLoss)] += wire->GetLost();
        balance.dropped[static_cast<size_t>(DropReason::LinkDown)] += wire->GetCut();
    }
    return balance;
}

FabricBalance
CheckConservation(const FabricHelper& fabric)
{
    FabricBalance balance = BalanceOf(fabric);
    SCALEACROSS_INVARIANT(balance.Holds(), balance.Text());
    CheckCapacity(fabric);
    return balance;
}

void
CheckCapacity(const FabricHelper& fabric)
{
    for (const auto& wire : fabric.Wires())
    {
        for (std::size_t i = 0; i < wire->GetNDevices(); ++i)
        {
            const scaleacross::FabricLane& lane = wire->GetLane(i);
            SCALEACROSS_INVARIANT(lane.Meter().Holds(),
                                  "the wire from " + lane.From()->Describe() + " to " +
                                      wire->GetPeer(lane.From())->Describe() + " " +
                                      lane.Meter().Text());
        }
    }
}

namespace
{

std::string
WaitingQueuePairs(const RdmaNic& nic)
{
    std::string text;
    for (uint32_t i = 0; i < nic.GetNQueuePairs(); ++i)
    {
        Ptr<RdmaQueuePair> queuePair = nic.GetQueuePair(i);
        if (queuePair->GetPendingMessages() > 0)
        {
            text += queuePair->Describe() + " waits for the ACK of " +
                    std::to_string(queuePair->GetPendingMessages()) + " messages, " +
                    std::to_string(queuePair->GetUnacked()) + " packets are out\n";
        }
        else if (queuePair->HasFailed())
        {
            text += queuePair->GetFailure() + "\n";
        }
    }
    return text;
}

std::string
WaitingPort(FabricPort& port)
{
    std::string text;
    if (!port.IsLinkUp() && port.GetQueuedPackets() > 0)
    {
        text += port.Describe() + " has " + std::to_string(port.GetQueuedPackets()) +
                " packets for a wire that is down\n";
    }
    for (uint8_t priority = 0; priority < kPriorities; ++priority)
    {
        if (port.IsPaused(priority) && port.HasWaiting(priority))
        {
            text += port.Describe() + " priority " + std::to_string(priority) + " is paused by " +
                    port.GetPeer()->Describe() + ", " +
                    std::to_string(port.GetQueueBytes(priority)) + " bytes wait\n";
        }
        else if (port.IsStarved(priority) && port.HasWaiting(priority))
        {
            text += port.Describe() + " lane " + std::to_string(priority) + " has " +
                    std::to_string(port.GetCreditsLeft(priority)) + " credits of " +
                    port.GetPeer()->Describe() + ", " +
                    std::to_string(port.GetQueueBytes(priority)) + " bytes wait\n";
        }
    }
    return text;
}

} // namespace

std::string
DescribeWaiting(const FabricHelper& fabric)
{
    std::string text = FindDeadlock(fabric).Text();
    text += text.empty() ? "" : "\n";
    for (const auto& nic : fabric.Nics())
    {
        text += WaitingQueuePairs(*nic) + WaitingPort(*nic);
    }
    for (const auto& fabricSwitch : fabric.Switches())
    {
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
        {
            text += WaitingPort(*fabricSwitch->GetPort(i));
        }
    }
    return text;
}

uint64_t
CountUndelivered(const FabricHelper& fabric)
{
    uint64_t count = 0;
    for (const auto& connection : fabric.Connections())
    {
        count += connection->HasFailed() ? 0 : connection->GetUndelivered();
    }
    return count;
}

} // namespace ns3
