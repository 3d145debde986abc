// SPDX-License-Identifier: GPL-2.0-only

// What is wrong with traces, of others and our own that were changed.

#include "../schedule-scenario.h"
#include "chakra-traces.h"
#include "chakra-wire.h"
#include "core/engine/analytical-engine.h"
#include "core/io/chakra/chakra-writer.h"
#include "core/work/graph/trace-graph.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{
namespace
{

using testing::HasSubstr;

TEST_F(Chakra, WhatCannotBeDoneIsRefusedByName)
{
    const auto send = WireNode(4, kSendNode, "COMM_SEND_NODE").Has("tensor_size", kUint64, 1024U);
    const std::string idle = Trace({});

    struct Case
    {
        std::vector<std::string> texts;
        std::vector<std::string> says;
    };

    const std::vector<Case> cases = {
        {Everywhere(2, Trace({CollectiveNode(6, 4, 9)})),
         {"t.0.et", "node 6 'collective'", "comm_type is 4, SCATTER", "ALL_REDUCE (0)"}},
        {Everywhere(2, Trace({CollectiveNode(6, 77, 9)})), {"comm_type is 77"}},
        {Everywhere(2, Trace({WireNode(2, kCollNode, "x").Has("comm_size", kInt64, 9U)})),
         {"node 2 'x'", "it has no comm_type"}},
        {Everywhere(2, Trace({CollectiveNode(6, 0, 0)})), {"comm_size is 0"}},
        {Everywhere(2, Trace({CollectiveNode(6, 0, 9, "3")})), {"process group", "'3'", "'0'"}},
        {{Trace({send}), idle}, {"node 4 'COMM_SEND_NODE'", "it has no comm_dst"}},
        {{Trace({MessageNode(1, true, 1, 8)}), idle},
         {"it has no partner", "rank 1 has 0 receives"}},
        {{Trace({MessageNode(1, false, 1, 8)}), idle}, {"it has no partner", "rank 1 has 0 sends"}},
        {{Trace({MessageNode(1, true, 1, 8)}), Trace({MessageNode(1, false, 0, 9)})},
         {"t.1.et", "it receives 9 bytes", "sends 8"}},
        {{Trace({MessageNode(1, true, 0, 8)}), idle}, {"comm_dst is 0", "another rank"}},
        {{Trace({MessageNode(1, true, 2, 8)}), idle}, {"comm_dst is 2", "0 to 1"}},
        {{Trace({WireNode(0, kMemLoadNode, "MEM_LOAD_NODE").Has("tensor_size", kUint64, 1U)})},
         {"of memory", "COMP_NODE"}},
        {{Trace({WireNode(1, 0, "INVALID_NODE")})}, {"its type is 0"}},
        {{Trace({WireNode(1, 99, "new")})}, {"its type is 99"}},
        {{Trace({ComputeNode(1, 1), ComputeNode(1, 2)})}, {"node 1", "given twice"}},
        {{Trace({ComputeNode(1, 1).After({8})})},
         {"node 1", "waits for node 8, which is not there"}},
        {{Trace({ComputeNode(1, 1).After({2}), ComputeNode(2, 1).After({1})})},
         {"wait for each other", "1 'COMP_NODE' waits for 2 'COMP_NODE'"}},
        {{Trace({CollectiveNode(1, 0, 8)}), idle}, {"rank 1 has 0 collectives"}},
        {{Trace({CollectiveNode(1, 0, 8)}), Trace({CollectiveNode(1, 2, 8)})},
         {"ALL_GATHER of 8 bytes", "ALL_REDUCE of 8 bytes"}},
        {{Trace({MessageNode(1, false, 1, 8), MessageNode(2, true, 1, 8).After({1})}),
          Trace({MessageNode(1, false, 0, 8), MessageNode(2, true, 0, 8).After({1})})},
         {"ranks wait for each other", "node 2 'send'", "node 1 'receive'"}},
        {Everywhere(2, Trace({CollectiveNode(1, 0, 8).Has("comm_size", kInt64, 9U)})),
         {"the attribute comm_size more than once"}},
        {{idle}, {"no rank computes or communicates anything"}},
        {{Trace({WireNode(1, kCompNode, "x").Has("is_cpu_op", std::string("no"))})},
         {"is_cpu_op is of type string", "0 or 1"}},
        {Everywhere(2,
                    Trace({WireNode(1, kCollNode, "x")
                               .Has("is_cpu_op", kBool, 1U)
                               .Has("comm_size", kInt64, 8U)})),
         {"is_cpu_op is true"}},
    };
    for (const Case& one : cases)
    {
        const std::string refusal = Refusal(one.texts);
        for (const std::string& part : one.says)
        {
            EXPECT_THAT(refusal, HasSubstr(part));
        }
        for (uint32_t rank = 0; rank < one.texts.size(); rank++)
        {
            std::filesystem::remove(m_folder.Of(ChakraFile("t", rank)));
        }
    }
}

TEST_F(Chakra, UnknownAttributesAreNamedOnce)
{
    const auto with = [](const std::string& name, uint64_t value) {
        return Everywhere(2, Trace({CollectiveNode(7, 0, kMiB).Has(name, kInt32, value)}));
    };
    const auto warnings = Read(with("comm_sizes", 1)).work->warnings;
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_THAT(warnings[0], HasSubstr("nothing here reads the attribute 'comm_sizes'"));
    EXPECT_THAT(warnings[0], HasSubstr("t.0.et, node 7 'collective'"));
    EXPECT_THAT(warnings[0], HasSubstr("was comm_size meant?"));
    EXPECT_THAT(Read(with("comm_priority", 0)).work->warnings, testing::IsEmpty());
    EXPECT_THAT(Read(with("comm_priority", 3)).work->warnings,
                testing::ElementsAre(HasSubstr("comm_priority has no effect")));
}

TEST_F(Chakra, OtherFormatsAndDamageAreNamed)
{
    const std::string good = Trace({ComputeNode(1, 1)});
    EXPECT_THAT(Refusal({""}), HasSubstr("the file is empty"));
    EXPECT_THAT(Refusal({"\x1f\x8b\b more"}), HasSubstr("gzip"));
    EXPECT_THAT(Refusal({"{\n \"schema\": \"1.0.2\"}"}), HasSubstr("JSON"));
    EXPECT_THAT(Refusal({Delimited(ComputeNode(1, 1).text)}), HasSubstr("no GlobalMetadata"));
    EXPECT_THAT(Refusal({good + "\x80"}), HasSubstr("ends within the length"));
    EXPECT_THAT(Refusal({good + std::string(6, '\x80')}), HasSubstr("more than 5 bytes"));
    EXPECT_THAT(Refusal({good + "\x09x"}), HasSubstr("9 bytes long, and 1 are left"));
    EXPECT_THAT(Refusal({good + Delimited("\x0a")}), HasSubstr("is no node"));
    WireNode unknown = ComputeNode(1, 1);
    unknown.text += Number(11, 5);
    EXPECT_THAT(Refusal({Trace({unknown})}), HasSubstr("node 1 has a field 11"));
    EXPECT_THAT(Refusal({good + Delimited(Bytestring(1, "0.0.4"))}), HasSubstr("has a field 1"));
}

TEST_F(Chakra, FilesAreOfAllRanksFromZero)
{
    TraceSpec trace;
    trace.files = m_folder.Of("t");
    EXPECT_THROW(ReadTraces(trace), ConfigError);
    m_folder.Write("t.1.et", Trace({ComputeNode(1, 1)}));
    try
    {
        ReadTraces(trace);
        ADD_FAILURE() << "rank 0 is missing";
    }
    catch (const ConfigError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("t.0.et"));
    }
    // A cluster of another size is no error of the file: nothing can run.
    const TraceSpec two = Read(Everywhere(2, Trace({ComputeNode(1, 1)})));
    const RunResult result = AnalyticalEngine().Run(ScenarioOf(two, BuildingsOf({8})), {});
    ASSERT_TRUE(std::holds_alternative<Infeasible>(result));
    EXPECT_EQ(std::get<Infeasible>(result).reason, "ranks");
    EXPECT_THAT(std::get<Infeasible>(result).detail, HasSubstr("2 ranks"));
}

// Whatever is cut off or changed, it is read or refused, and nothing worse.
TEST_F(Chakra, NoDamageDoesWorseThanBeRefused)
{
    const std::string good = Trace({ComputeNode(1, 300),
                                    CollectiveNode(2, 0, kMiB, "1").After({1}),
                                    WireNode(3, kMetadataNode, "m").After({2}),
                                    ComputeNode(4, 2).After({3}, 4)});
    Read({good, good}, R"({"1": [0, 1]})");
    TraceSpec trace;
    trace.files = m_folder.Of("t");
    const auto attempt = [&](const std::string& text) {
        m_folder.Write("t.0.et", text);
        try
        {
            TraceSpec read = trace;
            ReadTraces(read);
        }
        catch (const ConfigError&)
        {
        }
    };
    for (size_t length = 0; length < good.size(); length++)
    {
        attempt(good.substr(0, length));
    }
    std::mt19937 random(1);
    for (int i = 0; i < 1000; i++)
    {
        std::string text = good;
        for (int flips = 0; flips < 1 + i % 3; flips++)
        {
            text[random() % text.size()] = static_cast<char>(random());
        }
        attempt(text);
    }
}

/// Our own traces of two ranks.
class OwnTraces : public Chakra
{
  protected:
    OwnTraces()
    {
        ParallelPlan plan;
        plan.pp = 2;
        const Scenario scenario =
            scaleacross::ScenarioOf(BuildingsOf({2}, 2), SmallModel(), plan, 2);
        const auto run = std::get<PreparedRun>(PrepareRun(scenario));
        const ChakraWriter writer(run);
        m_texts = {writer.Trace(0), writer.Trace(1)};
    }

    std::vector<std::string> m_texts;
};

TEST_F(OwnTraces, ChangesAreNoticed)
{
    EXPECT_EQ(Refusal(m_texts), "nothing is refused");
    for (const size_t at : {m_texts[1].size() - 3, m_texts[1].size() / 2, size_t{40}})
    {
        auto texts = m_texts;
        texts[1][at]++;
        EXPECT_NE(Refusal(texts), "nothing is refused") << at;
    }
    auto texts = m_texts;
    texts[0] += Delimited(ComputeNode(99, 5).text);
    EXPECT_THAT(Refusal(texts), HasSubstr("has been changed since ScaleAcross wrote it"));
    EXPECT_THAT(Refusal({m_texts[0], m_texts[1], m_texts[1]}), HasSubstr("it is one of 2 ranks"));
    std::filesystem::remove(m_folder.Of("t.2.et"));
    EXPECT_THAT(Refusal({m_texts[0], Trace({ComputeNode(1, 1)})}), HasSubstr("t.1.et"));
    EXPECT_THAT(Refusal({m_texts[0], m_texts[0]}), HasSubstr("t.1.et: it is of rank 0"));
}

TEST_F(OwnTraces, TheirDigestIsHeld)
{
    TraceSpec trace = Read(m_texts);
    EXPECT_FALSE(trace.digest.empty());
    ReadTraces(trace);
    m_folder.Write("t.1.et", Trace({ComputeNode(1, 1)}));
    m_folder.Write("t.0.et", Trace({ComputeNode(1, 1)}));
    EXPECT_THROW(ReadTraces(trace), ConfigError);
}

TEST_F(OwnTraces, TheirPhasesAreForTheirPlaces)
{
    const RunResult result =
        AnalyticalEngine().Run(ScenarioOf(Read(m_texts), BuildingsOf({1, 1}, 1)), {});
    ASSERT_TRUE(std::holds_alternative<Infeasible>(result));
    EXPECT_EQ(std::get<Infeasible>(result).reason, "places");
}

} // namespace
} // namespace scaleacross
