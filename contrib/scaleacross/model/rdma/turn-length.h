// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TURN_LENGTH_H
#define SCALEACROSS_TURN_LENGTH_H

#include "ns3/fabric-packet.h"

#include <cstdint>

namespace scaleacross
{

/**
 * How much a queue pair sends until the next one of its NIC and priority takes its turn: the rule
 * of the NIC's queue pair scheduler.
 *
 * Model: a turn is
 *   - Packet: one packet;
 *   - Burst: packets until they have taken `burst` bytes on the wire together, so up to one packet
 *     less one byte beyond it, of as many messages as these are;
 *   - Message: packets up to the last one of a message, new or repeated. A message on a queue pair
 *     is a work request: a segment or part, where a connection spreads its messages.
 *
 * The rule says nothing of a queue pair that may not go on (window, rate, pulls, nothing to send):
 * SenderTurns ends its turn there and then, whatever is left of it, so that the others go on. When
 * it may send again it is behind them, and its next turn is a whole one: a whole burst, or the rest
 * of the message. What holds up the whole priority of the line (a pause, no credits, a larger
 * priority) does not end a turn.
 *
 * Worked case: packets of 1,048 bytes on the wire, a burst of 3,000: turns of 3 packets, 3,144
 * bytes. With messages of 2 packets: by Message turns of 2, by Packet of 1.
 */
class TurnLength
{
  public:
    enum Unit : uint8_t
    {
        Packet,
        Burst,
        Message
    };

    Unit unit{Packet};
    uint64_t burst{0}; //!< bytes, with Burst

    /// A packet starts, after `sent` bytes of the same turn. True if the turn ends with it; else
    /// `sent` counts it.
    bool EndsWith(const FabricPacket& packet, uint64_t& sent) const
    {
        return unit == Packet || EndsLongTurn(packet, sent);
    }

  private:
    bool EndsLongTurn(const FabricPacket& packet, uint64_t& sent) const;
};

} // namespace scaleacross

#endif // SCALEACROSS_TURN_LENGTH_H
