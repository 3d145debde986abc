// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RETRY_TIMER_H
#define SCALEACROSS_RETRY_TIMER_H

#include "ns3/arrival-agenda.h"

#include <cstdint>
#include <string>
#include <utility>

namespace scaleacross
{

/**
 * The one timer of a sender, and how often it has tried: for answers that do not come, and for the
 * wait that a receiver asks for which was not ready.
 *
 * Model: while it is held back by a receiver that was not ready, the timer ends that. Otherwise it
 * runs while something waits for an answer: 4.096 us * 2^timeout since the last progress, or since
 * the first packet left, or the first repetition of what was not answered. After retryCount
 * timeouts, or rnrRetryCount refusals, without progress the next one is an error.
 *
 * All times in ps.
 *
 * Worked case: timeout 4 is 65.536 us, retryCount 1. A packet leaves at 0, nothing comes: the first
 * timeout is at 65.536 us, and Retry() is true. The repetition has to wait and leaves at 80 us: the
 * next timeout is at 145.536 us, and Retry() is false.
 */
class RetryTimer
{
  public:
    /// RdmaQueuePair's attributes of the same names.
    struct Config
    {
        uint32_t timeout{14};      //!< exponent; 0: answers are not timed
        uint32_t retryCount{7};    //!< timeouts
        uint32_t rnrRetryCount{7}; //!< refusals; kEndlessRnrRetries: any number
    };

    /// Who sees to it that Expire is called in time.
    class Watcher
    {
      public:
        virtual ~Watcher() = default;
        /// A timer has been set; `anew`: it did not run.
        virtual void WatchDeadline(int64_t deadline, bool anew) = 0;
        /// A timer that ran has been stopped.
        virtual void ForgetDeadline() = 0;
    };

    /// Before anything else. Domain: it lives as long as this is set.
    void SetWatcher(Watcher& watcher)
    {
        m_watcher = &watcher;
    }

    /// `nearest`: the least time in which an answer can come. Throws ConfigError (where = owner +
    /// the attribute) if a timeout is not longer.
    void Configure(const Config& config, int64_t nearest, const std::string& owner);

    /// When it runs out, kNever if it does not run.
    int64_t Deadline() const
    {
        return m_deadline;
    }

    /// How long it waits for an answer, 0 if for ever.
    int64_t Timeout() const
    {
        return m_timeout;
    }

    /// It waits for the receiver to be ready.
    bool IsHeldBack() const
    {
        return m_heldBack;
    }

    /// A packet leaves. True if it is one that starts the timer anew.
    bool Sent()
    {
        return std::exchange(m_timesNext, false);
    }

    /// It starts now if something waits for an answer, and stops if not.
    void Restart(int64_t now, bool waits)
    {
        Set(waits && m_timeout != 0 ? now + m_timeout : kNever);
    }

    /// It starts now unless it runs.
    void StartUnlessRunning(int64_t now)
    {
        if (m_deadline == kNever && m_timeout != 0)
        {
            Set(now + m_timeout);
        }
    }

    void Stop()
    {
        Set(kNever);
    }

    /// An answer brings progress; `waits`: there is more to be answered; `allAcked`: all that
    /// was sent is acknowledged, so that the next packet is the first.
    void Progress(int64_t now, bool waits, bool allAcked)
    {
        m_rnrRetries = 0;
        PathWorks(now, waits);
        m_timesNext = m_heldBack ? m_timesNext : allAcked;
    }

    /// Something else shows that the path is not broken.
    void PathWorks(int64_t now, bool waits)
    {
        m_retries = 0;
        if (!m_heldBack)
        {
            Restart(now, waits);
        }
    }

    /// The sender has gone back. The timer starts at once, as a pause may last for good, and again
    /// with the first repetition.
    void WentBack(int64_t now, bool waits)
    {
        m_timesNext = true;
        if (!m_heldBack)
        {
            Restart(now, waits);
        }
    }

    /// The receiver was not ready, and asks for the wait of this code (rnr-timer.h). False if that
    /// is an error.
    bool HoldBack(uint64_t code, int64_t now);

    /// It has run out, and starts anew. True if that is a timeout, false if the wait for a receiver
    /// is over.
    bool Expire(int64_t now, bool waits)
    {
        m_timesNext = true;
        Restart(now, waits);
        return !std::exchange(m_heldBack, false);
    }

    /// After a timeout: counts it. False if it is an error.
    bool Retry()
    {
        const bool may = m_retries < m_config.retryCount;
        m_retries += may ? 1 : 0;
        return may;
    }

    /// Timeouts since the last progress.
    uint32_t Retries() const
    {
        return m_retries;
    }

    /// Refusals since the last progress, those that are errors left out.
    uint32_t RnrRetries() const
    {
        return m_rnrRetries;
    }

  private:
    void Set(int64_t deadline)
    {
        const bool ran = m_deadline != kNever;
        m_deadline = deadline;
        if (deadline != kNever)
        {
            m_watcher->WatchDeadline(deadline, !ran);
        }
        else if (ran)
        {
            m_watcher->ForgetDeadline();
        }
    }

    Config m_config;
    Watcher* m_watcher{nullptr};
    int64_t m_deadline{kNever};
    int64_t m_timeout{0};
    bool m_timesNext{true}; //!< the next packet starts it anew
    bool m_heldBack{false};
    uint32_t m_retries{0};
    uint32_t m_rnrRetries{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_RETRY_TIMER_H
