// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLUSTER_READER_H
#define SCALEACROSS_CLUSTER_READER_H

#include "core/io/yaml-node.h"
#include "core/spec/cluster-spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// Reads the key `cluster` of a study, paths in it relative to `folder`. Throws ConfigError with
/// the place; what only ClusterSpec::Validate() knows is left to it.
ClusterSpec ReadCluster(const YamlNode& node, const std::string& folder);

/// The buildings that `use` of the same key names, in its order; none where it is `all` or not
/// given. Throws ConfigError with the place.
std::vector<uint32_t> ReadUsedBuildings(const YamlNode& node, const ClusterSpec& cluster);

} // namespace scaleacross

#endif // SCALEACROSS_CLUSTER_READER_H
