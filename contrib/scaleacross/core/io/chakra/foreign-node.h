// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_NODE_H
#define SCALEACROSS_FOREIGN_NODE_H

#include "core/base/units.h"
#include "core/io/chakra/foreign-attributes.h"
#include "core/program/rank-group.h"
#include "core/spec/collective-spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// What a node of a trace has its rank do.
enum class ForeignKind : uint8_t
{
    Nothing, //!< it only stands between others: metadata, work of the CPU, or no work at all
    Compute,
    Send,
    Receive,
    Collective
};

/// A node of a trace, as engines can execute it.
struct ForeignNode
{
    uint64_t id{0};
    std::string name;
    ForeignKind kind{ForeignKind::Nothing};
    std::vector<uint64_t> after; //!< ids of what has to be over before
    /// The same of calls that it is made by, which may be left out of the trace: Chakra's converter
    /// drops nodes that no data depend on.
    std::vector<uint64_t> calledBy;
    /// CUDA's stream of work of the GPU, which does one after the other; none: it is not known.
    std::optional<int64_t> gpuStream;
    Duration duration; //!< Compute; zero: by work and memory
    Flops work;        //!< Compute
    Bytes memory;      //!< Compute: read from HBM and written to it
    CollectiveOp op{CollectiveOp::AllReduce};
    std::string operation; //!< Collective: the format's word for what it does
    bool perMember{false}; //!< Collective: S is what all put in together, else what one does
    std::string group;     //!< Collective: a name, or empty for all ranks
    Bytes input;           //!< Collective: of a member; Send, Receive: all
    Rank peer{0};          //!< Send, Receive
    int64_t tag{0};        //!< Send, Receive
    int64_t priority{0};   //!< of communication, which nothing here knows
};

/// '7 "all-reduce"': what a node is called in messages.
std::string NameOfNode(const ForeignNode& node);

/**
 * Reads a node of a rank's trace. Attributes of ScaleAcross are not looked at, but for picoseconds
 * of computing that are the node's microseconds when rounded.
 *
 * A broadcast is an all-gather of the same buffer, and a reduction to one member a reduce-scatter:
 * traces do not say who that is, and in the mean over all members what goes along a chain of n
 * takes (n-1)/n S on each edge of the ring, as those do. A barrier is an all-reduce of a byte for
 * each member.
 *
 * Throws ConfigError (where = path) for what no engine can do: a node that is invalid, of memory,
 * of a gather to one member or a scatter from it, or of an unknown collective; a message without
 * size or partner, or to the rank itself; communication on the CPU, other than a launch, which has
 * no size; and attributes that are missing.
 */
ForeignNode ReadForeignNode(const chakra::Node& node,
                            const ForeignAttributes& attributes,
                            Rank rank,
                            uint32_t ranks,
                            const std::string& path);

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_NODE_H
