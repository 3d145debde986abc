// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PATH_SELECTOR_H
#define SCALEACROSS_PATH_SELECTOR_H

#include "route-table.h"

#include "ns3/attribute-guard.h"
#include "ns3/fabric-packet.h"
#include "ns3/flow-hash.h"
#include "ns3/object.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <optional>
#include <string>

namespace scaleacross
{

/// What a selector may ask about the ports of its switch.
class EgressQueues
{
  public:
    virtual ~EgressQueues() = default;

    /**
     * Time in ps that a packet of `priority` joining at `now` would wait behind everything that is
     * already at the port: what is left of the packet being sent, and the bytes queued in all
     * priorities at the port's rate. A port that may not send this priority because of a pause
     * counts kPausedWait more. One whose wire is down does not: nobody knows before the switch
     * does, which takes it out of the groups then.
     */
    virtual int64_t WaitAt(uint16_t port, uint8_t priority, int64_t now) = 0;
};

/// What ECMP gives a flow with this hash: of n ports number floor(hash n / 2^32).
inline uint16_t
PortOfHash(const PortGroup& group, uint32_t hash)
{
    return group.ports[ScaleHash(hash, group.ports.size())];
}

/// About 13 days: a paused port is longer than any that is not, and still comparable with others.
constexpr int64_t kPausedWait = int64_t{1} << 60;

} // namespace scaleacross

namespace ns3
{

class UniformRandomVariable;

/**
 * Which of several equal-cost ports a packet takes: the strategy of one switch, apart from it.
 *
 * Every switch has an object of its own, of the type that FabricSwitch::PathSelector names. Select
 * is called once for every packet that has more than one port to choose from, in the order in which
 * packets arrive, at the time `now` in ps at which the packet has arrived, and again for one that
 * waits for a port that is down when its switch looks for another way; ports that are known to be
 * down are not in the group. Packets of other stacks (IP) are not asked about: they stay on the
 * path to which their flow is hashed.
 *
 * A selector sees the packet, the group and, by Queues(), the egress queues as they are at `now`.
 * It must not ask Simulator::Now(), schedule events, look at other switches, or draw random numbers
 * but by Draw, whose stream is the switch's own: switches run ahead of the Simulator, and so their
 * results are the same on every engine.
 *
 * To add one: a file pair, a subclass with GetName, Reorders and Select, a test, a line in the page
 * path-selection.
 */
class PathSelector : public Object, public scaleacross::FixedOnceUsed
{
  public:
    static TypeId GetTypeId();
    PathSelector();
    ~PathSelector() override;

    /// For messages and tables.
    virtual std::string GetName() const = 0;

    /// True if packets of a queue pair may overtake each other by taking different paths, whatever
    /// the fabric: its receiver has to place them out of order.
    virtual bool Reorders() const = 0;

    /// True if it goes by how long ago something was, which packets do not show that were left out.
    virtual bool GoesByTime() const
    {
        return false;
    }

    /// The port to take: one of group.ports, of which there are at least two.
    virtual uint16_t Select(const scaleacross::PortGroup& group,
                            const scaleacross::FabricPacket& packet,
                            int64_t now) = 0;

    /// The port that all packets of this packet's flow take as long as the group is the same; none
    /// (as here) if that does not follow from the flow's hash alone. For the prediction of paths.
    virtual std::optional<uint16_t> PortOfFlow(const scaleacross::PortGroup& group,
                                               const scaleacross::FabricPacket& packet) const;

    /// True if every packet takes PortOfHash of its flow's hash, so that the switch, which can do
    /// that without a call, does not ask.
    virtual bool GoesByHash() const
    {
        return false;
    }

    /// True if it goes by a divisor that follows from the switch's place (AddressDivisors).
    virtual bool UsesStageDivisor() const
    {
        return false;
    }

    /// That divisor, with new routes.
    virtual void SetStageDivisor(uint32_t /* divisor */)
    {
    }

    /// Called by the switch before the first packet, and again if its hash has changed.
    void Attach(const scaleacross::FlowHash& hash, scaleacross::EgressQueues& queues);

    /// Fixes the random stream; returns how many streams are used, one at most.
    int64_t AssignStreams(int64_t stream);

  protected:
    void DoDispose() override;

    /// To be called in the constructor of a selector that draws random numbers.
    void UseRandomness();

    /// Equally likely one of 0 to n - 1. Domain: n > 0.
    uint32_t Draw(uint32_t n);

    const scaleacross::FlowHash& Hash() const
    {
        return m_hash;
    }

    scaleacross::EgressQueues& Queues() const
    {
        return *m_queues;
    }

  private:
    scaleacross::FlowHash m_hash;
    scaleacross::EgressQueues* m_queues{nullptr};
    Ptr<UniformRandomVariable> m_random; //!< null if it draws none
};

} // namespace ns3

#endif // SCALEACROSS_PATH_SELECTOR_H
