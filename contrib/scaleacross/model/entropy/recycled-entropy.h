// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RECYCLED_ENTROPY_H
#define SCALEACROSS_RECYCLED_ENTROPY_H

#include "rdma-entropy-ops.h"

#include "ns3/nstime.h"

#include <vector>

namespace ns3
{

/**
 * Entropies that came back unmarked are used again: adaptive spraying after REPS.
 *
 * Model: a ring of RingSize entropies. An answer without a mark puts its entropy into the ring, in
 * place of the oldest if it is full. A data packet takes the oldest that has not been taken, which
 * stays in its place as a used one; if all are used, it draws a random one. So an entropy whose
 * packet was marked, or lost, is not used again, and one whose packets come through goes round once
 * per round trip. What is under way settles on paths whose queues are short enough not to mark.
 *
 * Domain: switches have to mark, and a window or a congestion control has to make the sender wait
 * for answers. Without marks a slow path is a trap: packets drawn at random get there again and
 * again, come back unmarked, and stay; those of fast paths come back in bursts that overflow the
 * ring. In the fabric of suite scaleacross-entropy that takes longer than random entropies.
 *
 * A sign of a failure freezes the ring for FreezeTime at least: when all are used, a packet takes a
 * used one, in turn, and not a random one, which would hit what has failed again and again. Signs
 * are a timeout and, with FreezeOnLoss, any loss (where congestion loses nothing). The first answer
 * after FreezeTime ends it, and the next ExplorePackets packets draw at random.
 *
 * Source: Bonato et al., REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and
 * Failure Mitigation, arXiv 2407.21625: ring of 8, freezing, exploring after it.
 *
 * Left out: the congestion control that REPS is published with (any, or none, may be combined);
 * packet trimming, by which it tells congestion from failure (FreezeOnLoss stands for it on
 * lossless fabrics); entropies that are used several times per answer where ACKs are coalesced:
 * with AckInterval n, n - 1 of n packets draw at random.
 *
 * Worked case: RingSize 8, answers (7, unmarked), (3, marked), (9, unmarked) arrive: the next
 * packets go with 7, 9 and then random ones; frozen, with 7, 9, 7, 9.
 */
class RecycledEntropy : public RdmaEntropyOps
{
  public:
    static TypeId GetTypeId();
    RecycledEntropy();
    ~RecycledEntropy() override;

    std::string GetName() const override;
    bool HeedsMarks() const override;
    uint16_t Next(int64_t now) override;
    void OnAck(uint16_t entropy, bool marked, int64_t now) override;
    void OnLoss(int64_t now) override;
    void OnTimeout(int64_t now) override;
    int64_t WaitsUntil() const override;

    /// Throws ConfigError if something has come back already.
    void SetRingSize(uint32_t size);
    uint32_t GetRingSize() const;

    // As of when the queue pair was last brought up to date (RdmaQueuePair::GetCounters does that).

    /// Data packets so far whose entropy was taken from the ring.
    uint64_t GetRecycled() const;
    /// Data packets so far whose entropy was drawn at random.
    uint64_t GetDrawn() const;
    /// Whether the ring was frozen at the last answer or timeout.
    bool IsFrozen() const;

  private:
    void Freeze(int64_t now);

    std::vector<uint16_t> m_ring; //!< as many as have ever come back, RingSize at most
    uint32_t m_head{0};           //!< place of the next one that comes back
    uint32_t m_unused{0};         //!< those before m_head that have not been taken
    uint32_t m_again{0};          //!< frozen: place of the next used one
    uint32_t m_toExplore{0};      //!< packets that are still to draw at random
    bool m_frozen{false};
    int64_t m_thawAt{0}; //!< ps
    uint64_t m_recycled{0};
    uint64_t m_drawn{0};

    uint32_t m_ringSize{0};
    uint32_t m_explorePackets{0};
    Time m_freezeTime;
    bool m_freezeOnLoss{false};
};

} // namespace ns3

#endif // SCALEACROSS_RECYCLED_ENTROPY_H
