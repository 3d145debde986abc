// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/corrections.h"

#include "core/base/errors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace scaleacross
{

namespace
{

double
OctavesBetween(double a, double b)
{
    return std::log2(std::max(a, 1.0) / std::max(b, 1.0));
}

/// In octaves; infinite from what is of another kind.
double
DistanceTo(const CorrectionRow& row,
           const OperationKind& kind,
           const MemberLevels& levels,
           Bytes bytes)
{
    OperationKind same = row.kind;
    same.comm = kind.comm;
    if (!(same == kind) || row.levels.size() != levels.size())
    {
        return std::numeric_limits<double>::infinity();
    }
    double square = row.kind.comm == kind.comm ? 0.0 : 1.0;
    square += std::pow(
        OctavesBetween(static_cast<double>(bytes.Count()), static_cast<double>(row.bytes.Count())),
        2);
    for (size_t i = 0; i < levels.size(); i++)
    {
        square += std::pow(OctavesBetween(levels[i], row.levels[i]), 2);
    }
    return std::sqrt(square);
}

} // namespace

Corrections::Corrections(std::vector<CorrectionRow> rows)
    : m_rows(std::move(rows))
{
    for (const CorrectionRow& row : m_rows)
    {
        SCALEACROSS_INVARIANT(row.factor.low > 0 && row.factor.low <= row.factor.value &&
                                  row.factor.value <= row.factor.high,
                              "a factor lies outside its interval");
    }
}

std::optional<Factor>
Corrections::Of(const OperationKind& kind, const MemberLevels& levels, Bytes bytes) const
{
    constexpr double kSame = 1e-6; // octaves: the row itself outweighs all others
    double weights = 0;
    double value = 0;
    double low = 0;
    double high = 0;
    double nearest = kReach;
    for (const CorrectionRow& row : m_rows)
    {
        const double distance = DistanceTo(row, kind, levels, bytes);
        if (distance >= kReach)
        {
            continue;
        }
        nearest = std::min(nearest, distance);
        const double weight =
            (1 - distance / kReach) / std::max(distance * distance, kSame * kSame);
        weights += weight;
        value += weight * std::log(row.factor.value);
        low += weight * std::log(row.factor.low);
        high += weight * std::log(row.factor.high);
    }
    if (weights == 0)
    {
        return std::nullopt;
    }
    const double known = std::min(1.0, (kReach - nearest) / (kReach - 1));
    const double drift = kDrift * nearest;
    low /= weights;
    high /= weights;
    return Factor{std::exp(known * value / weights),
                  std::exp(std::min(low, known * low) - drift),
                  std::exp(std::max(high, known * high) + drift)};
}

} // namespace scaleacross
