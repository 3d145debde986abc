// SPDX-License-Identifier: GPL-2.0-only

#include "cluster-transport.h"

#include "core/program/program.h"
#include "nvlink-domain.h"
#include "staged-link.h"

#include "ns3/nstime.h"
#include "ns3/rdma-connection.h"

namespace ns3
{

using scaleacross::MessageCare;
using scaleacross::MessageCopy;
using scaleacross::RankMessage;

NS_OBJECT_ENSURE_REGISTERED(ClusterTransport);

namespace
{

// With staging a connection carries pieces, by number, and of the other direction what says that a
// slot is free.
constexpr uint64_t kSlotBit = 1ULL << 63;
constexpr scaleacross::Bytes kSlotBytes{32};

} // namespace

TypeId
ClusterTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ClusterTransport")
                            .SetParent<RankTransport>()
                            .SetGroupName("ScaleAcross")
                            .AddConstructor<ClusterTransport>();
    return tid;
}

ClusterTransport::ClusterTransport()
    : m_clock(Create<JobClock>())
{
}

ClusterTransport::~ClusterTransport() = default;

void
ClusterTransport::SetClock(Ptr<JobClock> clock)
{
    m_clock = clock;
}

void
ClusterTransport::SetServers(std::vector<Ptr<NvlinkDomain>> servers, uint32_t gpusPerNode)
{
    m_servers = std::move(servers);
    m_gpusPerNode = gpusPerNode;
    m_delivery.resize(m_servers.size() * gpusPerNode);
}

Ptr<NvlinkDomain>
ClusterTransport::GetServerOf(scaleacross::Rank rank) const
{
    return m_servers.at(rank / m_gpusPerNode);
}

void
ClusterTransport::SetConnectionFactory(ConnectionFactory factory)
{
    m_factory = std::move(factory);
}

void
ClusterTransport::SetTrafficClasses(const TrafficClasses& classes)
{
    m_classes = classes;
}

uint32_t
ClusterTransport::ClassOf(scaleacross::CommClass comm) const
{
    return m_classes[static_cast<size_t>(comm)];
}

void
ClusterTransport::SetFailureCallback(FailureCallback callback)
{
    m_failure = std::move(callback);
}

void
ClusterTransport::SetTrafficCallback(std::function<void()> callback)
{
    m_traffic = std::move(callback);
}

const std::vector<Ptr<RdmaConnection>>&
ClusterTransport::GetConnections() const
{
    return m_connections;
}

void
ClusterTransport::SetDelivery(scaleacross::Rank to, DeliveryCallback callback)
{
    m_delivery.at(to) = callback;
}

void
ClusterTransport::SetStagingFactory(StagingFactory factory)
{
    m_staging = std::move(factory);
}

void
ClusterTransport::SetSlotsFactory(SlotsFactory factory)
{
    m_slots = std::move(factory);
}

void
ClusterTransport::Send(scaleacross::Rank from,
                       scaleacross::Rank to,
                       scaleacross::Bytes bytes,
                       uint64_t tag,
                       const MessageCare& care)
{
    const int64_t now = m_clock->Now();
    if (AreInOneServer(from, to))
    {
        SendInside(bytes, {from, to, tag, now}, care);
        return;
    }
    Link& link = LinkWith(from, to, care);
    link.postedPs[tag] = now;
    if (care.before > scaleacross::Duration())
    {
        m_clock->Schedule(PicoSeconds(care.before.Ps()),
                          [this, raw = &link, bytes, tag] { Post(raw, bytes, tag); });
        return;
    }
    Post(&link, bytes, tag);
}

void
ClusterTransport::Post(Link* link, scaleacross::Bytes bytes, uint64_t tag)
{
    if (link->staging)
    {
        link->staging->Send(bytes, tag);
    }
    else
    {
        Transmit(*link, bytes, tag);
    }
}

void
ClusterTransport::Transmit(Link& link, scaleacross::Bytes bytes, uint64_t tag)
{
    link.connection->Send(bytes, tag);
    TellOfTraffic();
}

void
ClusterTransport::TellOfTraffic()
{
    if (m_traffic)
    {
        m_traffic();
    }
}

void
ClusterTransport::SendCopies(scaleacross::Rank from,
                             const std::vector<MessageCopy>& copies,
                             scaleacross::Bytes bytes,
                             const MessageCare& care)
{
    const int64_t now = m_clock->Now();
    std::vector<NvlinkDomain::Copy> locals;
    for (const MessageCopy& copy : copies)
    {
        const RankMessage message{from, copy.to, copy.tag, now};
        locals.push_back(
            {copy.to % m_gpusPerNode, Callback<void>([this, message] { Deliver(message); })});
    }
    m_servers[from / m_gpusPerNode]->SendCopies(from % m_gpusPerNode, locals, bytes, care);
}

void
ClusterTransport::SendCredit(scaleacross::Rank from, scaleacross::Rank to, uint64_t tag)
{
    const int64_t now = m_clock->Now();
    if (AreInOneServer(from, to))
    {
        SendInside(scaleacross::kCreditBytes, {from, to, tag, now});
        return;
    }
    const uint32_t trafficClass = ClassOf(scaleacross::CommClass::Pipeline);
    const LinkKey key{from, to, trafficClass};
    auto link = m_creditLinks.find(key);
    if (link == m_creditLinks.end())
    {
        link = m_creditLinks.emplace(key, MakeLink(from, to, trafficClass)).first;
    }
    link->second->postedPs[tag] = now;
    Transmit(*link->second, scaleacross::kCreditBytes, tag);
}

bool
ClusterTransport::AreInOneServer(scaleacross::Rank from, scaleacross::Rank to) const
{
    return from / m_gpusPerNode == to / m_gpusPerNode;
}

void
ClusterTransport::SendInside(scaleacross::Bytes bytes,
                             const RankMessage& message,
                             const MessageCare& care)
{
    m_servers[message.from / m_gpusPerNode]->Send(
        message.from % m_gpusPerNode,
        message.to % m_gpusPerNode,
        bytes,
        Callback<void>([this, message] { Deliver(message); }),
        care);
}

ClusterTransport::Link&
ClusterTransport::LinkBetween(scaleacross::Rank from, scaleacross::Rank to, uint32_t trafficClass)
{
    const LinkKey key{from, to, trafficClass};
    auto link = m_links.find(key);
    if (link == m_links.end())
    {
        link = m_links.emplace(key, MakeLink(from, to, trafficClass)).first;
        if (m_staging)
        {
            Stage(link->second.get(), m_staging(from, to));
        }
    }
    return *link->second;
}

ClusterTransport::Link&
ClusterTransport::LinkWith(scaleacross::Rank from, scaleacross::Rank to, const MessageCare& care)
{
    const uint32_t trafficClass = ClassOf(care.comm);
    if (care.slots.slots == 0 || !m_slots)
    {
        return LinkBetween(from, to, trafficClass);
    }
    const auto [link, isNew] =
        m_slotLinks[{care.slots, care.tree}].try_emplace(LinkKey{from, to, trafficClass},
                                                         std::unique_ptr<Link>());
    if (isNew)
    {
        if (const Ptr<StagedLink> staging = m_slots(from, to, care.slots))
        {
            link->second = MakeLink(from, to, trafficClass);
            link->second->credits = MakeLink(to, from, trafficClass);
            link->second->credits->credited = staging;
            Stage(link->second.get(), staging);
        }
    }
    return link->second ? *link->second : LinkBetween(from, to, trafficClass);
}

std::unique_ptr<ClusterTransport::Link>
ClusterTransport::MakeLink(scaleacross::Rank from, scaleacross::Rank to, uint32_t trafficClass)
{
    auto link = std::make_unique<Link>();
    link->from = from;
    link->to = to;
    link->trafficClass = trafficClass;
    link->connection = m_factory(from, to, trafficClass);
    m_connections.push_back(link->connection);
    Link* raw = link.get();
    link->connection->SetDeliveryCallback(
        [this, raw](scaleacross::Bytes /* bytes */, uint64_t tag) { Arrived(raw, tag); });
    link->connection->SetFailureCallback(
        [this, raw](const std::string& reason) { Failed(raw, reason); });
    return link;
}

void
ClusterTransport::Stage(Link* link, const Ptr<StagedLink>& staging)
{
    link->staging = staging;
    link->staging->Connect(
        [this, link](scaleacross::Bytes bytes, uint64_t number) { Transmit(*link, bytes, number); },
        [this, link] {
            Link& back = link->credits ? *link->credits
                                       : LinkBetween(link->to, link->from, link->trafficClass);
            Transmit(back, kSlotBytes, kSlotBit);
        },
        [this, link](uint64_t tag) { Delivered(link, tag); });
}

void
ClusterTransport::Arrived(Link* link, uint64_t tag)
{
    TellOfTraffic();
    if (link->credited)
    {
        link->credited->CreditArrived();
    }
    else if (!link->staging)
    {
        Delivered(link, tag);
    }
    else if ((tag & kSlotBit) != 0)
    {
        LinkBetween(link->to, link->from, link->trafficClass).staging->CreditArrived();
    }
    else
    {
        link->staging->PieceArrived(tag);
    }
}

void
ClusterTransport::Delivered(Link* link, uint64_t tag)
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
    const auto dispose = [](const Links& links) {
        for (const auto& [key, link] : links)
        {
            if (link && link->staging)
            {
                link->staging->Dispose();
            }
        }
    };
    dispose(m_links);
    for (const auto& [slots, links] : m_slotLinks)
    {
        dispose(links);
    }
    m_slotLinks.clear();
    m_links.clear();
    m_creditLinks.clear();
    m_delivery.clear();
    m_servers.clear();
    m_factory = nullptr;
    m_failure = nullptr;
    m_staging = nullptr;
    m_slots = nullptr;
    m_traffic = nullptr;
    m_connections.clear();
    RankTransport::DoDispose();
}

} // namespace ns3
