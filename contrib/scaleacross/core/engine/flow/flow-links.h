// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOW_LINKS_H
#define SCALEACROSS_FLOW_LINKS_H

#include "core/engine/flow/flow-network.h"
#include "core/engine/flow/flow-paths.h"
#include "core/engine/flow/symmetry.h"
#include "core/engine/link-resources.h"
#include "core/engine/message-model.h"
#include "core/spec/scenario.h"
#include "core/topology/cluster-paths.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace scaleacross
{

/// Bytes that went inside servers, by rank.
struct ScaleUpBytes
{
    std::vector<double> out;
    std::vector<double> in;
};

/**
 * A cluster's links as resources that flows share: both directions of each, parallel ones that a
 * hash chooses from as a bundle, and what joins the GPUs of a server. Those that are alike
 * (Symmetry) are the lowest of them, which carries what each of them does.
 */
class FlowLinks
{
  public:
    /// All have to outlive it.
    FlowLinks(const Scenario& scenario,
              const FlowPaths& paths,
              const Symmetry& symmetry,
              const ClusterPaths& clusterPaths,
              const MessageModel& model);

    FlowNetwork& Network()
    {
        return m_network;
    }

    const FlowNetwork& Network() const
    {
        return m_network;
    }

    /// What may wait in front of a link before who sends to it is paused: none in a NIC, whose
    /// messages wait themselves.
    Bytes RoomAt(DirectedLink link) const;

    /// What a rank sends to its server, and what comes to it from there, which limits nothing and
    /// is only counted.
    uint32_t EgressOf(Rank rank) const;
    uint32_t IngressOf(Rank rank) const;

    /// What all ranks that are alike to the sender take of resources on such a way. `bundled`: the
    /// links of a cut as one, which are equal choices.
    std::vector<FlowUse> UsesOf(const FlowWay& way, Rank from, bool bundled);

    /// Up to now, by all ranks and links; `besides`: what went inside servers without flows.
    CarriedBytes Carried(Duration now, const ScaleUpBytes& besides) const;

  private:
    std::vector<BitRate> ResourceRates() const;
    void LetWait(uint32_t resource, const std::vector<DirectedLink>& links);
    std::vector<WayLink> FoldedLinksOf(const FlowWay& way, Rank from) const;
    uint32_t BundleOf(const std::vector<DirectedLink>& links, bool beside);

    const Scenario& m_scenario;
    const FlowPaths& m_paths;
    const Symmetry& m_symmetry;
    const ClusterPaths& m_clusterPaths;
    const MessageModel& m_model;
    FlowNetwork m_network;
    /// By their links, and whether these are counted beside it.
    std::map<std::pair<std::vector<DirectedLink>, bool>, uint32_t> m_bundles;
};

} // namespace scaleacross

#endif // SCALEACROSS_FLOW_LINKS_H
