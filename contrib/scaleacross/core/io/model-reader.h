// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MODEL_READER_H
#define SCALEACROSS_MODEL_READER_H

#include "core/io/file-chain.h"
#include "core/io/yaml-node.h"
#include "core/spec/model-spec.h"

#include <string>

namespace scaleacross
{

/// Reads the key `model` of a study: a preset's name, the path of a config.json or of a file
/// of ours, or a map of dimensions that may stand on either (`preset`). Throws ConfigError with the
/// place.
ModelSpec ReadModel(const YamlNode& node, const std::string& path, const FileChain& from);

} // namespace scaleacross

#endif // SCALEACROSS_MODEL_READER_H
