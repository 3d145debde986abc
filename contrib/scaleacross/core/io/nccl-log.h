// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NCCL_LOG_H
#define SCALEACROSS_NCCL_LOG_H

#include "core/io/nccl-table.h"
#include "core/spec/collective-spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleacross
{

/// What a log of nccl-tests, or of rccl-tests, says.
struct NcclLog
{
    /// By the line that names the test, or by the file's name; none: neither does.
    std::optional<CollectiveOp> op;
    std::string opAt;     //!< that line, or the file
    bool opByLine{false}; //!< whether a line says it
    uint32_t ranks{0};    //!< of a group, by the list of devices; 0: there is none
    uint32_t groups{0};
    uint32_t servers{0}; //!< of all groups, by the names of their hosts
    std::string ranksAt; //!< the first line of the list
    std::vector<MeasuredSize> sizes;
};

/// Adds a size. Throws ConfigError for one that is there already; `cycleAt` is the line that begins
/// a second cycle over all sizes, if one does.
void AddSize(NcclLog& log, MeasuredSize size, const std::string& cycleAt);

/// A log may have all that NCCL says of itself.
constexpr size_t kMostLogBytes = 64U << 20;

/**
 * Reads what one of nccl-tests' programs prints, of any release from 1.0 to 2.19.6
 * (nccl-table.h), or what it writes with -J. Of two times the first is taken, that out of place.
 *
 * Lines are known by the words that nccl-tests prints, so that anything may stand in front of them:
 * tags of launchers ("[1,0]<stdout>:" of Open MPI, "0: " of srun, "[0] " of MPICH), dates, names of
 * pods. Some launchers put their tag in front of every write rather than line; a tag in brackets
 * that a line begins with is taken out of the rest of it. Lines of anything else are left out, and
 * so are sizes of 0, in which nobody had an element.
 *
 * Throws ConfigError (where = "name:line") for a log without a table or with two, what NcclTable
 * refuses, a size that is there twice, an operation that is not one of CollectiveOp, and a list of
 * devices that is not whole. Results in place that came out wrong are refused but for an
 * all-to-all, which nccl-tests cannot do in place.
 */
NcclLog ParseNcclLog(std::string_view text, const std::string& name);

/// The same of a file.
NcclLog ReadNcclLog(const std::string& path);

/// Numbers of ranks.
struct RankRange
{
    uint32_t least{1};
    uint32_t most{1};  //!< 0: any more
    std::string where; //!< the line that says most of it
};

/**
 * How many ranks a group of the log may have had: nccl-tests multiplies size / time by 2 (n-1)/n or
 * (n-1)/n for the bus bandwidth of n ranks, by 1 for sendrecv, and both are printed with two
 * decimals. None: the log has no such column, or the operation is done alike by any number. Throws
 * ConfigError where no number of ranks gives these bandwidths: they are of another operation.
 *
 * For instance 1 GiB in 8000 us by an all-reduce with 134.22 and 234.88 GB/s: 1.75 to four digits,
 * so n = 8.
 */
std::optional<RankRange> RanksByBandwidth(const NcclLog& log, CollectiveOp op);

} // namespace scaleacross

#endif // SCALEACROSS_NCCL_LOG_H
