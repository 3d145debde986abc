// SPDX-License-Identifier: GPL-2.0-only

#include "cluster-transport.h"

#include "nvlink-domain.h"
#include "rdma-connection.h"

#include "ns3/simulator.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ClusterTransport);

TypeId
ClusterTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ClusterTransport")
                            .SetParent<RankTransport>()
                            .SetGroupName("ScaleAcross")
                            .AddConstructor<ClusterTransport>();
    return tid;
}

ClusterTransport::ClusterTransport() = default;
ClusterTransport::~ClusterTransport() = default;

void
ClusterTransport::SetServers(std::vector<Ptr<NvlinkDomain>> servers, uint32_t gpusPerNode)
{
    m_servers = std::move(servers);
    m_gpusPerNode = gpusPerNode;
    m_delivery.resize(m_servers.size() * gpusPerNode);
}

void
ClusterTransport::SetConnectionFactory(ConnectionFactory factory)
{
    m_factory = std::move(factory);
}

void
ClusterTransport::SetFailureCallback(FailureCallback callback)
{
    m_failure = std::move(callback);
}

void
ClusterTransport::SetDelivery(scaleacross::Rank to, DeliveryCallback callback)
{
    m_delivery.at(to) = callback;
}

void
ClusterTransport::Send(scaleacross::Rank from,
                       scaleacross::Rank to,
                       scaleacross::Bytes bytes,
                       uint64_t tag)
{
    const int64_t now = Simulator::Now().GetPicoSeconds();
    if (from / m_gpusPerNode == to / m_gpusPerNode)
    {
        const RankMessage message{from, to, tag, now};
        m_servers[from / m_gpusPerNode]->Send(
            from % m_gpusPerNode,
            to % m_gpusPerNode,
            bytes,
            Callback<void>([this, message] { Deliver(message); }));
        return;
    }
    Link& link = LinkBetween(from, to);
    link.postedPs[tag] = now;
    link.connection->Send(bytes, tag);
}

ClusterTransport::Link&
ClusterTransport::LinkBetween(scaleacross::Rank from, scaleacross::Rank to)
{
    std::unique_ptr<Link>& link = m_links[uint64_t{from} << 32 | to];
    if (!link)
    {
        link = std::make_unique<Link>();
        link->from = from;
        link->to = to;
        link->connection = m_factory(from, to);
        Link* raw = link.get();
        link->connection->SetDeliveryCallback(
            [this, raw](scaleacross::Bytes bytes, uint64_t tag) { Delivered(raw, bytes, tag); });
        link->connection->SetFailureCallback(
            [this, raw](const std::string& reason) { Failed(raw, reason); });
    }
    return *link;
}

void
ClusterTransport::Delivered(Link* link, scaleacross::Bytes /* bytes */, uint64_t tag)
{
    const auto posted = link->postedPs.find(tag);
    const RankMessage message{link->from, link->to, tag, posted->second};
    link->postedPs.erase(posted);
    Deliver(message);
}

void
ClusterTransport::Failed(Link* link, const std::string& reason)
{
    if (m_failure)
    {
        m_failure(link->from, link->to, reason);
    }
}

void
ClusterTransport::Deliver(const RankMessage& message)
{
    m_delivery[message.to](message);
}

void
ClusterTransport::DoDispose()
{
    m_links.clear();
    m_delivery.clear();
    m_servers.clear();
    m_factory = nullptr;
    m_failure = nullptr;
    RankTransport::DoDispose();
}

} // namespace ns3
