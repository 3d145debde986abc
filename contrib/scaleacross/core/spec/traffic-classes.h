// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TRAFFIC_CLASSES_H
#define SCALEACROSS_TRAFFIC_CLASSES_H

#include "core/program/collective.h"

#include <array>
#include <cstdint>
#include <string>

namespace scaleacross
{

/// Traffic classes that switches and NICs can tell apart: numbers 0 to kTrafficClasses - 1.
constexpr uint32_t kTrafficClasses = 4;

/// By traffic class: its share of what strict classes leave, or 0 for a strict one.
using ClassWeights = std::array<uint32_t, kTrafficClasses>;

/// The largest weight: so many full packets go together at most.
constexpr uint32_t kMostClassWeight = 64;

/**
 * Which traffic class the communication of each parallelism is in, and how NICs and switches serve
 * these classes where several of them wait for the same link.
 *
 * Model: strict classes go first, the one with the larger number before the others. What they
 * leave is shared by those with a weight, in the proportion of their weights; what one of them does
 * not use is shared by the others. Within a class all is shared as without classes.
 *
 * Worked case: of = {2, 0, 0, 1, 0} (tp, cp, ep, pp, dp), weights 1:3. On a link where all three
 * wait class 2 has all. Without it pp has 3/4 and dp 1/4; if pp is held back elsewhere to 1/10, dp
 * has 9/10.
 */
struct TrafficClasses
{
    std::array<uint32_t, kCommClasses> of{}; //!< by CommClass
    ClassWeights weights{};

    uint32_t Of(CommClass comm) const
    {
        return of[static_cast<size_t>(comm)];
    }

    /// Bit per class that something is in.
    uint32_t Used() const;

    /// How many these are.
    uint32_t Count() const;

    /// Whether all is in one, so that nothing of this has an effect.
    bool AreOne() const
    {
        return Count() == 1;
    }
};

/// "strict", or weights of class 0 and the following separated by colons, 0 to kMostClassWeight:
/// "1:3". Classes without one are strict. Throws ValueError.
ClassWeights ParseClassWeights(const std::string& text);

/// What ParseClassWeights() reads back as the same.
std::string ClassWeightsText(const ClassWeights& weights);

/// What that may be, in words.
std::string ClassWeightsAllowed();

} // namespace scaleacross

#endif // SCALEACROSS_TRAFFIC_CLASSES_H
