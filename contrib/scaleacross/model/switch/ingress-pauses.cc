// SPDX-License-Identifier: GPL-2.0-only

#include "ingress-pauses.h"

#include <algorithm>

namespace scaleacross
{

IngressPauses::IngressPauses(const Ports& ports,
                             const SharedBuffer& buffer,
                             ArrivalAgenda& agenda,
                             const Trace& trace)
    : m_ports(ports),
      m_buffer(buffer),
      m_agenda(agenda),
      m_trace(trace)
{
}

void
IngressPauses::Configure(uint32_t lossless)
{
    m_lossless = lossless;
    m_bits.assign(m_ports.size(), 0);
}

void
IngressPauses::Stop(ns3::SwitchPort& ingress, uint8_t priority, int64_t now)
{
    const uint32_t port = ingress.GetPortNumber();
    m_bits[port] = static_cast<uint8_t>(m_bits[port] | (1U << priority));
    m_stopped.push_back({port, priority});
    ++m_sent;
    m_trace(port, priority, true);
    ingress.SendPause(priority, true, now);
    PlanResume(now);
}

void
IngressPauses::Clear(const Ingress& ingress)
{
    uint8_t& bits = m_bits[ingress.port];
    bits = static_cast<uint8_t>(bits & ~(1U << ingress.priority));
    m_trace(ingress.port, ingress.priority, false);
}

void
IngressPauses::ResumeThoseThatMay(int64_t now)
{
    size_t stillStopped = 0;
    for (const Ingress ingress : m_stopped)
    {
        if (!m_buffer.MayResume(ingress.port, ingress.priority))
        {
            m_stopped[stillStopped++] = ingress;
            continue;
        }
        Clear(ingress);
        m_ports[ingress.port]->SendPause(ingress.priority, false, now);
    }
    m_stopped.resize(stillStopped);
    PlanResume(now);
}

void
IngressPauses::Forget(uint32_t port)
{
    for (uint8_t priority = 0; priority < kPriorities; ++priority)
    {
        const auto found =
            std::find_if(m_stopped.begin(), m_stopped.end(), [&](const Ingress& ingress) {
                return ingress.port == port && ingress.priority == priority;
            });
        if (found != m_stopped.end())
        {
            m_stopped.erase(found);
            Clear({port, priority});
        }
    }
}

void
IngressPauses::PlanResume(int64_t now)
{
    uint64_t bytes = UINT64_MAX;
    for (const Ingress& ingress : m_stopped)
    {
        bytes = std::min(bytes, m_buffer.BytesToResume(ingress.port, ingress.priority));
    }
    double rate = 0;
    uint64_t sending = 0;
    int64_t firstEnd = kNever;
    for (const auto& port : m_ports)
    {
        port->CatchUpIfBusy(now);
        if (port->Line().FreeAt() > now && port->HasLossless(m_lossless))
        {
            rate += port->Line().BitsPerSecond();
            sending += port->LeavingSize();
            firstEnd = std::min(firstEnd, port->Line().FreeAt());
        }
    }
    if (firstEnd != kNever && !m_stopped.empty())
    {
        const double wait =
            bytes > sending ? static_cast<double>(bytes - sending) * 8e12 / rate : 0.0;
        m_agenda.SetAlarm(std::max(firstEnd, now + static_cast<int64_t>(wait)));
    }
}

} // namespace scaleacross
