// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_GRAPH_INTERPRETER_H
#define SCALEACROSS_TESTS_GRAPH_INTERPRETER_H

#include "core/program/program.h"

#include <array>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace scaleacross
{

/// What one rank did in one iteration.
struct RankTally
{
    Duration compute;
    std::array<Bytes, kCommClasses> sent; //!< by class, pipeline messages included
    std::array<uint32_t, kStreams> posted{};
};

/**
 * Runs every rank of a task graph, without time: only what may happen after what.
 *
 * A collective completes when every member of its groups has it at the head of the same stream, so
 * that members which post in different orders, or post different collectives, get stuck. A message
 * is known by sender, receiver, number and iteration. In a rendezvous it has come when its receive
 * has been posted, once, and all that were sent to the same rank before it have come.
 */
class GraphInterpreter
{
  public:
    explicit GraphInterpreter(const TaskGraph& graph);

    /// Runs to the end. Returns what is stuck where, or an empty text.
    std::string Run(uint32_t iterations);

    /// Sums over all iterations.
    const std::vector<RankTally>& Tallies() const
    {
        return m_tallies;
    }

  private:
    struct Posted
    {
        uint32_t collective;
        uint32_t handle;
    };

    struct RankState
    {
        std::vector<Op> ops; //!< of one iteration, bodies written out
        size_t next{0};
        uint32_t iteration{0};
        std::array<std::vector<Posted>, kStreams> streams;
        std::array<size_t, kStreams> done{}; //!< collectives completed, by stream
        /// Last post of a handle: stream and position on it.
        std::map<uint32_t, std::pair<size_t, size_t>> handles;
    };

    bool Advance(Rank rank);
    bool Complete(Rank rank);
    const std::set<Rank>& Members(uint32_t collective, Rank rank);

    const TaskGraph& m_graph;
    std::vector<RankState> m_ranks;
    std::vector<RankTally> m_tallies;
    using Message = std::tuple<Rank, Rank, uint32_t, uint32_t>;

    void Deliver(Rank from, Rank to);

    std::set<Message> m_messages; //!< that have come and are not yet received
    std::map<std::pair<Rank, Rank>, std::deque<Message>> m_held;   //!< sent, in a rendezvous
    std::set<Message> m_posts;                                     //!< receives, in a rendezvous
    std::map<std::pair<uint32_t, Rank>, std::set<Rank>> m_members; //!< by collective and rank
};

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_GRAPH_INTERPRETER_H
