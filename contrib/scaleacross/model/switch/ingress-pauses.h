// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_INGRESS_PAUSES_H
#define SCALEACROSS_INGRESS_PAUSES_H

#include "shared-buffer.h"
#include "switch-port.h"

#include "ns3/arrival-agenda.h"
#include "ns3/ptr.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * The neighbours that a switch has stopped by PFC: pauses that it sends, and resumes at the moment
 * at which the memory allows them (SharedBuffer::MayResume).
 *
 * That moment is found by an alarm that never comes too late: an ingress waits for x lossless bytes
 * to leave. Ports with lossless packets that can leave now will have freed, by the time t, the
 * packets they are sending and rate * (t - now) after them. Whatever lets another port send
 * lossless packets, sets the alarm again.
 *
 * Worked case: 16 senders at 100 Gb/s into one port. Together they bring 1.6 Tb/s and 0.1 Tb/s
 * leaves; each ingress holds what T = alpha (S - U) allows, is then stopped, and sends again when
 * it is resumeOffset below: the port never idles and nothing is lost.
 */
class IngressPauses
{
  public:
    using Ports = std::vector<ns3::Ptr<ns3::SwitchPort>>;
    /// A port and a priority, and whether it is stopped or may go on.
    using Trace = ns3::TracedCallback<uint32_t, uint8_t, bool>;

    /// Domain: all of them live as long as this.
    IngressPauses(const Ports& ports,
                  const SharedBuffer& buffer,
                  ArrivalAgenda& agenda,
                  const Trace& trace);

    /// Before time zero. `lossless`: bit per priority.
    void Configure(uint32_t lossless);

    bool Any() const
    {
        return !m_stopped.empty();
    }

    bool Has(uint32_t port, uint8_t priority) const
    {
        return ((m_bits.at(port) >> priority) & 1U) != 0;
    }

    /// Bit per priority that is lossless.
    uint32_t Lossless() const
    {
        return m_lossless;
    }

    /// Pauses sent so far, resumes not counted.
    uint64_t Sent() const
    {
        return m_sent;
    }

    /// Stops a priority of the neighbour.
    void Stop(ns3::SwitchPort& ingress, uint8_t priority, int64_t now);

    /// Lets those go on that may. All ports are up to date.
    void ResumeThoseThatMay(int64_t now);

    /// The wire of a port has broken, so that its pauses are void.
    void Forget(uint32_t port);

  private:
    struct Ingress
    {
        uint32_t port;
        uint8_t priority;
    };

    void Clear(const Ingress& ingress);
    void PlanResume(int64_t now);

    const Ports& m_ports;
    const SharedBuffer& m_buffer;
    ArrivalAgenda& m_agenda;
    const Trace& m_trace;
    std::vector<Ingress> m_stopped; //!< first stopped first
    std::vector<uint8_t> m_bits;    //!< by port: bit per priority that is stopped
    uint32_t m_lossless{0};
    uint64_t m_sent{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_INGRESS_PAUSES_H
