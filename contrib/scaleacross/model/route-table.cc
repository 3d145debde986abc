// SPDX-License-Identifier: GPL-2.0-only

#include "route-table.h"

#include "core/base/errors.h"

#include <algorithm>
#include <string>
#include <utility>

namespace scaleacross
{

void
RouteTable::Add(Route route)
{
    std::string name = "route " + std::to_string(route.first) + " to " + std::to_string(route.last);
    if (route.first > route.last || route.ports.empty())
    {
        throw ConfigError(name,
                          route.ports.empty() ? "has no ports" : "is an empty range",
                          "at least one address and one port",
                          "");
    }
    auto next =
        std::upper_bound(m_routes.begin(),
                         m_routes.end(),
                         route.first,
                         [](uint32_t first, const Route& other) { return first < other.first; });
    auto previous = next == m_routes.begin() ? m_routes.end() : std::prev(next);
    bool hitsPrevious = previous != m_routes.end() && previous->last >= route.first;
    if (hitsPrevious || (next != m_routes.end() && next->first <= route.last))
    {
        throw ConfigError(name, "overlaps another route", "ranges that are apart", "");
    }
    if (previous != m_routes.end() && previous->last + 1 == route.first &&
        previous->ports == route.ports)
    {
        previous->last = route.last;
        return;
    }
    m_firsts.insert(m_firsts.begin() + (next - m_routes.begin()), route.first);
    m_routes.insert(next, std::move(route));
}

void
RouteTable::Clear()
{
    m_routes.clear();
    m_firsts.clear();
}

} // namespace scaleacross
