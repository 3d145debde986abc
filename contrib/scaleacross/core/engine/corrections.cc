// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/corrections.h"

#include "core/base/errors.h"

#include <algorithm>
#include <cmath>
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
Corrections::Of(const OperationKind& kind, uint32_t members, Bytes bytes) const
{
    constexpr double kSame = 1e-6; // octaves: the row itself outweighs all others
    double weights = 0;
    double value = 0;
    double low = 0;
    double high = 0;
    for (const CorrectionRow& row : m_rows)
    {
        const double distance = std::hypot(OctavesBetween(static_cast<double>(bytes.Count()),
                                                          static_cast<double>(row.bytes.Count())),
                                           OctavesBetween(members, row.members));
        if (!(row.kind == kind) || distance > kReach)
        {
            continue;
        }
        const double weight = 1.0 / std::max(distance * distance, kSame * kSame);
        weights += weight;
        value += weight * std::log(row.factor.value);
        low += weight * std::log(row.factor.low);
        high += weight * std::log(row.factor.high);
    }
    if (weights == 0)
    {
        return std::nullopt;
    }
    return Factor{std::exp(value / weights), std::exp(low / weights), std::exp(high / weights)};
}

} // namespace scaleacross
