// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/measured-ranks.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace scaleacross
{

MeasuredRanks::MeasuredRanks(const TaskGraph& graph,
                             const RunOptions& options,
                             std::vector<uint32_t> counts)
    : m_graph(graph),
      m_options(options),
      m_counts(std::move(counts)),
      m_begin(graph.ranks),
      m_end(graph.ranks)
{
    if (graph.once)
    {
        m_options.warmup = 0;
        m_options.iterations = 1;
    }
    for (Rank rank = 0; rank < graph.ranks; rank++)
    {
        if (graph.classes[graph.ClassOf(rank)].program.ops.empty())
        {
            m_counts[rank] = 0;
        }
        m_unfinished += m_counts[rank] > 0 ? 1 : 0;
    }
}

MeasuredRanks::Mark
MeasuredRanks::Begins(Rank rank, uint32_t iteration, Duration now, const RankTimes& times)
{
    m_farthest = std::max(m_farthest, iteration);
    Mark mark = Mark::Nothing;
    if (iteration == m_options.warmup)
    {
        m_begin[rank] = {now.Ps(), times, Duration()};
        if (m_first == kNobody)
        {
            m_first = rank;
            mark = Mark::Begin;
        }
    }
    if (iteration == m_options.warmup + m_options.iterations)
    {
        m_end[rank] = {now.Ps(), times, Duration()};
        m_unfinished--;
        // Of a graph that is run once all that moves is of the iteration, to its end.
        mark = (m_graph.once ? AreDone() : m_first == rank) ? Mark::End : mark;
        if (AreDone() && m_graph.once)
        {
            EndTogether();
        }
    }
    return mark;
}

void
MeasuredRanks::EndTogether()
{
    int64_t last = 0;
    for (Rank rank = 0; rank < m_graph.ranks; rank++)
    {
        last = m_counts[rank] > 0 ? std::max(last, m_end[rank].ps) : last;
    }
    for (Rank rank = 0; rank < m_graph.ranks; rank++)
    {
        Snapshot& end = m_end[rank];
        end.idle = m_counts[rank] > 0 ? Duration::Picoseconds(last - end.ps) : Duration();
        end.times.bubble += end.idle;
        end.ps += end.idle.Ps();
    }
}

void
MeasuredRanks::Fill(RunReport& report,
                    const std::function<const RankRecord&(Rank)>& records,
                    const NetworkSeries& network) const
{
    report.warmup = m_options.warmup;
    report.iterations = m_options.iterations;
    report.seed = m_options.seed;
    FillTimes(report);
    FillTimeline(report, records, network);
}

/// Whatever a rank does at any time is computing, bubble or exposed communication.
void
MeasuredRanks::CheckParts(Rank rank) const
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
                          "rank " + std::to_string(rank) + ": compute, bubble and exposed are " +
                              ToString(parts) + " of " + std::to_string(end.ps - begin.ps) + " ps");
}

void
MeasuredRanks::FillTimes(RunReport& report) const
{
    double ranks = 0;
    int64_t slowest = 0;
    int64_t from = INT64_MAX;
    int64_t until = 0;
    double compute = 0;
    double bubble = 0;
    std::array<double, kCommClasses> exposed{};
    std::array<double, kCommClasses> busy{};
    for (Rank rank = 0; rank < m_graph.ranks; rank++)
    {
        const double count = m_counts[rank];
        if (count == 0)
        {
            continue;
        }
        ranks += count * m_options.iterations;
        const Snapshot& begin = m_begin[rank];
        const Snapshot& end = m_end[rank];
        slowest = std::max(slowest, end.ps - begin.ps);
        from = std::min(from, begin.ps);
        until = std::max(until, end.ps);
        CheckParts(rank);
        compute += count * (end.times.compute - begin.times.compute).S();
        bubble += count * (end.times.bubble - begin.times.bubble).S();
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            exposed[k] += count * (end.times.exposed[k] - begin.times.exposed[k]).S();
            busy[k] += count * (end.times.busy[k] - begin.times.busy[k]).S();
        }
    }
    report.iterationTime =
        Duration::Picoseconds(slowest) / static_cast<int64_t>(m_options.iterations);
    report.measured = MeasuredSpan{Duration::Picoseconds(from), Duration::Picoseconds(until)};
    report.computeTime = Duration::Seconds(compute / ranks);
    report.bubble = Duration::Seconds(bubble / ranks);
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        report.classes[k].exposed = Duration::Seconds(exposed[k] / ranks);
        report.classes[k].busy = Duration::Seconds(busy[k] / ranks);
    }
}

std::vector<Rank>
MeasuredRanks::Recorded() const
{
    std::vector<Rank> ranks;
    for (Rank rank = 0; rank < m_graph.ranks && m_options.timeline != Timelines::None; rank++)
    {
        const bool stands = m_graph.classes[m_graph.ClassOf(rank)].representative == rank;
        if (m_counts[rank] > 0 && (stands || m_options.timeline == Timelines::OfAll))
        {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

void
MeasuredRanks::FillTimeline(RunReport& report,
                            const std::function<const RankRecord&(Rank)>& records,
                            const NetworkSeries& network) const
{
    const std::vector<Rank> ranks = Recorded();
    if (ranks.empty())
    {
        return;
    }
    Timeline timeline;
    for (const Rank rank : ranks)
    {
        const Duration end = Duration::Picoseconds(m_end[rank].ps);
        RankRecord record = records(rank);
        record.Spend(Occupation::Bubble, CommClass::Pipeline, end - m_end[rank].idle, end);
        timeline.Add({rank,
                      m_graph.classes[m_graph.ClassOf(rank)].stage,
                      m_options.timeline == Timelines::OfAll ? m_counts[rank] : 1,
                      Duration::Picoseconds(m_begin[rank].ps),
                      end,
                      {}},
                     record,
                     m_options.warmup,
                     m_options.iterations);
    }
    timeline.network = network;
    timeline.Complete(m_graph);
    report.timeline = std::move(timeline);
}

std::string
WaitsOf(uint32_t ranks, const std::function<std::string(Rank)>& describeWait)
{
    std::string text;
    uint32_t named = 0;
    for (Rank rank = 0; rank < ranks && named < 4; rank++)
    {
        const std::string wait = describeWait(rank);
        if (wait != "nothing")
        {
            text += "rank " + std::to_string(rank) + " waits for " + wait + "; ";
            named++;
        }
    }
    return text;
}

} // namespace scaleacross
