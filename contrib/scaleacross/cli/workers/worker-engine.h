// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WORKER_ENGINE_H
#define SCALEACROSS_WORKER_ENGINE_H

#include "cli/command.h"
#include "cli/workers/worker-process.h"
#include "core/engine/engine.h"
#include "core/store/run-store.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace scaleacross
{

/// Limits of a worker as command line options.
struct WorkerOptions
{
    std::string timeLimit{"1800s"};
    std::string memoryLimit; //!< empty: none
    Failures failures{Failures::Keep};
};

/// Adds --time-limit, --memory-limit and --retry-failed.
void AddWorkerOptions(Command command, WorkerOptions& options);

/// Throws ConfigError for a limit that is no quantity.
RunLimits LimitsOf(const WorkerOptions& options);

/**
 * An engine whose every run is a process of its own: `scaleacross run - --engine NAME` with the
 * scenario on its standard input, because ns-3 has one simulator per process and a run that crashes
 * or hangs shall not take the others along.
 *
 * A worker that crashes or runs over a limit is a Failure "crash", "memory" or "timeout". Run() may
 * be called from several threads. Domain: no timeline, which no answer has.
 */
class WorkerEngine : public Engine
{
  public:
    /// @param stop once set, running workers are killed and Run() throws Interrupted
    WorkerEngine(std::unique_ptr<Engine> engine, const std::atomic<bool>& stop);

    std::string Name() const override;
    bool UsesSeed() const override;
    std::string Fingerprint() const override;
    RunResult Run(const Scenario& scenario, const RunOptions& options) const override;

  private:
    std::unique_ptr<Engine> m_engine;
    const std::atomic<bool>& m_stop;
};

/// The engine of this name for many runs: in worker processes if it needs them. Throws as
/// MakeEngine().
std::unique_ptr<Engine> MakeSweepEngine(const std::string& name,
                                        const std::string& where,
                                        const std::atomic<bool>& stop);

/// Returns the same of each name, in their order.
std::vector<std::unique_ptr<Engine>> MakeSweepEngines(const std::vector<std::string>& names,
                                                      const std::string& where,
                                                      const std::atomic<bool>& stop);

} // namespace scaleacross

#endif // SCALEACROSS_WORKER_ENGINE_H
