// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_GPU_CURVE_H
#define SCALEACROSS_GPU_CURVE_H

#include "core/base/field.h"
#include "core/base/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// A part of a GEMM's result that one processor computes at a time.
struct GemmTile
{
    uint32_t rows{0};
    uint32_t columns{0};
    double efficiency{0}; //!< of the asymptote, (0, 1]: small tiles load more for each FLOP
};

bool operator==(const GemmTile& a, const GemmTile& b);

/// Tiles as text, "256x128 1, 128x64 0.8": rows x columns and efficiency. Throws ValueError.
std::vector<GemmTile> ParseTiles(const std::string& text);
std::string ToString(const std::vector<GemmTile>& tiles);

/// What ParseTiles() reads, for messages.
constexpr const char* kTilesAllowed = "256x128 1, 128x64 0.8";

/**
 * How the efficiency of GEMMs depends on their size.
 *
 * A result of m x n is cut into tiles, which the processors compute in waves; of the tiles given,
 * the one that is done first is taken. With the inner dimension k,
 *
 *     T = waves x processors x 2 rows columns (k + depth) / (peak x asymptote x tile efficiency),
 *     waves = ceil(ceil(m / rows) ceil(n / columns) / processors).
 *
 * `depth` is what a tile costs before its first and after its last multiplication, in steps of k.
 * Without tiles every GEMM runs at the asymptote.
 *
 * Left out: split-k and stream-k kernels, L2 misses, clocks that depend on the load.
 *
 * Worked case: 108 processors, one tile of 128 x 256, depth 64, 1,024 x 4,096 x 1,024: 128 tiles
 * are 2 waves of 108, 216 x 2 x 128 x 256 x 1,088 = 15.4 GFLOP in place of 8.59: 0.558 of the
 * asymptote.
 */
struct GemmCurve
{
    uint32_t processors{0};
    double depth{0};
    std::vector<GemmTile> tiles;

    /// FLOPs in the place of 2 m n k that run at the asymptote in the same time, for `count` equal
    /// products that one kernel computes (a grouped or batched GEMM).
    double EffectiveFlops(double count, double m, double n, double k) const;
};

bool operator==(const GemmCurve& a, const GemmCurve& b);

/// What the kernels of one generation of GPUs achieve. A study names one as the `curve` of a GPU.
struct GpuCurve
{
    double gemmEfficiency{0};
    double fp8Efficiency{0};
    double fp4Efficiency{0};
    double attentionEfficiency{0};
    double hbmEfficiency{0};
    double scaleUpEfficiency{0};
    Duration kernelGap;
    GemmCurve gemm;

    /// All of them have to be given, but for FP8 and FP4, which not all hardware has.
    static const FieldTable<GpuCurve>& Fields();
};

} // namespace scaleacross

#endif // SCALEACROSS_GPU_CURVE_H
