// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANK_RECORD_H
#define SCALEACROSS_RANK_RECORD_H

#include "core/base/units.h"
#include "core/program/collective.h"
#include "core/program/program.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What a rank's time goes to: at any moment to one of these.
enum class Occupation : uint8_t
{
    Compute,
    Bubble,  //!< waiting for a message that had not set out yet
    Exposed, //!< waiting for communication under way
};

/// A stretch of a rank's time.
struct RankSpell
{
    Occupation occupation{Occupation::Compute};
    CommClass comm{CommClass::Data}; //!< Exposed: of what it waits for
    Duration begin;
    Duration end;
};

/// One Run operation that a rank has executed.
struct RankRun
{
    uint32_t iteration{0};
    Action action{Action::Forward};
    uint16_t chunk{0};
    uint16_t microbatch{0};
    Duration begin;
    Duration end;
    uint16_t backChunk{0}; //!< ForwardBackward: what goes backward
    uint16_t backMicrobatch{0};
};

/// A collective from when it is the first of its stream on a rank to when the rank is through.
struct RankCollective
{
    uint32_t collective{0}; //!< of the task graph
    Stream stream{Stream::Tensor};
    Duration begin;
    Duration end{Duration::Max()}; //!< Max: it is under way
};

/// A pipeline message that has come to a rank.
struct RankArrival
{
    uint32_t message{0}; //!< its number in the task graph
    Rank from{0};
    Duration posted;
    Duration arrived;
    /// In RankRecord::runs: the pass that it is received for, the next one to run then; kNoRun: it
    /// has not been received, or that pass is not recorded.
    uint32_t run{kNoRun};

    static constexpr uint32_t kNoRun = UINT32_MAX;
};

/// What a rank has done, on the clock of its run. Each list is in the order of its ends, but for
/// collectives, which are in the order of their beginnings.
struct RankRecord
{
    std::vector<RankSpell> spells;
    std::vector<RankRun> runs;
    std::vector<RankCollective> collectives;
    std::vector<RankArrival> arrivals;
    size_t received{0}; //!< arrivals before this one have been received

    /// The rank takes a message that has arrived, the first of that number which it has not taken.
    void Receive(uint32_t message)
    {
        for (size_t i = received; i < arrivals.size(); i++)
        {
            if (arrivals[i].message == message && arrivals[i].run == RankArrival::kNoRun)
            {
                arrivals[i].run = static_cast<uint32_t>(runs.size());
                break;
            }
        }
        while (received < arrivals.size() && arrivals[received].run != RankArrival::kNoRun)
        {
            received++;
        }
    }

    /// Domain: begin <= end. What takes no time is no spell.
    void Spend(Occupation occupation, CommClass comm, Duration begin, Duration end)
    {
        if (begin < end)
        {
            spells.push_back({occupation, comm, begin, end});
        }
    }

    /// The time of a wait for a message: bubble until it is posted, then exposed.
    void Await(Duration since, Duration posted, Duration arrived)
    {
        Spend(Occupation::Bubble, CommClass::Pipeline, since, posted);
        Spend(Occupation::Exposed, CommClass::Pipeline, posted, arrived);
    }
};

} // namespace scaleacross

#endif // SCALEACROSS_RANK_RECORD_H
