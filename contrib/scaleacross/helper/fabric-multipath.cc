// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-multipath.h"

#include "attribute-setter.h"
#include "fabric-helper.h"

#include "ns3/boolean.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/string.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

namespace ns3
{

using scaleacross::Balance;
using scaleacross::Multipath;
using scaleacross::QueuePairUse;
using scaleacross::Recovery;

namespace
{

const char*
SelectorOf(Multipath multipath)
{
    switch (multipath)
    {
    case Multipath::Ecmp:
    case Multipath::EEcmp:
    case Multipath::EntropyRandom:
    case Multipath::Reps:
        return "ns3::EcmpSelector";
    case Multipath::Ucmp:
        return "ns3::WeightedSelector";
    case Multipath::Flowlet:
        return "ns3::FlowletSelector";
    case Multipath::SprayRandom:
        return "ns3::RandomSpraySelector";
    case Multipath::SprayRoundRobin:
        return "ns3::RoundRobinSpraySelector";
    case Multipath::SprayAdaptive:
        return "ns3::AdaptiveSpraySelector";
    case Multipath::DModK:
        return "ns3::DestinationModKSelector";
    }
    return "";
}

const char*
NotificationOf(Balance balance)
{
    switch (balance)
    {
    case Balance::Split:
    case Balance::RoundRobin:
        return "AllArrived";
    case Balance::Dqplb:
        return "InOrder";
    case Balance::Spray:
        return "Final";
    }
    return "";
}

const char*
EntropiesOf(Multipath multipath)
{
    switch (multipath)
    {
    case Multipath::EntropyRandom:
        return "ns3::RandomEntropy";
    case Multipath::Reps:
        return "ns3::RecycledEntropy";
    default:
        return "ns3::RdmaEntropyOps"; // none
    }
}

/// Recycling goes by marks, which switches make at thresholds of 100 Gb/s, and needs no CNPs.
void
MarkForRecycling(const FabricHelper& fabric, AttributeSetter& set)
{
    set.Marking("100Gbps", 20'000, 80'000, 1.0);
    if (fabric.GetQueuePairAttribute("CongestionOps") == RdmaCongestionOps::GetTypeId().GetName())
    {
        set.QueuePair("SendCnps", BooleanValue(false));
    }
}

} // namespace

void
UseMultipath(FabricHelper& fabric, Multipath multipath, const std::set<std::string>& chosen)
{
    AttributeSetter set(fabric, chosen);
    set.Switch("PathSelector", TypeIdValue(TypeId::LookupByName(SelectorOf(multipath))));
    fabric.SetRouteWeights(multipath == Multipath::Ucmp ? scaleacross::RouteWeights::Capacity
                                                        : scaleacross::RouteWeights::Equal);
    set.Switch("HashFields",
               StringValue(multipath == Multipath::Ecmp ? "source,destination"
                                                        : "source,destination,udp-source-port"));
    set.QueuePair("EntropyOps", TypeIdValue(TypeId::LookupByName(EntropiesOf(multipath))));
    set.ResetMarking();
    set.ResetQueuePair("SendCnps");
    if (multipath == Multipath::Reps)
    {
        MarkForRecycling(fabric, set);
    }
}

void
UseQueuePairs(FabricHelper& fabric, const QueuePairUse& use)
{
    const bool split = use.balance == Balance::Split;
    fabric.SetConnectionAttribute("QueuePairs", UintegerValue(use.qps));
    fabric.SetConnectionAttribute("SegmentSize", UintegerValue(split ? 0 : use.segment.Count()));
    fabric.SetQueuePairAttribute("Window", UintegerValue(use.window.Count()));
    fabric.SetConnectionAttribute("MaxOutstanding", UintegerValue(use.outstanding));
    fabric.SetConnectionAttribute("Notification", StringValue(NotificationOf(use.balance)));
}

void
UseAdmission(FabricHelper& fabric, scaleacross::Bytes granted, scaleacross::Bytes grant)
{
    const bool asks = granted > scaleacross::Bytes();
    fabric.SetConnectionAttribute("ClearToSend", BooleanValue(asks));
    if (asks)
    {
        fabric.SetAdmissionAttribute("GrantedBytes", UintegerValue(granted.Count()));
        fabric.SetAdmissionAttribute("GrantSize", UintegerValue(grant.Count()));
    }
}

void
UseRecovery(FabricHelper& fabric, Recovery recovery, uint64_t reorderTolerance)
{
    const bool selective = recovery == Recovery::SelectiveRepeat;
    fabric.SetQueuePairAttribute("RetransmissionMode",
                                 StringValue(selective ? "SelectiveRepeat" : "GoBackN"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(reorderTolerance));
}

} // namespace ns3
