// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEND_WINDOW_H
#define SCALEACROSS_SEND_WINDOW_H

#include "selective-repeat.h"
#include "send-queue.h"

#include <algorithm>
#include <cstdint>

namespace scaleacross
{

/**
 * Whether a sender may send a packet now, a new one or a lost one again, and which packets ask for
 * an answer.
 *
 * Model: so many packets are allowed. They bound those from the first unacknowledged one on; with
 * `countsFlight` those under way: sent, and known neither to have arrived nor to be lost.
 * Repetitions then need room as well. What is not under way may lie no further ahead than the
 * receiver keeps.
 *
 * Packets that asked for no answer may have arrived long since. If no answer is to come that could
 * say so, the window must not wait for one: it lets one more packet leave, which asks. Pulls come
 * without being asked for, so senders that go by them need not.
 *
 * Worked case: 4 packets are allowed, 0 to 3 have been sent; 0 and 1 are lost, 2 and 3 have
 * arrived. 0 and 1 may be sent again. After that nothing new may leave, as 0 is not acknowledged;
 * but with countsFlight only two are under way, so 4 and 5 may.
 */
class SendWindow
{
  public:
    /// RdmaQueuePair's attributes AckInterval and WindowCountsFlight.
    struct Config
    {
        uint32_t ackInterval{1};
        bool countsFlight{false};
    };

    /// `allowed`: packets that may be sent before the first Update. `mostAhead`: packets beyond the
    /// expected one that the receiver keeps. `pulled`: it goes by pulls.
    void Start(const Config& config, uint64_t allowed, uint64_t mostAhead, bool pulled)
    {
        m_config = config;
        m_mostAhead = mostAhead;
        m_mayWait = config.ackInterval == 1 || pulled;
        m_packets = allowed;
    }

    /// A packet may be sent.
    bool Allows(const SendQueue& queue) const
    {
        return (queue.HasNext() && queue.Unacked() < m_packets) || m_mayRepeat;
    }

    /// A lost packet may be sent again, before any new one.
    bool MayRepeat() const
    {
        return m_mayRepeat;
    }

    /// The packet before `next` is one of those that ask whatever they are.
    bool IsTurnToAsk(uint64_t next) const
    {
        return m_config.ackInterval == 1 || next % m_config.ackInterval == 0;
    }

    /// A packet that asks for an answer is sent.
    void Asked(uint64_t psn)
    {
        m_asked = psn;
    }

    /// An answer to `cause` says that all before `psn` have arrived.
    void Answered(uint64_t psn, uint64_t cause)
    {
        if (psn > m_asked || cause == m_asked)
        {
            m_asked = kNothing;
        }
    }

    /// No answer is to come any more.
    void ForgetAsked()
    {
        m_asked = kNothing;
    }

    /// What may be sent from now on, if so many packets are allowed.
    void Update(const SendQueue& queue, const SelectiveRepeat& repeat, uint64_t allowed)
    {
        const bool unanswered = !m_mayWait && m_asked == kNothing && queue.Unacked() > 0;
        m_packets = allowed;
        m_mayRepeat = repeat.HasLost();
        if (m_config.countsFlight)
        {
            m_packets = std::min(allowed + repeat.NotUnderWay(), m_mostAhead);
            m_mayRepeat =
                m_mayRepeat && (unanswered || UnderWay(queue, repeat, queue.Una()) < allowed);
        }
        if (unanswered)
        {
            m_packets = std::max(m_packets, std::min(queue.Unacked() + 1, m_mostAhead));
        }
    }

    /// Nothing may be sent until Update.
    void Close()
    {
        m_packets = 0;
        m_mayRepeat = false;
    }

    /// Packets that are under way from `psn` on, or all from there to the next one if they count.
    uint64_t UnderWay(const SendQueue& queue, const SelectiveRepeat& repeat, uint64_t psn) const
    {
        const uint64_t span = queue.Next() > psn ? queue.Next() - psn : 0;
        const uint64_t elsewhere = m_config.countsFlight ? repeat.NotUnderWay() : 0;
        return span > elsewhere ? span - elsewhere : 0;
    }

  private:
    static constexpr uint64_t kNothing = UINT64_MAX;

    Config m_config;
    uint64_t m_mostAhead{0};
    uint64_t m_packets{0};      //!< that may be unacknowledged
    bool m_mayRepeat{false};    //!< a lost packet may be sent again
    bool m_mayWait{true};       //!< there always is an answer to come, or a pull
    uint64_t m_asked{kNothing}; //!< newest packet that asked for an answer and has none yet
};

} // namespace scaleacross

#endif // SCALEACROSS_SEND_WINDOW_H
