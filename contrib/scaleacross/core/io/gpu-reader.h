// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_GPU_READER_H
#define SCALEACROSS_GPU_READER_H

#include "core/io/file-chain.h"
#include "core/io/yaml-node.h"
#include "core/spec/gpu-spec.h"

#include <string>

namespace scaleacross
{

/// Reads the key `gpu` of a building: a preset's name, a file's path, or a map of fields that may
/// stand on either (`preset`) and on a curve (`curve`). Throws ConfigError with the place.
GpuSpec ReadGpu(const YamlNode& node, const std::string& path, const FileChain& from);

/// Reads the key `curve` of a GPU: a name, a path, or a map, which gives every field or stands on
/// another curve (`preset`). Throws ConfigError with the place.
GpuCurve ReadCurve(const YamlNode& node, const std::string& path, const FileChain& from);

} // namespace scaleacross

#endif // SCALEACROSS_GPU_READER_H
