// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PIPELINE_TIMES_H
#define SCALEACROSS_PIPELINE_TIMES_H

#include "core/base/units.h"

#include <algorithm>
#include <vector>

namespace scaleacross
{

/// Times of the passes of one microbatch.
struct PassTimes
{
    Duration forward;
    Duration inputGradient;
    Duration weightGradient;

    Duration Backward() const
    {
        return inputGradient + weightGradient;
    }

    Duration Total() const
    {
        return forward + Backward();
    }

    PassTimes& operator+=(const PassTimes& other)
    {
        forward += other.forward;
        inputGradient += other.inputGradient;
        weightGradient += other.weightGradient;
        return *this;
    }
};

/// Of each pass the lesser time.
inline PassTimes
Lesser(const PassTimes& a, const PassTimes& b)
{
    return {std::min(a.forward, b.forward),
            std::min(a.inputGradient, b.inputGradient),
            std::min(a.weightGradient, b.weightGradient)};
}

/// What a schedule may be made for: the times of a pipeline's passes and transfers.
struct PipelineTimes
{
    std::vector<PassTimes> passes; //!< by position along the model
    /// By boundary b, between positions b and b + 1: from the end of a pass to the arrival of what
    /// it sent, either way. Not counted where both positions are on one rank.
    std::vector<Duration> hops;
    /// By boundary: the part of its hop for which a message holds the way between the two ranks in
    /// its direction, one after the other as they are sent. Empty: none.
    std::vector<Duration> holds{};
};

} // namespace scaleacross

#endif // SCALEACROSS_PIPELINE_TIMES_H
