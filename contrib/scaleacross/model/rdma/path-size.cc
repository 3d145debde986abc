// SPDX-License-Identifier: GPL-2.0-only

#include "path-size.h"

#include "core/base/errors.h"
#include "rdma-nic.h"

#include "ns3/fabric-switch.h"
#include "ns3/node.h"
#include "ns3/switch-port.h"
#include "ns3/telemetry.h"

namespace scaleacross
{

namespace
{
constexpr uint32_t kMostHops = 255; // what a packet's counter holds

[[noreturn]] void
Refuse(const PathSizeInput& packet, const ns3::FabricSwitch& place, uint32_t hop, uint32_t size)
{
    const std::string node = "node " + std::to_string(place.GetObject<ns3::Node>()->GetId());
    const std::string telemetry = packet.telemetry
                                      ? " and " + std::to_string(kTelemetryHeader) + " + " +
                                            std::to_string(hop - 1) + " * " +
                                            std::to_string(kTelemetryEntry) + " of telemetry"
                                      : "";
    throw ConfigError(packet.where,
                      "packets take " + std::to_string(packet.size) + " bytes" + telemetry +
                          ", so that switch number " + std::to_string(hop) +
                          " on the way to address " + std::to_string(packet.destination) + ", " +
                          node + ", would see " + std::to_string(size) + " and drop them all",
                      "at most its FabricSwitch::MaxPacketSize, " +
                          std::to_string(place.GetMaxPacketSize()) + " bytes",
                      "a smaller RdmaNic::PathMtu, or a larger FabricSwitch::MaxPacketSize");
}

/// What a switch and those behind it make of a packet of so many bytes, which is the `hop`-th to
/// see it. Packets of its own NICs may take detours, each of which is looked at; then the first
/// way.
void
CheckFrom(const PathSizeInput& packet, const ns3::FabricSwitch& place, uint32_t hop, uint32_t size)
{
    if (size > place.GetMaxPacketSize())
    {
        Refuse(packet, place, hop, size);
    }
    const bool entering = hop == 1 && place.Routes().HasEntries();
    const PortGroup* group = entering ? place.Routes().LookupEntry(packet.destination)
                                      : place.Routes().Lookup(packet.destination);
    if (group == nullptr || hop == kMostHops)
    {
        return;
    }
    for (size_t i = 0; i < (entering ? group->ports.size() : 1); ++i)
    {
        if (group->ports[i] >= place.GetNPorts())
        {
            return;
        }
        const auto next =
            ns3::DynamicCast<ns3::SwitchPort>(place.GetPort(group->ports[i])->GetPeer());
        if (next)
        {
            CheckFrom(packet,
                      next->GetSwitch(),
                      hop + 1,
                      size + (packet.telemetry ? kTelemetryEntry : 0U));
        }
    }
}

} // namespace

void
CheckFitsPath(const PathSizeInput& packet)
{
    const auto first = ns3::DynamicCast<ns3::SwitchPort>(packet.nic.GetPeer());
    if (first)
    {
        CheckFrom(packet,
                  first->GetSwitch(),
                  1,
                  packet.size + (packet.telemetry ? kTelemetryHeader : 0U));
    }
}

} // namespace scaleacross
