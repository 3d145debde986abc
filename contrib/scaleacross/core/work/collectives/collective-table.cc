// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/collectives/collective-table.h"

#include "core/base/errors.h"

#include <algorithm>
#include <utility>

namespace scaleacross
{

uint32_t
CollectiveTable::Add(Collective collective)
{
    if (collective.phases.empty())
    {
        return kNone;
    }
    // A graph has a few tens of collectives.
    for (size_t i = 0; i < m_collectives.size(); i++)
    {
        if (m_collectives[i].name == collective.name && MoveAlike(m_collectives[i], collective))
        {
            return static_cast<uint32_t>(i);
        }
    }
    m_collectives.push_back(std::move(collective));
    return static_cast<uint32_t>(m_collectives.size() - 1);
}

void
AppendCollective(uint32_t collective, Stream stream, uint32_t handle, Program& program)
{
    if (collective == CollectiveTable::kNone)
    {
        return;
    }
    Op op;
    op.kind = OpKind::Collective;
    op.stream = stream;
    op.index = collective;
    op.handle = handle;
    program.ops.push_back(op);
}

void
AppendCompute(Duration duration, Program& program)
{
    SCALEACROSS_INVARIANT(duration >= Duration(), ToString(duration));
    if (duration == Duration())
    {
        return;
    }
    if (!program.ops.empty() && program.ops.back().kind == OpKind::Compute)
    {
        program.ops.back().duration += duration;
        return;
    }
    Op op;
    op.kind = OpKind::Compute;
    op.duration = duration;
    program.ops.push_back(op);
}

void
AppendWait(uint32_t handle, Program& program)
{
    Op op;
    op.kind = OpKind::Wait;
    op.handle = handle;
    program.ops.push_back(op);
}

} // namespace scaleacross
