// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/string.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;

namespace
{

/// No window until the first answer comes, then one of a single packet.
class ClosingWindow : public RdmaCongestionOps
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("scaleacross::test::ClosingWindow")
                                .SetParent<RdmaCongestionOps>()
                                .SetGroupName("ScaleAcross")
                                .AddConstructor<ClosingWindow>();
        return tid;
    }

    std::string GetName() const override
    {
        return "closing window";
    }

    Ptr<RdmaCongestionOps> Fork() const override
    {
        return CopyObject<ClosingWindow>(Ptr<const ClosingWindow>(this));
    }

    void OnAck(RdmaCongestionState& state, const RdmaAck&, int64_t) override
    {
        state.windowBytes = state.mtu;
    }
};

/**
 * 100 packets of 1,048 bytes at 100 Gb/s (83.84 ns) over a wire of 1 us, ACKs of 60 (4.8 ns), one
 * for every five packets. The first comes back after 5 x 83.84 + 2,004.8 = 2,424 ns, while packet
 * 29 leaves; the window is one packet from then on. The last of the 29 that asked for an answer is
 * the 25th, which is acknowledged at 25 x 83.84 + 2,004.8 = 4,100.8 ns; nothing will ever say that
 * the four behind it have arrived. The 30th must not wait for that. It asks for an answer, as do
 * all that follow, one per round trip of 83.84 + 2,004.8 = 2,088.64 ns: the 100th is acknowledged
 * at 4,100.8 + 71 x 2,088.64 = 152,394.24 ns, and no timer has run out.
 */
class UnaskedTest : public TestCase
{
  public:
    UnaskedTest(const std::string& mode, bool flight)
        : TestCase("A window that closes over packets that asked for no answer: " + mode +
                   (flight ? ", counting flight" : "")),
          m_mode(mode),
          m_flight(flight)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(5));
        fabric.SetQueuePairAttribute("RetransmissionMode", StringValue(m_mode));
        fabric.SetQueuePairAttribute("WindowCountsFlight", BooleanValue(m_flight));
        fabric.SetQueuePairAttribute("CongestionOps", TypeIdValue(ClosingWindow::GetTypeId()));
        auto from = fabric.AddNic(fabric.AddHost());
        auto to = fabric.AddNic(fabric.AddHost());
        fabric.ConnectPorts(from, to, DataRate("100Gbps"), MicroSeconds(1));
        Log log;
        auto connection = fabric.CreateConnection(from, to);
        log.Watch(connection);
        connection->Send(Bytes(100'000), 1);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastCompletion(), 152'394'240, Rounding(300), "completion");
        NS_TEST_ASSERT_MSG_EQ(connection->GetQueuePair(0)->GetCounters().timeouts, 0, "timeouts");
        Simulator::Destroy();
    }

    std::string m_mode;
    bool m_flight;
};

/// What windows, by attribute or by a control, let a queue pair send.
class WindowSuite : public TestSuite
{
  public:
    WindowSuite()
        : TestSuite("scaleacross-window")
    {
        AddTestCase(new UnaskedTest("GoBackN", false));
        AddTestCase(new UnaskedTest("SelectiveRepeat", false));
        AddTestCase(new UnaskedTest("SelectiveRepeat", true));
    }
};

WindowSuite g_windowSuite;

} // namespace
