// SPDX-License-Identifier: GPL-2.0-only

#include "core/schedule/pipeline-program.h"

namespace scaleacross
{

namespace
{

uint32_t
BoundariesOf(const PipelineShape& shape)
{
    return shape.ranks == 1 ? 0 : Positions(shape) - 1;
}

/// Send or Receive of the message over `boundary`, which lies between virtual stages `boundary` and
/// `boundary` + 1, to or from the rank of virtual stage `peer`.
Op
Transfer(OpKind kind,
         const PipelinePlace& place,
         bool forward,
         uint32_t boundary,
         uint32_t peer,
         uint32_t microbatch)
{
    Op op;
    op.kind = kind;
    op.index = ((forward ? 0 : BoundariesOf(place.shape)) + boundary) * place.shape.microbatches +
               microbatch;
    op.peer = static_cast<int32_t>(
        int64_t{place.pipeline.Member(place.rank, RankOf(place.shape, peer))} - place.rank);
    op.bytes = place.bytes;
    return op;
}

} // namespace

uint32_t
PipelineMessages(const PipelineShape& shape)
{
    return 2 * BoundariesOf(shape) * shape.microbatches;
}

void
AppendAction(const PipelinePlace& place,
             const PipelineAction& action,
             uint32_t body,
             Program& program)
{
    const uint32_t position = VirtualStage(place.shape, place.stage, action.chunk);
    const uint32_t boundaries = BoundariesOf(place.shape);
    const bool forward = action.action == Action::Forward;
    const bool moves = action.action != Action::WeightGradient;
    const bool before = moves && boundaries > 0 && position > 0;          // somebody is upstream
    const bool behind = moves && boundaries > 0 && position < boundaries; // or downstream
    const auto append = [&](OpKind kind, bool upstream) {
        program.ops.push_back(Transfer(kind,
                                       place,
                                       forward,
                                       upstream ? position - 1 : position,
                                       upstream ? position - 1 : position + 1,
                                       action.microbatch));
    };
    if (forward ? before : behind)
    {
        append(OpKind::Receive, forward);
    }
    Op run;
    run.kind = OpKind::Run;
    run.action = action.action;
    run.chunk = action.chunk;
    run.microbatch = action.microbatch;
    run.index = body;
    program.ops.push_back(run);
    if (forward ? behind : before)
    {
        append(OpKind::Send, !forward);
    }
}

} // namespace scaleacross
