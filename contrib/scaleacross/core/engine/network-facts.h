// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NETWORK_FACTS_H
#define SCALEACROSS_NETWORK_FACTS_H

#include "core/spec/scenario.h"
#include "core/topology/cluster-paths.h"
#include "core/topology/cut-share.h"

#include <memory>
#include <mutex>
#include <string>

namespace scaleacross
{

/// What cluster and events of a scenario alone decide, so that all plans of a search share it.
struct NetworkFacts
{
    /// Throws ConfigError where CutsLeft does.
    explicit NetworkFacts(const Scenario& scenario);

    ClusterPaths paths;
    CutsLeft cuts;
};

/// Keeps the facts of the last scenario that it was asked for. Threads may share it.
class NetworkFactsCache
{
  public:
    /// Throws as NetworkFacts does.
    std::shared_ptr<const NetworkFacts> Of(const Scenario& scenario);

  private:
    std::mutex m_mutex;
    std::string m_key;
    std::shared_ptr<const NetworkFacts> m_facts;
};

} // namespace scaleacross

#endif // SCALEACROSS_NETWORK_FACTS_H
