// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/sweep-scale.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/base/units.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace scaleacross
{

namespace
{

/// How values of one kind are read, and told.
struct Kind
{
    const char* unit;
    double (*number)(const std::string& text); //!< throws ValueError
    std::string (*text)(double number);
};

double
PlainNumber(const std::string& text)
{
    constexpr double most = 1e300;
    return text.find('%') != std::string::npos ? ParseFraction(text, 0, most)
                                               : ParseNumber(text, -most, most);
}

/// A factor such as 0.5x.
double
FactorNumber(const std::string& text)
{
    constexpr double most = 1e300;
    if (text.empty() || text.back() != 'x')
    {
        throw ValueError(Quoted(text) + " is no factor", "a number with x behind it", "");
    }
    return ParseNumber(text.substr(0, text.size() - 1), -most, most);
}

/// Three digits, which is more than an interpolation is worth.
std::string
PlainText(double number)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g", number);
    return text.data();
}

const std::vector<Kind>&
Kinds()
{
    static const std::vector<Kind> kinds = {
        {"", PlainNumber, PlainText},
        {"x", FactorNumber, [](double number) { return PlainText(number) + "x"; }},
        {"km",
         [](const std::string& text) { return ParseDistance(text).Value(); },
         [](double number) { return ToString(Distance(number)); }},
        {"bps",
         [](const std::string& text) { return ParseBitRate(text).Value(); },
         [](double number) { return ToString(BitRate(number)); }},
        {"s",
         [](const std::string& text) { return ParseDuration(text).S(); },
         [](double number) { return ToString(Duration::Seconds(number)); }},
        {"B",
         [](const std::string& text) { return static_cast<double>(ParseBytes(text).Count()); },
         [](double number) {
             return ToString(Bytes(static_cast<uint64_t>(std::llround(number))));
         }},
        {"FLOP/s",
         [](const std::string& text) { return ParseFlopRate(text).Value(); },
         [](double number) { return ToString(FlopRate(number)); }}};
    return kinds;
}

} // namespace

std::string
SweepScale::TextOf(double number) const
{
    for (const Kind& kind : Kinds())
    {
        if (unit == kind.unit)
        {
            return kind.text(number);
        }
    }
    return NumberText(number);
}

std::optional<SweepScale>
ScaleOf(const std::vector<std::string>& values)
{
    for (const Kind& kind : Kinds())
    {
        SweepScale scale{{}, kind.unit};
        try
        {
            for (const std::string& value : values)
            {
                scale.numbers.push_back(kind.number(value));
            }
            return scale;
        }
        catch (const ValueError&)
        {
            continue; // not all of them are of this kind
        }
    }
    return std::nullopt;
}

} // namespace scaleacross
