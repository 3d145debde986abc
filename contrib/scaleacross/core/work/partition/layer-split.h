// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LAYER_SPLIT_H
#define SCALEACROSS_LAYER_SPLIT_H

#include "core/spec/model-spec.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// The layers of one virtual stage.
struct StageLayers
{
    uint32_t first{0};
    uint32_t count{0};
    bool embedding{false}; //!< the token embedding precedes the first layer
    bool head{false};      //!< the output head and loss follow the last
};

/**
 * Splits a model over `virtualStages` = p v pipeline positions.
 *
 * Every position gets floor(L / pv) layers; the remaining ones go to the middle positions first, so
 * that the first and the last, which also hold embedding and head, get the fewest (Llama 3: one
 * layer removed from the first and last stage; 126 layers over 16 give 7, 14 x 8, 7). With fewer
 * layers than positions the result is empty.
 */
std::vector<StageLayers> SplitLayers(const ModelSpec& model, uint32_t virtualStages);

} // namespace scaleacross

#endif // SCALEACROSS_LAYER_SPLIT_H
