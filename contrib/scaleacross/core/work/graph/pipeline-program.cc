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

/// Calls visit(pass, forward) for what an action does to messages.
template <typename Visit>
void
ForEachPass(const PipelineAction& action, Visit visit)
{
    if (const auto pass = ForwardOf(action))
    {
        visit(*pass, true);
    }
    if (const auto pass = InputGradientOf(action))
    {
        visit(*pass, false);
    }
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
    ForEachPass(action, [&](const ChunkPass& pass, bool forward) {
        AppendTransfer(kind, place, pass, forward, program);
    });
}

} // namespace

uint32_t
PipelineMessages(const PipelineShape& shape)
{
    return 2 * BoundariesOf(shape) * shape.microbatches;
}

std::vector<std::vector<Op>>
PostsOf(const PipelinePlace& place,
        const std::vector<PipelineAction>& actions,
        const ReceivePosts& posts)
{
    std::vector<std::vector<Op>> before(actions.size());
    for (const PipelineAction& action : actions)
    {
        ForEachPass(action, [&](const ChunkPass& pass, bool forward) {
            Program receive;
            AppendTransfer(OpKind::Receive, place, pass, forward, receive);
            const uint32_t position = VirtualStage(place.shape, place.stage, pass.chunk);
            for (Op& op : receive.ops)
            {
                op.kind = OpKind::PostReceive;
                const size_t row = MessageRow(place.shape, forward, position, pass.microbatch);
                before[posts[row]].push_back(op);
            }
        });
    }
    return before;
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
