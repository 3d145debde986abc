// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLUSTER_READER_H
#define SCALEACROSS_CLUSTER_READER_H

#include "core/io/yaml-node.h"
#include "core/spec/cluster-spec.h"

#include <string>

namespace scaleacross
{

/// Reads the key `cluster` of a study, paths in it relative to `folder`. Throws ConfigError with
/// the place; what only ClusterSpec::Validate() knows is left to it.
ClusterSpec ReadCluster(const YamlNode& node, const std::string& folder);

} // namespace scaleacross

#endif // SCALEACROSS_CLUSTER_READER_H
