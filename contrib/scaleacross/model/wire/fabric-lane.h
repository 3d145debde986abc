// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_LANE_H
#define SCALEACROSS_FABRIC_LANE_H

#include "arrival-agenda.h"
#include "lane-meter.h"

#include "ns3/fabric-packet.h"
#include "ns3/loss-model.h"
#include "ns3/packet-ring.h"
#include "ns3/ptr.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{
class FabricPort;
class FabricWire;
} // namespace ns3

namespace scaleacross
{

/// One direction of a wire: the packets in flight, in order of arrival, and what loses some of
/// them.
class FabricLane
{
  public:
    ns3::FabricPort* From() const
    {
        return m_from;
    }

    /// Number of the receiving port within its node: what orders arrivals of equal time.
    uint32_t Order() const
    {
        return m_order;
    }

    bool Empty() const
    {
        return m_flight.Empty();
    }

    /// The sending port has packets that can start as soon as it is free; if not, there is no need
    /// to bring it up to date when a packet arrives here.
    bool SenderHasMore() const
    {
        return m_senderHasMore;
    }

    void SetSenderHasMore(bool more)
    {
        m_senderHasMore = more;
    }

    /// Domain: not empty.
    int64_t HeadArrival() const
    {
        return m_flight.FrontTime();
    }

    /// How far the receiver may run ahead of the Simulator, ps.
    int64_t ReceiverWindow() const
    {
        return m_agenda->Window();
    }

    /// Propagation delay, ps.
    int64_t Delay() const
    {
        return m_delay;
    }

    /// When the last packet put on the wire arrives. Domain: not empty.
    int64_t LastArrival() const
    {
        return m_last;
    }

    /// Domain: not empty.
    FabricPacket* Pop()
    {
        return m_flight.PopFront();
    }

    /// Puts a packet on the wire whose last bit leaves the sender at `end` (ps).
    void Push(FabricPacket* packet, int64_t end)
    {
        m_meter.Count(packet->size, end);
        m_data += packet->kind == PacketKind::Data ? packet->size : 0;
        m_last = std::max(m_last, end + m_delay);
        packet->arrival = m_last;
        if (m_loss)
        {
            DrawLoss(*packet);
        }
        const bool wasEmpty = m_flight.Empty();
        m_flight.PushBack(packet, m_last);
        if (m_agenda->SelectsVisible())
        {
            m_agenda->NotePushed(*packet);
        }
        if (wasEmpty)
        {
            m_agenda->Add(this);
        }
    }

    /// Hands a packet that has been popped to the receiver, or drops it if the wire lost it.
    void Deliver(FabricPacket* packet, int64_t now);

    /// The wire breaks at `now`: everything on it is lost.
    void Break(int64_t now);

    /// Packets the wire has lost so far by its loss model.
    uint64_t Lost() const
    {
        return m_lost;
    }

    /// Packets that were on it when it broke.
    uint64_t Cut() const
    {
        return m_cut;
    }

    /// What it has carried so far, pause and credit frames included.
    const LaneMeter& Meter() const
    {
        return m_meter;
    }

    /// Bytes of data packets that have been put on it, headers included.
    uint64_t DataCarried() const
    {
        return m_data;
    }

    /// Packets in flight, pause frames not counted; found by walking along the wire.
    uint64_t InFlight() const;

  private:
    friend class ns3::FabricWire;

    void DrawLoss(FabricPacket& packet);

    PacketRing m_flight;
    ns3::FabricPort* m_from{nullptr};
    ns3::FabricPort* m_to{nullptr};
    ArrivalAgenda* m_agenda{nullptr}; //!< of the receiving node
    uint32_t m_order{0};
    bool m_senderHasMore{false};
    int64_t m_delay{0}; //!< ps
    int64_t m_last{0};  //!< arrival of the last packet put on
    uint64_t m_lost{0};
    uint64_t m_cut{0};
    LaneMeter m_meter;
    uint64_t m_data{0};
    ns3::Ptr<ns3::FabricLossModel> m_loss; //!< null: nothing is lost
};

} // namespace scaleacross

#endif // SCALEACROSS_FABRIC_LANE_H
