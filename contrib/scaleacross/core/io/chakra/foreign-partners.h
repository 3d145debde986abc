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
        uint32_t group{0}; //!< ForeignGroup::number
        RankGroup family;
        std::vector<Rank> members;
        CommClass comm{CommClass::Data};
        CollectiveOp op{CollectiveOp::AllReduce};
        Bytes bytes;           //!< S as CollectiveSpec::bytes
        Bytes largest;         //!< that a member puts in
        bool mayDiffer{false}; //!< what members put in
    };

    std::vector<Operation> operations;
    double uneven{1};     //!< most that a member puts into an operation, over the mean
    uint32_t messages{0}; //!< that a rank receives, at most
    /// By rank and place of its node: of a send or receive the number of the message among those of
    /// its receiver, of a collective that of its operation; else kNone.
    std::vector<std::vector<uint32_t>> number;

    static constexpr uint32_t kNone = UINT32_MAX;
};

/**
 * Finds them; collectives of one member become nothing. Into an all-to-all and an all-gather
 * members may put different numbers of bytes: S of an all-gather is all of them, of an all-to-all
 * the mean, as engines have it even.
 *
 * Throws ConfigError (where = path of a rank) as ForeignTraces::Work() says.
 */
ForeignPartners FindPartners(std::vector<ForeignRank>& ranks, const ForeignGroups& groups);

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_PARTNERS_H
