// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_VERSION_H
#define SCALEACROSS_VERSION_H

namespace scaleacross
{

/// The release, such as "0.1.0"; kept in contrib/scaleacross/VERSION.
const char* Version();

/**
 * The commit that was checked out when the program was built, in hexadecimal; "unknown" outside of
 * a git checkout of ScaleAcross. It does not tell of uncommitted changes.
 */
const char* GitCommit();

} // namespace scaleacross

#endif // SCALEACROSS_VERSION_H
