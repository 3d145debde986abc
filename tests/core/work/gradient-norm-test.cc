// SPDX-License-Identifier: GPL-2.0-only

// The norm of all gradients: who hears of whom, and what the wait for it costs.

#include "../built-graph.h"
#include "core/engine/analytical-engine.h"
#include "core/work/graph/gradient-norm.h"

#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace scaleacross
{

namespace
{

/// What every rank has heard of when it is through; by definition of messages and all-reduces,
/// which bring what their senders have when they send.
class Gossip
{
  public:
    explicit Gossip(const RankLayout& layout)
        : m_layout(layout)
    {
        CollectiveTable table;
        const GradientNorm norm(layout, 5, 7, false, table);
        m_collectives = table.Take();
        for (Rank rank = 0; rank < layout.ranks; rank++)
        {
            m_known.push_back({rank});
            m_programs.emplace_back();
            norm.Append(rank, m_programs.back());
        }
    }

    std::vector<std::set<Rank>> Run()
    {
        Reduce();
        std::vector<size_t> next(m_programs.size());
        for (bool moved = true; moved;)
        {
            moved = false;
            for (Rank rank = 0; rank < m_programs.size(); rank++)
            {
                while (next[rank] < m_programs[rank].ops.size() &&
                       Do(rank, m_programs[rank].ops[next[rank]]))
                {
                    next[rank]++;
                    moved = true;
                }
            }
        }
        for (Rank rank = 0; rank < m_programs.size(); rank++)
        {
            EXPECT_EQ(next[rank], m_programs[rank].ops.size()) << rank << " is stuck";
        }
        EXPECT_TRUE(m_underWay.empty()) << "a message that nobody takes";
        return m_known;
    }

    std::set<uint32_t> numbers; //!< of messages

  private:
    /// Groups of every phase, one phase after the other: all begin with the collective.
    void Reduce()
    {
        for (const Collective& collective : m_collectives)
        {
            for (const Phase& phase : collective.phases)
            {
                auto after = m_known;
                for (Rank rank = 0; rank < m_known.size(); rank++)
                {
                    for (uint32_t i = 0; i < phase.group.Size(); i++)
                    {
                        const auto& other = m_known[phase.group.Member(rank, i)];
                        after[rank].insert(other.begin(), other.end());
                    }
                }
                m_known = after;
            }
        }
    }

    bool Do(Rank rank, const Op& op)
    {
        const auto peer = static_cast<Rank>(static_cast<int64_t>(rank) + op.peer);
        if (op.kind == OpKind::Send)
        {
            numbers.insert(op.index);
            EXPECT_EQ(m_layout.pipeline.Member(rank, 0), m_layout.pipeline.Member(peer, 0));
            EXPECT_TRUE(
                m_underWay.emplace(std::make_tuple(rank, peer, op.index), m_known[rank]).second);
        }
        if (op.kind == OpKind::Receive)
        {
            const auto message = m_underWay.find(std::make_tuple(peer, rank, op.index));
            if (message == m_underWay.end())
            {
                return false;
            }
            m_known[rank].insert(message->second.begin(), message->second.end());
            m_underWay.erase(message);
        }
        return true;
    }

    const RankLayout& m_layout;
    std::vector<Collective> m_collectives;
    std::vector<Program> m_programs;
    std::vector<std::set<Rank>> m_known;
    std::map<std::tuple<Rank, Rank, uint32_t>, std::set<Rank>> m_underWay;
};

/// Two GPUs in two buildings, 50 us apart.
Scenario
TwoApart(uint32_t pp, uint32_t dp, const char* sharding, bool clips)
{
    Scenario scenario =
        ScenarioOf(BuildingsOf({1, 1}, 1), SmallModel(), PlanOf(1, 1, 1, pp, dp), 4);
    scenario.Job().plan.crossing = pp > 1 ? Crossing::Pipeline : Crossing::Data;
    scenario.Job().plan.sharding = sharding;
    scenario.Job().workload.stack.clipsGradients = clips;
    return scenario;
}

Duration
IterationOf(const Scenario& scenario)
{
    return std::get<RunReport>(AnalyticalEngine().Run(scenario, RunOptions())).iterationTime;
}

} // namespace

TEST(GradientNorm, GoesFromAllRanksToAllRanks)
{
    size_t laidOut = 0;
    for (const std::vector<uint32_t>& gpus :
         {std::vector<uint32_t>{24}, {16, 16}, {8, 8, 8}, {20, 20}, {8, 16}})
    {
        const ClusterSpec cluster = BuildingsOf(gpus, 4);
        for (const auto* crossing : {"dp", "pp"})
        {
            for (const uint32_t tp : {1, 2, 4})
            {
                for (const uint32_t cp : {1, 2, 3})
                {
                    for (const uint32_t pp : {1, 2, 3, 4, 5, 6, 8, 10})
                    {
                        const uint32_t ranks = cluster.Gpus();
                        if (ranks % (tp * cp * pp) != 0)
                        {
                            continue;
                        }
                        ParallelPlan plan = PlanOf(tp, cp, 1, pp, ranks / (tp * cp * pp));
                        plan.crossing = *crossing == 'd' ? Crossing::Data : Crossing::Pipeline;
                        plan.sharding = "zero1";
                        const auto layout = LayOut(plan, cluster);
                        if (!std::holds_alternative<RankLayout>(layout))
                        {
                            continue;
                        }
                        laidOut++;
                        Gossip gossip(std::get<RankLayout>(layout));
                        for (const auto& known : gossip.Run())
                        {
                            ASSERT_EQ(known.size(), ranks)
                                << crossing << " tp " << tp << " cp " << cp << " pp " << pp;
                        }
                        // Two for each edge of a tree, numbered from the given one.
                        ASSERT_EQ(gossip.numbers.size(), GradientNorm::Messages(pp));
                        if (pp > 1)
                        {
                            EXPECT_EQ(*gossip.numbers.begin(), 5U);
                            EXPECT_EQ(*gossip.numbers.rbegin(), 5 + 2 * (pp - 1) - 1);
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(laidOut, 100U);
}

TEST(GradientNorm, StaysInAReplicaWhereReplicasHaveAllGradients)
{
    // Without shards a rank hears of those whose parameters are not its own: of the tp ranks that
    // share its dense layers, of the etp x ep that share its experts, and of those of these on all
    // stages.
    size_t laidOut = 0;
    for (const uint32_t tp : {1, 2, 4})
    {
        for (const uint32_t cp : {1, 2})
        {
            for (const uint32_t ep : {1, 2, 4, 8})
            {
                for (const uint32_t etp : {0, 1, 2})
                {
                    for (const uint32_t pp : {1, 2, 4})
                    {
                        ParallelPlan plan = PlanOf(tp, cp, ep, pp, 32 / (tp * cp * pp));
                        plan.etp = etp;
                        plan.sharding = "ddp";
                        const auto laid = LayOut(plan, BuildingsOf({16, 16}, 4));
                        if (!std::holds_alternative<RankLayout>(laid))
                        {
                            continue;
                        }
                        laidOut++;
                        const auto& layout = std::get<RankLayout>(laid);
                        const auto known = Gossip(layout).Run();
                        for (Rank rank = 0; rank < layout.ranks; rank++)
                        {
                            std::set<Rank> others;
                            for (const RankGroup* group :
                                 {&layout.tensor, &layout.expertTensor, &layout.expert})
                            {
                                for (uint32_t i = 0; i < group->Size(); i++)
                                {
                                    others.insert(group->Member(rank, i));
                                }
                            }
                            for (const Rank other : others)
                            {
                                for (uint32_t stage = 0; stage < pp; stage++)
                                {
                                    ASSERT_EQ(
                                        known[rank].count(layout.pipeline.Member(other, stage)),
                                        1U)
                                        << rank << " of " << other;
                                }
                            }
                            if (!plan.FoldsExperts())
                            {
                                ASSERT_EQ(known[rank].size(), size_t{tp} * ep * pp);
                            }
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(laidOut, 40U);
}

TEST(GradientNorm, CostsARoundTripBetweenTwoBuildings)
{
    // One GPU in each. DP-out: the optimizer follows the all-reduce of gradients, and the norm goes
    // between them: from either to the other as the sum of halves, and back. Two messages of 4
    // bytes, one after the other; each takes the span's 50 us, twice the NIC's 0.5 us and the
    // leaf's 1 us and serialization in the way.
    const Duration oneWay = Duration::Microseconds(50 + 2 * (0 + 1)) + Duration::Nanoseconds(1000);
    const Duration more =
        IterationOf(TwoApart(1, 2, "zero1", true)) - IterationOf(TwoApart(1, 2, "zero1", false));
    EXPECT_NEAR(more.S() / (2 * oneWay.S()), 1, 0.02);
    // Without shards each has the number by itself.
    EXPECT_EQ(IterationOf(TwoApart(1, 2, "ddp", true)), IterationOf(TwoApart(1, 2, "ddp", false)));
    // PP-out: the first stage ends last, with the last backward, and steps at once, since the
    // number of the second has long been there. Its own takes one way to the second stage, which
    // then steps; the next forward takes the same way later.
    const Duration less =
        IterationOf(TwoApart(2, 1, "ddp", true)) - IterationOf(TwoApart(2, 1, "ddp", false));
    EXPECT_EQ(less, Duration());
}

} // namespace scaleacross
