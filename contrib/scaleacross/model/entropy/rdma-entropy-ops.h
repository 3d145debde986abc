// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_ENTROPY_OPS_H
#define SCALEACROSS_RDMA_ENTROPY_OPS_H

#include "core/base/path-hash.h"

#include "ns3/attribute-guard.h"
#include "ns3/object.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>

namespace ns3
{

class UniformRandomVariable;

/**
 * Which UDP source port ("entropy") a queue pair gives its next data packet: by it, switches that
 * hash flows (ECMP) spread packets over paths, so the sender sprays without their help.
 *
 * Every queue pair whose attribute EntropyOps names a subclass gets an object of its own. It is
 * asked once per data packet, new or repeated, when the packet starts, and told what came of it:
 * the answer to a data packet goes back with that packet's own UDP source port, and says whether
 * the packet was marked on the way (with AckInterval n the answer is to the last of up to n
 * packets, and says whether any of them was marked; the other entropies are never heard of again).
 * Times `now` are in ps. An object must not ask Simulator::Now(), schedule events, or draw random
 * numbers but by Draw: queue pairs are brought up to date in batches, earlier or later than the
 * Simulator's time.
 *
 * Packets of one queue pair then take several paths and overtake each other. So both ends need
 * selective repeat with a ReorderTolerance above zero, and an OutOfOrderLimit not below it; Connect
 * refuses anything else by name. Switches have to hash the UDP source port.
 *
 * To add one: a file pair, a subclass with GetName and Next and those of the others that it needs,
 * a test, a line in the page entropy.
 */
class RdmaEntropyOps : public Object, public scaleacross::FixedOnceUsed
{
  public:
    /// UDP source ports of RoCEv2: 0xC000 to 0xFFFF.
    static constexpr uint16_t kFirst = scaleacross::kFirstPathPort;
    static constexpr uint32_t kCount = scaleacross::kPathPorts;

    static TypeId GetTypeId();
    RdmaEntropyOps();
    ~RdmaEntropyOps() override;

    /// "random".
    virtual std::string GetName() const = 0;

    /// True if it goes by marks: switches may then mark the packets, whatever EcnCapable says.
    virtual bool HeedsMarks() const;

    /// The UDP source port of the data packet that starts at `now`.
    virtual uint16_t Next(int64_t now) = 0;

    /// An answer to a packet with this entropy has arrived; `marked`: it was marked on the way.
    virtual void OnAck(uint16_t entropy, bool marked, int64_t now);

    /// Packets have been found lost by answers to later ones.
    virtual void OnLoss(int64_t now);

    /// The retransmission timer has run out.
    virtual void OnTimeout(int64_t now);

    /// Until then, in ps, it goes by the clock; 0 if it does not.
    virtual int64_t WaitsUntil() const;

    /// Fixes the random stream; -1 takes the next one of the Simulator's own.
    void SetStream(int64_t stream);

    /// Takes the next stream of the Simulator's own unless there is one. Connect calls it, so that
    /// streams go by the order in which queue pairs are connected and not by who draws first.
    void TakeStream();

  protected:
    void DoDispose() override;

    /// Any of the kCount ports from kFirst on, equally likely.
    uint16_t Draw();

  private:
    Ptr<UniformRandomVariable> m_random; //!< null until it has a stream
};

} // namespace ns3

#endif // SCALEACROSS_RDMA_ENTROPY_OPS_H
