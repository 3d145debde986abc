// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_WIRE_H
#define SCALEACROSS_FABRIC_WIRE_H

#include "fabric-packet.h"
#include "loss-model.h"
#include "packet-ring.h"

#include "ns3/channel.h"
#include "ns3/nstime.h"

#include <array>
#include <cstdint>
#include <string>

namespace ns3
{
class FabricPort;
class FabricWire;
} // namespace ns3

namespace scaleacross
{

class ArrivalAgenda;

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
    int64_t ReceiverWindow() const;

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

    PacketRing m_flight;
    ns3::FabricPort* m_from{nullptr};
    ns3::FabricPort* m_to{nullptr};
    ArrivalAgenda* m_agenda{nullptr}; //!< of the receiving node
    uint32_t m_order{0};
    bool m_senderHasMore{false};
    int64_t m_delay{0}; //!< ps
    int64_t m_last{0};  //!< arrival of the last packet put on
    uint64_t m_lost{0};
    ns3::Ptr<ns3::FabricLossModel> m_loss; //!< null: nothing is lost
};

} // namespace scaleacross

namespace ns3
{

/**
 * A full-duplex cable between two ports: propagation delay and random loss.
 *
 * Model: a packet whose last bit leaves the sender at t arrives, whole, at t + Delay. Packets, ACKs
 * included, may be lost in either direction: with probability LossRate each, or as a
 * FabricLossModel says, of which each direction has its own (LossModel for both, SetLossModel for
 * one). A lost packet takes its time on the wire all the same. Pause frames are never lost: real
 * ones are repeated, which is not modelled.
 *
 * Left out: flaps.
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
    /// Independent loss in both directions; takes the place of other models. 0 if there are others.
    double GetLossRate() const;
    void SetLossRate(double loss);
    /// A new model for each direction, from "ns3::TypeId" or "ns3::TypeId[Attribute=value|...]";
    /// "" takes away what was made like this.
    std::string GetLossModels() const;
    void SetLossModels(std::string description);
    /// The model of the direction that leaves device `i`; null: nothing is lost.
    Ptr<FabricLossModel> GetLossModel(std::size_t i) const;
    /// Domain: a model that no other direction has.
    void SetLossModel(std::size_t i, Ptr<FabricLossModel> model);

    /// Packets in flight in both directions.
    uint64_t GetInFlight() const;
    /// Packets lost in both directions.
    uint64_t GetLost() const;

    /// Fixes the streams of both directions, also for models that are set later: `stream` for one,
    /// `stream` + 1 (or what the first one's model leaves) for the other. Returns how many are
    /// used.
    int64_t AssignStreams(int64_t stream);

  private:
    void DoDispose() override;
    void Install(std::size_t i, Ptr<FabricLossModel> model);
    /// What has left before now has left under the conditions up to now.
    void CatchUp();

    std::array<Ptr<FabricPort>, 2> m_ports;
    std::array<scaleacross::FabricLane, 2> m_lanes;
    Time m_delay;
    double m_loss{0};
    std::string m_lossModels;
    std::array<Ptr<IidLossModel>, 2> m_iid;     //!< what LossRate has made
    std::array<int64_t, 2> m_streams{{-1, -1}}; //!< -1: not fixed
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_WIRE_H
