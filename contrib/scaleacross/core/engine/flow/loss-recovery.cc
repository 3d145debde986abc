// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/loss-recovery.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace scaleacross
{

LossRecovery::LossRecovery(FlowClock& clock, uint32_t pairs, Duration timeout, Uniform uniform)
    : m_clock(clock),
      m_pairs(pairs),
      m_timeout(timeout),
      m_uniform(std::move(uniform))
{
}

void
LossRecovery::Leaves(const Sent& sent, Duration latency, FlowClock::Action arrived)
{
    TellOfThoseBefore(sent);
    const LossyMessages& lossy = sent.lossy;
    const Duration now = m_clock.Now();
    const auto late = std::make_shared<Late>();
    late->latency = latency;
    late->roundTrip = Duration::Seconds(lossy.roundTrip);
    const double perPacket = std::log1p(-lossy.loss);
    double delay = 0;
    // From one lost packet to the next.
    double at = std::floor(std::log(m_uniform()) / perPacket);
    while (at < lossy.packets * sent.pairs)
    {
        const double after = lossy.packets - 1.0 - std::fmod(at, lossy.packets);
        if (after >= lossy.silent)
        {
            const double passed = (after - lossy.silent) / lossy.inFlight; // of the round trip
            delay = std::max(delay, lossy.roundTrip * (1.0 - passed));
        }
        else
        {
            const auto pair = static_cast<uint32_t>(std::floor(at / lossy.packets));
            m_silent.push_back({m_next, (sent.first + pair) % m_pairs, lossy.silent - after, late});
            late->missing++;
            // It begins with the last progress: the ACK of what came before.
            const Duration begins = lossy.packets > 1 ? late->roundTrip : Duration();
            m_clock.After(m_timeout + begins, [this, number = m_next] { TimedOut(number); });
            m_next++;
        }
        if (m_uniform() < lossy.loss) // what is sent for it is lost as well
        {
            delay =
                std::max(delay, m_timeout.S() + lossy.roundTrip * (1.0 - after / lossy.inFlight));
        }
        at += 1.0 + std::floor(std::log(m_uniform()) / perPacket);
    }
    late->arrival = now + latency + Duration::Seconds(delay);
    if (late->missing == 0)
    {
        m_clock.At(late->arrival, std::move(arrived));
        return;
    }
    late->arrived = std::move(arrived);
}

/// Of what was lost before on its queue pairs.
void
LossRecovery::TellOfThoseBefore(const Sent& sent)
{
    const double packets = sent.lossy.packets;
    const double perPacket = (m_clock.Now() - sent.since).S() / packets;
    std::vector<Silent> still;
    for (Silent& silent : m_silent)
    {
        const bool isCarried = (silent.pair + m_pairs - sent.first) % m_pairs < sent.pairs;
        if (isCarried && silent.need <= packets)
        {
            const Duration told = sent.since + Duration::Seconds(perPacket * silent.need);
            Told(silent.late, told + silent.late->latency + silent.late->roundTrip);
            continue;
        }
        silent.need -= isCarried ? packets : 0.0;
        still.push_back(std::move(silent));
    }
    m_silent = std::move(still);
}

void
LossRecovery::TimedOut(uint64_t number)
{
    const auto found = std::find_if(m_silent.begin(), m_silent.end(), [&](const Silent& silent) {
        return silent.number == number;
    });
    if (found != m_silent.end())
    {
        const std::shared_ptr<Late> late = found->late;
        m_silent.erase(found);
        Told(late, m_clock.Now() + late->latency);
    }
}

/// One of the missing packets comes then.
void
LossRecovery::Told(const std::shared_ptr<Late>& late, Duration arrival)
{
    late->arrival = std::max(late->arrival, arrival);
    if (--late->missing == 0)
    {
        m_clock.At(std::max(m_clock.Now(), late->arrival), std::move(late->arrived));
    }
}

} // namespace scaleacross
