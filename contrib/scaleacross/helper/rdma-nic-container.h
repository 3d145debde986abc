// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_NIC_CONTAINER_H
#define SCALEACROSS_RDMA_NIC_CONTAINER_H

#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/ptr.h"
#include "ns3/rdma-nic.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * NICs in an order, as NetDeviceContainer holds net devices: what helpers hand out and install on.
 *
 * \code
 *   RdmaNicContainer all(fabric.Nics());
 *   RdmaNicContainer both(buildings[0], buildings[1]);
 *   for (Ptr<RdmaNic> nic : all) ...
 * \endcode
 */
class RdmaNicContainer
{
  public:
    using Iterator = std::vector<Ptr<RdmaNic>>::const_iterator;

    RdmaNicContainer() = default;
    // Throw ConfigError for a null pointer, as Add does.
    RdmaNicContainer(Ptr<RdmaNic> nic);
    RdmaNicContainer(std::vector<Ptr<RdmaNic>> nics);
    /// Those of both, one after the other.
    RdmaNicContainer(const RdmaNicContainer& a, const RdmaNicContainer& b);

    /// Throws ConfigError for a null pointer.
    void Add(Ptr<RdmaNic> nic);
    void Add(const RdmaNicContainer& others);

    uint32_t GetN() const;
    /// Throws ConfigError if there is no NIC `i`.
    Ptr<RdmaNic> Get(uint32_t i) const;
    Iterator Begin() const;
    Iterator End() const;

    // For loops over a range.
    Iterator begin() const
    {
        return Begin();
    }

    Iterator end() const
    {
        return End();
    }

    /// The same NICs, for helpers of ns-3.
    NetDeviceContainer GetDevices() const;
    /// The node of NIC i. Throws ConfigError if it has none, as after Simulator::Destroy.
    Ptr<Node> GetNode(uint32_t i) const;
    /// Their nodes, each once, in the order of their first NIC; errors as of GetNode.
    NodeContainer GetNodes() const;

  private:
    std::vector<Ptr<RdmaNic>> m_nics;
};

} // namespace ns3

#endif // SCALEACROSS_RDMA_NIC_CONTAINER_H
