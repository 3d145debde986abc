// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EVALUATOR_STATE_H
#define SCALEACROSS_EVALUATOR_STATE_H

#include "core/engine/connection-window.h"
#include "core/engine/convoys.h"
#include "core/engine/fluid-network.h"
#include "core/engine/mailbox.h"
#include "core/program/compute-clock.h"
#include "core/program/program.h"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

/// What an Evaluator knows of classes and collectives: nothing but it includes this.
namespace scaleacross::evaluation
{

constexpr uint32_t kNone = UINT32_MAX;

/// Time during which something of a communication class is under way on a rank.
struct BusyClock
{
    uint32_t active{0};
    Duration since;
    Duration total;

    void Begin(Duration now)
    {
        if (active++ == 0)
        {
            since = now;
        }
    }

    void End(Duration now)
    {
        if (--active == 0)
        {
            total += now - since;
        }
    }

    Duration At(Duration now) const
    {
        return active > 0 ? total + (now - since) : total;
    }
};

struct Totals
{
    Duration compute;
    Duration bubble;
    std::array<Duration, kCommClasses> exposed;
    std::array<Duration, kCommClasses> busy;

    /// Adds so many times what another has more than a third.
    void AddTimes(int64_t times, const Totals& more, const Totals& less)
    {
        compute += (more.compute - less.compute) * times;
        bubble += (more.bubble - less.bubble) * times;
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            exposed[k] += (more.exposed[k] - less.exposed[k]) * times;
            busy[k] += (more.busy[k] - less.busy[k]) * times;
        }
    }
};

struct Posted
{
    uint32_t collective{0};
    uint32_t handle{0};
};

struct StreamState
{
    std::deque<Posted> queue; //!< front is the active one if `active`
    bool begun{false};        //!< the front counts as under way, if only on this class
    bool active{false};       //!< it is, on all that take part
    size_t recorded{0};       //!< which of the record's collectives the front is, once begun
};

struct QueuedMessage
{
    uint32_t message{0};
    const TransferCost* cost{nullptr};
    Duration posted;
};

/// Messages of a class to one peer: they leave in order.
struct Channel
{
    int32_t peer{0};
    uint32_t toClass{0};
    size_t inlet{0};                 //!< of the receiver's
    std::deque<QueuedMessage> queue; //!< front is under way if not empty
    /// Sent, but not on their way, for want of the front's receive; in a rendezvous.
    std::deque<QueuedMessage> held{};
    ConnectionWindow window{};
};

/// What a class waits for.
enum class Blocked : uint8_t
{
    No,
    Computing, //!< the end of computing or of a body taken in one step
    Ready,     //!< nothing: it goes on as soon as it comes up
    Message,
    Handle,
    Ended //!< it is through, in a graph that is run once
};

/// The end of a collective's phase, whose volumes have moved.
struct PhaseEnd
{
    Duration at;
    uint32_t instance{0};
    uint32_t convoy{0};
};

/// Periods of a steady part that were not executed.
struct SkippedPeriods
{
    Duration at; //!< when the first of them begins
    Duration by; //!< what all of them take
    /// Whether messages arrive in a period, and for how long any are on the way in all of them.
    bool arrivals{false};
    Duration busy;
};

/// What transfers take of a cut.
struct CutLoad
{
    uint32_t cut{0};
    double most{0};    //!< of its capacity, at any time
    uint64_t units{0}; //!< FluidNetwork::UnitsOf(), in sum
};

struct ClassState
{
    uint32_t pc{0};
    uint32_t body{kNone};
    uint32_t bodyPc{0};
    uint32_t iteration{0};
    bool marked{false}; //!< this iteration's first forward has begun
    Blocked blocked{Blocked::No};
    uint32_t waitFor{0}; //!< message or handle
    Duration blockedSince;
    Duration resume;                     //!< Computing, Ready: when it goes on
    Duration scheduled{Duration::Max()}; //!< its time in the heap; Max: it is not there
    ComputeClock clock;
    Underway underway;
    bool jumping{false};        //!< over a body, whose computing is part of its sum
    const Op* running{nullptr}; //!< the Run whose end a timeline waits for
    Duration runBegin;
    uint32_t underWay{0}; //!< collectives that it has posted and that are not complete
    uint32_t near{0};     //!< messages under way from it and to it

    uint64_t repeated{0};    //!< operations that it has left out, since it had done them before
    uint64_t disturbed{0};   //!< how often that ended with a message, ahead of time
    bool repeating{false};   //!< stretches of the body that begin at bodyPc, since blockedSince
    uint32_t stretch{kNone}; //!< where the one begins that it executes to repeat it later
    bool stretchLocal{true};
    Duration stretchBegin;
    Totals stretchSums; //!< when it began
    std::vector<CutLoad> stretchLoads;

    std::array<StreamState, kStreams> streams;
    RankWindows windows; //!< of what is no layer's
    std::deque<Channel> channels;
    uint32_t held{0};                        //!< messages, by all channels
    std::vector<FluidNetwork::Id> transfers; //!< under way
    std::vector<PhaseEnd> phaseEnds;
    std::vector<std::vector<Letter>> inlets; //!< what came in, by sender, in the order sent
    uint32_t letters{0};                     //!< of these, not received yet
    uint32_t credits{0};                     //!< of posted receives, not used yet
    uint32_t steadyGroup{kNone};             //!< that it leads
    uint32_t mark{kNone};                    //!< where its program is behind its group's next mark
    std::vector<SkippedPeriods> skipped;
    std::vector<uint32_t> posted; //!< by handle
    std::vector<uint32_t> done;
    std::vector<CommClass> handleComm;

    std::array<BusyClock, kCommClasses> busy; //!< collectives
    Totals totals;
    Totals atBegin; //!< of the measured window
    Totals atEnd;
    Duration begin;
    Duration end;
    bool finished{false};
};

/// A convoy of a collective under way, in a phase.
struct ConvoyState
{
    uint32_t volumesLeft{0};
    Duration latency;
};

/// A collective under way on one or several classes.
struct Instance
{
    uint32_t collective{0};
    Stream stream{Stream::Tensor};
    Convoys convoys;
    std::vector<ConvoyState> states; //!< by convoy
    std::vector<uint32_t> classes;
    std::vector<RankWindows> windows; //!< in the order of `classes`, where layers wait for it
};

struct TransferOwner
{
    bool isMessage{false};
    uint32_t classId{0}; //!< whose transfer it is
    uint32_t index{0};   //!< message: channel; else instance
    uint32_t convoy{0};  //!< of the instance
};

} // namespace scaleacross::evaluation

#endif // SCALEACROSS_EVALUATOR_STATE_H
