// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TIMELINE_H
#define SCALEACROSS_TIMELINE_H

#include "core/base/units.h"
#include "core/engine/network-series.h"
#include "core/program/program.h"
#include "core/program/rank-record.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// What one rank did in the measured iterations, on a clock that begins with the first of them on
/// any rank.
struct RankTimeline
{
    Rank rank{0};
    uint32_t stage{0};
    uint32_t ranks{1}; //!< for how many it stands, itself among them
    Duration begin;    //!< of its own measured iterations
    Duration end;
    /// Within these: its spells fill them; collectives under way at their ends are cut off there.
    /// Messages are those that arrive in them, some of which were posted before.
    RankRecord record;
};

/// What a collective is called in a timeline.
struct CollectiveName
{
    CommClass comm{CommClass::Data};
    std::string name;      //!< Collective::name
    std::string algorithm; //!< Collective::algorithm
};

/**
 * What ranks did in the measured iterations.
 *
 * The spells of each add up to what the report says: the sum over the ranks of what was spent on
 * computing, each as often as it stands for a rank, over their number and that of iterations is
 * RunReport::computeTime, if all ranks have one that stands for them; bubble and exposed
 * communication alike.
 */
struct Timeline
{
    std::vector<RankTimeline> ranks;         //!< in the order of ranks
    std::vector<CollectiveName> collectives; //!< by RankCollective::collective
    uint32_t of{0};                          //!< ranks that take part in the job
    NetworkSeries network;                   //!< meanwhile, on the clock of the ranks

    /// Whether every rank that takes part has one that stands for it.
    bool IsWhole() const;

    /// The lowest rank of each stage, in the order of stages.
    std::vector<const RankTimeline*> OnePerStage() const;

    /// Adds a rank whose iterations from `first` on, so many, were measured from `begin` to `end`,
    /// on the clock of `record`.
    void Add(const RankTimeline& rank, const RankRecord& record, uint32_t first, uint32_t count);

    /// Sorts ranks, names collectives and shifts all times so that the earliest rank begins at 0.
    void Complete(const TaskGraph& graph);
};

} // namespace scaleacross

#endif // SCALEACROSS_TIMELINE_H
