// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-multipath.h"

#include "core/base/errors.h"
#include "fabric-helper.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/fabric-switch.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/rdma-queue-pair.h"
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

/// Sets attributes of what a fabric creates, save those that somebody has chosen.
class Setter
{
  public:
    Setter(FabricHelper& fabric, const std::set<std::string>& chosen)
        : m_fabric(fabric),
          m_chosen(chosen)
    {
    }

    void Switch(const std::string& name, const AttributeValue& value)
    {
        if (m_chosen.count("ns3::FabricSwitch::" + name) == 0)
        {
            m_fabric.SetSwitchAttribute(name, value);
        }
    }

    void QueuePair(const std::string& name, const AttributeValue& value)
    {
        if (m_chosen.count("ns3::RdmaQueuePair::" + name) == 0)
        {
            m_fabric.SetQueuePairAttribute(name, value);
        }
    }

  private:
    FabricHelper& m_fabric;
    const std::set<std::string>& m_chosen;
};

/// What an attribute is if nobody sets it.
Ptr<const AttributeValue>
DefaultOf(TypeId type, const std::string& name)
{
    TypeId::AttributeInformation attribute;
    const bool found = type.LookupAttributeByName(name, &attribute);
    SCALEACROSS_INVARIANT(found, "no attribute " + type.GetName() + "::" + name);
    return attribute.initialValue;
}

/// Recycling goes by marks, which switches make at thresholds of 100 Gb/s, and needs no CNPs.
void
MarkForRecycling(const FabricHelper& fabric, Setter& set)
{
    const std::string priority = fabric.GetQueuePairAttribute("Priority");
    set.Switch("EcnPriorities", UintegerValue(uint64_t{1} << std::stoul(priority)));
    set.Switch("EcnReferenceRate", DataRateValue(DataRate("100Gbps")));
    set.Switch("EcnKmin", UintegerValue(20'000));
    set.Switch("EcnKmax", UintegerValue(80'000));
    set.Switch("EcnPmax", DoubleValue(1.0));
    if (fabric.GetQueuePairAttribute("CongestionOps") == RdmaCongestionOps::GetTypeId().GetName())
    {
        set.QueuePair("SendCnps", BooleanValue(false));
    }
}

} // namespace

void
UseMultipath(FabricHelper& fabric, Multipath multipath, const std::set<std::string>& chosen)
{
    Setter set(fabric, chosen);
    set.Switch("PathSelector", TypeIdValue(TypeId::LookupByName(SelectorOf(multipath))));
    fabric.SetRouteWeights(multipath == Multipath::Ucmp ? scaleacross::RouteWeights::Capacity
                                                        : scaleacross::RouteWeights::Equal);
    set.Switch("HashFields",
               StringValue(multipath == Multipath::Ecmp ? "source,destination"
                                                        : "source,destination,udp-source-port"));
    set.QueuePair("EntropyOps", TypeIdValue(TypeId::LookupByName(EntropiesOf(multipath))));
    for (const char* name : {"EcnPriorities", "EcnReferenceRate", "EcnKmin", "EcnKmax", "EcnPmax"})
    {
        set.Switch(name, *DefaultOf(FabricSwitch::GetTypeId(), name));
    }
    set.QueuePair("SendCnps", *DefaultOf(RdmaQueuePair::GetTypeId(), "SendCnps"));
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
