// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_OPERATION_H
#define SCALEACROSS_OPERATION_H

#include "core/base/units.h"
#include "core/program/program.h"
#include "core/spec/tier.h"
#include "core/topology/cluster-paths.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace scaleacross
{

struct PreparedRun;

/**
 * What of an operation between servers decides how long it takes on a given network, besides its
 * members and bytes.
 *
 * All groups of a stage do it at the same time, so what it reaches is what any of them does.
 */
struct OperationKind
{
    CommClass comm{CommClass::Data};
    std::string name;       //!< Collective::name, or "message" from stage to stage
    std::string algorithm;  //!< Collective::algorithm; "" of a message
    std::string protocol;   //!< Collective::protocol
    Tier reach{Tier::Node}; //!< the farthest that two members are apart
    /// The spans between members, each kind once, "3 km 800 Gb/s + 300 km 800 Gb/s, loss 1e-05";
    /// where buildings are not alike, also of which kinds members are. "": inside buildings that
    /// are all alike.
    std::string way;
    /// How members are divided among buildings: "2" for two halves, "3:1"; of unlike groups, or of
    /// phases that are divided in other ways, each once. "" in one building, and of messages.
    std::string split;
};

bool operator==(const OperationKind& a, const OperationKind& b);
bool operator<(const OperationKind& a, const OperationKind& b);

/// "dp reduce_scatter hierarchical, cross 20 km 1.6 Tb/s over 2 buildings".
std::string ToString(const OperationKind& kind);

/// "node", "leaf", "zone", "building", "cross".
std::string ToString(Tier tier);

/// Members of a group by level, innermost first: {4, 8} of 8 servers with 4 each; {2} of a message.
using MemberLevels = std::vector<uint32_t>;

/// "4x8".
std::string ToString(const MemberLevels& levels);

/// An operation of a plan.
struct Operation
{
    OperationKind kind;
    MemberLevels levels{2};
    Bytes bytes;            //!< of a group's buffer, as Phase::bytes has it; of a message
    uint32_t stage{0};      //!< the first that does it
    uint32_t collective{0}; //!< of the graph; not of a message
    int32_t peer{0};        //!< of a message: rank of the peer minus own rank; 0: a collective
    uint64_t times{0};      //!< that a rank does it in an iteration, of the stage that does most
    /// Stages that do the same: OperationFinder::OfAllStages(), as many; of messages, pairs of
    /// them.
    uint32_t stages{1};
    Stream stream{Stream::Tensor}; //!< of a collective

    bool IsMessage() const
    {
        return peer != 0;
    }
};

/// "dp all_gather ring, cross 20 km 1.6 Tb/s over 2 buildings, 2 MiB of 4x8".
std::string ToString(const Operation& operation);

/// The groups of a collective's phases by their sizes, each once.
MemberLevels LevelsOf(const Collective& collective);

/// Its buffer: the largest of its phases'.
Bytes BytesOf(const Collective& collective);

/**
 * What is known of the operations of a task graph as their classes do them: graph and paths must
 * outlive it. Not to be shared between threads.
 */
class OperationFinder
{
  public:
    OperationFinder(const TaskGraph& graph, const ClusterPaths& paths);

    /// What no class of the stage does reaches nobody (Tier::Node).
    Operation OfCollective(uint32_t stage, uint32_t collective);
    Operation OfMessage(uint32_t stage, int32_t peer, Bytes bytes);

    /**
     * An operation, each time as one of the stages does it that do the same, in the order of
     * stages: of the same kind, with as many members and bytes. Of a collective that is one for a
     * stage; of messages one for two stages that send them to each other, either way or both:
     * forward if that is among them.
     *
     * Worked case: four stages in a row send 32 MiB forward, and as much back; all of their ways
     * are alike. Of all stages these are 0 to 1, 1 to 2 and 2 to 3.
     */
    std::vector<Operation> OfAllStages(const Operation& operation);

    /// The classes of its stage that do it, ascending; valid as long as this is.
    const std::vector<uint32_t>& ClassesOf(const Operation& operation) const;

    /// What the graph does between servers, each kind with its members and bytes once, in the order
    /// of stages and programs. Operations inside servers are left out: packets are none there.
    std::vector<Operation> All();

  private:
    using Message = std::tuple<uint32_t, int32_t, uint64_t>; //!< stage, peer, bytes
    using StageCollective = std::pair<uint32_t, uint32_t>;

    std::vector<Operation> CollectivesLike(const Operation& operation);
    std::vector<Operation> MessagesLike(const Operation& operation);

    const TaskGraph& m_graph;
    const ClusterPaths& m_paths;
    std::map<StageCollective, std::vector<uint32_t>> m_collectiveClasses;
    std::map<Message, std::vector<uint32_t>> m_messageClasses;
    std::map<uint32_t, Stream> m_streams; //!< by collective
    std::map<StageCollective, Operation> m_collectives;
    std::map<Message, Operation> m_messages;
};

/// OperationFinder::All() of a plan.
std::vector<Operation> OperationsOf(const PreparedRun& run, const ClusterPaths& paths);

} // namespace scaleacross

#endif // SCALEACROSS_OPERATION_H
