// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ANALYTICAL_ENGINE_H
#define SCALEACROSS_ANALYTICAL_ENGINE_H

#include "core/engine/engine.h"
#include "core/engine/network-facts.h"

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
};

} // namespace scaleacross

#endif // SCALEACROSS_ANALYTICAL_ENGINE_H
