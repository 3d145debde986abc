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

/// The same, of which nothing is known but whether it can run.
std::variant<ClosedForm, Infeasible>
WithoutBound(std::variant<ClosedForm, Infeasible> found)
{
    if (auto* form = std::get_if<ClosedForm>(&found))
    {
        form->bound = Duration();
    }
    return found;
}

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

void
SetNoBounds(SearchOptions& options)
{
    // What is not worth more by its bound says less of itself, and so they are always asked all.
    options.filter = [filter = ClosedFormFilter()](const Scenario& scenario,
                                                   const IsWorthMore& /* isWorthMore */) {
        return WithoutBound(filter(scenario, Always));
    };
    options.glance = [](const SearchSpace& space) -> Glance {
        return [glance = FirstLooks(space)](const Scenario& scenario,
                                            PlanDepth depth,
                                            const IsWorthMore& /* isWorthMore */) {
            return WithoutBound(glance(scenario, depth, Always));
        };
    };
}

} // namespace scaleacross
