// SPDX-License-Identifier: GPL-2.0-only

// Switches that run ahead and NICs that stay behind against the plain engine: an event for every
// arrival and an event for every departure, on ns-3's own event list. Nothing may differ, at any
// picosecond, with equal times and without.

#include "core/base/errors.h"
#include "look-ahead-works.h"

#include "ns3/boolean.h"
#include "ns3/random-entropy.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/rng-stream.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <functional>
#include <map>
#include <tuple>

using namespace lookahead;
using scaleacross::Bytes;
using scaleacross::FabricPacket;

namespace
{

/// One scenario on all engines, with equal times and with jitter.
class EqualityTest : public TestCase
{
  public:
    /// What has to have happened for the scenario to be worth comparing.
    using Check = std::function<bool(const Outcome&)>;

    EqualityTest(const std::string& name, Scenario scenario, Check check)
        : TestCase(name + ": every engine gives the same"),
          m_scenario(std::move(scenario)),
          m_check(std::move(check))
    {
    }

  private:
    void DoRun() override
    {
        for (bool jitter : {false, true})
        {
            const Outcome plain = RunScenario(m_scenario, kPlain, jitter);
            NS_TEST_ASSERT_MSG_EQ(m_check(plain), true, "the scenario shows what it is for");
            for (const Engine& engine : {kLazy, kAhead, kBehind, kWindows})
            {
                const Outcome other = RunScenario(m_scenario, engine, jitter);
                NS_TEST_ASSERT_MSG_EQ(Same(other, plain),
                                      true,
                                      engine.name << (jitter ? ", jitter" : ", equal times"));
            }
        }
    }

    Scenario m_scenario;
    Check m_check;
};

/**
 * Windows are what they are called: per hop far less than an event. Two arrivals per hop (data and
 * ACK) are two events of the exact engine; a window of 1 us holds 11.9 packets per wire at 100
 * Gb/s, and a node of the incast has at least one busy wire: at most a quarter of the events. Where
 * the Simulator does not count in picoseconds, nodes do not run ahead.
 */
class FewerEventsTest : public TestCase
{
  public:
    FewerEventsTest()
        : TestCase("Windows need a quarter of the events at most")
    {
    }

  private:
    void DoRun() override
    {
        const Scenario lossless = [](FabricHelper& fabric, Log& log, Delays delays) {
            Permutation(fabric, log, delays, 0, true);
        };
        const Outcome exact = RunScenario(lossless, kLazy, true);
        const Outcome windows = RunScenario(lossless, kWindows, true);
        if (Rounding(1) == 0)
        {
            NS_TEST_ASSERT_MSG_LT(windows.events * 4, exact.events, "events");
        }
        else
        {
            NS_TEST_ASSERT_MSG_EQ(windows.events, exact.events, "as if it were switched off");
        }
    }
};

/**
 * A sink is shown every packet at its time whatever the engine: nodes that are watched go event by
 * event. And its being there changes no time.
 */
class SinkTest : public TestCase
{
  public:
    SinkTest()
        : TestCase("Sinks see the exact times and change none")
    {
    }

  private:
    /// Time, port, PSN and kind of a packet.
    using Seen = std::tuple<int64_t, std::string, uint64_t, uint8_t>;

    static Outcome RunWatched(const Engine& engine, bool watchNics, std::vector<Seen>& seen)
    {
        const Scenario watched = [&](FabricHelper& fabric, Log& log, Delays delays) {
            Permutation(fabric, log, delays, 1e-3, true);
            auto watch = [&seen](Ptr<FabricPort> port) {
                const std::string name = port->Describe();
                auto note = [&seen, name](const FabricPacket& packet) {
                    seen.emplace_back(Simulator::Now().GetPicoSeconds(),
                                      name,
                                      packet.psn,
                                      static_cast<uint8_t>(packet.kind));
                };
                port->TraceConnectWithoutContext("Transmit",
                                                 Callback<void, const FabricPacket&>(note));
            };
            if (watchNics)
            {
                std::for_each(fabric.Nics().begin(), fabric.Nics().end(), watch);
            }
            for (const auto& fabricSwitch : fabric.Switches())
            {
                watch(fabricSwitch->GetPort(0));
            }
        };
        const Outcome outcome = RunScenario(watched, engine, true);
        std::sort(seen.begin(), seen.end());
        return outcome;
    }

    void DoRun() override
    {
        const Outcome unwatched = RunScenario(
            [](FabricHelper& fabric, Log& log, Delays delays) {
                Permutation(fabric, log, delays, 1e-3, true);
            },
            kWindows,
            true);
        for (bool watchNics : {false, true})
        {
            std::vector<Seen> plain;
            std::vector<Seen> windows;
            const Outcome first = RunWatched(kPlain, watchNics, plain);
            const Outcome second = RunWatched(kWindows, watchNics, windows);
            // 405 packets a flow. Data to and ACKs from the first host of each of four leaves; data
            // and ACKs of the four flows into the first leaf, at the four spines: 16 * 405; some
            // ACKs are lost.
            NS_TEST_ASSERT_MSG_GT(plain.size(), 6400, "packets seen");
            NS_TEST_ASSERT_MSG_EQ((plain == windows), true, "the same at the same times");
            NS_TEST_ASSERT_MSG_EQ(Same(first, unwatched), true, "the plain engine");
            NS_TEST_ASSERT_MSG_EQ(Same(second, unwatched), true, "watched windows");
        }
    }
};

/// What is asked of switches and NICs at announced times is what the plain engine says; changes
/// happen at their time; what has not been announced is refused.
class HoldTest : public TestCase
{
  public:
    HoldTest()
        : TestCase("Announced looks and changes are exact, others are refused")
    {
    }

  private:
    static Outcome RunHeld(const Engine& engine, std::vector<uint64_t>& looks)
    {
        const Scenario held = [&](FabricHelper& fabric, Log& log, Delays delays) {
            Permutation(fabric, log, delays, 0, true);
            for (int64_t us = 3; us < 90; us += 7)
            {
                const Time when = MicroSeconds(us) + PicoSeconds(500);
                fabric.HoldAt(when);
                Simulator::Schedule(when, [&fabric, &looks]() {
                    for (const auto& fabricSwitch : fabric.Switches())
                    {
                        looks.push_back(fabricSwitch->GetOccupancy());
                        looks.push_back(fabricSwitch->GetPort(0)->GetSentBytes());
                    }
                    for (const auto& nic : fabric.Nics())
                    {
                        looks.push_back(nic->GetSentBytes());
                        looks.push_back(nic->GetDataReceived());
                        looks.push_back(nic->GetQueuePair(0)->GetUnacked());
                    }
                });
            }
            fabric.HoldAt(MicroSeconds(50));
            Simulator::Schedule(MicroSeconds(50), [&fabric]() {
                fabric.Wires()[0]->SetLossRate(0.01);
                fabric.Wires()[20]->SetDelay(NanoSeconds(600));
            });
        };
        return RunScenario(held, engine, true);
    }

    void DoRun() override
    {
        std::vector<uint64_t> plain;
        std::vector<uint64_t> windows;
        const Outcome first = RunHeld(kPlain, plain);
        const Outcome second = RunHeld(kWindows, windows);
        NS_TEST_ASSERT_MSG_EQ((plain == windows), true, "what was seen");
        NS_TEST_ASSERT_MSG_EQ(Same(first, second), true, "what came of it");
        NS_TEST_ASSERT_MSG_GT(first.drops, 0, "the change took effect");

        uint32_t refused = 0;
        auto attempt = [&refused](const std::function<void()>& act) {
            try
            {
                act();
            }
            catch (const scaleacross::ConfigError&)
            {
                ++refused;
            }
        };
        RunScenario(
            [&](FabricHelper& fabric, Log& log, Delays delays) {
                Permutation(fabric, log, delays, 0, true);
                // Every switch has work then, and the wire's is ahead.
                Simulator::Schedule(PicoSeconds(40'000'321), [&fabric, attempt]() {
                    attempt([&]() { fabric.Wires()[20]->SetLossRate(0.5); });
                    attempt([&]() { fabric.HoldAt(Simulator::Now() + PicoSeconds(1)); });
                });
            },
            kWindows,
            true);
        // Nobody runs ahead unless the Simulator counts in picoseconds.
        const uint32_t expected = Rounding(1) == 0 ? 2 : 0;
        NS_TEST_ASSERT_MSG_EQ(refused, expected, "a change and an announcement that come too late");
    }
};

/**
 * Without AssignStreams every queue pair takes one of ns-3's automatic streams, in the order in
 * which they are connected, whenever they draw first: two NICs with two queue pairs each, wires of
 * 2 us and 1 us, so that packets of the second come in first. After index n of ns-3's count, queue
 * pair i has n + 1 + i, and its first entropy is 0xC000 + floor(2^14 u) of that stream's first u.
 * A stream that was set by hand is kept, and nothing is taken from ns-3's count for it.
 */
class AutomaticStreamsTest : public TestCase
{
  public:
    AutomaticStreamsTest()
        : TestCase("Automatic streams go by the order of connecting on every engine")
    {
    }

  private:
    static uint16_t FirstOf(uint64_t stream)
    {
        RngStream generator(RngSeedManager::GetSeed(), stream, RngSeedManager::GetRun());
        return static_cast<uint16_t>(0xC000 + static_cast<uint32_t>(generator.RandU01() * 0x4000));
    }

    void RunOn(const Engine& engine)
    {
        EngineGuard guard(engine);
        FabricHelper fabric;
        UseHpccSizes(fabric);
        auto centre = fabric.AddSwitch();
        for (const int64_t us : {2, 1, 1})
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           centre,
                           DataRate("100Gbps"),
                           MicroSeconds(us));
        }
        fabric.InstallRoutes();
        const uint64_t before = RngSeedManager::GetNextStreamIndex();
        std::vector<Ptr<RdmaQueuePair>> queuePairs;
        Ptr<RdmaNic> to = fabric.Nics()[2];
        for (uint32_t i = 0; i < 5; ++i)
        {
            Ptr<RdmaNic> from = fabric.Nics()[i / 2 % 2];
            auto queuePair = from->CreateQueuePair();
            auto peer = to->CreateQueuePair();
            for (const auto& end : {queuePair, peer})
            {
                end->SetAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
                end->SetAttribute("ReorderTolerance", UintegerValue(64));
            }
            if (i == 4)
            {
                auto ops = CreateObject<RandomEntropy>();
                ops->SetStream(7);
                queuePair->SetEntropyOps(ops);
            }
            else
            {
                queuePair->SetAttribute("EntropyOps", TypeIdValue(RandomEntropy::GetTypeId()));
            }
            queuePair->Connect(to->GetFabricAddress(), peer->GetNumber());
            peer->Connect(from->GetFabricAddress(), queuePair->GetNumber());
            queuePairs.push_back(queuePair);
        }
        const uint64_t after = RngSeedManager::GetNextStreamIndex();
        NS_TEST_EXPECT_MSG_EQ(after - before, 5, engine.name << ": four were taken, then this one");
        // By number at the receiver; watched at the receiver alone, so that senders stay behind.
        std::map<uint32_t, uint16_t> first;
        to->TraceConnectWithoutContext(
            "Receive",
            Callback<void, const FabricPacket&>([&first](const FabricPacket& packet) {
                if (packet.psn == 0)
                {
                    first.emplace(packet.queuePair, packet.entropy);
                }
            }));
        for (const auto& queuePair : queuePairs)
        {
            queuePair->Post(scaleacross::RdmaOperation::Write, Bytes(3000), 0);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(first.size(), 5, engine.name << ": all have sent");
        for (uint32_t i = 0; i < 4; ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(first[i],
                                  FirstOf(before + 1 + i),
                                  engine.name << ", queue pair " << i);
        }
        // Streams that are chosen are in the upper half of ns-3's.
        NS_TEST_EXPECT_MSG_EQ(first[4], FirstOf((uint64_t{1} << 63) + 7), engine.name << ", 7");
    }

    void DoRun() override
    {
        for (const Engine& engine : {kPlain, kLazy, kAhead, kBehind, kWindows})
        {
            RunOn(engine);
        }
    }
};

class LookAheadSuite : public TestSuite
{
  public:
    LookAheadSuite()
        : TestSuite("scaleacross-look-ahead")
    {
        AddTestCase(new EqualityTest(
            "Permutation",
            [](auto& fabric, auto& log, Delays delays) {
                Permutation(fabric, log, delays, 0, true);
            },
            [](const Outcome& outcome) { return outcome.pauses > 10 && outcome.drops == 0; }));
        AddTestCase(new EqualityTest("Incast", Incast, [](const Outcome& outcome) {
            return outcome.pauses > 10 && outcome.drops == 0;
        }));
        AddTestCase(new EqualityTest(
            "Loss",
            [](auto& fabric, auto& log, Delays delays) {
                Permutation(fabric, log, delays, 1e-3, true);
            },
            [](const Outcome& outcome) {
                return outcome.drops > 10 && outcome.retransmissions > 100;
            }));
        AddTestCase(new EqualityTest(
            "Lossy switches",
            [](auto& fabric, auto& log, Delays delays) {
                Permutation(fabric, log, delays, 0, false);
            },
            [](const Outcome& outcome) { return outcome.drops > 10 && outcome.pauses == 0; }));
        AddTestCase(new EqualityTest(
            "Selective repeat",
            [](auto& fabric, auto& log, Delays delays) {
                fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
                fabric.SetQueuePairAttribute("AckInterval", UintegerValue(4));
                Permutation(fabric, log, delays, 1e-3, false);
            },
            [](const Outcome& outcome) {
                return outcome.drops > 10 && outcome.retransmissions > 10;
            }));
        AddTestCase(new EqualityTest(
            "Trimming",
            [](auto& fabric, auto& log, Delays delays) {
                Trimming(fabric);
                Permutation(fabric, log, delays, 1e-3, false);
                ShareLines(fabric);
            },
            [](const Outcome& outcome) {
                return outcome.trimmed > 10 && outcome.retransmissions > outcome.trimmed;
            }));
        AddTestCase(new EqualityTest(
            "Trimmed incast",
            [](auto& fabric, auto& log, Delays delays) {
                Trimming(fabric);
                fabric.SetSwitchAttribute("Pfc", BooleanValue(false));
                Incast(fabric, log, delays);
                ShareLines(fabric);
            },
            [](const Outcome& outcome) { return outcome.trimmed > 100 && outcome.drops == 0; }));
        AddTestCase(new EqualityTest(
            "Clear to send",
            [](auto& fabric, auto& log, Delays delays) {
                fabric.SetConnectionAttribute("ClearToSend", BooleanValue(true));
                Permutation(fabric, log, delays, 1e-3, true);
            },
            [](const Outcome& outcome) {
                return outcome.delivered.size() == 32 && outcome.retransmissions > 10;
            }));
        AddTestCase(new EqualityTest("Long haul", LongHaul, [](const Outcome& outcome) {
            return outcome.delivered.size() == 32;
        }));
        AddTestCase(new EqualityTest(
            "DCQCN",
            [](auto& fabric, auto& log, Delays delays) {
                Controlled(fabric, log, delays, "ns3::Dcqcn", 0);
            },
            [](const Outcome& outcome) { return outcome.cnps > 5 && outcome.drops == 0; }));
        for (const std::string name : {"ns3::DctcpLike", "ns3::Swift", "ns3::Timely", "ns3::Hpcc"})
        {
            for (const double loss : {0.0, 1e-3})
            {
                AddTestCase(new EqualityTest(
                    name + (loss > 0 ? " with losses" : ""),
                    [name, loss](auto& fabric, auto& log, Delays delays) {
                        Controlled(fabric, log, delays, name, loss);
                    },
                    [loss](const Outcome& outcome) {
                        return outcome.delivered.size() == 12 &&
                               (outcome.retransmissions > 0) == (loss > 0);
                    }));
            }
        }
        AddTestCase(new EqualityTest("Credits and HPCC",
                                     WithCredits([](auto& fabric, auto& log, Delays delays) {
                                         Controlled(fabric, log, delays, "ns3::Hpcc", 0);
                                     }),
                                     [](const Outcome& outcome) {
                                         return outcome.delivered.size() == 12 &&
                                                outcome.starved > Time(0);
                                     }));
        for (const double loss : {0.0, 1e-3})
        {
            AddTestCase(new EqualityTest(
                loss > 0 ? "Credits with loss" : "Credits",
                WithCredits([loss](auto& fabric, auto& log, Delays delays) {
                    Permutation(fabric, log, delays, loss, true);
                }),
                [loss](const Outcome& outcome) {
                    return outcome.starved > MicroSeconds(100) && outcome.pauses == 0 &&
                           (outcome.drops > 10) == (loss > 0) && outcome.delivered.size() == 32;
                }));
        }
        AddTestCase(new EqualityTest("Credits and InfiniBand's congestion control",
                                     WithCredits([](auto& fabric, auto& log, Delays delays) {
                                         Controlled(fabric, log, delays, "ns3::InfinibandCc", 0);
                                     }),
                                     [](const Outcome& outcome) {
                                         return outcome.delivered.size() == 12 && outcome.cnps > 5;
                                     }));
        for (const bool adaptive : {false, true})
        {
            AddTestCase(new EqualityTest(
                adaptive ? "Lanes that change, and adaptive spray" : "Lanes that change",
                WithCredits(WithLaneMap([adaptive](auto& fabric, auto& log, Delays delays) {
                    if (adaptive)
                    {
                        OtherPaths(fabric, log, delays, "ns3::AdaptiveSpraySelector", 1e-3);
                        return;
                    }
                    Failures(fabric, log, delays, true);
                })),
                [adaptive](const Outcome& outcome) {
                    return outcome.starved > MicroSeconds(50) && outcome.drops > 10 &&
                           outcome.delivered.size() == (adaptive ? 64 : 32);
                }));
        }
        AddTestCase(
            new EqualityTest("Credits, incast", WithCredits(Incast), [](const Outcome& outcome) {
                return outcome.starved > MicroSeconds(100) && outcome.drops == 0 &&
                       outcome.delivered.size() == 16;
            }));
        AddTestCase(new EqualityTest("Credits, long haul",
                                     WithCredits(LongHaul),
                                     [](const Outcome& outcome) {
                                         return outcome.starved > MicroSeconds(100) &&
                                                outcome.delivered.size() == 32;
                                     }));
        AddTestCase(
            new EqualityTest("Credits and adaptive spray",
                             WithCredits([](auto& fabric, auto& log, Delays delays) {
                                 OtherPaths(fabric, log, delays, "ns3::AdaptiveSpraySelector", 0);
                             }),
                             [](const Outcome& outcome) {
                                 return outcome.starved > MicroSeconds(100) && outcome.drops == 0 &&
                                        outcome.outOfOrder > 10 && outcome.delivered.size() == 64;
                             }));
        for (bool keep : {false, true})
        {
            AddTestCase(new EqualityTest(
                keep ? "Credits and failures, packets kept" : "Credits and failures",
                WithCredits([keep](auto& fabric, auto& log, Delays delays) {
                    Failures(fabric, log, delays, keep);
                }),
                [](const Outcome& outcome) {
                    return outcome.starved > MicroSeconds(100) && outcome.drops > 10 &&
                           outcome.delivered.size() == 32;
                }));
        }
        AddTestCase(new AutomaticStreamsTest);
        for (const std::string name : {"ns3::EcmpSelector",
                                       "ns3::WeightedSelector",
                                       "ns3::FlowletSelector",
                                       "ns3::RandomSpraySelector",
                                       "ns3::RoundRobinSpraySelector",
                                       "ns3::AdaptiveSpraySelector",
                                       "ns3::RandomEntropy",
                                       "ns3::RecycledEntropy"})
        {
            AddTestCase(new EqualityTest(
                "Failures with " + name,
                [name](auto& fabric, auto& log, Delays delays) {
                    SpreadPaths(fabric, name);
                    Failures(fabric, log, delays, name.size() % 2 == 0);
                },
                [name](const Outcome& outcome) {
                    return outcome.delivered.size() == 32 && outcome.drops > 10 &&
                           outcome.retransmissions > 10 &&
                           (outcome.rerouted > 0) == (name.size() % 2 == 0);
                }));
        }
        for (bool keep : {false, true})
        {
            AddTestCase(new EqualityTest(
                keep ? "Failures, packets kept" : "Failures",
                [keep](auto& fabric, auto& log, Delays delays) {
                    Failures(fabric, log, delays, keep);
                },
                [keep](const Outcome& outcome) {
                    return outcome.delivered.size() == 32 && outcome.drops > 10 &&
                           outcome.retransmissions > 10 && (outcome.rerouted > 0) == keep;
                }));
        }
        for (const std::string name : {"Ecmp", "Weighted", "Flowlet"})
        {
            AddTestCase(new EqualityTest(
                name,
                [name](auto& fabric, auto& log, Delays delays) {
                    OtherPaths(fabric, log, delays, "ns3::" + name + "Selector", 1e-3);
                },
                [](const Outcome& outcome) {
                    return outcome.pauses > 10 && outcome.delivered.size() == 64;
                }));
        }
        for (const std::string name : {"RandomSpray", "RoundRobinSpray", "AdaptiveSpray"})
        {
            for (const double loss : {0.0, 1e-3})
            {
                AddTestCase(new EqualityTest(
                    name + (loss > 0 ? " with loss" : ""),
                    [name, loss](auto& fabric, auto& log, Delays delays) {
                        OtherPaths(fabric, log, delays, "ns3::" + name + "Selector", loss);
                    },
                    [loss](const Outcome& outcome) {
                        return outcome.outOfOrder > 10 && outcome.delivered.size() == 64 &&
                               (outcome.drops > 10) == (loss > 0);
                    }));
            }
        }
        for (const std::string name : {"Random", "Recycled"})
        {
            for (const double loss : {0.0, 1e-2})
            {
                AddTestCase(new EqualityTest(
                    name + " entropies" + (loss > 0 ? " with loss" : ""),
                    [name, loss](auto& fabric, auto& log, Delays delays) {
                        Entropies(fabric, log, delays, "ns3::" + name + "Entropy", loss);
                    },
                    [name, loss](const Outcome& outcome) {
                        return outcome.outOfOrder > 10 && outcome.delivered.size() == 32 &&
                               (outcome.drops > 10) == (loss > 0) &&
                               (outcome.cnps > 5) == (name == "Recycled");
                    }));
            }
        }
        AddTestCase(new EqualityTest(
            "Wires that become shorter",
            ControlledOverShorterWires,
            [](const Outcome& outcome) { return outcome.delivered.size() == 12; }));
        AddTestCase(
            new EqualityTest("Slow flows over a wire that becomes shorter",
                             SparseOverAShorterWire,
                             [](const Outcome& outcome) { return outcome.delivered.size() == 6; }));
        AddTestCase(new FewerEventsTest);
        AddTestCase(new SinkTest);
        AddTestCase(new HoldTest);
    }
};

LookAheadSuite g_lookAheadSuite;

} // namespace
