// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FAST_FORWARD_H
#define SCALEACROSS_FAST_FORWARD_H

#include "core/engine/run-report.h"

#include "ns3/event-id.h"
#include "ns3/flow-track.h"
#include "ns3/job-clock.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{

class ClusterTransport;
class FabricLossModel;
class FabricPort;
class FabricSwitch;
class FabricWire;
class RdmaConnection;
class RdmaQueuePair;

/**
 * Skips the time in which nothing changes in the network of a job but how much of its messages is
 * left to send.
 *
 * Model: after every message that is posted or arrives, the connections under way are looked at, at
 * first every 469 ns (the time between two looks grows with the time since the change).
 * Where nothing moves, or a NIC serves many, they are looked at less often; and where one of them
 * will have sent its message before it could be judged, not before that.
 *
 * Once all of them are steady (FlowTrack), and while no packet is repeated and every message on its
 * way has more to send, the state of the network at t + T is that at t. So T is skipped: the job's
 * clock goes T ahead, and of each queue pair so many packets are left out as it would have sent in
 * that time. All packets on wires and in queues stay as they are.
 *
 * T ends with the job's next event (after which it goes on if that has posted nothing), before a
 * queue pair has sent its message, before a wire loses its next packet, and at kReach times as
 * long as has been looked at.
 *
 * A packet that is lost, dropped or trimmed leaves a gap that nobody knows of until what follows
 * has arrived: by rates and packets in flight all is steady. Skipped over, the gap would be nearer
 * to the end of its message, where it costs a round trip more, or a timeout. And a timer that runs
 * for it would run on. So nothing is skipped until all that had been sent by then has been
 * acknowledged.
 *
 * Where something is held back by a window, by credits, by pauses or by a congestion control, it
 * may come in bursts of which each looks steady: nothing is skipped there. Nor where flowlets
 * choose paths: of a flow that rests, the rest would be shorter.
 *
 * What wires have carried is known exactly where the path of each queue pair is (PathOf); else it
 * is taken to be what they carried in the time looked at, per time.
 *
 * A share of what could be skipped is simulated instead, and what has been sent then is compared
 * with what would have been left out: that is the error of which the report tells. Beyond
 * kMostError it refuses.
 *
 * Left out: phases in which only some of the network is steady.
 *
 * Worked case: 54.5 MB at 400 Gb/s take 1.1 ms. It is seen that they are steady after 15 us, or 7.5
 * us after their first packet has arrived if that is later; the rest is skipped but for a few
 * packets' time.
 */
class FastForward
{
  public:
    /// Mean error of what has been compared.
    static constexpr double kMostError = 0.01;
    /// Looked at before it is refused for its error.
    static constexpr uint32_t kLeastChecks = 3;

    /// What it looks at.
    struct Network
    {
        std::vector<Ptr<FabricWire>> wires;
        std::vector<Ptr<FabricSwitch>> switches;
        bool credits{false}; //!< in place of pauses
    };

    /// `verified`: share, from 0 to 1, of what could be skipped that is simulated to compare.
    FastForward(Ptr<JobClock> clock,
                Ptr<ClusterTransport> transport,
                Network network,
                double verified);
    ~FastForward();
    FastForward(const FastForward&) = delete;
    FastForward& operator=(const FastForward&) = delete;

    /// Called with a sentence if its error is beyond kMostError.
    void SetRefusal(std::function<void(const std::string&)> refusal);

    /// Bytes of data packets left out of a wire, in the direction that leaves its device `end`.
    uint64_t LeftOut(std::size_t wire, std::size_t end) const;

    scaleacross::FastForwardReport Report() const;

  private:
    /// A connection that has messages under way.
    struct Flow
    {
        explicit Flow(Ptr<RdmaConnection> of);

        Ptr<RdmaConnection> connection;
        scaleacross::FlowTrack track;
        std::vector<uint64_t> sent;       //!< by queue pair, when last looked at
        uint64_t troubles{0};             //!< when last looked at
        uint64_t troublesAtFirst{0};      //!< of those since the change
        bool waits{false};                //!< for a time, when last looked at
        bool bounded{false};              //!< a window or a congestion control may hold it back
        std::vector<std::size_t> senders; //!< by queue pair, of m_senders
        std::vector<double> slopes;       //!< packets per ps, by queue pair, once all are steady
    };

    /// A NIC that has something under way. What it has sent is known to the part of a packet, which
    /// makes rates five times as exact as whole packets do.
    struct Sender
    {
        const FabricPort* port;
        uint32_t lane;
        double psPerPacket;
        uint32_t flows;
        std::vector<double> sent; //!< by sample
        double now;
    };

    /// A queue pair that may have a gap before that packet.
    struct Unsettled
    {
        const RdmaConnection* connection;
        uint32_t queuePair;
        uint64_t upTo;
    };

    /// What a connection would have sent while a check lasts.
    struct Checked
    {
        Ptr<RdmaConnection> connection;
        const FabricPort* sender; //!< of its first queue pair
        std::vector<uint64_t> sentBefore;
        double packetsPerPs;
    };

    /// A direction of a wire.
    struct Lane
    {
        const FabricWire* wire;
        std::size_t end;
        FabricLossModel* loss; //!< null: it loses nothing
        double leftOut;        //!< bytes
        double bytesPerPs;
        double packetsPerPs; //!< of one that loses packets
    };

    /// The lanes by which a queue pair's packets go, if that is known, and their size.
    struct Route
    {
        bool known{false};
        std::vector<uint32_t> lanes;
        double packetBytes{0};
    };

    /// What the lanes have carried when so many samples had been taken.
    struct LaneSnapshot
    {
        std::size_t sample;
        int64_t at;
        std::vector<uint64_t> bytes;
        std::vector<uint64_t> passing; //!< of lanes that lose packets, until the next loss
    };

    void Changed();
    void Restart();
    void FindFlows();
    void FindSenders(Flow& flow);
    /// The time, in ps, in which a flow ends at the earliest that is under way: by all of its NIC.
    int64_t EarliestEnd() const;
    void Sample();
    /// False: nothing has moved since the one before.
    bool TakeSample();
    /// Pauses that switches have sent so far.
    uint64_t Pauses() const;
    /// Windows, controls, credits or pauses may hold something back.
    bool IsHeldBack() const;
    /// Packets so far that do not arrive as they were sent.
    uint64_t Damage() const;
    /// All that had been sent when the last of these met its fate has been acknowledged, and its
    /// sender waits for nothing but answers.
    bool IsSettled();
    /// Looks at a flow's queue pairs. Returns its packets in flight.
    uint64_t Look(Flow& flow);
    void Thin();
    LaneSnapshot LanesNow() const;
    /// Of all that is under way.
    bool KnowsRoutes();
    const Route& RouteOf(const Ptr<RdmaQueuePair>& queuePair);
    /// Something has been repeated since the change.
    bool IsDisturbed() const;
    /// From the sample `from` on. If all is steady, it is known how it goes on.
    bool Judge(std::size_t from);
    bool JudgeLanes(std::size_t from);
    void FindSlopes(std::size_t from);
    void Go();
    /// How long it stays like this at most, ps; `ends`: and then no longer.
    int64_t Lasts(bool& ends);
    void Skip(int64_t ps);
    void BeginCheck(int64_t ps);
    void EndCheck();

    Ptr<JobClock> m_clock;
    Ptr<ClusterTransport> m_transport;
    Network m_network;
    bool m_never{false}; //!< credits hold back whatever is under way, or paths depend on rests
    std::vector<Lane> m_lanes; //!< two of each wire
    std::unordered_map<const FabricPort*, uint32_t> m_laneOf;
    /// By queue pair, what should have been left out and is less than a packet.
    std::unordered_map<const RdmaConnection*, std::vector<double>> m_carry;
    std::unordered_map<const RdmaQueuePair*, Route> m_routes;
    double m_verified;
    std::function<void(const std::string&)> m_refusal;

    std::vector<Flow> m_flows; //!< since the last change
    std::vector<Sender> m_senders;
    std::vector<LaneSnapshot> m_snapshots;
    std::size_t m_samples{0};
    uint64_t m_moved{0}; //!< packets that had been sent and had arrived at the last sample
    int64_t m_quiet{1};  //!< how many times m_every until the next sample: more while nothing moves
    int64_t m_every{0};  //!< ps between two samples
    uint64_t m_pauses{0}; //!< up to the change
    std::vector<const FabricLossModel*> m_losses;
    uint64_t m_damage{0};   //!< when last looked at
    int64_t m_damagedAt{0}; //!< ps: it was then more than before
    std::vector<Unsettled> m_unsettled;
    EventId m_next; //!< sample
    bool m_steady{false};
    int64_t m_budget{0}; //!< ps that may be skipped on what is known

    EventId m_checkEnd;
    int64_t m_checkLength{0};
    std::vector<Checked> m_checked;

    scaleacross::FastForwardReport m_report;
    double m_errorPs{0}; //!< sum of error times time checked
};

} // namespace ns3

#endif // SCALEACROSS_FAST_FORWARD_H
