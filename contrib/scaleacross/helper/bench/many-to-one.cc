// SPDX-License-Identifier: GPL-2.0-only

#include "many-to-one.h"

#include "core/base/errors.h"
#include "core/base/packet-format.h"

#include "ns3/fabric-balance.h"
#include "ns3/fabric-control.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-multipath.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace scaleacross
{

using ns3::FabricHelper;
using ns3::FabricSwitch;
using ns3::Ptr;
using ns3::RdmaConnection;
using ns3::Simulator;
using ns3::UintegerValue;

namespace
{

constexpr uint32_t kOverhead = kRoceFormat.header + kRoceFormat.frame;
constexpr uint32_t kAck = kRoceFormat.ack;
/// More than any sender can send in the time that Validate allows.
constexpr uint64_t kForEver = uint64_t{1} << 40;
const Duration kQueueInterval = Duration::Microseconds(2);
constexpr size_t kIntervalsInARow = 10;
constexpr double kFair = 0.95;
constexpr uint8_t kDataPriority = 3;

ns3::Time
ToTime(Duration duration)
{
    return ns3::PicoSeconds(duration.Ps());
}

class Run
{
  public:
    explicit Run(const ManyToOne& work)
        : m_work(work)
    {
        Build();
    }

    ~Run()
    {
        Simulator::Destroy();
    }

    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    ManyToOneResult Execute()
    {
        const Duration end = m_work.warmUp + m_work.measured;
        for (uint32_t i = 0; i < m_connections.size(); ++i)
        {
            Simulator::Schedule(ToTime(m_work.stagger * (i / m_work.flows)),
                                [this, i]() { m_connections[i]->Send(Bytes(kForEver), 0); });
        }
        Every(kQueueInterval, [this](Duration now) { SampleQueue(now); });
        Every(m_work.interval, [this](Duration now) { SampleShares(now); });
        Simulator::Schedule(ToTime(m_work.warmUp), [this]() { Begin(); });
        Simulator::Stop(ToTime(end));
        Simulator::Run();
        return Result();
    }

  private:
    void Build()
    {
        m_fabric.SetNicAttribute("PathMtu", UintegerValue(m_work.payload));
        m_fabric.SetNicAttribute("FixedOverhead", UintegerValue(kOverhead));
        m_fabric.SetSwitchAttribute("MaxPacketSize",
                                    UintegerValue(m_work.payload + kOverhead +
                                                  m_work.control->TelemetryBytes(m_work.switches)));
        if (m_work.control->pulls)
        {
            ns3::UseRecovery(m_fabric, "selective-repeat", 0);
        }
        ns3::UseControl(m_fabric, m_work.control, m_work.chosen);
        const ns3::DataRate rate(m_work.bitRate);
        const ns3::Time delay = ToTime(m_work.delay);
        std::vector<Ptr<FabricSwitch>> row;
        for (uint32_t i = 0; i < m_work.switches; ++i)
        {
            row.push_back(m_fabric.AddSwitch());
        }
        for (uint32_t i = 0; i < m_work.senders; ++i)
        {
            m_fabric.Connect(m_fabric.AddNic(m_fabric.AddHost()), row.front(), rate, delay);
        }
        for (size_t i = 1; i < row.size(); ++i)
        {
            m_fabric.Connect(row[i - 1], row[i], rate, delay);
        }
        m_fabric.Connect(m_fabric.AddNic(m_fabric.AddHost()), row.back(), rate, delay);
        m_fabric.InstallRoutes();
        m_fabric.AssignStreams(static_cast<int64_t>(m_work.seed) << 24);
        m_first = row.front();
        m_shared = m_first->GetPort(m_work.senders); // after those of the senders
        for (uint32_t i = 0; i < m_work.senders * m_work.flows; ++i)
        {
            m_connections.push_back(m_fabric.CreateConnection(m_fabric.Nics()[i / m_work.flows],
                                                              m_fabric.Nics().back()));
        }
        m_sampled.resize(m_connections.size());
    }

    template <typename Function>
    void Every(Duration interval, const Function& what)
    {
        const Duration end = m_work.warmUp + m_work.measured;
        for (Duration at = interval; at <= end; at = at + interval)
        {
            Simulator::Schedule(ToTime(at), [what, at]() { what(at); });
        }
    }

    /// Payload that has arrived on each connection, all its queue pairs together.
    std::vector<double> Delivered() const
    {
        std::vector<double> all;
        for (const auto& connection : m_connections)
        {
            uint64_t bytes = 0;
            for (uint32_t i = 0; i < connection->GetNQueuePairs(); ++i)
            {
                bytes += connection->GetRemoteQueuePair(i)->GetCounters().deliveredBytes;
            }
            all.push_back(static_cast<double>(bytes));
        }
        return all;
    }

    void SampleQueue(Duration now)
    {
        const uint64_t bytes = m_shared->GetQueueBytes(kDataPriority);
        m_peak = std::max(m_peak, bytes);
        if (now > m_work.warmUp)
        {
            m_queue.push_back(static_cast<double>(bytes));
        }
    }

    void SampleShares(Duration now)
    {
        std::vector<double> bytes = Delivered();
        std::vector<double> grown(bytes.size());
        std::transform(bytes.begin(),
                       bytes.end(),
                       m_sampled.begin(),
                       grown.begin(),
                       std::minus<>());
        m_sampled = bytes;
        if (now - m_work.interval < LastStart())
        {
            return;
        }
        m_fairInARow = JainIndex(grown) >= kFair ? m_fairInARow + 1 : 0;
        if (m_fairInARow == kIntervalsInARow && !m_converged)
        {
            m_converged = true;
            m_convergedAt = now - m_work.interval * static_cast<int64_t>(kIntervalsInARow - 1);
        }
    }

    void Begin()
    {
        m_before = Delivered();
        m_markedBefore = m_shared->GetEcnMarked();
        m_sentBefore = m_shared->GetSentPackets();
    }

    Duration LastStart() const
    {
        return m_work.stagger * (m_work.senders - 1);
    }

    ManyToOneResult Result()
    {
        ManyToOneResult result;
        const std::vector<double> after = Delivered();
        for (size_t i = 0; i < after.size(); ++i)
        {
            const double wire =
                (after[i] - m_before[i]) * (m_work.payload + kOverhead) / m_work.payload;
            result.rates.push_back(wire * 8e-9 / m_work.measured.S());
        }
        result.jain = JainIndex(result.rates);
        result.share = std::accumulate(result.rates.begin(), result.rates.end(), 0.0) * 1e9 /
                       static_cast<double>(m_work.bitRate);
        std::sort(m_queue.begin(), m_queue.end());
        result.queueMean = std::accumulate(m_queue.begin(), m_queue.end(), 0.0) /
                           static_cast<double>(m_queue.size());
        result.queueP50 = m_queue[m_queue.size() / 2];
        result.queueP90 = m_queue[m_queue.size() * 90 / 100];
        result.queueP99 = m_queue[m_queue.size() * 99 / 100];
        result.queuePeak = m_peak;
        result.convergence = m_converged ? m_convergedAt - LastStart() : Duration::Picoseconds(-1);
        result.marked = static_cast<double>(m_shared->GetEcnMarked() - m_markedBefore) /
                        static_cast<double>(m_shared->GetSentPackets() - m_sentBefore);
        for (const auto& fabricSwitch : m_fabric.Switches())
        {
            result.drops += fabricSwitch->GetDrops();
            result.pauses += fabricSwitch->GetPauses();
        }
        for (const auto& connection : m_connections)
        {
            SCALEACROSS_INVARIANT(!connection->HasFailed(), connection->GetFailure());
        }
        ns3::CheckConservation(m_fabric);
        return result;
    }

    ManyToOne m_work;
    FabricHelper m_fabric;
    Ptr<FabricSwitch> m_first;
    Ptr<ns3::SwitchPort> m_shared;
    std::vector<Ptr<RdmaConnection>> m_connections;
    std::vector<double> m_queue;
    uint64_t m_peak{0};
    std::vector<double> m_sampled;
    std::vector<double> m_before;
    uint64_t m_markedBefore{0};
    uint64_t m_sentBefore{0};
    size_t m_fairInARow{0};
    bool m_converged{false};
    Duration m_convergedAt;
};

} // namespace

double
JainIndex(const std::vector<double>& shares)
{
    double sum = 0;
    double squares = 0;
    for (const double share : shares)
    {
        sum += share;
        squares += share * share;
    }
    return squares > 0 ? sum * sum / (squares * static_cast<double>(shares.size())) : 0;
}

void
ManyToOne::Validate() const
{
    const auto check =
        [](bool good, const char* what, const std::string& value, const std::string& allowed) {
            if (!good)
            {
                throw ConfigError(what, value, allowed, "");
            }
        };
    check(senders >= 1 && senders <= 1000, "senders", std::to_string(senders), "1 to 1000");
    check(flows >= 1 && flows <= 1000, "flows", std::to_string(flows), "1 to 1000");
    check(switches >= 1 && switches <= 60, "switches", std::to_string(switches), "1 to 60");
    check(payload >= 256 && payload <= 9000, "payload", std::to_string(payload), "256 to 9000");
    check(bitRate >= 1'000'000'000 && bitRate <= 1'600'000'000'000,
          "rate",
          std::to_string(bitRate) + " bit/s",
          "1Gbps to 1600Gbps");
    check(interval >= kQueueInterval,
          "interval",
          std::to_string(interval.Us()) + " us",
          "2us or more");
    check(measured >= interval,
          "measured",
          std::to_string(measured.Us()) + " us",
          "an interval of " + std::to_string(interval.Us()) + " us or more");
    check(stagger * senders <= warmUp,
          "stagger",
          std::to_string(stagger.Us()) + " us",
          "all senders start within the warm-up");
    check(warmUp + measured <= Duration::Microseconds(5'000'000),
          "warm-up and measured",
          std::to_string((warmUp + measured).Us()) + " us",
          "5s or less together");
}

Duration
ManyToOne::BaseRoundTrip() const
{
    const double bits = 8.0 * (payload + kOverhead + kAck);
    const auto serialisation =
        static_cast<int64_t>(std::llround(bits * 1e12 / static_cast<double>(bitRate)));
    return (Duration::Picoseconds(serialisation) + delay * 2) * static_cast<int64_t>(switches + 1);
}

ManyToOneResult
RunManyToOne(const ManyToOne& work)
{
    work.Validate();
    Run run(work);
    return run.Execute();
}

} // namespace scaleacross
