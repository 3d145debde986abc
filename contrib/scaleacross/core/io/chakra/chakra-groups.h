// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHAKRA_GROUPS_H
#define SCALEACROSS_CHAKRA_GROUPS_H

#include "core/program/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace scaleacross
{

/**
 * The process groups of a task graph: every set of ranks that does collectives on a stream has a
 * number from 1, in the order of the ranks and of their programs. (To ASTRA-sim group 0 is all
 * ranks.)
 *
 * Streams run beside each other as communicators of NCCL do, so that the same ranks on two streams
 * are two groups.
 */
class ChakraGroups
{
  public:
    explicit ChakraGroups(const TaskGraph& graph);

    /// The number of a rank's group, one that it has a collective in.
    uint32_t NumberOf(const RankGroup& group, Stream stream, Rank rank) const;

    /// {"1": [0, 1, 2, 3], ...}, which ASTRA-sim reads as the configuration of its communicators.
    std::string Json() const;

  private:
    using Key = std::tuple<Stream, std::vector<uint32_t>, Rank>; //!< axes, lowest rank

    static Key KeyOf(const RankGroup& group, Stream stream, Rank rank);

    void Add(const RankGroup& group, Stream stream, Rank rank);

    std::map<Key, uint32_t> m_numbers;
    std::vector<std::vector<Rank>> m_members; //!< by number - 1
};

} // namespace scaleacross

#endif // SCALEACROSS_CHAKRA_GROUPS_H
