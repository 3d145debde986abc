// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_PARTNERS_H
#define SCALEACROSS_FOREIGN_PARTNERS_H

#include "core/io/chakra/foreign-trace.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// Which nodes of different ranks belong together.
struct ForeignPartners
{
    /// A collective as its members say it, of all of them together.
    struct Operation
    {
        RankGroup family;
        std::vector<Rank> members;
        CollectiveOp op{CollectiveOp::AllReduce};
        Bytes bytes; //!< S as CollectiveSpec::bytes
    };

    std::vector<Operation> operations;
    uint32_t messages{0}; //!< that a rank receives, at most
    /// By rank and place of its node: of a send or receive the number of the message among those of
    /// its receiver, of a collective that of its operation; else kNone.
    std::vector<std::vector<uint32_t>> number;

    static constexpr uint32_t kNone = UINT32_MAX;
};

/**
 * Finds them; collectives of one member become nothing.
 *
 * Throws ConfigError (where = path of a rank) as ForeignTraces::Work() says.
 */
ForeignPartners FindPartners(std::vector<ForeignRank>& ranks, const ForeignGroups& groups);

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_PARTNERS_H
