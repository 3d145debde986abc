// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LAYER_SPLIT_H
#define SCALEACROSS_LAYER_SPLIT_H

#include "core/base/errors.h"
#include "core/spec/model-spec.h"
#include "core/spec/parallel-plan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

/// The layers of one virtual stage, a position of the pipeline. It may have none. The last has the
/// modules of multi-token prediction as well, which are counted as layers behind the last one.
struct StageLayers
{
    uint32_t first{0};
    uint32_t count{0};
    bool embedding{false}; //!< the token embedding precedes the first layer
    bool head{false};      //!< the output head and loss follow the last
};

/**
 * What is dealt out to the positions of a pipeline, in this order: the embedding, if the plan
 * counts it as a layer, the layers, and the head, if the plan counts that. Whoever deals gives
 * every position at least one of them.
 */
class LayerItems
{
  public:
    LayerItems(const ModelSpec& model, const ParallelPlan& plan)
        : m_layers(model.layers),
          m_modules(model.mtpLayers),
          m_before(plan.embeddingAsLayer ? 1 : 0),
          m_behind(plan.lossAsLayer ? 1 : 0)
    {
    }

    uint32_t Size() const
    {
        return m_before + m_layers + m_behind;
    }

    /// Items first .. end-1 as position `position` of `positions`. The first has the embedding and
    /// the last the head, counted or not.
    StageLayers At(uint32_t position, uint32_t positions, uint32_t first, uint32_t end) const;

  private:
    uint32_t LayerOf(uint32_t item) const;

    uint32_t m_layers;
    uint32_t m_modules;
    uint32_t m_before;
    uint32_t m_behind;
};

/**
 * Splits a model over the p v positions of a pipeline, as ParallelPlan::layers says, or evenly.
 *
 * Evenly: every position gets floor(L / pv) layers; the remaining ones go to the middle positions
 * first, so that the first and the last, which also hold embedding and head, get the fewest (Llama
 * 3: one layer removed from the first and last stage; 126 layers over 16 give 7, 14 x 8, 7). What
 * counts as a layer is dealt out with them. Empty where CheckLayers() refuses.
 *
 * Worked case: 126 layers over 16 x 8 = 128 positions, embedding and loss counted: one each, so
 * that the first has only the embedding and the last only the head.
 */
std::vector<StageLayers> SplitLayers(const ModelSpec& model, const ParallelPlan& plan);

/// Infeasible ("layers"): fewer layers, and what counts as such, than positions; or counts of
/// ParallelPlan::layers that are not as many as the positions, or not in sum the model's layers.
std::optional<Infeasible> CheckLayers(const ModelSpec& model, const ParallelPlan& plan);

} // namespace scaleacross

#endif // SCALEACROSS_LAYER_SPLIT_H
