// SPDX-License-Identifier: GPL-2.0-only

#include "staged-link.h"

#include "ns3/attribute-guard.h"
#include "ns3/log.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("StagedLink");
NS_OBJECT_ENSURE_REGISTERED(StagedLink);

using scaleacross::Bytes;

TypeId
StagedLink::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::StagedLink")
            .SetParent<Object>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<StagedLink>()
            .AddAttribute(
                "Slots",
                "Slots at either end. Their bytes over the round trip limit the rate: far "
                "peers need more of them.",
                UintegerValue(8),
                scaleacross::Fixed(MakeUintegerAccessor(&StagedLink::m_slots)),
                MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("SlotSize",
                          "Bytes of a slot, the unit in which messages are copied.",
                          UintegerValue(512 << 10),
                          scaleacross::Fixed(MakeUintegerAccessor(&StagedLink::m_slotSize)),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("LeastPieces",
                          "Slots that a message takes, however short it is: a library that works "
                          "in slices takes one for each.",
                          UintegerValue(1),
                          scaleacross::Fixed(MakeUintegerAccessor(&StagedLink::m_least)),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Handover",
                          "Time for which a slot is handed over between GPU and NIC, half of it at "
                          "either end.",
                          TimeValue(NanoSeconds(6900)),
                          scaleacross::Fixed(MakeTimeAccessor(&StagedLink::m_handover)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("SenderMemoryRate",
                          "Rate of the sending GPU's memory; a copy reads and writes it.",
                          DataRateValue(DataRate("26800Gb/s")),
                          scaleacross::Fixed(MakeDataRateAccessor(&StagedLink::m_senderRate)),
                          MakeDataRateChecker())
            .AddAttribute("ReceiverMemoryRate",
                          "Rate of the receiving GPU's memory; a copy reads and writes it.",
                          DataRateValue(DataRate("26800Gb/s")),
                          scaleacross::Fixed(MakeDataRateAccessor(&StagedLink::m_receiverRate)),
                          MakeDataRateChecker())
            .AddTraceSource("FreeSlots",
                            "Slots that the sender may fill.",
                            MakeTraceSourceAccessor(&StagedLink::m_free),
                            "ns3::TracedValueCallback::Uint64");
    return tid;
}

StagedLink::StagedLink()
    : m_clock(Create<JobClock>())
{
}

StagedLink::~StagedLink() = default;

void
StagedLink::SetClock(Ptr<JobClock> clock)
{
    m_clock = clock;
}

void
StagedLink::Connect(PieceSender send, CreditSender credit, Delivery deliver)
{
    m_send = std::move(send);
    m_credit = std::move(credit);
    m_deliver = std::move(deliver);
    m_free = m_slots;
    FixAttributes("the link is connected");
}

Time
StagedLink::CopyTime(Bytes bytes, const DataRate& rate) const
{
    const scaleacross::BitRate memory(static_cast<double>(rate.GetBitRate()));
    return PicoSeconds(scaleacross::SerialisationTime(bytes * 2, memory).Ps());
}

void
StagedLink::Send(Bytes bytes, uint64_t tag)
{
    NS_LOG_FUNCTION(this << bytes.Count() << tag);
    const uint64_t first = m_next;
    uint64_t left = bytes.Count();
    const uint64_t most = std::min<uint64_t>((left + m_least - 1) / m_least, m_slotSize);
    do
    {
        const Bytes piece(std::min(left, most));
        m_in.pieces.push_back({m_next, piece});
        m_pieces[m_next] = {first, piece};
        left -= piece.Count();
        m_next++;
    } while (left > 0);
    m_messages[first] = {tag, m_next - first};
    CopyIn();
}

void
StagedLink::CopyIn()
{
    if (m_in.pieces.empty() || m_free.Get() == 0 || !m_in.event.IsExpired())
    {
        return;
    }
    m_free -= 1;
    m_in.event = m_clock->Schedule(CopyTime(m_in.pieces.front().bytes, m_senderRate),
                                   [this] { CopiedIn(); });
}

void
StagedLink::CopiedIn()
{
    const Piece piece = m_in.pieces.front();
    m_in.pieces.pop_front();
    m_clock->Schedule(m_handover / 2, [link = Ptr<StagedLink>(this), piece] {
        if (link->m_send)
        {
            link->m_send(piece.bytes, piece.number);
        }
    });
    CopyIn();
}

void
StagedLink::PieceArrived(uint64_t number)
{
    const Piece piece{number, m_pieces.at(number).bytes};
    m_clock->Schedule(m_handover / 2, [link = Ptr<StagedLink>(this), piece] {
        link->m_out.pieces.push_back(piece);
        link->CopyOut();
    });
}

void
StagedLink::CopyOut()
{
    if (m_out.pieces.empty() || !m_out.event.IsExpired())
    {
        return;
    }
    m_out.event = m_clock->Schedule(CopyTime(m_out.pieces.front().bytes, m_receiverRate),
                                    [this] { CopiedOut(); });
}

void
StagedLink::CopiedOut()
{
    const uint64_t number = m_out.pieces.front().number;
    m_out.pieces.pop_front();
    const auto piece = m_pieces.find(number);
    const auto message = m_messages.find(piece->second.first);
    m_pieces.erase(piece);
    CopyOut();
    m_credit();
    if (--message->second.pieces == 0)
    {
        const uint64_t tag = message->second.tag;
        m_messages.erase(message);
        m_deliver(tag);
    }
}

void
StagedLink::CreditArrived()
{
    m_free += 1;
    CopyIn();
}

void
StagedLink::DoDispose()
{
    m_in.event.Cancel();
    m_out.event.Cancel();
    m_in.pieces.clear();
    m_out.pieces.clear();
    m_send = nullptr;
    m_credit = nullptr;
    m_deliver = nullptr;
    Object::DoDispose();
}

} // namespace ns3
