// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/enum.h"
#include "ns3/ns3-compat.h"
#include "ns3/object.h"
#include "ns3/string.h"
#include "ns3/test.h"

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

class CompatSuite : public TestSuite
{
  public:
    CompatSuite()
        : TestSuite("scaleacross-compat")
    {
        AddTestCase(new EnumAttributeTest);
    }
};

CompatSuite g_compatSuite;

} // namespace
