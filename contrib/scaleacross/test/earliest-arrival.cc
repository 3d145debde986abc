// SPDX-License-Identifier: GPL-2.0-only

#include "earliest-arrival.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"

#include <algorithm>
#include <cstddef>

namespace fabrictest
{

using namespace ns3;

namespace
{

constexpr uint64_t kBytePs = 8'000'000'000'000; //!< for a byte at 1 bit/s

int64_t
Serialised(uint64_t bytes, uint64_t rate)
{
    return static_cast<int64_t>(bytes * kBytePs / rate);
}

uint64_t
Number(const ObjectBase& object, const std::string& attribute)
{
    UintegerValue value;
    object.GetAttribute(attribute, value);
    return value.Get();
}

/// A message as it is on the wire at the least, in bytes.
struct WireBytes
{
    uint64_t all;
    uint64_t least; //!< of a packet
    uint64_t most;
};

WireBytes
BytesOf(const RdmaConnection& connection, uint64_t bytes)
{
    const RdmaNic& nic = *connection.GetSender();
    const uint32_t mtu = nic.GetPathMtu();
    BooleanValue clearToSend;
    connection.GetAttribute("ClearToSend", clearToSend);
    auto size = [&nic](uint64_t payload) -> uint64_t {
        return nic.WireSize(static_cast<uint32_t>(payload),
                            scaleacross::RdmaOperation::Send,
                            false,
                            false);
    };
    const uint64_t full = bytes / mtu;
    const uint64_t rest = bytes % mtu;
    WireBytes sizes{full * size(mtu) + (rest > 0 || full == 0 ? size(rest) : 0),
                    size(1),
                    size(mtu)};
    const bool isCut = connection.GetNQueuePairs() > 1 || clearToSend.Get() ||
                       Number(connection, "MaxOutstanding") > 0;
    if (!isCut)
    {
        sizes.least = rest > 0 || full == 0 ? size(rest) : size(mtu);
    }
    sizes.least = std::min(sizes.least, sizes.all);
    return sizes;
}

} // namespace

EarliestArrival::EarliestArrival(const FabricHelper& fabric)
{
    for (const auto& wire : fabric.Wires())
    {
        for (size_t end = 0; end < 2; ++end)
        {
            const auto port = DynamicCast<FabricPort>(wire->GetDevice(end));
            const uint32_t from = port->GetNode()->GetId();
            const uint32_t to = port->GetPeer()->GetNode()->GetId();
            m_wires.push_back(
                {from, to, wire->GetDelay().GetPicoSeconds(), port->GetDataRate().GetBitRate()});
            m_rates[from] = m_wires.back().rate;
            m_nodes = std::max(m_nodes, from + 1);
        }
    }
}

int64_t
EarliestArrival::Way(uint32_t from, uint32_t to, uint64_t bytes) const
{
    std::vector<int64_t> best(m_nodes, INT64_MAX);
    best[from] = 0;
    for (bool better = true; better;) // few wires: until nothing changes
    {
        better = false;
        for (const Wire& wire : m_wires)
        {
            const int64_t time = wire.delay + Serialised(bytes, wire.rate);
            if (best[wire.from] != INT64_MAX && best[wire.from] + time < best[wire.to])
            {
                best[wire.to] = best[wire.from] + time;
                better = true;
            }
        }
    }
    return best[to];
}

void
EarliestArrival::Note(uint64_t tag, const RdmaConnection& connection, uint64_t bytes)
{
    const int64_t now = Simulator::Now().GetPicoSeconds();
    const WireBytes sizes = BytesOf(connection, bytes);
    const uint32_t queuePairs = connection.GetNQueuePairs();
    int64_t way = INT64_MAX;
    int64_t back = INT64_MAX;
    uint64_t limits = 0;
    std::map<uint32_t, uint64_t> senders;
    std::map<uint32_t, uint64_t> receivers;
    for (uint32_t i = 0; i < queuePairs; ++i)
    {
        const RdmaNic& from = connection.GetQueuePair(i)->GetNic();
        const RdmaNic& to = connection.GetRemoteQueuePair(i)->GetNic();
        const uint32_t sender = from.GetNode()->GetId();
        const uint32_t receiver = to.GetNode()->GetId();
        way = std::min(way, Way(sender, receiver, sizes.least));
        back = std::min(back, Way(receiver, sender, Number(to, "AckSize")));
        senders[sender] = m_rates.at(sender);
        receivers[receiver] = m_rates.at(receiver);
        DataRateValue limit;
        connection.GetQueuePair(i)->GetAttribute("RateLimit", limit);
        limits = limit.Get().GetBitRate(); // the same for all of them
    }
    int64_t rest = 0;
    for (const auto& ends : {senders, receivers})
    {
        uint64_t rate = 0;
        for (const auto& [node, bitsPerSecond] : ends)
        {
            rate += bitsPerSecond;
        }
        rest = std::max(rest, Serialised(sizes.all - sizes.least, rate));
    }
    const uint64_t free = 2 * queuePairs * sizes.most;
    if (limits > 0 && sizes.all > free)
    {
        rest = std::max(rest, Serialised(sizes.all - free, limits * queuePairs));
    }
    m_bounds[tag] = {now, now + way + rest, now + way + rest + back};
}

void
EarliestArrival::NoteForeign(uint64_t tag, RdmaNic& from, RdmaNic& to, uint32_t bytes)
{
    const int64_t now = Simulator::Now().GetPicoSeconds();
    const int64_t way =
        Way(from.GetNode()->GetId(), to.GetNode()->GetId(), from.ForeignWireSize(bytes));
    m_bounds[tag] = {now, now + way, now + way};
}

void
EarliestArrival::Compare(const std::vector<Event>& events,
                         const std::map<uint64_t, Bound>& bounds,
                         int64_t Bound::*bound,
                         const std::string& what,
                         std::vector<std::string>& violations)
{
    for (const Event& event : events)
    {
        const auto found = bounds.find(event.tag);
        if (found == bounds.end())
        {
            violations.push_back("message " + std::to_string(event.tag) + " is " + what +
                                 " and was never posted");
        }
        else if (event.time < found->second.*bound)
        {
            violations.push_back("message " + std::to_string(event.tag) + " of " +
                                 std::to_string(event.bytes) + " bytes, posted at " +
                                 std::to_string(found->second.posted) + " ps, is " + what + " at " +
                                 std::to_string(event.time) + " ps; the earliest is " +
                                 std::to_string(found->second.*bound) + " ps");
        }
    }
}

void
EarliestArrival::Check(const Log& log, std::vector<std::string>& violations) const
{
    Compare(log.delivered, m_bounds, &Bound::delivered, "delivered", violations);
    Compare(log.completed, m_bounds, &Bound::completed, "completed", violations);
}

} // namespace fabrictest
