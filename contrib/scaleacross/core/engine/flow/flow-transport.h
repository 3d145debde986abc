// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOW_TRANSPORT_H
#define SCALEACROSS_FLOW_TRANSPORT_H

#include "core/engine/flow/flow-clock.h"
#include "core/engine/flow/flow-links.h"
#include "core/engine/flow/flow-network.h"
#include "core/engine/flow/flow-paths.h"
#include "core/engine/flow/loss-recovery.h"
#include "core/engine/flow/server-rings.h"
#include "core/engine/flow/symmetry.h"
#include "core/engine/link-resources.h"
#include "core/engine/message-model.h"
#include "core/program/rank-message.h"
#include "core/spec/scenario.h"
#include "core/topology/cluster-paths.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace scaleacross
{

/// What becomes of flows that a hash puts on the same link.
enum class Collisions : uint8_t
{
    Expected, //!< bundles of links give what they do in the mean, by the fullest link
    Sampled   //!< every queue pair is on the links that the packet engine's switches give it
};

/**
 * Messages between ranks as flows.
 *
 * Inside a server: as the packet engine's NvlinkDomain has it; the egress of a GPU is shared evenly
 * by the first message of each lane to each other GPU.
 *
 * Between servers: a message is one flow over all links that its queue pairs' packets take, with
 * the weight of that many; it is as fast as the slowest of them allows. Traffic classes share links
 * as the study says, and have connections of their own. Messages of a connection go
 * beside each other where there are enough queue pairs for all (MessageModel::SpreadOf), else one
 * after the other. The volume is payload, headers, the share of ACKs and what losses repeat; then
 * comes the latency of its first packet. Losses are drawn packet by packet, and delay their message
 * as LossDelay() says.
 *
 * With windows, outstanding segments or a receiver's grants a message leaves in parts, as long as
 * there is something left of what may be under way; that comes back a round trip after it has left,
 * or, of a window, after its first packet has: packets slide, segments and grants do not.
 *
 * What has left its sender waits in front of what is slower (FlowNetwork), and arrives so much
 * later; its queue pairs take the next message meanwhile.
 *
 * Messages with slots of their own (MessageCare), or copied through slots, are cut into pieces,
 * each of which leaves when there is a slot, however short it is; that is free again when the
 * receiver's word has come back.
 *
 * Of ranks that are alike (Symmetry) one sends for all, and what goes to one of them goes to that
 * one, over the links that are alike to those on its way.
 *
 * Left out: congestion control; bandwidth of credits.
 */
class FlowTransport : private ServerRings::Owner
{
  public:
    using Delivery = std::function<void(const RankMessage&)>;
    using Replays = std::function<RankReplay&(Rank)>;

    /// All have to outlive it. `replays`: of the ranks whose phases it may take.
    FlowTransport(const Scenario& scenario,
                  const FlowPaths& paths,
                  const Symmetry& symmetry,
                  Collisions collisions,
                  uint64_t seed,
                  FlowClock& clock,
                  Delivery deliver,
                  Replays replays = {});

    /// See RankWorld.
    bool TakesPhase(Rank rank, const PhaseStart& start)
    {
        return m_rings.Takes(rank, start);
    }

    void Send(Rank from, Rank to, Bytes bytes, uint64_t tag, const MessageCare& care);
    void SendCopies(Rank from,
                    const std::vector<MessageCopy>& copies,
                    Bytes bytes,
                    const MessageCare& care);
    void SendCredit(Rank from, Rank to, uint64_t tag);

    /// What moves.
    const FlowNetwork& Network() const
    {
        return m_links.Network();
    }

    /// Has the network share anew. Whoever drives it calls this after every step of the clock,
    /// which goes no further than FlowNetwork::NextChange(), and Finished() at the finish time of a
    /// flow.
    void Share();

    void Finished(FlowNetwork::Id flow);

    /// Of flows that end at the same time those of lower numbers come first: above 2^32, in the
    /// order in which they began.
    uint64_t OrderOf(FlowNetwork::Id flow) const
    {
        return (uint64_t{1} << 32U) + m_owners[flow].number;
    }

    /// Up to now, by all ranks and links.
    CarriedBytes Carried() const;

  private:
    using MessageId = uint32_t;

    static constexpr uint32_t kAnyNumber = std::numeric_limits<uint32_t>::max();

    struct Message
    {
        RankMessage head;
        Bytes bytes;
        Duration latency;                //!< inside a server
        double occupied{1};              //!< inside a server
        std::vector<MessageCopy> copies; //!< inside a server; empty: to head.to only
        uint64_t pieces{1};              //!< that have not arrived
    };

    /// A message, a piece of one that takes a slot, or a part of either.
    struct Transfer
    {
        MessageId message;
        Bytes bytes;
        bool last{true};       //!< of the parts of its message or piece
        bool announces{false}; //!< nothing but that all of the message has arrived
        double ofWrite{0};     //!< bytes that the write which has begun still takes of it
        uint32_t writes{0};    //!< of a part that has left: writes that end with it
    };

    /// Bytes that may be under way, and come back.
    struct Credit
    {
        double left{std::numeric_limits<double>::infinity()};
        std::deque<uint32_t> waiting; //!< connections, in the order in which they asked
    };

    /// What goes to one GPU of the server in one lane, or to all; the front is under way.
    struct Lane
    {
        Rank from;
        std::deque<MessageId> messages;
    };

    /// One direction between two ranks on different servers.
    struct Connection
    {
        Rank from;
        Rank to;
        uint32_t trafficClass{0};
        uint32_t pairs{1};
        uint32_t free{1};   //!< queue pairs that carry nothing
        uint32_t turn{0};   //!< the next one
        bool splits{false}; //!< messages begin with the first one, so that they wait for each other
        std::vector<FlowNetwork::Id> moving;    //!< what it has under way
        Duration through;                       //!< when the last of that is through the link that
                                                //!< its queue pairs choose
        bool isShared{true};                    //!< all queue pairs of a port have the same way
        std::vector<std::vector<FlowUse>> uses; //!< by port, or by queue pair
        std::vector<FlowUse> all;               //!< of all queue pairs together
        FabricPath path;                        //!< the longest
        BitRate rate; //!< of one queue pair, at most: of the link it chooses
        double room{std::numeric_limits<double>::infinity()}; //!< bytes that wait in front of that
        std::deque<Transfer> waiting;
        Credit window;  //!< of the connection
        double unit{0}; //!< bytes that a queue pair takes at a time, where something limits it
        double least{std::numeric_limits<double>::infinity()}; //!< of these, rather than wait
        double packet{0}; //!< bytes, whose ACK lets one more leave: of a window; 0: all of a unit
        double most{0};   //!< bytes that all of them take at a time: no more than may be under way
        Duration roundTrip;        //!< after which they come back
        bool holdsSegments{false}; //!< they wait for their turn or a grant: queue pairs have few
        /// Writes that may begin before one is acknowledged: each that is split has a part on the
        /// first queue pair, which may have so many outstanding.
        uint32_t writes{kAnyNumber};
        bool countsWrites{false};
        double write{std::numeric_limits<double>::infinity()}; //!< bytes of one: a grant; else all
        SlotWindow slotted;                                    //!< what its messages go through
        uint32_t slots{0};                                     //!< of these, free ones
        std::deque<Transfer> forSlots;
        /// Drawn by itself, so that they do not depend on what else ends at the same time; null:
        /// it has none.
        std::unique_ptr<LossRecovery> losses;
    };

    /// Whose flow it is.
    struct Owner
    {
        bool inside{false};
        uint32_t index{0};  //!< lane, or connection
        uint64_t number{0}; //!< among all that began
        Transfer transfer{0, Bytes(), {}};
        uint32_t first{0}; //!< queue pair of a connection
        uint32_t pairs{0};
        double packets{0}; //!< of each queue pair, where some may be lost
        Duration through;  //!< when it is through the link that it has chosen
        Duration begin;
    };

    using ConnectionKey = std::tuple<SlotWindow, uint32_t, uint32_t, uint64_t>;

    bool AreInOneServer(Rank from, Rank to) const
    {
        return from / m_gpusPerNode == to / m_gpusPerNode;
    }

    MessageId NewMessage(const RankMessage& head, Bytes bytes);
    void Deliver(MessageId id);
    RankMessage AsSeenBy(Rank from, Rank to, uint64_t tag, int64_t postedPs) const;

    void SendInside(MessageId id, uint32_t to, const MessageCare& care, double left = 1);
    void StartInside(uint32_t lane, double left = 1);

    // ServerRings::Owner
    bool IsSendingInside(Rank rank) const override
    {
        return m_inside[rank] > 0;
    }

    void PhaseOver(Rank rank, uint32_t stream) override;
    void GoOnWithPhase(Rank rank, uint32_t stream, uint32_t sent, uint32_t received) override;
    void SendRest(Rank from,
                  Rank to,
                  Bytes bytes,
                  double left,
                  uint64_t tag,
                  const MessageCare& care) override;
    void DeliverAt(Duration at, Rank to, uint64_t tag) override;

    uint32_t ConnectionOf(Rank from, Rank to, const MessageCare& care);
    uint32_t Connect(Rank from, Rank to, uint32_t trafficClass, const MessageCare& care);
    /// Has its messages go through so many slots, in pieces.
    static void GoThrough(Connection& connection, const SlotWindow& slots);
    void Post(uint32_t connection, MessageId id);
    void TakeSlots(uint32_t connection);
    void StartWaiting(uint32_t connection);

    /// Writes of which some leaves with a part of the front: those that begin are taken, and the
    /// part has those that end.
    static void TakeWrites(Connection& connection, Transfer& front, Transfer& part);
    void StartTransfer(uint32_t connection, const Transfer& transfer, uint32_t pairs);
    void SetLimits(Connection& connection) const;
    bool Takes(Credit& credit, uint32_t connection, double bytes);
    void GiveBack(uint32_t connection, double bytes);
    Duration BackAfter(const Connection& connection, const Owner& owner, Duration wait) const;
    void Arrived(uint32_t connection, const Transfer& transfer);
    bool AnnouncesOf(const Connection& connection) const;
    void Announce(uint32_t connection, MessageId id);
    uint32_t PairsFor(const Connection& connection, Bytes bytes) const;
    std::vector<FlowUse> UsesOf(const Connection& connection, uint32_t pairs) const;
    LossyMessages LossyOf(const Connection& connection, Bytes bytes) const;

    /// Queue pairs that are not free while so many of them carry a message.
    static uint32_t Occupied(const Connection& connection, uint32_t pairs)
    {
        return connection.splits ? connection.pairs : pairs;
    }

    Duration CreditLatency(const FabricPath& path, Bytes bytes) const;

    const Scenario& m_scenario;
    Collisions m_collisions;
    FlowClock& m_clock;
    Delivery m_deliver;
    Replays m_replays;
    ClusterPaths m_clusterPaths;
    MessageModel m_model;
    const FlowPaths& m_paths;
    const Symmetry& m_symmetry;
    FlowLinks m_links;
    uint32_t m_gpusPerNode;
    uint32_t m_ports;
    uint64_t m_seed;

    std::vector<Message> m_messages;
    std::vector<MessageId> m_freeMessages;
    std::vector<Owner> m_owners;                                        //!< by flow
    uint64_t m_begun{0};                                                //!< flows
    std::map<std::tuple<Rank, Rank, uint32_t>, uint32_t> m_laneNumbers; //!< from, to (or all), lane
    std::vector<Lane> m_lanes;
    std::vector<uint32_t> m_inside; //!< messages that the rank has under way inside its server
    ServerRings m_rings;
    /// By traffic class; by sender and receiver.
    std::array<std::unordered_map<uint64_t, uint32_t>, kTrafficClasses> m_connectionNumbers;
    std::map<ConnectionKey, uint32_t> m_slotConnections;
    std::deque<Connection> m_connections;
    std::vector<Credit> m_grants; //!< by receiver; empty: it grants nothing
    /// Queue pairs so far, by the ports of the NICs from and to which they are.
    std::unordered_map<uint64_t, uint32_t> m_pairsBetween;
    /// Of `ecmp`: by sender and receiver, the resource that is the one path of all their messages.
    std::unordered_map<uint64_t, uint32_t> m_onePaths;
};

} // namespace scaleacross

#endif // SCALEACROSS_FLOW_TRANSPORT_H
