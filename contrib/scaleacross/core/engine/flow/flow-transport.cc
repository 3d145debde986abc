// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/flow-transport.h"

#include "core/base/errors.h"
#include "core/program/message-tag.h"
#include "core/program/program.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace scaleacross
{

namespace
{

constexpr Rank kAll = UINT32_MAX;
constexpr Bytes kSlotWord{32}; //!< that a slot is free

} // namespace

FlowTransport::FlowTransport(const Scenario& scenario,
                             const FlowPaths& paths,
                             const Symmetry& symmetry,
                             Collisions collisions,
                             uint64_t seed,
                             FlowClock& clock,
                             Delivery deliver,
                             Replays replays)
    : m_scenario(scenario),
      m_collisions(collisions),
      m_clock(clock),
      m_deliver(std::move(deliver)),
      m_replays(std::move(replays)),
      m_clusterPaths(scenario.cluster),
      m_model(scenario, m_clusterPaths),
      m_paths(paths),
      m_symmetry(symmetry),
      m_links(scenario, paths, symmetry, m_clusterPaths, m_model),
      m_gpusPerNode(scenario.cluster.buildings.front().gpusPerNode),
      m_ports(scenario.cluster.PortsPerNic()),
      m_seed(seed),
      m_inside(scenario.cluster.Gpus()),
      m_rings(scenario, symmetry, clock, *this),
      m_grants(scenario.network.admission > Bytes() ? scenario.cluster.Gpus() : 0)
{
    for (Credit& credit : m_grants)
    {
        credit.left = static_cast<double>(scenario.network.admission.Count());
    }
}

FlowTransport::MessageId
FlowTransport::NewMessage(const RankMessage& head, Bytes bytes)
{
    MessageId id;
    if (m_freeMessages.empty())
    {
        id = static_cast<MessageId>(m_messages.size());
        m_messages.emplace_back();
    }
    else
    {
        id = m_freeMessages.back();
        m_freeMessages.pop_back();
    }
    Message& message = m_messages[id];
    message.head = head;
    message.bytes = bytes;
    message.copies.clear();
    message.pieces = 1;
    return id;
}

void
FlowTransport::Deliver(MessageId id)
{
    const Message message = std::move(m_messages[id]);
    m_messages[id] = Message();
    m_freeMessages.push_back(id);
    const RankMessage& head = message.head;
    if (message.copies.empty())
    {
        m_deliver(AsSeenBy(head.from, head.to, head.tag, head.postedPs));
        return;
    }
    for (const MessageCopy& copy : message.copies)
    {
        m_deliver(AsSeenBy(head.from, copy.to, copy.tag, head.postedPs));
    }
}

/// What whoever stands for the receiver gets from one that is alike to the sender, and as far from
/// it: ranks know no more of a sender than that.
RankMessage
FlowTransport::AsSeenBy(Rank from, Rank to, uint64_t tag, int64_t postedPs) const
{
    const Rank receiver = m_symmetry.rank[to];
    return {receiver + (from - to), receiver, tag, postedPs};
}

void
FlowTransport::Send(Rank from, Rank to, Bytes bytes, uint64_t tag, const MessageCare& care)
{
    const MessageId id = NewMessage({from, to, tag, m_clock.Now().Ps()}, bytes);
    if (AreInOneServer(from, to))
    {
        m_rings.Disturb(from);
        SendInside(id, to, care);
        return;
    }
    const uint32_t connection = ConnectionOf(from, to, care);
    if (care.before > Duration())
    {
        m_clock.After(care.before, [this, connection, id] { Post(connection, id); });
        return;
    }
    Post(connection, id);
}

void
FlowTransport::SendCopies(Rank from,
                          const std::vector<MessageCopy>& copies,
                          Bytes bytes,
                          const MessageCare& care)
{
    const MessageId id =
        NewMessage({from, copies.front().to, copies.front().tag, m_clock.Now().Ps()}, bytes);
    m_messages[id].copies = copies;
    m_rings.Disturb(from);
    SendInside(id, kAll, care);
}

void
FlowTransport::SendCredit(Rank from, Rank to, uint64_t tag)
{
    if (AreInOneServer(from, to))
    {
        Send(from, to, kCreditBytes, tag, {});
        return;
    }
    const MessageId id = NewMessage({from, to, tag, m_clock.Now().Ps()}, kCreditBytes);
    const FabricPath& path = m_connections[ConnectionOf(from, to, {})].path;
    m_clock.After(CreditLatency(path, kCreditBytes), [this, id] { Deliver(id); });
}

/// Of a message that has the way to itself.
Duration
FlowTransport::CreditLatency(const FabricPath& path, Bytes bytes) const
{
    const auto size = static_cast<double>(bytes.Count());
    const double wire = m_model.WireBytes(1.0, size, m_model.SpreadOf(1.0, size, path.tier));
    return m_model.EdgeLatency(path, size) + Duration::Seconds(wire * 8.0 / path.Slowest().Value());
}

// --- Inside servers

void
FlowTransport::SendInside(MessageId id, uint32_t to, const MessageCare& care, double left)
{
    Message& message = m_messages[id];
    const Rank from = message.head.from;
    const GpuSpec& gpu = m_scenario.cluster.buildings[m_scenario.cluster.BuildingOf(from)].gpu;
    message.latency = care.inside.value_or(gpu.scaleUpLatency);
    message.occupied = care.occupied;
    const auto [found, isNew] =
        m_laneNumbers.try_emplace({from, to, care.lane}, static_cast<uint32_t>(m_lanes.size()));
    if (isNew)
    {
        m_lanes.push_back({from, {}});
    }
    m_inside[from]++;
    Lane& lane = m_lanes[found->second];
    lane.messages.push_back(id);
    if (lane.messages.size() == 1)
    {
        StartInside(found->second, left);
    }
}

/// `left`: the share of the message that has not been sent.
void
FlowTransport::StartInside(uint32_t number, double left)
{
    const Lane& lane = m_lanes[number];
    const Message& message = m_messages[lane.messages.front()];
    const double bytes = static_cast<double>(std::max<uint64_t>(1, message.bytes.Count())) * left;
    std::vector<FlowUse> uses = {{m_links.EgressOf(lane.from)}};
    const auto comesTo = [&](Rank to) {
        const uint32_t resource = m_links.IngressOf(m_symmetry.rank[to]);
        const auto found = std::find_if(uses.begin(), uses.end(), [&](const FlowUse& use) {
            return use.resource == resource;
        });
        if (found == uses.end())
        {
            uses.push_back({resource});
            return;
        }
        found->share += 1.0; // others that are alike
    };
    if (message.copies.empty())
    {
        comesTo(message.head.to);
    }
    for (const MessageCopy& copy : message.copies)
    {
        comesTo(copy.to);
    }
    const FlowNetwork::Id flow = m_links.Network().Start(bytes * 8.0 * message.occupied,
                                                         bytes,
                                                         1.0,
                                                         FlowNetwork::kNoLimit,
                                                         uses,
                                                         m_clock.Now());
    m_owners.resize(std::max<size_t>(m_owners.size(), flow + 1));
    m_owners[flow] = {};
    m_owners[flow].inside = true;
    m_owners[flow].index = number;
    m_owners[flow].number = m_begun++;
    m_owners[flow].transfer = {lane.messages.front(), message.bytes};
}

void
FlowTransport::Share()
{
    FlowNetwork& network = m_links.Network();
    network.Share(m_clock.Now());
    for (const FlowNetwork::Id flow : network.Changed())
    {
        const Owner& owner = m_owners[flow];
        if (!owner.inside && m_connections[owner.index].losses)
        {
            m_connections[owner.index].losses->GoesOn(
                {flow,
                 owner.first,
                 owner.pairs,
                 owner.packets * network.Sent(flow, m_clock.Now()),
                 owner.packets * network.SentPerSecond(flow)});
        }
    }
}

void
FlowTransport::Finished(FlowNetwork::Id flow)
{
    const Duration queued = m_links.Network().Finish(flow, m_clock.Now());
    const Owner owner = m_owners[flow];
    if (!owner.inside)
    {
        Connection& connection = m_connections[owner.index];
        connection.free += Occupied(connection, owner.pairs);
        connection.moving.erase(
            std::find(connection.moving.begin(), connection.moving.end(), flow));
        const Duration wait = std::max(queued, owner.through - m_clock.Now());
        if (std::isfinite(connection.unit))
        {
            m_clock.After(BackAfter(connection, owner, wait),
                          [this, index = owner.index, transfer = owner.transfer] {
                              GiveBack(index, static_cast<double>(transfer.bytes.Count()));
                          });
        }
        if (owner.transfer.writes > 0 && connection.countsWrites)
        {
            m_clock.After(connection.path.propagation * 2 + wait,
                          [this, index = owner.index, writes = owner.transfer.writes] {
                              m_connections[index].writes += writes;
                              StartWaiting(index);
                          });
        }
        const auto size = static_cast<double>(owner.transfer.bytes.Count());
        Duration latency = m_model.EdgeLatency(connection.path, size) + wait;
        if (AnnouncesOf(connection))
        {
            latency -= connection.path.propagation * 2; // see Announce()
        }
        const auto arrived = [this, index = owner.index, transfer = owner.transfer] {
            Arrived(index, transfer);
        };
        if (connection.losses)
        {
            const LossyMessages lossy = LossyOf(connection, owner.transfer.bytes);
            connection.losses->Leaves({flow, owner.first, owner.pairs, owner.packets},
                                      lossy,
                                      latency,
                                      arrived);
        }
        else
        {
            m_clock.After(latency, arrived);
        }
        StartWaiting(owner.index);
        return;
    }
    Lane& lane = m_lanes[owner.index];
    const MessageId id = lane.messages.front();
    lane.messages.pop_front();
    m_inside[lane.from]--;
    m_clock.After(m_messages[id].latency, [this, id] { Deliver(id); });
    if (!lane.messages.empty())
    {
        StartInside(owner.index);
    }
}

void
FlowTransport::PhaseOver(Rank rank, uint32_t stream)
{
    m_replays(rank).PhaseOver(stream);
}

void
FlowTransport::GoOnWithPhase(Rank rank, uint32_t stream, uint32_t sent, uint32_t received)
{
    m_replays(rank).GoOnWithPhase(stream, sent, received);
}

void
FlowTransport::SendRest(Rank from,
                        Rank to,
                        Bytes bytes,
                        double left,
                        uint64_t tag,
                        const MessageCare& care)
{
    SendInside(NewMessage({from, to, tag, m_clock.Now().Ps()}, bytes), to, care, left);
}

void
FlowTransport::DeliverAt(Duration at, Rank to, uint64_t tag)
{
    m_clock.At(at, [this, to, tag] { m_deliver({to, to, tag, 0}); });
}

// --- Between servers

/// Takes bytes of a credit, or has the connection wait for some.
bool
FlowTransport::Takes(Credit& credit, uint32_t index, double bytes)
{
    if (bytes > credit.left)
    {
        if (std::find(credit.waiting.begin(), credit.waiting.end(), index) == credit.waiting.end())
        {
            credit.waiting.push_back(index);
        }
        return false;
    }
    credit.left -= bytes;
    return true;
}

/// How long after it has left a part comes back: by a round trip, or, where its packets slide, by
/// that after the first of each queue pair, so that what follows leaves as the rest comes back.
Duration
FlowTransport::BackAfter(const Connection& connection, const Owner& owner, Duration wait) const
{
    const Duration whole = connection.roundTrip + wait;
    if (connection.packet == 0)
    {
        return whole;
    }
    const double each = static_cast<double>(owner.transfer.bytes.Count()) / owner.pairs;
    const double behind = 1 - std::min(1.0, connection.packet / std::max(1.0, each));
    return std::max(Duration(),
                    whole - Duration::Seconds((m_clock.Now() - owner.begin).S() * behind));
}

/// Bytes of a connection have come back.
void
FlowTransport::GiveBack(uint32_t index, double bytes)
{
    const Rank to = m_symmetry.rank[m_connections[index].to];
    m_connections[index].window.left += bytes;
    if (!m_grants.empty())
    {
        m_grants[to].left += bytes;
        std::deque<uint32_t> waiting;
        waiting.swap(m_grants[to].waiting);
        for (const uint32_t other : waiting)
        {
            StartWaiting(other);
        }
    }
    m_connections[index].window.waiting.clear();
    StartWaiting(index);
}

void
FlowTransport::Post(uint32_t index, MessageId id)
{
    Connection& connection = m_connections[index];
    const SlotWindow& slots = connection.slotted;
    Message& message = m_messages[id];
    if (slots.slots == 0)
    {
        connection.waiting.push_back({id, message.bytes});
        StartWaiting(index);
        return;
    }
    // Pieces of a slot, or as many as the library takes at least.
    const uint64_t even = (message.bytes.Count() + slots.least - 1) / slots.least;
    const uint64_t piece = std::max<uint64_t>(1, std::min(slots.bytes.Count(), even));
    message.pieces = std::max<uint64_t>(1, (message.bytes.Count() + piece - 1) / piece);
    uint64_t left = message.bytes.Count();
    for (uint64_t i = 0; i < message.pieces; i++)
    {
        const uint64_t part = std::min(left, piece);
        connection.forSlots.push_back({id, Bytes(part)});
        left -= part;
    }
    TakeSlots(index);
}

void
FlowTransport::TakeSlots(uint32_t index)
{
    Connection& connection = m_connections[index];
    while (connection.slots > 0 && !connection.forSlots.empty())
    {
        connection.slots--;
        connection.waiting.push_back(connection.forSlots.front());
        connection.forSlots.pop_front();
    }
    StartWaiting(index);
}

uint32_t
FlowTransport::PairsFor(const Connection& connection, Bytes bytes) const
{
    const QueuePairSpread spread =
        m_model.SpreadOf(1.0, static_cast<double>(bytes.Count()), connection.path.tier);
    return std::clamp(static_cast<uint32_t>(std::lround(spread.pairs)), 1U, connection.pairs);
}

void
FlowTransport::TakeWrites(Connection& connection, Transfer& front, Transfer& part)
{
    const auto size = static_cast<double>(part.bytes.Count());
    uint32_t open = front.ofWrite > 0 ? 1 : 0;
    const double beyond = size - front.ofWrite;
    if (beyond > 0)
    {
        const auto begun = static_cast<uint32_t>(
            std::isfinite(connection.write) ? std::ceil(beyond / connection.write) : 1);
        open += begun;
        connection.writes -= connection.countsWrites ? begun : 0;
        front.ofWrite += connection.write * begun;
    }
    front.ofWrite -= size;
    part.writes = open - (!part.last && front.ofWrite > 0 ? 1 : 0);
}

void
FlowTransport::StartWaiting(uint32_t index)
{
    Connection& connection = m_connections[index];
    while (!connection.waiting.empty())
    {
        Transfer& front = connection.waiting.front();
        if (front.announces)
        {
            if (connection.free == 0)
            {
                return;
            }
            const Duration wait = m_links.Network().WaitNow(connection.all, m_clock.Now());
            m_clock.After(connection.path.propagation + wait,
                          [this, id = front.message] { Deliver(id); });
            connection.waiting.pop_front();
            continue;
        }
        const uint32_t pairs = PairsFor(connection, front.bytes);
        if (Occupied(connection, pairs) > connection.free ||
            (front.ofWrite <= 0 && connection.writes == 0))
        {
            return;
        }
        // Where something limits it, only as much as the queue pairs send at a time.
        double share = std::min(
            {static_cast<double>(front.bytes.Count()), connection.unit * pairs, connection.most});
        if (share > connection.window.left && connection.window.left >= connection.least * pairs)
        {
            share = connection.window.left;
        }
        if (std::isfinite(connection.write))
        {
            share = std::min(share, front.ofWrite + connection.write * connection.writes);
        }
        const Bytes bytes(static_cast<uint64_t>(share));
        Transfer part{front.message, bytes, bytes == front.bytes};
        const auto size = static_cast<double>(part.bytes.Count());
        if (std::isfinite(connection.unit))
        {
            if (!m_grants.empty() && !Takes(m_grants[m_symmetry.rank[connection.to]], index, size))
            {
                return;
            }
            if (!Takes(connection.window, index, size))
            {
                if (!m_grants.empty())
                {
                    m_grants[m_symmetry.rank[connection.to]].left += size;
                }
                return;
            }
        }
        TakeWrites(connection, front, part);
        if (part.last)
        {
            connection.waiting.pop_front();
        }
        else
        {
            front.bytes = front.bytes - part.bytes;
            m_messages[front.message].pieces++;
        }
        StartTransfer(index, part, pairs);
    }
}

void
FlowTransport::StartTransfer(uint32_t index, const Transfer& transfer, uint32_t pairs)
{
    Connection& connection = m_connections[index];
    const FabricPath& path = connection.path;
    const auto size = static_cast<double>(transfer.bytes.Count());
    const QueuePairSpread spread = m_model.SpreadOf(1.0, size, path.tier);
    double volume = 1;
    double packets = 0;
    if (path.loss > 0)
    {
        const LossyMessages lossy = LossyOf(connection, transfer.bytes);
        volume = LossVolume(lossy, m_scenario.network.recovery);
        packets = lossy.packets;
    }
    const double bits = m_model.WireBytes(1.0, size, spread) * 8.0 * volume;
    BitRate limit = std::min(FlowNetwork::kNoLimit, connection.rate * pairs);
    Duration through;
    if (limit < FlowNetwork::kNoLimit && bits / 8.0 <= connection.room)
    {
        // It waits in front of the links that its queue pairs have, behind what all of them have
        // brought there before.
        const Duration now = m_clock.Now();
        const double all = connection.rate.Value() * connection.pairs;
        connection.through = std::max(connection.through, now) + Duration::Seconds(bits / all);
        through = std::max(connection.through, now + Duration::Seconds(bits / limit.Value()));
        limit = FlowNetwork::kNoLimit;
    }
    const FlowNetwork::Id flow = m_links.Network().Start(
        bits,
        m_model.DataBytes(1.0, size, spread) * volume,
        pairs,
        limit,
        pairs == connection.pairs ? connection.all : UsesOf(connection, pairs),
        m_clock.Now(),
        connection.trafficClass);
    m_owners.resize(std::max<size_t>(m_owners.size(), flow + 1));
    m_owners[flow] = {false,
                      index,
                      m_begun++,
                      transfer,
                      connection.turn,
                      pairs,
                      packets,
                      through,
                      m_clock.Now()};
    connection.turn = connection.splits ? 0 : (connection.turn + pairs) % connection.pairs;
    connection.free -= Occupied(connection, pairs);
    connection.moving.push_back(flow);
}

void
FlowTransport::Arrived(uint32_t index, const Transfer& transfer)
{
    Connection& connection = m_connections[index];
    if (connection.slotted.slots > 0 && transfer.last)
    {
        // The word itself is not copied.
        const Duration back =
            CreditLatency(connection.path, kSlotWord) - m_model.StagingTime(kSlotWord);
        m_clock.After(back, [this, index] {
            m_connections[index].slots++;
            TakeSlots(index);
        });
    }
    if (--m_messages[transfer.message].pieces > 0)
    {
        return;
    }
    if (AnnouncesOf(connection))
    {
        Announce(index, transfer.message);
        return;
    }
    Deliver(transfer.message);
}

/// Whether a last write says that a message is there.
bool
FlowTransport::AnnouncesOf(const Connection& connection) const
{
    return m_scenario.network.QueuePairsAt(connection.path.tier).balance->lastWrite;
}

/// The last ACK goes back, and the write that tells takes its turn behind what queue pairs have
/// been given since: all that has been posted, or little of it where segments wait for their turn
/// (outstanding) or for a grant, and the write does not.
void
FlowTransport::Announce(uint32_t index, MessageId id)
{
    m_clock.After(m_connections[index].path.propagation, [this, index, id] {
        Connection& connection = m_connections[index];
        if (connection.holdsSegments)
        {
            const Duration wait = m_links.Network().WaitNow(connection.all, m_clock.Now());
            m_clock.After(connection.path.propagation + wait, [this, id] { Deliver(id); });
            return;
        }
        connection.waiting.push_back({id, Bytes(), true, true});
        StartWaiting(index);
    });
}

/// A message of a connection as one that may lose packets, if it has the way to itself.
LossyMessages
FlowTransport::LossyOf(const Connection& connection, Bytes bytes) const
{
    const auto size = static_cast<double>(std::max<uint64_t>(1, bytes.Count()));
    const double seconds = size * 8.0 / connection.path.Slowest().Value();
    return m_model.LossyOf(connection.path, size, seconds, 0);
}

// --- Links

/// Of the next so many queue pairs, all together.
std::vector<FlowUse>
FlowTransport::UsesOf(const Connection& connection, uint32_t pairs) const
{
    std::map<uint32_t, FlowUse> sum;
    for (uint32_t i = 0; i < pairs; i++)
    {
        const uint32_t pair = (connection.turn + i) % connection.pairs;
        for (const FlowUse& use : connection.uses[pair % connection.uses.size()])
        {
            FlowUse& added =
                sum.try_emplace(use.resource, FlowUse{use.resource, 0, 0, 0, use.group})
                    .first->second;
            added.share += use.share / pairs;
            added.connections += use.pairs / pairs;
            added.pairs += use.pairs;
        }
    }
    std::vector<FlowUse> uses;
    for (const auto& [resource, use] : sum)
    {
        uses.push_back(use);
    }
    return uses;
}

CarriedBytes
FlowTransport::Carried() const
{
    const uint32_t gpus = m_scenario.cluster.Gpus();
    ScaleUpBytes rings{std::vector<double>(gpus), std::vector<double>(gpus)};
    m_rings.AddCarried(rings.out, rings.in);
    return m_links.Carried(m_clock.Now(), rings);
}

} // namespace scaleacross
