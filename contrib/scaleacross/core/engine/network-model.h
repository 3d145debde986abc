// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NETWORK_MODEL_H
#define SCALEACROSS_NETWORK_MODEL_H

#include "core/engine/cut-model.h"
#include "core/engine/known-costs.h"
#include "core/engine/message-model.h"
#include "core/engine/network-facts.h"
#include "core/engine/phase-edges.h"
#include "core/engine/switch-edges.h"
#include "core/engine/transfer-cost.h"
#include "core/program/program.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The alpha-beta model of a scenario's network.
 *
 * beta: payload over (payload + headers + the share of an ACK that goes back on the same link,
 * since every host that sends also receives), at the rate of the slower of the two NICs. alpha:
 * propagation plus one packet's serialisation on every link but the slowest (store and forward).
 *
 * Shared cuts are the links between leaves and spines of each building, those above the spines of
 * its zones where there are three stages, and the spans between two sites, each in each direction.
 * Stages that have ranks on the same leaves share their uplinks (StageSwitches). What all edges of
 * a phase put on a cut is added up, and a transfer takes its part of each of them; collisions of
 * hashed flows on its parallel links divide its capacity by PathSlowdown, for each port of the NICs
 * on its own. Events that hold for the whole run leave a share of them (CutShares).
 *
 * With InfiniBand no link carries more than its lane's credits allow (CreditShare), by the delay of
 * the link; so long spans, and short links that are fast, may be slower than their rate.
 *
 * Losses multiply the volume by LossVolume(), of the edges of a phase by the largest, and delay the
 * slowest chain of messages by LossDelay(): each member of a ring passes its own along, so that all
 * ranks of the stage have one of n-1 rounds; an all-to-all has one round in which all of a rank's
 * messages are under way. A queue pair's packets per round trip, N = m R t / (time of the volume)
 * with m packets per queue pair and round.
 *
 * Rings: the bandwidth term of the slowest edge, the latency of every edge but one. Where the flows
 * of many rings wait for a cut in turn, c = the time all of them need there in one of the R = n - 1
 * rounds and s what one of them needs, latencies of one ring hide behind the turns of the others:
 * (R - 1) (c - s) of them at most, and all but one (a closed loop of customers at one server: a
 * round takes max(c, Z + s)).
 *
 * A ring both ways has n/2 steps of two messages, and of latency the n/2 edges in a row that take
 * longest. A double tree: the volume of the member that sends most (2 S where n > 3), the latency
 * of the longest way up and down, and on each of d levels but one what the busiest member sends per
 * message of a tree, c at a time: 2 d alpha + V (1 + (d-1) c / q) with q messages per edge, of
 * which TreeWindow() go in one such way. Messages that are on k queue pairs of an edge at once take
 * turns there, c = (1 + k) / 2 (between one and all: LongestWayOfTree). Jumps are one step.
 *
 * With a limit of outstanding segments, a message of B bytes that is more than the W bytes that may
 * be under way (segment x outstanding x queue pairs) takes B / W round trips at least, each with
 * the time of a segment in it. The limit is a connection's: in an all-to-all those to all peers
 * are open at once, and only the NIC sends one after the other; the n - 1 messages of a ring's edge
 * share it, and so do phases that follow each other (WindowUse). NCCLX's spray mode adds the way of
 * the last ACK and that of the write after it.
 *
 * NICs with several ports: queue pair i uses port i mod ports, so that messages too short for all
 * of them, or queue pairs that are no multiple of them, have only part of the rate of NICs and, as
 * all ranks do the same at once, of the cuts behind them.
 *
 * Worked case: 1 MiB between two NICs at 100 Gb/s through one switch over 1 us links, 4,096 + 82 B
 * packets, one 86 B ACK per 4: volume 256 x (4178 + 21.5) x 8 / 100e9 = 86.0 us, latency
 * 2 us + 4178 x 8 / 100e9 = 2.33 us.
 */
class NetworkModel
{
  public:
    /// `facts` are those of the scenario.
    NetworkModel(const Scenario& scenario,
                 const RankLayout& layout,
                 std::shared_ptr<const NetworkFacts> facts);
    NetworkModel(const Scenario& scenario, const RankLayout& layout);

    /**
     * One phase of a collective, done at once by all groups of the stage of `representative`, or,
     * if `members` are given, by so many ranks, whose groups reach into the same buildings as its
     * own. Where groups of a stage reach into different buildings, as in the steps of halving and
     * doubling, all of them load their cuts, and the representative's stands for time.
     */
    TransferCost PhaseCost(const Phase& phase,
                           Rank representative,
                           const std::vector<RankCount>& members = {}) const;

    /**
     * By how much the latencies of PhaseCost() are too long for rounds of one message, each of
     * which a member begins with what the one before brought to it: their sum counts the longest
     * way of every round, though no chain of messages may go over all of them.
     *
     * With l the latency of a message, member m has round k at t_k(m) = max(t_k-1(m), t_k-1(from) +
     * l(from, m)); the round takes max t_k - max t_k-1 and not max l. Domain: jumps of one group.
     *
     * Worked case: two buildings of two members a way w apart, shifts 1 and 2. In the first round
     * two messages cross, in the second all do, of which two have waited for one: 2 w. With four
     * members in each and shifts 1, 2 and 4 it is 2 w as well, and 3 w by the sum: all shifts
     * together are n - 1, less than once around.
     */
    std::vector<Duration> EarlierRounds(const std::vector<Phase>& rounds,
                                        Rank representative) const;

    /**
     * By how much the latencies of PhaseCost() are too long for a phase of a ring and the one
     * before it, if that reduces what this one gathers; else nothing.
     *
     * A part that is reduced passes n - 1 of the ring's n edges and ends at the member before the
     * edge j that it spares. Gathered, it goes on over that edge, and spares the one before, j - 1.
     * So both together take twice the round less min over j of (l(j) + l(j - 1)), and not less
     * twice the shortest latency, which no part may spare both times.
     *
     * Worked case: a ring of 4 over two buildings has latencies 0, L, 0, L: every part spares L in
     * all and takes 3 L, where each phase by itself takes 2 L. Of 3 members, 0, L, L, it is 3 L as
     * well; of 6, 0, 0, L, 0, 0, L, a part spares 0 twice, and takes 4 L.
     */
    Duration SparedByRing(const Phase& before, const Phase& phase, Rank representative) const;

    /// A message from `from` to `to`, while `senders` ranks of its stage and building send one like
    /// it; 0: all do.
    TransferCost MessageCost(Bytes bytes, Rank from, Rank to, uint32_t senders = 0) const;

    /// What is shared.
    const CutModel& Cuts() const
    {
        return m_cuts;
    }

    const TrafficClasses& Classes() const
    {
        return m_scenario.network.classes;
    }

    /// Ranks of a stage that collectives in every microbatch join, so that none goes on without the
    /// others: those of a replica, of all replicas that share experts, or weights that are given
    /// up.
    double Meeting() const;

    /// "stage 3", and where it is if its ranks are not in all buildings alike.
    std::string ClassName(const RankClass& rankClass) const;

    /// The rate of a rank's port; of the scale-up network the share that is reached.
    BitRate PortRate(Rank rank, Port port) const;

  private:
    /// A phase, and what follows from it at once.
    struct PhaseView;

    /// PhaseCost() of a group of several, found anew.
    TransferCost FindPhaseCost(const Phase& phase,
                               Rank representative,
                               const std::vector<RankCount>& members) const;
    /// Ranks of a stage in a building that has some.
    double StageRanksIn(uint32_t building, uint32_t stage) const;
    /// The volume of a phase: on ports and cuts, and what holds it back besides.
    void AddVolume(const PhaseView& view, TransferCost& cost) const;
    /// Whether all groups that reach into a building have equally many members there.
    bool GroupsLieAlike(const RankGroup& group) const;
    /// What one family of groups puts on the cuts.
    void LoadGroups(const PhaseView& view, const PhaseEdges& edges, CutLoads& loads) const;
    /// What all groups put on them, edge by edge.
    void LoadCounted(const PhaseView& view, CutLoads& loads) const;
    void LoadAll(const PhaseView& view, CutLoads& loads) const;
    void AddLatency(const PhaseView& view, TransferCost& cost) const;
    static double HeardOver(const PhaseView& view, const EdgeKind& kind, const EdgeSet& set);
    void AwaitWindows(const PhaseView& view, TransferCost& cost) const;
    void AwaitSlots(const PhaseView& view, TransferCost& cost) const;
    double SlotsOfTree(const PhaseView& view, const TransferCost& cost, const SlotUse& slots) const;
    Duration LatencyOfLane(const PhaseView& view, const TransferCost& cost) const;
    void AddLosses(const PhaseView& view, TransferCost& cost) const;
    /// Completes the losses of a cost, and adds what is repeated to its volume.
    void ApplyLoss(TransferCost& cost, double chains, uint32_t steps) const;

    const Scenario& m_scenario;
    const RankLayout& m_layout;
    std::shared_ptr<const NetworkFacts> m_facts;
    const ClusterPaths& m_paths;
    std::shared_ptr<const StageFabric> m_stages;
    MessageModel m_messages;
    CutModel m_cuts;
    std::shared_ptr<PhaseCosts> m_known; //!< null: the layout is none of a plan
    // What it remembers, hence not for several threads at once.
    mutable PhaseEdgeTable m_edges;
    mutable SwitchEdgeTable m_switchEdges;
};

} // namespace scaleacross

#endif // SCALEACROSS_NETWORK_MODEL_H
