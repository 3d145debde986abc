// SPDX-License-Identifier: GPL-2.0-only

#include "packet-engine.h"

#include "cluster-helper.h"
#include "core/base/version.h"
#include "core/topology/fabric-graph.h"
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
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/rdma-nic.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/training-application.h"

#include <algorithm>
#include <chrono>

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
    Simulation(const Scenario& scenario, const PreparedRun& run, const RunOptions& options)
        : m_run(run),
          m_options(options),
          m_cluster(scenario),
          m_resources(m_cluster, scenario.cluster, run.graph)
    {
        m_cluster.AssignStreams(0);
        m_events = ns3::ScheduleEvents(scenario, m_cluster);
        const uint32_t ranks = run.graph.ranks;
        m_begin.resize(ranks);
        m_end.resize(ranks);
        for (Rank rank = 0; rank < ranks; rank++)
        {
            auto application = ns3::CreateObject<ns3::TrainingApplication>();
            application->SetRank(&run.graph, rank, m_cluster.GetTransport());
            application->SetIterationCallback(ns3::Callback<void, Rank, uint32_t>(
                [this](Rank who, uint32_t iteration) { Mark(who, iteration); }));
            m_cluster.GetNode(rank)->AddApplication(application);
            m_applications.push_back(application);
            m_unfinished += TakesPart(rank) ? 1 : 0;
        }
        if (options.timeline)
        {
            for (const RankClass& rankClass : run.graph.classes)
            {
                m_applications[rankClass.representative]->RecordRuns();
            }
        }
        m_cluster.SetFailureCallback([this](const std::string& reason) {
            if (m_failure.empty())
            {
                m_failure = reason;
            }
            ns3::Simulator::Stop();
        });
    }

    void Execute()
    {
        m_started = std::chrono::steady_clock::now();
        ns3::Simulator::Schedule(kFirstWatch, [this] { Watch(); });
        ns3::Simulator::Run();
        ns3::CheckConservation(m_cluster.GetFabric());
        // Pauses that lock each other show as a queue pair that gives up, or as events that run
        // out.
        const std::string deadlock = ns3::FindDeadlock(m_cluster.GetFabric()).Text();
        if (!m_failure.empty())
        {
            throw RunError(m_reason, deadlock.empty() ? m_failure : deadlock + "; " + m_failure);
        }
        if (m_unfinished > 0)
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
        report.warmup = m_options.warmup;
        report.iterations = m_options.iterations;
        report.seed = m_options.seed;
        FillTimes(report);
        FillTimeline(report);
        m_cluster.FillNetwork(report.network);
        report.resources = m_resources.Report(m_options.iterations, report.iterationTime);
        return report;
    }

  private:
    struct Snapshot
    {
        int64_t ps{0};
        ns3::RankTimes times;
    };

    static constexpr Rank kNobody = UINT32_MAX;
    // Short runs need no look; in long ones on many hosts 100 us are some 100,000 packets.
    static inline const ns3::Time kFirstWatch = ns3::MilliSeconds(1);
    static inline const ns3::Time kWatch = ns3::MicroSeconds(100);
    static constexpr std::chrono::milliseconds kTell{200};

    void Mark(Rank rank, uint32_t iteration)
    {
        const int64_t now = ns3::Simulator::Now().GetPicoSeconds();
        m_iteration = std::max(m_iteration, iteration);
        if (iteration == m_options.warmup)
        {
            m_begin[rank] = {now, m_applications[rank]->GetTimes()};
            if (m_counted == kNobody)
            {
                m_counted = rank;
                m_resources.Begin();
            }
        }
        if (iteration == m_options.warmup + m_options.iterations)
        {
            m_end[rank] = {now, m_applications[rank]->GetTimes()};
            if (m_counted == rank)
            {
                m_resources.End();
            }
            if (--m_unfinished == 0)
            {
                ns3::Simulator::Stop();
            }
        }
    }

    bool TakesPart(Rank rank) const
    {
        return !m_run.graph.classes[m_run.graph.ClassOf(rank)].program.ops.empty();
    }

    /// Looks in now and then whether the run is over its time, or has nothing left to do.
    void Watch()
    {
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double> spent = now - m_started;
        if (m_options.progress && now - m_told >= kTell)
        {
            m_told = now;
            m_options.progress(
                {Duration::Picoseconds(ns3::Simulator::Now().GetPicoSeconds()), m_iteration + 1});
        }
        if (spent.count() > m_options.limits.wallTime.S())
        {
            m_reason = "timeout";
            m_failure = "time limit: the packet engine gave up after " +
                        ToString(m_options.limits.wallTime) + " of wall clock time, at " +
                        std::to_string(ns3::Simulator::Now().GetMilliSeconds()) +
                        " ms of simulated time";
            ns3::Simulator::Stop();
        }
        else if (!ns3::Simulator::IsFinished())
        {
            ns3::Simulator::Schedule(kWatch, [this] { Watch(); });
        }
    }

    std::string WaitingRanks() const
    {
        std::string text;
        uint32_t named = 0;
        for (Rank rank = 0; rank < m_applications.size() && named < 4; rank++)
        {
            const std::string wait = m_applications[rank]->DescribeWait();
            if (wait != "nothing")
            {
                text += "rank " + std::to_string(rank) + " waits for " + wait + "; ";
                named++;
            }
        }
        return text;
    }

    /// Whatever a rank does at any time is computing, bubble or exposed communication.
    void CheckParts(Rank rank) const
    {
        const Snapshot& begin = m_begin[rank];
        const Snapshot& end = m_end[rank];
        Duration parts =
            end.times.compute - begin.times.compute + (end.times.bubble - begin.times.bubble);
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            parts += end.times.exposed[k] - begin.times.exposed[k];
        }
        SCALEACROSS_INVARIANT(parts.Ps() == end.ps - begin.ps,
                              "rank " + std::to_string(rank) +
                                  ": compute, bubble and exposed are " + ToString(parts) + " of " +
                                  std::to_string(end.ps - begin.ps) + " ps");
    }

    void FillTimes(RunReport& report) const
    {
        double ranks = 0;
        int64_t slowest = 0;
        double compute = 0;
        double bubble = 0;
        std::array<double, kCommClasses> exposed{};
        std::array<double, kCommClasses> busy{};
        for (Rank rank = 0; rank < m_applications.size(); rank++)
        {
            if (!TakesPart(rank))
            {
                continue;
            }
            ranks += m_options.iterations;
            const Snapshot& begin = m_begin[rank];
            const Snapshot& end = m_end[rank];
            slowest = std::max(slowest, end.ps - begin.ps);
            CheckParts(rank);
            compute += (end.times.compute - begin.times.compute).S();
            bubble += (end.times.bubble - begin.times.bubble).S();
            for (uint32_t k = 0; k < kCommClasses; k++)
            {
                exposed[k] += (end.times.exposed[k] - begin.times.exposed[k]).S();
                busy[k] += (end.times.busy[k] - begin.times.busy[k]).S();
            }
        }
        report.iterationTime =
            Duration::Picoseconds(slowest) / static_cast<int64_t>(m_options.iterations);
        report.computeTime = Duration::Seconds(compute / ranks);
        report.bubble = Duration::Seconds(bubble / ranks);
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            report.classes[k].exposed = Duration::Seconds(exposed[k] / ranks);
            report.classes[k].busy = Duration::Seconds(busy[k] / ranks);
        }
    }

    void FillTimeline(RunReport& report) const
    {
        if (!m_options.timeline)
        {
            return;
        }
        int64_t origin = INT64_MAX;
        for (const Snapshot& begin : m_begin)
        {
            origin = std::min(origin, begin.ps);
        }
        std::vector<bool> done(m_run.graph.pipeline.Size(), false);
        for (const RankClass& rankClass : m_run.graph.classes)
        {
            if (done[rankClass.stage])
            {
                continue;
            }
            done[rankClass.stage] = true;
            for (const ns3::RankRun& r : m_applications[rankClass.representative]->GetRuns())
            {
                if (r.iteration == m_options.warmup)
                {
                    const Duration start = Duration::Picoseconds(origin);
                    report.timeline.push_back({rankClass.stage,
                                               r.action,
                                               r.chunk,
                                               r.microbatch,
                                               r.begin - start,
                                               r.end - start,
                                               r.backChunk,
                                               r.backMicrobatch});
                }
            }
        }
    }

    const PreparedRun& m_run;
    const RunOptions& m_options;
    ns3::ClusterHelper m_cluster;
    ns3::WireResources m_resources;
    Rank m_counted{kNobody};              //!< whose iterations they are counted over
    ns3::Ptr<ns3::FabricEvents> m_events; //!< null if the scenario has none
    std::vector<ns3::Ptr<ns3::TrainingApplication>> m_applications;
    std::vector<Snapshot> m_begin; //!< of the measured iterations, by rank
    std::vector<Snapshot> m_end;
    uint32_t m_unfinished{0};
    std::string m_failure;
    std::string m_reason{"error"};                //!< the name of m_failure
    uint32_t m_iteration{0};                      //!< the last that a rank has begun
    std::chrono::steady_clock::time_point m_told; //!< when progress was last told
    std::chrono::steady_clock::time_point m_started;
};

} // namespace

std::string
PacketEngine::Name() const
{
    return "packet";
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
    const auto prepared = PrepareRun(scenario);
    if (const auto* no = std::get_if<Infeasible>(&prepared))
    {
        return *no;
    }
    const PreparedRun& run = std::get<PreparedRun>(prepared);
    if (run.graph.ranks > kMaxRanks)
    {
        throw ConfigError("cluster",
                          "the packet engine simulates every NIC, and " +
                              std::to_string(run.graph.ranks) + " are too many",
                          "up to " + std::to_string(kMaxRanks) + " GPUs",
                          "use the analytical engine, or a smaller cluster");
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
    Simulation simulation(scenario, run, options);
    simulation.Execute();
    RunReport report = simulation.Report();
    report.engine = Name();
    CompleteReport(scenario, run, report);
    return report;
}

} // namespace scaleacross
