// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_WIRE_H
#define SCALEACROSS_FABRIC_WIRE_H

#include "fabric-packet.h"

#include "ns3/channel.h"
#include "ns3/nstime.h"

#include <array>
#include <cstdint>

namespace ns3
{
class FabricPort;
class FabricWire;
class UniformRandomVariable;
} // namespace ns3

namespace scaleacross
{

class ArrivalAgenda;

/**
 * One direction of a wire: the packets in flight, in order of arrival.
 *
 * Losses are independent with probability q per packet. Instead of one random number for every
 * packet, the lane draws how many packets pass before the next loss, k = floor(ln U / ln(1 - q)),
 * which is the same process.
 */
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
        const FabricPacket* head = m_flight.Front();
        Prefetch(head->next); // its time will be asked for when this one has arrived
        return head->arrival;
    }

    /// Domain: not empty.
    FabricPacket* Pop()
    {
        return m_flight.PopFront();
    }

    /// Puts a packet on the wire whose last bit leaves the sender at `end` (ps).
    void Push(FabricPacket* packet, int64_t end);

    /// Hands a packet that has been popped to the receiver, or drops it if the wire lost it.
    void Deliver(FabricPacket* packet, int64_t now);

    /// Packets the wire has lost so far.
    uint64_t Lost() const
    {
        return m_lost;
    }

    /// Packets in flight, pause frames not counted; found by walking along the wire.
    uint64_t InFlight() const;

  private:
    friend class ns3::FabricWire;

    bool NextIsLost();
    void DrawGap();

    PacketList m_flight;
    ns3::FabricPort* m_from{nullptr};
    ns3::FabricPort* m_to{nullptr};
    ArrivalAgenda* m_agenda{nullptr}; //!< of the receiving node
    uint32_t m_order{0};
    bool m_senderHasMore{false};
    bool m_lossy{false};
    bool m_drawn{false}; //!< m_gap is valid
    int64_t m_delay{0};  //!< ps
    int64_t m_last{0};   //!< arrival of the last packet put on
    uint64_t m_gap{0};   //!< packets that pass before the next loss
    uint64_t m_lost{0};
    double m_loss{0};
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
};

} // namespace scaleacross

namespace ns3
{

/**
 * A full-duplex cable between two ports: propagation delay and independent random loss.
 *
 * Model: a packet whose last bit leaves the sender at t arrives, whole, at t + Delay. Each packet,
 * ACKs included, is lost with probability LossRate in each direction; it takes its time on the wire
 * all the same. Pause frames are never lost: real ones are repeated, which is not modelled.
 *
 * Left out: bit errors that depend on length, bursts, flaps (they come as models of their own).
 *
 * Worked case: 1,048 bytes over 100 Gb/s and a 1 us wire leave in 83.84 ns and are there, if the
 * sender was idle, 1,083.84 ns after they were handed to it.
 */
class FabricWire : public Channel
{
  public:
    static TypeId GetTypeId();
    FabricWire();
    ~FabricWire() override;

    /// Joins two ports. To be called once, before time zero.
    void Attach(Ptr<FabricPort> a, Ptr<FabricPort> b);

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

    /// Port at the other end.
    Ptr<FabricPort> GetPeer(const FabricPort* port) const;

    /// The direction that leaves device `i`.
    const scaleacross::FabricLane& GetLane(std::size_t i) const;

    Time GetDelay() const;
    /// Packets already under way keep their arrival; none overtakes another.
    void SetDelay(Time delay);
    double GetLossRate() const;
    void SetLossRate(double loss);

    /// Packets in flight in both directions.
    uint64_t GetInFlight() const;
    /// Packets lost in both directions.
    uint64_t GetLost() const;

    /// Uses streams `stream` and `stream` + 1, one per direction; returns 2.
    int64_t AssignStreams(int64_t stream);

  private:
    void DoDispose() override;
    /// What has left before now has left under the conditions up to now.
    void CatchUp();

    std::array<Ptr<FabricPort>, 2> m_ports;
    std::array<scaleacross::FabricLane, 2> m_lanes;
    Time m_delay;
    double m_loss{0};
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_WIRE_H
