// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHEDULE_RUN_H
#define SCALEACROSS_SCHEDULE_RUN_H

#include "core/pipeline/pipeline-shape.h"
#include "core/program/rank-record.h"
#include "core/spec/stack-words.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

/// A pipeline of equal ranks over equal buildings, whose messages take time.
struct ScheduleSetting
{
    PipelineShape shape;
    PassTimes times;                         //!< of a rank and microbatch, all its chunks together
    std::optional<Duration> forwardBackward; //!< of one chunk's forward and another's backward
    Duration comm;                           //!< of a message between two ranks
    uint32_t buildings{1};                   //!< each holds as many ranks in a row
    Duration cross;                          //!< further time of a message between two buildings
    /// Time for which a message holds the way from one rank to another between two buildings; it
    /// comes on top of `cross`.
    Duration crossTransfer;
    Receives receives;
    Duration credit; //!< of telling a sender in another building that its receive is posted

    uint32_t BuildingOf(uint32_t rank) const
    {
        return rank / (shape.ranks / buildings);
    }
};

/// Activations that pass between two buildings, in either order, for one microbatch; as many
/// gradients go back.
struct Crossings
{
    uint32_t from{0};
    uint32_t to{0};
    uint32_t count{0};
};

/// A pass of a stage.
struct ScheduledPass : RankRun
{
    uint32_t stage{0};
};

/// What running a schedule once gives.
struct ScheduleRun
{
    std::vector<ScheduledPass> timeline; //!< in the order of their ends
    Duration makespan;                   //!< from the first action of any rank to the last
    Duration span; //!< longest time of a rank from its own first to its own last action
    /// 1 - (time that rank works) / span: with m (F + I + W) for the work, the bubble rate of the
    /// zero-bubble paper.
    double bubbleFraction{0};
    std::vector<double> peak; //!< by rank: activations held at most, in microbatches of all chunks
    uint32_t transfers{0};    //!< messages between ranks, one microbatch, one direction
    std::vector<Crossings> crossings;
    std::vector<uint32_t> buildings; //!< by stage: in which what is drawn of it is
};

/// As ScheduleRun::timeline has them.
void SortByEnd(std::vector<ScheduledPass>& passes);

/// Fills `span` and `bubbleFraction` from the timeline of so many stages, and the makespan.
void FillSpan(ScheduleRun& run, uint32_t stages);

/// Activations that every stage holds at most, in microbatches of all chunks.
std::vector<double> PeaksOf(const PipelineShape& shape);

/// Runs the schedule once, with the exact evaluator of the analytical engine. Domain: the shape has
/// an order.
ScheduleRun RunSchedule(const ScheduleSetting& setting);

/// The times and boundaries that a schedule may be made for.
PipelineTimes TimesOf(const ScheduleSetting& setting);

} // namespace scaleacross

#endif // SCALEACROSS_SCHEDULE_RUN_H
