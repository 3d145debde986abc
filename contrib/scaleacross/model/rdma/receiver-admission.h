// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RECEIVER_ADMISSION_H
#define SCALEACROSS_RECEIVER_ADMISSION_H

#include "core/base/units.h"

#include "ns3/attribute-guard.h"
#include "ns3/callback.h"
#include "ns3/object.h"
#include "ns3/traced-value.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace ns3
{

class RdmaNic;

/**
 * Who may send to a NIC, and how much: the receiver's side of clear-to-send, aggregated to the NIC.
 *
 * Model: sources (connections) request to send messages. Requests are granted in parts of
 * GrantSize, as long as what has been granted and has not arrived, G, stays within GrantedBytes:
 * the next part is granted when G + part <= GrantedBytes, or G = 0. Order Fifo serves requests as
 * they came; RoundRobin gives one part to each source that waits, in turn.
 *
 * So no more than max(GrantedBytes, GrantSize) of payload is on its way to the NIC, wherever its
 * queue is, however many want to send; and the NIC's line is kept busy if GrantedBytes is at least
 * its rate times the time from a grant to the data it causes, plus one part.
 *
 * Requests and grants themselves are messages of the connections (RdmaConnection). The idea is that
 * of Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale, SIGCOMM 2024:
 * a sender writes only after a clear-to-send packet of the receiver's collective library, which
 * travels in a high-priority queue.
 *
 * Left out: grants that depend on what the network reports.
 *
 * Worked case: GrantedBytes 256 KiB, GrantSize 64 KiB, 16 sources with 4 MiB each: four of them
 * hold a grant at first; each part that has arrived admits the next source for one part.
 */
class ReceiverAdmission : public Object, public scaleacross::FixedOnceUsed
{
  public:
    enum Order
    {
        Fifo,
        RoundRobin
    };

    /// To a source: so many bytes of this request may be sent.
    using GrantCallback = Callback<void, uint64_t, scaleacross::Bytes>;

    static TypeId GetTypeId();
    ReceiverAdmission();
    ~ReceiverAdmission() override;

    /// That of a NIC; there is one from the first call on.
    static Ptr<ReceiverAdmission> Of(Ptr<RdmaNic> nic);

    /// A new source; returns its number.
    uint32_t AddSource(GrantCallback grant);

    /// A source wants to send. An empty message is granted in its turn, with 0 bytes.
    void Request(uint32_t source, uint64_t request, scaleacross::Bytes bytes);
    /// Granted bytes of a source have arrived.
    void Arrived(uint32_t source, scaleacross::Bytes bytes);
    /// A source has failed: its requests are forgotten, what it was granted counts no more.
    void Withdraw(uint32_t source);

    /// Granted and not arrived.
    scaleacross::Bytes GetGranted() const;
    /// The most that has ever been granted and not arrived.
    scaleacross::Bytes GetPeakGranted() const;
    /// Requests of which a part waits for its grant.
    uint64_t GetWaiting() const;

  private:
    struct Pending
    {
        uint64_t request;
        uint64_t left; //!< bytes
    };

    struct Source
    {
        GrantCallback grant;
        std::deque<Pending> waiting;
        uint64_t granted; //!< bytes
    };

    void DoDispose() override;
    void Serve();

    std::vector<Source> m_sources;
    /// Sources whose turn comes: once per request (Fifo), or once each (RoundRobin).
    std::deque<uint32_t> m_turns;
    TracedValue<uint64_t> m_granted{0};
    uint64_t m_peak{0};

    uint64_t m_grantedBytes{0};
    uint64_t m_grantSize{0};
    Order m_order{RoundRobin};
};

} // namespace ns3

#endif // SCALEACROSS_RECEIVER_ADMISSION_H
