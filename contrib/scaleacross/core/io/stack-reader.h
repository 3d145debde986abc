// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STACK_READER_H
#define SCALEACROSS_STACK_READER_H

#include "core/io/file-chain.h"
#include "core/io/yaml-node.h"
#include "core/spec/software-stack.h"

#include <string>

namespace scaleacross
{

/// Reads the key `stack` of a workload: a preset's name, a file's path, or a map of fields that
/// may stand on either (`preset`; without it on what loses nothing, `fused`). Throws ConfigError
/// with the place.
SoftwareStack ReadStack(const YamlNode& node, const std::string& path, const FileChain& from);

} // namespace scaleacross

#endif // SCALEACROSS_STACK_READER_H
