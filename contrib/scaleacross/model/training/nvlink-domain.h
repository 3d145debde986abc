// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NVLINK_DOMAIN_H
#define SCALEACROSS_NVLINK_DOMAIN_H

#include "core/base/units.h"
#include "job-clock.h"
#include "rank-transport.h"

#include "ns3/callback.h"
#include "ns3/object.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace ns3
{

/**
 * The NVLink-class network inside one server, as a shared rate instead of packets.
 *
 * Every GPU has one egress of a given rate. Messages of one lane to one GPU leave in the order in
 * which they were posted; the first message of each lane for each other GPU under way shares the
 * rate evenly (a fluid). A message arrives the latency after its last byte has left. Ingress is not
 * limited: in the traffic of collectives every GPU receives what one other sends.
 *
 * What is copied to several leaves once, in a lane of its own: the switch copies it.
 *
 * Worked case: 450 GB/s, two messages of 45 MB posted together: both leave after 200 us if they go
 * to different GPUs, after 100 and 200 us if to the same.
 */
class NvlinkDomain : public Object
{
  public:
    static TypeId GetTypeId();

    NvlinkDomain();
    ~NvlinkDomain() override;

    /// The clock of the job; without it, the Simulator's. Before the first message.
    void SetClock(Ptr<JobClock> clock);
    /// Number of GPUs; before the first message.
    void SetGpus(uint32_t gpus);
    /// Usable rate of one GPU's egress.
    void SetRate(scaleacross::BitRate rate);
    void SetLatency(scaleacross::Duration latency);

    /// Sends `bytes` between two local GPUs; `delivered` is called when they have arrived.
    void Send(uint32_t from,
              uint32_t to,
              scaleacross::Bytes bytes,
              Callback<void> delivered,
              const scaleacross::MessageCare& care = {});

    /// Whom a copy is for, and who is told when it has arrived.
    struct Copy
    {
        uint32_t to;
        Callback<void> delivered;
    };

    /// Sends `bytes` once, to be copied to all of these.
    void SendCopies(uint32_t from,
                    const std::vector<Copy>& copies,
                    scaleacross::Bytes bytes,
                    const scaleacross::MessageCare& care);

    /// Bytes that a GPU has posted to others, and others to it.
    uint64_t GetSent(uint32_t gpu) const;
    uint64_t GetReceived(uint32_t gpu) const;

  protected:
    void DoDispose() override;

  private:
    struct Message
    {
        double bits;
        scaleacross::Duration latency;
        std::vector<Callback<void>> delivered;
    };

    static constexpr uint32_t kAll = UINT32_MAX;

    /// What goes to one GPU in one lane, or to all; the front message is under way.
    struct Lane
    {
        uint32_t to;
        uint32_t lane;
        double bitsLeft; //!< of the front message
        std::deque<Message> messages;
    };

    struct Egress
    {
        std::vector<Lane> active; //!< lanes with messages
        int64_t sincePs{0};       //!< when bitsLeft was last brought up to date
        JobEvent next;
        uint64_t sent{0};     //!< bytes, of its GPU
        uint64_t received{0}; //!< bytes, to its GPU
    };

    void Post(uint32_t from, uint32_t to, const scaleacross::MessageCare& care, Message message);
    void Update(Egress& egress);
    void ScheduleNext(uint32_t gpu);
    void Drain(uint32_t gpu);

    Ptr<JobClock> m_clock;
    std::vector<Egress> m_egress; //!< by GPU
    double m_bitsPerPs{0.0};
    scaleacross::Duration m_latency;
};

} // namespace ns3

#endif // SCALEACROSS_NVLINK_DOMAIN_H
