// SPDX-License-Identifier: GPL-2.0-only

// Random fabrics that use everything there is, on the plain engine and on those that look ahead.
// SCALEACROSS_FABRICS says how many, SCALEACROSS_FABRIC_SEED from which seed on.

#include "attribute-lottery.h"
#include "random-fabric.h"

#include "ns3/loss-model.h"
#include "ns3/path-selector.h"
#include "ns3/rdma-entropy-ops.h"

#include <cstdlib>
#include <iostream>

using namespace lookahead;
using fabrictest::AttributeLottery;

namespace
{

uint32_t
NumberFrom(const char* variable, uint32_t otherwise)
{
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : static_cast<uint32_t>(std::stoul(text));
}

/**
 * Engines give the same to the picosecond, and nothing beats physics, on every fabric: the plain
 * engine, which is watched packet by packet, the windows, and one of the three others in turn.
 */
class RandomFabricsTest : public TestCase
{
  public:
    RandomFabricsTest()
        : TestCase("Every engine gives the same on random fabrics, and nothing comes too early")
    {
    }

  private:
    void DoRun() override
    {
        const uint32_t first = NumberFrom("SCALEACROSS_FABRIC_SEED", 1);
        const uint32_t count = NumberFrom("SCALEACROSS_FABRICS", 100);
        for (uint32_t seed = first; seed < first + count && m_failures < 20; ++seed)
        {
            RunSeed(seed);
        }
        std::cout << "random fabrics: seeds " << first << " to " << first + count - 1 << ", "
                  << m_messages << " messages, " << m_packets << " data packets, " << m_refused
                  << " draws refused, " << m_failures << " failures\n";
        for (const auto& [type, times] : m_types)
        {
            std::cout << "  " << type << ": " << times << "\n";
        }
        for (const TypeId& base : {RdmaCongestionOps::GetTypeId(),
                                   RdmaEntropyOps::GetTypeId(),
                                   PathSelector::GetTypeId(),
                                   FabricLossModel::GetTypeId()})
        {
            for (const TypeId& type : AttributeLottery::ChildrenOf(base))
            {
                if (count >= 100)
                {
                    NS_TEST_EXPECT_MSG_GT(m_types[type.GetName()], 0, type.GetName());
                }
            }
        }
    }

    void RunSeed(uint32_t seed)
    {
        const randomfabric::Result plain = randomfabric::Run(seed, kPlain, true);
        m_messages += plain.messages;
        m_packets += plain.packets;
        m_refused += plain.refused;
        for (const auto& [type, times] : plain.types)
        {
            m_types[type] += times;
        }
        Report(plain, seed, kPlain);
        const Engine others[] = {kLazy, kAhead, kBehind};
        for (const Engine& engine : {kWindows, others[seed % 3]})
        {
            const randomfabric::Result other = randomfabric::Run(seed, engine, false);
            Report(other, seed, engine);
            const bool same = Same(plain.outcome, other.outcome) && plain.refused == other.refused;
            m_failures += same ? 0 : 1;
            NS_TEST_EXPECT_MSG_EQ(same,
                                  true,
                                  "seed " << seed << ", " << engine.name << ": "
                                          << Difference(plain.outcome, other.outcome) << "; "
                                          << plain.drawn);
        }
    }

    void Report(const randomfabric::Result& result, uint32_t seed, const Engine& engine)
    {
        m_failures += result.violations.empty() ? 0 : 1;
        NS_TEST_EXPECT_MSG_EQ(result.violations.size(),
                              0,
                              "seed " << seed << ", " << engine.name << ": "
                                      << result.violations.front() << "; " << result.drawn);
    }

    /// Where two runs begin to differ.
    static std::string Difference(const Outcome& a, const Outcome& b)
    {
        auto first = [](const std::vector<Event>& x, const std::vector<Event>& y) -> std::string {
            const size_t both = std::min(x.size(), y.size());
            const auto at =
                std::mismatch(x.begin(), x.begin() + static_cast<long>(both), y.begin());
            if (at.first == x.begin() + static_cast<long>(both))
            {
                return std::to_string(x.size()) + " and " + std::to_string(y.size());
            }
            return "message " + std::to_string(at.first->tag) + " at " +
                   std::to_string(at.first->time) + " ps, and " + std::to_string(at.second->tag) +
                   " at " + std::to_string(at.second->time) + " ps";
        };
        if (!(a.delivered == b.delivered))
        {
            return "delivered " + first(a.delivered, b.delivered);
        }
        if (!(a.completed == b.completed))
        {
            return "completed " + first(a.completed, b.completed);
        }
        return a.failures == b.failures ? "counters" : "failures";
    }

    uint64_t m_messages{0};
    uint64_t m_packets{0};
    uint64_t m_refused{0};
    uint64_t m_failures{0};
    std::map<std::string, uint64_t> m_types;
};

/// Nothing that is registered is left out of the draw without a reason.
class EverythingDrawnTest : public TestCase
{
  public:
    EverythingDrawnTest()
        : TestCase("Every attribute is drawn, or excused")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string& attribute : AttributeLottery::Unknown())
        {
            NS_TEST_EXPECT_MSG_EQ(attribute, "", "see attribute-lottery.cc");
        }
    }
};

class RandomFabricsSuite : public TestSuite
{
  public:
    RandomFabricsSuite()
        : TestSuite("scaleacross-random-fabrics")
    {
        AddTestCase(new EverythingDrawnTest);
        AddTestCase(new RandomFabricsTest);
    }
};

RandomFabricsSuite g_randomFabricsSuite;

} // namespace
