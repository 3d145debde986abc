// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NAMED_FILES_H
#define SCALEACROSS_NAMED_FILES_H

#include "core/io/yaml-node.h"

#include <string>

namespace scaleacross
{

/**
 * Notes (NoteInputFile()) the files that a study names, whether they are read or not: --set may put
 * something else in their place, and what only looks at its network reads no model.
 *
 * A file is named by a value, or by a part of one between blanks, quotes, ":" and "=", that has a
 * "/" or a "." and leads to a regular file, from the study's folder or from the current one, as
 * commands of engines do; and by `trace`, with which the names of several begin.
 *
 * @param folder of the study; empty: the current one
 */
void NoteNamedFiles(const YamlNode& root, const std::string& folder);

} // namespace scaleacross

#endif // SCALEACROSS_NAMED_FILES_H
