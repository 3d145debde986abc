// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEND_ALLOWANCE_H
#define SCALEACROSS_SEND_ALLOWANCE_H

#include "ns3/data-rate.h"
#include "ns3/ptr.h"
#include "ns3/rate-pacer.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/send-times.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace scaleacross
{

/**
 * What a sender is allowed: when its next packet is due, and how many packets, by its congestion
 * control, RateLimit, Window, and the rate of its port.
 *
 * Model: a control (RdmaCongestionOps) is told of what happens, each time after all its timers that
 * have come, and sets a rate and a window; the pacer always has the lesser of that rate and the
 * port's, and the packets allowed are those of the lesser window, in whole packets. Without a
 * control the rate is RateLimit and the window is Window for good. At the rate of the port a wait
 * need not be waited for, unless a timer of the control that ends before may cut the rate.
 *
 * All times in ps.
 *
 * Worked case: packets of 1,000 bytes of payload, a Window of 10,500: 10 packets. A control that
 * sets 4,200 bytes leaves 4, one that sets 700 leaves 1, or 0 if it may stop the sender.
 */
class SendAllowance
{
  public:
    /// RdmaQueuePair's attributes Window, RateLimit and CongestionOps.
    struct Config
    {
        uint64_t window{0};
        ns3::DataRate rateLimit;
        ns3::TypeId congestionOps;
    };

    /// What is under way when something happens.
    struct Flight
    {
        uint64_t unacked{0}; //!< RdmaCongestionState's
        uint64_t backlog{0}; //!< RdmaCongestionState's, 0 without pulls
    };

    /// Null if there is none.
    ns3::RdmaCongestionOps* Control() const
    {
        return ns3::PeekPointer(m_control);
    }

    /// Before SetUp.
    void SetControl(ns3::Ptr<ns3::RdmaCongestionOps> control)
    {
        m_control = control;
    }

    /// Takes the window, and makes the control if one is configured and none was set. Throws
    /// ConfigError (where = owner + the attribute) if its type is none of RdmaCongestionOps.
    void SetUp(const Config& config, uint32_t mtu, const std::string& owner);

    /// Begins, with packets of `wireSize` bytes on the wire by a port of `portRate` bit/s, the
    /// first of which is `psn`.
    void Start(uint64_t portRate, uint32_t wireSize, uint64_t psn);

    /// There is a control or a RateLimit.
    bool IsPaced() const
    {
        return m_paced;
    }

    /// Data packets carry telemetry.
    bool WantsTelemetry() const
    {
        return m_telemetry;
    }

    /// The control goes by pulls.
    bool GoesByPulls() const
    {
        return m_pulls;
    }

    /// Packets that may be unacknowledged, or under way.
    uint64_t Packets() const
    {
        return m_packets;
    }

    /// bit/s, as of the last Advance.
    uint64_t Rate() const
    {
        return m_state.rate;
    }

    /// When the next packet may start, 0: at any time.
    int64_t Eligible() const
    {
        return m_pacer.Eligible();
    }

    /// Until then nothing makes Eligible() earlier but what arrives: it is that, or a timer of the
    /// control comes before, which may change the rate.
    int64_t EligibleUnlessTimed() const
    {
        return m_control ? std::min(Eligible(), m_control->NextDeadline()) : Eligible();
    }

    /// What the timers of the control do until now.
    void Advance(int64_t now)
    {
        if (m_control && m_control->NextDeadline() <= now)
        {
            RunTimers(now);
        }
    }

    /// A packet of `size` bytes starts. Returns whether it asks for a pull. Domain: IsPaced().
    bool Sent(uint64_t psn, uint32_t size, int64_t start, const Flight& flight);

    /// There is nothing to send after the last packet.
    void Rest()
    {
        m_pacer.Rest();
    }

    // What follows needs a control.

    /// An answer caused by the packet `cause`: fills in the round trip. `loss`: it shows that
    /// packets are missing.
    void OnAck(ns3::RdmaAck& ack, uint64_t cause, bool loss, const Flight& flight, int64_t now);
    void OnCnp(const Flight& flight, int64_t now);
    void OnPull(uint64_t number, const Flight& flight, int64_t now);
    void OnTimeout(int64_t now);

    void Clear()
    {
        m_control = nullptr;
    }

  private:
    void RunTimers(int64_t now);
    void Apply(int64_t now);
    void ApplyRate(int64_t now);
    void WaitIfTimed();

    RatePacer m_pacer;
    ns3::Ptr<ns3::RdmaCongestionOps> m_control;
    ns3::RdmaCongestionState m_state;
    uint64_t m_packets{0};
    uint64_t m_portRate{0};     //!< bit/s
    uint64_t m_rateLimit{0};    //!< bit/s, 0 if there is none
    uint64_t m_windowLimit{0};  //!< packets, whatever the control says
    bool m_paced{false};        //!< there is a control or a RateLimit
    bool m_timesPackets{false}; //!< the control wants round trips
    bool m_telemetry{false};
    bool m_pulls{false};
    SendTimes m_sendTimes;
};

} // namespace scaleacross

#endif // SCALEACROSS_SEND_ALLOWANCE_H
