// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WIRE_RESOURCES_H
#define SCALEACROSS_WIRE_RESOURCES_H

#include "core/base/units.h"
#include "core/engine/link-resources.h"
#include "core/program/program.h"
#include "core/spec/cluster-spec.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ns3
{

class ClusterHelper;

/**
 * What went over the links of a cluster in its iterations, by scaleacross::LinkResources.
 *
 * Counted are data packets with their headers, those that were sent again too, when they are put on
 * the wire; and over the scale-up network payload, when it is posted. ACKs and other frames are
 * left out.
 *
 * Between Begin() and End() one rank does whole iterations. What others do in that time is as much
 * as they do in an iteration once that is steady, and before it about as much. Look-ahead counts a
 * packet up to a wire's delay before its time, or after it.
 */
class WireResources
{
  public:
    /// All have to outlive it but the scenario's events.
    WireResources(const ClusterHelper& helper,
                  const scaleacross::Scenario& scenario,
                  const scaleacross::TaskGraph& graph);

    /// What was carried but not simulated: bytes that left an end of a wire so far. Without it,
    /// nothing.
    void SetLeftOut(std::function<uint64_t(std::size_t wire, std::size_t end)> leftOut);

    /// So far.
    scaleacross::CarriedBytes Count() const;

    scaleacross::NamedLinks ByName() const
    {
        return m_resources.ByName();
    }

    /// Fills in what events leave of the loads of ByName().
    void FillLeft(scaleacross::NetworkSeries& series) const
    {
        m_resources.FillLeft(series);
    }

    /// The measured iterations begin.
    void Begin(scaleacross::Duration now);
    /// They are over.
    void End(scaleacross::Duration now);

    std::vector<scaleacross::ResourceReport> Report(uint32_t iterations,
                                                    scaleacross::Duration iterationTime) const;

  private:
    const ClusterHelper& m_helper;
    scaleacross::Rank m_ranks;
    uint32_t m_gpusPerNode;
    scaleacross::LinkResources m_resources;
    bool m_others; //!< events have others send, too
    std::function<uint64_t(std::size_t wire, std::size_t end)> m_leftOut;
    scaleacross::CarriedBytes m_begin;
    scaleacross::CarriedBytes m_end;
    scaleacross::Duration m_from;
    scaleacross::Duration m_until;
};

} // namespace ns3

#endif // SCALEACROSS_WIRE_RESOURCES_H
