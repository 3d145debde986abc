// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/operation.h"

#include "core/base/text.h"
#include "core/engine/engine.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace scaleacross
{

namespace
{

/// Calls `visit` with every collective and message of a program, as often as it is done.
void
ForEach(const TaskGraph& graph,
        const std::vector<Op>& ops,
        const std::function<void(const Op&)>& visit)
{
    for (const Op& op : ops)
    {
        if (op.kind == OpKind::Run)
        {
            ForEach(graph, graph.bodies[op.index].ops, visit);
        }
        else if (op.kind == OpKind::Collective || op.kind == OpKind::Send)
        {
            visit(op);
        }
    }
}

std::string
Joined(const std::set<std::string>& words, const std::string& between)
{
    std::string text;
    for (const std::string& word : words)
    {
        text += (text.empty() || word.empty() ? "" : between) + word;
    }
    return text;
}

/// "20 km 1.6 Tb/s", with all else that sets a span apart.
std::string
SpanText(const CrossLinkSpec& span)
{
    std::string text = ToString(span.distance) + " " + ToString(span.capacity);
    if (span.latency != FibreDelay(span.distance))
    {
        text += " " + ToString(span.latency);
    }
    if (span.lanes > 1)
    {
        text += " in " + std::to_string(span.lanes) + " lanes";
    }
    if (span.loss > 0)
    {
        text += " loss " + NumberText(span.loss);
    }
    return text + (span.pfc ? "" : " lossy");
}

/// The name of the first building that is like this one; "" where all are.
std::string
BuildingText(const ClusterSpec& cluster, uint32_t building)
{
    const auto alike = [&](const BuildingSpec& other) {
        BuildingSpec same = other;
        same.name = cluster.buildings[building].name;
        same.gpus = cluster.buildings[building].gpus;
        return same == cluster.buildings[building];
    };
    const auto& all = cluster.buildings;
    return std::all_of(all.begin(), all.end(), alike)
               ? std::string()
               : std::find_if(all.begin(), all.end(), alike)->name;
}

/// Where groups of a stage are, for OperationKind.
class Reach
{
  public:
    explicit Reach(const ClusterPaths& paths)
        : m_paths(paths)
    {
    }

    /// Members of a group, the first of whom is any.
    void Add(const std::vector<Rank>& members)
    {
        std::map<uint32_t, uint32_t> counts; // by building
        for (const Rank member : members)
        {
            counts[m_paths.Cluster().BuildingOf(member)]++;
            if (member != members.front() && m_tier != Tier::Cross)
            {
                m_tier = std::max(m_tier, m_paths.TierBetween(members.front(), member));
            }
        }
        AddBuildings(counts);
        if (counts.size() > 1)
        {
            m_tier = Tier::Cross;
            m_splits.insert(SplitText(counts));
        }
    }

    void Fill(OperationKind& kind, bool split) const
    {
        kind.reach = m_tier;
        kind.way = Joined(m_spans, " + ");
        if (const std::string buildings = Joined(m_buildings, " and "); !buildings.empty())
        {
            kind.way += (kind.way.empty() ? "as " : " as ") + buildings;
        }
        kind.split = split ? Joined(m_splits, " and ") : "";
    }

  private:
    void AddBuildings(const std::map<uint32_t, uint32_t>& counts)
    {
        std::vector<uint32_t> buildings;
        for (const auto& entry : counts)
        {
            m_buildings.insert(BuildingText(m_paths.Cluster(), entry.first));
            buildings.push_back(entry.first);
        }
        for (size_t a = 0; a < buildings.size(); a++)
        {
            for (size_t b = a + 1; b < buildings.size(); b++)
            {
                AddRoute(buildings[a], buildings[b]);
            }
        }
    }

    void AddRoute(uint32_t from, uint32_t to)
    {
        const SiteRoute& route = m_paths.Route(from, to);
        std::set<std::string> spans;
        for (const SiteRoute::Use& use : route.uses)
        {
            spans.insert(SpanText(m_paths.Cluster().crossLinks[use.link]));
        }
        const size_t hops = route.longest.size();
        m_spans.insert(Joined(spans, ", ") +
                       (hops > 1 ? " (" + std::to_string(hops) + " spans)" : ""));
    }

    static std::string SplitText(const std::map<uint32_t, uint32_t>& counts)
    {
        std::vector<uint32_t> parts;
        uint32_t divisor = 0;
        for (const auto& entry : counts)
        {
            parts.push_back(entry.second);
            divisor = std::gcd(divisor, entry.second);
        }
        std::sort(parts.rbegin(), parts.rend());
        if (parts.front() == parts.back())
        {
            return std::to_string(parts.size());
        }
        std::string text;
        for (const uint32_t part : parts)
        {
            text += (text.empty() ? "" : ":") + std::to_string(part / divisor);
        }
        return text;
    }

    const ClusterPaths& m_paths;
    Tier m_tier{Tier::Node};
    std::set<std::string> m_spans;
    std::set<std::string> m_splits;
    std::set<std::string> m_buildings;
};

std::vector<Rank>
MembersOf(const RankGroup& group, Rank rank)
{
    std::vector<Rank> members;
    for (uint32_t i = 0; i < group.Size(); i++)
    {
        members.push_back(group.Member(rank, i));
    }
    return members;
}

/// A collective's groups, each once.
std::vector<RankGroup>
GroupsOf(const Collective& collective)
{
    std::vector<RankGroup> groups;
    for (const Phase& phase : collective.phases)
    {
        if (std::find(groups.begin(), groups.end(), phase.group) == groups.end())
        {
            groups.push_back(phase.group);
        }
    }
    return groups;
}

/// Whether one is of the same kind as the other, with as many members and bytes.
bool
AreAlike(const Operation& a, const Operation& b)
{
    return a.kind == b.kind && a.levels == b.levels && a.bytes == b.bytes;
}

auto
TiedOf(const OperationKind& kind)
{
    return std::tie(kind.comm,
                    kind.name,
                    kind.algorithm,
                    kind.protocol,
                    kind.reach,
                    kind.way,
                    kind.split);
}

} // namespace

bool
operator==(const OperationKind& a, const OperationKind& b)
{
    return TiedOf(a) == TiedOf(b);
}

bool
operator<(const OperationKind& a, const OperationKind& b)
{
    return TiedOf(a) < TiedOf(b);
}

std::string
ToString(Tier tier)
{
    switch (tier)
    {
    case Tier::Node:
        return "node";
    case Tier::Leaf:
        return "leaf";
    case Tier::Zone:
        return "zone";
    case Tier::Building:
        return "building";
    case Tier::Cross:
        break;
    }
    return "cross";
}

std::string
ToString(const OperationKind& kind)
{
    std::string text = ToString(kind.comm) + " " + kind.name;
    for (const std::string& word : {kind.algorithm, kind.protocol})
    {
        text += word.empty() ? "" : " " + word;
    }
    text += ", " + ToString(kind.reach) + (kind.way.empty() ? "" : " " + kind.way);
    return text + (kind.split.empty() ? "" : " over " + kind.split + " buildings");
}

std::string
ToString(const MemberLevels& levels)
{
    std::string text;
    for (const uint32_t members : levels)
    {
        text += (text.empty() ? "" : "x") + std::to_string(members);
    }
    return text;
}

std::string
ToString(const Operation& operation)
{
    return ToString(operation.kind) + ", " + ToString(operation.bytes) + " of " +
           ToString(operation.levels);
}

MemberLevels
LevelsOf(const Collective& collective)
{
    MemberLevels levels;
    for (const RankGroup& group : GroupsOf(collective))
    {
        levels.push_back(group.Size());
    }
    return levels;
}

Bytes
BytesOf(const Collective& collective)
{
    Bytes bytes;
    for (const Phase& phase : collective.phases)
    {
        bytes = std::max(bytes, phase.bytes);
    }
    return bytes;
}

OperationFinder::OperationFinder(const TaskGraph& graph, const ClusterPaths& paths)
    : m_graph(graph),
      m_paths(paths)
{
    for (uint32_t c = 0; c < graph.classes.size(); c++)
    {
        const RankClass& rankClass = graph.classes[c];
        ForEach(graph, rankClass.program.ops, [&](const Op& op) {
            std::vector<uint32_t>& classes =
                op.kind == OpKind::Send
                    ? m_messageClasses[{rankClass.stage, op.peer, op.bytes.Count()}]
                    : m_collectiveClasses[{rankClass.stage, op.index}];
            if (op.kind == OpKind::Collective)
            {
                m_streams.try_emplace(op.index, op.stream);
            }
            if (classes.empty() || classes.back() != c)
            {
                classes.push_back(c);
            }
        });
    }
}

Operation
OperationFinder::OfCollective(uint32_t stage, uint32_t collective)
{
    const auto [entry, isNew] =
        m_collectives.try_emplace(StageCollective{stage, collective}, Operation());
    Operation& operation = entry->second;
    if (isNew)
    {
        const Collective& whole = m_graph.collectives[collective];
        operation.kind.comm = whole.comm;
        operation.kind.name = whole.name;
        operation.kind.algorithm = whole.algorithm;
        operation.kind.protocol = whole.protocol;
        operation.levels = LevelsOf(whole);
        operation.bytes = BytesOf(whole);
        operation.stage = stage;
        operation.collective = collective;
        if (const auto stream = m_streams.find(collective); stream != m_streams.end())
        {
            operation.stream = stream->second;
        }
        Reach reach(m_paths);
        for (const uint32_t c : ClassesOf(operation))
        {
            for (const RankGroup& group : GroupsOf(whole))
            {
                reach.Add(MembersOf(group, m_graph.classes[c].representative));
            }
        }
        reach.Fill(operation.kind, true);
    }
    return operation;
}

Operation
OperationFinder::OfMessage(uint32_t stage, int32_t peer, Bytes bytes)
{
    const auto [entry, isNew] =
        m_messages.try_emplace(Message{stage, peer, bytes.Count()}, Operation());
    Operation& operation = entry->second;
    if (isNew)
    {
        operation.kind.comm = CommClass::Pipeline;
        operation.kind.name = "message";
        operation.bytes = bytes;
        operation.stage = stage;
        operation.peer = peer;
        Reach reach(m_paths);
        for (const uint32_t c : ClassesOf(operation))
        {
            const Rank from = m_graph.classes[c].representative;
            reach.Add({from, from + static_cast<Rank>(peer)});
        }
        reach.Fill(operation.kind, false);
    }
    return operation;
}

const std::vector<uint32_t>&
OperationFinder::ClassesOf(const Operation& operation) const
{
    static const std::vector<uint32_t> none;
    if (operation.IsMessage())
    {
        const auto found =
            m_messageClasses.find({operation.stage, operation.peer, operation.bytes.Count()});
        return found == m_messageClasses.end() ? none : found->second;
    }
    const auto found = m_collectiveClasses.find({operation.stage, operation.collective});
    return found == m_collectiveClasses.end() ? none : found->second;
}

std::vector<Operation>
OperationFinder::OfAllStages(const Operation& operation)
{
    std::vector<Operation> all =
        operation.IsMessage() ? MessagesLike(operation) : CollectivesLike(operation);
    for (Operation& one : all)
    {
        one.times = operation.times;
        one.stages = static_cast<uint32_t>(all.size());
    }
    return all;
}

/// What is the very same collective in another stage is it there, too; else the first that is like
/// it.
std::vector<Operation>
OperationFinder::CollectivesLike(const Operation& operation)
{
    std::map<uint32_t, Operation> byStage;
    for (const auto& entry : m_collectiveClasses)
    {
        const auto [stage, collective] = entry.first;
        Operation other = OfCollective(stage, collective);
        if (!AreAlike(operation, other))
        {
            continue;
        }
        const auto known = byStage.try_emplace(stage, other);
        if (collective == operation.collective)
        {
            known.first->second = std::move(other);
        }
    }
    std::vector<Operation> all;
    for (auto& entry : byStage)
    {
        all.push_back(std::move(entry.second));
    }
    return all;
}

std::vector<Operation>
OperationFinder::MessagesLike(const Operation& operation)
{
    struct Found
    {
        Operation operation;
        uint32_t to;
        bool forward;
    };

    std::vector<Found> found;
    for (const auto& entry : m_messageClasses)
    {
        const auto [stage, peer, bytes] = entry.first;
        Operation other = OfMessage(stage, peer, Bytes(bytes));
        if (AreAlike(operation, other))
        {
            const Rank from = m_graph.classes[entry.second.front()].representative;
            const uint32_t to = m_graph.pipeline.IndexOf(from + static_cast<Rank>(peer));
            found.push_back({std::move(other), to, to == (stage + 1) % m_graph.pipeline.Size()});
        }
    }
    // Those that go forward: then no stage begins more of them than another.
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
        return a.forward > b.forward;
    });
    std::set<std::pair<uint32_t, uint32_t>> pairs;
    std::vector<Operation> all;
    for (Found& one : found)
    {
        if (pairs.insert(std::minmax(one.operation.stage, one.to)).second)
        {
            all.push_back(std::move(one.operation));
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Operation& a, const Operation& b) {
        return a.stage < b.stage;
    });
    return all;
}

std::vector<Operation>
OperationFinder::All()
{
    std::vector<const RankClass*> classes;
    for (const RankClass& rankClass : m_graph.classes)
    {
        classes.push_back(&rankClass);
    }
    std::stable_sort(classes.begin(), classes.end(), [](const auto* a, const auto* b) {
        return a->stage < b->stage;
    });
    std::vector<Operation> all;
    std::map<std::tuple<OperationKind, MemberLevels, uint64_t>, size_t> numbers;
    for (const RankClass* rankClass : classes)
    {
        std::map<size_t, uint64_t> counted;
        ForEach(m_graph, rankClass->program.ops, [&](const Op& op) {
            Operation operation = op.kind == OpKind::Send
                                      ? OfMessage(rankClass->stage, op.peer, op.bytes)
                                      : OfCollective(rankClass->stage, op.index);
            if (operation.kind.reach == Tier::Node)
            {
                return;
            }
            const auto entry =
                numbers.try_emplace({operation.kind, operation.levels, operation.bytes.Count()},
                                    all.size());
            if (entry.second)
            {
                all.push_back(std::move(operation));
            }
            counted[entry.first->second]++;
        });
        for (const auto& entry : counted)
        {
            all[entry.first].times = std::max(all[entry.first].times, entry.second);
        }
    }
    for (Operation& operation : all)
    {
        operation.stages = static_cast<uint32_t>(OfAllStages(operation).size());
    }
    return all;
}

std::vector<Operation>
OperationsOf(const PreparedRun& run, const ClusterPaths& paths)
{
    return OperationFinder(run.graph, paths).All();
}

} // namespace scaleacross
