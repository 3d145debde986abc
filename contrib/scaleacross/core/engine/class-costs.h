// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLASS_COSTS_H
#define SCALEACROSS_CLASS_COSTS_H

#include "core/engine/body-walk.h"
#include "core/engine/network-model.h"
#include "core/engine/transfer-cost.h"
#include "core/program/program.h"
#include "core/spec/traffic-classes.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace scaleacross
{

/// What became of a factor that a transfer is to take longer by.
struct Correction
{
    double seconds{0}; //!< without it, with ports and cuts to itself
    double got{1};     //!< more than was asked for where ports and wires need that long
};

/// How long transfers take; NetworkModel in an engine, plain numbers in a validation.
struct TransferTimes
{
    uint32_t cuts{0};
    TrafficClasses classes; //!< of what moves
    double meeting{1};      //!< ranks of a stage that meet between the messages that they send
    /// NetworkModel::PhaseCost(). What its losses may delay is added by ClassCosts.
    std::function<
        TransferCost(const Phase&, Rank representative, const std::vector<RankCount>& members)>
        phase;
    /// NetworkModel::EarlierRounds(); none: 0.
    std::function<std::vector<Duration>(const std::vector<Phase>&, Rank representative)>
        earlierRounds;
    /// NetworkModel::SparedByRing(); none: 0.
    std::function<Duration(const Phase& before, const Phase&, Rank representative)> sparedByRing;
    /// NetworkModel::MessageCost().
    std::function<TransferCost(Bytes, Rank from, Rank to, uint32_t senders)> message;
    /// Of the credit of a receive that `from` has posted for what `to` sends; none: as a message of
    /// kCreditBytes that has ports and cuts to itself.
    std::function<Duration(Rank from, Rank to)> credit;
    /// How many times as long as all that says a class's collective takes, less its launch, with
    /// ports and cuts to itself; none: 1.
    std::function<double(uint32_t classId, uint32_t collective)> collectiveFactor;
    /// The same of a message.
    std::function<double(uint32_t classId, int32_t peer, Bytes)> messageFactor;
    /// Told what came of either factor, once for each; none: nobody wants to know.
    std::function<void(uint32_t classId, uint32_t collective, const Correction&)> ofCollective;
    std::function<void(uint32_t classId, int32_t peer, Bytes, const Correction&)> ofMessage;
    /// What a transfer takes of a cut while so many flows are there; not asked without cuts.
    std::function<double(const CutUse&, double flows)> shared;
};

/// Those of a network, which must outlive them.
TransferTimes TimesOf(const NetworkModel& network);

/// A body taken as a whole.
struct BodySum
{
    bool known{false};
    /// Whether it is what it takes alone: it posts and awaits only collectives of its layers, which
    /// do not get into each other's way.
    bool pure{false};
    BodyTimes times;
};

/**
 * Costs of what the classes of a task graph do, each computed once. Addresses stay valid.
 *
 * Their latencies hold what losses are expected to cost (LossDelay), once for all phases of a
 * collective that have the same group, and for all of its chunks. Collectives and messages that
 * follow each other add up, as if all ranks met after each of them.
 */
class ClassCosts
{
  public:
    ClassCosts(const TaskGraph& graph, const TransferTimes& times);

    /// Number of cuts that costs may name.
    uint32_t Cuts() const
    {
        return m_times.cuts;
    }

    const TrafficClasses& Classes() const
    {
        return m_times.classes;
    }

    /// Groups of a class's ranks that send messages without waiting for each other.
    double PartiesOf(uint32_t classId) const
    {
        return m_graph.classes[classId].ranks / m_times.meeting;
    }

    /// Of one chunk of the collective. Where chunks stream all of them in all phases are in the
    /// cost of the first, by CollectiveSeconds(), and nothing in the others'; bytes are of one
    /// chunk.
    const TransferCost& OfPhase(uint32_t classId, uint32_t collective, uint32_t phase);
    /// What a collective takes besides its phases: its launch, what losses are expected to delay
    /// the last of several chunks by (what they delay a collective of one by is in the latencies of
    /// its phases), and what a correction adds that its phases hide from each other.
    Duration DelayOf(uint32_t classId, uint32_t collective);
    /// Of a collective of one class that has ports and cuts to itself.
    Duration AloneTime(uint32_t classId, uint32_t collective);
    const TransferCost& OfMessage(uint32_t classId, int32_t peer, Bytes bytes);
    /// From when a class posts a receive to when its peer knows.
    Duration CreditTime(uint32_t classId, int32_t peer);
    const BodySum& OfBody(uint32_t classId, uint32_t body);

    /// The class of the rank that is `peer` further on than the class's representative.
    uint32_t ClassAt(uint32_t classId, int32_t peer) const
    {
        return m_graph.ClassOf(m_graph.classes[classId].representative + peer);
    }

    /// Sets the demands of all costs known so far, given the flows that may be on each cut, and
    /// corrects collectives, from now on also those that are not known yet.
    void ShareCuts(const std::vector<double>& flows);

    /// Classes that take part in a class's collective: itself, and those of its stage that groups
    /// join it with.
    const std::vector<uint32_t>& Participants(uint32_t classId, uint32_t collective);

  private:
    struct MessageCost
    {
        int32_t peer;
        Bytes bytes;
        TransferCost cost;
    };

    bool IsStage(uint32_t classId) const
    {
        return m_stageClasses[m_graph.classes[classId].stage].size() == 1;
    }

    /// LossDelay(), once for chains that are alike, as those of many classes are.
    double DelayOfLosses(const LossyChains& chains);
    Duration AddLossDelays(const Collective& whole, std::vector<TransferCost>& costs);
    std::vector<RankCount> MembersOf(uint32_t classId, const Phase& phase) const;
    void ShareCuts(TransferCost& cost, const std::vector<double>& flows) const;
    void Correct(uint32_t classId, uint32_t collective);
    void CorrectMessage(uint32_t classId, MessageCost& message) const;
    BodySum SumOf(uint32_t classId, const std::vector<Op>& ops);

    const TaskGraph& m_graph;
    const TransferTimes& m_times;
    std::vector<std::vector<uint32_t>> m_stageClasses;
    std::vector<std::vector<TransferCost>> m_phases; //!< by class x collective
    std::vector<Duration> m_delays;                  //!< by class x collective; no launches
    bool m_shared{false};
    std::vector<std::optional<Duration>> m_alone;       //!< by class x collective
    std::vector<std::vector<uint32_t>> m_participants;  //!< by class x collective; empty: unknown
    std::vector<BodySum> m_bodies;                      //!< by class x body
    std::vector<std::deque<MessageCost>> m_messages;    //!< by class; deque: addresses stay
    std::map<std::vector<double>, double> m_lossDelays; //!< by all that chains are
};

} // namespace scaleacross

#endif // SCALEACROSS_CLASS_COSTS_H
