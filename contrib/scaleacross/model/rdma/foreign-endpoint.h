// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_ENDPOINT_H
#define SCALEACROSS_FOREIGN_ENDPOINT_H

#include "ns3/drop-counts.h"
#include "ns3/fabric-packet.h"
#include "ns3/foreign-frame.h"
#include "ns3/foreign-queue.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <optional>

namespace scaleacross
{

/**
 * The end of a NIC for packets of other stacks (IP): what it takes, what waits, whose turn it is,
 * and what it hands up.
 *
 * Model: what is handed over is refused if it can never arrive (WhyNever) or finds no room in the
 * queue; the rest waits in one queue (ForeignQueue) of one priority, and takes turns, a packet
 * each, with all queue pairs of that priority together. What arrives is handed up as any NetDevice
 * does, to those who want all packets first.
 *
 * Worked case: three packets wait, and so do two queue pairs of their priority, a and b. What
 * starts is foreign, a, foreign, b, foreign, a, b.
 */
class ForeignEndpoint
{
  public:
    using ReceiveCallback = ns3::NetDevice::ReceiveCallback;
    using PromiscReceiveCallback = ns3::NetDevice::PromiscReceiveCallback;

    uint64_t limit{0};   //!< bytes on the wire that may wait
    uint8_t priority{0}; //!< of all of them

    // Trace sources of the NIC.
    ns3::TracedCallback<ns3::Ptr<const ns3::Packet>> macTx;
    ns3::TracedCallback<ns3::Ptr<const ns3::Packet>> macTxDrop;
    ns3::TracedCallback<ns3::Ptr<const ns3::Packet>> macRx;
    ns3::TracedCallback<ns3::Ptr<const ns3::Packet>> macPromiscRx;

    /// Why a packet of `bytes` to `destination` never leaves a device with this MTU, if so.
    static std::optional<DropReason> WhyNever(ns3::Mac48Address destination,
                                              uint32_t bytes,
                                              uint32_t mtu,
                                              bool wired);

    /// So many bytes on the wire may wait besides those that do.
    bool HasRoom(uint32_t size) const
    {
        return m_queue.Fits(size, limit);
    }

    /// Counts a packet that is not taken, and says so.
    void Refuse(ns3::Ptr<const ns3::Packet> packet, DropReason reason);

    const DropCounts& Refused() const
    {
        return m_refused;
    }

    /// Takes over a carrier of a frame, and addresses it as the frame is. It may start after
    /// ShowPosted. Domain: WhyNever, HasRoom; AttachFrame has been called.
    void Post(FabricPacket* carrier, int64_t now);

    bool HasPosted() const
    {
        return m_queue.HasPosted();
    }

    /// What has been posted may start from now on. True if nothing might before, and something may.
    bool ShowPosted();

    /// There is a packet of this priority that may start.
    bool IsReady(uint8_t ofPriority) const
    {
        return ofPriority == m_ready;
    }

    /// Whether the next packet to start is foreign; `others`: there is a queue pair that would
    /// start one. Domain: IsReady.
    bool TakeTurn(bool others)
    {
        m_foreignLast = !m_foreignLast || !others;
        return m_foreignLast;
    }

    /// The next packet starts. Domain: IsReady.
    FabricPacket* Start(int64_t start);

    /// A frame has arrived at `device`: hands it to those of the two who are there.
    void HandUp(ns3::Ptr<ns3::NetDevice> device,
                const ForeignFrame& frame,
                const ReceiveCallback& receive,
                const PromiscReceiveCallback& promiscuous);

    /// Packets that have started, and that have arrived.
    uint64_t Sent() const
    {
        return m_sent;
    }

    uint64_t Received() const
    {
        return m_received;
    }

    const ForeignQueue& Queue() const
    {
        return m_queue;
    }

    /// Forgets what waits without touching it.
    void Clear();

  private:
    static constexpr uint8_t kNoPriority = 255;

    ForeignQueue m_queue;
    uint8_t m_ready{kNoPriority}; //!< priority of what may start, if something may
    bool m_foreignLast{false};    //!< the last packet of that priority was foreign
    DropCounts m_refused;
    uint64_t m_sent{0};
    uint64_t m_received{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_ENDPOINT_H
