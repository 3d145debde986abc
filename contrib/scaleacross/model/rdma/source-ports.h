// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SOURCE_PORTS_H
#define SCALEACROSS_SOURCE_PORTS_H

#include "queue-pair-ends.h"
#include "reordering.h"

#include "ns3/ptr.h"
#include "ns3/rdma-entropy-ops.h"
#include "ns3/type-id.h"

#include <cstdint>

namespace scaleacross
{

/**
 * The UDP source ports of one end of a queue pair, by which switches tell flows apart: one for all
 * its packets, or one for each data packet (RdmaEntropyOps), never both pinned and drawn.
 *
 * Worked case: pinned to 50,000, all packets have that. With neither, they all have one from 0xC000
 * to 0xFFFF that follows from the addresses and a number (RdmaQueuePair::SetPath).
 */
class SourcePorts
{
  public:
    /// RdmaQueuePair's attributes Entropy and EntropyOps.
    struct Config
    {
        uint16_t entropy{0};
        ns3::TypeId entropyOps;
    };

    /// What gives each data packet its own, null if nothing does.
    ns3::RdmaEntropyOps* Ops() const
    {
        return ns3::PeekPointer(m_ops);
    }

    /// Before Connect.
    void SetOps(ns3::Ptr<ns3::RdmaEntropyOps> ops)
    {
        m_ops = ops;
    }

    /// Fixes the random stream of Ops, now or when there are some.
    void SetStream(int64_t stream);

    /**
     * Makes Ops if they are configured and none were set. Returns the UDP source port of packets
     * that have none of their own: `pinned`, the one configured, or one that follows from the ends;
     * 0 stands for none. Throws ConfigError if the type is none of RdmaEntropyOps, if a port is
     * pinned too, or if packets must not overtake each other.
     */
    uint16_t Connect(const Config& config,
                     uint16_t pinned,
                     const QueuePairEnds& ends,
                     const Reordering& reordering);

    void Clear()
    {
        m_ops = nullptr;
    }

  private:
    ns3::Ptr<ns3::RdmaEntropyOps> m_ops;
    int64_t m_stream{-1}; //!< of m_ops, -1 if none was assigned
};

} // namespace scaleacross

#endif // SCALEACROSS_SOURCE_PORTS_H
