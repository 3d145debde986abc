// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TRAINING_HELPER_H
#define SCALEACROSS_TRAINING_HELPER_H

#include "core/engine/engine.h"

#include "ns3/application-container.h"
#include "ns3/object-factory.h"

#include <memory>
#include <string>

namespace ns3
{

class ClusterHelper;

/**
 * The training job of a scenario: a TrainingApplication for each of its ranks.
 *
 * \code
 *   ClusterHelper cluster(scenario);
 *   TrainingHelper training(scenario);
 *   training.SetAttribute("Iterations", UintegerValue(2));
 *   ApplicationContainer ranks = training.Install(cluster);
 *   Simulator::Run();
 * \endcode
 */
class TrainingHelper
{
  public:
    /// Builds the task graph of the scenario's plan. Throws ConfigError for a scenario that is
    /// wrong, and for a plan that cannot run, with the reason: it does not fit, or needs more
    /// memory than there is.
    explicit TrainingHelper(const scaleacross::Scenario& scenario);

    /// Of the applications that are installed from now on: Iterations, Record.
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /**
     * An application on the server of every rank, in their order. `cluster` is that of the same
     * scenario, and has to live as long as the run; the task graph lives as long as the
     * applications.
     *
     * Throws ConfigError if the cluster has another number of ranks.
     */
    ApplicationContainer Install(const ClusterHelper& cluster) const;

    /// What the ranks do, with names and costs.
    const scaleacross::TaskGraph& GetGraph() const;

  private:
    std::shared_ptr<const scaleacross::PreparedRun> m_run;
    ObjectFactory m_factory;
};

} // namespace ns3

#endif // SCALEACROSS_TRAINING_HELPER_H
