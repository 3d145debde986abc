// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_ERROR_H
#define SCALEACROSS_COLLECTIVE_ERROR_H

#include "core/spec/scenario.h"

#include <cstdint>
#include <string>
#include <variant>

namespace scaleacross
{

/// How far the analytical engine's times of one operation, at sizes of one class, are from
/// published ones: the size of modelled / measured - 1 over all lines, as shipped or with what is
/// fitted taken from other setups, of each figure the larger (doc/collectives.md, "Setup by
/// setup").
struct CollectiveError
{
    double median{0};
    double nineInTen{0}; //!< what nine lines in ten do not exceed
    uint32_t lines{0};   //!< sizes with a published time
    uint32_t setups{0};  //!< clusters that they were measured on
    bool isLarge{false}; //!< of 16 MiB and more; else of less
};

/// From this size on a collective is large.
constexpr Bytes kLargeCollective{16U << 20};

/**
 * Returns the error of collectives like the scenario's job, of these bytes; or why no published
 * time says anything of it, a clause.
 *
 * Published times are those of NCCL and RCCL in one building, of groups that share no link with
 * others, on GPUs that somebody has published times of. Tokens are sent by DeepEP's kernels,
 * whatever the library.
 *
 * @param bytes the size that a row of the command's table has: of tokens those that DeepEP counts
 * Domain: the job is a collective.
 */
std::variant<CollectiveError, std::string> FindCollectiveError(const Scenario& scenario,
                                                               Bytes bytes);

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_ERROR_H
