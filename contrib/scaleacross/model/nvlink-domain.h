// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NVLINK_DOMAIN_H
#define SCALEACROSS_NVLINK_DOMAIN_H

#include "core/base/units.h"

#include "ns3/callback.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * The NVLink-class network inside one server, as a shared rate instead of packets.
 *
 * Every GPU has one egress of `Rate`. The messages it has under way share that rate evenly (a
 * fluid), and each arrives `Latency` after its last byte has left. Ingress is not limited: in the
 * traffic of collectives every GPU receives what one other sends.
 *
 * Worked case: 450 GB/s, two messages of 45 MB posted together: both leave after 200 us.
 */
class NvlinkDomain : public Object
{
  public:
    static TypeId GetTypeId();

    NvlinkDomain();
    ~NvlinkDomain() override;

    /// Number of GPUs; before the first message.
    void SetGpus(uint32_t gpus);
    /// Usable rate of one GPU's egress.
    void SetRate(scaleacross::BitRate rate);
    void SetLatency(scaleacross::Duration latency);

    /// Sends `bytes` from local GPU `gpu`; `delivered` is called when they have arrived.
    void Send(uint32_t gpu, scaleacross::Bytes bytes, Callback<void> delivered);

  protected:
    void DoDispose() override;

  private:
    struct Message
    {
        double bitsLeft;
        Callback<void> delivered;
    };

    struct Egress
    {
        std::vector<Message> active;
        int64_t sincePs{0}; //!< when bitsLeft was last brought up to date
        EventId next;
    };

    void Update(Egress& egress);
    void ScheduleNext(uint32_t gpu);
    void Drain(uint32_t gpu);

    std::vector<Egress> m_egress; //!< equal finishes arrive in the order of posting
    double m_bitsPerPs{0.0};
    scaleacross::Duration m_latency;
};

} // namespace ns3

#endif // SCALEACROSS_NVLINK_DOMAIN_H
