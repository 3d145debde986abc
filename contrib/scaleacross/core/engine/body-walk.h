// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BODY_WALK_H
#define SCALEACROSS_BODY_WALK_H

#include "core/base/units.h"
#include "core/program/program.h"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace scaleacross
{

/// A collective that nobody else delays.
struct LoneCollective
{
    CommClass comm{CommClass::Tensor};
    Duration time;
    uint32_t ports{0};      //!< a bit for every Port that it uses
    uint32_t processors{0}; //!< that it takes, see Collective
};

/// A body on a rank on which nothing else is under way.
struct BodyTimes
{
    Duration total;
    Duration compute; //!< longer by what collectives under way take from it
    std::array<Duration, kCommClasses> exposed; //!< waited for
    std::array<Duration, kCommClasses> busy;    //!< under way
    /// Whether it awaits all that it posts, and nothing else.
    bool closed{true};
    /// Whether two collectives use the same port at the same time: then they take longer than alone
    /// and these times are too short.
    bool contends{false};
};

/**
 * Walks through the operations of a body in order: collectives of a stream follow each other,
 * streams run beside each other and beside compute, which progresses by what those under way take
 * (ComputeClock). Posts for which `lone` returns a time of zero pass at once.
 *
 * Worked case: post a collective of 3 ms, compute 4 ms, wait, with a share of 0.25: the first 3 ms
 * do 2.25 ms of the work, the remaining 1.75 ms run alone: total and compute 4.75 ms, exposed 0,
 * busy 3 ms. With a compute of 1 ms (done after 1.33 ms) total is 3 ms, 1.67 ms of it exposed.
 */
BodyTimes WalkBody(const std::vector<Op>& ops,
                   const CollectiveShare& share,
                   const std::function<LoneCollective(const Op&)>& lone);

} // namespace scaleacross

#endif // SCALEACROSS_BODY_WALK_H
