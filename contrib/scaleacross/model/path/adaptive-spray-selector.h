// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ADAPTIVE_SPRAY_SELECTOR_H
#define SCALEACROSS_ADAPTIVE_SPRAY_SELECTOR_H

#include "path-selector.h"

#include "ns3/nstime.h"

#include <vector>

namespace ns3
{

/**
 * Adaptive packet spraying: every packet takes the port at which it would wait least.
 *
 * Model: the wait is what EgressQueues says, the rest of the packet being sent and the bytes queued
 * behind it, over the port's rate; ports that are paused for this packet come last. Of equal ones
 * one is drawn at random, as otherwise all switches would prefer the same spine. With Choices = d,
 * only d ports drawn at random are looked at: with d = 2 the longest queue grows like
 * log log n in place of log n / log log n (Mitzenmacher, "The Power of Two Choices").
 *
 * Differences of less than a packet time say nothing about the rest of the way, but decide which
 * port is taken if waits are compared exactly. With a Granularity of a packet time ports that are
 * as good as equal are drawn from, and load spreads better further on where flows are out of step
 * (path-selection.md has figures). Chips compare a few levels.
 *
 * What is seen is the switch's own queues. That a path is full further on shows only once its
 * queues or pauses have reached back here.
 *
 * Left out: memory of good ports from one packet to the next (DRILL), hysteresis, queue lengths
 * that are old, as chips have them.
 *
 * Worked case: 8 hosts send at line rate to 8 uplinks of that rate: each packet finds a port that
 * is idle or about to be, and no queue at the leaf exceeds two packets.
 */
class AdaptiveSpraySelector : public PathSelector
{
  public:
    static TypeId GetTypeId();
    AdaptiveSpraySelector();
    ~AdaptiveSpraySelector() override;

    std::string GetName() const override;
    bool Reorders() const override;
    uint16_t Select(const scaleacross::PortGroup& group,
                    const scaleacross::FabricPacket& packet,
                    int64_t now) override;

    void SetGranularity(Time granularity);
    Time GetGranularity() const;

  private:
    void Sample(const std::vector<uint16_t>& ports);

    uint32_t m_choices{0};
    int64_t m_granularity{1};       //!< ps
    std::vector<uint16_t> m_sample; //!< ports to look at, if not all
    std::vector<uint16_t> m_best;   //!< those of them with the least wait
};

} // namespace ns3

#endif // SCALEACROSS_ADAPTIVE_SPRAY_SELECTOR_H
