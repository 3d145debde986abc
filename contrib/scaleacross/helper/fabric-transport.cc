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
    // FixedOverhead 0 says that sizes count one by one: then they are nothing, too, where every
    // packet adds nothing, and an empty packet takes a byte.
    const bool nothing = format.fixed && format.overhead == 0;
    const auto size = [nothing](uint32_t bytes) { return UintegerValue(nothing ? 0 : bytes); };
    if (format.fixed)
    {
        set.Nic("FixedOverhead", UintegerValue(format.overhead));
    }
    set.Nic("HeaderSize", size(format.header));
    set.Nic("FrameSize", size(format.frame));
    set.Nic("RethSize", size(format.reth));
    set.Nic("ImmediateSize", size(format.immediate));
    set.Nic("MinWireSize", UintegerValue(nothing ? 1 : format.least));
    set.Nic("AckSize", UintegerValue(format.ack));
    set.Nic("CnpSize", UintegerValue(format.cnp));
}

} // namespace ns3
