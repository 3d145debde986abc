// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LINK_RESOURCES_H
#define SCALEACROSS_LINK_RESOURCES_H

#include "core/engine/network-series.h"
#include "core/engine/run-report.h"
#include "core/program/program.h"
#include "core/spec/cluster-spec.h"
#include "core/spec/event-spec.h"
#include "core/topology/cluster-paths.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/parts-left.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What links of a cluster have carried, in the order of its graph; data and their headers.
struct CarriedBytes
{
    std::vector<uint64_t> links;   //!< of each link, from its end a and then from its end b
    std::vector<uint64_t> scaleUp; //!< of each rank, out and then in: payload
};

/// The difference.
CarriedBytes operator-(const CarriedBytes& a, const CarriedBytes& b);

/// Links that have one name together, whichever rank, leaf or zone they are of.
struct NamedLinks
{
    std::vector<Series> loads; //!< without values
    /// Numbers of the loads that each link counts for, in the order of CarriedBytes.
    std::vector<std::vector<uint32_t>> ofLink;
    std::vector<uint32_t> ofScaleUp;

    /// What `carried` comes to in each.
    std::vector<double> Sum(const CarriedBytes& carried) const;
};

/// The measured iterations.
struct MeasuredTime
{
    uint32_t iterations{1};
    Duration iterationTime;
    Duration begin; //!< on the clock of the run, as events have it
    Duration end;
};

/**
 * The links of a cluster by the names of the analytical engine: "stage 3 NIC out", "stage 3
 * scale-up in", "east leaf up", "east zone down", "east to west".
 *
 * The busiest rank stands for its class, the fullest leaf or zone for those of its building; the
 * ports of a NIC, the uplinks of a leaf or zone and the lanes of a span are added up, and their
 * capacity is what events leave of the links in the mean over the measured iterations.
 *
 * Worked case: a NIC of 400 Gb/s sends 100 GB in five iterations of 2 s: 20 GB in each, which keep
 * it busy for 0.4 s, a share of 0.2.
 */
class LinkResources
{
  public:
    /// All have to outlive it but the events. Throws ConfigError where TargetOf() does.
    LinkResources(const ClusterSpec& cluster,
                  const std::vector<EventSpec>& events,
                  const FabricGraph& fabric,
                  const TaskGraph& graph);

    /// What `carried` in the measured iterations comes to in each.
    std::vector<ResourceReport> Report(const CarriedBytes& carried, const MeasuredTime& time) const;

    NamedLinks ByName() const;

    /// Fills in what events leave of loads, which are those of ByName(), in each step.
    void FillLeft(NetworkSeries& series) const;

  private:
    const ClusterSpec& m_cluster;
    const FabricGraph& m_fabric;
    const TaskGraph& m_graph;
    ClusterPaths m_paths;
    RatesLeft m_left;
};

} // namespace scaleacross

#endif // SCALEACROSS_LINK_RESOURCES_H
