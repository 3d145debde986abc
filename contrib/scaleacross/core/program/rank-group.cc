// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/rank-group.h"

#include "core/base/errors.h"

namespace scaleacross
{

RankGroup::RankGroup(std::vector<Axis> axes)
{
    uint64_t reach = 1;
    for (const auto& axis : axes)
    {
        if (axis.count <= 1)
        {
            continue;
        }
        SCALEACROSS_INVARIANT(axis.stride >= reach && axis.stride % reach == 0,
                              "axis of stride " + std::to_string(axis.stride) +
                                  " overlaps the axes before it, which reach " +
                                  std::to_string(reach));
        reach = uint64_t{axis.stride} * axis.count;
        m_size *= axis.count;
        // Two axes that continue each other are one.
        if (!m_axes.empty() && m_axes.back().stride * m_axes.back().count == axis.stride)
        {
            m_axes.back().count *= axis.count;
        }
        else
        {
            m_axes.push_back(axis);
        }
    }
}

uint32_t
RankGroup::IndexOf(Rank rank) const
{
    uint32_t index = 0;
    uint32_t weight = 1;
    for (const auto& axis : m_axes)
    {
        index += (rank / axis.stride) % axis.count * weight;
        weight *= axis.count;
    }
    return index;
}

Rank
RankGroup::Member(Rank rank, uint32_t index) const
{
    for (const auto& axis : m_axes)
    {
        const uint32_t own = (rank / axis.stride) % axis.count;
        rank += (index % axis.count - own) * axis.stride; // unsigned wrap-around is intended
        index /= axis.count;
    }
    return rank;
}

bool
RankGroup::CanSplitAt(uint32_t span) const
{
    for (const auto& axis : m_axes)
    {
        const uint64_t end = uint64_t{axis.stride} * axis.count;
        if (axis.stride < span && end > span &&
            (span % axis.stride != 0 || axis.count % (span / axis.stride) != 0))
        {
            return false;
        }
    }
    return true;
}

RankGroup::Halves
RankGroup::SplitAt(uint32_t span) const
{
    std::vector<Axis> inner;
    std::vector<Axis> outer;
    for (const auto& axis : m_axes)
    {
        const uint64_t end = uint64_t{axis.stride} * axis.count;
        if (end <= span)
        {
            inner.push_back(axis);
        }
        else if (axis.stride >= span)
        {
            outer.push_back(axis);
        }
        else
        {
            const uint32_t below = span / axis.stride;
            inner.push_back({axis.stride, below});
            outer.push_back({span, axis.count / below});
        }
    }
    return {RankGroup(inner), RankGroup(outer)};
}

bool
operator==(const RankGroup& a, const RankGroup& b)
{
    if (a.Axes().size() != b.Axes().size())
    {
        return false;
    }
    for (size_t i = 0; i < a.Axes().size(); i++)
    {
        if (a.Axes()[i].stride != b.Axes()[i].stride || a.Axes()[i].count != b.Axes()[i].count)
        {
            return false;
        }
    }
    return true;
}

} // namespace scaleacross
