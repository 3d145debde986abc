// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHUNK_PARTITION_H
#define SCALEACROSS_CHUNK_PARTITION_H

#include "core/work/partition/partition.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * Divides a sequence into consecutive parts, none of them empty, of which a rank has several: so
 * that what the dearest rank has in all is least, then how many ranks have as much, then the
 * dearest part.
 *
 * A rank that is through with one chunk goes on with another, so that in the long run a pipeline is
 * as fast as the rank that has most, whichever of its parts is the longest. It is found by moving
 * one item after the other away from that rank, from each of `begins` (the ends of every part), as
 * long as that is better: the best of these, of equal ones the first, and never worse than any.
 * Nothing is moved for less: a pipeline whose chunks are alike is the smoothest.
 *
 * Worked case: 8 items on 2 ranks in turn with 2 parts each, of which the second takes 0.6 of the
 * time. The parts whose dearest is least have 1, 3, 1 and 3 items: 1.8 at most, but 3.6 in all on
 * the second rank. With 3 items and 5 both ranks have 3.
 */
std::vector<uint32_t> PartitionOverRanks(const std::vector<std::vector<uint32_t>>& begins,
                                         const std::vector<uint32_t>& rankOf,
                                         const PartCost& cost);

} // namespace scaleacross

#endif // SCALEACROSS_CHUNK_PARTITION_H
