// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SHAPE_REGISTRY_H
#define SCALEACROSS_SHAPE_REGISTRY_H

#include "core/topology/shapes/fabric-shape.h"

#include <memory>

namespace scaleacross
{

/// The shapes there are, each in the file of its name.
std::shared_ptr<const FabricShape> MakeClos(const BuildingSpec& building);
std::shared_ptr<const FabricShape> MakeFullMesh(const BuildingSpec& building);

} // namespace scaleacross

#endif // SCALEACROSS_SHAPE_REGISTRY_H
