// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SLICE_H
#define SCALEACROSS_SLICE_H

#include "core/base/units.h"
#include "core/program/collective.h"
#include "core/program/program.h"
#include "core/spec/tier.h"
#include "core/topology/cluster-paths.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

struct PreparedRun;

/// What of an operation between servers decides how long it takes on a given network, besides its
/// members and bytes.
struct OperationKind
{
    std::string name;       //!< Collective::name, or "message" from stage to stage
    std::string algorithm;  //!< Collective::algorithm; "" of a message
    std::string protocol;   //!< Collective::protocol
    Tier reach{Tier::Node}; //!< the farthest that two members are apart
};

bool operator==(const OperationKind& a, const OperationKind& b);

/// "dp reduce_scatter, hierarchical, between buildings".
std::string ToString(const OperationKind& kind);

/// "node", "leaf", "zone", "building", "cross".
std::string ToString(Tier tier);

/// An operation of a plan.
struct Operation
{
    OperationKind kind;
    CommClass comm{CommClass::Data};
    uint32_t members{2};    //!< of a group
    Bytes bytes;            //!< of a group's buffer, as Phase::bytes has it; of a message
    uint32_t stage{0};      //!< the first that does it
    uint32_t collective{0}; //!< of the graph; not of a message
    int32_t peer{0};        //!< of a message: rank of the peer minus own rank; 0: a collective
    uint64_t times{0};      //!< that a rank does it in an iteration, of the stage that does most
};

/// Members of a collective's groups, all levels together.
uint32_t MembersOf(const Collective& collective);

/// Its buffer: the largest of its phases'.
Bytes BytesOf(const Collective& collective);

/// How far a collective of a rank's groups reaches.
Tier ReachOf(const Collective& collective, Rank rank, const ClusterPaths& paths);

OperationKind KindOf(const Collective& collective, Rank rank, const ClusterPaths& paths);
OperationKind KindOfMessage(Rank from, Rank to, const ClusterPaths& paths);

/**
 * What a plan does between servers, each kind with its members and bytes once, in the order of
 * stages and programs. Operations inside servers are left out: packets are none there.
 */
std::vector<Operation> OperationsOf(const PreparedRun& run, const ClusterPaths& paths);

/// A part of a plan that is run by itself.
struct SliceSpec
{
    uint32_t operation{0}; //!< of OperationsOf()
    double part{1};        //!< of its bytes; in (0, 1]
};

/// "3", "3:0.25". Throws ValueError.
SliceSpec ParseSlice(const std::string& text);
std::string ToString(const SliceSpec& slice);

/**
 * The slice as a run: on the whole cluster every rank of the operation's stage does it over and
 * over, each time when it is done with the time before, so that every link has all flows of the
 * operation. All other ranks take no part. A message is answered by one of the same size, so that
 * an iteration is two of them.
 *
 * With a part below 1 a collective has that part of its bytes, and of its chunks if it has several:
 * a window of a long operation. Throws ConfigError (where = "--slice") for an operation that is not
 * there.
 */
PreparedRun SliceOf(const PreparedRun& run, const SliceSpec& slice, const ClusterPaths& paths);

} // namespace scaleacross

#endif // SCALEACROSS_SLICE_H
