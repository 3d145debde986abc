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

    std::array<StreamState, kStreams> streams;
    RankWindows windows; //!< of what is no layer's
    std::deque<Channel> channels;
    uint32_t held{0};                        //!< messages, by all channels
    std::vector<FluidNetwork::Id> transfers; //!< under way
    std::vector<PhaseEnd> phaseEnds;
    std::vector<std::vector<Letter>> inlets; //!< what came in, by sender, in the order sent
    std::vector<uint32_t> posted;            //!< by handle
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
