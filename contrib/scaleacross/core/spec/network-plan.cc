// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/network-plan.h"

#include "core/base/text.h"
#include "core/spec/plan-fields.h"

namespace scaleacross
{

bool
IsSprayed(Multipath multipath)
{
    return multipath == Multipath::SprayRandom || multipath == Multipath::SprayRoundRobin ||
           multipath == Multipath::SprayAdaptive || multipath == Multipath::EntropyRandom ||
           multipath == Multipath::Reps;
}

bool
MayReorder(Multipath multipath)
{
    return IsSprayed(multipath) || multipath == Multipath::Flowlet;
}

QueuePairUse
NetworkPlan::QueuePairsAt(Tier tier) const
{
    SCALEACROSS_INVARIANT(tier != Tier::Node, "no queue pairs inside a server");
    const QueuePairOverride& here = tiers[static_cast<size_t>(tier) - 1];
    return {here.qps.value_or(qps),
            here.segment.value_or(segment),
            here.balance.value_or(balance),
            here.outstanding.value_or(outstanding)};
}

std::optional<ConfigError>
NetworkPlan::FindConflict() const
{
    if (IsSprayed(multipath) && recovery == Recovery::GoBackN)
    {
        return ConfigError(
            "network.recovery",
            "go-back-n takes every packet that overtakes for a loss, and multipath " +
                ToString(multipath) + " lets them overtake",
            ToString(Recovery::SelectiveRepeat) + " with " + ToString(multipath),
            "set network.recovery: " + ToString(Recovery::SelectiveRepeat) +
                ", or a multipath that keeps the order, such as " + ToString(Multipath::EEcmp));
    }
    if (IsSprayed(multipath) && control == CongestionControl::Hpcc)
    {
        return ConfigError("network.control",
                           "hpcc compares what the same switches said one packet after the other, "
                           "and multipath " +
                               ToString(multipath) + " sends packets by different ones",
                           "hpcc with one path per queue pair",
                           "another control, or a multipath such as " + ToString(Multipath::EEcmp));
    }
    const char* const controlType = "ns3::RdmaQueuePair::CongestionOps";
    if (control != CongestionControl::None && ns3Attributes.count(controlType) > 0)
    {
        return ConfigError("network.control",
                           ToString(control) + ", and network.ns3 sets " + controlType,
                           "one of the two",
                           "leave network.control out for a control of your own");
    }
    return std::nullopt;
}

void
NetworkPlan::Validate() const
{
    ValidatePlanFields(Plan{{}, *this}, "network.");
    if (const auto conflict = FindConflict())
    {
        throw ConfigError(*conflict);
    }
    for (const auto& [name, value] : ns3Attributes)
    {
        // "ns3::TypeId::Attribute": whether ns-3 knows it is for the packet engine to say.
        const size_t last = name.rfind("::");
        if (name.compare(0, 5, "ns3::") != 0 || last < 6 || last + 2 >= name.size())
        {
            throw ConfigError("network.ns3",
                              Quoted(name) + " does not name an ns-3 attribute",
                              "ns3::TypeId::Attribute, e.g. ns3::TcpSocket::SegmentSize",
                              "");
        }
        if (value.empty())
        {
            throw ConfigError("network.ns3", Quoted(name) + " has no value", "", "");
        }
    }
}

} // namespace scaleacross
