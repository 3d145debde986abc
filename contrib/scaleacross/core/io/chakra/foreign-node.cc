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
    const ForeignAttributes& attributes;
    const std::string& path;

    [[noreturn]] void Fail(const std::string& problem,
                           const std::string& allowed,
                           const std::string& remedy) const
    {
        FailAtNode(path, node.id(), node.name(), problem, allowed, remedy);
    }
};

/// The most operations of a node: what 64 bits with a sign hold, and a quarter of an hour of any
/// GPU today (5e15 FLOP/s).
constexpr int kMostOperations = 62;
/// The most bytes, 2^50, of which all ranks together can still be counted.
constexpr int kMostBytes = 50;

/// The number of an attribute that counts something, or 0.
int64_t
CountOf(const Place& at, const char* name, const char* what, int mostPower)
{
    const int64_t count = at.attributes.Whole(name).value_or(0);
    if (count < 0 || count > int64_t{1} << mostPower)
    {
        at.Fail(std::string("its ") + name + " is " + std::to_string(count),
                std::string(what) + ", from 0 to 2^" + std::to_string(mostPower),
                std::string("give it how many there are, or leave ") + name + " out");
    }
    return count;
}

bool
IsOnCpu(const Place& at)
{
    return at.attributes.Truth(words::kIsCpuOp).value_or(false);
}

/// The name of the process group, or an empty one.
std::string
GroupOf(const Place& at)
{
    const auto name = at.attributes.Name(words::kGroup);
    const auto old = at.attributes.Name(words::kOldGroup);
    if (name && old && *name != *old)
    {
        at.Fail("its pg_name is " + Quoted(*name) + " and its comm_group " + Quoted(*old),
                "one process group",
                "leave one of them out");
    }
    return name.value_or(old.value_or(""));
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
        at.Fail("its duration_micros is " + std::to_string(micros),
                "up to 53 days",
                "give its time in microseconds");
    }
    node.duration = Duration::Picoseconds(static_cast<int64_t>(micros) * kPsPerMicro);
    if (const auto ps = at.attributes.Whole(words::kPs))
    {
        const int64_t rounded = *ps / kPsPerMicro + (*ps % kPsPerMicro >= kPsPerMicro / 2 ? 1 : 0);
        const bool same = *ps > 0 && rounded == static_cast<int64_t>(micros);
        node.duration = same ? Duration::Picoseconds(*ps) : node.duration;
    }
    if (node.duration == Duration())
    {
        const int64_t operations = CountOf(at, words::kNumOps, "FLOPs", kMostOperations);
        const int64_t memory = CountOf(at, words::kTensorSize, "bytes", kMostBytes);
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
    const auto size = at.attributes.Whole(words::kCommSize);
    if (!size || *size < least || *size > int64_t{1} << kMostBytes)
    {
        at.Fail(size ? "its comm_size is " + std::to_string(*size) : "it has no comm_size",
                "bytes, from " + std::to_string(least) + " to 2^" + std::to_string(kMostBytes),
                !size        ? "add the attribute comm_size"
                : *size == 0 ? "give the bytes that a member puts in; if there are none, leave the "
                               "node out, or write a COMP_NODE that takes no time in its place"
                             : "give the bytes that a member puts in");
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
    if (at.attributes.Has(words::kCommSize))
    {
        at.Fail("it has a comm_size and is_cpu_op is true",
                "communication of GPUs",
                "write is_cpu_op as false if GPUs communicate; leave comm_size out if it only "
                "launches what another node does");
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
    const auto peer = at.attributes.Whole(other);
    if (!peer)
    {
        at.Fail(std::string("it has no ") + other + ", so its partner is not known",
                "the rank of the partner, 0 to " + std::to_string(ranks - 1),
                "add the attribute; chakra_converter writes none for what PyTorch has observed");
    }
    if (*peer < 0 || *peer >= ranks || *peer == rank)
    {
        at.Fail(std::string("its ") + other + " is " + std::to_string(*peer),
                "another rank, 0 to " + std::to_string(ranks - 1),
                "give the rank of the partner, as in the names of the traces");
    }
    if (const auto self = at.attributes.Whole(own); self && *self != rank)
    {
        at.Fail(std::string("its ") + own + " is " + std::to_string(*self) +
                    " in the trace of rank " + std::to_string(rank),
                "the rank itself",
                "leave it out, or look whether the trace is another rank's");
    }
    node.kind = sends ? ForeignKind::Send : ForeignKind::Receive;
    node.peer = static_cast<Rank>(*peer);
    node.tag = at.attributes.Whole(words::kCommTag).value_or(0);
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
    const auto type = at.attributes.Whole(words::kCommType);
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
    const std::vector<bool> dimensions = at.attributes.Truths(words::kDimensions);
    if (std::find(dimensions.begin(), dimensions.end(), false) != dimensions.end())
    {
        at.Fail("its involved_dim leaves out a dimension, of a topology that the trace does not "
                "have",
                "all of them",
                "say by pg_name who takes part");
    }
    node.group = GroupOf(at);
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

ForeignNode
ReadForeignNode(const chakra::Node& from,
                const ForeignAttributes& attributes,
                Rank rank,
                uint32_t ranks,
                const std::string& path)
{
    const Place at{from, attributes, path};
    ForeignNode node;
    node.id = from.id();
    node.name = from.name();
    node.after.assign(from.data_deps().begin(), from.data_deps().end());
    node.calledBy.assign(from.ctrl_deps().begin(), from.ctrl_deps().end());
    node.priority = attributes.Whole(words::kCommPriority).value_or(0);
    if (!IsOnCpu(at))
    {
        node.gpuStream = at.attributes.Whole(words::kGpuStream);
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
                "and COMM_COLL_NODE (7)",
                "write it as one of those");
    }
    return node;
}

} // namespace scaleacross
