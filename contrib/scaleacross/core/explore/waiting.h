// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WAITING_H
#define SCALEACROSS_WAITING_H

#include "core/explore/families.h"

#include <cstddef>
#include <queue>
#include <vector>

namespace scaleacross
{

/// Families that may matter, in queues by what is to be done next, each with the least bound first.
class Waiting
{
  public:
    using Queue = std::priority_queue<Family>;

    /// @param levels of the space (SearchSpace::Levels), at least 1
    explicit Waiting(size_t levels);

    void Push(const Family& family);

    bool IsEmpty() const;

    /// The one that none of the others has a lesser bound than. Domain: not empty.
    const Family& First() const;

    /// Whether nothing that is unclear may be better than the first that is ready.
    bool IsTimeToRun() const;

    /// The queue with the first of all that is unclear; null: nothing is.
    Queue* FirstUnclear();

    /// Plans to be run.
    Queue& Ready()
    {
        return m_ready;
    }

    /// What is to be split, by level, then the plans that are to be filtered.
    std::vector<Queue>& Unclear()
    {
        return m_unclear;
    }

  private:
    /// Its place among the queues; their number where nothing is unclear.
    size_t PlaceOfFirst() const;

    std::vector<Queue> m_unclear;
    Queue m_ready;
};

} // namespace scaleacross

#endif // SCALEACROSS_WAITING_H
