// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/partition/layer-split.h"

#include <algorithm>
#include <string>

namespace scaleacross
{

namespace
{

uint64_t
PositionsOf(const ParallelPlan& plan)
{
    return uint64_t{plan.pp} * plan.chunks;
}

/// Items of every position where all get as many, and what remains is in the middle.
std::vector<uint32_t>
DealEvenly(uint32_t items, uint32_t positions)
{
    const uint32_t longer = items % positions;
    // An odd number of shorter positions leaves one more of them at the end: the head costs more
    // than the embedding.
    const uint32_t begin = (positions - longer) / 2;
    std::vector<uint32_t> counts(positions, items / positions);
    for (uint32_t i = begin; i < begin + longer; i++)
    {
        counts[i]++;
    }
    return counts;
}

} // namespace

uint32_t
LayerItems::LayerOf(uint32_t item) const
{
    return std::min(item - std::min(item, m_before), m_layers);
}

StageLayers
LayerItems::At(uint32_t position, uint32_t positions, uint32_t first, uint32_t end) const
{
    StageLayers layers;
    layers.first = LayerOf(first);
    layers.embedding = position == 0;
    layers.head = position + 1 == positions;
    layers.count = LayerOf(end) - layers.first + (layers.head ? m_modules : 0);
    return layers;
}

std::vector<StageLayers>
SplitLayers(const ModelSpec& model, const ParallelPlan& plan)
{
    if (CheckLayers(model, plan))
    {
        return {};
    }
    const auto positions = static_cast<uint32_t>(PositionsOf(plan));
    const bool given = plan.layers.IsGiven();
    const LayerItems items(model, given ? ParallelPlan() : plan);
    const auto counts = given ? plan.layers.Counts() : DealEvenly(items.Size(), positions);
    std::vector<StageLayers> split;
    uint32_t next = 0;
    for (uint32_t i = 0; i < positions; i++)
    {
        split.push_back(items.At(i, positions, next, next + counts[i]));
        next += counts[i];
    }
    return split;
}

std::optional<Infeasible>
CheckLayers(const ModelSpec& model, const ParallelPlan& plan)
{
    const uint64_t positions = PositionsOf(plan);
    const bool given = plan.layers.IsGiven();
    const uint32_t items = LayerItems(model, plan).Size();
    if (!given && positions > 0 && items >= positions)
    {
        return std::nullopt;
    }
    const std::string virtualStages =
        "pp x chunks = " + std::to_string(positions) + " virtual stages";
    if (!given)
    {
        const std::string counted = items > model.layers ? " (with what counts as one)" : "";
        return Infeasible{"layers",
                          std::to_string(items) + " layers" + counted + " for " + virtualStages +
                              ": lessen those, count the ends as layers "
                              "(plan.embedding_as_layer, plan.loss_as_layer), or say in "
                              "plan.layers which have none"};
    }
    const std::string said = "plan.layers " + ToString(plan.layers);
    if (plan.layers.Positions() != positions)
    {
        return Infeasible{"layers",
                          said + " is for " + std::to_string(plan.layers.Positions()) +
                              " positions, and there are " + virtualStages +
                              ": give as many numbers, 0 where there is no layer, or leave it out"};
    }
    if (plan.layers.Layers() != model.layers)
    {
        return Infeasible{"layers",
                          said + " has " + std::to_string(plan.layers.Layers()) +
                              " layers, and the model " + std::to_string(model.layers) +
                              ": let the numbers add up to that, or leave it out"};
    }
    return std::nullopt;
}

} // namespace scaleacross
