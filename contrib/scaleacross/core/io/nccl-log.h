// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NCCL_LOG_H
#define SCALEACROSS_NCCL_LOG_H

#include "core/base/units.h"
#include "core/spec/collective-spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleacross
{

/// A line of the table.
struct MeasuredSize
{
    Bytes bytes;
    uint64_t count{0}; //!< elements
    std::string type;
    double us{0};      //!< out of place
    std::string where; //!< "log.txt:12"
};

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

/// A log may have all that NCCL says of itself.
constexpr size_t kMostLogBytes = 64U << 20;

/**
 * Reads what one of nccl-tests' programs prints. Columns go by the table's head, so that older
 * tables without a root, or with "error" in place of "#wrong", are read as well. Of two times the
 * first is taken, that out of place.
 *
 * A launcher's tags before a line ("[1,0]<stdout>:" of Open MPI, "0: " of srun), a '#' that is
 * missing, and lines of anything else are left out. Sizes of 0 are, in which nobody had an element.
 *
 * Throws ConfigError (where = "name:line") for a log without a table or with two, a line of it that
 * ends early, a time that is none, results that came out wrong ("#wrong" above 0; "N/A" stands for
 * unchecked), a size that is there twice, and an operation that is not one of CollectiveOp.
 */
NcclLog ParseNcclLog(std::string_view text, const std::string& name);

/// The same of a file.
NcclLog ReadNcclLog(const std::string& path);

} // namespace scaleacross

#endif // SCALEACROSS_NCCL_LOG_H
