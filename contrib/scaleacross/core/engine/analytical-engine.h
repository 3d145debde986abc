// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ANALYTICAL_ENGINE_H
#define SCALEACROSS_ANALYTICAL_ENGINE_H

#include "core/engine/engine.h"

namespace scaleacross
{

/// The exact event order of the class programs under the alpha-beta network model (rung 2).
class AnalyticalEngine : public Engine
{
  public:
    std::string Name() const override;
    bool UsesSeed() const override;
    uint32_t ResultVersion() const override;
    RunResult Run(const Scenario& scenario, const RunOptions& options) const override;
};

/**
 * Times of a plan by closed forms, without building its programs: microseconds each.
 *
 * `bound` <= `estimate`, and `bound` <= the iteration time of every engine: it is admissible.
 */
struct ClosedForm
{
    Duration bound;    //!< no engine can be faster: busiest stage's compute, least transfer per cut
    Duration estimate; //!< rung 1
};

/// Rung 1. Infeasible exactly where PrepareRun is.
std::variant<ClosedForm, Infeasible> EvaluateClosedForm(const Scenario& scenario);

} // namespace scaleacross

#endif // SCALEACROSS_ANALYTICAL_ENGINE_H
