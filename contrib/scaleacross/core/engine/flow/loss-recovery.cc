// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/loss-recovery.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
      m_uniform(std::move(uniform)),
      m_latest(pairs)
{
}

void
LossRecovery::GoesOn(const Sent& sent)
{
    CountUpToNow();
    const auto found = std::find_if(m_leaving.begin(), m_leaving.end(), [&](const Sent& other) {
        return other.flow == sent.flow;
    });
    if (found == m_leaving.end())
    {
        m_leaving.push_back(sent);
    }
    else
    {
        *found = sent;
    }
    TellWhatIsKnown();
}

void
LossRecovery::Leaves(const Sent& sent,
                     const LossyMessages& lossy,
                     Duration latency,
                     FlowClock::Action arrived)
{
    CountUpToNow();
    double before = 0;
    const auto found = std::find_if(m_leaving.begin(), m_leaving.end(), [&](const Sent& other) {
        return other.flow == sent.flow;
    });
    if (found != m_leaving.end())
    {
        before = found->packets;
        m_leaving.erase(found);
    }
    // Its last packet comes behind whatever has left: that is enough under go-back-N.
    Follow(sent, std::max(sent.packets - before, m_goesBack ? 1.0 : 0.0));
    TellWhatIsKnown();
    const Duration now = m_clock.Now();
    const auto late = std::make_shared<Late>();
    late->latency = latency;
    late->roundTrip = Duration::Seconds(lossy.roundTrip);
    double delay = 0; // of the slowest queue pair
    for (uint32_t i = 0; i < sent.pairs; i++)
    {
        const uint32_t pair = (sent.first + i) % m_pairs;
        delay = std::max(delay,
                         m_goesBack ? ComesInOrder(lossy, pair, late) : Repeats(lossy, pair, late));
    }
    late->arrival = now + latency + Duration::Seconds(delay);
    if (late->missing == 0)
    {
        m_clock.At(late->arrival, std::move(arrived));
        return;
    }
    late->arrived = std::move(arrived);
    TellWhatIsKnown();
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
            const Duration besides = isAgain ? m_timeout : Duration();
            WaitsToBeTold(lossy, pair, after, m_clock.Now(), besides, late);
            continue;
        }
        const double passed = lossy.roundTrip * after / lossy.inFlight;
        delay =
            std::max(delay,
                     isAgain ? m_timeout.S() + lossy.roundTrip - passed : StallOf(lossy, after));
    }
    return delay;
}

/// The same where nothing is taken but what follows the one before.
double
LossRecovery::ComesInOrder(const LossyMessages& lossy,
                           uint32_t pair,
                           const std::shared_ptr<Late>& late)
{
    const Duration undelayed = m_clock.Now() + late->latency;
    const Duration behind = std::max(Duration(), m_latest[pair] - undelayed);
    const double delay = GoesBack(lossy, pair, behind.S(), late);
    m_latest[pair] = undelayed + Duration::Seconds(delay);
    return delay;
}

/// The same where all is sent again from the lost one on, and may be lost again. `behind`: that it
/// would come late without.
double
LossRecovery::GoesBack(const LossyMessages& lossy,
                       uint32_t pair,
                       double behind,
                       const std::shared_ptr<Late>& late)
{
    double delay = behind;
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
                          m_clock.Now() + Duration::Seconds(delay),
                          isAgain ? m_timeout : Duration(),
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

/// `leaves`: its transfer's last packet, so that it is taken if it comes.
void
LossRecovery::WaitsToBeTold(const LossyMessages& lossy,
                            uint32_t pair,
                            double after,
                            Duration leaves,
                            Duration besides,
                            const std::shared_ptr<Late>& late)
{
    m_silent.push_back({m_next, pair, lossy.silent - after, leaves, besides, late});
    late->missing++;
    // The timeout begins with the last progress: the ACK of what came before.
    const Duration begins = lossy.packets > 1 ? late->roundTrip : Duration();
    m_clock.At(leaves + begins + m_timeout, [this, number = m_next] { TimedOut(number); });
    m_next++;
}

bool
LossRecovery::IsOn(uint32_t pair, const Sent& sent) const
{
    return (pair + m_pairs - sent.first) % m_pairs < sent.pairs;
}

/// So many packets of each queue pair of a transfer come behind what was lost on these.
void
LossRecovery::Follow(const Sent& sent, double packets)
{
    for (Silent& silent : m_silent)
    {
        silent.need -= IsOn(silent.pair, sent) ? packets : 0.0;
    }
}

void
LossRecovery::CountUpToNow()
{
    const double seconds = (m_clock.Now() - m_counted).S();
    m_counted = m_clock.Now();
    for (Sent& sent : m_leaving)
    {
        const double packets = sent.perSecond * seconds;
        sent.packets += packets;
        Follow(sent, packets);
    }
}

/// Of what enough has followed, up to now; and when to look again, if all goes on like this.
void
LossRecovery::TellWhatIsKnown()
{
    constexpr double kNear = 1e-6; // of a packet: what rounding leaves
    m_look++;
    double next = std::numeric_limits<double>::infinity();
    std::vector<Silent> still;
    for (Silent& silent : m_silent)
    {
        if (silent.need <= kNear)
        {
            const Duration told = std::max(m_clock.Now(), silent.since);
            Told(silent, told + silent.late->roundTrip + silent.late->latency + silent.besides);
            continue;
        }
        double perSecond = 0;
        for (const Sent& sent : m_leaving)
        {
            perSecond += IsOn(silent.pair, sent) ? sent.perSecond : 0.0;
        }
        const double seconds = silent.need / perSecond;
        const bool isSooner = seconds < (m_timeout + silent.late->roundTrip).S(); // than that tells
        next = isSooner ? std::min(next, seconds) : next;
        still.push_back(std::move(silent));
    }
    m_silent = std::move(still);
    if (std::isfinite(next))
    {
        const auto ps = static_cast<int64_t>(std::ceil(next * 1e12));
        m_clock.After(Duration::Picoseconds(ps), [this, look = m_look] {
            if (look == m_look)
            {
                CountUpToNow();
                TellWhatIsKnown();
            }
        });
    }
}

void
LossRecovery::TimedOut(uint64_t number)
{
    const auto found = std::find_if(m_silent.begin(), m_silent.end(), [&](const Silent& silent) {
        return silent.number == number;
    });
    if (found != m_silent.end())
    {
        const Silent silent = *found;
        m_silent.erase(found);
        Told(silent, m_clock.Now() + silent.late->latency + silent.besides);
    }
}

/// One of the missing packets comes then.
void
LossRecovery::Told(const Silent& silent, Duration arrival)
{
    Duration& latest = m_latest[silent.pair];
    latest = std::max(latest, arrival);
    const std::shared_ptr<Late>& late = silent.late;
    late->arrival = std::max(late->arrival, arrival);
    if (--late->missing == 0)
    {
        m_clock.At(std::max(m_clock.Now(), late->arrival), std::move(late->arrived));
    }
}

} // namespace scaleacross
