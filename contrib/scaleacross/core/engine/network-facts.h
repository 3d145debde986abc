// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NETWORK_FACTS_H
#define SCALEACROSS_NETWORK_FACTS_H

#include "core/engine/known-costs.h"
#include "core/engine/stage-switches.h"
#include "core/spec/scenario.h"
#include "core/topology/cluster-paths.h"
#include "core/topology/cut-share.h"
#include "core/topology/rank-layout.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace scaleacross
{

/// On which switches with cuts the stages of a layout are, by level.
using StageFabric = std::vector<StageSwitches>;

/// What cluster and events of a scenario alone decide, so that all plans of a search share it.
struct NetworkFacts
{
    /// Throws ConfigError where CutsLeft does.
    explicit NetworkFacts(const Scenario& scenario);

    ClusterPaths paths;
    CutsLeft cuts;
    mutable KnownCosts costs; //!< what plans have found out

    /// Where the stages of a layout of the scenario's cluster are, on switches that are told apart
    /// by `period` (StageSwitches). Threads may ask at once.
    std::shared_ptr<const StageFabric> StagesOf(const ClusterSpec& cluster,
                                                const RankLayout& layout,
                                                uint32_t period) const;

  private:
    // Many plans of a search have the same pipeline.
    mutable std::mutex m_mutex;
    mutable std::map<std::vector<uint32_t>, std::shared_ptr<const StageFabric>> m_stages;
};

/// Keeps the facts of the last scenario that it was asked for. Threads may share it.
class NetworkFactsCache
{
  public:
    /// Throws as NetworkFacts does.
    std::shared_ptr<const NetworkFacts> Of(const Scenario& scenario);

  private:
    std::mutex m_mutex;
    ClusterSpec m_cluster; //!< whose facts they are
    std::vector<EventSpec> m_events;
    std::shared_ptr<const NetworkFacts> m_facts;
};

} // namespace scaleacross

#endif // SCALEACROSS_NETWORK_FACTS_H
