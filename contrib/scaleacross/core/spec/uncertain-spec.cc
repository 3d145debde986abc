// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/uncertain-spec.h"

#include "core/base/errors.h"
#include "core/base/field-rows.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace scaleacross
{

namespace
{

/// A number and what stands behind it: "30" and "km".
struct Measure
{
    double number{0};
    std::string unit;
};

Measure
MeasureOf(const std::string& text)
{
    const Decimal decimal = ScanDecimal(text);
    if (decimal.length == 0)
    {
        throw ValueError(Quoted(text) + " does not begin with a number",
                         "a value of the field, or a multiple of it such as 0.5x",
                         "");
    }
    try
    {
        return {DecimalValue(decimal, 0), text.substr(decimal.length)};
    }
    catch (const std::out_of_range&)
    {
        throw ValueError(Quoted(text) + " is out of range", "what a double holds", "");
    }
}

/// As people write it: 0.7 x 3 is 2.0999999999999996 otherwise.
std::string
Rounded(double number)
{
    if (number == 0)
    {
        return "0";
    }
    const double digits = std::pow(10.0, 12 - std::ceil(std::log10(std::fabs(number))));
    return NumberText(std::round(number * digits) / digits);
}

std::vector<double>
ParseShares(const std::string& text)
{
    std::vector<double> shares;
    for (const std::string& part : ListParts(text))
    {
        constexpr bool open = true; // what is never so is left out
        shares.push_back(ParseNumber(part, NumberRange{0, 1, open}));
    }
    return shares;
}

std::string
SharesText(const std::vector<double>& shares)
{
    std::string text;
    for (const double share : shares)
    {
        text += (text.empty() ? "" : ", ") + NumberText(share);
    }
    return text;
}

std::string
ValuesText(const std::vector<std::string>& values)
{
    std::string text;
    for (const std::string& value : values)
    {
        text += (text.empty() ? "" : ", ") + value;
    }
    return text;
}

[[noreturn]] void
Refuse(const char* key, const std::string& problem, const std::string& allowed)
{
    throw ConfigError(key, problem, allowed, "");
}

std::vector<SpreadSpec::Point>
PointsOfRange(const SpreadSpec& spread)
{
    if (spread.low.empty() || spread.high.empty())
    {
        Refuse(spread.low.empty() ? "low" : "high",
               "there is no value",
               "values, or low and high of a range");
    }
    const Measure low = ParseAt("low", [&] { return MeasureOf(spread.low); });
    const Measure high = ParseAt("high", [&] { return MeasureOf(spread.high); });
    if (low.unit != high.unit)
    {
        Refuse("high",
               Quoted(spread.high) + " and low, " + Quoted(spread.low) + ", have different units",
               "the same unit for both");
    }
    if (!(low.number < high.number))
    {
        Refuse("high",
               Quoted(spread.high) + " is not above low, " + Quoted(spread.low),
               "a range from less to more");
    }
    std::vector<SpreadSpec::Point> points;
    for (uint32_t i = 0; i < spread.points; i++)
    {
        const double part = (i + 0.5) / spread.points;
        points.push_back({Rounded(low.number + part * (high.number - low.number)) + low.unit,
                          1.0 / spread.points});
    }
    return points;
}

/// Sets a field of one span to a value, or to a multiple of what it has.
void
SetFigure(CrossLinkSpec& span, const Field<CrossLinkSpec>& field, const std::string& value)
{
    const bool isMultiple = !value.empty() && value.back() == 'x';
    if (!isMultiple)
    {
        field.set(span, value);
        return;
    }
    const Measure factor = ParseAt(field.key, [&value] { return MeasureOf(value); });
    const Measure own = ParseAt(field.key, [&] { return MeasureOf(field.get(span)); });
    if (factor.unit != "x" || factor.number < 0)
    {
        Refuse(field.key.c_str(),
               Quoted(value) + " is no multiple",
               "a factor from 0, such as 0.5x");
    }
    field.set(span, Rounded(own.number * factor.number) + own.unit);
}

} // namespace

const FieldTable<SpreadSpec>&
SpreadSpec::Fields()
{
    using Row = FieldRows<SpreadSpec>;
    static const FieldTable<SpreadSpec> fields = {
        Row::Make("values",
                  "a list of values, or of multiples such as 0.5x of what each span has",
                  "that it may have",
                  &SpreadSpec::values,
                  ListParts,
                  ValuesText),
        Row::Make("shares",
                  "a list of numbers above 0 that add up to 1, one for each value",
                  "how likely each value is; left out: all alike",
                  &SpreadSpec::shares,
                  ParseShares,
                  SharesText),
        Row::Text("low", "in place of values: the lower end of a range", &SpreadSpec::low),
        Row::Text("high", "the upper end, in the same unit", &SpreadSpec::high),
        Row::Whole("points",
                   2,
                   100,
                   "values that stand for the range, in the middles of as many equal parts",
                   &SpreadSpec::points),
    };
    return fields;
}

std::vector<SpreadSpec::Point>
SpreadSpec::Points() const
{
    if (values.empty())
    {
        if (!shares.empty())
        {
            Refuse("shares", "a range has none", "values with shares, or low and high");
        }
        return PointsOfRange(*this);
    }
    if (!low.empty() || !high.empty())
    {
        Refuse("values", "a range is given too", "values, or low and high");
    }
    if (!shares.empty() && shares.size() != values.size())
    {
        Refuse("shares",
               std::to_string(shares.size()) + " shares for " + std::to_string(values.size()) +
                   " values",
               "one for each value");
    }
    if (std::set<std::string>(values.begin(), values.end()).size() != values.size())
    {
        Refuse("values", "a value is given twice", "every value once");
    }
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    // Thirds are written with a few digits.
    constexpr double tolerance = 1e-3;
    if (!shares.empty() && std::fabs(sum - 1) > tolerance)
    {
        Refuse("shares", "they add up to " + NumberText(sum), "shares that add up to 1");
    }
    std::vector<Point> points;
    for (size_t i = 0; i < values.size(); i++)
    {
        const double share =
            shares.empty() ? 1.0 / static_cast<double>(values.size()) : shares[i] / sum;
        points.push_back({values[i], share});
    }
    return points;
}

const FieldTable<UncertainSpec>&
UncertainSpec::Fields()
{
    using Row = FieldRows<UncertainSpec>;
    static const FieldTable<UncertainSpec> fields = {
        Row::Number("quantile",
                    0.01,
                    1,
                    "plans are compared by the time that they keep with this probability",
                    &UncertainSpec::quantile),
    };
    return fields;
}

std::vector<std::string>
UncertainSpec::FigureKeys()
{
    return {"distance", "latency", "capacity", "loss"};
}

void
SetFigureOfSpans(ClusterSpec& cluster, const std::string& key, const std::string& value)
{
    const Field<CrossLinkSpec>& field = *FindField(CrossLinkSpec::Fields(), key);
    for (CrossLinkSpec& span : cluster.crossLinks)
    {
        const bool follows = key == "distance" && span.latency == FibreDelay(span.distance);
        SetFigure(span, field, value);
        span.latency = follows ? FibreDelay(span.distance) : span.latency;
    }
}

} // namespace scaleacross
