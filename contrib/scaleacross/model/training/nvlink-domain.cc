// SPDX-License-Identifier: GPL-2.0-only

#include "nvlink-domain.h"

#include "ns3/log.h"
#include "ns3/nstime.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3
{

using scaleacross::MessageCare;

NS_LOG_COMPONENT_DEFINE("NvlinkDomain");
NS_OBJECT_ENSURE_REGISTERED(NvlinkDomain);

TypeId
NvlinkDomain::GetTypeId()
{
    static TypeId tid = TypeId("ns3::NvlinkDomain")
                            .SetParent<Object>()
                            .SetGroupName("ScaleAcross")
                            .AddConstructor<NvlinkDomain>();
    return tid;
}

NvlinkDomain::NvlinkDomain()
    : m_clock(Create<JobClock>())
{
}

NvlinkDomain::~NvlinkDomain() = default;

void
NvlinkDomain::SetClock(Ptr<JobClock> clock)
{
    m_clock = clock;
}

void
NvlinkDomain::SetGpus(uint32_t gpus)
{
    m_egress.resize(gpus);
}

void
NvlinkDomain::SetRate(scaleacross::BitRate rate)
{
    m_bitsPerPs = rate.Value() * 1e-12;
}

void
NvlinkDomain::SetLatency(scaleacross::Duration latency)
{
    m_latency = latency;
}

void
NvlinkDomain::Send(uint32_t from,
                   uint32_t to,
                   scaleacross::Bytes bytes,
                   Callback<void> delivered,
                   const MessageCare& care)
{
    NS_LOG_FUNCTION(this << from << to << bytes.Count());
    m_egress.at(from).sent += bytes.Count();
    m_egress.at(to).received += bytes.Count();
    Post(from,
         to,
         care,
         {static_cast<double>(bytes.Count()) * 8.0 * care.occupied,
          care.inside.value_or(m_latency),
          {delivered}});
}

void
NvlinkDomain::SendCopies(uint32_t from,
                         const std::vector<Copy>& copies,
                         scaleacross::Bytes bytes,
                         const MessageCare& care)
{
    NS_LOG_FUNCTION(this << from << copies.size() << bytes.Count());
    m_egress.at(from).sent += bytes.Count();
    Message message{static_cast<double>(bytes.Count()) * 8.0 * care.occupied,
                    care.inside.value_or(m_latency),
                    {}};
    for (const Copy& copy : copies)
    {
        m_egress.at(copy.to).received += bytes.Count();
        message.delivered.push_back(copy.delivered);
    }
    Post(from, kAll, care, std::move(message));
}

void
NvlinkDomain::Post(uint32_t from, uint32_t to, const MessageCare& care, Message message)
{
    Egress& egress = m_egress.at(from);
    Update(egress);
    for (Lane& lane : egress.active)
    {
        if (lane.to == to && lane.lane == care.lane)
        {
            lane.messages.push_back(std::move(message));
            return;
        }
    }
    const double bits = message.bits;
    egress.active.push_back({to, care.lane, bits, {}});
    egress.active.back().messages.push_back(std::move(message));
    ScheduleNext(from);
}

uint64_t
NvlinkDomain::GetSent(uint32_t gpu) const
{
    return m_egress.at(gpu).sent;
}

uint64_t
NvlinkDomain::GetReceived(uint32_t gpu) const
{
    return m_egress.at(gpu).received;
}

void
NvlinkDomain::Update(Egress& egress)
{
    const int64_t now = m_clock->Now();
    if (!egress.active.empty())
    {
        const double each = static_cast<double>(now - egress.sincePs) * m_bitsPerPs /
                            static_cast<double>(egress.active.size());
        for (Lane& lane : egress.active)
        {
            lane.bitsLeft -= each;
        }
    }
    egress.sincePs = now;
}

void
NvlinkDomain::ScheduleNext(uint32_t gpu)
{
    Egress& egress = m_egress[gpu];
    egress.next.Cancel();
    if (egress.active.empty())
    {
        return;
    }
    double least = egress.active.front().bitsLeft;
    for (const Lane& lane : egress.active)
    {
        least = std::min(least, lane.bitsLeft);
    }
    const double ps =
        std::max(0.0, least) * static_cast<double>(egress.active.size()) / m_bitsPerPs;
    // Never early: with a clock that is coarser than a picosecond the time is rounded up.
    const int64_t wholePs = std::llround(std::ceil(ps));
    Time delay = PicoSeconds(wholePs);
    if (delay.GetPicoSeconds() < wholePs)
    {
        delay += TimeStep(1);
    }
    egress.next = m_clock->Schedule(delay, [this, gpu] { Drain(gpu); });
}

void
NvlinkDomain::Drain(uint32_t gpu)
{
    Egress& egress = m_egress[gpu];
    Update(egress);
    // Whatever would be gone within a picosecond is gone: the clock is no finer.
    const double tolerance = m_bitsPerPs;
    for (Lane& lane : egress.active)
    {
        if (lane.bitsLeft <= tolerance)
        {
            const Message& gone = lane.messages.front();
            m_clock->Schedule(PicoSeconds(gone.latency.Ps()), [delivered = gone.delivered] {
                for (const Callback<void>& tell : delivered)
                {
                    tell();
                }
            });
            lane.messages.pop_front();
            // What was sent beyond the first message is part of the next one.
            lane.bitsLeft += lane.messages.empty() ? 0.0 : lane.messages.front().bits;
        }
    }
    egress.active.erase(std::remove_if(egress.active.begin(),
                                       egress.active.end(),
                                       [](const Lane& lane) { return lane.messages.empty(); }),
                        egress.active.end());
    ScheduleNext(gpu);
}

void
NvlinkDomain::DoDispose()
{
    for (Egress& egress : m_egress)
    {
        egress.next.Cancel();
    }
    m_egress.clear();
    Object::DoDispose();
}

} // namespace ns3
