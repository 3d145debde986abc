// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/message-model.h"

#include "core/engine/credit-rate.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

namespace
{

constexpr double kRounding = 1e-9; // of sums of parts of a message

} // namespace

MessageModel::MessageModel(const Scenario& scenario, const ClusterPaths& paths)
    : m_scenario(scenario),
      m_paths(paths)
{
}

QueuePairSpread
MessageModel::SpreadOf(double messages, double messageBytes, Tier tier) const
{
    return SpreadOver(m_scenario.network.QueuePairsAt(tier),
                      m_paths.Shape(0),
                      messages,
                      messageBytes);
}

double
MessageModel::CreditShareOf(BitRate link, Duration delay, uint32_t lanes) const
{
    const NetworkPlan& network = m_scenario.network;
    if (!network.transport->credits)
    {
        return 1.0;
    }
    const Bytes packet = network.mtu + network.Format().DataHeaders();
    return std::min(1.0, lanes * CreditShare(network.laneCredits, packet, link, delay));
}

double
MessageModel::PortSeconds(BitRate nic, double messageBytes, const QueuePairSpread& spread) const
{
    const double credits = CreditShareOf(nic / m_paths.Shape(0).Ports(),
                                         m_scenario.cluster.buildings[0].fabric.nicDelay);
    return WireBytes(1.0, messageBytes, spread) * 8.0 / (nic.Value() * spread.ports * credits);
}

double
MessageModel::RoundTrip(double unit, const FabricPath& path, double staging) const
{
    return 2.0 * path.propagation.S() +
           WireBytesOf(unit, path.tier) * 8.0 / path.Slowest().Value() + staging;
}

double
MessageModel::WindowedSeconds(double bytes,
                              double window,
                              double unit,
                              const FabricPath& path,
                              double staging) const
{
    if (bytes <= window)
    {
        return 0.0;
    }
    // The first bytes of the last window leave when all windows before have come back.
    const double before = std::ceil(bytes / window) - 1.0;
    return before * RoundTrip(unit, path, staging) +
           WireBytesOf(bytes - before * window, path.tier) * 8.0 / path.Slowest().Value();
}

double
MessageModel::WindowSeconds(double messageBytes, const FabricPath& path) const
{
    const NetworkPlan& network = m_scenario.network;
    const QueuePairUse use = network.QueuePairsAt(path.tier);
    double seconds = 0;
    if (use.outstanding > 0 && !use.balance->splits) // that has a part per queue pair
    {
        const auto segment = static_cast<double>(use.segment.Count());
        const double window = segment * use.outstanding * use.qps;
        seconds = WindowedSeconds(messageBytes, window, segment, path);
    }
    if (use.window > Bytes())
    {
        const auto mtu = static_cast<double>(network.mtu.Count());
        const double packets =
            std::max(1.0, std::floor(static_cast<double>(use.window.Count()) / mtu));
        const double pairs = SpreadOf(1.0, messageBytes, path.tier).pairs;
        const double asked = std::min<double>(network.ackEvery, packets);
        seconds = std::max(
            seconds,
            WindowedSeconds(messageBytes, pairs * packets * mtu, pairs * asked * mtu, path));
    }
    if (network.copy->staged)
    {
        const auto slot = static_cast<double>(StagedCopy::kSlot.Count());
        const double slots = StagedCopy::kSlots * network.channels;
        const double staging = StagingTime(StagedCopy::kSlot).S();
        seconds =
            std::max(seconds, WindowedSeconds(messageBytes, slots * slot, slot, path, staging));
    }
    return seconds;
}

WindowUse
MessageModel::WindowOf(double messages,
                       double bytes,
                       double write,
                       double seconds,
                       const FabricPath& path) const
{
    const NetworkPlan& network = m_scenario.network;
    const QueuePairUse use = network.QueuePairsAt(path.tier);
    WindowUse most;
    const auto add = [&most](double windows, double round) {
        if (windows * round > most.Seconds())
        {
            most.windows = windows;
            most.round = round;
        }
    };
    if (use.outstanding > 0 && use.balance->splits)
    {
        // What is written at once, a message, a slot or a grant of it, has a part on every queue
        // pair.
        if (network.copy->staged)
        {
            write = std::min(write, static_cast<double>(StagedCopy::kSlot.Count()));
        }
        if (network.admission > Bytes())
        {
            write = std::min(write, static_cast<double>(network.GrantSize().Count()));
        }
        const double writes = std::ceil(bytes / write);
        const double leaves = std::max(seconds / writes, WindowSeconds(write, path));
        add(messages * writes / use.outstanding, 2.0 * path.propagation.S() + leaves);
    }
    else if (use.outstanding > 0)
    {
        const auto segment = static_cast<double>(use.segment.Count());
        add(messages * std::ceil(bytes / segment) / (use.qps * use.outstanding),
            RoundTrip(std::min(bytes, segment), path));
    }
    if (use.window > Bytes())
    {
        const auto mtu = static_cast<double>(network.mtu.Count());
        const double packets =
            std::max(1.0, std::floor(static_cast<double>(use.window.Count()) / mtu));
        const double asked = std::min<double>(network.ackEvery, packets);
        add(messages * bytes / (use.qps * packets * mtu), RoundTrip(asked * mtu, path));
    }
    if (network.copy->staged)
    {
        const auto slot = static_cast<double>(StagedCopy::kSlot.Count());
        const double part = std::min(bytes, slot);
        add(messages * std::ceil(bytes / slot) / (StagedCopy::kSlots * network.channels),
            RoundTrip(part, path, StagingTime(Bytes(static_cast<uint64_t>(part))).S()));
    }
    return most;
}

WindowUse
MessageModel::AdmissionOf(double messages, double bytes, const FabricPath& path) const
{
    const NetworkPlan& network = m_scenario.network;
    if (network.admission == Bytes())
    {
        return {};
    }
    const auto grant = std::min(bytes, static_cast<double>(network.GrantSize().Count()));
    WindowUse use;
    use.windows = messages * bytes / static_cast<double>(network.admission.Count());
    use.round = RoundTrip(grant, path);
    return use;
}

SlotUse
MessageModel::SlotsOf(const Phase& phase,
                      const PhaseRounds& rounds,
                      BitRate nic,
                      const FabricPath& path) const
{
    const SlotWindow& window = phase.slots;
    // Where all messages are staged, they go through those slots.
    if (window.slots == 0 || path.tier != Tier::Cross || m_scenario.network.copy->staged)
    {
        return {};
    }
    const double messages = StepsOf(phase).IsDirect() ? 1.0 : rounds.perEdge;
    const bool inTrees = StepsOf(phase).ChainOf() == Chain::Tree;
    const double connections = inTrees ? rounds.perMember / rounds.perEdge : 1.0;
    const double each = window.Of(rounds.message);
    const double piece = rounds.message / each;
    const QueuePairSpread spread = SpreadOf(1.0, piece, path.tier);
    SlotUse use;
    use.pieces = messages * each * window.phases;
    use.slots = window.slots;
    // Of c connections each sends B pieces together, in s seconds by itself, and finds the others
    // sending for that share of a round: R = 2 way + B s (1 + (c - 1) B s / R).
    const double way = 2.0 * path.propagation.S();
    const double piecesTogether =
        std::min({each * rounds.joined, use.slots, std::floor(spread.beside)});
    const double alone = piecesTogether * PortSeconds(nic, piece, spread);
    const double half = (way + alone) / 2;
    use.round = half + std::sqrt(half * half + (connections - 1) * alone * alone);
    use.seconds = (use.round - way) / piecesTogether;
    use.phases = window.phases;
    use.way = path.propagation.S();
    return use;
}

double
MessageModel::AdmissionSeconds(double bytes, const FabricPath& path) const
{
    const NetworkPlan& network = m_scenario.network;
    return network.admission == Bytes()
               ? 0.0
               : WindowedSeconds(bytes,
                                 static_cast<double>(network.admission.Count()),
                                 static_cast<double>(network.GrantSize().Count()),
                                 path);
}

double
MessageModel::PacketsOf(double bytes, const QueuePairSpread& spread, bool least) const
{
    // Every write ends with a packet of its own. Parts of a buffer differ by a byte.
    const auto mtu = static_cast<double>(m_scenario.network.mtu.Count());
    const double write = least ? std::floor(spread.write) : spread.write;
    const double rest = (least ? std::floor(bytes) : bytes) - spread.writes * spread.write;
    const double last = rest > bytes * kRounding ? std::ceil(rest / mtu) : 0.0;
    return std::max(1.0, spread.writes * std::ceil(write / mtu) + last);
}

double
MessageModel::DataBytes(double messages, double bytes, const QueuePairSpread& spread) const
{
    const NetworkPlan& network = m_scenario.network;
    const double packets = messages * PacketsOf(bytes, spread, true); // as part of a bound
    return messages * bytes + packets * static_cast<double>(network.Format().DataHeaders().Count());
}

double
MessageModel::WireBytes(double messages, double bytes, const QueuePairSpread& spread) const
{
    const NetworkPlan& network = m_scenario.network;
    const double acks = messages * PacketsOf(bytes, spread, false) / network.ackEvery;
    return DataBytes(messages, bytes, spread) + acks * network.Format().ack;
}

double
MessageModel::WireBytesOf(double bytes, Tier tier) const
{
    // A part of a message does not begin the parts of a split one anew.
    const bool splits = m_scenario.network.QueuePairsAt(tier).balance->splits;
    return WireBytes(1.0, bytes, splits ? QueuePairSpread() : SpreadOf(1.0, bytes, tier));
}

Duration
MessageModel::StagingTime(Bytes bytes) const
{
    if (!m_scenario.network.copy->staged)
    {
        return Duration();
    }
    // The slower of all GPUs: both ends copy the first, or only, slot.
    Duration copy;
    for (const BuildingSpec& building : m_scenario.cluster.buildings)
    {
        copy = std::max(
            copy,
            StagedCopy::CopyTime(std::min(bytes, StagedCopy::kSlot), building.gpu.hbmBandwidth));
    }
    return copy * 2 + StagedCopy::kHandover;
}

Duration
MessageModel::EdgeLatency(const FabricPath& path, double bytes) const
{
    Duration latency = path.propagation;
    if (path.rates.empty())
    {
        return latency;
    }
    const NetworkPlan& network = m_scenario.network;
    const QueuePairSpread spread = SpreadOf(1.0, bytes, path.tier);
    const double first = spread.writes > 0 ? std::min(bytes, spread.write) : bytes;
    const auto payload =
        static_cast<uint64_t>(std::min(first, static_cast<double>(network.mtu.Count())));
    const Bytes packet = Bytes(payload) + network.Format().DataHeaders();
    for (const BitRate rate : path.rates)
    {
        latency += SerialisationTime(packet, rate);
    }
    if (network.QueuePairsAt(path.tier).balance->lastWrite)
    {
        latency += path.propagation * 2; // the last ACK back, and the write that tells
    }
    if (network.admission > Bytes())
    {
        latency += path.propagation * 2; // the request, and the grant
    }
    latency += StagingTime(Bytes(static_cast<uint64_t>(bytes)));
    return latency - SerialisationTime(packet, path.Slowest());
}

Duration
MessageModel::StepLatency(const Phase& phase, const FabricPath& path, double bytes) const
{
    if (path.tier == Tier::Node)
    {
        return phase.inside ? phase.inside->Of(bytes) : EdgeLatency(path, bytes);
    }
    return EdgeLatency(path, bytes) + phase.between.Of(bytes);
}

LossyMessages
MessageModel::LossyOf(const FabricPath& path, double bytes, double seconds, double nextAfter) const
{
    const NetworkPlan& network = m_scenario.network;
    const double packetBits =
        static_cast<double>((network.mtu + network.Format().DataHeaders()).Count()) * 8.0;
    LossyMessages messages;
    messages.loss = path.loss;
    messages.roundTrip = 2.0 * path.propagation.S() + packetBits / path.Slowest().Value();
    const QueuePairSpread spread = SpreadOf(1.0, bytes, path.tier);
    messages.pairs = spread.pairs;
    const double packets = PacketsOf(bytes, spread, false);
    messages.packets = std::max(1.0, std::ceil(packets / messages.pairs));
    messages.inFlight = messages.packets * messages.roundTrip / seconds;
    // Where packets may overtake, one tells of the loss of another only if it is so much later.
    const bool tolerant = network.recovery->selective && network.multipath->MayReorder();
    messages.silent = 1.0 + (tolerant ? network.reorderTolerance : 0.0);
    // The next message's first packet comes the way's time after the last one of this; messages
    // that take others of the queue pairs in turn tell nothing.
    messages.untold = path.propagation.S() + (std::ceil(spread.beside) - 1.0) * nextAfter;
    return messages;
}

} // namespace scaleacross
