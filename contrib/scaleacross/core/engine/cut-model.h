// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CUT_MODEL_H
#define SCALEACROSS_CUT_MODEL_H

#include "core/engine/message-model.h"
#include "core/engine/network-facts.h"
#include "core/engine/switch-edges.h"
#include "core/engine/transfer-cost.h"
#include "core/spec/scenario.h"
#include "core/topology/ecmp-collision.h"
#include "core/topology/rank-layout.h"

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace scaleacross
{

/// A resource by its name.
struct NamedLink
{
    std::string name;
    BitRate capacity; //!< as it was built
    double left{1};   //!< share of it that constant events leave, all links together
    double held{1};   //!< share of it to which flows are held that are spread over what is left

    /// What is left of it.
    BitRate Left() const
    {
        return capacity * left;
    }

    /// What flows get of that, which is less where links have unlike parts left.
    BitRate Held() const
    {
        return capacity * held;
    }
};

/// Flows that are alike.
struct AlikeFlows
{
    Rank from{0}; //!< an example
    Rank to{0};
    double count{0};        //!< connections
    QueuePairSpread spread; //!< of each
    double messages{1};
    double message{0}; //!< bytes of payload
    /// Which switches they pass; null: as the ranks of the stage are on them.
    const SwitchEdges* over{nullptr};
};

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
    double detours{0}; //!< of the bytes, those that only pass by
};

using CutLoads = std::vector<CutLoad>; //!< by cut, ascending

/**
 * The links that ranks share, as cuts: those of each building's fabric (FabricShape::Cuts), and the
 * spans between two sites, each in each direction. Cuts are kinds of switches by level, up, then
 * down; then spans, forward and back.
 *
 * Where a fabric has detours (ShapeCut::detour), they load all switches of the building but those
 * at the two ends, in and out. What takes a way of its own then is a queue pair, or whatever the
 * multipath hashes: one is on one detour, and counts as a connection there.
 *
 * What comes out of a switch is spread over its links, and so is what goes into one; but the link
 * from k to d, of the L - 1 of a switch, has a part of both,
 *
 *     (out of k + into d - from k to d) / (L - 1),
 *
 * which is more than the mean over the links of k wherever d receives more than others do. So such
 * links are resources of their own, by the kinds of their ends. Worked case: of L leaves each sends
 * T to the next one. Every link between two that are no neighbours in that order has 2 T / (L - 1),
 * and so needs twice the time in which a leaf's links together could send T, while a leaf's links
 * are used for (2 - 1 / (L - 1)) T in the mean. All-to-all, where T / (L - 1) goes from each to
 * each, loads all links by that.
 */
class CutModel
{
  public:
    /// All have to outlive it.
    CutModel(const Scenario& scenario,
             const RankLayout& layout,
             const NetworkFacts& facts,
             const StageFabric& stages);

    uint32_t Count() const
    {
        return m_cuts;
    }

    /// Whether a cut is a span, in one direction.
    bool IsSpan(uint32_t cut) const
    {
        return cut >= m_spanCuts;
    }

    /// What a cut is called, such as "east leaf up" or "east to west", its capacity as it was
    /// built, and what constant events leave of that. Of a kind of switch, those of one.
    NamedLink Named(uint32_t cut) const;

    /// Adds what flows put on the cuts between the examples' buildings.
    void Load(CutLoads& loads, const FabricPath& path, const AlikeFlows& flows) const;

    /**
     * What a transfer takes of each cut. Where its flows hash, it is done when the fullest link of
     * all is: that of all switches of a level that it goes up or down through, or of all spans. Of
     * these sides the slowest counts, though the fullest of all of them is fuller: who goes up by a
     * link goes down from where that leads, so that they are not independent, and queues that are
     * behind each other share what there is to wait for.
     */
    void Use(TransferCost& cost, const CutLoads& loads) const;

    /// Time that a cut needs for what a transfer puts on it while so many flows are there.
    double SharedSeconds(const CutUse& use, double flows) const;

  private:
    /// What events and credits leave of a cut, as shares of the rates of its links.
    struct Left
    {
        double capacity{1};
        double usable{1}; //!< for flows that avoid top switches
        double links{1};  //!< of these
    };

    void LoadBuilding(CutLoads& loads,
                      const FabricPath& path,
                      const AlikeFlows& flows,
                      bool up) const;
    void LoadDetours(CutLoads& loads,
                     CutLoad whole,
                     const AlikeFlows& flows,
                     const Left& left,
                     uint32_t building,
                     uint32_t level) const;
    void LoadLinks(CutLoads& loads,
                   CutLoad whole,
                   const AlikeFlows& flows,
                   const Left& left,
                   uint32_t building,
                   uint32_t level) const;
    void LoadSpans(CutLoads& loads, const AlikeFlows& flows) const;
    void AddLinks(uint32_t level);
    /// Payload and headers of a share of the flows.
    double BytesOf(const AlikeFlows& flows, double share) const;
    /// Of each kind of switch of a level the share of the flows that go out of one, or come in.
    const std::vector<SwitchShare>& SharesOf(const AlikeFlows& flows,
                                             uint32_t level,
                                             bool up) const;

    uint32_t CutOf(uint32_t level, bool up, uint32_t kind) const
    {
        return m_firstCuts[level] + (up ? 0 : m_stages[level].Kinds()) + kind;
    }

    /// Of the links from switches of a kind to those of another, of the same building.
    uint32_t CutOfLinks(uint32_t level, uint32_t from, uint32_t to) const
    {
        return m_firstLinks[level][from] + to - m_firstKinds[level][from];
    }

    /// What passes a cut, of so many queue pairs each.
    struct Passing
    {
        double count{0};
        double pairs{1};
    };

    /// `link`: as it was built; `lanes`: as in MessageModel::CreditShareOf().
    Left LeftOf(const CutShare& all,
                const CutShare& usable,
                BitRate link,
                Duration delay,
                uint32_t lanes = 1) const;
    /// Connections.
    Passing Connections(const CutLoad& whole, const AlikeFlows& flows, double share) const;
    /// What may take detours of its own: whatever is hashed, each as a connection.
    Passing Ways(const CutLoad& whole, const AlikeFlows& flows, double share) const;
    CutLoad& AddLoad(CutLoads& loads,
                     const CutLoad& whole,
                     const AlikeFlows& flows,
                     const Left& left,
                     double share,
                     const Passing& passing) const;
    /// PathSlowdown() of the scenario's paths, computed once for all that ask the same.
    double Slowdown(double flows, double pairs, uint32_t links) const;

    /// The links that the flows of a use choose from, on all switches of its kind.
    HashedLinks LinksOf(const CutLoad& load, const CutUse& use) const;

    /// Of cuts of one side, the first of which is given: the tightest take as long as the fullest
    /// link of all does.
    static void WaitForFullest(TransferCost& cost,
                               size_t first,
                               const std::vector<HashedLinks>& together);

    static constexpr uint32_t kNoSide = UINT32_MAX;

    const Scenario& m_scenario;
    const RankLayout& m_layout;
    const ClusterPaths& m_paths;
    MessageModel m_messages;
    const CutsLeft& m_left;
    const CutShares& m_shares;
    const StageFabric& m_stages;
    std::array<uint32_t, kCutLevels> m_firstCuts{}; //!< by level
    /// By level and kind of switches: the first of the links from them, and the first kind of
    /// their building.
    std::array<std::vector<uint32_t>, kCutLevels> m_firstLinks;
    std::array<std::vector<uint32_t>, kCutLevels> m_firstKinds;
    uint32_t m_spanCuts{0}; //!< the first of the spans'
    uint32_t m_cuts{0};
    /// By cut: what a transfer goes through at once, as up at a level, down at it, or spans; none:
    /// single links.
    std::vector<uint32_t> m_sides;
    std::vector<double> m_switches; //!< by cut: of the kind
    // What it remembers, hence not for several threads at once.
    mutable std::map<std::tuple<double, double, uint32_t>, double> m_slowdowns;
};

} // namespace scaleacross

#endif // SCALEACROSS_CUT_MODEL_H
