// SPDX-License-Identifier: GPL-2.0-only

#include "infiniband-cc.h"

#include "core/base/errors.h"

#include "ns3/attribute-guard.h"
#include "ns3/string.h"
#include "ns3/table-text.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::kNever;

namespace
{

constexpr int64_t kTimerUnit = 1'024'000; //!< ps
constexpr uint32_t kMostShift = 3;        //!< 2 bits
constexpr uint32_t kMostFactor = 16'383;  //!< 14 bits
constexpr uint32_t kOwnShift = 3;

double
DelayOf(uint32_t shift, uint32_t factor)
{
    return static_cast<double>(factor) / static_cast<double>(1U << shift);
}

std::vector<double>
ParseTable(const std::string& text)
{
    std::vector<double> delays;
    std::string rest = text;
    while (!rest.empty())
    {
        const std::string entry = scaleacross::TakeUntil(rest, ',');
        std::string left = entry;
        uint32_t shift = 0;
        uint32_t factor = 0;
        bool good =
            scaleacross::TakeNumber(left, kMostShift, shift) && !left.empty() && left[0] == ':';
        left.erase(0, good ? 1 : 0);
        good = good && scaleacross::TakeNumber(left, kMostFactor, factor) && left.empty();
        if (!good)
        {
            throw ConfigError("InfinibandCc::Table",
                              "entry " + std::to_string(delays.size()) + ", '" + entry +
                                  "', is not SHIFT:MULTIPLIER",
                              "shifts 0 to 3, multipliers 0 to 16383",
                              "for instance: 0:0,2:1,2:2,2:3,0:1");
        }
        delays.push_back(DelayOf(shift, factor));
    }
    return delays;
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(InfinibandCc);

TypeId
InfinibandCc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::InfinibandCc")
            .SetParent<RdmaCongestionOps>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<InfinibandCc>()
            .AddAttribute("Increase",
                          "CCTI_Increase: by which a BECN moves the index on.",
                          UintegerValue(1),
                          scaleacross::Fixed(MakeUintegerAccessor(&InfinibandCc::m_increase)),
                          MakeUintegerChecker<uint32_t>(1, 255))
            .AddAttribute("Limit",
                          "CCTI_Limit: the largest index.",
                          UintegerValue(511),
                          scaleacross::Fixed(MakeUintegerAccessor(&InfinibandCc::m_limit)),
                          MakeUintegerChecker<uint32_t>(1, 16'383))
            .AddAttribute(
                "Min",
                "CCTI_Min: the least index, and that of a queue pair that has heard of no "
                "congestion.",
                UintegerValue(0),
                scaleacross::Fixed(MakeUintegerAccessor(&InfinibandCc::m_min)),
                MakeUintegerChecker<uint32_t>(0, 255))
            .AddAttribute("Timer",
                          "CCTI_Timer: the index goes back by one each time so many units of 1.024 "
                          "us have passed. Longer takes fewer marks and is slower to use what "
                          "becomes free. The standard has no default.",
                          UintegerValue(50),
                          scaleacross::Fixed(MakeUintegerAccessor(&InfinibandCc::m_timer)),
                          MakeUintegerChecker<uint32_t>(1, 65'535))
            .AddAttribute(
                "Table",
                "CCT, from index 0 to Limit: SHIFT:MULTIPLIER, separated by commas, for a "
                "delay of MULTIPLIER / 2^SHIFT times what the packet takes. Empty: 3:0, "
                "3:1, 3:2 and so on.",
                StringValue(""),
                scaleacross::Fixed(
                    MakeStringAccessor(&InfinibandCc::SetTable, &InfinibandCc::GetTable)),
                MakeStringChecker());
    return tid;
}

InfinibandCc::InfinibandCc() = default;

InfinibandCc::~InfinibandCc() = default;

std::string
InfinibandCc::GetName() const
{
    return "InfiniBand CC";
}

std::string
InfinibandCc::GetTable() const
{
    return m_table;
}

void
InfinibandCc::SetTable(std::string text)
{
    ParseTable(text);
    m_table = text;
}

uint32_t
InfinibandCc::GetIndex() const
{
    return m_index;
}

Ptr<RdmaCongestionOps>
InfinibandCc::Fork() const
{
    Ptr<InfinibandCc> copy = CreateObject<InfinibandCc>();
    copy->m_table = m_table;
    copy->m_increase = m_increase;
    copy->m_limit = m_limit;
    copy->m_min = m_min;
    copy->m_timer = m_timer;
    return copy;
}

void
InfinibandCc::Init(RdmaCongestionState& state)
{
    m_delays = ParseTable(m_table);
    for (uint32_t i = 0; m_table.empty() && i <= m_limit; ++i)
    {
        m_delays.push_back(DelayOf(kOwnShift, i));
    }
    if (m_delays.size() != m_limit + 1)
    {
        throw ConfigError("InfinibandCc::Table",
                          std::to_string(m_delays.size()) + " entries",
                          std::to_string(m_limit + 1) + ", from index 0 to Limit",
                          "another Limit, or a table of this length");
    }
    if (!std::is_sorted(m_delays.begin(), m_delays.end()))
    {
        throw ConfigError("InfinibandCc::Table",
                          "a larger index has a shorter delay",
                          "delays that do not fall",
                          "");
    }
    if (m_min >= m_limit)
    {
        throw ConfigError("InfinibandCc::Min",
                          std::to_string(m_min) + " leaves no index up to Limit, " +
                              std::to_string(m_limit),
                          "less than Limit",
                          "");
    }
    m_index = m_min;
    Publish(state);
}

void
InfinibandCc::OnCnp(RdmaCongestionState& state, int64_t now)
{
    m_index = std::min(m_index + m_increase, m_limit);
    if (NextDeadline() == kNever)
    {
        SetDeadline(now + m_timer * kTimerUnit);
    }
    Publish(state);
}

void
InfinibandCc::Advance(RdmaCongestionState& state, int64_t now)
{
    while (NextDeadline() <= now)
    {
        --m_index;
        SetDeadline(m_index > m_min ? NextDeadline() + m_timer * kTimerUnit : kNever);
    }
    Publish(state);
}

void
InfinibandCc::Publish(RdmaCongestionState& state)
{
    const double rate = static_cast<double>(state.lineRate) / (1 + m_delays[m_index]);
    state.rate = std::max<uint64_t>(1, static_cast<uint64_t>(rate));
}

} // namespace ns3
