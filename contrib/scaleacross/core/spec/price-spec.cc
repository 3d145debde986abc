// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/price-spec.h"

#include "core/base/field-rows.h"

namespace scaleacross
{

double
PriceSpec::PerHour(const ClusterSpec& cluster) const
{
    double sum = static_cast<double>(cluster.Gpus()) * gpuHour;
    for (const CrossLinkSpec& span : cluster.crossLinks)
    {
        sum += span.capacity.Value() * 1e-12 * span.distance.Value() * spanTbpsKmHour;
    }
    return sum;
}

const FieldTable<PriceSpec>&
PriceSpec::Fields()
{
    using Row = FieldRows<PriceSpec>;
    // Far above any price in any currency, and far below what a double cannot add up.
    constexpr double most = 1e9;
    static const FieldTable<PriceSpec> fields = {
        Row::Number("gpu_hour", 0, most, "of a GPU for an hour", &PriceSpec::gpuHour),
        Row::Number("span_tbps_km_hour",
                    0,
                    most,
                    "of a Tb/s of a span's capacity per direction over a kilometre for an hour",
                    &PriceSpec::spanTbpsKmHour),
    };
    return fields;
}

} // namespace scaleacross
