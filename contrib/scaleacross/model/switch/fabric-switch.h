// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_SWITCH_H
#define SCALEACROSS_FABRIC_SWITCH_H

#include "pfc-watchdog.h"
#include "shared-buffer.h"
#include "switch-port.h"

#include "ns3/arrival-agenda.h"
#include "ns3/attribute-guard.h"
#include "ns3/credit-link.h"
#include "ns3/data-rate.h"
#include "ns3/flow-hash.h"
#include "ns3/lane-map.h"
#include "ns3/object.h"
#include "ns3/path-selector.h"
#include "ns3/route-table.h"
#include "ns3/type-id.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * An output-queued switch with one shared packet memory, PFC and a choice of paths; aggregated to a
 * Node.
 *
 * Model: a packet that has arrived whole is looked up, admitted to the memory or dropped
 * (SharedBuffer has the rules), and joins the queue of its egress port; its memory is free when its
 * last bit has left. If a lossless ingress crosses its threshold, the switch sends a pause frame
 * back at once, and a resume frame at the moment at which the ingress may go on. Headroom is
 * reserved for every (port, lossless priority), computed from rate, delay and MaxPacketSize; a
 * BufferSize that cannot hold it is refused before time zero. Forwarding takes no time besides
 * store-and-forward.
 *
 * Of several ports to a destination, the one that PathSelector chooses; ECMP per flow if nothing
 * else is set.
 *
 * With WatchdogDetection, a PfcWatchdog gives up on queues that stay paused.
 *
 * ECN: a packet that may be marked, of a priority in EcnPriorities, is marked with a probability
 * that follows from the bytes waiting in its egress queue when it joins, or leaves (EcnMarker).
 *
 * A port whose wire is down (FabricWire::SetUp) is in the tables until somebody takes it out
 * (ChangeRoutes; FabricEvents does so after a detection delay). What waits for it, and what comes
 * for it meanwhile, is thrown away as link-down, or with KeepAtDownPort waits until the tables know
 * another way or the wire is back; what no table names any more is dropped as no-route. Memory is
 * freed by the normal rules. The switch forgets that it has stopped the neighbour on this port;
 * should the wire be back while that ingress still holds more than it may, the next packet that
 * comes in by it asks for a pause again, and what does not fit into the headroom that is still in
 * use is dropped.
 *
 * Trimming, with Trim: a data packet of a lossy priority that would make its queue longer than
 * TrimThreshold, or finds no room in the memory, loses its payload instead of its life. What is
 * left takes TrimmedSize bytes, is marked `trimmed`, has TrimPriority, and joins that queue of the
 * same port; it is dropped only if there is no room for it either. So the receiver learns of the
 * loss as soon as a short packet can get there.
 *
 * With Credits there are no pauses: every virtual lane (priority) of every port has a receive
 * buffer of its own, of VlBuffer bytes, and the neighbour sends no more than there is room for
 * (CreditLink, FabricPort). What a packet took is granted anew at the moment at which its last bit
 * has left; what leaves at that moment, leaves first. Nothing is dropped for want of room. A packet
 * goes on by the lane that LaneMap names for its service level, which is the priority with which
 * its NIC has sent it; without a map it keeps its lane.
 *
 * Left out: cut-through, pause quanta, per-priority pools, a forwarding latency (add
 * it to the Delay of the wires).
 *
 * Worked case: 16 senders at 100 Gb/s into one port. Together they bring 1.6 Tb/s and 0.1 Tb/s
 * leaves; each ingress holds what T = alpha (S - U) allows, is then paused, and sends again when it
 * is resumeOffset below: the port never idles and nothing is lost.
 */
class FabricSwitch : public Object,
                     public scaleacross::AttributeOwner,
                     private scaleacross::ArrivalAgenda::Owner,
                     private scaleacross::PfcWatchdog::Owner,
                     private scaleacross::EgressQueues
{
  public:
    /// Signature of trace sources: a port and a priority, and whether what the source tells of
    /// begins (true) or ends.
    using IngressPauseTracedCallback = void (*)(uint32_t port, uint8_t priority, bool begins);

    /// Ports that a switch may have.
    static constexpr uint32_t kMostPorts = 65'535;

    static TypeId GetTypeId();
    FabricSwitch();
    ~FabricSwitch() override;

    /// Adds a port to the switch and to its node, which the switch must be aggregated to. Throws
    /// ConfigError if there are kMostPorts.
    Ptr<SwitchPort> AddPort();
    uint32_t GetNPorts() const;
    Ptr<SwitchPort> GetPort(uint32_t number) const;

    /// Where packets go. To be filled before time zero; CheckConfig throws ConfigError if it names
    /// a port that is not there.
    scaleacross::RouteTable& Routes();
    const scaleacross::RouteTable& Routes() const;

    /// Chooses among the ports to a destination.
    Ptr<PathSelector> GetPathSelector() const;
    /// The selector is this switch's alone, and gets the stream that was assigned to the one
    /// before. Throws ConfigError if it is null, or the run has begun.
    void SetPathSelector(Ptr<PathSelector> selector);
    /// The same, with a new one of a type derived from PathSelector.
    void SetPathSelectorType(TypeId type);
    TypeId GetPathSelectorType() const;

    /**
     * The port by which a packet with this source, destination, entropy and queue pair leaves as
     * things are now. Throws ConfigError if there is no route, if something was set after
     * CheckConfig, or if what chooses among several ports does not go by the flow's hash alone.
     */
    uint32_t PredictPort(const scaleacross::FabricPacket& packet) const;

    /// Header fields by which this switch tells flows apart; see ParseHashFields. Like the two
    /// below it throws ConfigError if the run has begun.
    void SetHashFields(std::string names);
    std::string GetHashFields() const;

    /// LaneMap's rules as text; empty: packets keep their lanes. Set before time zero.
    void SetLaneMap(std::string rules);
    std::string GetLaneMap() const;

    void SetHashSeed(uint64_t seed);
    uint64_t GetHashSeed() const;
    void SetHashPerSwitch(bool perSwitch);
    bool GetHashPerSwitch() const;

    /**
     * Changes the routes during a run, at the Simulator's time and after all else that happens at
     * that time. Packets that wait for a port whose wire is down then go by another one if the
     * routes name one. Throws ConfigError if the switch has run ahead of now, or if the new routes
     * name a port that is not there.
     */
    void ChangeRoutes(const std::function<void(scaleacross::RouteTable&)>& change);

    /// Throws all packets away that wait in any queue, as a switch does that has lost its power:
    /// link-down. Throws ConfigError if the switch has run ahead of now.
    void DropAll();

    /**
     * Computes the headroom of every port and checks the configuration; throws ConfigError with the
     * values if the buffer cannot hold it. Called at time zero if not before.
     */
    void CheckConfig();

    /// Longest packet in bytes of wire time that is not dropped as oversize.
    uint32_t GetMaxPacketSize() const;

    /// Bytes reserved for one port and each of its lossless priorities. After CheckConfig.
    uint64_t GetHeadroom(uint32_t port) const;

    /// Announces that at `time` somebody will look at counters or change something: the switch does
    /// not run ahead of that. Throws ConfigError if it already has.
    void HoldAt(Time time);

    // --- Counters, exact at the time of the call (with LookAhead: at a time announced by HoldAt)
    // --

    uint64_t GetDrops(scaleacross::DropReason reason) const;
    uint64_t GetDrops() const;
    /// Bytes in the buffer.
    uint64_t GetOccupancy();
    /// Most bytes there have ever been in the buffer.
    uint64_t GetPeakOccupancy() const;
    /// Most headroom any ingress has used, as a share of its reservation.
    double GetPeakHeadroomShare() const;
    /// Bytes in the buffer that came in by `port` with `priority`.
    uint64_t GetHeld(uint32_t port, uint8_t priority);

    /// Packets of one ingress that wait in one egress queue.
    struct HeldBytes
    {
        uint32_t ingress;
        uint8_t lane; //!< priority with which they came in: another one only with a LaneMap
        uint32_t egress;
        uint8_t priority; //!< of the queue
        uint64_t bytes;
        uint64_t blocks; //!< of credits
    };

    /// Which queues hold whose packets, found by walking along all of them; packets being sent are
    /// not in a queue. Sorted by egress, priority, ingress, lane.
    std::vector<HeldBytes> GetHeldBytes();
    /// True if the neighbour on `port` could be resumed, or with Credits be granted enough for its
    /// next packet, when of all packets here only these were left.
    bool CouldResume(uint32_t port, uint8_t priority, const std::vector<HeldBytes>& left) const;
    /// It has credits in place of pauses.
    bool HasCredits() const;
    /// Virtual lane by which packets of a service level leave; the level itself without a LaneMap.
    /// After CheckConfig.
    uint8_t LaneOf(uint32_t in, uint32_t out, uint8_t level) const;
    bool HasLaneMap() const;
    /// Bit p is set if priority p is lossless here: if its neighbours can be paused. Ports without
    /// Pfc are exempt.
    uint32_t GetLosslessPriorities() const;
    /// Pause frames sent (resumes not counted).
    uint64_t GetPauses() const;
    /// True while this switch keeps `priority` of the neighbour on `port` stopped.
    bool IsPausing(uint32_t port, uint8_t priority) const;
    /// True while the PFC watchdog has given up on the queue of `priority` at `port`.
    bool IsStorm(uint32_t port, uint8_t priority) const;
    /// How often the PFC watchdog has given up on a queue.
    uint64_t GetStorms() const;
    /// Packets that have been marked.
    uint64_t GetEcnMarked() const;
    /// Packets that have lost their payload here, whether their rest found room or not.
    uint64_t GetTrimmed() const;

    /// Fixes the random streams, one for the marking of each port and those of the path selector
    /// after them; returns how many that are.
    int64_t AssignStreams(int64_t stream);

    /// Packets that waited for a port whose wire was down and have been given another way.
    uint64_t GetRerouted() const;

    /// Packets waiting in all ports, found by walking along the queues.
    uint64_t GetQueuedPackets() const;

    const char* WhyFixed() const override;
    void AttributeSet() override;

  private:
    friend class SwitchPort;

    struct PausedIngress
    {
        uint32_t port;
        uint8_t priority;
    };

    /// When a port's line is free again.
    struct PortEnd
    {
        int64_t time;
        uint32_t port;

        bool operator>(const PortEnd& other) const
        {
            return time > other.time;
        }
    };

    void DoInitialize() override;
    void DoDispose() override;
    void HandleAlarm(int64_t now) override;
    bool IsVisible(const scaleacross::FabricPacket& packet) const override;
    bool IsWatched() const override;

    int64_t WaitAt(uint16_t port, uint8_t priority, int64_t now) override;
    bool IsWaiting(uint32_t port, uint8_t priority) const override;
    void Mark(uint32_t port, uint8_t priority, bool marked) override;
    void BeginStorm(uint32_t port, uint8_t priority, int64_t now) override;
    void EndStorm(uint32_t port, uint8_t priority, int64_t now) override;
    void WatchPause(uint32_t port, uint8_t priority, bool paused, int64_t now);
    bool WatchdogAdmits(SwitchPort& egress, const scaleacross::FabricPacket& packet, int64_t now);
    bool MayJoin(SwitchPort& egress,
                 const scaleacross::FabricPacket& packet,
                 int64_t now,
                 scaleacross::DropReason& reason);
    void Join(SwitchPort& egress, scaleacross::FabricPacket* packet, int64_t now);

    void LinkChanged(SwitchPort& port, bool up, int64_t now);
    void CheckLink(uint32_t port, DataRate own, DataRate peer, Time delay) const;
    void CheckNotRunning(const char* attribute) const;
    void CheckRoutes() const;
    uint32_t CountLossless() const;
    uint64_t HeadroomOf(uint32_t port, DataRate own, DataRate peer, Time delay) const;
    void PlanResumeAt(int64_t now);
    void DropQueues(SwitchPort& port, scaleacross::DropReason reason, int64_t now);
    void DropQueue(SwitchPort& port, uint8_t priority, scaleacross::DropReason reason, int64_t now);
    void Reroute(SwitchPort& from, uint8_t priority, int64_t now);
    bool MustMove(const scaleacross::FabricPacket& packet, const SwitchPort& from) const;
    const scaleacross::PortGroup* DeadGroup(const scaleacross::FabricPacket& packet) const;
    void Forward(SwitchPort& ingress, scaleacross::FabricPacket* packet, int64_t now);
    uint16_t ChoosePort(const scaleacross::PortGroup& group,
                        const scaleacross::FabricPacket& packet,
                        int64_t now);
    bool Admit(SwitchPort& ingress,
               SwitchPort& egress,
               scaleacross::FabricPacket& packet,
               int64_t now);
    void SetUpEcn();
    void SetUpTrimming();
    bool MayTrim(const SwitchPort& ingress, const scaleacross::FabricPacket& packet) const;
    void Trim(scaleacross::FabricPacket& packet);
    void Drop(SwitchPort& ingress,
              scaleacross::FabricPacket* packet,
              scaleacross::DropReason reason);
    void CatchUp(int64_t now);
    void PauseIngress(SwitchPort& ingress, uint8_t priority, int64_t now);
    void PlanResume(int64_t now);
    void Refuse(SwitchPort& ingress,
                scaleacross::FabricPacket* packet,
                scaleacross::DropReason reason,
                int64_t now);
    void CheckFlowControl() const;
    scaleacross::CreditBuffer CreditBufferOf(uint32_t port) const;
    void SetUpCredits();
    /// Those of an earlier configuration, before time zero.
    void ForgetCredits();
    uint8_t LaneAt(uint32_t egress, const scaleacross::FabricPacket& packet) const;
    void FreeCredits(uint32_t port, uint8_t lane, uint32_t bytes);
    void ReturnCredits(int64_t now);

    /// With credits: a port has begun to send, and is free at `end`.
    void NoteEnd(uint32_t port, int64_t end);

    /// A packet has left the memory.
    void Release(uint32_t ingress, uint8_t priority, uint32_t bytes)
    {
        m_buffer.Release(ingress, priority, bytes);
        if (m_credits)
        {
            FreeCredits(ingress, priority, bytes);
        }
    }

    scaleacross::ArrivalAgenda m_agenda;
    scaleacross::RouteTable m_routes;
    scaleacross::SharedBuffer m_buffer;
    scaleacross::PfcWatchdog m_watchdog;
    std::vector<Ptr<SwitchPort>> m_ports;
    std::vector<PausedIngress> m_pausing; //!< ingresses stopped, first stopped first
    std::vector<uint8_t> m_pausingBits;   //!< per port: bit per priority
    scaleacross::FlowHash m_flowHash;
    PathSelector* m_asked{nullptr}; //!< the selector, unless flows are simply hashed
    uint32_t m_lossless{0};         //!< bit per priority
    uint32_t m_ecn{0};              //!< bit per priority whose packets may be marked when they join
    int64_t m_caughtUp{-1};         //!< time of the last CatchUp of all ports
    uint64_t m_peak{0};
    uint64_t m_pauses{0};
    uint64_t m_rerouted{0};
    uint64_t m_trimmed{0};
    std::array<uint64_t, scaleacross::kDropReasons> m_drops{};
    std::vector<uint64_t> m_headroom; //!< per port, of each lossless priority
    std::vector<PortEnd> m_ends;      //!< with credits: a heap, the earliest first
    std::vector<uint32_t> m_freed;    //!< port * 8 + lane: where room has been made since the alarm
    std::unique_ptr<scaleacross::LaneMap> m_laneMap;    //!< null: packets keep their lanes
    const scaleacross::FabricPacket* m_asking{nullptr}; //!< for which the selector is asked
    bool m_checked{false};

    uint64_t m_bufferSize{0};
    double m_alphaLossless{0};
    double m_alphaLossy{0};
    uint64_t m_resumeOffset{0};
    uint32_t m_maxPacket{0};
    uint64_t m_hashSeed{0};
    bool m_hashPerSwitch{true};
    uint8_t m_hashFields{0}; //!< bits of HashField
    Ptr<PathSelector> m_selector;
    uint32_t m_losslessMask{0};
    bool m_pfc{true};
    bool m_credits{false};
    uint32_t m_lanes{0};
    uint64_t m_vlBuffer{0};
    uint32_t m_creditUpdate{0};
    uint64_t m_maxCreditBlocks{0};
    std::string m_laneMapText;
    bool m_ecnVictims{false};
    bool m_lookAhead{false};
    double m_headroomScale{1.0};
    Time m_response;
    Time m_watchdogDetection;
    Time m_watchdogRestoration;
    bool m_watchdogForward{false};
    bool m_keepAtDownPort{false};
    uint32_t m_ecnMask{0};
    uint64_t m_kmin{0};
    uint64_t m_kmax{0};
    double m_pmax{0};
    uint32_t m_ecnMarkingRate{0};
    bool m_ecnAtDeparture{false};
    DataRate m_ecnReference;
    int64_t m_stream{-1}; //!< of port 0, -1 if none was assigned
    bool m_trim{false};
    uint64_t m_trimThreshold{0};
    DataRate m_trimReference;
    uint32_t m_trimmedSize{0};
    uint8_t m_trimPriority{0};

    TracedCallback<const scaleacross::FabricPacket&> m_trimTrace;
    TracedCallback<uint32_t, uint8_t, bool> m_pauseTrace;
    TracedCallback<uint32_t, uint8_t, bool> m_stormTrace;
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_SWITCH_H
