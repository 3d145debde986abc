// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NETWORK_MODEL_H
#define SCALEACROSS_NETWORK_MODEL_H

#include "core/engine/network-facts.h"
#include "core/engine/phase-edges.h"
#include "core/engine/switch-edges.h"
#include "core/engine/transfer-cost.h"
#include "core/program/program.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace scaleacross
{

/// A resource by its name.
struct NamedLink
{
    std::string name;
    BitRate capacity;
};

/// Ranks of one stage and building.
struct RankCount
{
    Rank one{0}; //!< of them
    uint32_t ranks{0};
};

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
 * are open at once, and only the NIC sends one after the other. NCCLX's spray mode adds the way of
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

    /// A message from `from` to `to`, while `senders` ranks of its stage and building send one like
    /// it; 0: all do.
    TransferCost MessageCost(Bytes bytes, Rank from, Rank to, uint32_t senders = 0) const;

    /// Time that a cut needs for what a transfer puts on it while so many flows are there.
    double SharedSeconds(const CutUse& use, double flows) const;

    uint32_t Cuts() const
    {
        return m_cuts;
    }

    /// What a cut is called, such as "east leaf up" or "east to west", and its capacity, of which
    /// constant events have taken their share. Of the uplinks of leaves and zones, those of one.
    NamedLink CutNamed(uint32_t cut) const;

    /// "stage 3", and where it is if its ranks are not in all buildings alike.
    std::string ClassName(const RankClass& rankClass) const;

    /// The same of a rank's port in its building; of NVLink the share that is reached.
    BitRate PortRate(Rank rank, Port port) const;

  private:
    /// What is put on a cut.
    struct CutLoad
    {
        uint32_t cut{0};
        double bytes{0};   //!< payload and headers
        double loading{0}; //!< bytes on the wire, ACKs with them, times what events make of them
        double flows{0};   //!< connections
        /// Queue pairs of a connection; where tiers differ, of those that have fewest and collide
        /// most.
        double pairs{std::numeric_limits<double>::infinity()};
        BitRate capacity;
        uint32_t links{1}; //!< that are parallel
        uint32_t parts{1}; //!< of them that no queue pair has a choice between: ports, or planes
        double reached{1}; //!< share of them that the queue pairs reach
    };

    using CutLoads = std::vector<CutLoad>; //!< by cut

    /// What messages of one connection that follow each other without a wait use of it.
    struct Spread
    {
        double pairs{1};  //!< queue pairs
        double ports{1};  //!< share of the rate of the NIC's ports, and of the leaves' uplinks
        double planes{1}; //!< of what is above: both leaves of a dual ToR lead to the same spines
    };

    /// Flows that are alike.
    struct Flows
    {
        Rank from{0}; //!< an example
        Rank to{0};
        double count{0}; //!< connections
        Spread spread;   //!< of each
        double messages{1};
        double message{0}; //!< bytes of payload
        /// Which switches they pass; null: as the ranks of the stage are on them.
        const SwitchEdges* over{nullptr};
    };

    /// A phase, and what follows from it at once.
    struct PhaseView;

    /// Ranks of a stage in a building that has some.
    double StageRanksIn(uint32_t building, uint32_t stage) const;
    /**
     * Of `messages` of so many bytes, whose segments go to the queue pairs in turn, queue pair i by
     * port i mod ports: until the port that has most bytes of them is done. The turn goes on from
     * message to message, so that any queue pair may be the first: the mean over them.
     *
     * Worked cases: 3 queue pairs, 2 ports. Of 9 segments 6 are on the first port: 3/4 of the rate.
     * Of 2 segments one is on each port if the first queue pair or the second begins; if the third
     * does, both are on the first port: 4/3 in the mean, 2 / (2 x 4/3) = 3/4 of the rate. With two
     * queue pairs one and a quarter of a segment are 1 on one port: 1.25 / 2 = 5/8.
     */
    Spread SpreadOf(double messages, double messageBytes, Tier tier) const;
    /// Time of a message at its NIC, by the rate of the ports that it uses.
    double PortSeconds(BitRate nic, double messageBytes, double ports) const;
    /// Time of `bytes` of which no more than `window` may be under way; `unit` bytes are
    /// acknowledged at a time. 0 if they are no more than the window. The window is taken for empty
    /// at the beginning; behind a message whose last bytes are still under way it is not.
    /// `staging` passes in every round trip besides.
    double WindowedSeconds(double bytes,
                           double window,
                           double unit,
                           const FabricPath& path,
                           double staging = 0) const;
    /// What copying through slots adds to the time of a message; 0 without that.
    Duration StagingTime(Bytes bytes) const;
    /// Time of a message by what its connection may have outstanding and its queue pairs'
    /// windows; 0 without such a limit.
    double WindowSeconds(double messageBytes, const FabricPath& path) const;
    /// Time of bytes to one NIC by what that grants; 0 without such a limit.
    double AdmissionSeconds(double bytes, const FabricPath& path) const;
    /// Share of a link's rate that credits allow; 1 without them.
    double CreditShareOf(BitRate link, Duration delay) const;
    /// Payload and headers of `messages` messages of `bytes` payload each.
    double DataBytes(double messages, double bytes) const;
    /// The same with the share of an ACK.
    double WireBytes(double messages, double bytes) const;
    Duration EdgeLatency(const FabricPath& path, double bytes) const;
    /// Of a ring both ways: the latencies of the way that takes longest.
    Duration LongestWayOfRing(const Phase& phase, Rank representative, double message) const;
    /// Of a double tree: the same, and what passes first on every level but the lowest; `inTurn`:
    /// one message, whoever else is on the queue pairs.
    Duration LongestWayOfTree(const Phase& phase,
                              Rank representative,
                              double message,
                              const TransferCost& volume,
                              bool inTurn) const;
    /// Adds what flows put on the cuts between the examples' buildings.
    void LoadCuts(CutLoads& loads, const FabricPath& path, const Flows& flows) const;
    void LoadBuilding(CutLoads& loads, const FabricPath& path, const Flows& flows, bool up) const;
    void LoadSpans(CutLoads& loads, const Flows& flows) const;
    /// `left` is what events leave of the capacity, `usable` what of it such flows can use.
    void AddLoad(CutLoads& loads,
                 const CutLoad& whole,
                 const Flows& flows,
                 const CutShare& left,
                 const CutShare& usable,
                 double share) const;
    /// PathSlowdown() of the scenario's paths, computed once for all that ask the same.
    double Slowdown(double flows, double pairs, uint32_t links) const;
    /// What a transfer takes of each cut.
    void UseCuts(TransferCost& cost, CutLoads& loads) const;
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
    void AddLosses(const PhaseView& view, TransferCost& cost) const;
    /// Messages of `bytes` that may be lost on a path, in a round whose volume takes `seconds`; the
    /// next round begins `nextAfter` seconds after it.
    LossyMessages LossyOf(const FabricPath& path,
                          double bytes,
                          double seconds,
                          double nextAfter) const;
    /// Completes the losses of a cost, and adds what is repeated to its volume.
    void ApplyLoss(TransferCost& cost, double chains, uint32_t steps) const;

    const Scenario& m_scenario;
    const RankLayout& m_layout;
    std::shared_ptr<const NetworkFacts> m_facts;
    const ClusterPaths& m_paths;
    // What it remembers, hence not for several threads at once.
    mutable PhaseEdgeTable m_edges;
    mutable std::optional<SwitchEdgeTable> m_switchEdges;
    mutable std::map<std::tuple<double, double, uint32_t>, double> m_slowdowns;
    const CutShares& m_shares;
    std::shared_ptr<const StageFabric> m_stages;
    // Cuts are kinds of leaves, then of zones, each up, then down; then spans, forward and back.
    uint32_t m_zoneCuts{0}; //!< the first of the zones'
    uint32_t m_spanCuts{0}; //!< the first of the spans'
    uint32_t m_cuts{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_NETWORK_MODEL_H
