// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NCCL_LISTS_H
#define SCALEACROSS_NCCL_LISTS_H

#include "core/spec/nccl-words.h"

#include <string>

/// How NCCL_ALGO and NCCL_PROTO say which algorithms and protocols NCCL may take.
namespace scaleacross
{

/**
 * Returns the value of NCCL_ALGO for an algorithm of the plan: lists by function, of functions that
 * have it; all others are left to NCCL.
 *
 * A process has many communicators, and one value for all of them. A function for which a
 * communicator can run nothing of its list ends with ncclInvalidUsage (topoGetAlgoInfo() in
 * src/enqueue.cc of NCCL 2.30.7). So behind an algorithm that not every communicator can run stand
 * those that may run where it cannot; NCCL takes the fastest of them by its model.
 *
 * Worked case: NVLSTree is for all-reduces over several servers. On one server NVLS can run, and
 * what NVLS cannot add up (an integer maximum) goes by trees and rings:
 * "allreduce:NVLSTree,NVLS,Tree,Ring".
 *
 * @param collnet switches between servers reduce.
 */
std::string NcclAlgorithmList(NcclKind kind, bool collnet);

/**
 * Returns the value of NCCL_PROTO; empty: all protocols. An algorithm that has only Simple keeps it
 * beside the protocol of the plan, which is then that of the others.
 *
 * Worked case: ll with nvls: "LL;allreduce:LL,Simple".
 */
std::string NcclProtocolList(NcclProtocol protocol, NcclAlgorithm algorithm);

/// Whether every communicator can run the algorithm, for the functions that have it.
bool RunsEverywhere(NcclKind kind);

} // namespace scaleacross

#endif // SCALEACROSS_NCCL_LISTS_H
