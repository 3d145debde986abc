// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/chakra-writer.h"

#include "core/base/errors.h"
#include "core/io/chakra/chakra-format.h"
#include "core/io/chakra/chakra-graph.h"
#include "core/io/chakra/chakra-words.h"
#include "core/program/pass-name.h"

#include <array>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

constexpr const char* g_version = "1.0.0"; // what Chakra's own generator writes

chakra::CollectiveCommType
TypeOf(CollectiveOp op)
{
    switch (op)
    {
    case CollectiveOp::AllReduce:
        return chakra::ALL_REDUCE;
    case CollectiveOp::AllGather:
        return chakra::ALL_GATHER;
    case CollectiveOp::ReduceScatter:
        return chakra::REDUCE_SCATTER;
    case CollectiveOp::AllToAll:
    case CollectiveOp::Dispatch:
    case CollectiveOp::Combine:
    case CollectiveOp::SendReceive: // is a send and a receive
        break;
    }
    return chakra::ALL_TO_ALL;
}

/// What a member puts in.
Bytes
InputOf(const CollectiveCall& call)
{
    const uint64_t n = call.op == CollectiveOp::AllGather ? call.group.Size() : 1;
    return Bytes((call.bytes.Count() + n - 1) / n);
}

/// The nodes of a rank, one after the other.
class NodeWriter
{
  public:
    NodeWriter(const TaskGraph& graph, const ChakraGroups& groups, Rank rank)
        : m_graph(graph),
          m_groups(groups),
          m_rank(rank),
          m_handles(graph.handles)
    {
    }

    void Write(const std::vector<Op>& ops)
    {
        for (const Op& op : ops)
        {
            Write(op);
        }
    }

    const std::string& Text() const
    {
        return m_text;
    }

  private:
    using Nodes = std::vector<uint64_t>;

    void Write(const Op& op)
    {
        switch (op.kind)
        {
        case OpKind::Compute:
            Compute(op);
            break;
        case OpKind::Run:
            Run(op);
            break;
        case OpKind::PostReceive:
            PostReceive(op);
            break;
        case OpKind::Send:
            Message(chakra::COMM_SEND_NODE, m_rank, m_rank + op.peer, op.index, op.bytes);
            Finish();
            break;
        case OpKind::Receive:
            Message(chakra::COMM_RECV_NODE, m_rank + op.peer, m_rank, op.index, op.bytes);
            m_last = Finish();
            break;
        case OpKind::Collective:
            Post(op);
            break;
        case OpKind::Wait:
            Wait(op);
            break;
        }
    }

    void Compute(const Op& op)
    {
        constexpr int64_t kPsPerMicro = 1'000'000;
        Begin(chakra::COMP_NODE, "compute");
        m_node.set_duration_micros(
            static_cast<uint64_t>((op.duration.Ps() + kPsPerMicro / 2) / kPsPerMicro));
        OnGpu();
        AddAttribute(m_node, words::kPs).set_int64_val(op.duration.Ps());
        m_last = Finish();
    }

    void Run(const Op& op)
    {
        const std::vector<Op>& body = m_graph.bodies[op.index].ops;
        Do("run", PassName(op.action, op.microbatch, op.backMicrobatch));
        auto& list = *AddAttribute(m_node, words::kPass).mutable_uint32_list();
        for (const size_t value : {static_cast<size_t>(op.action),
                                   size_t{op.chunk},
                                   size_t{op.microbatch},
                                   size_t{op.backChunk},
                                   size_t{op.backMicrobatch},
                                   body.size()})
        {
            list.add_values(static_cast<uint32_t>(value));
        }
        m_last = Finish();
        Write(body);
    }

    void PostReceive(const Op& op)
    {
        Do("post_receive", "post receive of " + NameOf(op.index));
        AddAttribute(m_node, words::kMessage).set_uint32_val(op.index);
        AddAttribute(m_node, words::kPeer).set_int32_val(static_cast<int32_t>(m_rank + op.peer));
        Finish();
    }

    void Message(chakra::NodeType type, Rank from, Rank to, uint32_t tag, Bytes bytes)
    {
        Begin(type, NameOf(tag));
        SetMessage(from, to, tag, bytes);
    }

    void SetMessage(Rank from, Rank to, uint32_t tag, Bytes bytes)
    {
        OnGpu();
        AddAttribute(m_node, words::kCommSource).set_int32_val(static_cast<int32_t>(from));
        AddAttribute(m_node, words::kCommDestination).set_int32_val(static_cast<int32_t>(to));
        AddAttribute(m_node, words::kCommTag).set_int32_val(static_cast<int32_t>(tag));
        AddAttribute(m_node, words::kCommSize).set_int64_val(static_cast<int64_t>(bytes.Count()));
    }

    /// It follows what was posted before on its stream.
    void Post(const Op& op)
    {
        const Collective& collective = m_graph.collectives[op.index];
        const CollectiveCall& call = collective.call;
        const std::string name = ToString(collective.comm) + " " + collective.name;
        Nodes& stream = m_streams[static_cast<size_t>(op.stream)];
        Nodes nodes;
        const auto add = [&](chakra::NodeType type, const auto& set) {
            Begin(type, name);
            After(stream);
            set();
            Mark(op, nodes.empty());
            nodes.push_back(Finish());
        };
        if (call.op == CollectiveOp::SendReceive)
        {
            const uint32_t n = call.group.Size();
            const uint32_t own = call.group.IndexOf(m_rank);
            const Rank next = call.group.Member(m_rank, (own + 1) % n);
            const Rank before = call.group.Member(m_rank, (own + n - 1) % n);
            const uint32_t tag = m_graph.messages + op.index;
            add(chakra::COMM_SEND_NODE, [&] { SetMessage(m_rank, next, tag, call.bytes); });
            add(chakra::COMM_RECV_NODE, [&] { SetMessage(before, m_rank, tag, call.bytes); });
        }
        else
        {
            add(chakra::COMM_COLL_NODE, [&] { SetCollective(call, op.stream); });
        }
        stream = nodes;
        m_handles[op.handle] = nodes;
    }

    void SetCollective(const CollectiveCall& call, Stream stream)
    {
        OnGpu();
        AddAttribute(m_node, words::kCommType).set_int64_val(TypeOf(call.op));
        AddAttribute(m_node, words::kCommSize)
            .set_int64_val(static_cast<int64_t>(InputOf(call).Count()));
        AddAttribute(m_node, words::kGroup)
            .set_string_val(std::to_string(m_groups.NumberOf(call.group, stream, m_rank)));
    }

    /// That the node belongs to the collective.
    void Mark(const Op& op, bool first)
    {
        if (!first)
        {
            AddAttribute(m_node, words::kDo).set_string_val("rest");
            return;
        }
        AddAttribute(m_node, words::kCollective).set_uint32_val(op.index);
        AddAttribute(m_node, words::kStream).set_uint32_val(static_cast<uint32_t>(op.stream));
        AddAttribute(m_node, words::kHandle).set_uint32_val(op.handle);
    }

    void Wait(const Op& op)
    {
        Do("wait", "wait");
        After(m_handles[op.handle]);
        AddAttribute(m_node, words::kHandle).set_uint32_val(op.handle);
        m_last = Finish();
    }

    static std::string NameOf(uint32_t message)
    {
        return "pp message " + std::to_string(message);
    }

    void Begin(chakra::NodeType type, const std::string& name)
    {
        m_node.Clear();
        m_node.set_id(m_next);
        m_node.set_name(name);
        m_node.set_type(type);
        if (m_last)
        {
            m_node.add_data_deps(*m_last);
        }
    }

    void Do(const char* what, const std::string& name)
    {
        // Computing that takes no time: ASTRA-sim knows no metadata nodes, and stops at them.
        Begin(chakra::COMP_NODE, name);
        OnGpu();
        AddAttribute(m_node, words::kDo).set_string_val(what);
    }

    void OnGpu()
    {
        AddAttribute(m_node, words::kIsCpuOp).set_bool_val(false);
    }

    void After(const Nodes& nodes)
    {
        for (const uint64_t node : nodes)
        {
            m_node.add_data_deps(node);
        }
    }

    uint64_t Finish()
    {
        AppendChakra(m_node, m_text);
        return m_next++;
    }

    const TaskGraph& m_graph;
    const ChakraGroups& m_groups;
    Rank m_rank;
    chakra::Node m_node; //!< that is being written
    uint64_t m_next{0};
    std::optional<uint64_t> m_last;        //!< that the rank has waited for or computed
    std::array<Nodes, kStreams> m_streams; //!< last on each
    std::vector<Nodes> m_handles;          //!< last posted under each
    std::string m_text;
};

} // namespace

ChakraWriter::ChakraWriter(const PreparedRun& run)
    : m_run(run),
      m_groups(run.graph),
      m_graph(ChakraGraphJson(run.graph, run.layout))
{
}

std::string
ChakraWriter::Trace(Rank rank) const
{
    const TaskGraph& graph = m_run.graph;
    NodeWriter nodes(graph, m_groups, rank);
    nodes.Write(graph.classes[graph.ClassOf(rank)].program.ops);
    chakra::GlobalMetadata metadata;
    metadata.set_version(g_version);
    AddAttribute(metadata, words::kGraph).set_string_val(m_graph);
    AddAttribute(metadata, words::kRank).set_uint32_val(rank);
    AddAttribute(metadata, words::kHash)
        .set_string_val(HashOfChakra(m_graph + std::to_string(rank) + nodes.Text()));
    std::string text;
    AppendChakra(metadata, text);
    return text + nodes.Text();
}

} // namespace scaleacross
