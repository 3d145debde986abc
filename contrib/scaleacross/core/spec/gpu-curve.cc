// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/gpu-curve.h"

#include "core/base/field-rows.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

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
        Row::Number("gemm_efficiency",
                    0.001,
                    1,
                    "asymptote of GEMMs over the matrix peak",
                    &C::gemmEfficiency)
            .Required("gemm_efficiency: 0.72"),
        Row::Number("fp8_efficiency",
                    0,
                    1,
                    "the same over the FP8 peak; 0 without FP8",
                    &C::fp8Efficiency),
        Row::Number("fp4_efficiency",
                    0,
                    1,
                    "the same over the FP4 peak; 0 without FP4",
                    &C::fp4Efficiency),
        Row::Number("attention_efficiency",
                    0.001,
                    1,
                    "flash attention over the BF16 peak",
                    &C::attentionEfficiency)
            .Required("attention_efficiency: 0.6"),
        Row::Number("hbm_efficiency",
                    0.001,
                    1,
                    "element-wise kernels over the bandwidth of the HBM",
                    &C::hbmEfficiency)
            .Required("hbm_efficiency: 0.8"),
        Row::Number("scale_up_efficiency",
                    0.001,
                    1,
                    "collectives over the scale-up bandwidth",
                    &C::scaleUpEfficiency)
            .Required("scale_up_efficiency: 0.8"),
        Row::Amount("kernel_gap",
                    Duration(),
                    Duration::Microseconds(1000),
                    "from the end of a kernel to the beginning of the next",
                    &C::kernelGap)
            .Required("kernel_gap: 2us"),
        Row::Whole("processors",
                   1,
                   1U << 16,
                   "that compute a tile each at a time",
                   SCALEACROSS_MEMBER(gemm.processors))
            .Required("processors: 132"),
        Row::Number("gemm_depth",
                    0,
                    65536,
                    "what a tile costs before and after its multiplications, in steps of k",
                    SCALEACROSS_MEMBER(gemm.depth))
            .Required("gemm_depth: 16"),
        Row::Make("tiles",
                  kTilesAllowed,
                  "rows x columns that a processor computes at a time, and their efficiency",
                  SCALEACROSS_MEMBER(gemm.tiles),
                  ParseTiles,
                  [](const std::vector<GemmTile>& tiles) { return ToString(tiles); })
            .Required("tiles: 256x128 1, 128x64 0.8"),
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

} // namespace scaleacross
