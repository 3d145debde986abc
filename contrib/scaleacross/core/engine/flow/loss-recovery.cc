// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/loss-recovery.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace scaleacross
{

LossRecovery::LossRecovery(FlowClock& clock,
                           uint32_t pairs,
                           Recovery recovery,
                           Duration timeout,
                           Uniform uniform)
    : m_clock(clock),
      m_pairs(pairs),
      m_goesBack(!recovery->selective),
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
    double delay = 0; // of the slowest queue pair
    for (uint32_t i = 0; i < sent.pairs; i++)
    {
        const uint32_t pair = (sent.first + i) % m_pairs;
        delay =
            std::max(delay, m_goesBack ? GoesBack(lossy, pair, late) : Repeats(lossy, pair, late));
    }
    late->arrival = now + latency + Duration::Seconds(delay);
    if (late->missing == 0)
    {
        m_clock.At(late->arrival, std::move(arrived));
        return;
    }
    late->arrived = std::move(arrived);
}

/// Packets from here to the next that is lost.
double
LossRecovery::Gap(const LossyMessages& lossy)
{
    return std::floor(std::log(m_uniform()) / std::log1p(-lossy.loss));
}

/// Seconds that the losses of a queue pair delay a transfer, where each comes by itself.
double
LossRecovery::Repeats(const LossyMessages& lossy, uint32_t pair, const std::shared_ptr<Late>& late)
{
    double delay = 0;
    for (double at = Gap(lossy); at < lossy.packets; at += 1.0 + Gap(lossy))
    {
        const double after = lossy.packets - 1.0 - at;
        const bool isAgain = m_uniform() < lossy.loss; // what is sent for it is lost as well
        if (after < lossy.silent)
        {
            WaitsToBeTold(lossy, pair, after, isAgain ? m_timeout : Duration(), late);
            continue;
        }
        const double passed = lossy.roundTrip * after / lossy.inFlight;
        delay =
            std::max(delay,
                     isAgain ? m_timeout.S() + lossy.roundTrip - passed : StallOf(lossy, after));
    }
    return delay;
}

/// The same where all is sent again from the lost one on, and may be lost again.
double
LossRecovery::GoesBack(const LossyMessages& lossy, uint32_t pair, const std::shared_ptr<Late>& late)
{
    double delay = 0;
    double before = -1;
    for (double at = Gap(lossy); at < lossy.packets; at += Gap(lossy))
    {
        const double after = lossy.packets - 1.0 - at;
        if (after < lossy.silent)
        {
            const bool isAgain = m_uniform() < lossy.loss;
            WaitsToBeTold(lossy,
                          pair,
                          after,
                          Duration::Seconds(delay) + (isAgain ? m_timeout : Duration()),
                          late);
            break;
        }
        delay += at == before ? m_timeout.S() : StallOf(lossy, after);
        before = at;
    }
    return delay;
}

/// Seconds from when the last packet would have come to when the lost one does.
double
LossRecovery::StallOf(const LossyMessages& lossy, double after)
{
    const double passed = (after - lossy.silent) / lossy.inFlight; // of the round trip
    return lossy.roundTrip * std::max(0.0, 1.0 - passed);
}

void
LossRecovery::WaitsToBeTold(const LossyMessages& lossy,
                            uint32_t pair,
                            double after,
                            Duration besides,
                            const std::shared_ptr<Late>& late)
{
    m_silent.push_back({m_next, pair, lossy.silent - after, besides, late});
    late->missing++;
    // The timeout begins with the last progress: the ACK of what came before.
    const Duration begins = lossy.packets > 1 ? late->roundTrip : Duration();
    m_clock.After(m_timeout + begins, [this, number = m_next] { TimedOut(number); });
    m_next++;
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
            const Duration repeated = silent.late->latency + silent.late->roundTrip;
            Told(silent.late, told + repeated + silent.besides);
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
        const Duration besides = found->besides;
        m_silent.erase(found);
        Told(late, m_clock.Now() + late->latency + besides);
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
