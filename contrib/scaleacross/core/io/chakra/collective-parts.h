// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_PARTS_H
#define SCALEACROSS_COLLECTIVE_PARTS_H

#include "core/program/collective.h"
#include "core/spec/collective-spec.h"

#include <vector>

namespace scaleacross
{

/// One operation among the members of each group of a family, whatever phases realise it.
struct CollectivePart
{
    CollectiveOp op{CollectiveOp::AllReduce};
    RankGroup group;
    Bytes bytes; //!< S as CollectiveSpec::bytes
};

/**
 * What a collective does, read from its name and phases, in order; operations of one member are
 * left out.
 *
 * "a+b" is a and then b. Phases belong to the last operation first: an all-reduce takes phases from
 * the end until as many have gathered as have scattered, any other operation takes all that are
 * left. S is that of its longest phase.
 *
 * Worked case: "reduce_scatter+all_reduce" of ring reduce-scatters over 8 and 2 ranks, and a ring
 * reduce-scatter and all-gather over 4: a reduce-scatter over the first 16, an all-reduce over 4.
 */
std::vector<CollectivePart> PartsOf(const Collective& collective);

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_PARTS_H
