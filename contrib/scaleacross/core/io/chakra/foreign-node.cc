// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/foreign-node.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/chakra/chakra-words.h"

#include <algorithm>
#include <optional>

namespace scaleacross
{

namespace
{

constexpr int64_t kPsPerMicro = 1'000'000;

/// A node with what messages about it say.
struct Place
{
    const chakra::Node& node;
    const std::string& path;

    [[noreturn]] void Fail(const std::string& problem,
                           const std::string& allowed,
                           const std::string& remedy = "") const
    {
        FailAtNode(path, node.id(), node.name(), problem, allowed, remedy);
    }
};

/// A whole number, of whatever type of integer: tools differ in which they write.
std::optional<int64_t>
WholeOf(const Place& at, const char* name)
{
    const chakra::AttributeProto* attribute = FindAttribute(at.node, name);
    if (attribute == nullptr)
    {
        return std::nullopt;
    }
    using Proto = chakra::AttributeProto;
    switch (attribute->value_case())
    {
    case Proto::kInt32Val:
        return attribute->int32_val();
    case Proto::kInt64Val:
        return attribute->int64_val();
    case Proto::kUint32Val:
        return attribute->uint32_val();
    case Proto::kUint64Val:
        return static_cast<int64_t>(
            std::min<uint64_t>(attribute->uint64_val(), static_cast<uint64_t>(INT64_MAX)));
    case Proto::kSint32Val:
        return attribute->sint32_val();
    case Proto::kSint64Val:
        return attribute->sint64_val();
    case Proto::kFixed32Val:
        return attribute->fixed32_val();
    case Proto::kFixed64Val:
        return static_cast<int64_t>(
            std::min<uint64_t>(attribute->fixed64_val(), static_cast<uint64_t>(INT64_MAX)));
    case Proto::kSfixed32Val:
        return attribute->sfixed32_val();
    case Proto::kSfixed64Val:
        return attribute->sfixed64_val();
    default:
        at.Fail(std::string("its attribute ") + name + " is no whole number", "a whole number");
    }
}

/// Refuses an attribute that is given twice: which of them counts?
void
ExpectEachOnce(const Place& at)
{
    for (const char* name : {words::kIsCpuOp,
                             words::kNumOps,
                             words::kTensorSize,
                             words::kCommType,
                             words::kCommSize,
                             words::kCommSource,
                             words::kCommDestination,
                             words::kCommTag,
                             words::kGroup,
                             words::kGpuStream})
    {
        const auto& attributes = at.node.attr();
        const auto count = std::count_if(attributes.begin(),
                                         attributes.end(),
                                         [name](const auto& one) { return one.name() == name; });
        if (count > 1)
        {
            at.Fail(std::string("it has the attribute ") + name + " " + std::to_string(count) +
                        " times",
                    "each attribute once");
        }
    }
}

bool
IsOnCpu(const Place& at)
{
    const chakra::AttributeProto* attribute = FindAttribute(at.node, words::kIsCpuOp);
    if (attribute == nullptr)
    {
        return false;
    }
    if (attribute->value_case() == chakra::AttributeProto::kBoolVal)
    {
        return attribute->bool_val();
    }
    return WholeOf(at, words::kIsCpuOp).value_or(0) != 0;
}

void
ReadCompute(const Place& at, ForeignNode& node)
{
    if (IsOnCpu(at))
    {
        return;
    }
    const uint64_t micros = at.node.duration_micros();
    if (micros > static_cast<uint64_t>(INT64_MAX / kPsPerMicro / 2))
    {
        at.Fail("its duration_micros is " + std::to_string(micros), "up to 53 days");
    }
    node.duration = Duration::Picoseconds(static_cast<int64_t>(micros) * kPsPerMicro);
    if (const auto* exact = FindAttribute(at.node, words::kPs); exact != nullptr)
    {
        const int64_t ps = exact->int64_val();
        const bool same =
            ps > 0 && (ps + kPsPerMicro / 2) / kPsPerMicro == static_cast<int64_t>(micros);
        node.duration = same ? Duration::Picoseconds(ps) : node.duration;
    }
    if (node.duration == Duration())
    {
        const int64_t operations = WholeOf(at, words::kNumOps).value_or(0);
        if (operations < 0)
        {
            at.Fail("its num_ops is " + std::to_string(operations), "FLOPs, from 0");
        }
        const int64_t memory = WholeOf(at, words::kTensorSize).value_or(0);
        if (memory < 0)
        {
            at.Fail("its tensor_size is " + std::to_string(memory), "bytes, from 0");
        }
        node.work = Flops(static_cast<double>(operations));
        node.memory = Bytes(static_cast<uint64_t>(memory));
    }
    const bool works = node.duration > Duration() || node.work.Value() > 0 || node.memory > Bytes();
    node.kind = works ? ForeignKind::Compute : ForeignKind::Nothing;
}

/// Bytes of what is communicated.
Bytes
SizeOf(const Place& at, int64_t least = 1)
{
    const auto size = WholeOf(at, words::kCommSize);
    if (!size || *size < least)
    {
        at.Fail(size ? "its comm_size is " + std::to_string(*size) : "it has no comm_size",
                "bytes, from " + std::to_string(least),
                size ? "" : "add the attribute comm_size");
    }
    return Bytes(static_cast<uint64_t>(*size));
}

/// Whether it is the call on the CPU that launches communication, whose kernel is another node.
bool
OnlyLaunches(const Place& at)
{
    if (!IsOnCpu(at))
    {
        return false;
    }
    if (FindAttribute(at.node, words::kCommSize) != nullptr)
    {
        at.Fail("it has a comm_size and is_cpu_op is true", "communication of GPUs");
    }
    return true;
}

void
ReadMessage(const Place& at, bool sends, Rank rank, uint32_t ranks, ForeignNode& node)
{
    if (OnlyLaunches(at))
    {
        return;
    }
    const char* own = sends ? words::kCommSource : words::kCommDestination;
    const char* other = sends ? words::kCommDestination : words::kCommSource;
    const auto peer = WholeOf(at, other);
    if (!peer)
    {
        at.Fail(std::string("it has no ") + other + ", so its partner is not known",
                "the rank of the partner, 0 to " + std::to_string(ranks - 1),
                "add the attribute; chakra_converter writes none for what PyTorch has observed");
    }
    if (*peer < 0 || *peer >= ranks || *peer == rank)
    {
        at.Fail(std::string("its ") + other + " is " + std::to_string(*peer),
                "another rank, 0 to " + std::to_string(ranks - 1));
    }
    if (const auto self = WholeOf(at, own); self && *self != rank)
    {
        at.Fail(std::string("its ") + own + " is " + std::to_string(*self) +
                    " in the trace of rank " + std::to_string(rank),
                "the rank itself");
    }
    node.kind = sends ? ForeignKind::Send : ForeignKind::Receive;
    node.peer = static_cast<Rank>(*peer);
    node.tag = WholeOf(at, words::kCommTag).value_or(0);
    node.input = SizeOf(at);
}

void
ReadCollective(const Place& at, ForeignNode& node)
{
    constexpr const char* allowed =
        "ALL_REDUCE (0), REDUCE (1), ALL_GATHER (2), BROADCAST (5), ALL_TO_ALL (6), REDUCE_SCATTER "
        "(7), REDUCE_SCATTER_BLOCK (8) or BARRIER (9)";
    if (OnlyLaunches(at))
    {
        return;
    }
    const auto type = WholeOf(at, words::kCommType);
    if (!type)
    {
        at.Fail("it has no comm_type", allowed, "add the attribute comm_type");
    }
    const bool known = *type >= 0 && *type <= chakra::CollectiveCommType_MAX;
    node.operation =
        known ? chakra::CollectiveCommType_Name(static_cast<chakra::CollectiveCommType>(*type))
              : "unknown";
    switch (*type)
    {
    case chakra::ALL_REDUCE:
        node.op = CollectiveOp::AllReduce;
        break;
    case chakra::ALL_GATHER:
        node.op = CollectiveOp::AllGather;
        node.perMember = true;
        break;
    case chakra::BROADCAST:
        node.op = CollectiveOp::AllGather;
        break;
    case chakra::ALL_TO_ALL:
        node.op = CollectiveOp::AllToAll;
        break;
    case chakra::REDUCE:
    case chakra::REDUCE_SCATTER:
    case chakra::REDUCE_SCATTER_BLOCK:
        node.op = CollectiveOp::ReduceScatter;
        break;
    case chakra::BARRIER:
        node.op = CollectiveOp::AllReduce;
        node.perMember = true;
        break;
    default:
        at.Fail("its comm_type is " + std::to_string(*type) +
                    (known ? ", " + node.operation + ", which no engine has" : ""),
                allowed,
                "write it as one of those, or as sends and receives");
    }
    if (const auto* dimensions = FindAttribute(at.node, words::kDimensions); dimensions != nullptr)
    {
        const auto& values = dimensions->bool_list().values();
        if (std::find(values.begin(), values.end(), false) != values.end())
        {
            at.Fail("its involved_dim leaves out a dimension, of a topology that the trace does "
                    "not have",
                    "all of them",
                    "say by pg_name who takes part");
        }
    }
    if (const auto* group = FindAttribute(at.node, words::kGroup); group != nullptr)
    {
        node.group = group->string_val();
    }
    node.kind = ForeignKind::Collective;
    // Of what goes to different experts, or is gathered from them, a member may have nothing.
    const bool mayBeNone = *type == chakra::ALL_TO_ALL || *type == chakra::ALL_GATHER;
    node.input = *type == chakra::BARRIER ? Bytes(1) : SizeOf(at, mayBeNone ? 0 : 1);
}

} // namespace

std::string
NameOfNode(const ForeignNode& node)
{
    return std::to_string(node.id) + " " + Quoted(node.name);
}

void
FailAtNode(const std::string& path,
           uint64_t id,
           const std::string& name,
           const std::string& problem,
           const std::string& allowed,
           const std::string& remedy)
{
    throw ConfigError(path,
                      "node " + std::to_string(id) + " " + Quoted(name) + ": " + problem,
                      allowed,
                      remedy);
}

ForeignNode
ReadForeignNode(const chakra::Node& from, Rank rank, uint32_t ranks, const std::string& path)
{
    const Place at{from, path};
    ForeignNode node;
    node.id = from.id();
    node.name = from.name();
    node.after.assign(from.data_deps().begin(), from.data_deps().end());
    node.calledBy.assign(from.ctrl_deps().begin(), from.ctrl_deps().end());
    ExpectEachOnce(at);
    if (!IsOnCpu(at))
    {
        node.gpuStream = WholeOf(at, words::kGpuStream);
    }
    switch (from.type())
    {
    case chakra::METADATA_NODE:
        break;
    case chakra::COMP_NODE:
        ReadCompute(at, node);
        break;
    case chakra::COMM_SEND_NODE:
    case chakra::COMM_RECV_NODE:
        ReadMessage(at, from.type() == chakra::COMM_SEND_NODE, rank, ranks, node);
        break;
    case chakra::COMM_COLL_NODE:
        ReadCollective(at, node);
        break;
    case chakra::MEM_LOAD_NODE:
    case chakra::MEM_STORE_NODE:
        at.Fail("it is of memory (type " + std::to_string(from.type()) +
                    "), which no engine has apart from computing",
                "types METADATA_NODE (1), COMP_NODE (4), COMM_SEND_NODE (5), COMM_RECV_NODE (6) "
                "and COMM_COLL_NODE (7)",
                "write it as a COMP_NODE with its time in duration_micros");
    default:
        at.Fail("its type is " + std::to_string(from.type()),
                "types METADATA_NODE (1), COMP_NODE (4), COMM_SEND_NODE (5), COMM_RECV_NODE (6) "
                "and COMM_COLL_NODE (7)");
    }
    return node;
}

} // namespace scaleacross
