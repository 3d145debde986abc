// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PRICE_SPEC_H
#define SCALEACROSS_PRICE_SPEC_H

#include "core/base/field.h"
#include "core/spec/cluster-spec.h"

namespace scaleacross
{

/// What a cluster costs while it is used, in one currency that nobody has to name.
struct PriceSpec
{
    double gpuHour{0};        //!< of a GPU and hour
    double spanTbpsKmHour{0}; //!< of a Tb/s of capacity of a span, a kilometre and an hour

    /// Of all GPUs and spans.
    double PerHour(const ClusterSpec& cluster) const;

    /// What a study may say of prices, in canonical order.
    static const FieldTable<PriceSpec>& Fields();
};

} // namespace scaleacross

#endif // SCALEACROSS_PRICE_SPEC_H
