// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FRONT_H
#define SCALEACROSS_FRONT_H

#include "core/explore/objective.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// What a Pareto front is of.
struct Front
{
    std::vector<Objective> objectives; //!< two or three; empty: there is no front
    /// How far it reaches: to plans whose value by the first objective is above the least of all by
    /// no more than this part of it. None: to the end.
    std::optional<double> reach;

    bool Reaches(double value, double least) const
    {
        return !reach || value <= (1 + *reach) * least;
    }
};

/// "time+0.5,memory", as ParseFront() reads it; "none" of no front.
std::string FrontText(const Front& front);

/// Two or three different objectives, the first perhaps with its reach, or none at all. Throws
/// ValueError.
Front ParseFront(const std::string& text);

} // namespace scaleacross

#endif // SCALEACROSS_FRONT_H
