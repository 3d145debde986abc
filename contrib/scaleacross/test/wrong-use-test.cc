// SPDX-License-Identifier: GPL-2.0-only

// What a script may get wrong with the fabric: each mistake is a ConfigError that says what it is
// and what to do, never a crash, and never a run that ends in a timer. A script that catches
// nothing prints that and ends with 2.

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/node.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/string.h"

#include <csignal>
#include <cstdio>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;

namespace
{

const DataRate kRate{"100Gbps"};
const Time kDelay{MicroSeconds(1)};

class WrongUseTest : public TestCase
{
  public:
    explicit WrongUseTest(const std::string& name)
        : TestCase(name)
    {
    }

  protected:
    /// The action throws a ConfigError whose problem and remedy contain these words.
    void Refused(const std::string& what,
                 const std::function<void()>& action,
                 const std::string& problem,
                 const std::string& remedy = "")
    {
        try
        {
            action();
        }
        catch (const ConfigError& error)
        {
            const std::string text = error.what();
            NS_TEST_EXPECT_MSG_NE(text.find(problem), std::string::npos, what << ": " << text);
            NS_TEST_EXPECT_MSG_NE(text.find(remedy), std::string::npos, what << ": " << text);
            return;
        }
        NS_TEST_EXPECT_MSG_EQ(true, false, what << ": accepted");
    }
};

class NullTest : public WrongUseTest
{
  public:
    NullTest()
        : WrongUseTest("Pointers that are null")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        const Ptr<FabricSwitch> centre = fabric.AddSwitch();
        const Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
        const Ptr<RdmaNic> noNic;
        const Ptr<FabricSwitch> noSwitch;
        const Ptr<FabricPort> noPort;
        const std::string make = "AddNic and switches by AddSwitch";
        Refused(
            "host",
            [&]() { fabric.AddNic(nullptr); },
            "there is no host",
            "AddHost");
        Refused(
            "NIC",
            [&]() { fabric.Connect(noNic, centre, kRate, kDelay); },
            "there is no NIC",
            make);
        Refused(
            "switch",
            [&]() { fabric.Connect(nic, noSwitch, kRate, kDelay); },
            "there is no switch",
            make);
        Refused(
            "first switch",
            [&]() { fabric.Connect(noSwitch, centre, kRate, kDelay); },
            "there is no first switch",
            make);
        Refused(
            "second switch",
            [&]() { fabric.Connect(centre, noSwitch, kRate, kDelay); },
            "there is no second switch",
            make);
        NS_TEST_EXPECT_MSG_EQ(centre->GetNPorts(), 0, "nothing was left half done");
        Refused(
            "port",
            [&]() { fabric.ConnectPorts(nic, noPort, kRate, kDelay); },
            "there is no second port");
        Refused(
            "wire",
            [&]() { CreateObject<FabricWire>()->Attach(nic, nullptr); },
            "a pointer is null");
        fabric.Connect(nic, centre, kRate, kDelay);
        fabric.InstallRoutes();
        Refused(
            "from",
            [&]() { fabric.CreateConnection(noNic, nic); },
            "there is no NIC",
            "Nics()");
        Refused(
            "to",
            [&]() { fabric.CreateConnection(nic, noNic); },
            "there is no NIC",
            "Nics()");
        Refused(
            "list",
            [&]() {
                fabric.CreateConnection(std::vector<std::pair<Ptr<RdmaNic>, Ptr<RdmaNic>>>());
            },
            "the list is empty");
        const auto connection = CreateObject<RdmaConnection>();
        Refused(
            "connection",
            [&]() { connection->Connect(nic, nullptr); },
            "the pointer is null");
        Refused(
            "pairs",
            [&]() { connection->Connect(std::vector<RdmaConnection::NicPair>()); },
            "the list is empty");
        Simulator::Destroy();
    }
};

class TooEarlyTest : public WrongUseTest
{
  public:
    TooEarlyTest()
        : WrongUseTest("What is asked or done too early, or too late")
    {
    }

  private:
    void BeforeConnect()
    {
        const auto connection = CreateObject<RdmaConnection>();
        Refused(
            "GetSender",
            [&]() { connection->GetSender(); },
            "has none",
            "Connect first");
        Refused(
            "GetReceiver",
            [&]() { connection->GetReceiver(); },
            "has none",
            "Connect first");
        const auto queuePair = CreateObject<RdmaQueuePair>();
        const std::string create = "RdmaNic::CreateQueuePair";
        Refused(
            "counters",
            [&]() { queuePair->GetCounters(); },
            "belongs to no NIC",
            create);
        Refused(
            "unacked",
            [&]() { queuePair->GetUnacked(); },
            "belongs to no NIC",
            create);
        Refused(
            "rate",
            [&]() { queuePair->GetRate(); },
            "belongs to no NIC",
            create);
        Refused(
            "NIC",
            [&]() { queuePair->GetNic(); },
            "belongs to no NIC",
            create);
        NS_TEST_EXPECT_MSG_EQ(queuePair->Describe(), "queue pair 0 of no NIC to address 0", "name");
    }

    void DoRun() override
    {
        BeforeConnect();
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", kDelay);
        const auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        const auto queuePair = connection->GetQueuePair(0);
        Refused(
            "queue pair attribute",
            [&]() { connection->SetQueuePairAttribute("Window", UintegerValue(4096)); },
            "set after Connect");
        Refused(
            "NIC attribute",
            [&]() { fabric.Nics()[0]->SetAttribute("PathMtu", UintegerValue(1024)); },
            "a queue pair of the NIC is connected");
        Simulator::Run();
        Simulator::Destroy();
        Refused(
            "counters after Destroy",
            [&]() { queuePair->GetCounters(); },
            "Simulator::Destroy has disposed of it");
        Refused(
            "connection after Destroy",
            [&]() { fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]); },
            "Simulator::Destroy has disposed of it",
            "before Simulator::Destroy");
    }
};

class LateNicTest : public WrongUseTest
{
  public:
    LateNicTest()
        : WrongUseTest("A NIC that is added after InstallRoutes")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        const Ptr<FabricSwitch> centre = BuildStar(fabric, 2, "100Gbps", kDelay);
        const Ptr<RdmaNic> late = fabric.AddNic(fabric.AddHost());
        fabric.Connect(late, centre, kRate, kDelay);
        const Ptr<RdmaNic> first = fabric.Nics()[0];
        const std::string problem = "was added after InstallRoutes";
        const std::string again = "call InstallRoutes again";
        Refused(
            "to",
            [&]() { fabric.CreateConnection(first, late); },
            problem,
            again);
        Refused(
            "from",
            [&]() { fabric.CreateConnection(late, first); },
            problem,
            again);
        fabric.InstallRoutes();
        Log log;
        const auto connection = fabric.CreateConnection(first, late);
        log.Watch(connection);
        connection->Send(Bytes(kMiB), 0);
        Simulator::Schedule(MicroSeconds(500), [&]() {
            const Ptr<RdmaNic> tooLate = fabric.AddNic(fabric.AddHost());
            Refused(
                "port",
                [&]() { fabric.Connect(tooLate, centre, kRate, kDelay); },
                "FabricSwitch::AddPort: comes during the run");
            Simulator::Stop(); // before the node begins, with a NIC that has no wire
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(log.delivered.size(), 1, "after InstallRoutes it is there");
        Simulator::Destroy();
    }
};

class ValuesTest : public WrongUseTest
{
  public:
    ValuesTest()
        : WrongUseTest("Values that cannot be")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        Refused(
            "selector",
            [&]() { fabric.SetSwitchAttribute("PathSelector", StringValue("ns3::Nonsense")); },
            "ns3::FabricSwitch::PathSelector: cannot be ns3::Nonsense",
            "ns3::RandomSpraySelector");
        Refused(
            "control",
            [&]() { fabric.SetQueuePairAttribute("CongestionOps", StringValue("ns3::Cubic")); },
            "cannot be ns3::Cubic",
            "ns3::Dcqcn");
        Refused(
            "name",
            [&]() { fabric.SetNicAttribute("PathMTU", UintegerValue(1024)); },
            "ns3::RdmaNic::PathMTU: there is no such attribute");
        Refused(
            "range",
            [&]() { fabric.SetConnectionAttribute("QueuePairs", UintegerValue(0)); },
            "cannot be 0");
        BuildStar(fabric, 2, "100Gbps", kDelay);
        Log log;
        const auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        log.Watch(connection);
        const auto most = RdmaQueuePair::kMostMessageBytes;
        for (const uint64_t bytes : {UINT64_MAX, most + 1})
        {
            const std::string problem = "a message of " + std::to_string(bytes) + " bytes";
            Refused(
                "Send",
                [&]() { connection->Send(Bytes(bytes), 0); },
                problem,
                "at most 281474976710656 bytes");
            Refused(
                "Post",
                [&]() {
                    connection->GetQueuePair(0)->Post(scaleacross::RdmaOperation::Write,
                                                      Bytes(bytes),
                                                      0);
                },
                problem);
        }
        NS_TEST_EXPECT_MSG_EQ(connection->Send(Bytes(kMiB), 1), true, "still works");
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 1, "still works");
        NS_TEST_EXPECT_MSG_EQ(log.delivered[0].bytes, kMiB, "still works");
        Simulator::Destroy();
    }
};

/// What a script that catches nothing shows: each one is a process of its own.
class UncaughtTest : public TestCase
{
  public:
    UncaughtTest()
        : TestCase("Errors that a script does not catch")
    {
    }

  private:
    struct Ended
    {
        int status; //!< as of waitpid
        std::string errors;
    };

    /// As at the end of main().
    static void RunUncaught(const std::function<void()>& script) noexcept
    {
        script();
    }

    static Ended RunScript(const std::function<void()>& script)
    {
        int ends[2];
        NS_ABORT_MSG_IF(pipe(ends) != 0, "no pipe");
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0)
        {
            const rlimit none{0, 0};
            setrlimit(RLIMIT_CORE, &none);
            dup2(ends[1], STDERR_FILENO);
            close(ends[0]);
            close(ends[1]);
            RunUncaught(script);
            _exit(0);
        }
        close(ends[1]);
        Ended ended{0, ""};
        char part[4096];
        for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;)
        {
            ended.errors.append(part, static_cast<size_t>(n));
        }
        close(ends[0]);
        waitpid(child, &ended.status, 0);
        return ended;
    }

    void ExpectExit(const std::function<void()>& script,
                    int code,
                    const std::vector<std::string>& parts)
    {
        const Ended ended = RunScript(script);
        NS_TEST_EXPECT_MSG_EQ(WIFEXITED(ended.status), true, ended.errors);
        NS_TEST_EXPECT_MSG_EQ(WEXITSTATUS(ended.status), code, ended.errors);
        for (const std::string& part : parts)
        {
            NS_TEST_EXPECT_MSG_NE(ended.errors.find(part), std::string::npos, ended.errors);
        }
        NS_TEST_EXPECT_MSG_EQ(ended.errors.find("terminate"), std::string::npos, ended.errors);
    }

    void DoRun() override
    {
        ExpectExit([] { FabricHelper().SetNicAttribute("PathMTU", UintegerValue(1024)); },
                   2,
                   {"error: ns3::RdmaNic::PathMTU: there is no such attribute\n",
                    "\n  allowed: an attribute of ns3::RdmaNic\n",
                    "\n  remedy: list them with an example's --PrintAttributes=ns3::RdmaNic\n"});
        // Found at time zero, in an event.
        ExpectExit(
            [] {
                FabricHelper fabric;
                fabric.AddNic(fabric.AddHost());
                Simulator::Run();
            },
            2,
            {"has no wire", "remedy: connect it"});
        ExpectExit(
            [] {
                Simulator::Schedule(MicroSeconds(1), [] {
                    throw scaleacross::RunError("deadlock", "nobody sends any more");
                });
                Simulator::Run();
            },
            1,
            {"the run failed: nobody sends any more\n"});
        // What others throw ends as it does without this module.
        const Ended other = RunScript([] { throw std::logic_error("not ours"); });
        NS_TEST_EXPECT_MSG_EQ(WIFSIGNALED(other.status), true, other.errors);
        NS_TEST_EXPECT_MSG_EQ(WTERMSIG(other.status), SIGABRT, other.errors);
        NS_TEST_EXPECT_MSG_NE(other.errors.find("not ours"), std::string::npos, other.errors);
    }
};

class WrongUseSuite : public TestSuite
{
  public:
    WrongUseSuite()
        : TestSuite("scaleacross-wrong-use")
    {
        AddTestCase(new NullTest);
        AddTestCase(new TooEarlyTest);
        AddTestCase(new LateNicTest);
        AddTestCase(new ValuesTest);
        AddTestCase(new UncaughtTest);
    }
};

WrongUseSuite g_wrongUseSuite;

} // namespace
