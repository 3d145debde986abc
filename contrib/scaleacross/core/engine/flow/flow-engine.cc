// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/flow-engine.h"

#include "core/base/errors.h"
#include "core/base/version.h"
#include "core/engine/event-heap.h"
#include "core/engine/flow/flow-clock.h"
#include "core/engine/link-resources.h"
#include "core/engine/measured-ranks.h"
#include "core/engine/resource-report.h"
#include "core/program/rank-replay.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

/// One run: the ranks, the network, and the clock that they share.
class FlowSimulation
{
  public:
    FlowSimulation(const Scenario& scenario,
                   const PreparedRun& run,
                   const RunOptions& options,
                   Collisions collisions)
        : m_run(run),
          m_options(options),
          m_transport(scenario,
                      collisions,
                      options.seed,
                      m_clock,
                      [this](const RankMessage& message) {
                          m_seats[message.to].replay.Delivered(message);
                      }),
          m_resources(scenario.cluster, m_transport.Graph(), run.graph),
          m_measured(run.graph, options)
    {
        for (Rank rank = 0; rank < run.graph.ranks; rank++)
        {
            m_seats.emplace_back(*this, rank);
        }
        if (options.timeline)
        {
            for (const RankClass& rankClass : run.graph.classes)
            {
                m_seats[rankClass.representative].replay.RecordRuns();
            }
        }
    }

    void Execute()
    {
        m_started = std::chrono::steady_clock::now();
        for (Seat& seat : m_seats)
        {
            m_clock.At(Duration(), [&seat] { seat.replay.Start(); });
        }
        while (!m_measured.AreDone())
        {
            const Duration next = m_heap.Empty()
                                      ? m_clock.Earliest()
                                      : std::min(m_clock.Earliest(), m_heap.Earliest().at);
            if (next == Duration::Max())
            {
                throw RunError("deadlock",
                               "deadlock: nothing can go on; " +
                                   WaitsOf(m_run.graph.ranks, [this](Rank rank) {
                                       return m_seats[rank].replay.DescribeWait();
                                   }));
            }
            Step(next);
            Watch();
        }
    }

    RunReport Report() const
    {
        RunReport report;
        m_measured.Fill(report, [this](Rank rank) -> const std::vector<RankRun>& {
            return m_seats[rank].replay.Runs();
        });
        report.resources =
            m_resources.Report(m_end - m_begin, m_options.iterations, report.iterationTime);
        return report;
    }

  private:
    /// A rank's place in the simulation.
    struct Seat : RankWorld
    {
        Seat(FlowSimulation& simulation, Rank rank)
            : simulation(simulation),
              rank(rank),
              replay(simulation.m_run.graph, rank, *this)
        {
        }

        Duration Now() const override
        {
            return simulation.m_clock.Now();
        }

        void ComputeUntil(Duration end) override
        {
            simulation.m_heap.Set(rank, {end, rank});
        }

        void LaunchAt(Duration at, uint32_t stream) override
        {
            simulation.m_clock.At(at, [this, stream] { replay.Launched(stream); });
        }

        void Send(Rank to, Bytes bytes, uint64_t tag, const MessageCare& care) override
        {
            simulation.m_transport.Send(rank, to, bytes, tag, care);
        }

        void SendCopies(const std::vector<MessageCopy>& copies,
                        Bytes bytes,
                        const MessageCare& care) override
        {
            simulation.m_transport.SendCopies(rank, copies, bytes, care);
        }

        void SendCredit(Rank to, uint64_t tag) override
        {
            simulation.m_transport.SendCredit(rank, to, tag);
        }

        void IterationBegins(uint32_t iteration) override
        {
            simulation.Begins(*this, iteration);
        }

        FlowSimulation& simulation;
        Rank rank;
        RankReplay replay;
    };

    /// All that happens at one time; then the network shares anew.
    void Step(Duration now)
    {
        m_clock.GoOnTo(now);
        while (!m_heap.Empty() && m_heap.Earliest().at == now)
        {
            const EventHeap::Id id = m_heap.First();
            m_heap.Remove(id);
            if (id < m_run.graph.ranks)
            {
                m_seats[id].replay.ComputeDone();
            }
            else
            {
                m_transport.Finished(id - m_run.graph.ranks);
            }
            m_clock.GoOnTo(now);
        }
        FlowNetwork& network = m_transport.Network();
        network.Share(now);
        for (const FlowNetwork::Id flow : network.Changed())
        {
            const EventHeap::Id id = m_run.graph.ranks + flow;
            m_heap.Set(id, {network.FinishTime(flow), id});
        }
    }

    void Begins(const Seat& seat, uint32_t iteration)
    {
        switch (m_measured.Begins(seat.rank, iteration, m_clock.Now(), seat.replay.Times()))
        {
        case MeasuredRanks::Mark::Begin:
            m_begin = m_transport.Carried();
            break;
        case MeasuredRanks::Mark::End:
            m_end = m_transport.Carried();
            break;
        case MeasuredRanks::Mark::Nothing:
            break;
        }
    }

    /// Looks in now and then whether the run is over its time, and tells how far it is.
    void Watch()
    {
        constexpr uint32_t kLook = 16; // steps: some 10 us, or on many links some milliseconds each
        if (++m_steps % kLook != 0)
        {
            return;
        }
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double> spent = now - m_started;
        if (m_options.progress && now - m_told >= std::chrono::milliseconds(200))
        {
            m_told = now;
            m_options.progress({m_clock.Now(), m_measured.Farthest() + 1});
        }
        if (spent.count() > m_options.limits.wallTime.S())
        {
            throw RunError("timeout",
                           "time limit: the flow engine gave up after " +
                               ToString(m_options.limits.wallTime) + " of wall clock time, at " +
                               ToString(m_clock.Now()) + " of simulated time");
        }
    }

    const PreparedRun& m_run;
    const RunOptions& m_options;
    FlowClock m_clock;
    FlowTransport m_transport;
    LinkResources m_resources;
    MeasuredRanks m_measured;
    std::deque<Seat> m_seats; //!< by rank
    EventHeap m_heap;         //!< ends of computing, by rank; then of flows
    CarriedBytes m_begin;     //!< at the beginning of the measured iterations
    CarriedBytes m_end;
    uint32_t m_steps{0};
    std::chrono::steady_clock::time_point m_started;
    std::chrono::steady_clock::time_point m_told;
};

} // namespace

std::string
FlowEngine::Name() const
{
    return m_collisions == Collisions::Expected ? "flow" : "flow:sampled";
}

bool
FlowEngine::UsesSeed() const
{
    return true;
}

std::string
FlowEngine::Fingerprint() const
{
    return SourceHash(Sources::Core);
}

RunResult
FlowEngine::Run(const Scenario& scenario, const RunOptions& options) const
{
    const auto prepared = PrepareRun(scenario, options.slice);
    if (const auto* no = std::get_if<Infeasible>(&prepared))
    {
        return *no;
    }
    const PreparedRun& run = std::get<PreparedRun>(prepared);
    if (run.graph.ranks > kMaxRanks)
    {
        throw ConfigError("cluster",
                          "the flow engine replays every rank, and " +
                              std::to_string(run.graph.ranks) + " are too many",
                          "up to " + std::to_string(kMaxRanks) + " GPUs",
                          "use the analytical engine, or a smaller cluster");
    }
    FlowSimulation simulation(scenario, run, options, m_collisions);
    simulation.Execute();
    RunReport report = simulation.Report();
    report.engine = Name();
    CompleteReport(scenario, run, report);
    const std::optional<std::string> tooMuch = FillBusy(report);
    SCALEACROSS_INVARIANT(!tooMuch, tooMuch.value_or(""));
    return report;
}

} // namespace scaleacross
