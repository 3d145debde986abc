// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_WIRE_H
#define SCALEACROSS_FABRIC_WIRE_H

#include "fabric-lane.h"

#include "ns3/channel.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <array>
#include <cstdint>
#include <string>

namespace ns3
{

/**
 * A full-duplex cable between two ports: propagation delay, random loss, and failure.
 *
 * Model: a packet whose last bit leaves the sender at t arrives, whole, at t + Delay. Packets, ACKs
 * included, may be lost in either direction: with probability LossRate each, or as a
 * FabricLossModel says, of which each direction has its own (LossModel for both, SetLossModel for
 * one). A lost packet takes its time on the wire all the same. Pause frames are never lost: real
 * ones are repeated, which is not modelled.
 *
 * It may break (SetUp(false)) and come back. A change at t comes after everything else that happens
 * at t at its two ends: a packet whose last bit is there at t has arrived. All others on the wire
 * are lost in both directions as link-down, the ones being sent and pause frames included. The line
 * is free at once, but nothing starts on it until it is up again. Pauses that one end had asked of
 * the other are void; both begin anew without any. Its rate may change too (SetDataRate): the
 * packets being sent are finished at the old one.
 *
 * With look-ahead, changes during a run have to be announced (FabricHelper::HoldAt).
 *
 * Left out: an end that does not notice, one direction that fails alone, negotiation when it comes
 * up, ends in different processes of a run that is partitioned over MPI (Attach refuses them).
 *
 * Worked case: 1,048 bytes over 100 Gb/s and a 1 us wire leave in 83.84 ns and are there, if the
 * sender was idle, 1,083.84 ns after they were handed to it. If the wire breaks 1,083.84 ns after
 * that time, they are there; a picosecond before, they are lost.
 */
class FabricWire : public Channel
{
  public:
    /// Signature of a trace source.
    using LinkTracedCallback = void (*)(bool up);

    static TypeId GetTypeId();
    FabricWire();
    ~FabricWire() override;

    /// Joins two ports. To be called once, before time zero. Throws ConfigError if a port is not
    /// free, if both are of one switch or NIC, or if another process simulates one of their nodes
    /// (scaleacross::CheckPartition).
    void Attach(Ptr<FabricPort> a, Ptr<FabricPort> b);

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

    /// Port at the other end.
    Ptr<FabricPort> GetPeer(const FabricPort* port) const;

    /// The direction that leaves device `i`.
    const scaleacross::FabricLane& GetLane(std::size_t i) const;

    Time GetDelay() const;
    /// Packets already under way keep their arrival; none overtakes another. During a run it
    /// throws ConfigError like SetUp, and if a switch has reserved too little headroom for it; the
    /// delay is then what it was.
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

    bool IsUp() const;
    /// Breaks the wire, or brings it back. Throws ConfigError if an end has run ahead of now.
    void SetUp(bool up);
    /// Rate of both ports. Throws ConfigError like SetUp, and if a switch has reserved too little
    /// headroom for it; the rate is then what it was.
    void SetDataRate(DataRate rate);
    /// The same for one of them: FabricPort::SetDataRate.
    void SetDataRate(const FabricPort& port, DataRate rate);

    /// For its ports: time zero. (ns-3 initialises nodes, not channels.)
    void BeginRun();

    /// Packets in flight in both directions.
    uint64_t GetInFlight() const;
    /// Packets lost in both directions by LossRate or LossModel.
    uint64_t GetLost() const;
    /// Packets that were on the wire when it broke, in both directions.
    uint64_t GetCut() const;

    /// Fixes the streams of both directions, also for models that are set later: `stream` for one,
    /// `stream` + 1 (or what the first one's model leaves) for the other. Returns how many are
    /// used.
    int64_t AssignStreams(int64_t stream);

  private:
    void DoDispose() override;
    /// Throws ConfigError if a switch cannot bear that any more.
    void CheckEnds(const std::array<DataRate, 2>& rates, Time delay) const;
    std::array<DataRate, 2> Rates() const;
    /// The rate of an end is another one, or the wire is up again.
    void NoteRate(std::size_t i);
    void SetRates(const std::array<DataRate, 2>& rates);
    /// Both ends have something to compute anew before time zero.
    void ConfigChanged();
    void Install(std::size_t i, Ptr<FabricLossModel> model);
    /// What has left before now has left under the conditions up to now.
    void CatchUp();
    /// Everything that happens at its ends until now, now included, has happened.
    void Finish();

    std::array<Ptr<FabricPort>, 2> m_ports;
    std::array<scaleacross::FabricLane, 2> m_lanes;
    Time m_delay;
    bool m_up{true};
    bool m_running{false};
    double m_loss{0};
    std::string m_lossModels;
    std::array<Ptr<IidLossModel>, 2> m_iid;     //!< what LossRate has made
    std::array<int64_t, 2> m_streams{{-1, -1}}; //!< -1: not fixed
    TracedCallback<bool> m_upTrace;
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_WIRE_H
