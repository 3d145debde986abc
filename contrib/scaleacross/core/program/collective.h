// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_H
#define SCALEACROSS_COLLECTIVE_H

#include "core/base/units.h"
#include "core/program/rank-group.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// Which parallelism caused a transfer; reports are kept by it.
enum class CommClass : uint8_t
{
    Tensor,
    Context,
    Expert,
    Pipeline,
    Data
};

constexpr uint32_t kCommClasses = 5;

std::string ToString(CommClass value); //!< "tp", "cp", "ep", "pp", "dp"

/// The step pattern of one phase of a collective.
enum class Pattern : uint8_t
{
    RingReduceScatter, //!< n-1 dependent steps to the next member
    RingAllGather,     //!< n-1 dependent steps to the next member
    DirectAllToAll,    //!< n-1 independent steps, one to every other member, all posted at once
    SendToNext         //!< one step to the next member
};

/**
 * One phase: a pattern within every group of a family at the same time.
 *
 * `bytes` is S of the group's buffer. Ring patterns: the whole buffer, of which each member ends
 * with (reduce-scatter) or starts from (all-gather) part i: bytes [S i / n, S (i+1) / n).
 * All-to-all: what each member holds, of which part i goes to member i. Send to next: what each
 * member holds, all of which goes to the next.
 */
struct Phase
{
    Pattern pattern{Pattern::RingAllGather};
    RankGroup group;
    Bytes bytes;
};

/// What member `index` does in step `step` of a phase: one send and one receive.
struct PhaseStep
{
    uint32_t sendTo{0};      //!< member index
    uint32_t receiveFrom{0}; //!< member index
    Bytes send;
    Bytes receive;
};

/// Steps of a phase: n-1, or 1 to send to the next.
uint32_t StepCount(const Phase& phase);

/**
 * The step as a function of (index, step), never a list. Bytes are split so that the parts of a
 * buffer add up to it exactly.
 *
 * Ring reduce-scatter: in step k member i sends part (i - k - 1) mod n to i+1, so that after n-1
 * steps it holds part i. Ring all-gather: in step k member i sends part (i - k) mod n to i+1.
 * All-to-all: in step k member i sends part (i + k + 1) mod n to that member.
 */
PhaseStep StepOf(const Phase& phase, uint32_t index, uint32_t step);

/// Whether step k may only start once step k-1's receive is complete (the ring patterns).
bool StepsDepend(Pattern pattern);

/// Bytes that member `index` sends in the whole phase.
Bytes SentBy(const Phase& phase, uint32_t index);

/// A collective as the phases that realise it, one after the other.
struct Collective
{
    CommClass comm{CommClass::Data};
    /// "reduce_scatter", "all_gather", "all_reduce", "all_to_all", "sendrecv", or
    /// "reduce_scatter+all_reduce" (HSDP's gradients: inside the shard group, then across its
    /// replicas).
    std::string name;
    std::vector<Phase> phases;
};

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_H
