// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ENGINE_H
#define SCALEACROSS_ENGINE_H

#include "core/engine/run-report.h"
#include "core/engine/slice.h"
#include "core/spec/scenario.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/// How far a run has come.
struct RunProgress
{
    Duration simulated;    //!< time on the clock of the simulation
    uint32_t iteration{0}; //!< that the farthest rank is in, from 1
};

/// What a run may take before it is given up, which is a RunError.
struct RunLimits
{
    Duration wallTime{Duration::Max()}; //!< Max(): no limit
    Bytes memory; //!< address space of a run that has a process of its own; 0: no limit
};

/// Ranks whose timeline is recorded.
enum class Timelines : uint8_t
{
    None,
    OfClasses, //!< the representative of each class of ranks
    OfAll,     //!< each that the engine runs, for as many as it stands for
};

/// How to run, as opposed to what.
struct RunOptions
{
    uint64_t seed{1};
    uint32_t warmup{1}; //!< iterations before the measured ones
    /// Measured; the mean is reported. The analytical engine measures more, up to 512, where so few
    /// were shorter than the links need for what they carried: RunReport::iterations says how many.
    uint32_t iterations{1};
    Timelines timeline{Timelines::None}; //!< whose RunReport::timeline is recorded
    /// Run this part of the plan only, once and without warm-up, whatever those say.
    std::optional<SliceSpec> slice;
    RunLimits limits;
    /// Called a few times a second by an engine that takes long, if set.
    std::function<void(const RunProgress&)> progress;
};

/// A run either reports or says why the plan cannot run.
using RunResult = std::variant<RunReport, Infeasible>;

/**
 * Something that executes the task graph of a scenario.
 *
 * Engines differ about time, never about what is sent. All check the plan against cluster and
 * memory first, in the same way (PrepareRun), so that feasibility does not depend on the engine.
 */
class Engine
{
  public:
    virtual ~Engine() = default;

    /// What tables and the database call it: "analytical", "packet".
    virtual std::string Name() const = 0;

    /// Whether two runs of one scenario can differ by seed.
    virtual bool UsesSeed() const = 0;

    /**
     * A name of all that this engine computes: one that computes something else has another. Part
     * of a stored result's key, so that no result of another model is taken for one of this.
     * SourceHash() of core/base/version.h makes it without anybody having to remember.
     */
    virtual std::string Fingerprint() const = 0;

    /**
     * Runs one job to its steady state.
     *
     * Throws ConfigError where the scenario is impossible for this engine (the message says why),
     * and RunError where the run starts but cannot finish (named reason).
     */
    virtual RunResult Run(const Scenario& scenario, const RunOptions& options) const = 0;
};

/// What every engine starts from.
struct PreparedRun
{
    RankLayout layout;
    TaskGraph graph;
    std::vector<MemoryUse> memory; //!< by stage, of the rank that has the least left
    Bytes memoryMax;               //!< that any rank holds
    bool trains{true};             //!< else it is a collective, a trace, or a slice of what trains
};

/// LayOut, CheckJob, CheckMemory and BuildTaskGraph, in that order; of a job that is a collective,
/// LayOut and BuildCollectiveGraph; of one that replays traces, LayOutTrace and BuildTraceGraph.
/// Then, if a slice is asked for, SliceOf().
std::variant<PreparedRun, Infeasible> PrepareRun(const Scenario& scenario,
                                                 const std::optional<SliceSpec>& slice = {});

/// By rank, whether it has a program.
std::vector<bool> TakingPart(const TaskGraph& graph);

/// Fills the fields of a report that do not depend on the engine: MFU, memory, bytes per class and
/// building crossings, version.
void CompleteReport(const Scenario& scenario, const PreparedRun& run, RunReport& report);

/// Payload that leaves its building in one iteration, all ranks together.
Bytes CrossBuildingBytes(const PreparedRun& run);

} // namespace scaleacross

#endif // SCALEACROSS_ENGINE_H
