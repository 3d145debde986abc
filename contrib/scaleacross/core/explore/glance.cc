// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/first-look.h"
#include "core/explore/search.h"

#include <memory>

namespace scaleacross
{

namespace
{

/// Networks of whose collectives the least is found for every kind of layer; of more, only what is
/// computed counts.
constexpr size_t g_mostNetworks = 32;

} // namespace

Glance
FirstLooks(const SearchSpace& space, BoundOf engine)
{
    const auto passes = std::make_shared<const LeastPasses>(space.Networks(g_mostNetworks), engine);
    return [passes](const Scenario& scenario, PlanDepth depth, const IsWorthMore& isWorthMore) {
        return FirstLook(scenario, depth, passes.get(), isWorthMore);
    };
}

void
SetBounds(SearchOptions& options, BoundOf engine)
{
    options.filter = ClosedFormFilter(engine);
    options.glance = [engine](const SearchSpace& space) { return FirstLooks(space, engine); };
}

} // namespace scaleacross
