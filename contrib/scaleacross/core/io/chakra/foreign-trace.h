// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_TRACE_H
#define SCALEACROSS_FOREIGN_TRACE_H

#include "core/io/chakra/foreign-groups.h"
#include "core/io/chakra/foreign-node.h"
#include "core/work/graph/trace-graph.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace scaleacross
{

/// The nodes of a rank's trace in the order of their beginning: by number, but each behind what it
/// waits for, which is given by places in this list.
struct ForeignRank
{
    std::string path;
    std::vector<ForeignNode> nodes;
    std::vector<std::vector<uint32_t>> after; //!< by node
};

/**
 * Puts together the work of traces that any tool has written: graphs of nodes, from which each rank
 * gets a program.
 *
 * A rank goes through its nodes one after the other (InOrder() says in which order). It posts sends
 * and collectives and goes on; before a node it waits for the communication that the node waits
 * for, and at its end for all that is left. So nodes that could run beside each other do so where
 * one of them communicates, and computations never do. A message is known by sender, receiver and
 * tag, the n-th sent being the n-th received; the n-th collective of a process group is the same of
 * all its members. Groups of one family (FamilyOf()) are a stream, which begins one when the one
 * before is over; a family of which every collective waits for one of another is on that's stream.
 *
 * Ranks are classes of their own. The trace is run once, from an idle cluster.
 */
class ForeignTraces
{
  public:
    /// @param files what stands before .RANK.et
    ForeignTraces(uint32_t ranks, const std::string& files);

    /**
     * Adds the next rank's trace, from 0. Throws ConfigError (where = path) as ReadChakra() and
     * ReadForeignNode(), for numbers of nodes that are given twice or that nobody has, and for
     * nodes that wait for each other.
     */
    void AddRank(const std::string& text, const std::string& path);

    /// Once all are there. Throws ConfigError (where = path of a rank) for messages and collectives
    /// that ranks do not agree about, process groups that are unknown or no lattice, and ranks that
    /// wait for each other.
    TraceWork Work();

  private:
    uint32_t m_ranks;
    ForeignGroups m_groups;
    std::vector<ForeignRank> m_all;
    std::map<std::string, std::string> m_unknown; //!< attributes, and where one is
};

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_TRACE_H
