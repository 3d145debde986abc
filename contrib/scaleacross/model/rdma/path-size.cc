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

} // namespace

void
CheckFitsPath(const PathSizeInput& packet)
{
    uint32_t size = packet.size + (packet.telemetry ? kTelemetryHeader : 0U);
    ns3::Ptr<ns3::SwitchPort> ingress = ns3::DynamicCast<ns3::SwitchPort>(packet.nic.GetPeer());
    for (uint32_t hop = 1; ingress && hop <= kMostHops; ++hop)
    {
        const ns3::FabricSwitch& place = ingress->GetSwitch();
        if (size > place.GetMaxPacketSize())
        {
            Refuse(packet, place, hop, size);
        }
        const PortGroup* group = place.Routes().Lookup(packet.destination);
        if (group == nullptr || group->ports.empty() || group->ports[0] >= place.GetNPorts())
        {
            return;
        }
        size += packet.telemetry ? kTelemetryEntry : 0U;
        ingress = ns3::DynamicCast<ns3::SwitchPort>(place.GetPort(group->ports[0])->GetPeer());
    }
}

} // namespace scaleacross
