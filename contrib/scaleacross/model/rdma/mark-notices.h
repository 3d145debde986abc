// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MARK_NOTICES_H
#define SCALEACROSS_MARK_NOTICES_H

#include "ns3/nstime.h"

#include <cstdint>
#include <utility>

namespace scaleacross
{

/**
 * How a receiver tells its sender of packets that were marked on the way: by congestion
 * notifications (CNPs), no more than one in an interval, and by its next answer.
 *
 * Worked case: an interval of 50 us. Packets that come at 0, 10 and 60 us are marked: CNPs are due
 * at 0 and 60 us. If the first answer leaves at 5 us, and others at 20 and 30 us, those of 5 and 20
 * us say that there was a mark, and that of 30 us says there was none.
 */
class MarkNotices
{
  public:
    /// RdmaQueuePair's attributes of the same names.
    struct Config
    {
        bool sendCnps{true};
        ns3::Time cnpInterval;
        uint8_t cnpPriority{7};
    };

    void Configure(const Config& config)
    {
        m_sendsCnps = config.sendCnps;
        m_interval = config.cnpInterval.GetPicoSeconds();
    }

    /// A marked packet has come in. True if a CNP is due.
    bool Note(int64_t now)
    {
        m_echo = true;
        if (!m_sendsCnps || now < m_nextCnp)
        {
            return false;
        }
        m_nextCnp = now + m_interval;
        return true;
    }

    /// An answer leaves: whether it says that there were marks.
    bool TakeEcho()
    {
        return std::exchange(m_echo, false);
    }

  private:
    bool m_sendsCnps{true};
    bool m_echo{false};    //!< a marked packet has come in since the last answer
    int64_t m_interval{0}; //!< ps
    int64_t m_nextCnp{0};  //!< ps: no CNP before
};

} // namespace scaleacross

#endif // SCALEACROSS_MARK_NOTICES_H
