// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/gpu-curve.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <sstream>

namespace scaleacross
{

namespace
{

std::string
Trimmed(const std::string& text)
{
    const char* blank = " \t\r";
    const size_t first = text.find_first_not_of(blank);
    return first == std::string::npos
               ? ""
               : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// "256x128 1, 128x64 0.8"
std::vector<GemmTile>
ParseTiles(const std::string& text)
{
    std::vector<GemmTile> tiles;
    for (size_t begin = 0; begin <= text.size();)
    {
        const size_t comma = std::min(text.find(',', begin), text.size());
        const std::string part = Trimmed(text.substr(begin, comma - begin));
        begin = comma + 1;
        const size_t by = part.find('x');
        const size_t blank = part.find(' ');
        if (by == std::string::npos || blank == std::string::npos || by > blank)
        {
            throw ValueError(Quoted(part) + " is no tile", "256x128 1, 128x64 0.8", "");
        }
        GemmTile tile;
        tile.rows = static_cast<uint32_t>(ParseWhole(part.substr(0, by), 1, 4096));
        tile.columns =
            static_cast<uint32_t>(ParseWhole(part.substr(by + 1, blank - by - 1), 1, 4096));
        tile.efficiency = ParseNumber(Trimmed(part.substr(blank)), 0.01, 1);
        tiles.push_back(tile);
    }
    return tiles;
}

using Setter = std::function<void(GpuCurve&, const std::string&)>;

const std::map<std::string, Setter>&
Setters()
{
    const auto fraction = [](double GpuCurve::*member, double least) {
        return [member, least](GpuCurve& curve, const std::string& text) {
            curve.*member = ParseNumber(text, least, 1);
        };
    };
    static const std::map<std::string, Setter> setters = {
        {"name", [](GpuCurve& curve, const std::string& text) { curve.name = text; }},
        {"source", [](GpuCurve& curve, const std::string& text) { curve.source = text; }},
        {"gemm_efficiency", fraction(&GpuCurve::gemmEfficiency, 0.001)},
        {"fp8_efficiency", fraction(&GpuCurve::fp8Efficiency, 0)},
        {"attention_efficiency", fraction(&GpuCurve::attentionEfficiency, 0.001)},
        {"hbm_efficiency", fraction(&GpuCurve::hbmEfficiency, 0.001)},
        {"nvlink_efficiency", fraction(&GpuCurve::nvlinkEfficiency, 0.001)},
        {"kernel_gap",
         [](GpuCurve& curve, const std::string& text) { curve.kernelGap = ParseDuration(text); }},
        {"processors",
         [](GpuCurve& curve, const std::string& text) {
             curve.gemm.processors = static_cast<uint32_t>(ParseWhole(text, 1, 1U << 16));
         }},
        {"gemm_depth",
         [](GpuCurve& curve, const std::string& text) {
             curve.gemm.depth = ParseNumber(text, 0, 65536);
         }},
        {"tiles",
         [](GpuCurve& curve, const std::string& text) { curve.gemm.tiles = ParseTiles(text); }}};
    return setters;
}

} // namespace

bool
operator==(const GemmTile& a, const GemmTile& b)
{
    return a.rows == b.rows && a.columns == b.columns && a.efficiency == b.efficiency;
}

bool
operator==(const GemmCurve& a, const GemmCurve& b)
{
    return a.processors == b.processors && a.depth == b.depth && a.tiles == b.tiles;
}

double
GemmCurve::EffectiveFlops(double count, double m, double n, double k) const
{
    if (tiles.empty())
    {
        return 2 * count * m * n * k;
    }
    double least = INFINITY;
    for (const auto& tile : tiles)
    {
        const double parts = count * std::ceil(m / tile.rows) * std::ceil(n / tile.columns);
        const double waves = std::ceil(parts / processors);
        const double flops = waves * processors * 2.0 * tile.rows * tile.columns * (k + depth);
        least = std::min(least, flops / tile.efficiency);
    }
    return least;
}

GpuCurve
ParseGpuCurve(const std::string& text, const std::string& file)
{
    GpuCurve curve;
    std::map<std::string, Setter> missing = Setters();
    std::istringstream lines(text);
    size_t number = 0;
    for (std::string line; std::getline(lines, line);)
    {
        number++;
        line = Trimmed(line.substr(0, line.find('#')));
        if (line.empty())
        {
            continue;
        }
        const std::string where = file + ":" + std::to_string(number);
        const size_t colon = line.find(": ");
        if (colon == std::string::npos)
        {
            throw ConfigError(where, Quoted(line) + " is no `key: value`", "kernel_gap: 2us", "");
        }
        const std::string key = line.substr(0, colon);
        const auto setter = missing.find(key);
        if (setter == missing.end())
        {
            std::vector<std::string> keys;
            for (const auto& known : Setters())
            {
                keys.push_back(known.first);
            }
            const bool twice = Setters().count(key) > 0;
            throw ConfigError(where + " " + key,
                              twice ? "the key is given twice" : "there is no such key",
                              twice ? "once" : AnyOf(keys),
                              "");
        }
        try
        {
            setter->second(curve, Trimmed(line.substr(colon + 1)));
        }
        catch (const ValueError& error)
        {
            throw ConfigError(where + " " + key, error.Problem(), error.Allowed(), error.Remedy());
        }
        missing.erase(setter);
    }
    if (!missing.empty())
    {
        throw ConfigError(file, "the key " + missing.begin()->first + " is missing", "", "");
    }
    if (curve.kernelGap < Duration() || curve.kernelGap > Duration::Microseconds(1000))
    {
        throw ConfigError(file + " kernel_gap",
                          ToString(curve.kernelGap) + " is out of range",
                          "0s to 1ms",
                          "");
    }
    return curve;
}

const std::vector<GpuCurve>&
GpuCurves()
{
    static const std::vector<GpuCurve> curves = [] {
        std::vector<GpuCurve> parsed;
        for (const auto& file : GpuCurveFiles())
        {
            parsed.push_back(ParseGpuCurve(file.text, file.name));
        }
        return parsed;
    }();
    return curves;
}

const GpuCurve&
GpuCurveOf(const std::string& name)
{
    std::vector<std::string> names;
    for (const auto& curve : GpuCurves())
    {
        if (curve.name == name)
        {
            return curve;
        }
        names.push_back(curve.name);
    }
    const std::string nearest = Nearest(name, names);
    throw ConfigError("gpu.curve",
                      "there is no curve " + Quoted(name),
                      AnyOf(names),
                      nearest.empty() ? "" : "did you mean " + nearest + "?");
}

} // namespace scaleacross
