// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/foreign-trace.h"

#include "core/base/errors.h"
#include "core/io/foreign-order.h"
#include "core/io/foreign-partners.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// The collectives of a graph, and what their operations are called there.
class Collectives
{
  public:
    explicit Collectives(const ForeignPartners& partners)
    {
        std::vector<RankGroup> families;
        std::map<std::tuple<size_t, CollectiveOp, uint64_t>, uint32_t> known;
        for (const ForeignPartners::Operation& operation : partners.operations)
        {
            const auto family = static_cast<size_t>(
                std::find(families.begin(), families.end(), operation.family) - families.begin());
            if (family == families.size())
            {
                families.push_back(operation.family);
            }
            const auto [entry, isNew] =
                known.try_emplace({family, operation.op, operation.bytes.Count()},
                                  static_cast<uint32_t>(said.size()));
            if (isNew)
            {
                said.push_back(TraceCollective{operation.op,
                                               CommClass::Data,
                                               operation.family,
                                               operation.bytes});
            }
            number.push_back(entry->second);
            stream.push_back(static_cast<Stream>(family % kStreams));
        }
    }

    std::vector<std::optional<TraceCollective>> said;
    std::vector<uint32_t> number; //!< in `said`, by operation
    std::vector<Stream> stream;   //!< by operation
};

/// Writes the program of a rank.
class ProgramWriter
{
  public:
    ProgramWriter(const ForeignRank& rank,
                  const std::vector<uint32_t>& numbers,
                  const Collectives& collectives,
                  Rank own)
        : m_rank(rank),
          m_numbers(numbers),
          m_collectives(collectives),
          m_own(own),
          m_pending(rank.nodes.size()),
          m_handle(rank.nodes.size(), ForeignPartners::kNone),
          m_awaited(rank.nodes.size(), false)
    {
    }

    void Write(const std::vector<uint32_t>& order)
    {
        Op begin;
        begin.kind = OpKind::Run;
        begin.action = Action::Forward;
        m_program.ops.push_back(begin);
        for (const uint32_t place : order)
        {
            Write(place);
        }
        for (const uint32_t place : order)
        {
            if (IsAwaited(place))
            {
                Await(place);
            }
        }
        if (m_program.ops.size() == 1)
        {
            m_program.ops.clear(); // the rank takes no part
        }
    }

    Program Take()
    {
        return std::move(m_program);
    }

    /// Computations that have no time yet: place in the program, and work.
    const std::vector<std::pair<uint32_t, Flops>>& Computes() const
    {
        return m_computes;
    }

    uint32_t Handles() const
    {
        return m_handles;
    }

  private:
    /// Whether a node is of communication that others may have to wait for.
    bool IsAwaited(uint32_t place) const
    {
        const ForeignKind kind = m_rank.nodes[place].kind;
        return kind == ForeignKind::Receive || kind == ForeignKind::Collective;
    }

    void Write(uint32_t place)
    {
        const ForeignNode& node = m_rank.nodes[place];
        if (node.kind == ForeignKind::Nothing)
        {
            Pass(place);
            return;
        }
        if (node.kind == ForeignKind::Receive)
        {
            // It arrives whenever it does; what it waits for itself is over before its message is.
            Pass(place);
            m_pending[place].push_back(place);
            return;
        }
        for (const uint32_t other : m_rank.after[place])
        {
            AwaitAll(other);
        }
        Op op;
        switch (node.kind)
        {
        case ForeignKind::Compute:
            op.kind = OpKind::Compute;
            op.duration = node.duration;
            if (node.duration == Duration())
            {
                m_computes.emplace_back(static_cast<uint32_t>(m_program.ops.size()), node.work);
            }
            break;
        case ForeignKind::Send:
            op.kind = OpKind::Send;
            op.index = m_numbers[place];
            op.peer = static_cast<int32_t>(node.peer) - static_cast<int32_t>(m_own);
            op.bytes = node.input;
            break;
        default:
            op.kind = OpKind::Collective;
            op.index = m_collectives.number[m_numbers[place]];
            op.stream = m_collectives.stream[m_numbers[place]];
            op.handle = m_handle[place] = m_handles++;
            m_pending[place] = {place};
            break;
        }
        m_program.ops.push_back(op);
    }

    /// Who waits for a node without work waits for what that waits for.
    void Pass(uint32_t place)
    {
        std::vector<uint32_t>& pending = m_pending[place];
        for (const uint32_t other : m_rank.after[place])
        {
            for (const uint32_t one : m_pending[other])
            {
                if (!m_awaited[one])
                {
                    pending.push_back(one);
                }
            }
        }
        std::sort(pending.begin(), pending.end());
        pending.erase(std::unique(pending.begin(), pending.end()), pending.end());
    }

    void AwaitAll(uint32_t place)
    {
        for (const uint32_t one : m_pending[place])
        {
            Await(one);
        }
        m_pending[place].clear();
    }

    void Await(uint32_t place)
    {
        if (m_awaited[place])
        {
            return;
        }
        m_awaited[place] = true;
        const ForeignNode& node = m_rank.nodes[place];
        Op op;
        op.kind = node.kind == ForeignKind::Receive ? OpKind::Receive : OpKind::Wait;
        if (op.kind == OpKind::Receive)
        {
            op.index = m_numbers[place];
            op.peer = static_cast<int32_t>(node.peer) - static_cast<int32_t>(m_own);
            op.bytes = node.input;
        }
        else
        {
            op.handle = m_handle[place];
        }
        m_program.ops.push_back(op);
    }

    const ForeignRank& m_rank;
    const std::vector<uint32_t>& m_numbers;
    const Collectives& m_collectives;
    Rank m_own;
    Program m_program;
    std::vector<std::pair<uint32_t, Flops>> m_computes;
    /// By node: communication that is over when it is, and has not been awaited before.
    std::vector<std::vector<uint32_t>> m_pending;
    std::vector<uint32_t> m_handle; //!< by node
    std::vector<bool> m_awaited;    //!< by node
    uint32_t m_handles{0};
};

/// Where families share a stream, the members of a collective have to have posted equally many
/// collectives on it before: by that they know it.
void
ExpectSameTurns(const std::vector<ForeignRank>& ranks,
                const std::vector<std::vector<uint32_t>>& orders,
                const ForeignPartners& partners,
                const Collectives& collectives)
{
    std::map<uint32_t, uint32_t> turns; // by operation
    for (Rank rank = 0; rank < ranks.size(); rank++)
    {
        std::array<uint32_t, kStreams> posted{};
        for (const uint32_t place : orders[rank])
        {
            const ForeignNode& node = ranks[rank].nodes[place];
            if (node.kind != ForeignKind::Collective)
            {
                continue;
            }
            const uint32_t operation = partners.number[rank][place];
            const uint32_t turn = posted[static_cast<size_t>(collectives.stream[operation])]++;
            const auto [known, isNew] = turns.emplace(operation, turn);
            if (!isNew && known->second != turn)
            {
                FailAtNode(ranks[rank].path,
                           node.id,
                           node.name,
                           "process groups are of more than " + std::to_string(kStreams) +
                               " families, so that some share a stream, and there it is "
                               "collective " +
                               std::to_string(turn + 1) + " of rank " + std::to_string(rank) +
                               " and " + std::to_string(known->second + 1) + " of another member",
                           std::to_string(kStreams) +
                               " families of process groups, or equally many collectives of all "
                               "ranks");
            }
        }
    }
}

} // namespace

ForeignTraces::ForeignTraces(uint32_t ranks, const std::string& files)
    : m_ranks(ranks),
      m_groups(files, ranks)
{
}

void
ForeignTraces::AddRank(const std::string& text, const std::string& path)
{
    const auto rank = static_cast<Rank>(m_all.size());
    std::vector<ForeignNode> nodes;
    ReadChakra(
        text,
        path,
        [](const chakra::GlobalMetadata&) {},
        [&](const chakra::Node& node, size_t) {
            nodes.push_back(ReadForeignNode(node, rank, m_ranks, path));
            if (node.type() == chakra::METADATA_NODE)
            {
                m_groups.Add(node, path);
            }
        });
    m_all.push_back(OrderNodes(std::move(nodes), path));
}

TraceWork
ForeignTraces::Work()
{
    const ForeignPartners partners = FindPartners(m_all, m_groups);
    const std::vector<std::vector<uint32_t>> orders = InOrder(m_all, partners);
    const Collectives collectives(partners);
    ExpectSameTurns(m_all, orders, partners, collectives);
    TraceWork work;
    work.plan.dp = m_ranks;
    TaskGraph& graph = work.graph;
    graph.ranks = m_ranks;
    graph.once = true;
    graph.bodies.emplace_back();
    graph.messages = partners.messages;
    graph.collectives.resize(collectives.said.size());
    work.collectives = collectives.said;
    bool works = false;
    for (Rank rank = 0; rank < m_ranks; rank++)
    {
        ProgramWriter writer(m_all[rank], partners.number[rank], collectives, rank);
        writer.Write(orders[rank]);
        for (const auto& [op, flops] : writer.Computes())
        {
            work.computes.push_back({rank, op, flops});
        }
        graph.handles = std::max(graph.handles, writer.Handles());
        RankClass& own = graph.classes.emplace_back();
        own.representative = rank;
        own.ranks = 1;
        own.program = writer.Take();
        graph.classOf.push_back(rank);
        works = works || !own.program.ops.empty();
    }
    if (!works)
    {
        throw ConfigError(m_all.front().path,
                          "no rank computes or communicates anything",
                          "a node of computing or communication in one of the traces",
                          "");
    }
    return work;
}

} // namespace scaleacross
