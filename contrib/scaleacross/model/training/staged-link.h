// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STAGED_LINK_H
#define SCALEACROSS_STAGED_LINK_H

#include "core/base/units.h"
#include "job-clock.h"

#include "ns3/attribute-guard.h"
#include "ns3/callback.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/ptr.h"
#include "ns3/traced-value.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>

namespace ns3
{

/**
 * One direction between two GPUs whose messages are copied through slots at either end, as NCCL's
 * Simple protocol has it, instead of being read and written by the NICs where they are.
 *
 * Model: a message is cut into pieces of SlotSize, or into LeastPieces if these are smaller. A
 * piece waits for a free slot, is copied into it (2 x bytes / SenderMemoryRate: read and written),
 * one piece at a time, and is sent Handover / 2 later, when the NIC has been told. At the receiver
 * it is copied out Handover / 2 after it has arrived, again one at a time; then the message is
 * delivered if that was its last piece, and a credit goes back over the network, with which the
 * sender has the slot again. So no more than Slots x SlotSize is under way in a round trip, copies
 * and handovers included.
 *
 * Pieces keep the order of their messages at the sender; where the network lets them overtake, the
 * receiver copies them as they come. Left out: what copying takes from kernels that compute.
 *
 * Worked case: 8 slots of 512 KiB, 3.35 TB/s, 6.9 us: a message of 4 KiB is delivered 6.9 us and
 * 2 x 2.4 ns after the network alone would have; one of 8 MiB over a round trip of 1 ms takes two
 * of them at least.
 */
class StagedLink : public Object, public scaleacross::FixedOnceUsed
{
  public:
    static TypeId GetTypeId();

    StagedLink();
    ~StagedLink() override;

    /// Sends a piece to the receiver's NIC; the number names it there.
    using PieceSender = std::function<void(scaleacross::Bytes, uint64_t number)>;
    /// Sends a credit to the sender.
    using CreditSender = std::function<void()>;
    /// Tells of a message that has arrived completely.
    using Delivery = std::function<void(uint64_t tag)>;

    /// The clock of the job; without it, the Simulator's. Before the first message.
    void SetClock(Ptr<JobClock> clock);
    /// Before the first message.
    void Connect(PieceSender send, CreditSender credit, Delivery deliver);

    void Send(scaleacross::Bytes bytes, uint64_t tag);
    /// A piece is in the receiver's slot.
    void PieceArrived(uint64_t number);
    /// A credit is at the sender.
    void CreditArrived();

  protected:
    void DoDispose() override;

  private:
    struct Piece
    {
        uint64_t number;
        scaleacross::Bytes bytes;
    };

    struct Message
    {
        uint64_t tag;
        uint64_t pieces; //!< that are not copied out yet
    };

    /// A memory that copies one piece after the other.
    struct Copier
    {
        std::deque<Piece> pieces;
        JobEvent event;
    };

    void CopyIn();
    void CopiedIn();
    void CopyOut();
    void CopiedOut();
    Time CopyTime(scaleacross::Bytes bytes, const DataRate& rate) const;

    Ptr<JobClock> m_clock;
    uint32_t m_slots{0};
    uint32_t m_least{0};
    uint32_t m_slotSize{0};
    Time m_handover;
    DataRate m_senderRate;
    DataRate m_receiverRate;
    PieceSender m_send;
    CreditSender m_credit;
    Delivery m_deliver;
    TracedValue<uint64_t> m_free{0}; //!< slots that the sender may fill
    uint64_t m_next{0};              //!< number of the next piece
    Copier m_in;
    Copier m_out;

    /// Pieces under way: number -> message; messages by the number of their first piece.
    struct UnderWay
    {
        uint64_t first;
        scaleacross::Bytes bytes;
    };

    std::unordered_map<uint64_t, UnderWay> m_pieces;
    std::unordered_map<uint64_t, Message> m_messages;
};

} // namespace ns3

#endif // SCALEACROSS_STAGED_LINK_H
