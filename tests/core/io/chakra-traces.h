// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHAKRA_TRACES_H
#define SCALEACROSS_CHAKRA_TRACES_H

#include "../../temporary-folder.h"
#include "chakra-wire.h"
#include "core/engine/engine.h"
#include "core/io/chakra/chakra-files.h"
#include "core/io/chakra/read-traces.h"
#include "core/work/graph/trace-graph.h"

#include <gtest/gtest.h>
#include <string>
#include <variant>
#include <vector>

/// Traces as Chakra's public tools write them, read from files.
namespace scaleacross
{

constexpr uint64_t kMiB = 1 << 20;

/// Writes traces and reads them.
class Chakra : public testing::Test
{
  protected:
    TraceSpec Read(const std::vector<std::string>& texts, const std::string& groups = "")
    {
        for (uint32_t rank = 0; rank < texts.size(); rank++)
        {
            m_folder.Write(ChakraFile("t", rank), texts[rank]);
        }
        if (!groups.empty())
        {
            m_folder.Write(ChakraGroupsFile("t"), groups);
        }
        TraceSpec trace;
        trace.files = m_folder.Of("t");
        ReadTraces(trace);
        return trace;
    }

    /// What is said of traces that are refused.
    std::string Refusal(const std::vector<std::string>& texts, const std::string& groups = "")
    {
        try
        {
            Read(texts, groups);
        }
        catch (const ConfigError& error)
        {
            EXPECT_NE(error.Allowed(), "") << error.what();
            EXPECT_NE(error.Remedy(), "") << error.what();
            return error.what();
        }
        return "nothing is refused";
    }

    static Scenario ScenarioOf(const TraceSpec& trace, const ClusterSpec& cluster)
    {
        Scenario scenario;
        scenario.cluster = cluster;
        scenario.jobs.emplace_back();
        scenario.Job().plan = trace.work->plan;
        scenario.Job().trace = trace;
        scenario.Validate();
        return scenario;
    }

    static RunReport Run(const Engine& engine, const TraceSpec& trace, const ClusterSpec& cluster)
    {
        const RunResult result = engine.Run(ScenarioOf(trace, cluster), {});
        if (const auto* no = std::get_if<Infeasible>(&result))
        {
            ADD_FAILURE() << no->reason << ": " << no->detail;
            return {};
        }
        return std::get<RunReport>(result);
    }

    TemporaryFolder m_folder;
};

/// As Chakra's generator and ASTRA-sim's tests write a collective.
inline WireNode
CollectiveNode(uint64_t id, uint64_t type, uint64_t size, const std::string& group = "")
{
    WireNode node(id, kCollNode, "collective");
    node.Has("is_cpu_op", kBool, 0U).Has("comm_type", kInt64, type).Has("comm_size", kInt64, size);
    return group.empty() ? node : node.Has("pg_name", group);
}

inline WireNode
ComputeNode(uint64_t id, uint64_t micros)
{
    return WireNode(id, kCompNode, "COMP_NODE").Has("is_cpu_op", kBool, 0U).Takes(micros);
}

inline WireNode
MessageNode(uint64_t id, bool sends, uint64_t peer, uint64_t size, uint64_t tag = 0)
{
    return WireNode(id, sends ? kSendNode : kRecvNode, sends ? "send" : "receive")
        .Has("is_cpu_op", kBool, 0U)
        .Has(sends ? "comm_dst" : "comm_src", kInt32, peer)
        .Has("comm_tag", kInt32, tag)
        .Has("comm_size", kInt64, size);
}

/// What PyTorch's observer says of process groups.
inline WireNode
GroupsOfRank(const std::string& list)
{
    WireNode metadata(0, kMetadataNode, "## process_group:init ##");
    metadata.text += Bytestring(8, Bytestring(1, list));
    return metadata;
}

inline std::vector<std::string>
Everywhere(uint32_t ranks, const std::string& text)
{
    return std::vector<std::string>(ranks, text);
}

inline Bytes
AllBytes(const RunReport& report)
{
    Bytes sum;
    for (const ClassReport& comm : report.classes)
    {
        sum += comm.bytes;
    }
    return sum;
}

} // namespace scaleacross

#endif // SCALEACROSS_CHAKRA_TRACES_H
