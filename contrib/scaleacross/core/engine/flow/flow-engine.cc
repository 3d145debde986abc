// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/flow-engine.h"

#include "core/base/errors.h"
#include "core/base/version.h"
#include "core/engine/event-heap.h"
#include "core/engine/flow/flow-clock.h"
#include "core/engine/link-resources.h"
#include "core/engine/measured-ranks.h"
#include "core/engine/resource-report.h"
#include "core/engine/series-sampler.h"
#include "core/program/rank-replay.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>
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
                   const FlowPaths& paths,
                   const Symmetry& symmetry,
                   Collisions collisions,
                   std::string name,
                   FlowEngine::Replay replay)
        : m_run(run),
          m_options(options),
          m_name(std::move(name)),
          m_symmetry(symmetry),
          m_replay(replay),
          m_transport(
              scenario,
              paths,
              symmetry,
              collisions,
              options.seed,
              m_clock,
              [this](const RankMessage& message) { SeatOf(message.to).replay.Delivered(message); },
              [this](Rank rank) -> RankReplay& { return SeatOf(rank).replay; }),
          m_resources(scenario.cluster, scenario.events, paths.Graph(), run.graph),
          m_measured(run.graph, options, CountsOf(symmetry)),
          m_seatNumbers(run.graph.ranks)
    {
        for (Rank rank = 0; rank < run.graph.ranks; rank++)
        {
            if (symmetry.rank[rank] == rank)
            {
                m_seatNumbers[rank] = static_cast<uint32_t>(m_seats.size());
                m_seats.emplace_back(*this, rank, m_seatNumbers[rank]);
            }
        }
        for (const Rank rank : m_measured.Recorded())
        {
            SeatOf(rank).replay.Record();
        }
        if (options.timeline != Timelines::None)
        {
            m_links = m_resources.ByName();
            m_sampler.emplace(m_links.loads);
        }
    }

    /// False as soon as the order in which simultaneous things are told decides who comes first,
    /// which sets ranks apart that are taken to be alike; unless they are to stay together.
    bool Execute(bool together, std::chrono::steady_clock::time_point started)
    {
        m_started = started;
        for (Seat& seat : m_seats)
        {
            m_clock.At(Duration(), [&seat] { seat.replay.Start(); });
        }
        while (!m_measured.AreDone())
        {
            if (!together && m_transport.Network().OrderDecides())
            {
                return false;
            }
            Duration next = std::min(m_clock.Earliest(), m_transport.Network().NextChange());
            if (!m_heap.Empty())
            {
                next = std::min(next, m_heap.Earliest().at);
            }
            if (next == Duration::Max())
            {
                throw RunError(
                    "deadlock",
                    "deadlock: nothing can go on; " + WaitsOf(m_run.graph.ranks, [this](Rank rank) {
                        return m_symmetry.rank[rank] == rank ? SeatOf(rank).replay.DescribeWait()
                                                             : "nothing";
                    }));
            }
            SampleUntil(next);
            Step(next);
            Watch();
        }
        if (m_sampler)
        {
            m_sampler->Take(m_clock.Now(), m_links.Sum(m_transport.Carried()));
        }
        return true;
    }

    RunReport Report() const
    {
        RunReport report;
        NetworkSeries series = m_sampler ? m_sampler->Result() : NetworkSeries();
        m_resources.FillLeft(series);
        m_measured.Fill(
            report,
            [this](Rank rank) -> const RankRecord& { return *SeatOf(rank).replay.Recorded(); },
            series);
        report.resources = m_resources.Report(
            m_end - m_begin,
            {m_options.iterations, report.iterationTime, Duration(), m_clock.Now()});
        return report;
    }

  private:
    /// A rank's place in the simulation.
    struct Seat : RankWorld
    {
        Seat(FlowSimulation& simulation, Rank rank, EventHeap::Id number)
            : simulation(simulation),
              rank(rank),
              number(number),
              replay(simulation.m_run.graph, rank, *this)
        {
        }

        Duration Now() const override
        {
            return simulation.m_clock.Now();
        }

        void ComputeUntil(Duration end) override
        {
            simulation.m_heap.Set(number, {end, number});
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

        bool TakesPhase(const PhaseStart& start) override
        {
            return simulation.m_replay == FlowEngine::Replay::Different &&
                   simulation.m_transport.TakesPhase(rank, start);
        }

        void IterationBegins(uint32_t iteration) override
        {
            simulation.Begins(*this, iteration);
        }

        FlowSimulation& simulation;
        Rank rank;
        EventHeap::Id number;
        RankReplay replay;
    };

    static std::vector<uint32_t> CountsOf(const Symmetry& symmetry)
    {
        std::vector<uint32_t> counts(symmetry.rank.size());
        for (Rank rank = 0; rank < counts.size(); rank++)
        {
            counts[rank] = symmetry.rank[rank] == rank ? symmetry.ranks[rank] : 0;
        }
        return counts;
    }

    /// Of a rank that stands for itself.
    Seat& SeatOf(Rank rank)
    {
        return m_seats[m_seatNumbers[rank]];
    }

    const Seat& SeatOf(Rank rank) const
    {
        return m_seats[m_seatNumbers[rank]];
    }

    /// All that happens at one time; then the network shares anew.
    void Step(Duration now)
    {
        const auto seats = static_cast<EventHeap::Id>(m_seats.size());
        m_clock.GoOnTo(now);
        while (!m_heap.Empty() && m_heap.Earliest().at == now)
        {
            const EventHeap::Id id = m_heap.First();
            m_heap.Remove(id);
            if (id < seats)
            {
                m_seats[id].replay.ComputeDone();
            }
            else
            {
                m_transport.Finished(id - seats);
            }
            m_clock.GoOnTo(now);
        }
        m_transport.Share();
        const FlowNetwork& network = m_transport.Network();
        for (const FlowNetwork::Id flow : network.Changed())
        {
            m_heap.Set(seats + flow, {network.FinishTime(flow), m_transport.OrderOf(flow)});
        }
    }

    void Begins(const Seat& seat, uint32_t iteration)
    {
        switch (m_measured.Begins(seat.rank, iteration, m_clock.Now(), seat.replay.Times()))
        {
        case MeasuredRanks::Mark::Begin:
            m_begin = m_transport.Carried();
            if (m_sampler)
            {
                m_sampler->Begin(m_clock.Now(), m_links.Sum(m_begin));
            }
            break;
        case MeasuredRanks::Mark::End:
            m_end = m_transport.Carried();
            break;
        case MeasuredRanks::Mark::Nothing:
            break;
        }
    }

    /// Nothing happens before `next`: rates stay what they are.
    void SampleUntil(Duration next)
    {
        while (m_sampler && m_sampler->Due() < next)
        {
            m_clock.GoOnTo(m_sampler->Due());
            m_sampler->Take(m_clock.Now(), m_links.Sum(m_transport.Carried()));
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
                           "time limit: the " + m_name + " engine gave up after " +
                               ToString(m_options.limits.wallTime) + " of wall clock time, at " +
                               ToString(m_clock.Now()) + " of simulated time");
        }
    }

    const PreparedRun& m_run;
    const RunOptions& m_options;
    std::string m_name;
    const Symmetry& m_symmetry;
    FlowEngine::Replay m_replay;
    FlowClock m_clock;
    FlowTransport m_transport;
    LinkResources m_resources;
    NamedLinks m_links;
    std::optional<SeriesSampler> m_sampler; //!< if a timeline is asked for
    MeasuredRanks m_measured;
    std::deque<Seat> m_seats;            //!< of ranks that stand for themselves
    std::vector<uint32_t> m_seatNumbers; //!< of those, by rank
    EventHeap m_heap;                    //!< ends of computing, by seat; then of flows
    CarriedBytes m_begin;                //!< at the beginning of the measured iterations
    CarriedBytes m_end;
    uint32_t m_steps{0};
    std::chrono::steady_clock::time_point m_started;
    std::chrono::steady_clock::time_point m_told;
};

/// Why no two ranks go on alike, though they do the same: nothing does.
std::optional<std::string>
WhyRanksDiffer(const Scenario& scenario, const FabricGraph& fabric, Collisions collisions)
{
    const NetworkPlan& network = scenario.network;
    if (collisions == Collisions::Sampled)
    {
        return "the links that hashes give them";
    }
    if (network.multipath->owner == PathOwner::Destination)
    {
        return "the links that their addresses give them";
    }
    if (network.admission > Bytes())
    {
        return "the order in which receivers grant them something";
    }
    const bool loses = std::any_of(fabric.links.begin(), fabric.links.end(), [](const auto& link) {
        return link.loss > 0;
    });
    return loses ? std::optional<std::string>("the packets that they lose") : std::nullopt;
}

} // namespace

std::string
FlowEngine::Name() const
{
    return !m_collisions                           ? "flow"
           : *m_collisions == Collisions::Expected ? "flow:expected"
                                                   : "flow:sampled";
}

Collisions
FlowEngine::CollisionsOf(const Scenario& scenario, uint32_t ranks) const
{
    const Multipath multipath = scenario.network.multipath;
    const bool hashes = !multipath->IsSprayed() && multipath->owner != PathOwner::Destination;
    return m_collisions.value_or(hashes && ranks <= kMaxApart ? Collisions::Sampled
                                                              : Collisions::Expected);
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
    const FlowPaths paths(scenario, static_cast<uint32_t>(options.seed - 1));
    const Collisions collisions = CollisionsOf(scenario, run.graph.ranks);
    const std::optional<std::string> differs = WhyRanksDiffer(scenario, paths.Graph(), collisions);
    const Symmetry symmetry = m_replay == Replay::Every || differs
                                  ? NoSymmetry(run.graph.ranks, paths)
                                  : FindSymmetry(scenario, run.graph, paths);
    const uint32_t kinds = symmetry.Kinds();
    if (kinds > kMaxRanks)
    {
        throw ConfigError("cluster",
                          "the flow engine replays all ranks that differ, and " +
                              std::to_string(kinds) + " are too many" +
                              (differs ? "; they differ by " + *differs : ""),
                          "up to " + std::to_string(kMaxRanks),
                          "use the analytical engine, or a smaller cluster");
    }
    RunReport report;
    const auto started = std::chrono::steady_clock::now();
    const auto replayed = [&](const Symmetry& alike, Replay replay, bool together) {
        FlowSimulation simulation(scenario, run, options, paths, alike, collisions, Name(), replay);
        const bool done = simulation.Execute(together, started);
        if (done)
        {
            report = simulation.Report();
        }
        return done;
    };
    const bool together = m_replay == Replay::Every || run.graph.ranks > kMaxApart;
    if (!replayed(symmetry, m_replay, together))
    {
        replayed(NoSymmetry(run.graph.ranks, paths), Replay::Every, true);
    }
    report.engine = Name();
    CompleteReport(scenario, run, report);
    const std::optional<std::string> tooMuch = FillBusy(report);
    SCALEACROSS_INVARIANT(!tooMuch, tooMuch.value_or(""));
    return report;
}

} // namespace scaleacross
