// SPDX-License-Identifier: GPL-2.0-only

#include "route-table.h"

#include "core/base/errors.h"

#include <algorithm>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

size_t
ContentHash(const PortGroup& group)
{
    size_t hash = group.ports.size();
    auto mix = [&hash](size_t value) { hash = (hash ^ value) * 0x100000001b3; };
    std::for_each(group.ports.begin(), group.ports.end(), mix);
    std::for_each(group.weights.begin(), group.weights.end(), mix);
    return hash;
}

void
CheckGroup(const std::string& name, const PortGroup& group)
{
    const bool zero =
        std::find(group.weights.begin(), group.weights.end(), 0U) != group.weights.end();
    if (!group.weights.empty() && (zero || group.weights.size() != group.ports.size()))
    {
        throw ConfigError(name,
                          zero ? "has a weight of 0"
                               : "has " + std::to_string(group.weights.size()) + " weights for " +
                                     std::to_string(group.ports.size()) + " ports",
                          "no weights, or one above 0 for each port",
                          "leave a port out that is to carry nothing");
    }
}

} // namespace

void
RouteTable::Add(uint32_t first, uint32_t last, PortGroup group)
{
    std::string name = "route " + std::to_string(first) + " to " + std::to_string(last);
    if (first > last || group.ports.empty())
    {
        throw ConfigError(name,
                          group.ports.empty() ? "has no ports" : "is an empty range",
                          "at least one address and one port",
                          "");
    }
    CheckGroup(name, group);
    auto next = m_ranges.end();
    if (!m_ranges.empty() && m_ranges.back().first > first)
    {
        next = std::upper_bound(
            m_ranges.begin(),
            m_ranges.end(),
            first,
            [](uint32_t address, const Range& other) { return address < other.first; });
    }
    auto previous = next == m_ranges.begin() ? m_ranges.end() : std::prev(next);
    bool hitsPrevious = previous != m_ranges.end() && previous->last >= first;
    if (hitsPrevious || (next != m_ranges.end() && next->first <= last))
    {
        throw ConfigError(name, "overlaps another route", "ranges that are apart", "");
    }
    const uint32_t number = NumberOf(std::move(group));
    const bool joinsNext =
        next != m_ranges.end() && last + 1 == next->first && next->group == number;
    if (previous != m_ranges.end() && previous->last + 1 == first && previous->group == number)
    {
        previous->last = joinsNext ? next->last : last;
        if (joinsNext)
        {
            m_firsts.erase(m_firsts.begin() + (next - m_ranges.begin()));
            m_ranges.erase(next);
        }
        return;
    }
    if (joinsNext)
    {
        m_firsts[static_cast<size_t>(next - m_ranges.begin())] = first;
        next->first = first;
        return;
    }
    m_firsts.insert(m_firsts.begin() + (next - m_ranges.begin()), first);
    m_ranges.insert(next, {first, last, number});
}

void
RouteTable::AddEntry(uint32_t first, uint32_t last, PortGroup group)
{
    if (!HasEntries())
    {
        m_entry.emplace_back();
        m_entry.front().m_down = m_down;
    }
    m_entry.front().Add(first, last, std::move(group));
}

uint32_t
RouteTable::NumberOf(PortGroup&& group)
{
    const size_t hash = ContentHash(group);
    const auto [begin, end] = m_byContent.equal_range(hash);
    for (auto entry = begin; entry != end; ++entry)
    {
        if (m_groups[entry->second] == group)
        {
            return entry->second;
        }
    }
    const auto number = static_cast<uint32_t>(m_groups.size());
    m_byContent.emplace(hash, number);
    m_endOfPorts =
        std::max<uint32_t>(m_endOfPorts,
                           *std::max_element(group.ports.begin(), group.ports.end()) + 1U);
    m_live.push_back(LivePartOf(group));
    m_groups.push_back(std::move(group));
    return number;
}

PortGroup
RouteTable::LivePartOf(const PortGroup& group) const
{
    PortGroup live;
    for (size_t i = 0; i < group.ports.size(); ++i)
    {
        if (IsPortUp(group.ports[i]))
        {
            live.ports.push_back(group.ports[i]);
            if (!group.weights.empty())
            {
                live.weights.push_back(group.weights[i]);
            }
        }
    }
    return live;
}

void
RouteTable::SetPortUp(uint16_t port, bool up)
{
    if (IsPortUp(port) == up)
    {
        return;
    }
    if (port >= m_down.size())
    {
        m_down.resize(port + size_t{1});
    }
    m_down[port] = !up;
    if (HasEntries())
    {
        m_entry.front().SetPortUp(port, up);
    }
    for (size_t i = 0; i < m_groups.size(); ++i)
    {
        const auto& ports = m_groups[i].ports;
        if (std::find(ports.begin(), ports.end(), port) != ports.end())
        {
            m_live[i] = LivePartOf(m_groups[i]);
        }
    }
}

void
RouteTable::Clear()
{
    m_ranges.clear();
    m_firsts.clear();
    m_groups.clear();
    m_live.clear();
    m_byContent.clear();
    m_entry.clear();
    m_endOfPorts = 0;
}

} // namespace scaleacross
