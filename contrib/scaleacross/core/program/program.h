// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PROGRAM_H
#define SCALEACROSS_PROGRAM_H

#include "core/base/units.h"
#include "core/program/collective.h"
#include "core/program/compute-clock.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What an operation of a rank does.
enum class OpKind : uint8_t
{
    Compute,     //!< occupy the GPU for `duration`, longer while collectives are under way
    Run,         //!< execute body `index`, then go on
    PostReceive, //!< tell the peer that message `index` may come; in a rendezvous only
    Send,        //!< post `bytes` to the peer as message `index`; never blocks
    Receive,     //!< block until message `index` has arrived
    Collective,  //!< post collective `index` on its stream; done when handle `handle` is
    Wait         //!< block until the collective last posted under `handle` is complete
};

/**
 * In-order queues of collectives, one NCCL communicator each: a collective starts when the one
 * before it on the same stream is complete. Streams run beside each other and beside compute.
 */
enum class Stream : uint8_t
{
    Tensor,  //!< tensor parallel, inside a layer
    Context, //!< context parallel, inside a layer
    Expert,  //!< dispatch and combine of experts, inside a layer
    Gather,  //!< parameter all-gathers
    Reduce   //!< gradient reductions
};

constexpr uint32_t kStreams = 5;

/// Whether what is on the stream belongs to one layer's pass and is awaited within it.
constexpr bool
IsOfLayer(Stream stream)
{
    return stream == Stream::Tensor || stream == Stream::Context || stream == Stream::Expert;
}

/// What a Run stands for in the pipeline schedule.
enum class Action : uint8_t
{
    Forward,
    Backward,       //!< input and weight gradients together
    InputGradient,  //!< I of the zero-bubble schedules
    WeightGradient, //!< W of the zero-bubble schedules
    Optimizer,
    ForwardBackward //!< one microbatch forward and another backward, overlapped with each other
};

constexpr uint32_t kActions = 6;

/// Whether a pass makes weight gradients, and nothing forward.
constexpr bool
HasWeights(Action action)
{
    return action == Action::Backward || action == Action::WeightGradient;
}

/**
 * What tells a sender that a receive is posted: in NCCL an entry of a queue in the sender's memory,
 * which the receiver's NIC writes. It is sent on queue pairs of its own, so that it does not wait
 * behind messages the other way.
 */
constexpr Bytes kCreditBytes{64};

/**
 * One operation. Which fields count depends on kind; all others are zero.
 *
 * Messages and handles are dense numbers, so that an engine keeps their state in arrays.
 */
struct Op
{
    OpKind kind{OpKind::Compute};
    Stream stream{Stream::Tensor};  //!< Collective
    Action action{Action::Forward}; //!< Run: for timelines
    uint16_t chunk{0};              //!< Run: model chunk on this rank
    uint16_t microbatch{0};         //!< Run
    uint16_t backChunk{0};          //!< Run of ForwardBackward: what goes backward
    uint16_t backMicrobatch{0};
    uint32_t index{0};  //!< Run: body; Collective: collective; all with a peer: message
    uint32_t handle{0}; //!< Collective, Wait
    int32_t peer{0};    //!< PostReceive, Send, Receive: rank of the peer minus own rank
    Duration duration;  //!< Compute
    Bytes bytes;        //!< Send, Receive
};

/// A straight sequence of operations; the same one is run by every rank of a class.
struct Program
{
    std::vector<Op> ops;
};

/**
 * Ranks that do the same: those of pipeline stage `stage`, in all buildings, or in one of them all
 * that have to do with the same other classes.
 */
struct RankClass
{
    uint32_t stage{0};
    Rank representative{0};          //!< the lowest rank of the class
    uint32_t ranks{0};               //!< multiplicity
    CollectiveShare collectiveShare; //!< of the GPU
    Program program;                 //!< one iteration; empty: the ranks take no part
};

/**
 * The work of one training iteration of a job: classes of ranks with their programs, and the
 * bodies, collectives and groups these refer to by index. Immutable once built; no pointers.
 *
 * Iterations repeat the programs back to back without a barrier: a collective posted at the end of
 * one is waited for where the next needs it. A handle that has never been posted counts as
 * complete.
 *
 * Class of a rank: classOf[stage x rank blocks + rank / blockRanks], where its stage is its index
 * in `pipeline`.
 */
struct TaskGraph
{
    /// Of a stage in a block where it has no rank.
    static constexpr uint32_t kNoClass = UINT32_MAX;

    uint32_t ranks{0};
    RankGroup pipeline;     //!< a rank's index in it is its stage
    uint32_t blockRanks{1}; //!< ranks per block of the class table; divides ranks
    std::vector<uint32_t> classOf;

    std::vector<RankClass> classes;
    std::vector<Program> bodies; //!< no Run, Send or Receive inside
    std::vector<Collective> collectives;
    uint32_t messages{
        0}; //!< messages are numbered 0 .. messages-1 within one iteration and replica
    /// A message leaves only when its sender has the credit of its PostReceive, of which there is
    /// one per Receive, and after those that were sent to the same peer before. Else when it is
    /// sent.
    bool rendezvous{false};
    /// Ranks end after one iteration, whatever is asked for: a part of a plan by itself (SliceOf).
    bool once{false};
    uint32_t handles{0}; //!< handles are numbered 0 .. handles-1 on each rank

    /// Classes of the members of a rank's group, ascending. Domain: a group inside a stage. Of a
    /// family that does not tile all ranks, groups without some of their members do nothing.
    std::vector<uint32_t> ClassesOf(const RankGroup& group, Rank rank) const;

    uint32_t ClassOf(Rank rank) const
    {
        const uint32_t blocks = ranks / blockRanks;
        return classOf[pipeline.IndexOf(rank) * blocks + rank / blockRanks];
    }
};

} // namespace scaleacross

#endif // SCALEACROSS_PROGRAM_H
