// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NCCL_JSON_H
#define SCALEACROSS_NCCL_JSON_H

#include "core/io/nccl-log.h"

#include <string>
#include <string_view>

namespace scaleacross
{

/// Whether a text is a JSON object rather than lines.
bool IsNcclJson(std::string_view text);

/**
 * Reads what a program of nccl-tests writes with -J (2.17.3 to 2.19.6, file versions up to 3): the
 * operation by its arguments, the list of devices and a result for each size. The same checks hold
 * as for what it prints.
 *
 * Throws ConfigError (where = "name", or "name results[3] time") for another document.
 */
NcclLog ParseNcclJson(std::string_view text, const std::string& name);

} // namespace scaleacross

#endif // SCALEACROSS_NCCL_JSON_H
