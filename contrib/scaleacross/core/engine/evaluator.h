// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EVALUATOR_H
#define SCALEACROSS_EVALUATOR_H

#include "core/engine/body-stretches.h"
#include "core/engine/class-costs.h"
#include "core/engine/engine.h"
#include "core/engine/evaluator-state.h"
#include "core/engine/event-heap.h"
#include "core/engine/fluid-network.h"
#include "core/engine/mailbox.h"
#include "core/engine/program-evaluator.h"
#include "core/engine/resource-use.h"
#include "core/engine/steady-state.h"

#include <chrono>
#include <optional>
#include <vector>

/// The inside of EvaluateProgram(): nothing else includes this.
namespace scaleacross::evaluation
{

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
    EvaluationWork Run(RunReport& report);

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
    void Take(uint32_t c, uint32_t message);
    void TakeLetter(uint32_t c, const Letter& letter, Duration since);
    bool Compute(uint32_t c, Duration work);
    void ChangePace(uint32_t c);
    bool BeginRun(uint32_t c, const Op& op);
    void EndRun(uint32_t c);
    void Mark(uint32_t c);
    /// Of a graph that is run once the end is that of the slowest class, for which others are idle.
    void EndTogether();
    bool MayJump(uint32_t c, uint32_t body) const;

    // Messages
    void Send(uint32_t c, const Op& op);
    uint32_t ChannelTo(uint32_t c, int32_t peer);
    void Depart(uint32_t c, uint32_t channel, const QueuedMessage& message);
    void StartMessage(uint32_t c, uint32_t channel);
    void PostReceive(uint32_t c, const Op& op);
    Duration ReleaseTime(const Channel& channel) const;
    void Release(uint32_t c, uint32_t channel);
    void Deliver(const Channel& channel, uint32_t message, const Letter& letter);
    size_t Slot(uint32_t c, uint32_t message) const;

    // Transfers and collectives
    void Own(FluidNetwork::Id id, const TransferOwner& owner);
    void VolumeMoved(uint32_t c, size_t position);
    void Post(uint32_t c, const Op& op);
    void Begin(uint32_t c, Stream stream, const Collective& collective);
    void TryStart(uint32_t c, Stream stream);
    void StartPhases(uint32_t instance, const Convoys::Entering& entering);
    void AnnouncePhase(uint32_t instance, uint32_t convoy);
    void StartPhase(uint32_t instance, uint32_t convoy);
    void PhaseDone(uint32_t instance, uint32_t convoy);
    void CompleteInstance(uint32_t instance);

    // Stretches of bodies
    bool IsLocal(uint32_t c, const Op& op);
    bool HasRoom(uint32_t cut, double most) const;
    void Reserve(uint32_t c, const std::vector<CutLoad>& loads);
    void Release(uint32_t c, const std::vector<CutLoad>& loads);
    void Announce(uint32_t alone);
    CutLoad* FindLoad(uint32_t c, uint32_t cut);
    void AddLoads(const TransferCost& cost, uint32_t alike, double parties);
    void DisturbCut(uint32_t cut);
    void DisturbCutsOf(const TransferCost& cost);
    bool PassStretch(uint32_t c);
    void EndStretches(uint32_t c);
    void Disturb(uint32_t c);
    static bool GoesWithoutStretches(const ClassState& state);
    static Totals SumsOf(const ClassState& state);

    // The steady part of a schedule
    void FindSteadyGroups();
    void BeginSteadyGroup(uint32_t group);
    void PassMark(uint32_t group);
    bool DescribeGroup(const SteadyState& group, StateWords& words) const;
    bool IsSteady(uint32_t c, uint32_t iteration) const;
    bool IsIdle(const SteadyState& group) const;
    int64_t PeriodsLeft(const SteadyState& group) const;
    void FindPeriod(SteadyState& group);
    void SetPeriod(SteadyState& group);
    SteadyState::Seen StateNow(const SteadyState& group, StateWords words) const;
    void SkipPeriods();
    void Skip(const SteadyState& group, int64_t periods);
    std::vector<uint32_t> InstancesOf(const SteadyState& group) const;
    void DelayInstances(const SteadyState& group, Duration by);
    void DelayClass(uint32_t c, Duration by, uint32_t microbatches);
    void DelayMessages(const SteadyState& group, Duration by, uint32_t microbatches);
    std::optional<std::vector<uint32_t>> AwaitedMessages(uint32_t c) const;

    Totals TotalsOf(uint32_t c) const;
    void Fill(RunReport& report) const;
    void FillTimeline(RunReport& report) const;
    NetworkSeries SeriesOf(Duration begin, Duration end) const;
    [[noreturn]] void FailStuck() const;

    /// Of a cut's capacity, less what rounding may make of sums of it.
    static constexpr double kRoom = 1.0 - 1e-9;

    /// What those take of a cut at most who repeat what they did there.
    struct Reserved
    {
        double most{0};
        std::vector<uint32_t> classes;
    };

    const TaskGraph& m_graph;
    ClassCosts& m_costs;
    const ResourceUse& m_use;
    std::vector<ResourceUse::Step> m_steps; //!< by class x body
    RunOptions m_options; //!< of a graph that is run once: one iteration, no warm-up
    FluidNetwork m_network;
    EventHeap m_events; //!< classes, by what happens next on them
    Duration m_now;
    uint32_t m_current{kNone};       //!< the class that is being handled
    std::vector<uint32_t> m_touched; //!< others whose next time may have changed
    std::vector<bool> m_isTouched;
    EvaluationWork m_work;
    std::chrono::steady_clock::time_point m_start;
    std::vector<ClassState> m_classes;
    uint32_t m_unfinished;
    std::vector<Instance> m_instances;
    std::vector<uint32_t> m_freeInstances;
    std::vector<TransferOwner> m_owners;
    Mailbox m_mail;
    /// When the sender knows of a posted receive, by slot of its message; Max: it is not posted.
    std::vector<Duration> m_credits;
    std::vector<BodyStretches> m_stretches; //!< by class x body; empty: none are repeated
    std::vector<Reserved> m_reserved;       //!< by cut
    std::vector<CutLoad> m_loads;           //!< scratch: of transfers that are to start
    bool m_catchesUp{false};                //!< Disturb() is at work
    std::optional<Repetition> m_repetition; //!< none: nothing is skipped
    std::vector<SteadyState> m_steady;      //!< by group
    uint32_t m_passed{kNone};               //!< the group of which a mark has just been passed
    std::vector<uint32_t> m_sibling;        //!< number of a class among those of its stage
    std::vector<RankRecord> m_records;      //!< by class; empty: none is asked for
    std::vector<MovedVolume> m_moved;       //!< by all transfers, if records are asked for
};

} // namespace scaleacross::evaluation

#endif // SCALEACROSS_EVALUATOR_H
