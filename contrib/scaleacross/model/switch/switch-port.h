// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWITCH_PORT_H
#define SCALEACROSS_SWITCH_PORT_H

#include "ecn-marker.h"
#include "trimmer.h"

#include "ns3/fabric-port.h"

#include <memory>

namespace ns3
{

class FabricSwitch;

/**
 * A port of a switch: its egress queues are here, everything shared is in the switch.
 *
 * With Pfc false nothing that comes in by this port is lossless, whatever its priority: the
 * neighbour is never paused, no headroom is reserved, and packets that find no room are dropped.
 * For a long span, whose headroom would be more than a buffer, between buildings that have PFC.
 */
class SwitchPort : public FabricPort
{
  public:
    static TypeId GetTypeId();
    SwitchPort();
    ~SwitchPort() override;

    FabricSwitch& GetSwitch() const;
    uint32_t GetPortNumber() const override;
    scaleacross::ArrivalAgenda& Agenda() override;

    /// Packets that arrive by this port may be lossless.
    bool HasPfc() const
    {
        return m_pfc;
    }

    /// Packets that this port has marked.
    uint64_t GetEcnMarked() const;

    /// Bytes of the packet that is being sent and still counts in the buffer, 0 if there is none.
    uint32_t LeavingSize() const
    {
        return m_leavingSize;
    }

    /// A packet of a priority in the mask is being sent, or one waits that is not paused.
    bool HasLossless(uint32_t mask) const
    {
        return (Ready() & mask) != 0 ||
               (m_leavingSize > 0 && ((mask >> m_leavingPriority) & 1U) != 0);
    }

    /// Before time zero: takes over what the switch's attributes say. `stream`: random stream of
    /// port 0, -1 if none was assigned.
    void SetUp(const scaleacross::EcnConfig& ecn,
               const scaleacross::Trimmer& trimmer,
               bool credits,
               int64_t stream);
    void AssignStream(int64_t stream);

  private:
    friend class FabricSwitch;

    /// In m_marked: the wire is down, and what is to leave by it is thrown away.
    static constexpr uint16_t kDeadEnd = 1U << scaleacross::kPriorities;

    void DoDispose() override;
    void Receive(scaleacross::FabricPacket* packet, int64_t now) override;
    bool Started(scaleacross::FabricPacket& packet, int64_t start) override;
    void Finished() override;
    void PauseChanged(uint8_t priority, bool paused, int64_t now) override;
    void Resumed(int64_t now) override;
    void Leaving(int64_t end) override;
    void DoLinkChanged(bool up, int64_t now) override;
    void RateChanged(int64_t now) override;
    void CheckLink(DataRate own, DataRate peer, Time delay) const override;
    void ConfigChanged() override;
    void MarkIfCongested(scaleacross::FabricPacket& packet);

    FabricSwitch* m_switch{nullptr};
    uint64_t m_trimAbove{UINT64_MAX}; //!< bytes in a queue beyond which packets are trimmed
    uint32_t m_number{0};
    uint32_t m_leavingSize{0};
    uint16_t m_leavingIngress{0};
    uint8_t m_leavingPriority{0};
    bool m_pfc{true};
    bool m_isEntry{false};      //!< a NIC is at the other end
    bool m_setsLevel{false};    //!< with credits: a NIC is at the other end
    bool m_spareVictims{false}; //!< with credits: packets of lanes that lack them are not marked
    /// Bit per priority whose packets the PFC watchdog wants to see, and kDeadEnd.
    uint16_t m_marked{0};
    std::unique_ptr<scaleacross::EcnMarker> m_ecn; //!< null if nothing is marked
    uint64_t m_ecnMarked{0};
    uint32_t m_ecnJoining{0};   //!< bit per priority that is marked when it joins
    uint32_t m_ecnDeparting{0}; //!< the same when it leaves
};

} // namespace ns3

#endif // SCALEACROSS_SWITCH_PORT_H
