// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/gpu-curve.h"

#include "core/base/errors.h"
#include "core/base/field-rows.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <set>
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
            throw ValueError(Quoted(part) + " is no tile", kTilesAllowed, "");
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

std::string
ToString(const std::vector<GemmTile>& tiles)
{
    std::string text;
    for (const auto& tile : tiles)
    {
        text += (text.empty() ? "" : ", ") + std::to_string(tile.rows) + "x" +
                std::to_string(tile.columns) + " " + NumberText(tile.efficiency);
    }
    return text;
}

const FieldTable<GpuCurve>&
GpuCurve::Fields()
{
    using Row = FieldRows<GpuCurve>;
    using C = GpuCurve;
    static const FieldTable<GpuCurve> fields = {
        Row::Text("name", "as a study has it", &C::name),
        Row::Text("source", "where the values are from", &C::source),
        Row::Number("gemm_efficiency",
                    0.001,
                    1,
                    "asymptote of GEMMs over the matrix peak",
                    &C::gemmEfficiency),
        Row::Number("fp8_efficiency",
                    0,
                    1,
                    "the same over the FP8 peak; 0 without FP8",
                    &C::fp8Efficiency),
        Row::Number("attention_efficiency",
                    0.001,
                    1,
                    "flash attention over the BF16 peak",
                    &C::attentionEfficiency),
        Row::Number("hbm_efficiency",
                    0.001,
                    1,
                    "element-wise kernels over the bandwidth of the HBM",
                    &C::hbmEfficiency),
        Row::Number("nvlink_efficiency",
                    0.001,
                    1,
                    "collectives over the links inside the server",
                    &C::nvlinkEfficiency),
        Row::Amount("kernel_gap",
                    Duration(),
                    Duration::Microseconds(1000),
                    "from the end of a kernel to the beginning of the next",
                    &C::kernelGap),
        Row::Whole("processors",
                   1,
                   1U << 16,
                   "that compute a tile each at a time",
                   SCALEACROSS_MEMBER(gemm.processors)),
        Row::Number("gemm_depth",
                    0,
                    65536,
                    "what a tile costs before and after its multiplications, in steps of k",
                    SCALEACROSS_MEMBER(gemm.depth)),
        Row::Make("tiles",
                  kTilesAllowed,
                  "rows x columns that a processor computes at a time, and their efficiency",
                  SCALEACROSS_MEMBER(gemm.tiles),
                  ParseTiles,
                  [](const std::vector<GemmTile>& tiles) { return ToString(tiles); }),
    };
    return fields;
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
    std::set<std::string> given;
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
        const Field<GpuCurve>* field = FindField(GpuCurve::Fields(), key);
        const bool twice = !given.insert(key).second;
        if (field == nullptr || twice)
        {
            throw ConfigError(where + " " + key,
                              twice ? "the key is given twice" : "there is no such key",
                              twice ? "once" : AnyOf(KeysOf(GpuCurve::Fields())),
                              "");
        }
        try
        {
            field->set(curve, Trimmed(line.substr(colon + 1)));
        }
        catch (const ConfigError& error)
        {
            throw error.At(where + " " + key);
        }
    }
    for (const auto& field : GpuCurve::Fields())
    {
        if (given.count(field.key) == 0)
        {
            throw ConfigError(file, "the key " + field.key + " is missing", "", "");
        }
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
