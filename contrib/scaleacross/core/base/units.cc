// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/units.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace scaleacross
{

namespace
{

struct Unit
{
    const char* name;
    double factor;
};

const std::vector<Unit> g_durationUnits = {
    {"ps", 1.0},
    {"ns", 1e3},
    {"us", 1e6},
    {"ms", 1e9},
    {"s", 1e12},
};

const std::vector<Unit> g_byteUnits = {
    {"B", 1.0},
    {"kB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
    {"KiB", 1024.0},
    {"MiB", 1048576.0},
    {"GiB", 1073741824.0},
    {"TiB", 1099511627776.0},
};

const std::vector<Unit> g_rateUnits = {
    {"bps", 1.0},
    {"kbps", 1e3},
    {"Mbps", 1e6},
    {"Gbps", 1e9},
    {"Tbps", 1e12},
    {"B/s", 8.0},
    {"kB/s", 8e3},
    {"MB/s", 8e6},
    {"GB/s", 8e9},
    {"TB/s", 8e12},
};

const std::vector<Unit> g_flopRateUnits = {
    {"FLOP/s", 1.0},
    {"GFLOP/s", 1e9},
    {"TFLOP/s", 1e12},
    {"PFLOP/s", 1e15},
};

const std::vector<Unit> g_distanceUnits = {
    {"m", 1e-3},
    {"km", 1.0},
};

std::string
UnitNames(const std::vector<Unit>& units)
{
    std::string names;
    for (const auto& unit : units)
    {
        names += names.empty() ? "" : ", ";
        names += unit.name;
    }
    return names;
}

/// The value in the base unit (the one with factor 1); throws std::invalid_argument.
double
ParseQuantity(std::string_view text, const std::vector<Unit>& units, const char* example)
{
    const std::string all(text);
    // The classic locale, so that "1.5" means the same on every machine.
    size_t end = 0;
    while (end < all.size() && (std::string_view("0123456789.+-").find(all[end]) !=
                                std::string_view::npos))
    {
        end++;
    }
    // An exponent belongs to the number only where digits follow it.
    if (end < all.size() && (all[end] == 'e' || all[end] == 'E'))
    {
        size_t digits = end + 1;
        if (digits < all.size() && (all[digits] == '+' || all[digits] == '-'))
        {
            digits++;
        }
        if (digits < all.size() && all[digits] >= '0' && all[digits] <= '9')
        {
            end = digits;
            while (end < all.size() && all[end] >= '0' && all[end] <= '9')
            {
                end++;
            }
        }
    }
    std::istringstream number(all.substr(0, end));
    number.imbue(std::locale::classic());
    double value = 0;
    number >> value;
    if (end == 0 || number.fail() || !number.eof())
    {
        throw std::invalid_argument("'" + all + "' is not a number with a unit, such as " +
                                    example);
    }
    if (!std::isfinite(value))
    {
        throw std::invalid_argument("'" + all + "' is too large");
    }
    std::string unit = all.substr(end);
    if (!unit.empty() && unit.front() == ' ')
    {
        unit.erase(0, 1);
    }
    if (unit.empty())
    {
        throw std::invalid_argument("'" + all + "' has no unit: write e.g. " + example +
                                    " (units: " + UnitNames(units) + ")");
    }
    for (const auto& candidate : units)
    {
        if (unit == candidate.name)
        {
            if (value < 0)
            {
                throw std::invalid_argument("'" + all + "' is negative");
            }
            return value * candidate.factor;
        }
    }
    throw std::invalid_argument("'" + all + "' has the unknown unit '" + unit +
                                "' (units: " + UnitNames(units) + ")");
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

/// Uses the largest of the ascending units that leaves the value at or above 1.
std::string
FormatScaled(double value, const std::vector<Unit>& ascending)
{
    const Unit* best = &ascending.front();
    for (const auto& unit : ascending)
    {
        if (std::fabs(value) >= unit.factor)
        {
            best = &unit;
        }
    }
    return Format(value / best->factor, best->name);
}

} // namespace

Duration
Duration::Seconds(double s)
{
    const double ps = s * 1e12;
    if (ps >= 9.2e18)
    {
        return Duration(INT64_MAX);
    }
    if (ps <= -9.2e18)
    {
        return Duration(INT64_MIN);
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
    return Duration::Seconds(ParseQuantity(text, g_durationUnits, "5us") * 1e-12);
}

Bytes
ParseBytes(std::string_view text)
{
    const double count = ParseQuantity(text, g_byteUnits, "80GiB");
    if (count > 9e18)
    {
        throw std::invalid_argument("'" + std::string(text) + "' is too large (at most 9e18 B)");
    }
    return Bytes(static_cast<uint64_t>(std::llround(count)));
}

BitRate
ParseBitRate(std::string_view text)
{
    return BitRate(ParseQuantity(text, g_rateUnits, "400Gbps"));
}

FlopRate
ParseFlopRate(std::string_view text)
{
    return FlopRate(ParseQuantity(text, g_flopRateUnits, "989TFLOP/s"));
}

Distance
ParseDistance(std::string_view text)
{
    return Distance(ParseQuantity(text, g_distanceUnits, "30km"));
}

std::string
ToString(Duration value)
{
    return FormatScaled(static_cast<double>(value.Ps()), g_durationUnits);
}

std::string
ToString(Bytes value)
{
    static const std::vector<Unit> units = {{"B", 1.0},
                                            {"KiB", 1024.0},
                                            {"MiB", 1048576.0},
                                            {"GiB", 1073741824.0},
                                            {"TiB", 1099511627776.0}};
    return FormatScaled(static_cast<double>(value.Count()), units);
}

std::string
ToString(BitRate value)
{
    static const std::vector<Unit> units = {{"bps", 1.0},
                                            {"kbps", 1e3},
                                            {"Mbps", 1e6},
                                            {"Gbps", 1e9},
                                            {"Tbps", 1e12},
                                            {"Pbps", 1e15}};
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

} // namespace scaleacross
