// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MESSAGE_SIZES_H
#define SCALEACROSS_MESSAGE_SIZES_H

#include "cli/command-line.h"
#include "core/base/units.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// Sizes to measure at, as nccl-tests' options say them.
struct SizeOptions
{
    std::string least{"8"};
    std::string most{"128M"};
    std::string factor; //!< empty: 2, unless there is an increment
    std::string increment;
};

/// Adds -b, -e, -f and -i.
void AddSizeOptions(Command command, SizeOptions& options);

/// Which of them are given: "-b", .... For the action.
std::vector<std::string> GivenSizes(const Command& command);

/**
 * The sizes from least to most, both included where they are met: each the one before times the
 * factor, or plus the increment. Sizes are bytes with K, M or G for powers of 1024, in either case.
 *
 * Throws ConfigError (where = the option). Worked case: 8, 64, factor 2: 8, 16, 32, 64.
 */
std::vector<Bytes> SizesOf(const SizeOptions& options);

} // namespace scaleacross

#endif // SCALEACROSS_MESSAGE_SIZES_H
