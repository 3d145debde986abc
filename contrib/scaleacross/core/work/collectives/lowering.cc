// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/collectives/lowering.h"

#include "core/base/errors.h"
#include "core/program/step-pattern.h"
#include "core/spec/plan-fields.h"
#include "core/topology/server-split.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

/// A family of groups and the S that its collective works on.
struct Level
{
    RankGroup group;
    Bytes bytes;
};

/**
 * The group cut at the node and, if asked for, at the building, innermost first.
 *
 * A member that has reduced (or not yet gathered) level i works on its 1/n_i part at level i+1, the
 * part rounded up to whole bytes. Levels of one member are left out.
 */
std::vector<Level>
LevelsOf(Bytes bytes, const RankGroup& group, const RankLayout& layout, bool cutAtBuilding)
{
    std::vector<uint32_t> spans{layout.gpusPerNode};
    if (cutAtBuilding)
    {
        spans.push_back(layout.buildingSpan);
    }
    std::vector<Level> levels;
    RankGroup rest = group;
    const auto add = [&levels, &bytes](const RankGroup& part) {
        if (part.Size() > 1)
        {
            levels.push_back({part, bytes});
            bytes = Bytes((bytes.Count() + part.Size() - 1) / part.Size());
        }
    };
    for (const uint32_t span : spans)
    {
        if (rest.CanSplitAt(span))
        {
            const auto halves = rest.SplitAt(span);
            add(halves.inner);
            rest = halves.outer;
        }
    }
    add(rest);
    return levels;
}

/// The levels, each cut into its factors of two, near ones first, and an odd rest.
std::vector<Level>
HalvesOf(const std::vector<Level>& levels)
{
    std::vector<Level> halves;
    for (const Level& level : levels)
    {
        Bytes bytes = level.bytes;
        const auto add = [&halves, &bytes](uint32_t stride, uint32_t count) {
            if (count > 1)
            {
                halves.push_back({RankGroup({{stride, count}}), bytes});
                bytes = Bytes((bytes.Count() + count - 1) / count);
            }
        };
        for (RankGroup::Axis axis : level.group.Axes())
        {
            for (; axis.count % 2 == 0; axis.count /= 2, axis.stride *= 2)
            {
                add(axis.stride, 2);
            }
            add(axis.stride, axis.count);
        }
    }
    return halves;
}

/// The phases that reduce-scatter a level; two members exchange halves whatever the algorithm.
std::vector<Phase>
ReduceScatterOf(const Level& level, CollectiveAlgorithm algorithm)
{
    const Phase phase{Pattern::RingReduceScatter, level.group, level.bytes};
    std::vector<Phase> phases{phase};
    if (level.group.Size() == 2)
    {
        return phases;
    }
    if (algorithm->steps == LevelSteps::TwoWays)
    {
        phases.front().pattern = Pattern::TwoWayReduceScatter;
    }
    if (algorithm->steps == LevelSteps::Halves)
    {
        const auto rounds = DisseminationRounds(level.group.Size());
        phases.assign(rounds.size(), phase);
        for (size_t i = 0; i < rounds.size(); i++)
        {
            Phase& round = phases[rounds.size() - 1 - i];
            round.pattern = Pattern::JumpReduceScatter;
            round.shift = rounds[i].shift;
            round.parts = rounds[i].parts;
        }
    }
    return phases;
}

/// The mirror image of a phase of a reduce-scatter.
Phase
GatherOf(Phase phase)
{
    phase.pattern = StepsOf(phase).Mirror();
    return phase;
}

std::vector<Phase>
ReduceScatterOf(const std::vector<Level>& levels, CollectiveAlgorithm algorithm)
{
    std::vector<Phase> phases;
    for (const auto& level : levels)
    {
        const auto more = ReduceScatterOf(level, algorithm);
        phases.insert(phases.end(), more.begin(), more.end());
    }
    return phases;
}

void
AppendGathersOf(const std::vector<Phase>& scatters, std::vector<Phase>& phases)
{
    std::transform(scatters.rbegin(), scatters.rend(), std::back_inserter(phases), GatherOf);
}

/// Slots of NCCL's buffers: 4 MiB in 8 steps.
constexpr Bytes g_treeChunk{512 << 10};

/// Inside servers by rings, between them by trees.
std::vector<Phase>
AllReduceOf(std::vector<Level> levels, const RankLayout& layout, CollectiveAlgorithm algorithm)
{
    std::optional<Phase> between;
    if (algorithm->trees && !levels.empty())
    {
        const Level& last = levels.back();
        const RankGroup::Axis& axis = last.group.Axes().back();
        if (uint64_t{axis.stride} * axis.count > layout.gpusPerNode)
        {
            between = Phase{Pattern::DoubleTree, last.group, last.bytes};
            between->chunk = g_treeChunk;
            levels.pop_back();
        }
    }
    const auto scatters = ReduceScatterOf(levels, algorithm);
    std::vector<Phase> phases = scatters;
    if (between)
    {
        phases.push_back(*between);
    }
    AppendGathersOf(scatters, phases);
    return phases;
}

/// How an all-to-all goes, said outright.
AllToAllAlgorithm
WayOf(const LoweringRules& rules)
{
    return rules.allToAll->follows ? AllToAllAlgorithm(rules.algorithm->allToAll) : rules.allToAll;
}

/// The ranks inside which an all-to-all makes its first hop; 0: it is direct.
uint32_t
FirstSpan(AllToAllAlgorithm way, const RankLayout& layout)
{
    switch (way->hop)
    {
    case FirstHop::Server:
        return layout.gpusPerNode;
    case FirstHop::Building:
        return layout.buildingSpan;
    case FirstHop::None:
        break;
    }
    return 0;
}

/// Direct, or by two hops: what goes to the same position in any block of `span` ranks is first
/// collected on the block's member in that position, so that few large messages leave instead of
/// many small ones.
void
AppendAllToAll(Bytes bytes, const RankGroup& group, uint32_t span, std::vector<Phase>& phases)
{
    std::vector<RankGroup> hops{group};
    if (span > 0 && group.CanSplitAt(span))
    {
        const auto halves = group.SplitAt(span);
        hops = {halves.inner, halves.outer};
    }
    for (const auto& hop : hops)
    {
        if (hop.Size() > 1)
        {
            phases.push_back({Pattern::DirectAllToAll, hop, bytes});
        }
    }
}

} // namespace

LoweringRules::LoweringRules(CollectiveAlgorithm algorithm)
    : algorithm(algorithm)
{
}

LoweringRules::LoweringRules(const Scenario& scenario, CollectiveTimer seconds)
    : algorithm(scenario.network.collective),
      allToAll(scenario.network.allToAll),
      chunk(scenario.network.collectiveChunk),
      channels(scenario.network.channels),
      seconds(std::move(seconds)),
      tokenStart(scenario.network.tokenStart),
      tokenMessage(scenario.network.tokenMessage)
{
    if (algorithm->library)
    {
        nccl = NcclRulesOf(scenario);
    }
}

namespace
{

constexpr uint64_t g_mostChunks = 4096;
constexpr uint64_t g_largestChunk = 16ULL << 20; //!< NCCLX
constexpr uint64_t g_mostInFlight = 32ULL << 20; //!< NCCLX, on H100

void
Cut(Bytes bytes, uint32_t members, const LoweringRules& rules, Collective& collective)
{
    const auto chunksOf = [](uint64_t whole, uint64_t chunk) {
        const uint64_t chunks = whole / chunk + (whole % chunk > 0 ? 1 : 0);
        return static_cast<uint32_t>(std::clamp<uint64_t>(chunks, 1, g_mostChunks));
    };
    if (rules.chunk > Bytes())
    {
        collective.chunks = chunksOf(bytes.Count(), rules.chunk.Count());
        collective.channels = rules.channels;
    }
    else if (rules.channels > 1)
    {
        const uint64_t part = (bytes.Count() + members - 1) / members;
        const uint64_t chunk = std::clamp<uint64_t>(part / rules.channels, 1, g_largestChunk);
        collective.chunks = chunksOf(part, chunk);
        collective.channels =
            static_cast<uint32_t>(std::clamp<uint64_t>(g_mostInFlight / chunk, 1, rules.channels));
    }
}

/// The fastest of what there is.
Collective
Choose(CollectiveOp op,
       CommClass comm,
       Bytes bytes,
       const RankGroup& group,
       const RankLayout& layout,
       const LoweringRules& rules)
{
    SCALEACROSS_INVARIANT(rules.seconds, "nothing to choose an algorithm by");
    std::vector<LoweringRules> candidates;
    LoweringRules candidate = rules;
    if (op == CollectiveOp::AllToAll)
    {
        candidate.algorithm = "ring";
        for (const AllToAllFacts* way : AllToAllAlgorithm::Rows())
        {
            candidate.allToAll = *way;
            // Others are one of these to all but tokens.
            if (!way->follows && !way->oncePerServer && way->kernel == TokenKernel::None)
            {
                candidates.push_back(candidate);
            }
        }
    }
    else
    {
        for (const CollectiveAlgorithmFacts* algorithm : CollectiveAlgorithm::Rows())
        {
            candidate.algorithm = *algorithm;
            if (!algorithm->chooses && !algorithm->library)
            {
                candidates.push_back(candidate);
            }
        }
    }
    Collective best;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& with : candidates)
    {
        Collective lowered = Lower(op, comm, bytes, group, layout, with);
        const double seconds = rules.seconds(lowered);
        if (seconds < least)
        {
            least = seconds;
            best = std::move(lowered);
        }
    }
    return best;
}

/// Without the call.
Collective
PhasesOf(CollectiveOp op,
         CommClass comm,
         Bytes bytes,
         const RankGroup& group,
         const RankLayout& layout,
         const LoweringRules& rules)
{
    const CollectiveAlgorithm algorithm = rules.algorithm;
    const bool chosen = algorithm->chooses && group.Size() > 1;
    const bool way = op == CollectiveOp::AllToAll && !rules.allToAll->follows;
    if (chosen && !way && op != CollectiveOp::SendReceive)
    {
        return Choose(op, comm, bytes, group, layout, rules);
    }
    if (algorithm->library && !way && group.Size() > 1)
    {
        SCALEACROSS_INVARIANT(rules.nccl, "nothing to choose NCCL's algorithms by");
        return LowerByNccl(op, comm, bytes, group, layout, *rules.nccl);
    }
    auto levels = LevelsOf(bytes, group, layout, algorithm->buildings);
    if (algorithm->steps == LevelSteps::Halves)
    {
        levels = HalvesOf(levels);
    }
    Collective collective;
    collective.comm = comm;
    collective.algorithm = ToString(algorithm);
    switch (op)
    {
    case CollectiveOp::AllReduce:
        collective.name = "all_reduce";
        collective.phases = AllReduceOf(levels, layout, algorithm);
        break;
    case CollectiveOp::AllGather:
        collective.name = "all_gather";
        AppendGathersOf(ReduceScatterOf(levels, algorithm), collective.phases);
        break;
    case CollectiveOp::ReduceScatter:
        collective.name = "reduce_scatter";
        collective.phases = ReduceScatterOf(levels, algorithm);
        break;
    case CollectiveOp::AllToAll:
        collective.name = "all_to_all";
        collective.algorithm = ToString(WayOf(rules));
        AppendAllToAll(bytes, group, FirstSpan(WayOf(rules), layout), collective.phases);
        break;
    case CollectiveOp::SendReceive:
        collective.name = "sendrecv";
        if (group.Size() > 1)
        {
            collective.phases.push_back({Pattern::SendToNext, group, bytes});
        }
        return collective;
    case CollectiveOp::Dispatch:
    case CollectiveOp::Combine:
        SCALEACROSS_INVARIANT(false, "tokens are lowered by LowerRouted()");
    }
    if (!collective.phases.empty())
    {
        Cut(bytes, group.Size(), rules, collective);
    }
    return collective;
}

} // namespace

Collective
Lower(CollectiveOp op,
      CommClass comm,
      Bytes bytes,
      const RankGroup& group,
      const RankLayout& layout,
      const LoweringRules& rules)
{
    Collective collective = PhasesOf(op, comm, bytes, group, layout, rules);
    collective.call = {op, group, bytes};
    return collective;
}

namespace
{

// Fitted, see the page of collectives.
const Duration g_throughputStart = Duration::Microseconds(60);
const Duration g_lowLatencyStart = Duration::Microseconds(35);
constexpr double g_copyShare = 0.82;

// DeepEP's Config(24, 8, 512, 16, 128), with which its tests begin.
constexpr uint64_t g_chunkTokens = 12 * 16;
constexpr uint32_t g_chunksUnderWay = 128 / 16;

/// C(all - part, k) / C(all, k): that k of `all` are none of `part` among them.
double
NoneOf(double all, double part, uint32_t k)
{
    double none = 1;
    for (uint32_t i = 0; i < k; i++)
    {
        none *= std::max(all - part - i, 0.0) / (all - i);
    }
    return none;
}

/// Which experts of a part lie in which groups: of so many groups all, and of one or two at its
/// ends some.
struct PartInGroups
{
    uint32_t whole{0};
    uint32_t first{0};
    uint32_t last{0};

    bool operator<(const PartInGroups& other) const
    {
        return std::tie(whole, first, last) < std::tie(other.whole, other.first, other.last);
    }
};

/// Of the experts from `begin` to before `end`, by groups of so many.
PartInGroups
OverlapOf(uint32_t begin, uint32_t end, uint32_t ofGroup)
{
    PartInGroups part;
    uint32_t* some = &part.first;
    for (uint32_t group = begin / ofGroup; group * ofGroup < end; group++)
    {
        const uint32_t there =
            std::min(end, (group + 1) * ofGroup) - std::max(begin, group * ofGroup);
        if (there == ofGroup)
        {
            part.whole++;
            continue;
        }
        *some = there;
        some = &part.last;
    }
    return part;
}

/// The probability that none of a token's experts is in a part, with groups of so many experts.
double
NoneIn(const PartInGroups& part, const RoutedTokens& tokens, uint32_t ofGroup)
{
    const uint32_t k = tokens.topK;
    const uint32_t most = tokens.maxGroups;
    const uint32_t others =
        tokens.groups - part.whole - (part.first > 0 ? 1 : 0) - (part.last > 0 ? 1 : 0);
    const uint32_t beside[] = {part.first > 0 ? ofGroup - part.first : 0,
                               part.last > 0 ? ofGroup - part.last : 0};
    // After i experts of which none is in the part: v groups beside it visited, and so many experts
    // in the rest of the groups at its ends.
    const uint32_t width = k + 1;
    const auto place = [width](uint32_t v, uint32_t first, uint32_t last) {
        return (static_cast<size_t>(v) * width + first) * width + last;
    };
    std::vector<double> now(static_cast<size_t>(most + 1) * width * width, 0.0);
    now[0] = 1;
    for (uint32_t i = 0; i < k; i++)
    {
        std::vector<double> next(now.size(), 0.0);
        for (uint32_t v = 0; v <= std::min(i, most); v++)
        {
            for (uint32_t first = 0; first <= std::min(i, beside[0]); first++)
            {
                for (uint32_t last = 0; last <= std::min(i - first, beside[1]); last++)
                {
                    const double before = now[place(v, first, last)];
                    const uint32_t visited = v + (first > 0 ? 1 : 0) + (last > 0 ? 1 : 0);
                    const bool more = visited < most;
                    const double all = (more ? tokens.groups : visited) * ofGroup - i;
                    if (before == 0 || all <= 0)
                    {
                        continue;
                    }
                    const double share = before / all;
                    next[place(v, first, last)] += share * (v * ofGroup - (i - first - last));
                    if (more && v < others)
                    {
                        next[place(v + 1, first, last)] += share * (others - v) * ofGroup;
                    }
                    if (first < beside[0] && (first > 0 || more))
                    {
                        next[place(v, first + 1, last)] += share * (beside[0] - first);
                    }
                    if (last < beside[1] && (last > 0 || more))
                    {
                        next[place(v, first, last + 1)] += share * (beside[1] - last);
                    }
                }
            }
        }
        now = std::move(next);
    }
    return std::accumulate(now.begin(), now.end(), 0.0);
}

/// Of all bytes, those of so many copies in place of one for each expert.
Bytes
Once(const RoutedTokens& tokens, double copies)
{
    const double share = copies / tokens.topK;
    return Bytes(
        static_cast<uint64_t>(std::llround(share * static_cast<double>(tokens.bytes.Count()))));
}

/// Puts a kernel's chunks on a collective whose tokens go to each server once.
void
ForwardWhileMoreArrive(const RoutedTokens& tokens,
                       const ServerSplit& split,
                       const LoweringRules& rules,
                       Collective& collective)
{
    const uint64_t each = std::max<uint64_t>(1, (tokens.token * tokens.topK).Count());
    // Where all goes one way there is nothing that chunks could go beside.
    const bool forwards = collective.phases.size() > 1;
    const uint64_t chunks =
        forwards ? (tokens.bytes.Count() / each + g_chunkTokens - 1) / g_chunkTokens : 1;
    collective.chunks = static_cast<uint32_t>(std::clamp<uint64_t>(chunks, 1, g_mostChunks));
    collective.channels = std::min({rules.channels, g_chunksUnderWay, collective.chunks});
    collective.streams = collective.chunks > 1;
    collective.launch = g_throughputStart;
    if (split.Servers() > 1)
    {
        collective.launch += rules.tokenStart;
    }
    for (Phase& phase : collective.phases)
    {
        if (phase.group == split.inner)
        {
            phase.occupied = 1 / g_copyShare;
        }
    }
}

/// Puts what a kernel's messages cost on a collective that sends them straight away.
void
SendStraightAway(const RoutedTokens& tokens,
                 const ServerSplit& split,
                 const LoweringRules& rules,
                 Collective& collective)
{
    const uint64_t messages = tokens.bytes.Count() / std::max<uint64_t>(1, tokens.token.Count());
    const double away = 1 - 1.0 / split.Servers();
    collective.chunks = collective.channels = 1;
    collective.launch = g_lowLatencyStart;
    for (Phase& phase : collective.phases)
    {
        phase.between.fixed = rules.tokenStart + Duration::Seconds(rules.tokenMessage.S() * away *
                                                                   static_cast<double>(messages));
    }
}

} // namespace

double
PartsReached(const RoutedTokens& tokens, uint32_t parts)
{
    const uint32_t groups = tokens.groups;
    if (groups == 0 || tokens.maxGroups >= std::min(groups, tokens.topK))
    {
        const double experts = tokens.experts;
        return parts * (1 - NoneOf(experts, experts / parts, tokens.topK));
    }
    const uint32_t ofPart = tokens.experts / parts;
    const uint32_t ofGroup = tokens.experts / groups;
    std::map<PartInGroups, double> none;
    double reached = 0;
    for (uint32_t part = 0; part < parts; part++)
    {
        const PartInGroups overlap = OverlapOf(part * ofPart, (part + 1) * ofPart, ofGroup);
        const auto [found, isNew] = none.try_emplace(overlap);
        if (isNew)
        {
            found->second = NoneIn(overlap, tokens, ofGroup);
        }
        reached += 1 - found->second;
    }
    return reached;
}

Collective
LowerRouted(const RoutedTokens& tokens,
            const RankGroup& group,
            const RankLayout& layout,
            const LoweringRules& rules)
{
    Collective collective =
        Lower(CollectiveOp::AllToAll, CommClass::Expert, tokens.bytes, group, layout, rules);
    const AllToAllAlgorithm way = WayOf(rules);
    const ServerSplit split(group, layout);
    if (way->kernel == TokenKernel::LowLatency && group.Size() > 1)
    {
        SendStraightAway(tokens, split, rules, collective);
        return collective;
    }
    if (!way->oncePerServer || group.Size() < 2)
    {
        return collective;
    }
    collective.phases.clear();
    if (split.Servers() > 1)
    {
        const Bytes bytes = Once(tokens, PartsReached(tokens, split.Servers()));
        collective.phases.push_back({Pattern::DirectAllToAll, split.outer, bytes});
    }
    if (split.inner.Size() > 1)
    {
        const Bytes bytes = Once(tokens, PartsReached(tokens, group.Size()));
        collective.phases.push_back({Pattern::DirectAllToAll, split.inner, bytes});
    }
    Bytes largest;
    for (const Phase& phase : collective.phases)
    {
        largest = std::max(largest, phase.bytes);
    }
    collective.call.bytes = largest;
    collective.chunks = collective.channels = 1;
    if (way->kernel == TokenKernel::Throughput)
    {
        ForwardWhileMoreArrive(tokens, split, rules, collective);
    }
    else
    {
        Cut(largest, group.Size(), rules, collective);
    }
    if (tokens.back)
    {
        std::reverse(collective.phases.begin(), collective.phases.end());
    }
    return collective;
}

Bytes
CountedBytes(const RoutedTokens& tokens,
             const RankGroup& group,
             const RankLayout& layout,
             const LoweringRules& rules)
{
    if (!WayOf(rules)->oncePerServer)
    {
        return tokens.bytes;
    }
    const uint32_t servers = ServerSplit(group, layout).Servers();
    return Once(tokens, PartsReached(tokens, servers > 1 ? servers : group.Size()));
}

std::vector<RankGroup>
PhaseFamilies(const RankGroup& group, const RankLayout& layout, CollectiveAlgorithm algorithm)
{
    // Cut at the building or not: all-to-alls may take two hops whatever the algorithm of others.
    std::vector<Level> levels = LevelsOf(Bytes(), group, layout, true);
    if (algorithm->steps == LevelSteps::Halves || algorithm->chooses)
    {
        const std::vector<Level> halves = HalvesOf(levels);
        levels.insert(levels.end(), halves.begin(), halves.end());
    }
    std::vector<RankGroup> families{group};
    for (const Level& level : levels)
    {
        families.push_back(level.group);
    }
    return families;
}

} // namespace scaleacross
