// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/units.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

/// A unit is 10^power x factor base units; factors are small whole numbers, so that scaling is
/// exact.
struct Unit
{
    const char* name;
    int power;
    double factor{1.0};

    double Scale() const
    {
        return std::pow(10.0, power) * factor;
    }
};

const std::vector<Unit> g_durationUnits = {
    {"ps", 0},
    {"ns", 3},
    {"us", 6},
    {"ms", 9},
    {"s", 12},
};

/// Those that are read; nothing is printed in the longer ones.
const std::vector<Unit> g_readDurationUnits = {
    {"ps", 0},
    {"ns", 3},
    {"us", 6},
    {"ms", 9},
    {"s", 12},
    {"min", 12, 60.0},
    {"h", 12, 3600.0},
};

const std::vector<Unit> g_byteUnits = {
    {"B", 0},
    {"kB", 3},
    {"MB", 6},
    {"GB", 9},
    {"TB", 12},
    {"KiB", 0, 1024.0},
    {"MiB", 0, 1048576.0},
    {"GiB", 0, 1073741824.0},
    {"TiB", 0, 1099511627776.0},
};

const std::vector<Unit> g_rateUnits = {
    {"bps", 0},
    {"kbps", 3},
    {"Mbps", 6},
    {"Gbps", 9},
    {"Tbps", 12},
    {"Pbps", 15},
    {"B/s", 0, 8.0},
    {"kB/s", 3, 8.0},
    {"MB/s", 6, 8.0},
    {"GB/s", 9, 8.0},
    {"TB/s", 12, 8.0},
};

const std::vector<Unit> g_flopRateUnits = {
    {"FLOP/s", 0},
    {"GFLOP/s", 9},
    {"TFLOP/s", 12},
    {"PFLOP/s", 15},
};

const std::vector<Unit> g_distanceUnits = {
    {"m", -3},
    {"km", 0},
};

std::string
UnitNames(const std::vector<Unit>& units)
{
    std::vector<std::string> names;
    for (const auto& unit : units)
    {
        names.emplace_back(unit.name);
    }
    return AnyOf(names);
}

/// One kind of quantity: what to call it, its units, and a value as people write it.
struct Kind
{
    const char* name;
    const std::vector<Unit>& units;
    const char* example;
};

/// What may have been meant. Rates are bits per second by "bps", in whichever way people write it:
/// "Tb/s", "Gbit/s" and the bare "G" of data sheets are not bytes.
std::string
RemedyForUnit(const std::string& unit, const std::vector<std::string>& names)
{
    for (const char* bits : {"b/s", "bit/s", "bits/s", "bit", "b", ""})
    {
        for (const std::string& prefix : {std::string(), unit.substr(0, 1)})
        {
            const std::string meant = prefix + "bps";
            if (unit == prefix + bits &&
                std::find(names.begin(), names.end(), meant) != names.end())
            {
                return "did you mean " + meant + "?";
            }
        }
    }
    if (unit == "x")
    {
        return "a factor is for keys with *, such as cluster.links.*.distance=0.5x";
    }
    const std::string nearest = Nearest(unit, names);
    return nearest.empty() ? "" : "did you mean " + nearest + "? Case matters";
}

/// The value in the base unit; throws ValueError.
double
ParseQuantity(std::string_view text, const Kind& kind)
{
    const auto wrong = [&](const std::string& problem, const std::string& remedy) {
        return ValueError(Quoted(text) + problem,
                          std::string(kind.name) + " from 0, a number with a unit such as " +
                              kind.example + " (units: " + UnitNames(kind.units) + ")",
                          remedy);
    };
    const Decimal decimal = ScanDecimal(text);
    if (decimal.length == 0)
    {
        throw wrong(" is not a number with a unit", "");
    }
    std::string unit(text.substr(decimal.length));
    if (!unit.empty() && unit.front() == ' ')
    {
        unit.erase(0, 1);
    }
    if (unit.empty())
    {
        throw wrong(" has no unit", std::string("add the unit, as in ") + kind.example);
    }
    std::vector<std::string> names;
    for (const auto& candidate : kind.units)
    {
        if (unit != candidate.name)
        {
            names.emplace_back(candidate.name);
            continue;
        }
        if (decimal.mantissa.front() == '-')
        {
            throw wrong(" is negative", "");
        }
        try
        {
            const double value = DecimalValue(decimal, candidate.power) * candidate.factor;
            if (std::isfinite(value))
            {
                return value;
            }
        }
        catch (const std::out_of_range&)
        {
        }
        throw wrong(" is too large", "");
    }
    throw wrong(" has the unknown unit " + Quoted(unit), RemedyForUnit(unit, names));
}

/// As ParseQuantity(), to a whole number of base units that an integer type holds.
uint64_t
ParseCount(std::string_view text, const Kind& kind)
{
    constexpr double most = 9.2e18; // below 2^63
    const double value = ParseQuantity(text, kind);
    if (value <= most && text.find_first_not_of("0123456789") != 0)
    {
        // Whole base units are read exactly also where a double has too few digits for them.
        const size_t digits = text.find_first_not_of("0123456789");
        if (text.substr(digits) == kind.units.front().name)
        {
            return std::stoull(std::string(text.substr(0, digits)));
        }
    }
    if (value > most)
    {
        throw ValueError(Quoted(text) + " is too large",
                         std::string("at most 9.2e18 ") + kind.units.front().name,
                         "");
    }
    const auto count = static_cast<uint64_t>(std::llround(value));
    if (count == 0 && value > 0)
    {
        throw ValueError(Quoted(text) + " is too small",
                         std::string("0 or at least 1 ") + kind.units.front().name,
                         "");
    }
    return count;
}

std::string
Format(double value, const char* unit)
{
    std::array<char, 64> buffer{};
    const double magnitude = std::fabs(value);
    const int decimals = magnitude >= 1000 ? 0 : magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : 3;
    std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
    std::string text(buffer.data());
    if (text.find('.') != std::string::npos)
    {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.')
        {
            text.pop_back();
        }
    }
    return text + " " + unit;
}

/// Uses the largest of the ascending units that leaves the value, as it is printed, at or above 1.
std::string
FormatScaled(double value, const std::vector<Unit>& ascending)
{
    const Unit* best = &ascending.front();
    for (const auto& unit : ascending)
    {
        // Four digits are printed: 999.96 us would read "1000 us" and is better called 1 ms.
        if (std::fabs(value) >= unit.Scale() * 0.99995)
        {
            best = &unit;
        }
    }
    return Format(value / best->Scale(), best->name);
}

/// The value in the largest unit that leaves it at or above 1 and reads back as exactly the same.
template <class Quantity>
std::string
ExactMeasure(Quantity value, const std::vector<Unit>& ascending)
{
    const double number = value.Value();
    for (auto unit = ascending.rbegin(); std::isfinite(number) && unit != ascending.rend(); ++unit)
    {
        const double scaled = number / unit->Scale();
        const std::string text = NumberText(scaled) + unit->name;
        if (scaled >= 1 && Parse<Quantity>(text) == value)
        {
            return text;
        }
    }
    return NumberText(number) + ascending.front().name;
}

/// What follows a value that is out of range.
const char* const g_longestTime = " is beyond 9223372 s (106 days), the longest time there is";
const char* const g_mostBytes = " is beyond 16777216 TiB, the most bytes there are";

std::string
TimeText(int64_t ps)
{
    return ToString(Duration::Picoseconds(ps));
}

} // namespace

namespace quantity
{

void
SumOutOfRange(int64_t a, int64_t b)
{
    throw OutOfRange(TimeText(a) + " + " + TimeText(b) + g_longestTime);
}

void
DifferenceOutOfRange(int64_t a, int64_t b)
{
    throw OutOfRange(TimeText(a) + " - " + TimeText(b) + g_longestTime);
}

void
ProductOutOfRange(int64_t a, int64_t k)
{
    throw OutOfRange(TimeText(a) + " x " + std::to_string(k) + g_longestTime);
}

void
SumOutOfRange(uint64_t a, uint64_t b)
{
    throw OutOfRange(ToString(Bytes(a)) + " + " + ToString(Bytes(b)) + g_mostBytes);
}

void
DifferenceOutOfRange(uint64_t a, uint64_t b)
{
    throw OutOfRange(ToString(Bytes(a)) + " - " + ToString(Bytes(b)) + " is less than no bytes");
}

void
ProductOutOfRange(uint64_t a, uint64_t k)
{
    throw OutOfRange(ToString(Bytes(a)) + " x " + std::to_string(k) + g_mostBytes);
}

} // namespace quantity

Duration
Duration::Seconds(double s)
{
    const double ps = s * 1e12;
    SCALEACROSS_INVARIANT(!std::isnan(ps), "a duration is not a number");
    if (!(std::fabs(ps) < 9.2e18))
    {
        throw OutOfRange((std::isinf(s) ? "an endless time" : "a time of " + NumberText(s) + " s") +
                         g_longestTime);
    }
    return Duration(std::llround(ps));
}

Duration
SerialisationTime(Bytes bytes, BitRate rate)
{
    return Duration::Seconds(static_cast<double>(bytes.Count()) * 8.0 / rate.Value());
}

Duration
ComputeTime(Flops work, FlopRate rate)
{
    return Duration::Seconds(work.Value() / rate.Value());
}

Duration
FibreDelay(Distance distance)
{
    return Duration::Seconds(distance.Value() * 5e-6);
}

Duration
ParseDuration(std::string_view text)
{
    static const Kind kind{"a duration", g_readDurationUnits, "5us"};
    return Duration::Picoseconds(static_cast<int64_t>(ParseCount(text, kind)));
}

Bytes
ParseBytes(std::string_view text)
{
    static const Kind kind{"a size", g_byteUnits, "80GiB"};
    return Bytes(ParseCount(text, kind));
}

BitRate
ParseBitRate(std::string_view text)
{
    static const Kind kind{"a rate", g_rateUnits, "400Gbps"};
    return BitRate(ParseQuantity(text, kind));
}

FlopRate
ParseFlopRate(std::string_view text)
{
    static const Kind kind{"a compute rate", g_flopRateUnits, "989TFLOP/s"};
    return FlopRate(ParseQuantity(text, kind));
}

Distance
ParseDistance(std::string_view text)
{
    static const Kind kind{"a distance", g_distanceUnits, "30km"};
    return Distance(ParseQuantity(text, kind));
}

std::string
ToString(Duration value)
{
    return FormatScaled(static_cast<double>(value.Ps()), g_durationUnits);
}

std::string
ToString(Bytes value)
{
    static const std::vector<Unit> units = {{"B", 0},
                                            {"KiB", 0, 1024.0},
                                            {"MiB", 0, 1048576.0},
                                            {"GiB", 0, 1073741824.0},
                                            {"TiB", 0, 1099511627776.0}};
    return FormatScaled(static_cast<double>(value.Count()), units);
}

std::string
ToString(BitRate value)
{
    static const std::vector<Unit> units =
        {{"bps", 0}, {"kbps", 3}, {"Mbps", 6}, {"Gbps", 9}, {"Tbps", 12}, {"Pbps", 15}};
    return FormatScaled(value.Value(), units);
}

std::string
ToString(FlopRate value)
{
    return FormatScaled(value.Value(), g_flopRateUnits);
}

std::string
ToString(Distance value)
{
    return FormatScaled(value.Value(), g_distanceUnits);
}

std::string
ExactText(Duration value)
{
    int64_t count = value.Ps();
    const Unit* best = count == 0 ? &g_durationUnits.back() : &g_durationUnits.front();
    for (const auto& unit : g_durationUnits)
    {
        const auto scale = static_cast<int64_t>(unit.Scale());
        if (count % scale == 0 && count != 0)
        {
            best = &unit;
        }
    }
    return std::to_string(count / static_cast<int64_t>(best->Scale())) + best->name;
}

std::string
ExactText(Bytes value)
{
    static const std::vector<Unit> units = {{"B", 0},
                                            {"KiB", 0, 1024.0},
                                            {"MiB", 0, 1048576.0},
                                            {"GiB", 0, 1073741824.0},
                                            {"TiB", 0, 1099511627776.0}};
    const Unit* best = &units.front();
    for (const auto& unit : units)
    {
        if (value.Count() % static_cast<uint64_t>(unit.factor) == 0 && value.Count() != 0)
        {
            best = &unit;
        }
    }
    return std::to_string(value.Count() / static_cast<uint64_t>(best->factor)) + best->name;
}

std::string
ExactText(BitRate value)
{
    static const std::vector<Unit> bits(g_rateUnits.begin(), g_rateUnits.begin() + 6);
    return ExactMeasure(value, bits);
}

std::string
ExactText(FlopRate value)
{
    return ExactMeasure(value, g_flopRateUnits);
}

std::string
ExactText(Distance value)
{
    return ExactMeasure(value, g_distanceUnits);
}

} // namespace scaleacross
