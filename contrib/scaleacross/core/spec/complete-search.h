// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COMPLETE_SEARCH_H
#define SCALEACROSS_COMPLETE_SEARCH_H

#include "core/spec/study.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// Texts of the values of a plan field.
using Values = std::vector<std::string>;

/// The divisors of n up to `most`, ascending.
Values Divisors(uint32_t n, uint32_t most);

/// Tensor parallel degrees that deal out the heads (HeadSplits()) and divide so many ranks,
/// ascending.
Values TensorDegrees(const Study& study, uint32_t ranks);

/// GPUs that every server has a whole number of.
uint32_t ServerGpus(const Study& study);

/// Divisors of the experts; 1 of a dense model.
Values ExpertDegrees(const Study& study);

/// Divisors of the GPUs, up to the layers.
Values PipelineDegrees(const Study& study);

/// Chunk counts that split the layers evenly over some number of stages, or the layers with the
/// embedding and the loss counted as two more; up to half of the layers.
Values ChunkCounts(const Study& study);

/// Ranks that share weights with HSDP: 0 (those of a building), and what lies on one server.
Values ShardGroups(const Study& study);

/// Both values of a field that is on or off.
Values Either();

/**
 * All values of a plan field that may be worth trying on this study, the usual one first; none of a
 * field that is not searched by itself.
 *
 * Searched are: every degree that divides what it splits (heads, sequence, experts, GPUs up to the
 * layers, batch), and tensor parallelism over more ranks than KV heads where the software has it;
 * every named crossing, both ways to deal out layers and ends, every schedule with
 * every number of chunks that divides the layers, every recomputation by one word, tensor
 * parallelism beside computing or not, every sharding over buildings or parts of servers that keeps
 * or frees what it gathers, every collective and all-to-all that is an algorithm and not a library
 * with options of its own.
 *
 * Not searched unless a study lists them are fields that are numbers without an end (rounds, limits
 * in flight, layers that are recomputed or offloaded, prefetched units, buckets, layers position by
 * position); transports, paths, queue pairs, buffers and congestion control, of which a study says
 * what its network has; and `nccl` and `deepep`.
 *
 * Domain: `key` is one of PlanFields().
 */
Values CompleteValues(const Study& study, const std::string& key);

/// An axis with CompleteValues() for every plan field that has any but `fixed`, in the order of
/// PlanFields().
std::vector<SearchAxis> CompleteSearch(const Study& study, const std::vector<std::string>& fixed);

} // namespace scaleacross

#endif // SCALEACROSS_COMPLETE_SEARCH_H
