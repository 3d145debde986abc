// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-multipath.h"

#include "fabric-helper.h"

#include "ns3/string.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

namespace ns3
{

using scaleacross::Multipath;
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
