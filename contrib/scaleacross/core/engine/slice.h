// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SLICE_H
#define SCALEACROSS_SLICE_H

#include "core/topology/cluster-paths.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

struct Collective;
struct PreparedRun;

/// An operation of a plan, as it is in a slice.
struct SlicePiece
{
    uint32_t operation{0};         //!< of OperationsOf()
    std::optional<uint32_t> stage; //!< that does it (of messages: begins); none: the first
    bool allStages{false};         //!< OperationFinder::OfAllStages(), together
    uint32_t times{1};             //!< that it is done, one after the other; at least 1
};

/// A part of a plan that is run by itself: one operation, or several that begin together.
struct SliceSpec
{
    SliceSpec() = default;

    /// As the first of its stages does it.
    explicit SliceSpec(uint32_t operation, double part = 1);

    std::vector<SlicePiece> pieces;
    double part{1}; //!< of the bytes of each; in (0, 1]
};

/**
 * The largest part of a collective, up to `most`, that is a window of it as half of that is: of a
 * collective with chunks both are chunks as they are, and where there are enough the same number in
 * each channel. 0: it has too few chunks for that. Domain: most in (0, 1].
 *
 * Worked case: 24 chunks on 4 channels, up to a half of them: 8 and 4 chunks, a third.
 */
double WindowOf(const Collective& collective, double most);

/**
 * TEXT = PIECE[+PIECE...][:PART], PIECE = [TIMESx]N[@STAGE|@all]: "3", "3:0.25", "3@all", "3@5",
 * "3@all+8:0.25", "4x2@all". Throws ValueError.
 */
SliceSpec ParseSlice(const std::string& text);
std::string ToString(const SliceSpec& slice);

/**
 * The slice as a run: on the whole cluster every rank of the stages does its operations, all
 * beginning at the same time on an idle network, so that every link has all flows of them. All
 * other ranks take no part. A rank does collectives side by side where the plan has them on streams
 * of their own, else one after the other as the slice names them; messages are beside all. A
 * message is answered by one of the same size, so that an iteration is two of them; the one that is
 * to be sent next waits for the answer. What is meant is one iteration without warm-up, which lasts
 * until the slowest rank is done: in those that follow ranks begin when each of them has ended, and
 * what is measured is how much goes through, not how long it takes.
 *
 * With a part below 1 a collective has that part of its bytes, and of its chunks if it has several:
 * a window of a long operation. Throws ConfigError (where = "--slice") for an operation that is not
 * there, or there twice, a stage that does not do it, and more times than a rank does it.
 */
PreparedRun SliceOf(const PreparedRun& run, const SliceSpec& slice, const ClusterPaths& paths);

} // namespace scaleacross

#endif // SCALEACROSS_SLICE_H
