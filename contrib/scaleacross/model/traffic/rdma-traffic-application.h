// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_TRAFFIC_APPLICATION_H
#define SCALEACROSS_RDMA_TRAFFIC_APPLICATION_H

#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rdma-connection.h"
#include "ns3/repeating-application.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace ns3
{

/**
 * Begins flows from one NIC at random times, to random others, of random sizes, each over a
 * connection of its own: from its start to its stop. What has begun goes on after that.
 *
 * Flows are numbered in their order; the number is the tag of the message.
 */
class RdmaTrafficApplication : public RepeatingApplication
{
  public:
    /// A new connection to destination `i`.
    using ConnectionMaker = std::function<Ptr<RdmaConnection>(uint32_t i)>;

    static TypeId GetTypeId();
    RdmaTrafficApplication();
    ~RdmaTrafficApplication() override;

    /// Seconds from one flow to the next, and before the first.
    void SetInterval(Ptr<RandomVariableStream> seconds);
    /// Bytes of a flow; less than 1 counts as 1.
    void SetSize(Ptr<RandomVariableStream> bytes);
    /// To whom flows go: destinations 0 to `count` - 1, all as often.
    void SetDestinations(uint32_t count, ConnectionMaker make);
    /// After so many flows it begins no more; 0, the default: any number.
    void SetMaxFlows(uint64_t flows);

    /// Flows begun so far, and their bytes.
    uint64_t GetFlows() const;
    uint64_t GetBytes() const;
    /// Those of them whose connection has failed: they have not arrived, or were not acknowledged.
    uint64_t GetFailed() const;

    /// Fixes the streams of interval, size and destination; returns 3.
    int64_t AssignStreams(int64_t stream);

  protected:
    void DoDispose() override;

  private:
    void DoStart() override;
    std::optional<Time> NextGap() override;
    void Act() override;

    Ptr<RandomVariableStream> m_interval;
    Ptr<RandomVariableStream> m_size;
    Ptr<UniformRandomVariable> m_destination;
    uint32_t m_destinations{0};
    ConnectionMaker m_make;
    uint64_t m_maxFlows{0};
    uint64_t m_flows{0};
    uint64_t m_bytes{0};
    std::shared_ptr<uint64_t> m_failed; //!< connections share it
};

} // namespace ns3

#endif // SCALEACROSS_RDMA_TRAFFIC_APPLICATION_H
