// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_RESPONDER_H
#define SCALEACROSS_RDMA_RESPONDER_H

#include "mark-notices.h"
#include "queue-pair-ends.h"
#include "rdma-callbacks.h"
#include "rdma-counters.h"
#include "rdma-receiver.h"
#include "reordering.h"

#include "ns3/fabric-packet.h"
#include "ns3/psn.h"
#include "ns3/watched-trace.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace scaleacross
{

/**
 * The receiving half of a queue pair, the standard's responder: RdmaReceiver decides what is taken,
 * this answers, delivers, tells of marks (MarkNotices), and asks for pulls.
 *
 * Answers and CNPs go by the UDP source port of this end; an answer to a data packet that has one
 * of its own goes by that, and pulls by the last of those.
 *
 * Times in ps.
 *
 * Worked case: receives are counted, one is posted while packets of this time are handled. A send
 * that comes now finds none and is refused; one that comes after ShowPosted uses it.
 */
class RdmaResponder
{
  public:
    /// RdmaQueuePair's attributes of the same names, those of its parts among them.
    struct Config : MarkNotices::Config
    {
        uint8_t ackPriority{6};
        uint32_t receiveQueueDepth{0};
        uint32_t rnrTimer{12};
    };

    /// Domain: all of them live as long as this.
    RdmaResponder(const QueuePairEnds& ends,
                  const Config& config,
                  const Reordering& reordering,
                  RdmaCounters& counters);

    // Trace sources of the queue pair.
    WatchedTrace<uint64_t, uint64_t> arrivingTrace;
    WatchedTrace<uint64_t, uint64_t> deliveredTrace;

    ns3::RdmaMessageCallback delivery; //!< a message has arrived

    /// What to do when somebody looks at a trace.
    void Watch(const std::function<void()>& look);

    /// What is configured counts from now on. `pulled`: the other end goes by pulls.
    void Connect(bool pulled);

    /// Receives, to be shown. Domain: they are counted, and there is room for them.
    void PostReceives(uint32_t count)
    {
        m_newReceives += count;
    }

    /// Receives posted so far may be used from now on.
    void ShowPosted()
    {
        m_receiver.PostReceives(std::exchange(m_newReceives, 0));
    }

    /// Receives posted and not used.
    uint64_t PostedReceives() const
    {
        return m_receiver.PostedReceives() + m_newReceives;
    }

    /// The first PSN that is missing.
    uint64_t Expected() const
    {
        return m_receiver.Expected();
    }

    void HandleData(const FabricPacket& packet, int64_t now);

    /// One more packet is asked of the other end: fills in what tells it.
    void FillPull(FabricPacket& packet);

    /// See RdmaQueuePair::MayDeliver.
    bool MayDeliver(const FabricPacket& packet)
    {
        if (packet.trimmed)
        {
            return false;
        }
        const uint64_t expected = m_connected ? m_receiver.Expected() : m_ends.startingPsn;
        if (packet.lastOfMessage)
        {
            m_lastOnWay = std::max(m_lastOnWay, PsnNear(packet.psn, expected) + 1);
            return true;
        }
        return !m_connected || (m_lastOnWay > expected && m_reordering.selective);
    }

    /// Forgets everything that others own.
    void Clear();

  private:
    void Answer(RdmaAnswer answer, const FabricPacket& packet, int64_t now);
    void Deliver();
    void NoteMark(int64_t now);

    const QueuePairEnds& m_ends;
    const Config& m_config;
    const Reordering& m_reordering;
    RdmaCounters& m_counters;
    RdmaReceiver m_receiver;
    MarkNotices m_notices;
    bool m_connected{false};
    bool m_pulled{false};      //!< the other end goes by pulls
    uint64_t m_newReceives{0}; //!< posted, and not to be used yet
    /// PSN after the furthest last packet of a message that has been put on the wire to here.
    uint64_t m_lastOnWay{0};
    uint64_t m_pulls{0};       //!< sent
    uint16_t m_pullEntropy{0}; //!< of the last packet that had one of its own
};

} // namespace scaleacross

#endif // SCALEACROSS_RDMA_RESPONDER_H
