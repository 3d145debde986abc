// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/foreign-trace.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/chakra/foreign-order.h"
#include "core/io/chakra/foreign-partners.h"
#include "core/io/chakra/foreign-walk.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// Lanes, of which some have to be one.
class Unions
{
  public:
    explicit Unions(uint32_t count)
        : m_root(count)
    {
        std::iota(m_root.begin(), m_root.end(), 0);
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

/**
 * Puts process groups into lanes, so that no rank has two in one: each into the first in which none
 * of its members has another, in the order of their first collectives. By group number.
 */
std::map<uint32_t, uint32_t>
LanesOf(const ForeignPartners& partners)
{
    std::map<uint32_t, uint32_t> lanes;
    std::vector<std::set<Rank>> taken;
    for (const ForeignPartners::Operation& operation : partners.operations)
    {
        const auto [entry, isNew] = lanes.try_emplace(operation.group, 0);
        if (!isNew)
        {
            continue;
        }
        const auto free = std::find_if(taken.begin(), taken.end(), [&](const auto& ranks) {
            return std::none_of(operation.members.begin(), operation.members.end(), [&](Rank rank) {
                return ranks.count(rank) > 0;
            });
        });
        entry->second = static_cast<uint32_t>(free - taken.begin());
        taken.resize(std::max<size_t>(taken.size(), entry->second + 1));
        taken[entry->second].insert(operation.members.begin(), operation.members.end());
    }
    return lanes;
}

/// The collectives of a graph, and what their operations are called there.
class Collectives
{
  public:
    explicit Collectives(const ForeignPartners& partners)
        : m_unions(static_cast<uint32_t>(partners.operations.size()))
    {
        const std::map<uint32_t, uint32_t> lanes = LanesOf(partners);
        std::vector<RankGroup> families;
        std::map<std::tuple<size_t, CollectiveOp, CommClass, uint64_t>, uint32_t> known;
        for (const ForeignPartners::Operation& operation : partners.operations)
        {
            const auto family = static_cast<size_t>(
                std::find(families.begin(), families.end(), operation.family) - families.begin());
            if (family == families.size())
            {
                families.push_back(operation.family);
            }
            const auto [entry, isNew] =
                known.try_emplace({family, operation.op, operation.comm, operation.bytes.Count()},
                                  static_cast<uint32_t>(said.size()));
            if (isNew)
            {
                said.push_back(TraceCollective{operation.op,
                                               operation.comm,
                                               operation.family,
                                               operation.bytes});
            }
            number.push_back(entry->second);
            m_lane.push_back(lanes.at(operation.group));
        }
        SetStreams();
    }

    /// Puts a lane on the stream of another if all its collectives wait for one of that: so they
    /// may be posted before that one is over.
    void JoinChained(const std::vector<ForeignRank>& ranks, const ForeignPartners& partners)
    {
        std::map<uint32_t, uint32_t> all;                            // nodes, by lane
        std::map<std::pair<uint32_t, uint32_t>, uint32_t> following; // likewise and of which
        for (size_t rank = 0; rank < ranks.size(); rank++)
        {
            const auto& nodes = ranks[rank].nodes;
            const auto laneOf = [&](uint32_t place) {
                return m_lane[partners.number[rank][place]];
            };
            for (uint32_t place = 0; place < nodes.size(); place++)
            {
                if (nodes[place].kind != ForeignKind::Collective)
                {
                    continue;
                }
                all[laneOf(place)]++;
                std::set<uint32_t> before;
                for (const uint32_t other : ranks[rank].after[place])
                {
                    if (nodes[other].kind == ForeignKind::Collective)
                    {
                        before.insert(laneOf(other));
                    }
                }
                for (const uint32_t lane : before)
                {
                    following[{laneOf(place), lane}]++;
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
        for (const uint32_t lane : m_lane)
        {
            const auto next = static_cast<uint32_t>(streams.size());
            const uint32_t own = streams.emplace(m_unions.RootOf(lane), next).first->second;
            stream.push_back(static_cast<Stream>(own % kStreams));
        }
    }

    Unions m_unions;              //!< of lanes
    std::vector<uint32_t> m_lane; //!< by operation
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

    /// Computations that have no time yet.
    const std::vector<TraceCompute>& Computes() const
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
                m_computes.push_back(
                    {m_own, static_cast<uint32_t>(m_program.ops.size()), node.work, node.memory});
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
    std::vector<TraceCompute> m_computes; //!< of class m_own
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

/// Where lanes share a stream, the members of a collective have to have posted equally many
/// collectives on it before: by that they know it. The first of which that is not so.
std::optional<UnequalTurns>
FindUnequalTurns(const std::vector<ForeignRank>& ranks,
                 const ForeignPartners& partners,
                 const Collectives& collectives)
{
    std::map<uint32_t, uint32_t> turns; // by operation
    for (Rank rank = 0; rank < ranks.size(); rank++)
    {
        std::array<uint32_t, kStreams> posted{};
        for (uint32_t place = 0; place < ranks[rank].nodes.size(); place++)
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

/// How collectives of the traces are done, and the order in which each rank begins its nodes.
struct Way
{
    Collectives collectives;
    std::vector<std::vector<uint32_t>> orders;
};

/// Collectives on streams on which all members have the same turns.
Way
WayOf(const std::vector<ForeignRank>& ranks, const ForeignPartners& partners)
{
    const Collectives plain(partners);
    Collectives chained = plain;
    chained.JoinChained(ranks, partners);
    if (chained.stream != plain.stream && !FindUnequalTurns(ranks, partners, chained))
    {
        try
        {
            return {chained, InOrder(ranks, partners, chained.stream)};
        }
        catch (const ConfigError&)
        {
            // Groups on one stream may hold each other up where on their own they do not.
        }
    }
    if (const auto unequal = FindUnequalTurns(ranks, partners, plain))
    {
        const ForeignNode& node = ranks[unequal->rank].nodes[unequal->place];
        const std::string streams = std::to_string(kStreams);
        FailAtNode(ranks[unequal->rank].path,
                   node.id,
                   node.name,
                   "ranks are in more than " + streams +
                       " process groups, so that some share a stream, and there it is collective " +
                       std::to_string(unequal->turn + 1) + " of rank " +
                       std::to_string(unequal->rank) + " and " +
                       std::to_string(unequal->turnElsewhere + 1) + " of another member",
                   streams + " process groups of a rank, or equally many collectives of all ranks",
                   "join groups of the same ranks under one pg_name, or give all ranks of a group "
                   "its collectives at the same place");
    }
    return {plain, InOrder(ranks, partners, plain.stream)};
}

/// Whether any of a rank's communication is waited for by what it computes.
bool
ComputesAfterCommunication(const ForeignRank& rank)
{
    std::vector<bool> follows(rank.nodes.size(), false); // communication, whatever is between
    for (uint32_t place = 0; place < rank.nodes.size(); place++)
    {
        for (const uint32_t before : rank.after[place])
        {
            const ForeignKind kind = rank.nodes[before].kind;
            follows[place] = follows[place] || follows[before] || kind == ForeignKind::Receive ||
                             kind == ForeignKind::Collective;
        }
        if (follows[place] && rank.nodes[place].kind == ForeignKind::Compute)
        {
            return true;
        }
    }
    return false;
}

/// What to know of traces that can be run.
std::vector<std::string>
WarningsOf(const std::vector<ForeignRank>& ranks, const ForeignPartners& partners)
{
    constexpr double kUneven = 1.05;
    std::vector<std::string> warnings;
    const auto has = [&ranks](auto&&... kinds) {
        return std::any_of(ranks.begin(), ranks.end(), [&](const ForeignRank& rank) {
            return std::any_of(rank.nodes.begin(), rank.nodes.end(), [&](const ForeignNode& node) {
                return ((node.kind == kinds) || ...);
            });
        });
    };
    if (has(ForeignKind::Compute) && has(ForeignKind::Receive, ForeignKind::Collective) &&
        std::none_of(ranks.begin(), ranks.end(), ComputesAfterCommunication))
    {
        warnings.push_back("no computation of the traces waits for communication, as "
                           "chakra_converter writes them: what it has to wait for is not known, so "
                           "the time is the least that it can be");
    }
    for (const ForeignRank& rank : ranks)
    {
        const auto prior = std::find_if(rank.nodes.begin(),
                                        rank.nodes.end(),
                                        [](const ForeignNode& node) { return node.priority != 0; });
        if (prior != rank.nodes.end())
        {
            warnings.push_back("comm_priority has no effect (" + rank.path + ", node " +
                               NameOfNode(*prior) + "): what is communicated shares links fairly");
            break;
        }
    }
    if (partners.uneven > kUneven)
    {
        std::ostringstream text;
        text.precision(3);
        text << "a member puts up to " << partners.uneven
             << " times the mean into an all-to-all or all-gather of the traces; here all put in "
                "the "
                "mean, which takes less time";
        warnings.push_back(text.str());
    }
    return warnings;
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
            const ForeignAttributes attributes(node, path);
            for (const std::string& name : attributes.Unknown())
            {
                m_unknown.try_emplace(name,
                                      path + ", node " + std::to_string(node.id()) + " " +
                                          Quoted(node.name()));
            }
            nodes.push_back(ReadForeignNode(node, attributes, rank, m_ranks, path));
            if (node.type() == chakra::METADATA_NODE)
            {
                m_groups.Add(rank, node, path);
            }
        });
    m_all.push_back(OrderNodes(std::move(nodes), path));
}

TraceWork
ForeignTraces::Work()
{
    const ForeignPartners partners = FindPartners(m_all, m_groups);
    const auto& [collectives, orders] = WayOf(m_all, partners);
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
        work.computes.insert(work.computes.end(),
                             writer.Computes().begin(),
                             writer.Computes().end());
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
        throw ConfigError(
            m_all.front().path,
            "no rank computes or communicates anything",
            "a node of computing or communication in one of the traces",
            "look whether is_cpu_op is true of all nodes, or their duration_micros 0");
    }
    work.warnings = WarningsOf(m_all, partners);
    for (const auto& [name, place] : m_unknown)
    {
        const std::string nearest = NearestAttribute(name);
        work.warnings.push_back("nothing here reads the attribute " + Quoted(name) + " (" + place +
                                ")" + (nearest.empty() ? "" : ": was " + nearest + " meant?"));
    }
    return work;
}

} // namespace scaleacross
