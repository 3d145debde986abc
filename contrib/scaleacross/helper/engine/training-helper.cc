// SPDX-License-Identifier: GPL-2.0-only

#include "training-helper.h"

#include "cluster-helper.h"
#include "core/base/errors.h"

#include "ns3/node.h"
#include "ns3/training-application.h"

#include <utility>
#include <variant>

namespace ns3
{

using namespace scaleacross;

TrainingHelper::TrainingHelper(const Scenario& scenario)
{
    scenario.Validate();
    auto prepared = PrepareRun(scenario);
    if (const auto* no = std::get_if<Infeasible>(&prepared))
    {
        throw ConfigError("plan",
                          "it cannot run (" + no->reason + "): " + no->detail,
                          "a plan that fits the cluster and its memory",
                          "scaleacross explore finds one");
    }
    m_run = std::make_shared<const PreparedRun>(std::move(std::get<PreparedRun>(prepared)));
    m_factory.SetTypeId(TrainingApplication::GetTypeId());
}

void
TrainingHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

ApplicationContainer
TrainingHelper::Install(const ClusterHelper& cluster) const
{
    if (cluster.GetRanks() != GetGraph().ranks)
    {
        throw ConfigError("TrainingHelper::Install",
                          "the cluster has " + std::to_string(cluster.GetRanks()) +
                              " GPUs, the job " + std::to_string(GetGraph().ranks) + " ranks",
                          "the cluster of the same scenario",
                          "");
    }
    ApplicationContainer applications;
    for (Rank rank = 0; rank < GetGraph().ranks; rank++)
    {
        auto application = m_factory.Create<TrainingApplication>();
        application->SetRank({m_run, &m_run->graph}, rank, cluster.GetTransport());
        cluster.GetNode(rank)->AddApplication(application);
        applications.Add(application);
    }
    return applications;
}

const TaskGraph&
TrainingHelper::GetGraph() const
{
    return m_run->graph;
}

} // namespace ns3
