// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_SOURCE_H
#define SCALEACROSS_FOREIGN_SOURCE_H

#include "ns3/data-rate.h"
#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"
#include "ns3/repeating-application.h"

#include <cstdint>
#include <optional>

namespace ns3
{

class FabricWire;
class RdmaNic;

/**
 * Traffic of others that heeds nothing: UDP packets of one size from one NIC to another, from its
 * start to its stop, at Rate in the mean. Each has random ports, as if it were of another flow, so
 * that ECMP spreads them. Gaps between the beginnings of two are exponential, with the mean
 *
 *     8 x bytes of a packet on the wire (RdmaNic::ForeignWireSize) / Rate
 *
 * No stack is needed at either end. What the NIC's queue (ForeignQueueSize) has no room for is
 * refused there, and counted (GetForeignRefused).
 *
 * Worked case: packets of 1,500 bytes, 1,538 on the wire, at 100 Gb/s: one every 123.04 ns.
 */
class ForeignSource : public RepeatingApplication
{
  public:
    static TypeId GetTypeId();
    ForeignSource();
    ~ForeignSource() override;

    /// From whom to whom; both have addresses by the start.
    void SetEnds(Ptr<RdmaNic> from, Ptr<RdmaNic> to);

    /// Offers nothing while that wire is down: those who send know.
    void SetWire(Ptr<FabricWire> wire);

    /// Packets offered so far, those that were refused with them.
    uint64_t GetOffered() const;

    /// Fixes the streams of gaps and ports; returns 2.
    int64_t AssignStreams(int64_t stream);

  protected:
    void DoDispose() override;

  private:
    void DoStart() override;
    std::optional<Time> NextGap() override;
    void Act() override;

    DataRate m_rate;
    uint32_t m_packetSize{0};
    Ptr<RdmaNic> m_from;
    Ptr<RdmaNic> m_to;
    Ptr<FabricWire> m_wire;               //!< null: it offers in any case
    Ptr<ExponentialRandomVariable> m_gap; //!< of mean 1
    Ptr<UniformRandomVariable> m_port;
    Time m_meanGap;
    uint64_t m_offered{0};
};

} // namespace ns3

#endif // SCALEACROSS_FOREIGN_SOURCE_H
