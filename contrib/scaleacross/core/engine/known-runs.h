// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_KNOWN_RUNS_H
#define SCALEACROSS_KNOWN_RUNS_H

#include "core/engine/engine.h"
#include "core/engine/run-report.h"
#include "core/spec/scenario.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The reports of the last runs, for scenarios that differ from them in network.collective and
 * network.all_to_all alone and have the same collectives all the same.
 *
 * For an engine whose time depends on what the algorithms make of a scenario (its graph), not on
 * what they are called, and on no seed. Runs whose timeline is recorded, or of a slice, are not
 * kept. Threads may share one.
 *
 * Worked case: HSDP adds gradients up within shards and across buildings. Where each building is a
 * shard group, `hierarchical` and `ring` have the same two phases for that: a search that tries
 * both runs one.
 */
class KnownRuns
{
  public:
    /// The report of a run of the same work; none if there was none.
    std::optional<RunReport> Find(const Scenario& scenario,
                                  const PreparedRun& run,
                                  const RunOptions& options);

    void Keep(const Scenario& scenario,
              const PreparedRun& run,
              const RunOptions& options,
              const RunReport& report);

  private:
    struct Known
    {
        std::string scenario; //!< all but the algorithms, and how often it is run
        std::vector<uint32_t> classOf;
        std::vector<Collective> collectives;
        RunReport report;
    };

    std::mutex m_mutex;
    std::deque<Known> m_known; //!< the last ones
};

} // namespace scaleacross

#endif // SCALEACROSS_KNOWN_RUNS_H
