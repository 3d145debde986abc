// SPDX-License-Identifier: GPL-2.0-only

#include "fast-forward.h"

#include "core/base/errors.h"

#include "ns3/cluster-transport.h"
#include "ns3/fabric-path.h"
#include "ns3/fabric-port.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/loss-model.h"
#include "ns3/nstime.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/simulator-time.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

namespace ns3
{

using scaleacross::Duration;
using scaleacross::FastForwardReport;
using scaleacross::SendProgress;
using scaleacross::SimulatorPicoseconds;
using scaleacross::SlopeOf;

namespace
{

constexpr int64_t kNanosecond = 1000;
/// Between two samples after a change: 5.6 packets of 4 KiB at 400 Gb/s. Not a whole number of
/// them, or all samples would be off by the same part of a packet.
constexpr int64_t kFirstEvery = 469 * kNanosecond;
/// Intervals between samples: judged for the first time; between judgements; the last ones that are
/// judged, if not half of all; and when every second one is dropped.
constexpr std::size_t kFirstLook = 32;
constexpr std::size_t kNextLook = 4;
constexpr std::size_t kWindow = 16;
constexpr std::size_t kMostSamples = 64;
/// Beyond that nobody looks any more, until something is posted or arrives.
constexpr int64_t kMostEvery = 1'000'000 * kNanosecond;
/// How many times as long as has been looked at may be skipped on that.
constexpr int64_t kReach = 100;
/// Of each queue pair so many packets stay, which show how its message ends.
constexpr double kMargin = 4;
/// Less is not worth it.
constexpr int64_t kLeastSkip = 200 * kNanosecond;
/// Beyond that nobody waits for what was lost to come again, until something is posted or arrives:
/// a job in which nothing goes on has to end.
constexpr int64_t kMostUnsettled = 10'000'000'000 * kNanosecond;
/// Packets before the next loss of a wire that are simulated: as many or up to twice as many. What
/// is left out is a multiple: a skip begins at the same place of the turns of data packets and ACKs
/// time and again, and with a fixed number all losses would hit the same of them.
constexpr uint64_t kBeforeLoss = 64;

} // namespace

FastForward::Flow::Flow(Ptr<RdmaConnection> of)
    : connection(of),
      track(of->GetNQueuePairs()),
      sent(of->GetNQueuePairs()),
      slopes(of->GetNQueuePairs())
{
}

FastForward::FastForward(Ptr<JobClock> clock,
                         Ptr<ClusterTransport> transport,
                         Network network,
                         double verified)
    : m_clock(clock),
      m_transport(transport),
      m_network(std::move(network)),
      m_verified(verified)
{
    for (const Ptr<FabricWire>& wire : m_network.wires)
    {
        for (const std::size_t end : {0, 1})
        {
            m_laneOf[wire->GetLane(end).From()] = static_cast<uint32_t>(m_lanes.size());
            m_lanes.push_back(
                {PeekPointer(wire), end, PeekPointer(wire->GetLossModel(end)), 0, 0, 0});
            if (m_lanes.back().loss != nullptr)
            {
                m_losses.push_back(m_lanes.back().loss);
            }
        }
    }
    m_never =
        m_network.credits || std::any_of(m_network.switches.begin(),
                                         m_network.switches.end(),
                                         [](const Ptr<FabricSwitch>& fabricSwitch) {
                                             return fabricSwitch->GetPathSelector()->GoesByTime();
                                         });
    m_clock->SetObserver([this] { Go(); });
    m_transport->SetTrafficCallback([this] { Changed(); });
}

FastForward::~FastForward()
{
    m_next.Cancel();
    m_checkEnd.Cancel();
    m_clock->SetObserver(nullptr);
    m_transport->SetTrafficCallback(nullptr);
}

void
FastForward::SetRefusal(std::function<void(const std::string&)> refusal)
{
    m_refusal = std::move(refusal);
}

uint64_t
FastForward::LeftOut(std::size_t wire, std::size_t end) const
{
    return static_cast<uint64_t>(std::llround(m_lanes[2 * wire + end].leftOut));
}

FastForwardReport
FastForward::Report() const
{
    FastForwardReport report = m_report;
    report.skipped = Duration::Picoseconds(m_clock->Skipped());
    report.error = report.checks > 0 ? m_errorPs / static_cast<double>(report.verified.Ps()) : 0.0;
    return report;
}

void
FastForward::Changed()
{
    if (m_never)
    {
        return;
    }
    Restart();
    m_pauses = Pauses();
    if (m_next.IsExpired() || m_quiet > 1)
    {
        m_quiet = 1;
        m_next.Cancel();
        m_next = Simulator::Schedule(PicoSeconds(kFirstEvery), &FastForward::Sample, this);
    }
}

void
FastForward::Restart()
{
    m_steady = false;
    m_samples = 0;
}

void
FastForward::FindFlows()
{
    m_every = kFirstEvery;
    m_snapshots.clear();
    m_flows.clear();
    m_senders.clear();
    for (const Ptr<RdmaConnection>& connection : m_transport->GetConnections())
    {
        if (connection->GetUndelivered() > 0)
        {
            m_flows.emplace_back(connection);
            FindSenders(m_flows.back());
        }
    }
    // As many packets of each of them as of one that has the NIC to itself.
    for (const Sender& sender : m_senders)
    {
        m_every = std::max(m_every, kFirstEvery * sender.flows);
    }
}

void
FastForward::FindSenders(Flow& flow)
{
    for (uint32_t i = 0; i < flow.sent.size(); ++i)
    {
        const RdmaNic& nic = flow.connection->GetQueuePair(i)->GetNic();
        const FabricPort* port = &nic;
        const auto found =
            std::find_if(m_senders.begin(), m_senders.end(), [port](const Sender& sender) {
                return sender.port == port;
            });
        const auto place = static_cast<std::size_t>(found - m_senders.begin());
        const bool isNew = std::count(flow.senders.begin(), flow.senders.end(), place) == 0;
        flow.senders.push_back(place);
        if (found == m_senders.end())
        {
            const double bits =
                8.0 *
                nic.WireSize(nic.GetPathMtu(), scaleacross::RdmaOperation::Write, false, false);
            const auto rate = static_cast<double>(nic.GetDataRate().GetBitRate());
            m_senders.push_back({port, m_laneOf.at(port), bits * 1e12 / rate, 0, {}, 0});
        }
        m_senders[place].flows += isNew ? 1 : 0;
    }
}

int64_t
FastForward::EarliestEnd() const
{
    double earliest = static_cast<double>(kMostEvery);
    for (const Flow& flow : m_flows)
    {
        double spare = 0;
        for (uint32_t i = 0; i < flow.sent.size(); ++i)
        {
            spare += static_cast<double>(flow.connection->GetSpare(i));
        }
        earliest = std::min(earliest, spare * m_senders[flow.senders.front()].psPerPacket);
    }
    return static_cast<int64_t>(earliest);
}

void
FastForward::Sample()
{
    if (m_samples == 0)
    {
        FindFlows();
        if (m_flows.empty())
        {
            return; // until something is posted
        }
        const int64_t toJudge = static_cast<int64_t>(kFirstLook) * m_every;
        if (!IsSettled())
        {
            const int64_t since = SimulatorPicoseconds() - m_damagedAt;
            if (since < kMostUnsettled)
            {
                m_next = Simulator::Schedule(PicoSeconds(std::max(toJudge, since / 8)),
                                             &FastForward::Sample,
                                             this);
            }
            return;
        }
        const int64_t end = EarliestEnd();
        if (end < toJudge)
        {
            m_next = Simulator::Schedule(PicoSeconds(std::max(end, toJudge / 4)),
                                         &FastForward::Sample,
                                         this);
            return;
        }
    }
    const bool moves = TakeSample();
    if (IsHeldBack())
    {
        Restart(); // what comes in bursts looks steady within each
        return;    // until something is posted or arrives
    }
    const std::size_t taken = m_samples++;
    if (taken % kNextLook == 0)
    {
        m_snapshots.push_back(LanesNow());
    }
    if (!moves || m_quiet > 1 || IsDisturbed() || !IsSettled())
    {
        Restart(); // what has been seen so far says nothing of the time after it
    }
    else if (taken >= kFirstLook && taken % kNextLook == 0)
    {
        // The longer, the more exact; but what has come from afar is steady for a short time only.
        m_steady = Judge(kNextLook * (taken / 2 / kNextLook)) || Judge(taken - kWindow);
    }
    m_quiet = moves ? 1 : 2 * m_quiet;
    if (m_samples > kMostSamples)
    {
        Thin();
    }
    if (m_every * m_quiet < kMostEvery)
    {
        m_next = Simulator::Schedule(PicoSeconds(m_every * m_quiet), &FastForward::Sample, this);
    }
    Go();
}

bool
FastForward::TakeSample()
{
    uint64_t moved = 0;
    for (Flow& flow : m_flows)
    {
        const uint64_t inFlight = Look(flow);
        flow.track.Add(flow.sent, inFlight);
        for (std::size_t i = 0; i < flow.sent.size(); ++i)
        {
            m_senders[flow.senders[i]].now += static_cast<double>(flow.sent[i]);
            moved += 2 * flow.sent[i];
        }
        moved -= inFlight;
    }
    const int64_t now = SimulatorPicoseconds();
    for (Sender& sender : m_senders)
    {
        const Lane& lane = m_lanes[sender.lane];
        const auto left = static_cast<double>(lane.wire->GetLane(lane.end).Meter().End() - now);
        sender.sent.push_back(sender.now - std::clamp(left / sender.psPerPacket, 0.0, 1.0));
        sender.now = 0;
    }
    return std::exchange(m_moved, moved) != moved;
}

uint64_t
FastForward::Look(Flow& flow)
{
    uint64_t inFlight = 0;
    uint64_t troubles = 0;
    flow.waits = false;
    for (std::size_t i = 0; i < flow.sent.size(); ++i)
    {
        const SendProgress progress = flow.connection->GetProgress(static_cast<uint32_t>(i));
        flow.sent[i] = progress.sent;
        inFlight += progress.sent - progress.arrived;
        troubles += progress.troubles;
        flow.waits = flow.waits || progress.waitsUntil > SimulatorPicoseconds();
        flow.bounded = flow.bounded || progress.bounded;
    }
    flow.troubles = troubles;
    flow.troublesAtFirst = flow.track.Size() == 0 ? troubles : flow.troublesAtFirst;
    return inFlight;
}

void
FastForward::Thin()
{
    for (Flow& flow : m_flows)
    {
        flow.track.Thin();
    }
    for (Sender& sender : m_senders)
    {
        scaleacross::Thin(sender.sent);
    }
    std::vector<LaneSnapshot> kept;
    for (LaneSnapshot& snapshot : m_snapshots)
    {
        if (snapshot.sample % (2 * kNextLook) == 0)
        {
            snapshot.sample /= 2;
            kept.push_back(std::move(snapshot));
        }
    }
    m_snapshots = std::move(kept);
    m_samples = kMostSamples / 2 + 1;
    m_every *= 2;
}

const FastForward::Route&
FastForward::RouteOf(const Ptr<RdmaQueuePair>& queuePair)
{
    const auto [found, isNew] = m_routes.try_emplace(PeekPointer(queuePair));
    Route& route = found->second;
    const bool traced = queuePair->Requester().Allowance().WantsTelemetry(); // packets grow
    if (isNew && !traced && !queuePair->GetEntropyOps())
    {
        const RdmaNic& nic = queuePair->GetNic();
        route.packetBytes =
            nic.WireSize(nic.GetPathMtu(), scaleacross::RdmaOperation::Write, false, false);
        try
        {
            for (const Ptr<FabricPort>& port : PathOf(*queuePair))
            {
                route.lanes.push_back(m_laneOf.at(PeekPointer(port)));
            }
            route.known = true;
        }
        catch (const scaleacross::ConfigError&)
        {
            // Its packets go by several paths.
        }
    }
    return route;
}

FastForward::LaneSnapshot
FastForward::LanesNow() const
{
    LaneSnapshot now{m_samples - 1, SimulatorPicoseconds(), {}, {}};
    for (const Lane& lane : m_lanes)
    {
        now.bytes.push_back(lane.wire->GetLane(lane.end).DataCarried());
        now.passing.push_back(lane.loss != nullptr ? lane.loss->Passing() : 0);
    }
    return now;
}

uint64_t
FastForward::Pauses() const
{
    uint64_t pauses = 0;
    for (const Ptr<FabricSwitch>& fabricSwitch : m_network.switches)
    {
        pauses += fabricSwitch->GetPauses();
    }
    return pauses;
}

uint64_t
FastForward::Damage() const
{
    uint64_t damage = 0;
    for (const FabricLossModel* const losses : m_losses)
    {
        damage += losses->Losses();
    }
    for (const Ptr<FabricSwitch>& fabricSwitch : m_network.switches)
    {
        damage += fabricSwitch->GetDrops() + fabricSwitch->GetTrimmed();
    }
    return damage;
}

bool
FastForward::IsSettled()
{
    const uint64_t damage = Damage();
    if (std::exchange(m_damage, damage) != damage)
    {
        // Whose it was is not known, but what it was had been sent.
        m_damagedAt = SimulatorPicoseconds();
        m_unsettled.clear();
        for (const Ptr<RdmaConnection>& connection : m_transport->GetConnections())
        {
            for (uint32_t i = 0; i < connection->GetNQueuePairs(); ++i)
            {
                m_unsettled.push_back(
                    {PeekPointer(connection), i, connection->GetProgress(i).sent});
            }
        }
    }
    const auto settled = [](const Unsettled& one) {
        const SendProgress progress = one.connection->GetProgress(one.queuePair);
        return progress.acknowledged >= one.upTo && progress.waitsUntil <= SimulatorPicoseconds();
    };
    m_unsettled.erase(std::remove_if(m_unsettled.begin(), m_unsettled.end(), settled),
                      m_unsettled.end());
    return m_unsettled.empty();
}

bool
FastForward::IsHeldBack() const
{
    return Pauses() != m_pauses || std::any_of(m_flows.begin(),
                                               m_flows.end(),
                                               [](const Flow& flow) { return flow.bounded; });
}

bool
FastForward::IsDisturbed() const
{
    return std::any_of(m_flows.begin(), m_flows.end(), [](const Flow& flow) {
        return flow.troubles != flow.troublesAtFirst || flow.waits;
    });
}

bool
FastForward::Judge(std::size_t from)
{
    for (const Flow& flow : m_flows)
    {
        if (!flow.track.IsSteady(from))
        {
            return false;
        }
    }
    if (!JudgeLanes(from))
    {
        return false;
    }
    FindSlopes(from);
    m_budget = kReach * m_every * static_cast<int64_t>(m_flows.front().track.Size() - 1 - from);
    return true;
}

void
FastForward::FindSlopes(std::size_t from)
{
    std::vector<double> sums(m_senders.size());
    for (Flow& flow : m_flows)
    {
        for (std::size_t i = 0; i < flow.slopes.size(); ++i)
        {
            flow.slopes[i] = flow.track.Slope(i, from) / static_cast<double>(m_every);
            sums[flow.senders[i]] += flow.slopes[i];
        }
    }
    for (Flow& flow : m_flows)
    {
        for (std::size_t i = 0; i < flow.slopes.size(); ++i)
        {
            const std::size_t sender = flow.senders[i];
            if (sums[sender] > 0)
            {
                flow.slopes[i] *= SlopeOf(m_senders[sender].sent, from) /
                                  static_cast<double>(m_every) / sums[sender];
            }
        }
    }
}

bool
FastForward::JudgeLanes(std::size_t from)
{
    const auto then =
        std::find_if(m_snapshots.begin(), m_snapshots.end(), [from](const LaneSnapshot& taken) {
            return taken.sample == from;
        });
    const LaneSnapshot& now = m_snapshots.back();
    const auto ps = static_cast<double>(now.at - then->at);
    for (std::size_t i = 0; i < m_lanes.size(); ++i)
    {
        Lane& lane = m_lanes[i];
        lane.bytesPerPs = static_cast<double>(now.bytes[i] - then->bytes[i]) / ps;
        if (lane.loss != nullptr)
        {
            if (now.passing[i] > then->passing[i])
            {
                return false; // it has lost one
            }
            lane.packetsPerPs = static_cast<double>(then->passing[i] - now.passing[i]) / ps;
        }
    }
    return true;
}

void
FastForward::Go()
{
    if (!m_steady || !m_checkEnd.IsExpired())
    {
        return;
    }
    bool ends = false;
    const int64_t ps = Lasts(ends);
    if (ps >= kLeastSkip)
    {
        const int64_t candidates = m_clock->Skipped() + m_report.verified.Ps() + ps;
        if (static_cast<double>(m_report.verified.Ps()) <
            m_verified * static_cast<double>(candidates))
        {
            BeginCheck(ps);
            return;
        }
        Skip(ps);
    }
    if (ends)
    {
        Restart();
    }
}

int64_t
FastForward::Lasts(bool& ends)
{
    int64_t ps = m_clock->UntilNext();
    const auto until = [&ps, &ends](double limit) {
        if (limit < static_cast<double>(ps))
        {
            ps = std::max<int64_t>(0, static_cast<int64_t>(limit));
            ends = true;
        }
    };
    until(static_cast<double>(m_budget));
    for (Flow& flow : m_flows)
    {
        Look(flow);
        uint64_t any = 0;
        for (std::size_t i = 0; i < flow.slopes.size(); ++i)
        {
            const uint64_t spare = flow.connection->GetSpare(static_cast<uint32_t>(i));
            any += spare;
            if (flow.slopes[i] > 0)
            {
                until((static_cast<double>(spare) - kMargin) / flow.slopes[i]);
            }
        }
        if (any == 0)
        {
            until(0); // all that is left of something is on its way
        }
    }
    if (IsDisturbed() || IsHeldBack() || !IsSettled())
    {
        until(0);
    }
    for (const Lane& lane : m_lanes)
    {
        if (lane.packetsPerPs > 0)
        {
            const uint64_t multiples = lane.loss->Passing() / kBeforeLoss;
            until(static_cast<double>(kBeforeLoss * (std::max<uint64_t>(multiples, 1) - 1)) /
                  lane.packetsPerPs);
        }
    }
    return ps;
}

void
FastForward::Skip(int64_t ps)
{
    const auto length = static_cast<double>(ps);
    const bool known = KnowsRoutes();
    for (Flow& flow : m_flows)
    {
        std::vector<double>& carry = m_carry[PeekPointer(flow.connection)];
        carry.resize(flow.slopes.size());
        for (uint32_t i = 0; i < flow.slopes.size(); ++i)
        {
            carry[i] += flow.slopes[i] * length;
            const double packets = std::floor(carry[i]);
            carry[i] -= packets;
            flow.connection->LeaveOut(i, static_cast<uint64_t>(packets));
            if (known)
            {
                const Route& route = RouteOf(flow.connection->GetQueuePair(i));
                for (const uint32_t lane : route.lanes)
                {
                    m_lanes[lane].leftOut += packets * route.packetBytes;
                }
            }
        }
    }
    for (Lane& lane : m_lanes)
    {
        lane.leftOut += known ? 0.0 : lane.bytesPerPs * length;
        if (lane.packetsPerPs > 0)
        {
            lane.loss->LeaveOut(static_cast<uint64_t>(lane.packetsPerPs * length));
        }
    }
    m_budget -= ps;
    m_report.skips++;
    m_clock->Skip(ps);
}

bool
FastForward::KnowsRoutes()
{
    for (const Flow& flow : m_flows)
    {
        for (uint32_t i = 0; i < flow.slopes.size(); ++i)
        {
            if (!RouteOf(flow.connection->GetQueuePair(i)).known)
            {
                return false;
            }
        }
    }
    return true;
}

void
FastForward::BeginCheck(int64_t ps)
{
    m_checked.clear();
    for (const Flow& flow : m_flows)
    {
        m_checked.push_back({flow.connection,
                             m_senders[flow.senders.front()].port,
                             flow.sent,
                             std::accumulate(flow.slopes.begin(), flow.slopes.end(), 0.0)});
    }
    m_checkLength = ps;
    m_checkEnd = Simulator::Schedule(PicoSeconds(ps), &FastForward::EndCheck, this);
}

void
FastForward::EndCheck()
{
    double expected = 0;
    double off = 0;
    std::set<const FabricPort*> senders;
    for (const Checked& checked : m_checked)
    {
        const double would = checked.packetsPerPs * static_cast<double>(m_checkLength);
        double sent = 0;
        for (uint32_t i = 0; i < checked.sentBefore.size(); ++i)
        {
            const uint64_t now = checked.connection->GetProgress(i).sent;
            sent += static_cast<double>(now - checked.sentBefore[i]);
        }
        expected += would;
        off += std::abs(sent - would);
        senders.insert(checked.sender);
    }
    // Packets are whole: of each NIC one may have left just before or after.
    off = std::max(0.0, off - static_cast<double>(senders.size()));
    const double error = expected > 0 ? off / expected : 0.0;
    const Duration took = Duration::Picoseconds(m_checkLength);
    m_report.checks++;
    m_report.verified += took;
    m_report.worst = std::max(m_report.worst, error);
    m_errorPs += error * static_cast<double>(took.Ps());
    const double mean = Report().error;
    if (m_report.checks >= kLeastChecks && mean > kMostError && m_refusal)
    {
        std::ostringstream text;
        text << std::setprecision(2) << "fast-forward: what it left out was wrong by " << mean * 100
             << " % where it was simulated too, more than " << kMostError * 100
             << " %; run this with --engine packet";
        m_refusal(text.str());
    }
    Go();
}

} // namespace ns3
