// SPDX-License-Identifier: GPL-2.0-only

#include "packet-engine.h"

#include "cluster-helper.h"
#include "core/base/version.h"
#include "core/engine/loss-warnings.h"
#include "core/engine/measured-ranks.h"
#include "core/topology/fabric-graph.h"
#include "network-watch.h"
#include "scenario-events.h"
#include "study-attributes.h"
#include "wire-resources.h"

#include "ns3/boolean.h"
#include "ns3/cluster-transport.h"
#include "ns3/config.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-deadlock.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/fast-forward.h"
#include "ns3/job-clock.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/rdma-nic.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/training-application.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace scaleacross
{

namespace
{

/// Leaves ns-3 as it was found, however a run ends.
class SimulatorGuard
{
  public:
    ~SimulatorGuard()
    {
        ns3::Simulator::Destroy();
        ns3::Config::Reset();
    }
};

/// One run: the job on its cluster, from building it to the report.
class Simulation
{
  public:
    Simulation(const Scenario& scenario,
               const PreparedRun& run,
               const RunOptions& options,
               std::optional<double> verified)
        : m_run(run),
          m_options(options),
          m_clock(ns3::Create<ns3::JobClock>(verified ? ns3::JobClock::Skips::May
                                                      : ns3::JobClock::Skips::Never)),
          m_cluster(scenario, m_clock),
          m_resources(m_cluster, scenario, run.graph),
          m_measured(run.graph, options, std::vector<uint32_t>(run.graph.ranks, 1))
    {
        m_cluster.AssignStreams(0);
        m_events = ns3::ScheduleEvents(scenario, m_cluster);
        const uint32_t ranks = run.graph.ranks;
        for (Rank rank = 0; rank < ranks; rank++)
        {
            auto application = ns3::CreateObject<ns3::TrainingApplication>();
            application->SetClock(m_clock);
            application->SetRank(&run.graph, rank, m_cluster.GetTransport());
            application->SetIterationCallback(ns3::Callback<void, Rank, uint32_t>(
                [this](Rank who, uint32_t iteration) { Mark(who, iteration); }));
            m_cluster.GetNode(rank)->AddApplication(application);
            m_applications.push_back(application);
        }
        for (const Rank rank : m_measured.Recorded())
        {
            m_applications[rank]->SetRecord(true);
        }
        if (options.timeline != Timelines::None)
        {
            m_watch.emplace(m_cluster, scenario.cluster, m_resources, m_clock);
        }
        m_cluster.SetFailureCallback(
            [this, &scenario](Rank from, Rank to, const std::string& reason) {
                const bool unanswered = reason.find("retry limit") != std::string::npos;
                Fail("connection from rank " + std::to_string(from) + " to rank " +
                     std::to_string(to) + " failed: " + reason +
                     (unanswered ? "; " + RetryLimitRemedy(scenario, Unanswered(from, to)) : ""));
            });
        if (verified)
        {
            StartFastForward(*verified, scenario.network.transport->credits);
        }
    }

    ~Simulation()
    {
        m_clock->Clear(); // what waits holds on to what it is for
    }

    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    void Execute()
    {
        m_started = std::chrono::steady_clock::now();
        ns3::Simulator::Schedule(kFirstWatch, [this] { Watch(); });
        ns3::Simulator::Run();
        if (m_watch && m_measured.AreDone())
        {
            m_series = m_watch->End();
            m_resources.FillLeft(m_series);
        }
        ns3::CheckConservation(m_cluster.GetFabric());
        // Pauses that lock each other show as a queue pair that gives up, or as events that run
        // out.
        const std::string deadlock = ns3::FindDeadlock(m_cluster.GetFabric()).Text();
        if (!m_failure.empty())
        {
            throw RunError(m_reason, deadlock.empty() ? m_failure : deadlock + "; " + m_failure);
        }
        if (!m_measured.AreDone())
        {
            const std::string waiting = ns3::DescribeWaiting(m_cluster.GetFabric());
            throw RunError(deadlock.empty()
                               ? "deadlock: nothing can go on; " + WaitingRanks() + waiting
                               : waiting + WaitingRanks()); // it begins with the cycle of ports
        }
    }

    RunReport Report() const
    {
        RunReport report;
        m_measured.Fill(
            report,
            [this](Rank rank) -> const RankRecord& { return *m_applications[rank]->GetRecord(); },
            m_series);
        m_cluster.FillNetwork(report.network);
        report.resources = m_resources.Report(m_options.iterations, report.iterationTime);
        if (m_fastForward)
        {
            report.fastForward = m_fastForward->Report();
        }
        return report;
    }

  private:
    // Short runs need no look; in long ones on many hosts 100 us are some 100,000 packets.
    static inline const ns3::Time kFirstWatch = ns3::MilliSeconds(1);
    static inline const ns3::Time kWatch = ns3::MicroSeconds(100);
    static constexpr std::chrono::milliseconds kTell{200};

    void StartFastForward(double verified, bool credits)
    {
        ns3::FastForward::Network network;
        for (uint32_t i = 0; i < m_cluster.GetGraph().links.size(); i++)
        {
            network.wires.push_back(m_cluster.GetWire(i));
        }
        network.switches = m_cluster.GetFabric().Switches();
        network.credits = credits;
        m_fastForward = std::make_unique<ns3::FastForward>(m_clock,
                                                           m_cluster.GetTransport(),
                                                           std::move(network),
                                                           verified);
        m_fastForward->SetRefusal([this](const std::string& reason) {
            m_reason = "fast-forward";
            Fail(reason);
        });
        m_resources.SetLeftOut([this](std::size_t wire, std::size_t end) {
            return m_fastForward->LeftOut(wire, end);
        });
    }

    /// What the network has seen so far, of a connection that had no answer.
    UnansweredPair Unanswered(Rank from, Rank to) const
    {
        UnansweredPair pair;
        pair.from = from;
        pair.to = to;
        pair.now = Duration::Picoseconds(m_clock->Now());
        const ns3::FabricBalance balance = ns3::BalanceOf(m_cluster.GetFabric());
        const auto dropped = [&](DropReason reason) {
            return balance.dropped[static_cast<size_t>(reason)];
        };
        pair.lost = dropped(DropReason::WireLoss);
        pair.dropped = dropped(DropReason::SharedBufferFull) + dropped(DropReason::HeadroomFull);
        for (const auto& fabricSwitch : m_cluster.GetFabric().Switches())
        {
            pair.peak = std::max(pair.peak, Bytes(fabricSwitch->GetPeakOccupancy()));
        }
        return pair;
    }

    void Fail(const std::string& reason)
    {
        if (m_failure.empty())
        {
            m_failure = reason;
        }
        ns3::Simulator::Stop();
    }

    void Mark(Rank rank, uint32_t iteration)
    {
        const Duration now = Duration::Picoseconds(m_clock->Now());
        switch (m_measured.Begins(rank, iteration, now, m_applications[rank]->GetTimes()))
        {
        case MeasuredRanks::Mark::Begin:
            m_resources.Begin(now);
            if (m_watch)
            {
                m_watch->Begin();
            }
            break;
        case MeasuredRanks::Mark::End:
            m_resources.End(now);
            break;
        case MeasuredRanks::Mark::Nothing:
            break;
        }
        if (m_measured.AreDone())
        {
            ns3::Simulator::Stop();
        }
    }

    /// Looks in now and then whether the run is over its time, or has nothing left to do.
    void Watch()
    {
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double> spent = now - m_started;
        if (m_options.progress && now - m_told >= kTell)
        {
            m_told = now;
            m_options.progress({Duration::Picoseconds(m_clock->Now()), m_measured.Farthest() + 1});
        }
        if (spent.count() > m_options.limits.wallTime.S())
        {
            m_reason = "timeout";
            m_failure = "time limit: the packet engine gave up after " +
                        ToString(m_options.limits.wallTime) + " of wall clock time, at " +
                        std::to_string(m_clock->Now() / 1'000'000'000) + " ms of simulated time";
            ns3::Simulator::Stop();
        }
        else if (!ns3::Simulator::IsFinished())
        {
            ns3::Simulator::Schedule(kWatch, [this] { Watch(); });
        }
    }

    std::string WaitingRanks() const
    {
        return WaitsOf(m_run.graph.ranks,
                       [this](Rank rank) { return m_applications[rank]->DescribeWait(); });
    }

    const PreparedRun& m_run;
    const RunOptions& m_options;
    ns3::Ptr<ns3::JobClock> m_clock;
    ns3::ClusterHelper m_cluster;
    ns3::WireResources m_resources;
    std::optional<ns3::NetworkWatch> m_watch; //!< if a timeline is asked for
    NetworkSeries m_series;
    MeasuredRanks m_measured;
    std::unique_ptr<ns3::FastForward> m_fastForward; //!< null: all is simulated
    ns3::Ptr<ns3::FabricEvents> m_events;            //!< null if the scenario has none
    std::vector<ns3::Ptr<ns3::TrainingApplication>> m_applications;
    std::string m_failure;
    std::string m_reason{"error"};                //!< the name of m_failure
    std::chrono::steady_clock::time_point m_told; //!< when progress was last told
    std::chrono::steady_clock::time_point m_started;
};

} // namespace

PacketEngine::PacketEngine(FastForwards fastForward)
    : m_fastForward(fastForward)
{
}

std::string
PacketEngine::Name() const
{
    return m_fastForward == FastForwards::Never ? "packet" : "packet:fast-forward";
}

bool
PacketEngine::UsesSeed() const
{
    return true;
}

std::string
PacketEngine::Fingerprint() const
{
    return SourceHash(Sources::Module);
}

RunResult
PacketEngine::Run(const Scenario& scenario, const RunOptions& options) const
{
    const auto prepared = PrepareRun(scenario, options.slice);
    if (const auto* no = std::get_if<Infeasible>(&prepared))
    {
        return *no;
    }
    const PreparedRun& run = *std::get_if<PreparedRun>(&prepared); // there, as it is feasible
    if (run.graph.ranks > kMaxRanks)
    {
        throw ConfigError(
            "cluster",
            "the packet engine simulates every NIC, and " + std::to_string(run.graph.ranks) +
                " are too many",
            "up to " + std::to_string(kMaxRanks) + " GPUs",
            "use the analytical engine, a smaller cluster, or compare --scale-down, which makes "
            "one");
    }
    const bool skips = m_fastForward == FastForwards::Steady;
    if (skips && !scenario.events.empty())
    {
        throw ConfigError("events",
                          "they happen at times that fast-forward might skip",
                          "no events with the engine packet:fast-forward",
                          "run it with --engine packet");
    }
    const SimulatorGuard guard;
    if (ns3::Time::GetResolution() != ns3::Time::PS)
    {
        ns3::Time::SetResolution(ns3::Time::PS);
    }
    ns3::RngSeedManager::SetRun(options.seed);
    // Faster than ns-3's default by a quarter; the order of events, hence the result, is the same.
    ns3::Simulator::SetScheduler(ns3::ObjectFactory("ns3::QuadHeapScheduler"));
    // Nobody looks on between events. A study can still ask for an event for everything.
    ns3::Config::SetDefault("ns3::FabricSwitch::LookAhead", ns3::BooleanValue(true));
    ns3::Config::SetDefault("ns3::RdmaNic::LookAhead", ns3::BooleanValue(true));
    ns3::SetAttributeDefaults(scenario.network.ns3Attributes, "network.ns3.");
    Simulation simulation(scenario,
                          run,
                          options,
                          skips ? std::optional<double>(kVerified) : std::nullopt);
    simulation.Execute();
    RunReport report = simulation.Report();
    report.engine = Name();
    CompleteReport(scenario, run, report);
    return report;
}

} // namespace scaleacross
