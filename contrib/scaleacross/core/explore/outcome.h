// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_OUTCOME_H
#define SCALEACROSS_OUTCOME_H

#include "core/base/errors.h"
#include "core/engine/run-report.h"
#include "core/spec/plan-fields.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>

namespace scaleacross
{

/// The reason of Infeasible where the engine refuses the scenario, which another may run.
constexpr const char* kUnsupported = "unsupported";

/// A run that started and could not finish.
struct Failure
{
    std::string reason; //!< RunError::Reason(): "error", "crash", "timeout", "range"...
    std::string detail;
};

/// Thrown by an engine that was told to stop before it had a result: nothing is stored.
class Interrupted : public std::runtime_error
{
  public:
    Interrupted()
        : std::runtime_error("interrupted")
    {
    }
};

/// What an engine made of a plan, RunError included.
using Evaluation = std::variant<RunReport, Infeasible, Failure>;

/// What becomes of a scenario that an engine refuses: kUnsupported, and all that the error says in
/// one line.
Infeasible RefusalOf(const ConfigError& error);

/// A plan that ran.
struct Ranked
{
    uint64_t index{0}; //!< its position in the order of the search; 0 for plans from elsewhere
    Plan plan;
    std::string text; //!< CanonicalText(plan)
    RunReport report;
};

} // namespace scaleacross

#endif // SCALEACROSS_OUTCOME_H
