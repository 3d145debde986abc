// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EVALUATOR_H
#define SCALEACROSS_EVALUATOR_H

#include "core/engine/class-costs.h"
#include "core/engine/engine.h"
#include "core/engine/fluid-network.h"
#include "core/engine/transfer-agenda.h"
#include "core/program/compute-clock.h"

#include <array>
#include <deque>
#include <queue>
#include <vector>

/// The inside of EvaluateProgram(): nothing else includes this.
namespace scaleacross::evaluation
{

constexpr uint32_t kNone = UINT32_MAX;

enum class EventKind : uint8_t
{
    Resume,   //!< a class's compute is done, unless it has been slowed down since
    Arrival,  //!< a message has arrived
    PhaseDone //!< a collective's phase is done
};

/// What happens at a time fixed once and for all. The ends of fluid transfers, whose times change,
/// are in a TransferAgenda.
struct Event
{
    EventTime time;
    EventKind kind;
    uint32_t subject; //!< class or instance
    uint32_t detail;  //!< arrival: message; phase: chunk; resume: which one of the class

    bool operator>(const Event& o) const
    {
        return o.time < time;
    }
};

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
};

/// Messages of a class to one peer: they leave in order.
struct Channel
{
    int32_t peer{0};
    uint32_t toClass{0};
    std::deque<QueuedMessage> queue; //!< front is under way if not empty
};

enum class Blocked : uint8_t
{
    No,
    Computing,
    Message,
    Handle
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
    ComputeClock clock;
    uint32_t resume{0};         //!< number of the Resume event that counts
    uint32_t active{0};         //!< collectives under way
    bool jumping{false};        //!< over a body, whose computing is part of its sum
    const Op* running{nullptr}; //!< the Run whose end a timeline waits for
    Duration runBegin;

    std::array<StreamState, kStreams> streams;
    std::deque<Channel> channels;
    std::vector<uint32_t> posted; //!< by handle
    std::vector<uint32_t> done;
    std::vector<CommClass> handleComm;

    std::array<BusyClock, kCommClasses> busy; //!< collectives
    Duration pipelineBusyUntil;
    Totals totals;
    Totals atBegin; //!< of the measured window
    Totals atEnd;
    Duration begin;
    Duration end;
    bool finished{false};
};

/// A chunk of a collective under way.
struct ChunkState
{
    uint32_t phase{0}; //!< that it is in, or waits for
    bool active{false};
    uint32_t volumesLeft{0};
    Duration latency;
};

/// A collective under way on one or several classes.
struct Instance
{
    uint32_t collective{0};
    Stream stream{Stream::Tensor};
    uint32_t chunksLeft{0};
    std::vector<ChunkState> chunks;
    std::vector<uint32_t> classes;
};

struct TransferOwner
{
    bool isMessage{false};
    uint32_t classId{0}; //!< message: sender
    uint32_t index{0};   //!< message: channel; else instance
    uint32_t chunk{0};   //!< of the instance
};

class Evaluator
{
  public:
    Evaluator(const TaskGraph& graph, const TransferTimes& times, const RunOptions& options);
    void Run(RunReport& report);

  private:
    void Push(Duration at, EventKind kind, uint32_t subject, uint32_t detail);
    bool HandleNext();
    void Handle(const Event& event);
    void VolumeMoved(FluidNetwork::Id id);
    void FlushChanged();
    void Own(FluidNetwork::Id id, const TransferOwner& owner);

    void Advance(uint32_t c);
    void Compute(uint32_t c, Duration work);
    void Activate(uint32_t c, int32_t collectives);
    bool BeginRun(uint32_t c, const Op& op);
    void EndRun(uint32_t c);
    void Mark(uint32_t c);
    bool MayJump(uint32_t c, uint32_t body);

    void PostSend(uint32_t c, const Op& op);
    void StartMessage(uint32_t c, uint32_t channel);
    void Arrive(uint32_t toClass, uint32_t message);
    size_t Slot(uint32_t c, uint32_t message) const;

    void PostCollective(uint32_t c, const Op& op);
    void Begin(uint32_t c, Stream stream, size_t comm);
    void TryStart(uint32_t c, Stream stream);
    void StartPhase(uint32_t instance, uint32_t chunk);
    bool MayEnter(uint32_t instance, uint32_t chunk) const;
    void PhaseDone(uint32_t instance, uint32_t chunk);
    void CompleteInstance(uint32_t instance);

    void Fill(RunReport& report) const;
    [[noreturn]] void FailStuck() const;

    const TaskGraph& m_graph;
    ClassCosts m_costs;
    const RunOptions& m_options;
    FluidNetwork m_network;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> m_events;
    TransferAgenda m_transfers; //!< ends of the transfers under way
    uint64_t m_order{0};
    Duration m_now;
    std::vector<ClassState> m_classes;
    uint32_t m_unfinished;
    std::vector<Instance> m_instances;
    std::vector<uint32_t> m_freeInstances;
    std::vector<TransferOwner> m_owners;
    std::vector<uint8_t> m_arrived;   //!< by Slot: arrived and not yet received
    std::vector<Duration> m_postTime; //!< by Slot
    std::vector<uint32_t> m_sibling;  //!< number of a class among those of its stage
    std::vector<TimelineEntry> m_timeline;
};

} // namespace scaleacross::evaluation

#endif // SCALEACROSS_EVALUATOR_H
