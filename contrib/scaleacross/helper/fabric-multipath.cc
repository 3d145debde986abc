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

using scaleacross::Multipath;
using scaleacross::QueuePairUse;
using scaleacross::Recovery;

namespace
{

/// A choice that goes by marks needs no CNPs.
void
MarkFor(const scaleacross::Marking& marking, const FabricHelper& fabric, AttributeSetter& set)
{
    set.Mark(marking);
    if (fabric.GetQueuePairAttribute("CongestionOps") == RdmaCongestionOps::GetTypeId().GetName())
    {
        set.QueuePair("SendCnps", BooleanValue(false));
    }
}

} // namespace

void
UseMultipath(FabricHelper& fabric, Multipath multipath, const std::set<std::string>& chosen)
{
    ExpectNoSwitches(fabric, "UseMultipath");
    AttributeSetter set(fabric, chosen);
    set.Switch("PathSelector", TypeIdValue(TypeId::LookupByName(multipath->selector)));
    fabric.SetRouteWeights(multipath->weightedRoutes ? scaleacross::RouteWeights::Capacity
                                                     : scaleacross::RouteWeights::Equal);
    set.Switch("HashFields", StringValue(multipath->hashFields));
    const char* const none = "ns3::RdmaEntropyOps";
    set.QueuePair("EntropyOps",
                  TypeIdValue(TypeId::LookupByName(
                      multipath->entropies != nullptr ? multipath->entropies : none)));
    set.ResetMarking();
    set.ResetQueuePair("SendCnps");
    if (multipath->marking)
    {
        MarkFor(*multipath->marking, fabric, set);
    }
}

void
UseQueuePairs(FabricHelper& fabric, const QueuePairUse& use)
{
    const bool split = use.balance->splits;
    fabric.SetConnectionAttribute("QueuePairs", UintegerValue(use.qps));
    fabric.SetConnectionAttribute("SegmentSize", UintegerValue(split ? 0 : use.segment.Count()));
    fabric.SetQueuePairAttribute("Window", UintegerValue(use.window.Count()));
    fabric.SetConnectionAttribute("MaxOutstanding", UintegerValue(use.outstanding));
    fabric.SetConnectionAttribute("Notification", StringValue(use.balance->notification));
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
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue(recovery->mode));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(reorderTolerance));
}

} // namespace ns3
