// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-nic-container.h"

#include "core/base/errors.h"

#include "ns3/node.h"

#include <set>
#include <string>
#include <utility>

namespace ns3
{

using scaleacross::ConfigError;

namespace
{

void
CheckNic(const Ptr<RdmaNic>& nic, size_t place)
{
    if (!nic)
    {
        throw ConfigError("RdmaNicContainer::Add",
                          "NIC " + std::to_string(place) + " is null",
                          "a NIC",
                          "make NICs by FabricHelper::AddNic");
    }
}

} // namespace

RdmaNicContainer::RdmaNicContainer(Ptr<RdmaNic> nic)
{
    Add(nic);
}

RdmaNicContainer::RdmaNicContainer(std::vector<Ptr<RdmaNic>> nics)
    : m_nics(std::move(nics))
{
    for (size_t i = 0; i < m_nics.size(); i++)
    {
        CheckNic(m_nics[i], i);
    }
}

RdmaNicContainer::RdmaNicContainer(const RdmaNicContainer& a, const RdmaNicContainer& b)
    : m_nics(a.m_nics)
{
    Add(b);
}

void
RdmaNicContainer::Add(Ptr<RdmaNic> nic)
{
    CheckNic(nic, m_nics.size());
    m_nics.push_back(nic);
}

void
RdmaNicContainer::Add(const RdmaNicContainer& others)
{
    const std::vector<Ptr<RdmaNic>> added = others.m_nics; // which may be our own
    m_nics.insert(m_nics.end(), added.begin(), added.end());
}

uint32_t
RdmaNicContainer::GetN() const
{
    return static_cast<uint32_t>(m_nics.size());
}

Ptr<RdmaNic>
RdmaNicContainer::Get(uint32_t i) const
{
    if (i >= m_nics.size())
    {
        throw ConfigError("RdmaNicContainer::Get",
                          "there is no NIC " + std::to_string(i) + " of " +
                              std::to_string(m_nics.size()),
                          m_nics.empty() ? "nothing: the container is empty"
                                         : "0 to " + std::to_string(m_nics.size() - 1),
                          "");
    }
    return m_nics[i];
}

RdmaNicContainer::Iterator
RdmaNicContainer::Begin() const
{
    return m_nics.begin();
}

RdmaNicContainer::Iterator
RdmaNicContainer::End() const
{
    return m_nics.end();
}

NetDeviceContainer
RdmaNicContainer::GetDevices() const
{
    NetDeviceContainer devices;
    for (const Ptr<RdmaNic>& nic : m_nics)
    {
        devices.Add(nic);
    }
    return devices;
}

Ptr<Node>
RdmaNicContainer::GetNode(uint32_t i) const
{
    const Ptr<Node> node = Get(i)->GetNode();
    if (!node)
    {
        throw ConfigError("RdmaNicContainer::GetNode",
                          "NIC " + std::to_string(i) + " has no node",
                          "NICs that FabricHelper::AddNic has made, before Simulator::Destroy",
                          "build the fabric again after Simulator::Destroy");
    }
    return node;
}

NodeContainer
RdmaNicContainer::GetNodes() const
{
    NodeContainer nodes;
    std::set<uint32_t> seen;
    for (uint32_t i = 0; i < GetN(); i++)
    {
        const Ptr<Node> node = GetNode(i);
        if (seen.insert(node->GetId()).second)
        {
            nodes.Add(node);
        }
    }
    return nodes;
}

} // namespace ns3
