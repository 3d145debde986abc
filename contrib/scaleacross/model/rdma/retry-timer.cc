// SPDX-License-Identifier: GPL-2.0-only

#include "retry-timer.h"

#include "core/base/errors.h"
#include "rnr-timer.h"

namespace scaleacross
{

void
RetryTimer::Configure(const Config& config, int64_t nearest, const std::string& owner)
{
    constexpr int64_t kUnit = 4'096'000; // ps
    m_config = config;
    m_timeout = config.timeout == 0 ? 0 : kUnit << config.timeout;
    if (m_timeout != 0 && m_timeout <= nearest)
    {
        throw ConfigError(owner + " Timeout",
                          std::to_string(config.timeout) + " is " +
                              std::to_string(m_timeout / 1'000'000) +
                              " us, but there and back on the NIC's own wire takes " +
                              std::to_string(nearest / 1'000'000) + " us",
                          "more than the round trip: 4.096 us * 2^n",
                          "a larger RdmaQueuePair::Timeout");
    }
}

bool
RetryTimer::HoldBack(uint64_t code, int64_t now)
{
    if (m_rnrRetries == m_config.rnrRetryCount && m_config.rnrRetryCount != kEndlessRnrRetries)
    {
        return false;
    }
    ++m_rnrRetries;
    m_heldBack = true;
    Set(now + RnrTimerPicoseconds(static_cast<uint32_t>(code % kRnrTimerCodes)));
    return true;
}

} // namespace scaleacross
