// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_SHAPE_WORDS_H
#define SCALEACROSS_FABRIC_SHAPE_WORDS_H

#include "core/base/word.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What is known of how the switches of a building are joined, before anything is built of them.
/// What is built is a FabricShape (core/topology/shapes).
struct ShapeFacts : WordFacts
{
    /// Zones with spines of their own below aggregation switches are possible.
    bool zones;
    /// Packets may pass leaves that are neither their source's nor their destination's, so that
    /// leaves wait for each other in circles where they may not drop. From three leaves on.
    bool detours;
    /// For one port of the NICs: every leaf has a link to each other one.
    uint32_t mostLeaves;
};

/// How the switches of a building are joined.
using Shape = Word<ShapeFacts>;

template <>
const std::vector<const ShapeFacts*>& Shape::Rows();
extern template class Word<ShapeFacts>;

} // namespace scaleacross

#endif // SCALEACROSS_FABRIC_SHAPE_WORDS_H
