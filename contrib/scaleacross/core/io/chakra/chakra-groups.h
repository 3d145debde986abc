// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHAKRA_GROUPS_H
#define SCALEACROSS_CHAKRA_GROUPS_H

#include "core/io/chakra/collective-parts.h"
#include "core/program/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The process groups of a task graph: every set of ranks that do an operation together has a number
 * from 1, in the order of the ranks and of their programs. (To ASTRA-sim group 0 is all ranks.)
 */
class ChakraGroups
{
  public:
    explicit ChakraGroups(const TaskGraph& graph);

    /// What a collective of the graph is made of.
    const std::vector<CollectivePart>& PartsOf(uint32_t collective) const
    {
        return m_parts[collective];
    }

    /// The number of a rank's group, one that it has an operation in.
    uint32_t NumberOf(const RankGroup& group, Rank rank) const;

    /// {"1": [0, 1, 2, 3], ...}, which ASTRA-sim reads as the configuration of its communicators.
    std::string Json() const;

  private:
    using Key = std::pair<std::vector<uint32_t>, Rank>; //!< axes, lowest rank

    static Key KeyOf(const RankGroup& group, Rank rank);

    std::vector<std::vector<CollectivePart>> m_parts; //!< by collective
    std::map<Key, uint32_t> m_numbers;
    std::vector<std::vector<Rank>> m_members; //!< by number - 1
};

} // namespace scaleacross

#endif // SCALEACROSS_CHAKRA_GROUPS_H
