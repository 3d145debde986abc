// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MEASURED_RANKS_H
#define SCALEACROSS_MEASURED_RANKS_H

#include "core/engine/engine.h"
#include "core/engine/run-report.h"
#include "core/program/program.h"
#include "core/program/rank-replay.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The measured iterations of an engine that replays ranks: when each rank began and ended them, and
 * what of that time went where.
 *
 * A rank's time is from the beginning of its first forward after the warm-up to the same point
 * `iterations` later, or in a graph that is run once to the end of the last; the report has that of
 * the slowest rank, and means over all of the parts.
 */
class MeasuredRanks
{
  public:
    /// `graph` has to outlive it. `counts`: by rank, for how many it stands, itself among them; 0:
    /// it is not replayed, and another stands for it.
    MeasuredRanks(const TaskGraph& graph, const RunOptions& options, std::vector<uint32_t> counts);

    /// What an iteration's beginning means for the run.
    enum class Mark : uint8_t
    {
        Nothing,
        Begin, //!< the first rank of all begins its measured iterations
        End,   //!< that rank has ended them; in a graph that is run once, the last of all has
    };

    /// The first forward of an iteration begins on a rank, which has spent its time so.
    Mark Begins(Rank rank, uint32_t iteration, Duration now, const RankTimes& times);

    /// Whether all ranks have ended their measured iterations.
    bool AreDone() const
    {
        return m_unfinished == 0;
    }

    /// Of the iteration that the farthest rank is in, from 0.
    uint32_t Farthest() const
    {
        return m_farthest;
    }

    /// Ranks whose timeline is asked for: a graph's, in the order of ranks.
    std::vector<Rank> Recorded() const;

    /// Times and their parts; the timeline too if it was asked for. `records` gives what a rank of
    /// Recorded() has done. Domain: AreDone().
    /// `network` is on the same clock.
    void Fill(RunReport& report,
              const std::function<const RankRecord&(Rank)>& records,
              const NetworkSeries& network = {}) const;

  private:
    struct Snapshot
    {
        int64_t ps{0};
        RankTimes times;
        Duration idle; //!< at the end, after the rank's own
    };

    static constexpr Rank kNobody = UINT32_MAX;

    /// Of a graph that is run once the end is that of the slowest rank, for which others are idle.
    void EndTogether();

    void CheckParts(Rank rank) const;
    void FillTimes(RunReport& report) const;
    void FillTimeline(RunReport& report,
                      const std::function<const RankRecord&(Rank)>& records,
                      const NetworkSeries& network) const;

    const TaskGraph& m_graph;
    RunOptions m_options;           //!< of a graph that is run once: one iteration, no warm-up
    std::vector<uint32_t> m_counts; //!< by rank; 0 also for those that take no part
    std::vector<Snapshot> m_begin;  //!< by rank
    std::vector<Snapshot> m_end;
    Rank m_first{kNobody}; //!< who began before all others
    uint32_t m_unfinished{0};
    uint32_t m_farthest{0};
};

/// Who waits for what, of the first few ranks that do: "rank 3 waits for pipeline message 5; ".
std::string WaitsOf(uint32_t ranks, const std::function<std::string(Rank)>& describeWait);

} // namespace scaleacross

#endif // SCALEACROSS_MEASURED_RANKS_H
