// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_RECEIVER_H
#define SCALEACROSS_RDMA_RECEIVER_H

#include "rdma-counters.h"

#include "ns3/fabric-packet.h"
#include "ns3/psn-bitmap.h"
#include "ns3/psn.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace scaleacross
{

/// What a receiver answers to a packet.
enum class RdmaAnswer : uint8_t
{
    None,
    Ack,    //!< all packets before the expected one are here, and the one that caused this
    Nak,    //!< the same, and the expected one is missing
    RnrNak, //!< the expected one was thrown away as no receive is posted
    TrimNak //!< as Ack, but the one that caused this has lost its payload on the way
};

/// A message that is complete, in the order of posting.
struct RdmaDelivery
{
    uint64_t bytes;
    uint64_t tag;
    RdmaOperation operation;
};

/**
 * The receiving half of a reliable connection: what is taken, what is answered, what is complete.
 *
 * Model: `expected` is the first PSN that is missing. The expected packet is taken. A packet beyond
 * it is thrown away if `keepAhead` is 0 (go-back-N), and answered by one NAK per gap; else it is
 * placed in memory at once and noted in a bitmap (selective repeat) if it lies at most `keepAhead`
 * packets further, and answered at once, by a NAK if it lies more than `reorderTolerance` packets
 * beyond the expected one, and by an ACK if not. The packet that fills a gap is answered at once
 * too. All else is answered when it asks. A packet further away than `keepAhead` is thrown away
 * without an answer.
 *
 * Messages become complete in the order of their PSNs. A send takes a posted receive with its first
 * packet, a write with immediate with its last, both when it is their turn in PSN order; if there
 * is none the packet is thrown away, even if it had been noted, and the answer is RnrNak.
 *
 * A packet that a switch has trimmed delivers nothing. With selective repeat it is answered at
 * once: by a TrimNak, which names it, or by an ACK if it has arrived before. With go-back-N it is a
 * gap, answered by one NAK.
 *
 * All packets of a message but the last are alike in size, as in the standard; so the bytes of a
 * message follow from its first and last PSN.
 *
 * Left out: what tells out-of-order packets their place in memory (a RETH in each, or IRN's number
 * of the receive): it is taken to be known and takes no bytes.
 *
 * Worked case: expected 5, keepAhead 8, tolerance 0. Packet 7 arrives: noted, NAK (5, caused by 7).
 * Packet 5: taken, ACK (6, caused by 5). Packet 6: taken together with 7, ACK (8, caused by 6).
 */
class RdmaReceiver
{
  public:
    struct Config
    {
        uint64_t firstPsn{0};
        uint64_t keepAhead{0};        //!< packets; 0: go-back-N
        uint64_t reorderTolerance{0}; //!< packets
        bool countReceives{false};    //!< false: there is always a receive
    };

    explicit RdmaReceiver(RdmaCounters& counters)
        : m_counters(counters)
    {
    }

    /// To be called before the first packet.
    void Configure(const Config& config);

    /// Further receives for sends and writes with immediate. Domain: countReceives.
    void PostReceives(uint64_t count)
    {
        m_receives += count;
    }

    /// Receives posted and not used.
    uint64_t PostedReceives() const
    {
        return m_receives;
    }

    /// Takes a data packet. Complete messages are in Delivered() afterwards.
    RdmaAnswer Take(const FabricPacket& packet)
    {
        const uint64_t psn = PsnNear(packet.psn, m_expected);
        if (psn != m_expected || !m_ahead.Empty() || m_config.countReceives)
        {
            return TakeUnusual(packet, psn);
        }
        Accept({psn, packet.tag, packet.payload, packet.lastOfMessage, packet.operation});
        return packet.ackRequested ? RdmaAnswer::Ack : RdmaAnswer::None;
    }

    /// Takes what is left of a data packet that was trimmed.
    RdmaAnswer TakeTrimmed(const FabricPacket& packet);

    /// Messages that have become complete since the owner last cleared this.
    std::vector<RdmaDelivery>& Delivered()
    {
        return m_delivered;
    }

    /// The first PSN that is missing.
    uint64_t Expected() const
    {
        return m_expected;
    }

  private:
    /// What has to be known of a packet when its turn comes.
    struct Part
    {
        uint64_t psn;
        uint64_t tag;
        uint16_t payload;
        bool last;
        RdmaOperation operation;
    };

    /// A packet beyond a gap that is more than one of the equal ones in the middle of a message.
    struct Mark
    {
        Part part;
        bool needsReceive;
    };

    static bool NeedsReceive(const FabricPacket& packet)
    {
        return packet.operation == RdmaOperation::Send
                   ? packet.firstOfMessage
                   : packet.operation == RdmaOperation::WriteWithImmediate && packet.lastOfMessage;
    }

    void Accept(const Part& part)
    {
        ++m_expected;
        m_nakSent = false;
        m_counters.deliveredBytes += part.payload;
        if (part.last)
        {
            Complete(part);
        }
        else
        {
            m_pathMtu = part.payload;
        }
    }

    void Complete(const Part& part);
    RdmaAnswer TakeUnusual(const FabricPacket& packet, uint64_t psn);
    RdmaAnswer TakeAhead(const FabricPacket& packet, uint64_t psn);
    void NoteMark(const FabricPacket& packet, uint64_t psn);
    RdmaAnswer CloseGap();
    RdmaAnswer NakOnce();
    RdmaAnswer Refuse();
    bool UseReceive();

    uint64_t m_expected{0};
    uint64_t m_messageFirst{0}; //!< PSN of the message that is arriving
    uint16_t m_pathMtu{0};      //!< payload of packets that are not the last of a message
    bool m_nakSent{false};      //!< for the expected packet
    PsnBitmap m_ahead;          //!< packets that are here although the expected one is not
    Config m_config;
    std::deque<Mark> m_marks; //!< of the packets ahead, by PSN
    uint64_t m_receives{0};
    std::vector<RdmaDelivery> m_delivered;
    RdmaCounters& m_counters;
};

} // namespace scaleacross

#endif // SCALEACROSS_RDMA_RECEIVER_H
