// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/chakra-graph.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/chakra/chakra-words.h"
#include "core/io/chakra/collective-json.h"
#include "core/spec/plan-fields.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace scaleacross
{

namespace
{

using Json = nlohmann::ordered_json;

/// Another number says that something in the JSON means something else.
constexpr uint32_t kFormat = 2;

/// An attribute of ours is not there, or not of its type.
[[noreturn]] void
FailNode(const chakra::Node& node, const std::string& path, const std::string& problem)
{
    throw ConfigError(path,
                      "node " + std::to_string(node.id()) + " " + Quoted(node.name()) + ": " +
                          problem,
                      "a node as 'scaleacross export --format chakra' writes it",
                      "export the plan again, or have the trace read without ScaleAcross's "
                      "attributes by trace.lower");
}

const chakra::AttributeProto&
Need(const chakra::Node& node, const std::string& path, const char* name)
{
    const chakra::AttributeProto* attribute = FindAttribute(node, name);
    if (attribute == nullptr)
    {
        FailNode(node, path, std::string("it has no attribute ") + name);
    }
    return *attribute;
}

/// All that tells operations apart, one after the other.
std::vector<int64_t>
KeyOf(const Program& program)
{
    std::vector<int64_t> key;
    for (const Op& op : program.ops)
    {
        key.insert(key.end(),
                   {static_cast<int64_t>(op.kind),
                    static_cast<int64_t>(op.stream),
                    static_cast<int64_t>(op.action),
                    op.chunk,
                    op.microbatch,
                    op.backChunk,
                    op.backMicrobatch,
                    static_cast<int64_t>(op.index),
                    static_cast<int64_t>(op.handle),
                    op.peer,
                    op.duration.Ps(),
                    static_cast<int64_t>(op.bytes.Count())});
    }
    return key;
}

/// By which traces of two graphs are told apart that differ in their programs only; the same
/// however bodies are numbered.
std::string
HashOfPrograms(const TaskGraph& graph)
{
    std::vector<std::string> bodies;
    for (const Program& body : graph.bodies)
    {
        bodies.push_back(HashOfChakra(Json(KeyOf(body)).dump()));
    }
    Json programs = Json::array();
    for (const RankClass& one : graph.classes)
    {
        Program program = one.program;
        for (Op& op : program.ops)
        {
            if (op.kind == OpKind::Run)
            {
                programs.push_back(bodies[std::exchange(op.index, 0)]);
            }
        }
        programs.push_back(KeyOf(program));
    }
    return HashOfChakra(programs.dump());
}

/// The operation that a node of ours stands for; none: it goes on with the one before.
std::optional<OpKind>
KindOf(const chakra::Node& node)
{
    const chakra::AttributeProto* what = FindAttribute(node, words::kDo);
    const std::string word = what == nullptr ? "" : what->string_val();
    if (word == "rest")
    {
        return std::nullopt;
    }
    if (FindAttribute(node, words::kCollective) != nullptr)
    {
        return OpKind::Collective;
    }
    switch (node.type())
    {
    case chakra::COMM_SEND_NODE:
        return OpKind::Send;
    case chakra::COMM_RECV_NODE:
        return OpKind::Receive;
    default:
        return word == "run"            ? OpKind::Run
               : word == "wait"         ? OpKind::Wait
               : word == "post_receive" ? OpKind::PostReceive
                                        : OpKind::Compute;
    }
}

} // namespace

std::string
ChakraGraphJson(const TaskGraph& graph, const RankLayout& layout)
{
    Json classes = Json::array();
    for (const RankClass& one : graph.classes)
    {
        classes.push_back(Json::array({one.stage, one.representative, one.ranks}));
    }
    Json collectives = Json::array();
    for (const Collective& collective : graph.collectives)
    {
        collectives.push_back(ExactJson(collective));
    }
    return Json{{"format", kFormat},
                {"plan", CanonicalText(Plan{layout.plan, {}})},
                {"gpus_per_node", layout.gpusPerNode},
                {"building_begin", layout.buildingBegin},
                {"ranks", graph.ranks},
                {"pipeline", ExactJson(graph.pipeline)},
                {"block_ranks", graph.blockRanks},
                {"class_of", graph.classOf},
                {"classes", std::move(classes)},
                {"messages", graph.messages},
                {"handles", graph.handles},
                {"rendezvous", graph.rendezvous},
                {"once", graph.once},
                {"programs", HashOfPrograms(graph)},
                {"collectives", std::move(collectives)}}
        .dump();
}

ChakraGraphReader::ChakraGraphReader(const std::string& json, const std::string& path)
{
    const auto fail = [&path](const std::string& problem) {
        throw ConfigError(path,
                          "the attribute scaleacross of its metadata " + problem,
                          "what 'scaleacross export --format chakra' of this release writes",
                          "export the plan again, or have the trace read without ScaleAcross's "
                          "attributes by trace.lower");
    };
    TaskGraph& graph = m_work.graph;
    try
    {
        const Json from = Json::parse(json);
        if (from.at("format").get<uint32_t>() != kFormat)
        {
            fail("is of format " + from.at("format").dump() + " and not " +
                 std::to_string(kFormat));
        }
        const auto plan = PlanOfText(from.at("plan").get<std::string>());
        if (!plan)
        {
            fail("has a plan of another release: " + from.at("plan").dump());
        }
        m_work.plan = plan->parallel;
        m_work.places = TracePlaces{from.at("gpus_per_node").get<uint32_t>(),
                                    from.at("building_begin").get<std::vector<uint32_t>>()};
        graph.ranks = from.at("ranks").get<uint32_t>();
        graph.pipeline = GroupOfJson(from.at("pipeline"));
        graph.blockRanks = from.at("block_ranks").get<uint32_t>();
        graph.classOf = from.at("class_of").get<std::vector<uint32_t>>();
        for (const Json& one : from.at("classes"))
        {
            RankClass& rankClass = graph.classes.emplace_back();
            rankClass.stage = one.at(0).get<uint32_t>();
            rankClass.representative = one.at(1).get<uint32_t>();
            rankClass.ranks = one.at(2).get<uint32_t>();
        }
        graph.messages = from.at("messages").get<uint32_t>();
        graph.handles = from.at("handles").get<uint32_t>();
        graph.rendezvous = from.at("rendezvous").get<bool>();
        graph.once = from.at("once").get<bool>();
        for (const Json& one : from.at("collectives"))
        {
            graph.collectives.push_back(CollectiveOfJson(one));
        }
    }
    catch (const Json::exception& error)
    {
        fail(std::string("cannot be read: ") + error.what());
    }
}

void
ChakraGraphReader::BeginRank(Rank rank)
{
    m_rank = rank;
    m_program = {};
    m_body = {};
    m_left = 0;
}

Op
ChakraGraphReader::OpOf(const chakra::Node& node, const std::string& path) const
{
    const auto whole = [&](const char* name) { return Need(node, path, name).uint32_val(); };
    const auto peer = [&](const char* name) {
        return Need(node, path, name).int32_val() - static_cast<int32_t>(m_rank);
    };
    Op op;
    op.kind = *KindOf(node);
    switch (op.kind)
    {
    case OpKind::Compute:
        op.duration = Duration::Picoseconds(Need(node, path, words::kPs).int64_val());
        break;
    case OpKind::Run: {
        const auto& pass = Need(node, path, words::kPass).uint32_list().values();
        if (pass.size() != 6)
        {
            FailNode(node,
                     path,
                     "scaleacross.pass has " + std::to_string(pass.size()) +
                         " values in place of 6");
        }
        op.action = static_cast<Action>(pass[0]);
        op.chunk = static_cast<uint16_t>(pass[1]);
        op.microbatch = static_cast<uint16_t>(pass[2]);
        op.backChunk = static_cast<uint16_t>(pass[3]);
        op.backMicrobatch = static_cast<uint16_t>(pass[4]);
        break;
    }
    case OpKind::PostReceive:
        op.index = whole(words::kMessage);
        op.peer = peer(words::kPeer);
        break;
    case OpKind::Send:
    case OpKind::Receive:
        op.index = static_cast<uint32_t>(Need(node, path, words::kCommTag).int32_val());
        op.peer = peer(op.kind == OpKind::Send ? words::kCommDestination : words::kCommSource);
        op.bytes = Bytes(static_cast<uint64_t>(Need(node, path, words::kCommSize).int64_val()));
        break;
    case OpKind::Collective:
        op.index = whole(words::kCollective);
        op.stream = static_cast<Stream>(whole(words::kStream));
        op.handle = whole(words::kHandle);
        break;
    case OpKind::Wait:
        op.handle = whole(words::kHandle);
        break;
    }
    return op;
}

void
ChakraGraphReader::AddNode(const chakra::Node& node, const std::string& path)
{
    if (!KindOf(node))
    {
        return;
    }
    const Op op = OpOf(node, path);
    if (m_left == 0)
    {
        m_program.ops.push_back(op);
        if (op.kind != OpKind::Run)
        {
            return;
        }
        m_left = FindAttribute(node, words::kPass)->uint32_list().values(5);
    }
    else
    {
        m_body.ops.push_back(op);
        m_left--;
    }
    if (m_left == 0)
    {
        m_program.ops.back().index = BodyOf(std::exchange(m_body, {}));
    }
}

uint32_t
ChakraGraphReader::BodyOf(Program&& body)
{
    std::vector<Program>& bodies = m_work.graph.bodies;
    const auto [entry, isNew] = m_bodies.emplace(KeyOf(body), static_cast<uint32_t>(bodies.size()));
    if (isNew)
    {
        bodies.push_back(std::move(body));
    }
    return entry->second;
}

void
ChakraGraphReader::EndRank(const std::string& path)
{
    RankClass& own = m_work.graph.classes[m_work.graph.ClassOf(m_rank)];
    if (m_rank == own.representative)
    {
        own.program = std::move(m_program);
    }
    else if (KeyOf(own.program) != KeyOf(m_program))
    {
        throw ConfigError(path,
                          "rank " + std::to_string(m_rank) + " does not do what rank " +
                              std::to_string(own.representative) + " does, of whose class it is",
                          "traces of one plan",
                          "export the plan again, to a prefix of its own");
    }
}

TraceWork
ChakraGraphReader::Take()
{
    return std::move(m_work);
}

} // namespace scaleacross
