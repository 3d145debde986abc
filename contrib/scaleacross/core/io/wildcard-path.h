// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WILDCARD_PATH_H
#define SCALEACROSS_WILDCARD_PATH_H

#include "core/io/yaml-node.h"

#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// Whether a part of a path is "*".
bool HasWildcard(const std::string& path);

/**
 * Paths and values for SetYaml() that a path with wildcards stands for: "*" is every element of a
 * list, or every value of a map, that the document has. Behind such a path "0.5x" is no value but a
 * factor, by which each of the quantities that are there is multiplied. What has no wildcard stays
 * as it is.
 *
 * Throws ConfigError (where = "--set path=value") where "*" has nothing to stand for, and for a
 * factor that is not above 0 or that meets something else than a quantity.
 */
std::vector<std::pair<std::string, std::string>> WithoutWildcards(const YamlNode& root,
                                                                  const std::string& path,
                                                                  const std::string& value);

} // namespace scaleacross

#endif // SCALEACROSS_WILDCARD_PATH_H
