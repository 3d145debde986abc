// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_UNCERTAIN_SPEC_H
#define SCALEACROSS_UNCERTAIN_SPEC_H

#include "core/base/field.h"
#include "core/spec/cluster-spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The values that a figure of the spans may have, with how likely each is: a list, or a range in
 * which all values are equally likely.
 *
 * A value is one of the field, "30km", or a multiple of what every span has, "0.5x". A range stands
 * for N values, the middles of its N equal parts: of 10 km to 20 km and 5 points these are 11, 13,
 * 15, 17 and 19 km, each with a share of 1/5.
 */
struct SpreadSpec
{
    std::vector<std::string> values;
    std::vector<double> shares; //!< of the values; none: all alike
    std::string low;            //!< of a range; "" with values
    std::string high;
    uint32_t points{5}; //!< of a range

    struct Point
    {
        std::string value;
        double share{0};
    };

    /// The values with their shares, which add up to 1. Throws ConfigError (where = the key).
    std::vector<Point> Points() const;

    /// What a study may say of it, in canonical order.
    static const FieldTable<SpreadSpec>& Fields();
};

/// What is not known for certain of the spans, for a plan that does well whatever it is.
struct UncertainSpec
{
    struct Figure
    {
        std::string key; //!< of CrossLinkSpec::Fields()
        SpreadSpec spread;
    };

    double quantile{0.95};       //!< of the times in all scenarios, by which plans are compared
    std::vector<Figure> figures; //!< independent of each other, in the order of the table of spans

    /// What a study may say beside the figures.
    static const FieldTable<UncertainSpec>& Fields();

    /// The keys that figures may have.
    static std::vector<std::string> FigureKeys();
};

/**
 * Sets a figure of every span to a value of a SpreadSpec. As in a study, the latency of a fibre
 * goes with its distance.
 *
 * Throws ConfigError (where = the key) for what the field does not take.
 */
void SetFigureOfSpans(ClusterSpec& cluster, const std::string& key, const std::string& value);

} // namespace scaleacross

#endif // SCALEACROSS_UNCERTAIN_SPEC_H
