// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/roce-frame.h"
#include "ns3/test.h"

#include <string>
#include <vector>

using namespace ns3;
using scaleacross::FrameBytes;
using scaleacross::InvariantCrc;
using scaleacross::PauseFrameBytes;
using scaleacross::RoceAeth;
using scaleacross::RoceFrame;
using scaleacross::RoceReth;

namespace
{

std::vector<uint8_t>
FromHex(const std::string& text)
{
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i + 1 < text.size(); i += 2)
    {
        bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

std::string
ToHex(const std::vector<uint8_t>& bytes)
{
    const char* digits = "0123456789abcdef";
    std::string text;
    for (uint8_t byte : bytes)
    {
        text += digits[byte >> 4];
        text += digits[byte & 0xFU];
    }
    return text;
}

/// A CNP as a ConnectX-4 Lx sent it: captured, and published with the RoCE tests of Scapy
/// (test/contrib/roce.uts).
const char* const kCapturedCnp = "e41d2dab2bc27cfe90643b32080045c2"
                                 "003c718c4000401191610a0011010a00"
                                 "1201000012b7002800008100ffff4000"
                                 "01180000000000000000000000000000"
                                 "00000000000082fd002a";

/// The bytes of a frame are those of a real one, checksums included.
class CapturedFrameTest : public TestCase
{
  public:
    CapturedFrameTest()
        : TestCase("A CNP as hardware sends it, to the last byte")
    {
    }

  private:
    void DoRun() override
    {
        RoceFrame cnp;
        cnp.destinationMac = Mac48Address("e4:1d:2d:ab:2b:c2");
        cnp.sourceMac = Mac48Address("7c:fe:90:64:3b:32");
        cnp.dscp = 0x30;
        cnp.ecn = 2;
        cnp.identification = 0x718c;
        cnp.source = Ipv4Address("10.0.17.1");
        cnp.destination = Ipv4Address("10.0.18.1");
        cnp.opcode = 0x81;
        cnp.migrated = false;
        cnp.becn = true;
        cnp.queuePair = 0x118;
        cnp.payload = 16; // reserved
        NS_TEST_ASSERT_MSG_EQ(ToHex(FrameBytes(cnp)), std::string(kCapturedCnp), "CNP");
    }
};

/// ICRCs of published packets: the captured CNP, and the example of a send over an unreliable
/// connection in the same collection, whose ICRC is 78 f3 53 f3.
class InvariantCrcTest : public TestCase
{
  public:
    InvariantCrcTest()
        : TestCase("The ICRC of published packets")
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<uint8_t> cnp = FromHex(kCapturedCnp);
        NS_TEST_ASSERT_MSG_EQ(InvariantCrc(&cnp[14], cnp.size() - 18), 0x2a00fd82, "CNP");
        const std::vector<uint8_t> send = FromHex("450100400478400040110000c0a80007c0a80007" // IP
                                                  "c00012b7002c0000"                         // UDP
                                                  "2460ffff000000d300cf1710"                 // BTH
                                                  "4630818be28935d90e9a95505401be885e500000");
        NS_TEST_ASSERT_MSG_EQ(InvariantCrc(send.data(), send.size()), 0xf353f378, "UC send");
        // What may change on the way does not change it.
        std::vector<uint8_t> changed = send;
        for (size_t at : {1U, 8U, 10U, 11U, 26U, 27U, 32U})
        {
            changed[at] = static_cast<uint8_t>(~changed[at]);
        }
        NS_TEST_ASSERT_MSG_EQ(InvariantCrc(changed.data(), changed.size()),
                              0xf353f378,
                              "on the way");
        changed[28] = 0x25;
        NS_TEST_ASSERT_MSG_NE(InvariantCrc(changed.data(), changed.size()), 0xf353f378, "opcode");
    }
};

/// Lengths and places of headers: 14 + 20 + 8 + 12 = 54 bytes, RETH 16, AETH 4, immediate data 4,
/// payload in units of 4, ICRC 4, at least 60.
class LayoutTest : public TestCase
{
  public:
    LayoutTest()
        : TestCase("Layout of RoCE and PFC frames")
    {
    }

  private:
    void DoRun() override
    {
        RoceFrame frame;
        frame.opcode = 0x0B; // write only, with immediate
        frame.psn = 0xABCDEF;
        frame.ackRequested = true;
        frame.reth = RoceReth{0x1122334455667788, 0x99AABBCC, 0xDDEEFF00};
        frame.immediate = 0x01020304;
        frame.payload = 5;
        const std::vector<uint8_t> write = FrameBytes(frame);
        NS_TEST_ASSERT_MSG_EQ(write.size(), 54 + 16 + 4 + 8 + 4, "length");
        NS_TEST_ASSERT_MSG_EQ(ToHex({write.begin() + 42, write.begin() + 54}),
                              "0b70ffff0000000080abcdef",
                              "BTH: M, three bytes of padding, A");
        NS_TEST_ASSERT_MSG_EQ(ToHex({write.begin() + 54, write.begin() + 74}),
                              "112233445566778899aabbccddeeff0001020304",
                              "RETH and immediate data");
        NS_TEST_ASSERT_MSG_EQ(unsigned{write[16]} * 256 + write[17], 20 + 8 + 12 + 32, "IP length");

        RoceFrame ack;
        ack.opcode = 0x11;
        ack.aeth = RoceAeth{0x1F, 7};
        NS_TEST_ASSERT_MSG_EQ(FrameBytes(ack).size(), 62, "ACK");
        RoceFrame empty;
        NS_TEST_ASSERT_MSG_EQ(FrameBytes(empty).size(), 60, "an empty send is padded");

        const std::string head = "0180c200000102000000000188080101";
        const std::string pause =
            ToHex(PauseFrameBytes(Mac48Address("02:00:00:00:00:01"), 3, true));
        NS_TEST_ASSERT_MSG_EQ(pause,
                              head + "0008" + "000000000000ffff0000000000000000" +
                                  std::string(52, '0'),
                              "pause");
        const std::string resume =
            ToHex(PauseFrameBytes(Mac48Address("02:00:00:00:00:01"), 3, false));
        NS_TEST_ASSERT_MSG_EQ(resume, head + "0008" + std::string(84, '0'), "resume");
    }
};

class PcapSuite : public TestSuite
{
  public:
    PcapSuite()
        : TestSuite("scaleacross-pcap")
    {
        AddTestCase(new CapturedFrameTest);
        AddTestCase(new InvariantCrcTest);
        AddTestCase(new LayoutTest);
    }
};

PcapSuite g_pcapSuite;

} // namespace
