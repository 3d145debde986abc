// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PROGRAM_EVALUATOR_H
#define SCALEACROSS_PROGRAM_EVALUATOR_H

#include "core/engine/class-costs.h"
#include "core/engine/engine.h"
#include "core/engine/resource-use.h"
#include "core/program/program.h"

#include <cstdint>

namespace scaleacross
{

/// What an evaluation may leave out; the results are the same.
enum class Shortcuts : uint8_t
{
    Taken,    //!< those of Executed, stretches of bodies that have been executed before
              //!< (BodyStretches), and periods of a schedule's steady part (SteadyState)
    Executed, //!< bodies in one step (ResourceUse::StepOf), resources that hold nothing back
    None      //!< nothing: the plain event loop, as the oracle of tests
};

/// What an evaluation has executed.
struct EvaluationWork
{
    uint64_t events{0};
    uint64_t skipped{0};  //!< forwards of first chunks that it has left out, of all classes
    uint64_t repeated{0}; //!< how often stretches of a body were repeated in one event
};

/**
 * Executes the class programs of a task graph in exact event order, one representative per class
 * (rung 2 of the analytical engine), iteration after iteration until all classes have finished the
 * measured ones; fills the times of a report.
 *
 * Transfers are fluid volumes (FluidNetwork) followed by their latency; messages to one peer leave
 * in order; a collective that spans classes starts when the last of them has posted it. A body
 * whose collectives share nothing with anybody takes its uncontended sum in one event, and is
 * walked operation by operation otherwise. Where the state of a schedule's steady part repeats
 * itself, the periods that follow are left out.
 *
 * Throws RunError if no class can go on (who waits for what).
 */
EvaluationWork EvaluateProgram(const TaskGraph& graph,
                               ClassCosts& costs,
                               const ResourceUse& use,
                               const RunOptions& options,
                               RunReport& report,
                               Shortcuts shortcuts = Shortcuts::Taken);
void EvaluateProgram(const TaskGraph& graph,
                     const TransferTimes& times,
                     const RunOptions& options,
                     RunReport& report);

} // namespace scaleacross

#endif // SCALEACROSS_PROGRAM_EVALUATOR_H
