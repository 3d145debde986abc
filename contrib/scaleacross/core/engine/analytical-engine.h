// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ANALYTICAL_ENGINE_H
#define SCALEACROSS_ANALYTICAL_ENGINE_H

#include "core/engine/class-costs.h"
#include "core/engine/engine.h"
#include "core/engine/known-runs.h"
#include "core/engine/network-facts.h"

#include <functional>
#include <memory>

namespace scaleacross
{

/// The exact event order of the class programs under the alpha-beta network model (rung 2).
class AnalyticalEngine : public Engine
{
  public:
    std::string Name() const override;
    bool UsesSeed() const override;
    std::string Fingerprint() const override;
    RunResult Run(const Scenario& scenario, const RunOptions& options) const override;

  private:
    mutable NetworkFactsCache m_facts;
    mutable KnownRuns m_runs;
};

/// What the engine does with a run that is prepared.
/// @param change made to what transfers take before anything is computed; none: nothing
RunReport RunAnalytically(const Scenario& scenario,
                          const PreparedRun& run,
                          const RunOptions& options,
                          std::shared_ptr<const NetworkFacts> facts,
                          const std::function<void(TransferTimes&)>& change = {});

} // namespace scaleacross

#endif // SCALEACROSS_ANALYTICAL_ENGINE_H
