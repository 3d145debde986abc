// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_WIRE_H
#define SCALEACROSS_FABRIC_WIRE_H

#include "fabric-lane.h"

#include "ns3/channel.h"
#include "ns3/nstime.h"

#include <array>
#include <cstdint>
#include <string>

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
