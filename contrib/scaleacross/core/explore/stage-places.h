// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STAGE_PLACES_H
#define SCALEACROSS_STAGE_PLACES_H

#include "core/spec/scenario.h"
#include "core/work/memory/memory.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// The stages of a pipeline of which a building has ranks.
struct StagesOfBuilding
{
    std::string building;
    std::vector<uint32_t> stages;  //!< rising
    std::vector<MemoryUse> memory; //!< of a GPU there, by these stages
};

/// Where a plan's stages are, and how much of the model each is.
struct StagePlaces
{
    std::vector<uint32_t> layers; //!< by stage, of all of its chunks
    std::vector<StagesOfBuilding> buildings;

    /// Of a stage, by name.
    std::vector<std::string> BuildingsOf(uint32_t stage) const;
};

/// None of a plan that cannot be laid out, nor of one that CheckJob() refuses.
std::optional<StagePlaces> FindStagePlaces(const Scenario& scenario);

} // namespace scaleacross

#endif // SCALEACROSS_STAGE_PLACES_H
