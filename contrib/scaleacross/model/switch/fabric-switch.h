// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_SWITCH_H
#define SCALEACROSS_FABRIC_SWITCH_H

#include "held-bytes.h"
#include "ingress-pauses.h"
#include "pfc-headroom.h"
#include "pfc-watchdog.h"
#include "shared-buffer.h"
#include "switch-credits.h"
#include "switch-paths.h"
#include "switch-port.h"
#include "trimmer.h"

#include "ns3/arrival-agenda.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace ns3
{

/**
 * An output-queued switch with one shared packet memory; aggregated to a Node.
 *
 * Model: a packet that has arrived whole is looked up (SwitchPaths), admitted to the memory or
 * dropped (SharedBuffer has the rules), and joins the queue of its egress port; its memory is free
 * when its last bit has left. If a lossless ingress crosses its threshold, the switch sends a pause
 * frame back at once, and a resume frame at the moment at which the ingress may go on
 * (IngressPauses). Headroom is reserved for every (port, lossless priority) (PfcHeadroom); a
 * BufferSize that cannot hold it is refused before time zero. Forwarding takes no time besides
 * store-and-forward. With WatchdogDetection, a PfcWatchdog gives up on queues that stay paused.
 * With Credits there are no pauses (SwitchCredits). With Trim, what finds no room loses its payload
 * (Trimmer). Packets of EcnPriorities are marked as they join their queue or leave (EcnMarker).
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
 * Left out: cut-through, pause quanta, per-priority pools, a forwarding latency (add it to the
 * Delay of the wires).
 */
class FabricSwitch : public SwitchPaths,
                     private scaleacross::ArrivalAgenda::Owner,
                     private scaleacross::PfcWatchdog::Owner
{
  public:
    using HeldBytes = scaleacross::HeldBytes;

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

    /// LaneMap's rules as text; empty: packets keep their lanes. Set before time zero.
    void SetLaneMap(std::string rules);
    std::string GetLaneMap() const;
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

    // --- Counters, exact at the time of the call (with LookAhead: if HoldAt has announced it)

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

    /// Which queues hold whose packets, found by walking along all of them; packets being sent are
    /// not in a queue. Sorted by egress, priority, ingress, lane.
    std::vector<HeldBytes> GetHeldBytes();
    /// True if the neighbour on `port` could be resumed, or with Credits be granted enough for its
    /// next packet, when of all packets here only these were left.
    bool CouldResume(uint32_t port, uint8_t priority, const std::vector<HeldBytes>& left) const;

    /// It has credits in place of pauses.
    bool HasCredits() const
    {
        return m_creditConfig.on;
    }

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

  private:
    friend class SwitchPort;

    void DoInitialize() override;
    void DoDispose() override;
    void HandleAlarm(int64_t now) override;
    bool IsVisible(const scaleacross::FabricPacket& packet) const override;
    bool IsWatched() const override;
    bool IsEntry(uint16_t port) const override;

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
    void CheckFlowControl() const;
    void ReserveHeadroom();
    void DropQueues(SwitchPort& port, scaleacross::DropReason reason, int64_t now);
    void DropQueue(SwitchPort& port, uint8_t priority, scaleacross::DropReason reason, int64_t now);
    void Reroute(SwitchPort& from, uint8_t priority, int64_t now);
    void Forward(SwitchPort& ingress, scaleacross::FabricPacket* packet, int64_t now);
    bool Admit(SwitchPort& ingress,
               SwitchPort& egress,
               scaleacross::FabricPacket& packet,
               int64_t now);
    bool MayTrim(const SwitchPort& ingress, const scaleacross::FabricPacket& packet) const;
    void Trim(scaleacross::FabricPacket& packet);
    /// Drops a packet that has come in and is in no memory yet.
    void Refuse(SwitchPort& ingress,
                scaleacross::FabricPacket* packet,
                scaleacross::DropReason reason,
                int64_t now);
    void Drop(SwitchPort& ingress,
              scaleacross::FabricPacket* packet,
              scaleacross::DropReason reason);
    /// Gives a packet the lane by which it is to leave.
    void SetLane(scaleacross::FabricPacket& packet, const SwitchPort& egress) const;
    void CatchUp(int64_t now);
    /// Something has changed that neighbours may be waiting for.
    void PlanResumeAt(int64_t now);

    /// A packet has left the memory.
    void Release(uint32_t ingress, uint8_t priority, uint32_t bytes)
    {
        m_buffer.Release(ingress, priority, bytes);
        if (HasCredits())
        {
            m_credits.Free(ingress, priority, bytes);
        }
    }

    TracedCallback<const scaleacross::FabricPacket&> m_trimTrace;
    TracedCallback<uint32_t, uint8_t, bool> m_pauseTrace;
    TracedCallback<uint32_t, uint8_t, bool> m_stormTrace;

    scaleacross::ArrivalAgenda m_agenda;
    std::vector<Ptr<SwitchPort>> m_ports;
    scaleacross::SharedBuffer m_buffer;
    scaleacross::PfcHeadroom m_headroom;
    scaleacross::IngressPauses m_pauses;
    scaleacross::PfcWatchdog m_watchdog;
    scaleacross::SwitchCredits m_credits;
    scaleacross::Trimmer m_trimmer;
    int64_t m_caughtUp{-1}; //!< time of the last CatchUp of all ports
    uint64_t m_peak{0};
    uint64_t m_rerouted{0};
    std::array<uint64_t, scaleacross::kDropReasons> m_drops{};
    int64_t m_stream{-1}; //!< of port 0, -1 if none was assigned

    // Attributes
    scaleacross::SharedBuffer::Config m_bufferConfig;
    scaleacross::PfcConfig m_pfcConfig;
    scaleacross::PfcWatchdog::Config m_watchdogConfig;
    scaleacross::CreditConfig m_creditConfig;
    scaleacross::EcnConfig m_ecnConfig;
    scaleacross::TrimConfig m_trimConfig;
    uint32_t m_maxPacket{0};
    bool m_lookAhead{false};
    bool m_keepAtDownPort{false};
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_SWITCH_H
