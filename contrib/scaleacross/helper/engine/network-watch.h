// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NETWORK_WATCH_H
#define SCALEACROSS_NETWORK_WATCH_H

#include "core/engine/series-sampler.h"
#include "wire-resources.h"

#include "ns3/event-id.h"
#include "ns3/job-clock.h"

#include <vector>

namespace ns3
{

/**
 * Samples what a cluster's network does while a job runs: loads of links by name
 * (scaleacross::NamedLinks), bytes in the switches of a site ("east queues", "hub queues"), and
 * how often packets were sent again ("retransmissions"), switches paused a neighbour ("pauses") and
 * packets were lost ("drops").
 *
 * Samples are at times of the simulator, and stand at those of the job. They change no result;
 * switches that run ahead are held at them (FabricHelper::HoldAt), but for the first and the last,
 * of which they learn too late: within a wire's delay of Begin() and End() a figure may be early by
 * that.
 */
class NetworkWatch
{
  public:
    /// All have to outlive it.
    NetworkWatch(ClusterHelper& helper,
                 const scaleacross::ClusterSpec& cluster,
                 const WireResources& resources,
                 Ptr<JobClock> clock);
    ~NetworkWatch();
    NetworkWatch(const NetworkWatch&) = delete;
    NetworkWatch& operator=(const NetworkWatch&) = delete;

    /// The measured iterations begin.
    void Begin();

    /// Takes the last sample: what has been found.
    scaleacross::NetworkSeries End();

  private:
    scaleacross::Duration Now() const;
    std::vector<double> Totals() const;
    void Sample();
    void Plan();

    ClusterHelper& m_helper;
    const WireResources& m_resources;
    Ptr<JobClock> m_clock;
    scaleacross::NamedLinks m_links;
    uint32_t m_sites;
    scaleacross::SeriesSampler m_sampler;
    Time m_reach;     //!< no switch runs further ahead
    Time m_announced; //!< samples up to here have been announced
    EventId m_event;
};

} // namespace ns3

#endif // SCALEACROSS_NETWORK_WATCH_H
