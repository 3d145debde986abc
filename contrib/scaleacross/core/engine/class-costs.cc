// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/class-costs.h"

#include "core/engine/alone-time.h"
#include "core/engine/collective-time.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace scaleacross
{

namespace
{

/// Whether a class loads the cut of a phase. Where a group has members in several classes, the cost
/// of each is that of all of them together: the first class loads the cut, and all wait for it.
bool
LoadsCut(const TaskGraph& graph, const Phase& phase, uint32_t classId)
{
    return graph.ClassesOf(phase.group, graph.classes[classId].representative).front() == classId;
}

/// Chunks take as long as the largest of them, but all together they have not so many times its
/// bytes: the mean of those that have a byte more, a share of them, and of the others.
void
MeanBytes(TransferCost& larger, const TransferCost& smaller, double share)
{
    const auto mean = [share](double& more, double less) {
        more = share * more + (1 - share) * less;
    };
    for (uint32_t p = 0; p < kPorts; p++)
    {
        mean(larger.portBytes[p], smaller.portBytes[p]);
    }
    for (size_t i = 0; i < std::min(larger.cuts.size(), smaller.cuts.size()); i++)
    {
        mean(larger.cuts[i].bytes, smaller.cuts[i].bytes);
        mean(larger.cuts[i].detours, smaller.cuts[i].detours);
    }
}

/// Whether members go from round to round one by one, as the model knows of a library's
/// disseminations. Those of `halving-doubling` are taken to meet after every round.
bool
AreRoundsOfALibrary(const Collective& collective)
{
    const auto isRound = [&collective](const Phase& phase) {
        return (phase.pattern == Pattern::JumpAllGather ||
                phase.pattern == Pattern::JumpReduceScatter) &&
               phase.group == collective.phases.front().group;
    };
    return !collective.protocol.empty() && collective.phases.size() > 1 &&
           std::all_of(collective.phases.begin(), collective.phases.end(), isRound);
}

/// Whether a phase's latency is that of its way: cuts that hold it back hide some of it.
bool
HasItsLatency(const TransferCost& cost)
{
    return cost.CutSeconds() <= cost.PortSeconds();
}

/// Windows of all chunks and phases, by the longest of their round trips.
WindowUse
TogetherOf(const std::vector<TransferCost>& costs, WindowUse TransferCost::*of, uint32_t chunks)
{
    WindowUse all;
    double seconds = 0;
    for (const TransferCost& cost : costs)
    {
        seconds += (cost.*of).Seconds(chunks);
        all.round = std::max(all.round, (cost.*of).round);
    }
    all.windows = seconds > 0 ? seconds / all.round : 0.0;
    return all;
}

/// Puts all chunks and phases of a collective that streams into the cost of its first phase.
void
StreamTogether(const Collective& whole, std::vector<TransferCost>& costs)
{
    const double seconds =
        CollectiveSeconds(whole, [&costs](uint32_t p) -> const TransferCost& { return costs[p]; }) -
        whole.launch.S();
    TransferCost all;
    std::map<uint32_t, CutUse> cuts;
    for (const TransferCost& cost : costs)
    {
        for (uint32_t port = 0; port < kPorts; port++)
        {
            all.ports[port] += cost.ports[port] * whole.chunks;
            all.portBytes[port] += cost.portBytes[port];
        }
        for (const CutUse& use : cost.cuts)
        {
            CutUse nothing = use;
            nothing.seconds = nothing.demand = nothing.wire = nothing.bytes = nothing.detours = 0;
            CutUse& sum = cuts.emplace(use.cut, nothing).first->second;
            sum.flows = std::max(sum.flows, use.flows);
            sum.seconds += use.seconds * whole.chunks;
            sum.demand += use.demand * whole.chunks;
            sum.wire += use.wire * whole.chunks;
            sum.bytes += use.bytes;
            sum.detours += use.detours;
        }
    }
    for (const auto& [cut, use] : cuts)
    {
        all.cuts.push_back(use);
    }
    all.window = TogetherOf(costs, &TransferCost::window, whole.chunks);
    all.admission = TogetherOf(costs, &TransferCost::admission, whole.chunks);
    all.latency = Duration::Seconds(std::max(0.0, seconds - all.Seconds()));
    all.window.last = all.admission.last = all.latency;
    costs.assign(costs.size(), TransferCost());
    costs.front() = std::move(all);
}

/// Makes one set of the sets of two classes.
void
Join(std::map<uint32_t, std::vector<uint32_t>>& sets, uint32_t a, uint32_t b)
{
    if (sets.at(a) == sets.at(b))
    {
        return;
    }
    std::vector<uint32_t> joined;
    std::set_union(sets.at(a).begin(),
                   sets.at(a).end(),
                   sets.at(b).begin(),
                   sets.at(b).end(),
                   std::back_inserter(joined));
    for (const uint32_t member : joined)
    {
        sets[member] = joined;
    }
}

} // namespace

TransferTimes
TimesOf(const NetworkModel& network)
{
    TransferTimes times;
    times.cuts = network.Cuts().Count();
    times.classes = network.Classes();
    times.meeting = network.Meeting();
    times.phase =
        [&network](const Phase& phase, Rank representative, const std::vector<RankCount>& members) {
            return network.PhaseCost(phase, representative, members);
        };
    times.earlierRounds = [&network](const std::vector<Phase>& rounds, Rank representative) {
        return network.EarlierRounds(rounds, representative);
    };
    times.sparedByRing = [&network](const Phase& before, const Phase& phase, Rank representative) {
        return network.SparedByRing(before, phase, representative);
    };
    times.message = [&network](Bytes bytes, Rank from, Rank to, uint32_t senders) {
        return network.MessageCost(bytes, from, to, senders);
    };
    times.shared = [&network](const CutUse& use, double flows) {
        return network.Cuts().SharedSeconds(use, flows);
    };
    return times;
}

ClassCosts::ClassCosts(const TaskGraph& graph, const TransferTimes& times)
    : m_graph(graph),
      m_times(times),
      m_stageClasses(graph.pipeline.Size()),
      m_phases(graph.classes.size() * graph.collectives.size()),
      m_delays(graph.classes.size() * graph.collectives.size()),
      m_alone(graph.classes.size() * graph.collectives.size()),
      m_participants(graph.classes.size() * graph.collectives.size()),
      m_bodies(graph.classes.size() * graph.bodies.size()),
      m_messages(graph.classes.size())
{
    for (uint32_t c = 0; c < graph.classes.size(); c++)
    {
        if (!graph.classes[c].program.ops.empty())
        {
            m_stageClasses[graph.classes[c].stage].push_back(c);
        }
    }
}

/// The ranks of the classes that a class's groups of a phase reach into; none: all of its stage.
std::vector<RankCount>
ClassCosts::MembersOf(uint32_t classId, const Phase& phase) const
{
    std::vector<RankCount> members;
    if (!IsStage(classId))
    {
        for (const uint32_t c :
             m_graph.ClassesOf(phase.group, m_graph.classes[classId].representative))
        {
            members.push_back({m_graph.classes[c].representative, m_graph.classes[c].ranks});
        }
    }
    return members;
}

double
ClassCosts::DelayOfLosses(const LossyChains& chains)
{
    std::vector<double> key = {chains.chains,
                               chains.steps,
                               chains.recovery->selective ? 1.0 : 0.0,
                               chains.timeout};
    for (const LossyRounds& lossy : chains.rounds)
    {
        key.push_back(lossy.rounds);
        key.push_back(static_cast<double>(lossy.messages.size()));
        for (const LossyMessages& of : lossy.messages)
        {
            key.insert(key.end(),
                       {of.count,
                        of.loss,
                        of.roundTrip,
                        of.pairs,
                        of.packets,
                        of.inFlight,
                        of.silent,
                        of.untold,
                        of.circle});
        }
    }
    const auto [known, isNew] = m_lossDelays.emplace(std::move(key), 0);
    if (isNew)
    {
        known->second = LossDelay(chains);
    }
    return known->second;
}

/// What losses cost a collective. A group's chains go on from one of its phases to the next, and
/// from one chunk to the next: the unluckiest of all is waited for once. Without chunks that is
/// added to the latencies of the phases, with chunks it is returned.
Duration
ClassCosts::AddLossDelays(const Collective& whole, std::vector<TransferCost>& costs)
{
    const std::vector<Phase>& phases = whole.phases;
    Duration ofChunks;
    for (size_t i = 0; i < phases.size(); i++)
    {
        if (costs[i].losses.rounds.empty())
        {
            continue;
        }
        LossyChains chains;
        chains.chains = costs[i].losses.chains;
        chains.steps = 0;
        chains.recovery = costs[i].losses.recovery;
        chains.timeout = costs[i].losses.timeout;
        std::vector<std::pair<size_t, double>> steps; // by phase
        for (size_t j = i; j < phases.size(); j++)
        {
            if (phases[j].group == phases[i].group)
            {
                steps.emplace_back(j, costs[j].losses.steps);
                chains.Append(costs[j].losses);
                costs[j].losses.rounds.clear();
            }
        }
        if (whole.chunks > 1)
        {
            chains.Repeat(whole.chunks, whole.Together(static_cast<uint32_t>(i)));
            ofChunks += Duration::Seconds(DelayOfLosses(chains));
            continue;
        }
        const double delay = DelayOfLosses(chains);
        for (const auto& [phase, count] : steps)
        {
            costs[phase].latency += Duration::Seconds(delay * count / chains.steps);
        }
    }
    return ofChunks;
}

const TransferCost&
ClassCosts::OfPhase(uint32_t classId, uint32_t collective, uint32_t phase)
{
    std::vector<TransferCost>& costs =
        m_phases[size_t{classId} * m_graph.collectives.size() + collective];
    if (costs.empty())
    {
        const RankClass& rankClass = m_graph.classes[classId];
        const Collective& whole = m_graph.collectives[collective];
        std::vector<bool> hasItsLatency; // by phase
        for (uint32_t i = 0; i < whole.phases.size(); i++)
        {
            const Phase& p = whole.phases[i];
            const std::vector<RankCount> members = MembersOf(classId, p);
            const Phase largest = LargestChunkOf(whole, i);
            costs.push_back(m_times.phase(largest, rankClass.representative, members));
            const Phase least = ChunkOf(p, 0, whole.chunks);
            if (least.bytes < largest.bytes)
            {
                const auto larger =
                    static_cast<double>((p.bytes - least.bytes * whole.chunks).Count());
                MeanBytes(costs.back(),
                          m_times.phase(least, rankClass.representative, members),
                          larger / whole.chunks);
            }
            hasItsLatency.push_back(HasItsLatency(costs.back()));
            if (!LoadsCut(m_graph, p, classId))
            {
                costs.back().cuts.clear();
            }
        }
        if (m_times.earlierRounds && AreRoundsOfALibrary(whole))
        {
            const auto earlier = m_times.earlierRounds(whole.phases, rankClass.representative);
            for (size_t p = 0; p < earlier.size(); p++)
            {
                costs[p].latency -= earlier[p];
            }
        }
        // A library goes round its ring several times, each rank in the order of its own loop, so
        // that parts wait for each other: packets show the whole way there.
        const bool goesOn = m_times.sparedByRing && whole.chunks == 1 && whole.protocol.empty();
        for (uint32_t p = 1; goesOn && p < costs.size(); p++)
        {
            if (hasItsLatency[p - 1] && hasItsLatency[p])
            {
                costs[p].latency -= m_times.sparedByRing(whole.phases[p - 1],
                                                         whole.phases[p],
                                                         rankClass.representative);
            }
        }
        m_delays[size_t{classId} * m_graph.collectives.size() + collective] =
            AddLossDelays(whole, costs);
        if (whole.streams)
        {
            StreamTogether(whole, costs);
        }
        if (m_shared && m_times.collectiveFactor)
        {
            Correct(classId, collective);
        }
    }
    return costs[phase];
}

/**
 * By what is known of the collective from elsewhere, as a whole. Where its chunks are in several
 * phases at once, or side by side in one, phases that take so many times as long hide each other,
 * or get into each other's way: then they take less than that, and what is missing is a delay at
 * the end. Of a shorter one phases that can be are shortened by more, up to where ports and wires
 * hold all of it back. Domain: after ShareCuts(), for what phases take of cuts decides how they
 * get into each other's way.
 */
void
ClassCosts::Correct(uint32_t classId, uint32_t collective)
{
    const Collective& whole = m_graph.collectives[collective];
    const size_t index = size_t{classId} * m_graph.collectives.size() + collective;
    std::vector<TransferCost>& costs = m_phases[index];
    Duration& delay = m_delays[index];
    m_alone[index].reset();
    const double factor = m_times.collectiveFactor(classId, collective);
    const std::vector<TransferCost> known = costs;
    const Duration knownDelay = delay;
    const auto timeBy = [&](double by) {
        costs = known;
        for (TransferCost& cost : costs)
        {
            cost.Stretch(by);
        }
        delay = Duration::Seconds(knownDelay.S() * by);
        return scaleacross::AloneTime(
            whole,
            [&costs](uint32_t p) -> const TransferCost& { return costs[p]; },
            delay,
            Cuts());
    };
    const Duration before = timeBy(1);
    const Duration wanted = Duration::Seconds(before.S() * factor);
    Duration now = timeBy(factor);
    if (wanted < now)
    {
        // By less than the factor, though for all phases together that is the factor.
        constexpr uint32_t kSteps = 30; // to 1e-9 of it
        double least = factor > 1 ? 1 : 0;
        double most = factor;
        for (uint32_t step = 0; step < kSteps; step++)
        {
            const double middle = (least + most) / 2;
            (wanted < timeBy(middle) ? most : least) = middle;
        }
        now = timeBy(least > 0 ? least : most);
    }
    const Duration missing = std::max(Duration(), wanted - now);
    delay += missing;
    now += missing;
    if (m_times.ofCollective)
    {
        m_times.ofCollective(classId,
                             collective,
                             {before.S(), before > Duration() ? now.S() / before.S() : 1});
    }
}

void
ClassCosts::CorrectMessage(uint32_t classId, MessageCost& message) const
{
    const double before = message.cost.Alone().S();
    message.cost.Stretch(m_times.messageFactor(classId, message.peer, message.bytes));
    if (m_times.ofMessage)
    {
        m_times.ofMessage(classId,
                          message.peer,
                          message.bytes,
                          {before, before > 0 ? message.cost.Alone().S() / before : 1});
    }
}

Duration
ClassCosts::DelayOf(uint32_t classId, uint32_t collective)
{
    OfPhase(classId, collective, 0);
    return m_graph.collectives[collective].launch +
           m_delays[size_t{classId} * m_graph.collectives.size() + collective];
}

const TransferCost&
ClassCosts::OfMessage(uint32_t classId, int32_t peer, Bytes bytes)
{
    std::deque<MessageCost>& costs = m_messages[classId];
    for (const MessageCost& entry : costs)
    {
        if (entry.peer == peer && entry.bytes == bytes)
        {
            return entry.cost;
        }
    }
    const Rank from = m_graph.classes[classId].representative;
    const uint32_t senders = IsStage(classId) ? 0 : m_graph.classes[classId].ranks;
    costs.push_back({peer, bytes, m_times.message(bytes, from, from + peer, senders)});
    TransferCost& cost = costs.back().cost;
    cost.latency += Duration::Seconds(DelayOfLosses(cost.losses));
    if (m_times.messageFactor)
    {
        CorrectMessage(classId, costs.back());
    }
    return costs.back().cost;
}

void
ClassCosts::ShareCuts(TransferCost& cost, const std::vector<double>& flows) const
{
    for (CutUse& use : cost.cuts)
    {
        // Where more flows do not spread better (d-mod-k) nobody takes more than if it were alone.
        use.demand = std::min(use.seconds, m_times.shared(use, flows[use.cut]));
    }
}

void
ClassCosts::ShareCuts(const std::vector<double>& flows)
{
    for (std::vector<TransferCost>& costs : m_phases)
    {
        for (TransferCost& cost : costs)
        {
            ShareCuts(cost, flows);
        }
    }
    for (std::deque<MessageCost>& costs : m_messages)
    {
        for (MessageCost& entry : costs)
        {
            ShareCuts(entry.cost, flows);
        }
    }
    m_shared = true;
    for (size_t i = 0; m_times.collectiveFactor && i < m_phases.size(); i++)
    {
        if (!m_phases[i].empty())
        {
            Correct(static_cast<uint32_t>(i / m_graph.collectives.size()),
                    static_cast<uint32_t>(i % m_graph.collectives.size()));
        }
    }
    for (BodySum& body : m_bodies)
    {
        body.known = false;
    }
}

const std::vector<uint32_t>&
ClassCosts::Participants(uint32_t classId, uint32_t collective)
{
    std::vector<uint32_t>& classes =
        m_participants[size_t{classId} * m_graph.collectives.size() + collective];
    if (!classes.empty())
    {
        return classes;
    }
    // Groups are known by the lowest rank of a class. Classes whose groups have members in each
    // other take part together, directly or through a third.
    std::map<uint32_t, std::vector<uint32_t>> together;
    const std::vector<uint32_t>& siblings = m_stageClasses[m_graph.classes[classId].stage];
    for (const uint32_t one : siblings)
    {
        together[one] = {one};
    }
    for (const uint32_t one : siblings)
    {
        for (const Phase& phase : m_graph.collectives[collective].phases)
        {
            for (const uint32_t other :
                 m_graph.ClassesOf(phase.group, m_graph.classes[one].representative))
            {
                if (together.count(other) > 0)
                {
                    Join(together, one, other);
                }
            }
        }
    }
    for (const uint32_t one : siblings)
    {
        m_participants[size_t{one} * m_graph.collectives.size() + collective] = together.at(one);
    }
    return classes;
}

Duration
ClassCosts::AloneTime(uint32_t classId, uint32_t collective)
{
    std::optional<Duration>& time =
        m_alone[size_t{classId} * m_graph.collectives.size() + collective];
    if (!time)
    {
        time = scaleacross::AloneTime(
            m_graph.collectives[collective],
            [&](uint32_t p) -> const TransferCost& { return OfPhase(classId, collective, p); },
            DelayOf(classId, collective),
            Cuts());
    }
    return *time;
}

Duration
ClassCosts::CreditTime(uint32_t classId, int32_t peer)
{
    if (m_times.credit)
    {
        const Rank rank = m_graph.classes[classId].representative;
        return m_times.credit(rank, rank + static_cast<Rank>(peer));
    }
    return OfMessage(classId, peer, kCreditBytes).Alone();
}

const BodySum&
ClassCosts::OfBody(uint32_t classId, uint32_t body)
{
    BodySum& sum = m_bodies[size_t{classId} * m_graph.bodies.size() + body];
    if (!sum.known)
    {
        sum = SumOf(classId, m_graph.bodies[body].ops);
    }
    return sum;
}

BodySum
ClassCosts::SumOf(uint32_t classId, const std::vector<Op>& ops)
{
    BodySum sum;
    sum.known = true;
    sum.pure = true;
    sum.times = WalkBody(ops, m_graph.classes[classId].collectiveShare, [&](const Op& op) {
        const Collective& collective = m_graph.collectives[op.index];
        LoneCollective lone;
        lone.comm = collective.comm;
        lone.processors = collective.processors;
        if (!IsOfLayer(op.stream))
        {
            sum.pure = false;
            return lone;
        }
        sum.pure = sum.pure && Participants(classId, op.index).size() == 1;
        lone.time = AloneTime(classId, op.index);
        for (uint32_t p = 0; p < collective.phases.size(); p++)
        {
            const TransferCost& cost = OfPhase(classId, op.index, p);
            for (uint32_t port = 0; port < kPorts; port++)
            {
                lone.ports |= cost.ports[port] > 0 ? 1U << port : 0U;
            }
        }
        return lone;
    });
    sum.pure = sum.pure && sum.times.closed && !sum.times.contends;
    return sum;
}

} // namespace scaleacross
