// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_PLACES_H
#define SCALEACROSS_TESTS_PLACES_H

#include <string>

namespace scaleacross
{

/// Returns the path of a file or folder of the checkout that was built: "examples", say, or the
/// checkout itself for "". Functions and no macros, so that only one source depends on where the
/// checkout lies, and clones share the objects of all others.
std::string SourcePath(const std::string& below);

/// Returns the path of the program `scaleacross`.
std::string ProgramPath();

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_PLACES_H
