// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_READER_H
#define SCALEACROSS_FABRIC_READER_H

#include "core/io/file-chain.h"
#include "core/io/yaml-node.h"
#include "core/spec/cluster-spec.h"

#include <string>

namespace scaleacross
{

/// Reads the key `fabric` of a building: a preset's name, a file's path, or a map of fields that
/// may stand on either (`preset`). Throws ConfigError with the place.
FabricSpec ReadFabric(const YamlNode& node, const std::string& path, const FileChain& from);

} // namespace scaleacross

#endif // SCALEACROSS_FABRIC_READER_H
