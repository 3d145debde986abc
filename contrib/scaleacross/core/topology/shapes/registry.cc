// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/shapes/registry.h"

#include "core/base/errors.h"

#include <map>
#include <string>

namespace scaleacross
{

std::shared_ptr<const FabricShape>
ShapeOf(const BuildingSpec& building)
{
    using Maker = std::shared_ptr<const FabricShape> (*)(const BuildingSpec&);
    static const std::map<std::string, Maker> makers = {
        {"clos", MakeClos},
        {"full-mesh", MakeFullMesh},
    };
    const auto maker = makers.find(building.fabric.shape.Name());
    SCALEACROSS_INVARIANT(maker != makers.end(), building.fabric.shape.Name() + " is built here");
    return maker->second(building);
}

} // namespace scaleacross
