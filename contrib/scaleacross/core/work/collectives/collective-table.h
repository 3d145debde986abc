// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_TABLE_H
#define SCALEACROSS_COLLECTIVE_TABLE_H

#include "core/program/program.h"
#include "core/work/collectives/lowering.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// The collectives of a task graph while it is being built: equal ones are kept once.
class CollectiveTable
{
  public:
    /// Stands for a collective in which nothing moves.
    static constexpr uint32_t kNone = UINT32_MAX;

    /// The index of an equal collective, added if there is none; kNone if it has no phases.
    uint32_t Add(Collective collective);

    /// The finished table.
    std::vector<Collective> Take()
    {
        return std::move(m_collectives);
    }

  private:
    std::vector<Collective> m_collectives;
};

/// Appends a posted collective; nothing if it is kNone.
void AppendCollective(uint32_t collective, Stream stream, uint32_t handle, Program& program);

/// Appends computing, of no negative time; joins it to the operation before where that computes
/// too.
void AppendCompute(Duration duration, Program& program);

void AppendWait(uint32_t handle, Program& program);

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_TABLE_H
