// SPDX-License-Identifier: GPL-2.0-only

#include "trace-signatures.h"

#include "ns3/object-factory.h"
#include "ns3/object.h"
#include "ns3/test.h"

#include <set>
#include <vector>

using namespace ns3;

namespace
{

/**
 * Every trace source of every type of the module names its signature by a type that exists, and
 * takes a sink of just these parameters: ns-3 ends the program, naming both types, when a sink's
 * parameters differ from the source's.
 */
class SignaturesTest : public TestCase
{
  public:
    SignaturesTest()
        : TestCase("Trace sources have the signatures they name")
    {
    }

  private:
    void DoRun() override
    {
        std::set<std::string> sources;
        for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
        {
            const TypeId tid = TypeId::GetRegistered(i);
            for (size_t j = 0; IsOurs(tid) && j < tid.GetTraceSourceN(); ++j)
            {
                sources.insert(tid.GetName() + "::" + tid.GetTraceSource(j).name);
            }
            if (IsOurs(tid) && tid.HasConstructor() && tid.IsChildOf(Object::GetTypeId()))
            {
                ObjectFactory factory;
                factory.SetTypeId(tid);
                Connect(factory.Create<Object>());
            }
        }
        NS_TEST_ASSERT_MSG_GT(sources.size(), 20, "the module's trace sources are found");
        NS_TEST_ASSERT_MSG_EQ((m_connected == sources), true, "every source has had its sink");
    }

    static bool IsOurs(TypeId tid)
    {
        return tid.GetGroupName() == "ScaleAcross";
    }

    /// A sink on every source of an object, those of its base classes included.
    void Connect(Ptr<Object> object)
    {
        for (TypeId tid = object->GetInstanceTypeId(); IsOurs(tid); tid = tid.GetParent())
        {
            for (size_t j = 0; j < tid.GetTraceSourceN(); ++j)
            {
                const TypeId::TraceSourceInformation source = tid.GetTraceSource(j);
                const std::string name = tid.GetName() + "::" + source.name;
                const auto& signatures = fabrictest::TraceSignatures();
                const auto found = signatures.find(source.callback);
                NS_TEST_ASSERT_MSG_EQ((found != signatures.end()),
                                      true,
                                      name << " names " << source.callback
                                           << ", which trace-signatures.h does not know");
                const CallbackBase sink = found->second([] {});
                NS_TEST_ASSERT_MSG_EQ(object->TraceConnectWithoutContext(source.name, sink),
                                      true,
                                      name << " takes a sink");
                m_connected.insert(name);
            }
        }
        object->Dispose();
    }

    std::set<std::string> m_connected;
};

class TraceSignaturesSuite : public TestSuite
{
  public:
    TraceSignaturesSuite()
        : TestSuite("scaleacross-trace-signatures")
    {
        AddTestCase(new SignaturesTest);
    }
};

TraceSignaturesSuite g_traceSignaturesSuite;

} // namespace
