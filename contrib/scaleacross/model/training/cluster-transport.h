// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLUSTER_TRANSPORT_H
#define SCALEACROSS_CLUSTER_TRANSPORT_H

#include "job-clock.h"
#include "rank-transport.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ns3
{

class NvlinkDomain;
class RdmaConnection;
class StagedLink;

/**
 * Ranks on servers: messages inside a server go over its NvlinkDomain, all others over an
 * RdmaConnection from the sender's NIC to the receiver's, made when first needed; each traffic
 * class has its own (SetTrafficClasses). With staging they
 * are copied through the slots of a StagedLink before and after, and the credits for these go over
 * the connection of the other direction. Messages with slots of their own (MessageCare) go through
 * a StagedLink of those, whose credits have queue pairs of their own.
 *
 * Rank r is GPU r mod gpusPerNode of server r / gpusPerNode.
 */
class ClusterTransport : public RankTransport
{
  public:
    using ConnectionFactory = std::function<
        Ptr<RdmaConnection>(scaleacross::Rank from, scaleacross::Rank to, uint32_t trafficClass)>;
    /// By what messages are for (CommClass).
    using TrafficClasses = std::array<uint32_t, scaleacross::kCommClasses>;
    /// Sender, receiver and why nothing more gets through between them.
    using FailureCallback =
        std::function<void(scaleacross::Rank, scaleacross::Rank, const std::string&)>;

    static TypeId GetTypeId();

    ClusterTransport();
    ~ClusterTransport() override;

    /// The clock of the job; without it, the Simulator's. Before the first message.
    void SetClock(Ptr<JobClock> clock);
    /// One domain per server, in order.
    void SetServers(std::vector<Ptr<NvlinkDomain>> servers, uint32_t gpusPerNode);
    /// That of a rank's server, where its number is rank mod gpusPerNode.
    Ptr<NvlinkDomain> GetServerOf(scaleacross::Rank rank) const;
    void SetConnectionFactory(ConnectionFactory factory);
    /// Before the first message: what is in different classes has connections of its own. Without
    /// it all is in class 0.
    void SetTrafficClasses(const TrafficClasses& classes);
    void SetFailureCallback(FailureCallback callback);
    /// Makes the slots of a direction; without it NICs read and write messages where they are.
    using StagingFactory =
        std::function<Ptr<StagedLink>(scaleacross::Rank from, scaleacross::Rank to)>;
    void SetStagingFactory(StagingFactory factory);
    /// Makes slots that messages ask for; nothing: between these ranks they hold nothing back.
    using SlotsFactory = std::function<Ptr<StagedLink>(scaleacross::Rank from,
                                                       scaleacross::Rank to,
                                                       const scaleacross::SlotWindow&)>;
    void SetSlotsFactory(SlotsFactory factory);

    /// Called whenever something has been posted between servers, or has arrived.
    void SetTrafficCallback(std::function<void()> callback);
    /// Those between servers that have been made so far.
    const std::vector<Ptr<RdmaConnection>>& GetConnections() const;

    void Send(scaleacross::Rank from,
              scaleacross::Rank to,
              scaleacross::Bytes bytes,
              uint64_t tag,
              const scaleacross::MessageCare& care = {}) override;
    void SendCopies(scaleacross::Rank from,
                    const std::vector<scaleacross::MessageCopy>& copies,
                    scaleacross::Bytes bytes,
                    const scaleacross::MessageCare& care) override;
    void SendCredit(scaleacross::Rank from, scaleacross::Rank to, uint64_t tag) override;
    void SetDelivery(scaleacross::Rank to, DeliveryCallback callback) override;

  protected:
    void DoDispose() override;

  private:
    /// A direction between two ranks that are on different servers.
    struct Link
    {
        scaleacross::Rank from;
        scaleacross::Rank to;
        uint32_t trafficClass;
        Ptr<RdmaConnection> connection;
        Ptr<StagedLink> staging;                        //!< none: not staged
        std::unique_ptr<Link> credits;                  //!< of slots that messages ask for
        Ptr<StagedLink> credited;                       //!< on a link of credits: whose they are
        std::unordered_map<uint64_t, int64_t> postedPs; //!< by tag, until delivered
    };

    uint32_t ClassOf(scaleacross::CommClass comm) const;
    Link& LinkBetween(scaleacross::Rank from, scaleacross::Rank to, uint32_t trafficClass);
    /// The same for messages that ask for slots.
    Link& LinkWith(scaleacross::Rank from,
                   scaleacross::Rank to,
                   const scaleacross::MessageCare& care);
    std::unique_ptr<Link> MakeLink(scaleacross::Rank from,
                                   scaleacross::Rank to,
                                   uint32_t trafficClass);
    void SendInside(scaleacross::Bytes bytes,
                    const scaleacross::RankMessage& message,
                    const scaleacross::MessageCare& care = {});
    void Post(Link* link, scaleacross::Bytes bytes, uint64_t tag);
    /// Over the connection of a link, whatever is behind it.
    void Transmit(Link& link, scaleacross::Bytes bytes, uint64_t tag);
    void TellOfTraffic();
    bool AreInOneServer(scaleacross::Rank from, scaleacross::Rank to) const;
    void Stage(Link* link, const Ptr<StagedLink>& staging);
    void Arrived(Link* link, uint64_t tag);
    void Delivered(Link* link, uint64_t tag);
    void Failed(Link* link, const std::string& reason);
    void Deliver(const scaleacross::RankMessage& message);

    Ptr<JobClock> m_clock;
    std::vector<Ptr<NvlinkDomain>> m_servers;
    uint32_t m_gpusPerNode{1};
    ConnectionFactory m_factory;
    FailureCallback m_failure;
    std::function<void()> m_traffic;
    std::vector<Ptr<RdmaConnection>> m_connections;
    StagingFactory m_staging;
    std::vector<DeliveryCallback> m_delivery; //!< by receiver
    /// By sender, receiver and traffic class.
    using LinkKey = std::tuple<scaleacross::Rank, scaleacross::Rank, uint32_t>;
    using Links = std::map<LinkKey, std::unique_ptr<Link>>;
    TrafficClasses m_classes{};
    Links m_links;
    Links m_creditLinks; //!< of SendCredit
    SlotsFactory m_slots;
    /// By slots and tree; none there: a link without slots.
    std::map<std::pair<scaleacross::SlotWindow, uint32_t>, Links> m_slotLinks;
};

} // namespace ns3

#endif // SCALEACROSS_CLUSTER_TRANSPORT_H
