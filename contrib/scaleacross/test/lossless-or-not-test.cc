// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"

#include <vector>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::DropReason;

namespace
{

/**
 * Selective repeat on a network that drops, against go-back-N on one that pauses.
 *
 * Published (Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018): IRN, selective
 * repeat with a window of one bandwidth-delay product, without PFC outperforms RoCE, go-back-N,
 * with PFC by 6 to 83 % in typical scenarios, average completion time among them; and RoCE needs
 * PFC: without it, it does worse still. Pauses spread the congestion of one host's link to flows
 * that do not go there.
 *
 * Here, as there, 40 Gb/s, 2 us a wire, MTU 1,000, shared buffers of about two bandwidth-delay
 * products per port, timeouts of 131 us (IRN: 100 us and 320 us). Four leaves with four hosts each,
 * four spines, so a bandwidth-delay product of 4 * 2 * 2 us * 40 Gb/s = 80 KB. Every host of leaf i
 * sends 100 messages of 10 KB to its partner on leaf i + 1, one every 10 us, a fifth of its rate;
 * at 100 us eight hosts of leaves 0 and 1 send 500 KB each to one host of leaf 2 in addition.
 *
 * What is checked is the direction, for all messages and for those that have nothing to do with the
 * incast's receiver, which is where the effect comes from. (Mean of all messages 44 us against 143
 * us with PFC and 543 us for go-back-N without it.)
 */
struct Outcome
{
    uint64_t delivered{0};
    double all{0};    //!< mean completion time in us
    double others{0}; //!< of messages that are neither of the incast nor for its receiver
    uint64_t pauses{0};
    uint64_t drops{0};
};

constexpr uint32_t kLeaves = 4;
constexpr uint32_t kHosts = 4; // per leaf
constexpr uint32_t kVictim = 2 * kHosts;
constexpr uint64_t kMessages = 100;

Outcome
Measure(bool pfc, RdmaQueuePair::RetransmissionMode mode)
{
    FabricHelper fabric;
    UseHpccSizes(fabric);
    fabric.SetSwitchAttribute("Pfc", BooleanValue(pfc));
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(2 * kMiB));
    fabric.SetSwitchAttribute("LossyAlpha", DoubleValue(0.125)); // as LosslessAlpha
    fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(1048));
    std::vector<Ptr<FabricSwitch>> leaves;
    for (uint32_t i = 0; i < kLeaves; ++i)
    {
        leaves.push_back(fabric.AddSwitch());
        for (uint32_t j = 0; j < kHosts; ++j)
        {
            Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
            fabric.Connect(nic, leaves[i], DataRate("40Gbps"), MicroSeconds(2));
        }
    }
    for (uint32_t i = 0; i < 4; ++i)
    {
        Ptr<FabricSwitch> spine = fabric.AddSwitch();
        for (const auto& leaf : leaves)
        {
            fabric.Connect(leaf, spine, DataRate("40Gbps"), MicroSeconds(2));
        }
    }
    fabric.InstallRoutes();
    fabric.SetQueuePairAttribute("RetransmissionMode", EnumValue(mode));
    fabric.SetQueuePairAttribute("Timeout", UintegerValue(pfc ? 14 : 5));
    fabric.SetQueuePairAttribute("RetryCount", UintegerValue(1000));
    if (mode == RdmaQueuePair::SelectiveRepeat)
    {
        fabric.SetQueuePairAttribute("Window", UintegerValue(80'000));
    }

    Outcome outcome;
    uint64_t others = 0;
    const auto add = [&](Ptr<RdmaConnection> connection, bool incast, bool other) {
        // The tag is the time of posting.
        connection->SetDeliveryCallback(
            RdmaMessageCallback([&outcome, &others, other](Bytes, uint64_t tag) {
                const double us = static_cast<double>(Simulator::Now().GetPicoSeconds()) * 1e-6 -
                                  static_cast<double>(tag) * 1e-6;
                ++outcome.delivered;
                outcome.all += us;
                outcome.others += other ? us : 0;
                others += other ? 1 : 0;
            }));
        for (uint64_t i = 0; i < (incast ? 1 : kMessages); ++i)
        {
            const uint64_t us = incast ? 100 : 10 * i;
            const uint64_t bytes = incast ? 500'000 : 10'000;
            Simulator::Schedule(MicroSeconds(us), [connection, us, bytes]() {
                connection->Send(Bytes(bytes), us * 1'000'000);
            });
        }
    };
    const uint32_t hosts = kLeaves * kHosts;
    for (uint32_t i = 0; i < hosts; ++i)
    {
        const uint32_t partner = (i + kHosts) % hosts;
        add(fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[partner]),
            false,
            partner != kVictim);
    }
    for (uint32_t i = 0; i < 2 * kHosts; ++i)
    {
        add(fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[kVictim]), true, false);
    }
    Simulator::Run();
    outcome.all /= static_cast<double>(outcome.delivered);
    outcome.others /= static_cast<double>(others);
    for (const auto& fabricSwitch : fabric.Switches())
    {
        outcome.pauses += fabricSwitch->GetPauses();
    }
    outcome.drops = CheckConservation(fabric).Dropped();
    Simulator::Destroy();
    return outcome;
}

class LosslessOrNotTest : public TestCase
{
  public:
    LosslessOrNotTest()
        : TestCase("Selective repeat without PFC against go-back-N with and without")
    {
    }

  private:
    void DoRun() override
    {
        const Outcome roce = Measure(true, RdmaQueuePair::GoBackN);
        const Outcome irn = Measure(false, RdmaQueuePair::SelectiveRepeat);
        const Outcome lossy = Measure(false, RdmaQueuePair::GoBackN);
        const uint64_t messages = kLeaves * kHosts * kMessages + 2 * kHosts;
        for (const Outcome& outcome : {roce, irn, lossy})
        {
            NS_TEST_ASSERT_MSG_EQ(outcome.delivered, messages, "every message");
        }
        NS_TEST_ASSERT_MSG_EQ(roce.drops, 0, "PFC loses nothing");
        NS_TEST_ASSERT_MSG_GT(roce.pauses, 0, "and pauses");
        NS_TEST_ASSERT_MSG_EQ(irn.pauses, 0, "no PFC");
        NS_TEST_ASSERT_MSG_GT(irn.drops, 0, "and drops");
        NS_TEST_ASSERT_MSG_LT(irn.all, roce.all, "mean of all messages");
        NS_TEST_ASSERT_MSG_LT(irn.others, roce.others / 2, "mean of those without a share in it");
        NS_TEST_ASSERT_MSG_LT(irn.all, lossy.all, "go-back-N without PFC");
        NS_TEST_ASSERT_MSG_GT(lossy.all, roce.all, "which needs PFC");
    }
};

class LosslessOrNotSuite : public TestSuite
{
  public:
    LosslessOrNotSuite()
        : TestSuite("scaleacross-lossless-or-not")
    {
        AddTestCase(new LosslessOrNotTest);
    }
};

LosslessOrNotSuite g_losslessOrNotSuite;

} // namespace
