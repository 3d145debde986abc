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

/// What a fingerprint is taken of.
enum class Sources
{
    Core,  //!< what computes without ns-3: core/ but io/ and store/, and the data of GPUs
    Module //!< that, model/, helper/ and the release of ns-3
};

/**
 * A hash of all sources that can change what an engine computes, taken by the build: of their
 * words, so that comments and layout do not count (source-hash.cc). A UUID in its text form.
 */
const char* SourceHash(Sources sources);

} // namespace scaleacross

#endif // SCALEACROSS_VERSION_H
