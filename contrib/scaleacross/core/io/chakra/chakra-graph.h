// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHAKRA_GRAPH_H
#define SCALEACROSS_CHAKRA_GRAPH_H

#include "core/io/chakra/chakra-format.h"
#include "core/program/program.h"
#include "core/topology/rank-layout.h"
#include "core/work/graph/trace-graph.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace scaleacross
{

/// What a trace of ours says of the whole task graph, as JSON in one line: plan, places, classes
/// and collectives, and no program.
std::string ChakraGraphJson(const TaskGraph& graph, const RankLayout& layout);

/**
 * Puts together the task graph of our own traces.
 *
 * Of each class the program of its representative counts; AddRank() of the others finds out whether
 * theirs is the same.
 */
class ChakraGraphReader
{
  public:
    /// What ChakraGraphJson() has written; throws ConfigError (where = path) for anything else, as
    /// of another release.
    ChakraGraphReader(const std::string& json, const std::string& path);

    /// Ranks that there are traces of.
    uint32_t Ranks() const
    {
        return m_work.graph.ranks;
    }

    /// Begins the program of a rank, in ascending order.
    void BeginRank(Rank rank);

    /// The next node of it. Throws ConfigError (where = path) for one that is not ours.
    void AddNode(const chakra::Node& node, const std::string& path);

    /// Ends it; throws ConfigError (where = path) where the rank does not do what its class does.
    void EndRank(const std::string& path);

    TraceWork Take();

  private:
    Op OpOf(const chakra::Node& node, const std::string& path) const;
    uint32_t BodyOf(Program&& body);

    TraceWork m_work;
    Rank m_rank{0};
    Program m_program; //!< of the rank
    Program m_body;    //!< of its pass that is being read
    size_t m_left{0};  //!< operations that the pass still has
    std::map<std::vector<int64_t>, uint32_t> m_bodies;
};

} // namespace scaleacross

#endif // SCALEACROSS_CHAKRA_GRAPH_H
