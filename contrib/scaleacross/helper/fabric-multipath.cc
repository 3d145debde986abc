// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-multipath.h"

#include "fabric-helper.h"

#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/fabric-switch.h"
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

/// Bit of the priority that data packets have by default.
constexpr uint32_t kDataPriority = 1U << 3;

} // namespace

void
UseMultipath(FabricHelper& fabric, Multipath multipath)
{
    const TypeId selector = TypeId::LookupByName(SelectorOf(multipath));
    fabric.SetSwitchAttribute("PathSelector", TypeIdValue(selector));
    fabric.SetRouteWeights(multipath == Multipath::Ucmp ? scaleacross::RouteWeights::Capacity
                                                        : scaleacross::RouteWeights::Equal);
    fabric.SetSwitchAttribute("HashFields",
                              StringValue(multipath == Multipath::Ecmp
                                              ? "source,destination"
                                              : "source,destination,udp-source-port"));
    UintegerValue marked;
    CreateObject<FabricSwitch>()->GetAttribute("EcnPriorities", marked);
    if (multipath == Multipath::Reps && marked.Get() == 0) // not chosen by who set defaults
    {
        fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(kDataPriority));
        fabric.SetSwitchAttribute("EcnReferenceRate", DataRateValue(DataRate("100Gbps")));
        fabric.SetSwitchAttribute("EcnKmin", UintegerValue(20'000));
        fabric.SetSwitchAttribute("EcnKmax", UintegerValue(80'000));
        fabric.SetSwitchAttribute("EcnPmax", DoubleValue(1.0));
    }
    if (multipath == Multipath::Reps || multipath == Multipath::EntropyRandom)
    {
        const char* type =
            multipath == Multipath::Reps ? "ns3::RecycledEntropy" : "ns3::RandomEntropy";
        fabric.SetQueuePairAttribute("EntropyOps", TypeIdValue(TypeId::LookupByName(type)));
    }
}

void
UseQueuePairs(FabricHelper& fabric, const QueuePairUse& use)
{
    const bool split = use.balance == Balance::Split;
    fabric.SetConnectionAttribute("QueuePairs", UintegerValue(use.qps));
    fabric.SetConnectionAttribute("SegmentSize", UintegerValue(split ? 0 : use.segment.Count()));
    fabric.SetConnectionAttribute("MaxOutstanding", UintegerValue(use.outstanding));
    fabric.SetConnectionAttribute("Notification", StringValue(NotificationOf(use.balance)));
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
