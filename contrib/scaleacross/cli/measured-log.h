// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MEASURED_LOG_H
#define SCALEACROSS_MEASURED_LOG_H

#include "core/base/units.h"
#include "core/io/nccl-log.h"
#include "core/spec/collective-spec.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// Who takes part in a collective that is to stand beside a log.
struct LogCounterpart
{
    uint32_t members{0}; //!< of a group
    uint32_t groups{0};
    uint32_t perServer{0};
    uint32_t servers{0};   //!< with GPUs that take part; hosts, of a machine
    bool ofMachine{false}; //!< --machine, else a study
    CollectiveGroup group{CollectiveGroup::All};
};

/// What the log at `path` is of: what is given, or what the log says. Throws ConfigError if that
/// is nothing, or both differ.
CollectiveOp OperationOf(const NcclLog& log,
                         const std::string& path,
                         std::optional<CollectiveOp> given);

/// Who would take part on other servers of the machine; nothing: there are no such.
using CounterpartElsewhere = std::function<
    std::optional<LogCounterpart>(uint32_t nodes, uint32_t gpusPerNode, CollectiveGroup group)>;

/// Throws ConfigError unless the log, if it lists its devices, has as many ranks, groups and
/// servers. A scale-up network of more GPUs than a host has counts for all of its hosts. Of a
/// machine it says what would do, if `elsewhere` knows.
void CheckRanks(const NcclLog& log,
                const LogCounterpart& here,
                const CounterpartElsewhere& elsewhere);

/// Throws ConfigError if the log's bandwidths are those of another number of ranks than its list of
/// devices has, or without a list, than there are here.
void CheckBandwidths(const NcclLog& log, CollectiveOp op, const LogCounterpart& here);

/// The line of a size. Domain: the log has it.
const MeasuredSize& MeasuredAt(const NcclLog& log, Bytes bytes);

/// Lines of text: median and 90th percentile (linear between the values in order) of the size of
/// errors, those of 16 MiB and more apart from those below.
std::string ErrorSummary(const std::vector<std::pair<Bytes, double>>& errors);

} // namespace scaleacross

#endif // SCALEACROSS_MEASURED_LOG_H
