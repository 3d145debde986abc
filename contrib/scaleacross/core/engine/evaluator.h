// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EVALUATOR_H
#define SCALEACROSS_EVALUATOR_H

#include "core/engine/class-costs.h"
#include "core/engine/convoys.h"
#include "core/engine/engine.h"
#include "core/engine/event-heap.h"
#include "core/engine/fluid-network.h"
#include "core/engine/mailbox.h"
#include "core/engine/program-evaluator.h"
#include "core/engine/resource-use.h"
#include "core/program/compute-clock.h"

#include <array>
#include <chrono>
#include <deque>
#include <vector>

/// The inside of EvaluateProgram(): nothing else includes this.
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
};

/// What a class waits for.
enum class Blocked : uint8_t
{
    No,
    Computing, //!< the end of computing or of a body taken in one step
    Ready,     //!< nothing: it goes on as soon as it comes up
    Message,
    Handle
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
    uint32_t active{0};         //!< collectives under way
    bool jumping{false};        //!< over a body, whose computing is part of its sum
    const Op* running{nullptr}; //!< the Run whose end a timeline waits for
    Duration runBegin;

    std::array<StreamState, kStreams> streams;
    std::deque<Channel> channels;
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
};

struct TransferOwner
{
    bool isMessage{false};
    uint32_t classId{0}; //!< whose transfer it is
    uint32_t index{0};   //!< message: channel; else instance
    uint32_t convoy{0};  //!< of the instance
};

/**
 * An event loop over the classes: each has one entry in the heap, for what happens next on it.
 * At equal times the class with the lower number goes first, and on a class what the network does
 * before what the program does.
 */
class Evaluator
{
  public:
    Evaluator(const TaskGraph& graph,
              ClassCosts& costs,
              const ResourceUse& use,
              const RunOptions& options,
              Shortcuts shortcuts);
    void Run(RunReport& report);

  private:
    // Time
    Duration Next(uint32_t c) const;
    void HandleNext(uint32_t c);
    void GoOn(uint32_t c);
    void Touch(uint32_t c);
    void Schedule(uint32_t c);
    void TouchChanged();
    void CheckTimeLimit() const;

    // Programs
    void TakeShortcuts(const ResourceUse& use);
    void Advance(uint32_t c);
    bool Receive(uint32_t c, const Op& op);
    void TakeLetter(uint32_t c, const Letter& letter, Duration since);
    bool Compute(uint32_t c, Duration work);
    void Activate(uint32_t c, int32_t collectives);
    bool BeginRun(uint32_t c, const Op& op);
    void EndRun(uint32_t c);
    void Mark(uint32_t c);
    bool MayJump(uint32_t c, uint32_t body) const;

    // Messages
    void Send(uint32_t c, const Op& op);
    uint32_t ChannelTo(uint32_t c, int32_t peer);
    void StartMessage(uint32_t c, uint32_t channel);
    void Deliver(const Channel& channel, uint32_t message, const Letter& letter);
    size_t Slot(uint32_t c, uint32_t message) const;

    // Transfers and collectives
    void Own(FluidNetwork::Id id, const TransferOwner& owner);
    void VolumeMoved(uint32_t c, size_t position);
    void Post(uint32_t c, const Op& op);
    void Begin(uint32_t c, Stream stream, size_t comm);
    void TryStart(uint32_t c, Stream stream);
    void StartPhases(uint32_t instance, const Convoys::Entering& entering);
    void StartPhase(uint32_t instance, uint32_t convoy);
    void PhaseDone(uint32_t instance, uint32_t convoy);
    void CompleteInstance(uint32_t instance);

    void Fill(RunReport& report) const;
    [[noreturn]] void FailStuck() const;

    const TaskGraph& m_graph;
    ClassCosts& m_costs;
    std::vector<ResourceUse::Step> m_steps; //!< by class x body
    const RunOptions& m_options;
    FluidNetwork m_network;
    EventHeap m_events; //!< classes, by what happens next on them
    Duration m_now;
    uint32_t m_current{kNone};       //!< the class that is being handled
    std::vector<uint32_t> m_touched; //!< others whose next time may have changed
    std::vector<bool> m_isTouched;
    uint64_t m_handled{0};
    std::chrono::steady_clock::time_point m_start;
    std::vector<ClassState> m_classes;
    uint32_t m_unfinished;
    std::vector<Instance> m_instances;
    std::vector<uint32_t> m_freeInstances;
    std::vector<TransferOwner> m_owners;
    Mailbox m_mail;
    std::vector<uint32_t> m_sibling; //!< number of a class among those of its stage
    std::vector<TimelineEntry> m_timeline;
};

} // namespace scaleacross::evaluation

#endif // SCALEACROSS_EVALUATOR_H
