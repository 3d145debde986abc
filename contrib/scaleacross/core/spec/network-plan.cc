// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/network-plan.h"

#include "core/base/text.h"
#include "core/spec/plan-fields.h"

#include <algorithm>

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

Duration
StagedCopy::CopyTime(Bytes bytes, BitRate memory)
{
    return SerialisationTime(bytes * 2, memory); // read and written
}

Bytes
NetworkPlan::DataHeaders() const
{
    return headers.value_or(transport == Transport::Infiniband ? Bytes(28) : Bytes(82));
}

Bytes
NetworkPlan::AckOnWire() const
{
    return ackSize.value_or(transport == Transport::Infiniband ? Bytes(32) : Bytes(86));
}

bool
NetworkPlan::UsesPfc() const
{
    return pfc.value_or(transport == Transport::Roce);
}

Bytes
NetworkPlan::GrantSize() const
{
    return std::min(Bytes(128 << 10), admission);
}

QueuePairUse
NetworkPlan::QueuePairsAt(Tier tier) const
{
    SCALEACROSS_INVARIANT(tier != Tier::Node, "no queue pairs inside a server");
    const QueuePairOverride& here = tiers[static_cast<size_t>(tier) - 1];
    return {here.qps.value_or(qps),
            here.segment.value_or(segment),
            here.balance.value_or(balance),
            here.outstanding.value_or(outstanding),
            here.window.value_or(window)};
}

namespace
{

/// What does not go together with InfiniBand.
std::optional<ConfigError>
FindInfinibandConflict(const NetworkPlan& network)
{
    const std::string transport = ToString(network.transport);
    const std::string roce = "set network.transport: " + ToString(Transport::Roce);
    const uint64_t mtu = network.mtu.Count();
    if (mtu > 4096 || (mtu & (mtu - 1)) != 0)
    {
        return ConfigError("network.mtu",
                           ExactText(network.mtu) + " is no MTU of " + transport,
                           "256B, 512B, 1KiB, 2KiB or 4KiB with " + transport,
                           "");
    }
    if (network.multipath == Multipath::EntropyRandom || network.multipath == Multipath::Reps)
    {
        return ConfigError("network.multipath",
                           ToString(network.multipath) +
                               " gives every packet its own UDP source port, and packets of " +
                               transport + " have none",
                           "a multipath that switches decide on, with " + transport,
                           "a multipath such as " + ToString(Multipath::SprayAdaptive) + ", or " +
                               roce);
    }
    if (network.control == CongestionControl::Hpcc)
    {
        return ConfigError("network.control",
                           "hpcc goes by what switches write into packets, and packets of " +
                               transport + " have no place for it",
                           "another control with " + transport,
                           roce);
    }
    return std::nullopt;
}

} // namespace

std::optional<ConfigError>
NetworkPlan::FindConflict() const
{
    if (transport != Transport::Roce && UsesPfc())
    {
        return ConfigError("network.pfc",
                           "true, and transport " + ToString(transport) + " has no pauses",
                           "false, or nothing, with " + ToString(transport),
                           "leave network.pfc out");
    }
    if (transport == Transport::Infiniband)
    {
        if (auto conflict = FindInfinibandConflict(*this))
        {
            return conflict;
        }
    }
    if (transport == Transport::Trimming && recovery == Recovery::GoBackN)
    {
        return ConfigError("network.recovery",
                           "go-back-n sends all again from a packet that was trimmed on",
                           ToString(Recovery::SelectiveRepeat) + " with " + ToString(transport),
                           "set network.recovery: " + ToString(Recovery::SelectiveRepeat));
    }
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
    if (control == CongestionControl::ReceiverCredit && recovery != Recovery::SelectiveRepeat)
    {
        return ConfigError("network.control",
                           "receiver-credit counts packets one by one, and recovery go-back-n "
                           "sends all of them again",
                           "receiver-credit with " + ToString(Recovery::SelectiveRepeat),
                           "set network.recovery: " + ToString(Recovery::SelectiveRepeat) +
                               ", or another control");
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
