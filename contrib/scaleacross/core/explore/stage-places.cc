// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/stage-places.h"

#include "core/pipeline/pipeline-shape.h"
#include "core/topology/rank-layout.h"
#include "core/work/cost/schedule-times.h"
#include "core/work/graph/task-graph-builder.h"
#include "core/work/partition/balance.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace scaleacross
{

std::vector<std::string>
StagePlaces::BuildingsOf(uint32_t stage) const
{
    std::vector<std::string> names;
    for (const StagesOfBuilding& one : buildings)
    {
        if (std::binary_search(one.stages.begin(), one.stages.end(), stage))
        {
            names.push_back(one.building);
        }
    }
    return names;
}

std::optional<StagePlaces>
FindStagePlaces(const Scenario& scenario)
{
    const auto laidOut = LayOut(scenario.Job().plan, scenario.cluster);
    const auto* layout = std::get_if<RankLayout>(&laidOut);
    if (layout == nullptr || CheckJob(scenario, *layout))
    {
        return std::nullopt;
    }
    const PipelineShape shape = PipelineShapeOf(scenario.Job());
    const std::vector<StageLayers> positions = LayersOf(scenario, *layout);
    StagePlaces places;
    places.layers.resize(shape.ranks);
    for (uint32_t position = 0; position < positions.size(); position++)
    {
        places.layers[RankOf(shape, position)] += positions[position].count;
    }
    for (uint32_t b = 0; b < layout->Buildings(); b++)
    {
        StagesOfBuilding held{scenario.cluster.buildings[b].name, {}, {}};
        for (uint32_t stage = 0; stage < shape.ranks; stage++)
        {
            if (layout->StageRanksIn(b, stage) > 0)
            {
                held.stages.push_back(stage);
            }
        }
        held.memory = MemoryIn(scenario, *layout, b);
        places.buildings.push_back(std::move(held));
    }
    return places;
}

} // namespace scaleacross
