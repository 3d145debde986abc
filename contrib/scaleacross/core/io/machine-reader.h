// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MACHINE_READER_H
#define SCALEACROSS_MACHINE_READER_H

#include "core/io/file-chain.h"
#include "core/io/read-study.h"
#include "core/io/yaml-node.h"
#include "core/spec/machine-spec.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

/// Reads a machine: a preset's name, a file's path, or a map that may stand on either (`preset`).
/// Throws ConfigError with the place.
MachineSpec ReadMachine(const YamlNode& node, const std::string& path, const FileChain& from);

/// A study of `nodes` servers of the machine of this name or path, with StudyScope::Network and the
/// machine's name. Overrides reach all that a study of that cluster and network would say. Throws
/// ConfigError with the place.
Study ReadMachineStudy(const std::string& machine,
                       uint32_t nodes,
                       uint32_t gpusPerNode,
                       const Overrides& overrides);

} // namespace scaleacross

#endif // SCALEACROSS_MACHINE_READER_H
