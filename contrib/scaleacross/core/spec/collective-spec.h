// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_SPEC_H
#define SCALEACROSS_COLLECTIVE_SPEC_H

#include "core/base/field.h"
#include "core/base/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

enum class CollectiveOp : uint8_t
{
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    SendReceive //!< every member sends its buffer to the next one
};

/// Which ranks do a collective with each other; all groups of a family are of the same size.
enum class CollectiveGroup : uint8_t
{
    All,      //!< one group of all ranks
    Across,   //!< equal positions in every building: data parallelism that crosses buildings
    Building, //!< the ranks of one building
    Rail,     //!< equal positions in every server, of all buildings
    Node      //!< the ranks of one server
};

/// A job that does one collective over and over, in place of training.
struct CollectiveSpec
{
    CollectiveOp op{CollectiveOp::AllReduce};
    CollectiveGroup group{CollectiveGroup::All};
    /// Groups that take part, counted by their lowest rank, all at the same time; 0: all of them.
    uint32_t groups{0};
    /// S, a group's whole buffer; all-to-all and send-receive: what each member holds.
    Bytes bytes{1};

    static const FieldTable<CollectiveSpec>& Fields();

    /// Throws ConfigError (where = "collective.<field>").
    void Validate() const;
};

std::string ToString(CollectiveOp value);    //!< "all_reduce", ..., "sendrecv"
std::string ToString(CollectiveGroup value); //!< "all", "across", "building", "rail", "node"

/// The words that ToString() gives, in the order of the values.
const std::vector<std::string>& CollectiveOpWords();
const std::vector<std::string>& CollectiveGroupWords();

/**
 * Bus bandwidth over algorithm bandwidth S / time, by the convention of nccl-tests: the factor that
 * makes the figure comparable with the rate of the links whatever the number of members n.
 * 2 (n-1) / n for all-reduce, (n-1) / n for all-gather, reduce-scatter and all-to-all, 1 for
 * send-receive. Domain: n >= 1.
 */
double BusFactor(CollectiveOp op, uint32_t n);

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_SPEC_H
