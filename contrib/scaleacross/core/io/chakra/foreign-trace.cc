// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/foreign-trace.h"

#include "core/base/errors.h"
#include "core/io/chakra/foreign-order.h"
#include "core/io/chakra/foreign-partners.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// Families, of which some have to be one.
class Unions
{
  public:
    uint32_t Add()
    {
        m_root.push_back(static_cast<uint32_t>(m_root.size()));
        return m_root.back();
    }

    uint32_t RootOf(uint32_t one) const
    {
        while (m_root[one] != one)
        {
            one = m_root[one];
        }
        return one;
    }

    void Join(uint32_t a, uint32_t b)
    {
        const uint32_t one = RootOf(a);
        const uint32_t other = RootOf(b);
        m_root[std::max(one, other)] = std::min(one, other);
    }

  private:
    std::vector<uint32_t> m_root;
};

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
            const auto family = static_cast<uint32_t>(
                std::find(families.begin(), families.end(), operation.family) - families.begin());
            if (family == families.size())
            {
                families.push_back(operation.family);
                m_unions.Add();
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
            m_family.push_back(family);
        }
        SetStreams();
    }

    /// Puts a family on the stream of another if all its collectives wait for one of that: so they
    /// may be posted before that one is over.
    void JoinChained(const std::vector<ForeignRank>& ranks, const ForeignPartners& partners)
    {
        std::map<uint32_t, uint32_t> all;                            // nodes, by family
        std::map<std::pair<uint32_t, uint32_t>, uint32_t> following; // likewise and of which
        for (size_t rank = 0; rank < ranks.size(); rank++)
        {
            const auto& nodes = ranks[rank].nodes;
            const auto familyOf = [&](uint32_t place) {
                return m_family[partners.number[rank][place]];
            };
            for (uint32_t place = 0; place < nodes.size(); place++)
            {
                if (nodes[place].kind != ForeignKind::Collective)
                {
                    continue;
                }
                all[familyOf(place)]++;
                std::set<uint32_t> before;
                for (const uint32_t other : ranks[rank].after[place])
                {
                    if (nodes[other].kind == ForeignKind::Collective)
                    {
                        before.insert(familyOf(other));
                    }
                }
                for (const uint32_t family : before)
                {
                    following[{familyOf(place), family}]++;
                }
            }
        }
        for (const auto& [pair, count] : following)
        {
            if (count == all[pair.first])
            {
                m_unions.Join(pair.first, pair.second);
            }
        }
        SetStreams();
    }

    std::vector<std::optional<TraceCollective>> said;
    std::vector<uint32_t> number; //!< in `said`, by operation
    std::vector<Stream> stream;   //!< by operation

  private:
    void SetStreams()
    {
        std::map<uint32_t, uint32_t> streams; // by root, in the order of use
        stream.clear();
        for (const uint32_t family : m_family)
        {
            const auto next = static_cast<uint32_t>(streams.size());
            const uint32_t own = streams.emplace(m_unions.RootOf(family), next).first->second;
            stream.push_back(static_cast<Stream>(own % kStreams));
        }
    }

    Unions m_unions;
    std::vector<uint32_t> m_family; //!< by operation
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
            AwaitAll(other, place);
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

    /// Waits for what is pending of a node before another begins.
    void AwaitAll(uint32_t place, uint32_t before)
    {
        for (const uint32_t one : m_pending[place])
        {
            if (!FollowsOnStream(before, one))
            {
                Await(one);
            }
        }
    }

    /// Whether a node is a collective that begins after another by itself.
    bool FollowsOnStream(uint32_t place, uint32_t other) const
    {
        const auto isCollective = [this](uint32_t node) {
            return m_rank.nodes[node].kind == ForeignKind::Collective;
        };
        return isCollective(place) && isCollective(other) &&
               m_collectives.stream[m_numbers[place]] == m_collectives.stream[m_numbers[other]];
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

/// A collective before which its members have posted different numbers of others on its stream.
struct UnequalTurns
{
    Rank rank;
    uint32_t place;
    uint32_t turn;
    uint32_t turnElsewhere;
};

/// Where families share a stream, the members of a collective have to have posted equally many
/// collectives on it before: by that they know it. The first of which that is not so.
std::optional<UnequalTurns>
FindUnequalTurns(const std::vector<ForeignRank>& ranks,
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
            if (ranks[rank].nodes[place].kind != ForeignKind::Collective)
            {
                continue;
            }
            const uint32_t operation = partners.number[rank][place];
            const uint32_t turn = posted[static_cast<size_t>(collectives.stream[operation])]++;
            const auto [known, isNew] = turns.emplace(operation, turn);
            if (!isNew && known->second != turn)
            {
                return UnequalTurns{rank, place, turn, known->second};
            }
        }
    }
    return std::nullopt;
}

/// How collectives of the traces are done, on streams on which all members have the same turns.
Collectives
CollectivesOf(const std::vector<ForeignRank>& ranks,
              const std::vector<std::vector<uint32_t>>& orders,
              const ForeignPartners& partners)
{
    const Collectives plain(partners);
    Collectives chained = plain;
    chained.JoinChained(ranks, partners);
    if (!FindUnequalTurns(ranks, orders, partners, chained))
    {
        return chained;
    }
    if (const auto unequal = FindUnequalTurns(ranks, orders, partners, plain))
    {
        const ForeignNode& node = ranks[unequal->rank].nodes[unequal->place];
        const std::string streams = std::to_string(kStreams);
        FailAtNode(ranks[unequal->rank].path,
                   node.id,
                   node.name,
                   "process groups are of more than " + streams +
                       " families, so that some share a stream, and there it is collective " +
                       std::to_string(unequal->turn + 1) + " of rank " +
                       std::to_string(unequal->rank) + " and " +
                       std::to_string(unequal->turnElsewhere + 1) + " of another member",
                   streams + " families of process groups, or equally many collectives of all "
                             "ranks");
    }
    return plain;
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
    const Collectives collectives = CollectivesOf(m_all, orders, partners);
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
