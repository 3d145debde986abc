// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/enum.h"
#include "ns3/ns3-compat.h"
#include "ns3/object.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/udp-l4-protocol.h"

using namespace ns3;

namespace
{

/// Two enum attributes: one is a member, the other has a setter and a getter.
class Painted : public Object
{
  public:
    enum Colour
    {
        Red,
        Green,
        Blue
    };

    static TypeId GetTypeId()
    {
        using scaleacross::EnumAccessor;
        static TypeId tid =
            TypeId("scaleacross::CompatTestPainted")
                .SetParent<Object>()
                .AddConstructor<Painted>()
                .AddAttribute("Outside",
                              "A member.",
                              EnumValue(Green),
                              EnumAccessor<Colour>(&Painted::m_outside),
                              MakeEnumChecker(Red, "Red", Green, "Green", Blue, "Blue"))
                .AddAttribute("Inside",
                              "A setter and a getter.",
                              EnumValue(Blue),
                              EnumAccessor<Colour>(&Painted::SetInside, &Painted::GetInside),
                              MakeEnumChecker(Red, "Red", Green, "Green", Blue, "Blue"));
        return tid;
    }

    void SetInside(Colour colour)
    {
        m_inside = colour;
    }

    Colour GetInside() const
    {
        return m_inside;
    }

    Colour m_outside{Red};
    Colour m_inside{Red};
};

class EnumAttributeTest : public TestCase
{
  public:
    EnumAttributeTest()
        : TestCase("Enum attributes by default, value and name")
    {
    }

  private:
    void DoRun() override
    {
        auto painted = CreateObject<Painted>();
        NS_TEST_ASSERT_MSG_EQ(painted->m_outside, Painted::Green, "default of a member");
        NS_TEST_ASSERT_MSG_EQ(painted->m_inside, Painted::Blue, "default by a setter");
        painted->SetAttribute("Outside", EnumValue(Painted::Blue));
        painted->SetAttribute("Inside", StringValue("Green"));
        NS_TEST_ASSERT_MSG_EQ(painted->m_outside, Painted::Blue, "by value");
        NS_TEST_ASSERT_MSG_EQ(painted->m_inside, Painted::Green, "by name");
        StringValue name;
        painted->GetAttribute("Inside", name);
        NS_TEST_ASSERT_MSG_EQ(name.Get(), "Green", "and back");
    }
};

/// UDP's is asked of ns-3; Ethernet's are of RFC 894 and of tcpdump.org's list of link types.
class NumbersTest : public TestCase
{
  public:
    NumbersTest()
        : TestCase("IANA's numbers are those of ns-3's protocols")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(CreateObject<UdpL4Protocol>()->GetProtocolNumber(),
                              scaleacross::kProtocolUdp,
                              "UDP");
        NS_TEST_EXPECT_MSG_EQ(scaleacross::kEtherTypeIpv4, 0x0800, "RFC 894");
        NS_TEST_EXPECT_MSG_EQ(scaleacross::kLinkTypeEthernet, 1, "LINKTYPE_ETHERNET");
    }
};

class CompatSuite : public TestSuite
{
  public:
    CompatSuite()
        : TestSuite("scaleacross-compat")
    {
        AddTestCase(new EnumAttributeTest);
        AddTestCase(new NumbersTest);
    }
};

CompatSuite g_compatSuite;

} // namespace
