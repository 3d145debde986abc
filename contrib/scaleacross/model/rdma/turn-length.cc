// SPDX-License-Identifier: GPL-2.0-only

#include "turn-length.h"

namespace scaleacross
{

bool
TurnLength::EndsLongTurn(const FabricPacket& packet, uint64_t& sent) const
{
    if (unit == Message)
    {
        return packet.lastOfMessage;
    }
    sent += packet.size;
    return sent >= burst;
}

} // namespace scaleacross
