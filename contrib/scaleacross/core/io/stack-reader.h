// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STACK_READER_H
#define SCALEACROSS_STACK_READER_H

#include "core/io/yaml-node.h"
#include "core/spec/software-stack.h"

#include <string>

namespace scaleacross
{

/// Reads the key `stack` of a workload: the name of one that is built in, or a map of fields that
/// may stand on one (`preset`; without it `fused`). Throws ConfigError with the place.
SoftwareStack ReadStack(const YamlNode& node, const std::string& path);

} // namespace scaleacross

#endif // SCALEACROSS_STACK_READER_H
