// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/network-plan.h"

#include "core/base/text.h"
#include "core/spec/plan-fields.h"

#include <algorithm>

namespace scaleacross
{

Duration
StagedCopy::CopyTime(Bytes bytes, BitRate memory)
{
    return SerialisationTime(bytes * 2, memory); // read and written
}

PacketFormat
NetworkPlan::Format() const
{
    // In a study every data packet adds the same: all engines count packets, and no first ones.
    PacketFormat format = transport->format;
    format.AddToEach(static_cast<uint32_t>(headers.value_or(format.DataHeaders()).Count()));
    format.ack = ackSize ? static_cast<uint32_t>(ackSize->Count()) : format.ack;
    return format;
}

bool
NetworkPlan::UsesPfc() const
{
    return pfc.value_or(transport->pauses);
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
            here.window.value_or(window),
            mtu};
}

namespace
{

/// Whether switches spray packets by what they see.
bool
BySwitches(const MultipathFacts& multipath)
{
    return multipath.IsSprayed() && multipath.followsCapacity;
}

/// Whether every queue pair keeps its packets in order on a path of its own.
bool
KeepsOrder(const MultipathFacts& multipath)
{
    return !multipath.MayReorder() && multipath.owner == PathOwner::QueuePair;
}

/// What the packets of a transport have no place for.
std::optional<ConfigError>
FindTransportConflict(const NetworkPlan& network)
{
    const TransportFacts& transport = *network.transport;
    const auto& mtus = transport.mtus;
    if (!mtus.empty() && std::find(mtus.begin(), mtus.end(), network.mtu) == mtus.end())
    {
        std::string allowed;
        for (const Bytes mtu : mtus)
        {
            allowed += (allowed.empty() ? "" : mtu == mtus.back() ? " or " : ", ") + ExactText(mtu);
        }
        return ConfigError("network.mtu",
                           ExactText(network.mtu) + " is no MTU of " + transport.word,
                           allowed + " with " + transport.word,
                           "");
    }
    if (network.multipath->entropies != nullptr && !transport.sourcePorts)
    {
        return ConfigError(
            "network.multipath",
            network.multipath->word +
                " gives every packet its own UDP source port, and packets of " + transport.word +
                " have none",
            "a multipath that switches decide on, with " + transport.word,
            "a multipath such as " + Multipath::First(BySwitches).Name() +
                ", or set network.transport: " +
                Transport::First([](const auto& other) { return other.sourcePorts; }).Name());
    }
    if (network.control->HasTelemetry() && !transport.telemetry)
    {
        return ConfigError(
            "network.control",
            network.control->word + " goes by what switches write into packets, and packets of " +
                transport.word + " have no place for it",
            "another control with " + transport.word,
            "set network.transport: " +
                Transport::First([](const auto& other) { return other.telemetry; }).Name());
    }
    return std::nullopt;
}

/// What keeps traffic classes from being told apart.
std::optional<ConfigError>
FindClassConflict(const NetworkPlan& network)
{
    if (network.classes.AreOne())
    {
        return std::nullopt;
    }
    const char* const priority = "ns3::RdmaQueuePair::Priority";
    if (network.ns3Attributes.count(priority) > 0)
    {
        return ConfigError("network.classes",
                           std::string("several, and network.ns3 sets ") + priority +
                               " of all queue pairs",
                           "one of the two",
                           "leave the attribute out");
    }
    for (uint32_t number = 0; network.transport->trimming && number < kTrafficClasses; number++)
    {
        // Headers of what is trimmed have a share of the line, which strict classes would take.
        if ((network.classes.Used() >> number & 1U) != 0 && network.classes.weights[number] == 0)
        {
            return ConfigError("network.class_weights",
                               "class " + std::to_string(number) + " has no weight, and with " +
                                   network.transport->word +
                                   " what is strict would leave nothing to trimmed packets",
                               "a weight for every class in use with " + network.transport->word,
                               "for instance network.class_weights: 1:3");
        }
    }
    return std::nullopt;
}

/// Why go-back-n does not serve the rest, and what to do besides.
std::optional<ConfigError>
FindRecoveryConflict(const NetworkPlan& network)
{
    if (network.recovery->selective)
    {
        return std::nullopt;
    }
    const std::string& word =
        Recovery::First([](const auto& other) { return other.selective; }).Name();
    const std::string& now = network.recovery.Name();
    const std::string remedy = "set network.recovery: " + word;
    if (network.transport->needsSelectiveRepeat)
    {
        return ConfigError("network.recovery",
                           now + " sends all again from a packet that was trimmed on",
                           word + " with " + network.transport->word,
                           remedy);
    }
    if (network.multipath->IsSprayed())
    {
        return ConfigError("network.recovery",
                           now + " takes every packet that overtakes for a loss, and multipath " +
                               network.multipath->word + " lets them overtake",
                           word + " with " + network.multipath->word,
                           remedy + ", or a multipath that keeps the order, such as " +
                               Multipath::First(KeepsOrder).Name());
    }
    if (network.control->pulls)
    {
        return ConfigError("network.control",
                           network.control->word + " counts packets one by one, and recovery " +
                               now + " sends all of them again",
                           network.control->word + " with " + word,
                           remedy + ", or another control");
    }
    return std::nullopt;
}

} // namespace

std::optional<ConfigError>
NetworkPlan::FindConflict() const
{
    if (admission > Bytes() && admission < mtu)
    {
        return ConfigError("network.admission",
                           ExactText(admission) + " is less than a packet, " + ExactText(mtu) +
                               " by network.mtu: a packet goes as a whole",
                           "0B (nobody asks), or " + ExactText(mtu) + " to 1TiB",
                           "say network.admission: 128KiB, which one grant may cover, or more");
    }
    if (!transport->pauses && UsesPfc())
    {
        return ConfigError("network.pfc",
                           "true, and transport " + transport->word + " has no pauses",
                           "false, or nothing, with " + transport->word,
                           "leave network.pfc out");
    }
    if (auto conflict = FindTransportConflict(*this))
    {
        return conflict;
    }
    if (auto conflict = FindRecoveryConflict(*this))
    {
        return conflict;
    }
    if (auto conflict = FindClassConflict(*this))
    {
        return conflict;
    }
    if (multipath->IsSprayed() && control->HasTelemetry())
    {
        return ConfigError("network.control",
                           control->word +
                               " compares what the same switches said one packet after the other, "
                               "and multipath " +
                               multipath->word + " sends packets by different ones",
                           control->word + " with one path per queue pair",
                           "another control, or a multipath such as " +
                               Multipath::First(KeepsOrder).Name());
    }
    const char* const controlType = "ns3::RdmaQueuePair::CongestionOps";
    if (control->controls && ns3Attributes.count(controlType) > 0)
    {
        return ConfigError("network.control",
                           control->word + ", and network.ns3 sets " + controlType,
                           "one of the two",
                           "leave network.control out for a control of your own");
    }
    return std::nullopt;
}

void
NetworkPlan::Validate() const
{
    Plan plan;
    plan.network = *this;
    ValidatePlanFields(plan, "network.");
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
