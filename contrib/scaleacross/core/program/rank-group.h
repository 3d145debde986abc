// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANK_GROUP_H
#define SCALEACROSS_RANK_GROUP_H

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// Number of a GPU's process in the job, 0 .. ranks-1.
using Rank = uint32_t;

/**
 * A family of communication groups, all of the same shape, as a lattice in rank space.
 *
 * Each axis is a coordinate of a rank, coordinate = (rank / stride) mod count. The group of a rank
 * is every rank that differs from it in these coordinates only. Members are indexed 0 .. Size()-1
 * with the first axis running fastest. Nothing is listed: a group of 100,000 ranks is two or three
 * axes.
 *
 * Worked case: tp = 2, dp = 3, rank = tp + 2 dp. The dp groups are the axis {stride 2, count 3};
 * the group of rank 3 is {1, 3, 5}, and rank 3 has index 1 in it.
 */
class RankGroup
{
  public:
    struct Axis
    {
        uint32_t stride;
        uint32_t count; //!< >= 1
    };

    RankGroup() = default;

    /// Axes with count 1 are dropped. Strides must ascend and each be a multiple of the previous
    /// stride x count (so that coordinates are independent).
    explicit RankGroup(std::vector<Axis> axes);

    uint32_t Size() const
    {
        return m_size;
    }

    const std::vector<Axis>& Axes() const
    {
        return m_axes;
    }

    /// Index of `rank` in its own group.
    uint32_t IndexOf(Rank rank) const;

    /// Member `index` of the group that `rank` belongs to.
    Rank Member(Rank rank, uint32_t index) const;

    /**
     * Cuts the group in two: the first family holds the members that differ in a rank block of
     * `span` consecutive ranks (span must fall on or inside an axis evenly), the second the rest,
     * so that every member of the whole is reached by one step in each.
     *
     * Worked case: axis {8, 16} cut at span 64: inner {8, 8}, outer {64, 2}.
     */
    struct Halves;
    Halves SplitAt(uint32_t span) const;

    /// Whether SplitAt(span) is possible: no axis is cut unevenly.
    bool CanSplitAt(uint32_t span) const;

  private:
    std::vector<Axis> m_axes;
    uint32_t m_size{1};
};

struct RankGroup::Halves
{
    RankGroup inner;
    RankGroup outer;
};

bool operator==(const RankGroup& a, const RankGroup& b);

} // namespace scaleacross

#endif // SCALEACROSS_RANK_GROUP_H
