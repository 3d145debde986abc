// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWEEP_SCALE_H
#define SCALEACROSS_SWEEP_SCALE_H

#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// Where the values of a swept setting lie on a line.
struct SweepScale
{
    std::vector<double> numbers; //!< of each value, in the unit
    std::string unit; //!< "" of plain numbers, x of factors; else km, s, B, bps or FLOP/s

    /// What lies between two values, as people read and a study takes it: "41.25 km", "4".
    std::string TextOf(double number) const;
};

/// The scale of values that are all plain numbers or parts such as 2%, all factors such as 0.5x, or
/// all quantities of one kind, such as 300m and 1km. None of any others, such as names of GPUs:
/// they are categories, between which there is nothing, and which have no order but the one they
/// are given in.
std::optional<SweepScale> ScaleOf(const std::vector<std::string>& values);

} // namespace scaleacross

#endif // SCALEACROSS_SWEEP_SCALE_H
