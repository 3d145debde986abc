// SPDX-License-Identifier: GPL-2.0-only

#include "lane-arbiter.h"

#include "core/base/errors.h"

#include "ns3/fabric-packet.h"
#include "ns3/table-text.h"

#include <algorithm>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr uint32_t kUnit = 64;
constexpr uint32_t kLimitUnit = 4096;
constexpr size_t kMostEntries = 64;

/// What is wrong with the text of the tables.
[[noreturn]] void
Complain(const std::string& where, const std::string& what)
{
    throw ConfigError(where,
                      what,
                      "tables as high LANE:WEIGHT,...; low LANE:WEIGHT,...; limit N, with lanes 0 "
                      "to 7, and weights and N 0 to 255",
                      "for instance: high 6:64; low 0:1,3:200,4:100; limit 10");
}

std::vector<LaneArbiter::Entry>
ParseTable(std::string text, const std::string& where)
{
    std::vector<LaneArbiter::Entry> entries;
    if (!text.empty() && text.back() == ',')
    {
        Complain(where, "a table ends with a comma");
    }
    while (!text.empty())
    {
        const std::string entry = TakeUntil(text, ',');
        std::string rest = entry;
        uint32_t lane = 0;
        uint32_t weight = 0;
        bool good = TakeNumber(rest, kPriorities - 1, lane) && !rest.empty() && rest[0] == ':';
        rest.erase(0, good ? 1 : 0);
        good = good && TakeNumber(rest, 255, weight) && rest.empty();
        if (!good)
        {
            Complain(where, "entry '" + entry + "' is not LANE:WEIGHT");
        }
        entries.push_back({static_cast<uint8_t>(lane), static_cast<uint8_t>(weight)});
    }
    if (entries.empty() || entries.size() > kMostEntries)
    {
        Complain(where,
                 "a table has " + std::to_string(entries.size()) +
                     " entries, and may have 1 to 64");
    }
    return entries;
}

} // namespace

LaneArbiter::LaneArbiter(Tables tables)
    : m_high(MakeRound(tables.high)),
      m_low(MakeRound(tables.low)),
      m_limit(tables.limit)
{
}

LaneArbiter::Tables
LaneArbiter::Parse(const std::string& text, const std::string& where)
{
    Tables tables;
    bool limited = false;
    std::string rest = text;
    while (!rest.empty())
    {
        std::string part = TakeUntil(rest, ';');
        const std::string name = TakeUntil(part, ' ');
        if (name == "limit" && !limited)
        {
            limited = true;
            if (!TakeNumber(part, kNoLimit, tables.limit) || !part.empty())
            {
                Complain(where, "the limit is not a number up to 255");
            }
            continue;
        }
        std::vector<Entry>* table = nullptr;
        if (name == "high" || name == "low")
        {
            table = name == "high" ? &tables.high : &tables.low;
        }
        if (table == nullptr || !table->empty())
        {
            Complain(where, "'" + name + "' is none of high, low and limit, or there twice");
        }
        *table = ParseTable(part, where);
    }
    const auto weighs = [](const Entry& entry) { return entry.weight > 0; };
    if (std::none_of(tables.high.begin(), tables.high.end(), weighs) &&
        std::none_of(tables.low.begin(), tables.low.end(), weighs))
    {
        Complain(where, "no entry has a weight");
    }
    return tables;
}

LaneArbiter::Round
LaneArbiter::MakeRound(const std::vector<Entry>& entries)
{
    Round round;
    for (const Entry& entry : entries)
    {
        if (entry.weight > 0)
        {
            round.entries.push_back(entry);
            round.lanes |= 1U << entry.lane;
        }
    }
    round.left = round.entries.empty() ? 0 : round.entries.front().weight;
    return round;
}

uint8_t
LaneArbiter::Next(Round& round, uint32_t ready)
{
    while (((ready >> round.entries[round.turn].lane) & 1U) == 0 || round.left <= 0)
    {
        round.turn = (round.turn + 1) % round.entries.size();
        round.left = round.entries[round.turn].weight;
    }
    return round.entries[round.turn].lane;
}

uint8_t
LaneArbiter::Choose(uint32_t ready, uint64_t sentBytes)
{
    const uint64_t sent = sentBytes - m_sentBytes;
    m_sentBytes = sentBytes;
    if (m_payer != nullptr)
    {
        m_payer->left -= static_cast<int64_t>((sent + kUnit - 1) / kUnit);
        m_highSent += m_payer == &m_high ? sent : 0;
    }
    m_payer = nullptr;
    uint32_t strict = ready >> kPriorities << kPriorities;
    const uint32_t high = ready & m_high.lanes;
    const uint32_t low = ready & m_low.lanes;
    if (strict == 0 && (high | low) != 0)
    {
        const bool spent =
            m_limit != kNoLimit && m_highSent > 0 && m_highSent >= uint64_t{m_limit} * kLimitUnit;
        const bool takeLow = high == 0 || (low != 0 && spent);
        m_highSent = takeLow ? 0 : m_highSent;
        m_payer = takeLow ? &m_low : &m_high;
        return Next(*m_payer, takeLow ? low : high);
    }
    strict = strict != 0 ? strict : ready;
    uint8_t lane = 0;
    while ((strict >> lane) > 1)
    {
        ++lane;
    }
    return lane;
}

} // namespace scaleacross
