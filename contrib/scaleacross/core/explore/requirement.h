// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_REQUIREMENT_H
#define SCALEACROSS_REQUIREMENT_H

#include <functional>
#include <optional>
#include <vector>

namespace scaleacross
{

/// Which end of a range of values is the cheap one, so that the value nearest to it is asked for.
enum class Sense
{
    Least,   //!< more is better and costs more: capacity, buffers
    Greatest //!< less is better: distance, loss
};

/// What became of the question.
enum class Finding
{
    Found,
    Everywhere, //!< the target is met at all values that were looked at
    Nowhere,    //!< at none
    InPart      //!< met somewhere, but not at the better end of the range
};

/// One value that was looked at.
struct Sample
{
    double value{0};
    std::optional<double> loss; //!< none where no plan can run

    bool Meets(double target) const
    {
        return loss && *loss <= target;
    }
};

/// The range to look at. Domain: 0 < least < most.
struct ValueRange
{
    double least{0};
    double most{0};
};

/// How near together the values on both sides of an answer are: their ratio less 1.
constexpr double kRequirementTolerance = 0.01;

/// The values at which a range is looked at before anything is bisected, both ends included.
constexpr int kRangeSamples = 9;

/// The answer to: from which value on is the loss at most `target`?
struct Requirement
{
    Finding finding{Finding::Nowhere};
    std::optional<double> value;  //!< of Found: it meets the target, and so do the better samples
    std::optional<double> beyond; //!< within the tolerance of `value`, on the other side: it fails
    /// No sample beyond the answer meets the target. Where one does, the loss is not monotone.
    bool monotone{true};
    std::vector<Sample> samples; //!< all that were looked at, by value
};

/**
 * Finds the value at which the loss passes the target, by bisection in the logarithm of the value.
 *
 * That the loss grows towards the cheap end is not taken for granted: kRangeSamples values in equal
 * ratios and those of `extra` within the range are looked at first. What is bisected lies between
 * the first sample from the better end that fails and the sample before it. Between two samples the
 * loss may still pass the target twice unseen.
 *
 * Worked case: loss(x) = 1 / x over 1 to 256, at most 0.25, Least: samples 1, 2, 4 ... 256; 4 meets
 * it and 2 does not; the bisection of 2 to 4 ends at 4, with the other side above 4 / 1.01.
 */
Requirement FindRequirement(const ValueRange& range,
                            Sense sense,
                            double target,
                            const std::vector<double>& extra,
                            const std::function<std::optional<double>(double)>& lossAt);

} // namespace scaleacross

#endif // SCALEACROSS_REQUIREMENT_H
