// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHAKRA_WRITER_H
#define SCALEACROSS_CHAKRA_WRITER_H

#include "core/engine/engine.h"
#include "core/io/chakra/chakra-groups.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

/**
 * Writes a task graph as execution traces of Chakra, one of each rank, of one iteration.
 *
 * Every operation of a rank's program is a node; the beginning of a pass is one that takes no time,
 * and what the pass does follows it. In data_deps of a node stands what the rank has last waited
 * for or computed, and
 *
 * - of a collective, the one before it on its stream;
 * - of a wait, which takes no time, the collective that is waited for, if this iteration has posted
 *   it.
 *
 * A step to the next member of a group is a send and a receive. Computing has its time in
 * duration_micros, rounded, and to the picosecond in an attribute of ours (chakra-words.h). Of an
 * all-gather comm_size is what a member puts in, S / n rounded up, and S of all others, as
 * ASTRA-sim and PyTorch count.
 *
 * The first message holds what no node does: plan, classes of ranks and how each collective is
 * done. So ReadTraces() gives the same graph again, and from that the same bytes are written.
 */
class ChakraWriter
{
  public:
    /// Keeps a reference. Domain: not of a collective, nor of a part of a plan.
    explicit ChakraWriter(const PreparedRun& run);

    /// The file of a rank, without operations if the rank takes no part.
    std::string Trace(Rank rank) const;

    const ChakraGroups& Groups() const
    {
        return m_groups;
    }

  private:
    const PreparedRun& m_run;
    ChakraGroups m_groups;
    std::string m_graph; //!< as JSON
};

} // namespace scaleacross

#endif // SCALEACROSS_CHAKRA_WRITER_H
