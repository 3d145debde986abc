// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-transport.h"

#include "attribute-setter.h"
#include "fabric-helper.h"

#include "ns3/boolean.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

using scaleacross::PacketFormat;
using scaleacross::Transport;

void
UseTransport(FabricHelper& fabric, Transport transport, const std::set<std::string>& chosen)
{
    const auto& trimming = transport->trimming;
    AttributeSetter set(fabric, chosen);
    if (trimming)
    {
        set.Switch("Pfc", BooleanValue(false));
        set.SwitchPort("Quanta", StringValue(trimming->quanta));
    }
    set.Switch("Credits", BooleanValue(transport->credits));
    set.Switch("Trim", BooleanValue(trimming.has_value()));
    set.Switch("TrimThreshold", UintegerValue(trimming ? trimming->threshold : 0));
    set.Switch("TrimReferenceRate", StringValue(trimming ? trimming->reference : "0bps"));
    set.QueuePair("WindowCountsFlight", BooleanValue(trimming.has_value()));
    UseFormat(fabric, transport->format, chosen);
}

void
UseFormat(FabricHelper& fabric, const PacketFormat& format, const std::set<std::string>& chosen)
{
    AttributeSetter set(fabric, chosen);
    set.Nic("FixedOverhead", UintegerValue(format.overhead));
    set.Nic("HeaderSize", UintegerValue(format.header));
    set.Nic("FrameSize", UintegerValue(format.frame));
    set.Nic("RethSize", UintegerValue(format.reth));
    set.Nic("ImmediateSize", UintegerValue(format.immediate));
    set.Nic("MinWireSize", UintegerValue(format.least));
    set.Nic("AckSize", UintegerValue(format.ack));
    set.Nic("CnpSize", UintegerValue(format.cnp));
}

} // namespace ns3
