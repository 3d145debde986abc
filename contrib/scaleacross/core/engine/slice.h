// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SLICE_H
#define SCALEACROSS_SLICE_H

#include "core/topology/cluster-paths.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

struct Collective;
struct PreparedRun;

/// A part of a plan that is run by itself.
struct SliceSpec
{
    uint32_t operation{0}; //!< of OperationsOf()
    double part{1};        //!< of its bytes; in (0, 1]
};

/**
 * The largest part of a collective, up to `most`, that is a window of it as half of that is: of a
 * collective with chunks both are chunks as they are, and where there are enough the same number in
 * each channel. 0: it has too few chunks for that. Domain: most in (0, 1].
 *
 * Worked case: 24 chunks on 4 channels, up to a half of them: 8 and 4 chunks, a third.
 */
double WindowOf(const Collective& collective, double most);

/// "3", "3:0.25". Throws ValueError.
SliceSpec ParseSlice(const std::string& text);
std::string ToString(const SliceSpec& slice);

/**
 * The slice as a run: on the whole cluster every rank of the operation's stage does it, all
 * beginning at the same time on an idle network, so that every link has all flows of the operation.
 * All other ranks take no part. A message is answered by one of the same size, so that an iteration
 * is two of them. What is meant is one iteration without warm-up, which lasts until the slowest
 * rank is done: in those that follow ranks begin when each of them has ended, and what is measured
 * is how much goes through, not how long it takes.
 *
 * With a part below 1 a collective has that part of its bytes, and of its chunks if it has several:
 * a window of a long operation. Throws ConfigError (where = "--slice") for an operation that is not
 * there.
 */
PreparedRun SliceOf(const PreparedRun& run, const SliceSpec& slice, const ClusterPaths& paths);

} // namespace scaleacross

#endif // SCALEACROSS_SLICE_H
