// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_ENGINE_H
#define SCALEACROSS_FOREIGN_ENGINE_H

#include "core/engine/engine.h"
#include "core/io/model-document.h"

#include <string>

namespace scaleacross
{

/**
 * A model of somebody else's as an engine: it is asked for times, and all else of the report is as
 * every engine has it. So whether a plan can run and what it sends do not depend on the model.
 *
 * A report has no class's busy time, and of compute, bubble and exposed communication what the
 * model has said; what it has not is 0 (RunReport::KnowsParts()).
 */
class ForeignEngine : public Engine
{
  public:
    /// @param name what tables and the database call it
    explicit ForeignEngine(std::string name);

    std::string Name() const override;
    bool UsesSeed() const override;

    /// "refused" where the model has no time for the plan; else as PrepareRun().
    RunResult Run(const Scenario& scenario, const RunOptions& options) const override;

  protected:
    /// What the model says of a scenario. Throws RunError where it says nothing that can be used.
    /// @param left of the wall time of the options' limits: that less what preparing has taken
    virtual ModelAnswer Ask(const Scenario& scenario,
                            const PreparedRun& run,
                            const RunOptions& options,
                            Duration left) const = 0;

  private:
    std::string m_name;
};

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_ENGINE_H
