// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WIRE_RESOURCES_H
#define SCALEACROSS_WIRE_RESOURCES_H

#include "core/base/units.h"
#include "core/engine/run-report.h"
#include "core/program/program.h"
#include "core/spec/cluster-spec.h"
#include "core/topology/cluster-paths.h"

#include <cstdint>
#include <vector>

namespace ns3
{

class ClusterHelper;

/**
 * What went over the links of a cluster in its iterations, by the names of the analytical engine:
 * "stage 3 NIC out", "stage 3 scale-up in", "east leaf up", "east zone down", "east to west".
 *
 * Counted are data packets with their headers, those that were sent again too, when they are put on
 * the wire; and over the scale-up network payload, when it is posted. ACKs and other frames are
 * left out. The busiest rank stands for its class, the fullest leaf or zone for those of its
 * building; the ports of a NIC, the uplinks of a leaf or zone and the lanes of a span are added up,
 * and their capacity is that of the links as they were built.
 *
 * Between Begin() and End() one rank does whole iterations. What others do in that time is as much
 * as they do in an iteration once that is steady, and before it about as much. Look-ahead counts a
 * packet up to a wire's delay before its time, or after it.
 *
 * Worked case: a NIC of 400 Gb/s sends 100 GB in five iterations of 2 s: 20 GB in each, which keep
 * it busy for 0.4 s, a share of 0.2.
 */
class WireResources
{
  public:
    /// All have to outlive it.
    WireResources(const ClusterHelper& helper,
                  const scaleacross::ClusterSpec& cluster,
                  const scaleacross::TaskGraph& graph);

    /// The measured iterations begin.
    void Begin();
    /// They are over.
    void End();

    std::vector<scaleacross::ResourceReport> Report(uint32_t iterations,
                                                    scaleacross::Duration iterationTime) const;

  private:
    /// Bytes so far: of each link there and back, then of each rank's scale-up out and in.
    std::vector<uint64_t> Count() const;

    const ClusterHelper& m_helper;
    const scaleacross::ClusterSpec& m_cluster;
    scaleacross::ClusterPaths m_paths;
    const scaleacross::TaskGraph& m_graph;
    std::vector<uint64_t> m_begin;
    std::vector<uint64_t> m_end;
};

} // namespace ns3

#endif // SCALEACROSS_WIRE_RESOURCES_H
