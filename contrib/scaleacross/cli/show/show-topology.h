// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SHOW_TOPOLOGY_H
#define SCALEACROSS_SHOW_TOPOLOGY_H

#include "cli/command.h"

#include <string>

namespace scaleacross
{

/**
 * Writes the fabric of the study, or of the adjacency file, that the options name to a file: a
 * drawing (.svg), a graph for Graphviz (.dot, .gv) or an adjacency text (.txt).
 *
 * Throws ConfigError before anything is written if the file's name ends otherwise, the study or
 * file cannot be used, or the file cannot be written.
 */
Exit ShowTopology(const CommonOptions& options, const std::string& output);

} // namespace scaleacross

#endif // SCALEACROSS_SHOW_TOPOLOGY_H
