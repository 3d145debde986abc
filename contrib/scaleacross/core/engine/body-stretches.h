// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BODY_STRETCHES_H
#define SCALEACROSS_BODY_STRETCHES_H

#include "core/engine/evaluator-state.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace scaleacross::evaluation
{

/**
 * What a class does in a body between two operations at which nothing is under way on it.
 *
 * While no message is on the class's ports, a class that has nothing under way and goes on to
 * operations whose collectives only it takes part in, on resources that only it uses, depends on
 * nothing but these operations. So they take the same time, to the picosecond, whenever they are
 * executed again, until nothing is under way once more.
 */
struct BodyStretch
{
    uint32_t end{0};  //!< operation of the body at which nothing is under way again; 0: not known
    bool local{true}; //!< it depends on nothing else; false: it is to be executed each time
    Duration time;
    Totals totals; //!< what the class's sums grow by
    std::vector<CutLoad> loads;
};

/// The stretches of a body that a class has executed, by the operation at which they begin.
class BodyStretches
{
  public:
    /// Several stretches in a row: one that uses cuts, or some that do not.
    struct Row
    {
        uint32_t end{0};
        Duration time;
        Totals totals;
        std::vector<CutLoad> loads;
        uint32_t learned{0}; //!< how many were known when it was made
    };

    bool IsKnown(uint32_t begin) const
    {
        return begin < m_stretches.size() && m_stretches[begin].end > 0;
    }

    bool IsLocal(uint32_t begin) const
    {
        return m_stretches[begin].local;
    }

    /// Domain: stretch.end > begin, and it is not known yet.
    void Learn(uint32_t begin, const BodyStretch& stretch)
    {
        if (m_stretches.size() <= begin)
        {
            m_stretches.resize(begin + 1);
            m_rows.resize(begin + 1);
        }
        m_stretches[begin] = stretch;
        m_learned++; // rows may go on from there now
    }

    /// All known local ones that follow each other from an operation on. Domain: the first of them
    /// is.
    const Row& From(uint32_t begin)
    {
        Row& row = m_rows[begin];
        if (row.learned != m_learned)
        {
            row = Row();
            row.learned = m_learned;
            row.end = begin;
            row.loads = m_stretches[begin].loads;
            while (IsKnown(row.end) && IsLocal(row.end) &&
                   (row.end == begin || (row.loads.empty() && m_stretches[row.end].loads.empty())))
            {
                Append(row);
            }
        }
        return row;
    }

    /// Those of From() that end before `time` has passed, which is not more than all take.
    Row Before(uint32_t begin, Duration time) const
    {
        Row row;
        row.end = begin;
        while (IsKnown(row.end) && row.time + m_stretches[row.end].time < time)
        {
            Append(row);
        }
        return row;
    }

  private:
    void Append(Row& row) const
    {
        const BodyStretch& next = m_stretches[row.end];
        row.time += next.time;
        row.totals.AddTimes(1, next.totals, Totals());
        row.end = next.end;
    }

    std::vector<BodyStretch> m_stretches;
    std::vector<Row> m_rows; //!< From()
    uint32_t m_learned{0};
};

} // namespace scaleacross::evaluation

#endif // SCALEACROSS_BODY_STRETCHES_H
