// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SHARD_H
#define SCALEACROSS_SHARD_H

#include <algorithm>
#include <cstdint>
#include <string>

namespace scaleacross
{

/**
 * One of several parts of a search, which need nothing of each other: a stretch of its families of
 * the first level (SearchSpace), each of which is a run of positions. Any stretch of a search's
 * order is a sample of the space. Families with a common remainder are none: with a number of parts
 * that divides that of families, all of them would have the same value of the last axis.
 *
 * Worked case: 10 families in 4 parts: {0, 1, 2}, {3, 4, 5}, {6, 7}, {8, 9}.
 */
struct Shard
{
    uint64_t index{0}; //!< from 0
    uint64_t count{1}; //!< 1: the whole

    bool IsWhole() const
    {
        return count == 1;
    }

    /// How many positions it has of a whole with `whole` of them, in families of `family`. Domain:
    /// the one divides the other.
    uint64_t Positions(uint64_t whole, uint64_t family) const
    {
        const uint64_t families = whole / family;
        return (families / count + (index < families % count ? 1 : 0)) * family;
    }

    /// The first of them in the order of the whole.
    uint64_t Begin(uint64_t whole, uint64_t family) const
    {
        const uint64_t families = whole / family;
        return (families / count * index + std::min(index, families % count)) * family;
    }
};

/// More parts than anybody has machines.
constexpr uint64_t kMostShards = 10000;

/// "2/4", counted from 1.
std::string ToString(const Shard& shard);

/// Reads the same. Throws ValueError.
Shard ParseShard(const std::string& text);

} // namespace scaleacross

#endif // SCALEACROSS_SHARD_H
