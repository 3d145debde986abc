// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CORRECTED_ENGINE_H
#define SCALEACROSS_CORRECTED_ENGINE_H

#include "core/engine/corrections.h"
#include "core/engine/engine.h"
#include "core/engine/network-facts.h"

#include <functional>
#include <string>

namespace scaleacross
{

/**
 * The analytical engine with every operation between servers as much longer as Corrections say.
 *
 * A factor is one of the time without the launch of a collective: both models have that. The report
 * says how many operations are covered and which are not, and between what the iteration time lies
 * by the low and by the high ends of all factors.
 */
class CorrectedEngine : public Engine
{
  public:
    /// The corrections for a scenario's network. Throws ConfigError where there are none for it.
    using Finder = std::function<Corrections(const Scenario&)>;

    /// @param name what tables and the database call it
    /// @param set what reports call the corrections
    /// @param fingerprint of them
    CorrectedEngine(std::string name, std::string set, std::string fingerprint, Finder find);

    std::string Name() const override;
    bool UsesSeed() const override;
    std::string Fingerprint() const override;
    RunResult Run(const Scenario& scenario, const RunOptions& options) const override;

  private:
    std::string m_name;
    std::string m_set;
    std::string m_fingerprint;
    Finder m_find;
    mutable NetworkFactsCache m_facts;
};

} // namespace scaleacross

#endif // SCALEACROSS_CORRECTED_ENGINE_H
