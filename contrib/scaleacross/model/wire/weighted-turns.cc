// SPDX-License-Identifier: GPL-2.0-only

#include "weighted-turns.h"

#include "core/base/errors.h"

#include <algorithm>
#include <charconv>

namespace scaleacross
{

WeightedTurns::WeightedTurns(const Quanta& quanta)
    : m_quanta(quanta)
{
    for (uint32_t priority = 0; priority < kPriorities; ++priority)
    {
        m_shared |= quanta[priority] > 0 ? 1U << priority : 0;
    }
}

WeightedTurns::Quanta
WeightedTurns::Parse(const std::string& text)
{
    Quanta quanta{};
    const char* at = text.data();
    const char* end = at + text.size();
    bool good = true;
    for (uint32_t priority = 0; priority < kPriorities && good; ++priority)
    {
        if (priority > 0)
        {
            good = at != end && *at == ',';
            at += good ? 1 : 0;
        }
        const auto [next, error] = std::from_chars(at, end, quanta[priority]);
        good = good && error == std::errc() && quanta[priority] <= 1'000'000'000;
        at = next;
    }
    if (!good || at != end)
    {
        throw ConfigError("FabricPort::Quanta",
                          "'" + text + "'",
                          "eight whole numbers of bytes up to 1e9, that of priority 0 first, "
                          "separated by commas; or nothing",
                          "for instance 0,0,0,10000,30000,0,0,0");
    }
    return quanta;
}

uint8_t
WeightedTurns::Choose(uint32_t ready, uint64_t sentBytes)
{
    if (m_pays)
    {
        m_credit[m_turn] -= static_cast<int64_t>(sentBytes - m_sentBytes);
    }
    m_sentBytes = sentBytes;
    const uint32_t strict = ready & ~m_shared;
    m_pays = strict == 0;
    if (strict != 0)
    {
        uint8_t priority = 0;
        while ((strict >> priority) > 1)
        {
            ++priority;
        }
        return priority;
    }
    while (((ready >> m_turn) & 1U) == 0 || m_credit[m_turn] <= 0)
    {
        if (((ready >> m_turn) & 1U) == 0)
        {
            m_credit[m_turn] = std::min<int64_t>(m_credit[m_turn], 0);
        }
        m_turn = static_cast<uint8_t>((m_turn + kPriorities - 1) % kPriorities);
        m_credit[m_turn] += m_quanta[m_turn];
    }
    return m_turn;
}

} // namespace scaleacross
