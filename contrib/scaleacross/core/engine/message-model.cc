// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/message-model.h"

#include "core/engine/credit-rate.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

namespace
{

BitRate
SlowestRate(const FabricPath& path)
{
    return *std::min_element(path.rates.begin(), path.rates.end());
}

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
MessageModel::CreditShareOf(BitRate link, Duration delay) const
{
    const NetworkPlan& network = m_scenario.network;
    return !network.transport->credits ? 1.0
                                       : CreditShare(network.laneCredits,
                                                     network.mtu + network.Format().DataHeaders(),
                                                     link,
                                                     delay);
}

double
MessageModel::PortSeconds(BitRate nic, double messageBytes, double ports) const
{
    const double credits = CreditShareOf(nic / m_paths.Shape(0).ports,
                                         m_scenario.cluster.buildings[0].fabric.nicDelay);
    return WireBytes(1.0, messageBytes) * 8.0 / (nic.Value() * ports * credits);
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
    const double rate = SlowestRate(path).Value();
    const double roundTrip =
        2.0 * path.propagation.S() + WireBytes(1.0, unit) * 8.0 / rate + staging;
    return before * roundTrip + WireBytes(1.0, bytes - before * window) * 8.0 / rate;
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
MessageModel::DataBytes(double messages, double bytes) const
{
    const NetworkPlan& network = m_scenario.network;
    // Parts of a buffer differ by a byte: the smaller ones, as this is part of a bound.
    const double packets =
        messages *
        std::max(1.0, std::ceil(std::floor(bytes) / static_cast<double>(network.mtu.Count())));
    return messages * bytes + packets * static_cast<double>(network.Format().DataHeaders().Count());
}

double
MessageModel::WireBytes(double messages, double bytes) const
{
    const NetworkPlan& network = m_scenario.network;
    const double packets =
        messages * std::max(1.0, std::ceil(bytes / static_cast<double>(network.mtu.Count())));
    const double acks = packets / network.ackEvery;
    return DataBytes(messages, bytes) + acks * network.Format().ack;
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
    const auto payload =
        static_cast<uint64_t>(std::min(bytes, static_cast<double>(network.mtu.Count())));
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
    return latency - SerialisationTime(packet, SlowestRate(path));
}

LossyMessages
MessageModel::LossyOf(const FabricPath& path, double bytes, double seconds, double nextAfter) const
{
    const NetworkPlan& network = m_scenario.network;
    const double packetBits =
        static_cast<double>((network.mtu + network.Format().DataHeaders()).Count()) * 8.0;
    LossyMessages messages;
    messages.loss = path.loss;
    messages.roundTrip = 2.0 * path.propagation.S() + packetBits / SlowestRate(path).Value();
    messages.pairs = SpreadOf(1.0, bytes, path.tier).pairs;
    const double packets = std::ceil(bytes / static_cast<double>(network.mtu.Count()));
    messages.packets = std::max(1.0, std::ceil(packets / messages.pairs));
    messages.inFlight = messages.packets * messages.roundTrip / seconds;
    // Where packets may overtake, one tells of the loss of another only if it is so much later.
    const bool tolerant = network.recovery->selective && network.multipath->MayReorder();
    messages.silent = 1.0 + (tolerant ? network.reorderTolerance : 0.0);
    // The next message's first packet comes the way's time after the last one of this; messages
    // shorter than all queue pairs take the next of them in turn.
    const double turns = std::ceil(network.QueuePairsAt(path.tier).qps / messages.pairs);
    messages.untold = path.propagation.S() + (turns - 1.0) * nextAfter;
    return messages;
}

} // namespace scaleacross
