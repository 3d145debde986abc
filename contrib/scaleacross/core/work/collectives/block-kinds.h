// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BLOCK_KINDS_H
#define SCALEACROSS_BLOCK_KINDS_H

#include "core/spec/network-plan.h"
#include "core/topology/rank-layout.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * Kinds of blocks of buildingSpan ranks: ranks of one stage in blocks of one kind do the same with
 * the same.
 *
 * Blocks of a kind are in the same building and hold the same stages, and whatever group a rank is
 * in, of the families given or of a phase of their collectives, its members are in blocks of the
 * same kinds, one by one, as those of the ranks like it. So what a class of such ranks sends
 * arrives at one class and comes from one, and groups that reach over several classes do so alike.
 * The coarsest such division is found by splitting kinds until nothing splits any more.
 *
 * Worked case: buildings of 8, 8 and 16 ranks, tp2-pp4-dp2-pp2. Blocks 0 and 1 hold stages 0 to 3
 * of one replica each, 2 and 3, both in the third building, stages 4 to 7. The pipeline of block 2
 * begins in the first building, that of block 3 in the second: four kinds, though three buildings.
 */
class BlockKinds
{
  public:
    /// Of the families of a layout.
    BlockKinds(const RankLayout& layout, CollectiveAlgorithm algorithm);
    /// Of the groups of one collective.
    BlockKinds(const RankLayout& layout, const RankGroup& group, CollectiveAlgorithm algorithm);

    /// Whether groups of some family reach over several blocks, but not over all: then blocks may
    /// be of different kinds though their buildings are alike.
    bool MayDiffer() const;

    /// Kinds by block, numbered as they first come. Cost: linear in blocks, for each round of
    /// splitting.
    std::vector<uint32_t> Find() const;

  private:
    void AddFamilies(const RankGroup& group, CollectiveAlgorithm algorithm);

    const RankLayout& m_layout;
    std::vector<RankGroup> m_families; //!< of blocks
};

} // namespace scaleacross

#endif // SCALEACROSS_BLOCK_KINDS_H
