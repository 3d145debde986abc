// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_TRAFFIC_HELPER_H
#define SCALEACROSS_RDMA_TRAFFIC_HELPER_H

#include "core/work/traffic/flow-sizes.h"
#include "rdma-nic-container.h"

#include "ns3/application-container.h"

#include <cstdint>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * Background traffic: RDMA flows of published sizes that begin as a Poisson process.
 *
 * \code
 *   RdmaTrafficHelper background("web-search", 0.3);
 *   ApplicationContainer sources = background.Install(fabric, fabric.Nics());
 *   sources.Start(Seconds(0));
 *   sources.Stop(MilliSeconds(5)); // no flow begins from then on
 * \endcode
 *
 * Every NIC begins flows at the rate
 *
 *     load x rate of the NIC / (8 x mean size)   per second
 *
 * so that the payload it is asked to send is that part of its rate; each goes to another NIC,
 * all as often. Distributions are web-search, data-mining and hadoop (data/flow-sizes, with their
 * sources), or your own.
 *
 * Worked case: NICs of 100 Gb/s, load 0.3, flows of 1.5 MB in the mean: 2,500 flows a second.
 */
class RdmaTrafficHelper
{
  public:
    /// Throws ConfigError for an unknown distribution, or a load that is not in (0, 1].
    RdmaTrafficHelper(const std::string& distribution, double load);
    RdmaTrafficHelper(scaleacross::FlowSizes sizes, double load);

    /// Flows of each NIC; 0, the default: any number.
    void SetMaxFlows(uint64_t flows);

    /**
     * An RdmaTrafficApplication on the node of every NIC. The fabric has to live as long as the
     * run; its routes are installed. Flows have the attributes that the fabric gives connections
     * and queue pairs now, and are labelled "background" unless RdmaConnection::Label has been set.
     *
     * Throws ConfigError if a NIC has nobody to send to, or no wire.
     */
    ApplicationContainer Install(FabricHelper& fabric, const RdmaNicContainer& nics) const;
    /// From some NICs to others, none to itself.
    ApplicationContainer Install(FabricHelper& fabric,
                                 const RdmaNicContainer& from,
                                 const RdmaNicContainer& to) const;

    /// Fixes the random streams of what Install has made; returns how many are used.
    static int64_t AssignStreams(const ApplicationContainer& sources, int64_t stream);

  private:
    scaleacross::FlowSizes m_sizes;
    double m_load;
    uint64_t m_maxFlows{0};
};

} // namespace ns3

#endif // SCALEACROSS_RDMA_TRAFFIC_HELPER_H
