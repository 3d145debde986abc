// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/trace-events.h"

#include "cli/show/report-json.h"
#include "core/program/pass-name.h"
#include "core/topology/rank-layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fmt/core.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

namespace scaleacross
{

namespace
{

/// Rows of a process, from top to bottom; streams follow.
enum Row : uint32_t
{
    kPasses,
    kTime,
    kFirstStream,
};

constexpr std::array<const char*, kStreams> kStreamNames = {"tensor stream",
                                                            "context stream",
                                                            "expert stream",
                                                            "gather stream",
                                                            "reduce stream"};

/// Whole nanoseconds up to a time, which readers of the format count in. Domain: time >= 0.
int64_t
Ns(Duration time)
{
    return time.Ps() / 1000;
}

/// Microseconds that are these nanoseconds again whether a reader rounds or cuts off.
double
Us(int64_t ns)
{
    double us = static_cast<double>(ns) / 1e3;
    while (static_cast<int64_t>(us * 1e3) < ns)
    {
        us = std::nextafter(us, std::numeric_limits<double>::infinity());
    }
    return us;
}

class Writer
{
  public:
    Writer(const Study& study, const RunReport& report)
        : m_study(study.name),
          m_scenario(study.scenario),
          m_report(report),
          m_timeline(*report.timeline),
          m_layout(std::get<RankLayout>(LayOut(study.scenario.Job().plan, study.scenario.cluster)))
    {
    }

    Json Trace()
    {
        for (uint32_t process = 0; process < m_timeline.ranks.size(); process++)
        {
            Name(process);
            Passes(process);
            Spells(process);
            Collectives(process);
            Arrivals(process);
        }
        // Readers bind an arrow to the slices that they have seen.
        for (uint32_t process = 0; process < m_timeline.ranks.size(); process++)
        {
            Arrows(process);
        }
        Network();
        return {{"traceEvents", std::move(m_events)},
                {"displayTimeUnit", "ns"},
                {"otherData", OtherData()}};
    }

  private:
    Json& Add(const char* phase, uint32_t process, uint32_t row, std::string name)
    {
        m_events.push_back(
            {{"ph", phase}, {"pid", process}, {"tid", row}, {"name", std::move(name)}});
        return m_events.back();
    }

    /// A stretch of time. Its ends are cut to nanoseconds, not its length, so that what follows
    /// each other in a row does so to a reader as well; `args` have the picoseconds.
    Json& Slice(uint32_t process,
                uint32_t row,
                std::string name,
                const std::string& category,
                Duration begin,
                Duration end)
    {
        Json& event = Add("X", process, row, std::move(name));
        event["cat"] = category;
        event["ts"] = Us(Ns(begin));
        event["dur"] = Us(Ns(end) - Ns(begin));
        event["args"] = {{"begin_ps", begin.Ps()}, {"dur_ps", (end - begin).Ps()}};
        return event;
    }

    void NameRow(uint32_t process, uint32_t row, const std::string& name)
    {
        Add("M", process, row, "thread_name")["args"] = {{"name", name}};
        Add("M", process, row, "thread_sort_index")["args"] = {{"sort_index", row}};
    }

    void Name(uint32_t process)
    {
        const RankTimeline& rank = m_timeline.ranks[process];
        const std::string& building =
            m_scenario.cluster.buildings[m_layout.BuildingOf(rank.rank)].name;
        std::string name = fmt::format("stage {}, rank {} in {}", rank.stage, rank.rank, building);
        if (rank.ranks > 1)
        {
            name += fmt::format(", for {} alike", rank.ranks);
        }
        Add("M", process, kPasses, "process_name")["args"] = {{"name", name}};
        Add("M", process, kPasses, "process_sort_index")["args"] = {{"sort_index", process}};
        NameRow(process, kPasses, "passes");
        NameRow(process, kTime, "where the time goes");
    }

    void Passes(uint32_t process)
    {
        for (const RankRun& run : m_timeline.ranks[process].record.runs)
        {
            const bool both = run.action == Action::ForwardBackward;
            const bool of = run.action != Action::Optimizer;
            Json& args = Slice(process,
                               kPasses,
                               PassName(run.action, run.microbatch, run.backMicrobatch),
                               "pass",
                               run.begin,
                               run.end)["args"];
            args["iteration"] = run.iteration;
            if (of)
            {
                args["microbatch"] = run.microbatch;
                args["chunk"] = run.chunk;
            }
            if (both)
            {
                args["back_microbatch"] = run.backMicrobatch;
                args["back_chunk"] = run.backChunk;
            }
        }
    }

    void Spells(uint32_t process)
    {
        for (const RankSpell& spell : m_timeline.ranks[process].record.spells)
        {
            const bool exposed = spell.occupation == Occupation::Exposed;
            const std::string kind = exposed                                   ? "exposed"
                                     : spell.occupation == Occupation::Compute ? "compute"
                                                                               : "bubble";
            Slice(process,
                  kTime,
                  exposed ? kind + " " + ToString(spell.comm) : kind,
                  kind,
                  spell.begin,
                  spell.end);
        }
    }

    void Collectives(uint32_t process)
    {
        std::array<bool, kStreams> named{};
        for (const RankCollective& one : m_timeline.ranks[process].record.collectives)
        {
            const auto stream = static_cast<uint32_t>(one.stream);
            if (!std::exchange(named[stream], true))
            {
                NameRow(process, kFirstStream + stream, kStreamNames[stream]);
            }
            const CollectiveName& name = m_timeline.collectives[one.collective];
            Json& args = Slice(process,
                               kFirstStream + stream,
                               ToString(name.comm) + " " + name.name,
                               "collective",
                               one.begin,
                               one.end)["args"];
            args["algorithm"] = name.algorithm;
            args["collective"] = one.collective;
        }
    }

    /// Messages to a rank, from the beginning of the clock at the earliest.
    void Arrivals(uint32_t process)
    {
        for (const RankArrival& arrival : m_timeline.ranks[process].record.arrivals)
        {
            const uint64_t id = m_messages++;
            const Duration from = std::max(arrival.posted, Duration());
            for (const bool begins : {true, false})
            {
                Json& event = Add(begins ? "b" : "e", process, kPasses, NameOf(arrival));
                event["cat"] = "message";
                event["id"] = id;
                event["ts"] = Us(Ns(begins ? from : arrival.arrived));
                if (begins)
                {
                    event["args"] = {{"message", arrival.message},
                                     {"from_rank", arrival.from},
                                     {"posted_ps", arrival.posted.Ps()},
                                     {"arrived_ps", arrival.arrived.Ps()}};
                }
            }
        }
    }

    /// An arrow for each message of which the pass that sent it and the pass that it is for are
    /// here: from the last nanosecond within the first to the beginning of the second.
    void Arrows(uint32_t process)
    {
        const RankRecord& record = m_timeline.ranks[process].record;
        for (const RankArrival& arrival : record.arrivals)
        {
            const size_t sender = ProcessOf(arrival.from);
            const RankRun* sent = sender == m_timeline.ranks.size()
                                      ? nullptr
                                      : LastOf(m_timeline.ranks[sender], arrival.posted);
            if (sent == nullptr || arrival.run == RankArrival::kNoRun ||
                Ns(sent->end) == Ns(sent->begin))
            {
                continue;
            }
            Arrow("s", static_cast<uint32_t>(sender), arrival, Ns(sent->end) - 1);
            Json& to = Arrow("f", process, arrival, Ns(record.runs[arrival.run].begin));
            to["bp"] = "e"; // bound to the slice that encloses it, not to the next
            m_arrows++;
        }
    }

    Json& Arrow(const char* phase, uint32_t process, const RankArrival& arrival, int64_t ns)
    {
        Json& event = Add(phase, process, kPasses, NameOf(arrival));
        event["cat"] = "arrow";
        event["id"] = m_arrows;
        event["ts"] = Us(ns);
        return event;
    }

    static std::string NameOf(const RankArrival& arrival)
    {
        return fmt::format("pp message {}", arrival.message);
    }

    /// A rank's last pass that began before `now`, which has sent what was posted then. Null if it
    /// is not here, as it was before the measured iterations.
    static const RankRun* LastOf(const RankTimeline& rank, Duration now)
    {
        const std::vector<RankRun>& runs = rank.record.runs;
        const auto last = std::find_if(runs.rbegin(), runs.rend(), [&](const RankRun& run) {
            return run.begin < now;
        });
        return last == runs.rend() ? nullptr : &*last;
    }

    /// A counter for each figure of the network, in a process of their own below the ranks.
    void Network()
    {
        const NetworkSeries& network = m_timeline.network;
        if (network.series.empty())
        {
            return;
        }
        const auto process = static_cast<uint32_t>(m_timeline.ranks.size());
        Add("M", process, 0, "process_name")["args"] = {{"name", "network"}};
        Add("M", process, 0, "process_sort_index")["args"] = {{"sort_index", process}};
        for (const Series& one : network.series)
        {
            std::optional<double> shown;
            for (uint32_t step = 0; step < network.Steps(); step++)
            {
                const double value =
                    one.kind == SeriesKind::Load ? network.ShareOf(one, step) : one.values[step];
                // It stays what it was until the next event.
                if (shown != value)
                {
                    Counter(process, one, network.at[step], value);
                    shown = value;
                }
            }
            if (shown != 0.0)
            {
                Counter(process, one, network.at.back(), 0);
            }
        }
    }

    void Counter(uint32_t process, const Series& one, Duration at, double value)
    {
        static constexpr std::array<const char*, 3> kinds = {"busy", "count", "bytes"};
        Json& event = Add("C", process, 0, one.name);
        event["cat"] = "network";
        event["ts"] = Us(Ns(std::max(at, Duration()))); // its step may have begun before
        event["args"] = {{kinds[static_cast<size_t>(one.kind)], value}};
    }

    /// The number of ranks if the rank is not here.
    size_t ProcessOf(Rank rank) const
    {
        const std::vector<RankTimeline>& ranks = m_timeline.ranks;
        const auto at =
            std::lower_bound(ranks.begin(), ranks.end(), rank, [](const RankTimeline& a, Rank b) {
                return a.rank < b;
            });
        return at != ranks.end() && at->rank == rank ? static_cast<size_t>(at - ranks.begin())
                                                     : ranks.size();
    }

    Json OtherData() const
    {
        Json processes = Json::array();
        for (const RankTimeline& rank : m_timeline.ranks)
        {
            processes.push_back({{"rank", rank.rank},
                                 {"stage", rank.stage},
                                 {"ranks", rank.ranks},
                                 {"begin_ps", rank.begin.Ps()},
                                 {"end_ps", rank.end.Ps()}});
        }
        return {{"study", m_study},
                {"whole", m_timeline.IsWhole()},
                {"processes", processes},
                {"report", ToJson(m_report)}};
    }

    const std::string& m_study;
    const Scenario& m_scenario;
    const RunReport& m_report;
    const Timeline& m_timeline;
    RankLayout m_layout;
    Json m_events = Json::array();
    uint64_t m_messages{0};
    uint64_t m_arrows{0};
};

} // namespace

std::string
TraceEvents(const Study& study, const RunReport& report)
{
    return Writer(study, report).Trace().dump() + "\n";
}

} // namespace scaleacross
