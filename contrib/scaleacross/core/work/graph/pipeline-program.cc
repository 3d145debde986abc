// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/graph/pipeline-program.h"

namespace scaleacross
{

namespace
{

uint32_t
BoundariesOf(const PipelineShape& shape)
{
    return shape.ranks == 1 ? 0 : Positions(shape) - 1;
}

/// Appends Send or Receive of what `pass` shares with the virtual stage before it or behind it, if
/// there is one on another rank. An activation goes from a stage to the one behind, a gradient to
/// the one before.
void
AppendTransfer(OpKind kind,
               const PipelinePlace& place,
               const ChunkPass& pass,
               bool forward,
               Program& program)
{
    const uint32_t boundaries = BoundariesOf(place.shape);
    const uint32_t position = VirtualStage(place.shape, place.stage, pass.chunk);
    const bool before = (kind == OpKind::Receive) == forward;
    if (boundaries == 0 || position == (before ? 0 : boundaries))
    {
        return;
    }
    const uint32_t boundary = before ? position - 1 : position;
    const uint32_t peer = RankOf(place.shape, before ? position - 1 : position + 1);
    if (peer == place.stage)
    {
        return;
    }
    Op op;
    op.kind = kind;
    op.index = ((forward ? 0 : boundaries) + boundary) * place.shape.microbatches + pass.microbatch;
    op.peer = static_cast<int32_t>(int64_t{place.pipeline.Member(place.rank, peer)} - place.rank);
    op.bytes = place.bytes;
    program.ops.push_back(op);
}

/// The transfers of one kind of an action.
void
AppendTransfers(OpKind kind,
                const PipelinePlace& place,
                const PipelineAction& action,
                Program& program)
{
    if (const auto pass = ForwardOf(action))
    {
        AppendTransfer(kind, place, *pass, true, program);
    }
    if (const auto pass = InputGradientOf(action))
    {
        AppendTransfer(kind, place, *pass, false, program);
    }
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
    AppendTransfers(OpKind::Receive, place, action, program);
    Op run;
    run.kind = OpKind::Run;
    run.action = action.action;
    run.chunk = action.chunk;
    run.microbatch = action.microbatch;
    run.backChunk = action.backChunk;
    run.backMicrobatch = action.backMicrobatch;
    run.index = body;
    program.ops.push_back(run);
    AppendTransfers(OpKind::Send, place, action, program);
}

} // namespace scaleacross
