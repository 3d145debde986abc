// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/evaluator.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace scaleacross::evaluation
{

// The steady part of a schedule, of which periods are left out.

void
Evaluator::FindSteadyGroups()
{
    m_repetition = RepetitionOf(m_graph);
    if (!m_repetition)
    {
        return;
    }
    for (SteadyGroup& group : SteadyGroupsOf(m_graph, m_costs, m_use, *m_repetition))
    {
        const auto number = static_cast<uint32_t>(m_steady.size());
        m_classes[group.classes.front()].steadyGroup = number;
        m_steady.emplace_back();
        m_steady.back().group = std::move(group);
        BeginSteadyGroup(number);
    }
}

/// The class that leads a group begins an iteration.
void
Evaluator::BeginSteadyGroup(uint32_t number)
{
    SteadyState& group = m_steady[number];
    const uint32_t leader = group.group.classes.front();
    m_classes[leader].mark = m_repetition->classes[leader].mark + 1;
    group.hashes.clear();
    group.whole.reset();
    group.first = Duration();
    group.period = Duration();
}

/// The class that leads a group has passed a mark.
void
Evaluator::PassMark(uint32_t number)
{
    SteadyState& group = m_steady[number];
    const uint32_t leader = group.group.classes.front();
    const ProgramRepetition& own = m_repetition->classes[leader];
    group.mark = (m_classes[leader].mark - own.mark) / own.period - 1;
    if (group.period == Duration())
    {
        FindPeriod(group);
    }
    if (group.period > Duration())
    {
        SkipPeriods();
    }
}

/// Whether a class executes the part of an iteration's program that repeats itself.
bool
Evaluator::IsSteady(uint32_t c, uint32_t iteration) const
{
    const ClassState& state = m_classes[c];
    const ProgramRepetition& own = m_repetition->classes[c];
    return state.iteration == iteration && state.pc > own.begin && state.pc < own.end;
}

/// Compares the state of a group with those that it had at marks before.
void
Evaluator::FindPeriod(SteadyState& group)
{
    StateWords words;
    if (!DescribeGroup(group, words))
    {
        group.hashes.clear();
        group.whole.reset();
        return;
    }
    if (group.whole && group.whole->at < m_now && group.whole->words == words)
    {
        SetPeriod(group);
        return;
    }
    const uint64_t hash = words.Hash();
    const bool awaited = group.whole && group.mark - group.whole->mark < group.expected;
    const auto same = std::find(group.hashes.rbegin(), group.hashes.rend(), hash);
    if (!awaited && same != group.hashes.rend())
    {
        group.whole = StateNow(group, std::move(words));
        group.expected = static_cast<uint32_t>(same - group.hashes.rbegin()) + 1;
    }
    group.hashes.push_back(hash);
    if (group.hashes.size() > SteadyState::kRemembered)
    {
        group.hashes.pop_front();
    }
}

SteadyState::Seen
Evaluator::StateNow(const SteadyState& group, StateWords words) const
{
    SteadyState::Seen now;
    now.mark = group.mark;
    now.at = m_now;
    now.words = std::move(words);
    for (const uint32_t c : group.group.classes)
    {
        now.totals.push_back(TotalsOf(c));
    }
    for (const uint32_t cut : group.group.cuts)
    {
        now.used.push_back(m_network.UsedUnits(cut, m_now));
    }
    return now;
}

/// A group has come to the state that is kept as a whole again.
void
Evaluator::SetPeriod(SteadyState& group)
{
    const SteadyState::Seen& before = *group.whole;
    const SteadyState::Seen now = StateNow(group, {});
    group.from = before.at;
    group.first = group.first == Duration() ? before.at : group.first;
    group.period = now.at - before.at;
    group.marks = now.mark - before.mark;
    group.gains.clear();
    for (size_t i = 0; i < group.group.classes.size(); i++)
    {
        const ClassState& state = m_classes[group.group.classes[i]];
        group.gains.push_back(
            {before.totals[i], now.totals[i], ArrivalsBetween(state, before.at, now.at)});
    }
    group.used.clear();
    for (size_t i = 0; i < group.group.cuts.size(); i++)
    {
        group.used.push_back(now.used[i] - before.used[i]);
    }
    group.hashes.clear();
    group.whole.reset();
}

/// Whether nothing happens on a group unless another acts on it.
bool
Evaluator::IsIdle(const SteadyState& group) const
{
    return std::all_of(group.group.classes.begin(), group.group.classes.end(), [this](uint32_t c) {
        return m_classes[c].scheduled == Duration::Max();
    });
}

/// Whole periods of its steady part that a group has before it; 0 where it is in none.
int64_t
Evaluator::PeriodsLeft(const SteadyState& group) const
{
    if (group.period == Duration())
    {
        return 0;
    }
    const uint32_t iteration = m_classes[group.group.classes.front()].iteration;
    int64_t left = INT64_MAX;
    for (const uint32_t c : group.group.classes)
    {
        if (!IsSteady(c, iteration) || !AwaitedMessages(c))
        {
            return 0;
        }
        const ProgramRepetition& own = m_repetition->classes[c];
        left = std::min(left,
                        int64_t{own.end + own.period - m_classes[c].pc} /
                            (int64_t{own.period} * group.marks));
    }
    return left;
}

/// Leaves out what periods all groups have in common.
void
Evaluator::SkipPeriods()
{
    Duration until = Duration::Max();
    Duration from; // when all had come to their steady parts
    for (const SteadyState& group : m_steady)
    {
        from = IsIdle(group) ? from : std::max(from, group.first);
    }
    for (SteadyState& group : m_steady)
    {
        if (IsIdle(group))
        {
            continue;
        }
        if (group.from < from)
        {
            group.period = Duration();
        }
        const int64_t left = PeriodsLeft(group);
        if (left == 0)
        {
            return;
        }
        until = std::min(until, m_now + group.period * left);
    }
    for (const SteadyState& group : m_steady)
    {
        const int64_t periods = IsIdle(group) ? 0 : (until - m_now).Ps() / group.period.Ps();
        if (periods > 0)
        {
            Skip(group, periods);
        }
    }
}

void
Evaluator::Skip(const SteadyState& group, int64_t periods)
{
    const Duration by = group.period * periods;
    const auto times = static_cast<uint32_t>(periods) * group.marks;
    const uint32_t microbatches = m_repetition->microbatches * times;
    DelayMessages(group, by, microbatches);
    DelayInstances(group, by);
    for (size_t i = 0; i < group.group.classes.size(); i++)
    {
        const uint32_t c = group.group.classes[i];
        const PeriodGain& gain = group.gains[i];
        ClassState& state = m_classes[c];
        const uint32_t operations = m_repetition->classes[c].period * times;
        m_work.skipped += microbatches;
        state.pc += operations;
        state.running += state.running != nullptr ? operations : 0;
        state.skipped.push_back({m_now, by, gain.arrivals.any, gain.arrivals.busy * periods});
        state.totals.AddTimes(periods, gain.until, gain.from);
        DelayClass(c, by, microbatches);
        for (size_t k = 0; k < group.group.cuts.size(); k++)
        {
            m_network.DelayTrace(c,
                                 group.group.cuts[k],
                                 by,
                                 group.used[k] * static_cast<uint64_t>(periods));
        }
    }
    for (size_t k = 0; k < group.group.cuts.size(); k++)
    {
        m_network.Use(group.group.cuts[k], group.used[k] * static_cast<uint64_t>(periods));
    }
    const uint32_t leader = group.group.classes.front();
    m_classes[leader].mark += m_repetition->classes[leader].period * times;
    for (const uint32_t c : group.group.classes)
    {
        Schedule(c);
    }
}

/// All that is to happen on a class happens so much later, with messages so much further on.
void
Evaluator::DelayClass(uint32_t c, Duration by, uint32_t microbatches)
{
    ClassState& state = m_classes[c];
    state.waitFor += state.blocked == Blocked::Message ? microbatches : 0;
    state.blockedSince += by;
    state.resume += by;
    state.runBegin += by;
    state.stretch = kNone; // it has taken longer than it takes
    state.clock.Delay(by);
    state.windows.Delay(by);
    for (Channel& channel : state.channels)
    {
        for (std::deque<QueuedMessage>* queue : {&channel.queue, &channel.held})
        {
            for (QueuedMessage& message : *queue)
            {
                message.message += microbatches;
                message.posted += by;
            }
        }
        channel.window.Delay(by);
    }
    for (const FluidNetwork::Id id : state.transfers)
    {
        m_network.Delay(id, by);
    }
    for (PhaseEnd& end : state.phaseEnds)
    {
        end.at += by;
    }
    for (std::vector<Letter>& inlet : state.inlets)
    {
        for (Letter& letter : inlet)
        {
            if (letter.arrival >= m_now)
            {
                letter.posted += by;
                letter.arrival += by;
            }
        }
    }
    for (BusyClock& busy : state.busy)
    {
        busy.since += by;
    }
}

/// The windows of a group's collectives under way.
void
Evaluator::DelayInstances(const SteadyState& group, Duration by)
{
    for (const uint32_t id : InstancesOf(group))
    {
        for (RankWindows& windows : m_instances[id].windows)
        {
            windows.Delay(by);
        }
    }
}

/// Letters and credits of a group's messages, which are those of later microbatches then.
void
Evaluator::DelayMessages(const SteadyState& group, Duration by, uint32_t microbatches)
{
    struct Pending
    {
        size_t slot{0};
        Letter letter{};
        Duration credit{Duration::Max()};
    };

    std::vector<Pending> all;
    for (const uint32_t c : group.group.classes)
    {
        const auto awaited = AwaitedMessages(c);
        for (const uint32_t message : awaited.value())
        {
            Pending pending;
            pending.slot = Slot(c, message);
            pending.letter.arrival = Duration::Max();
            if (const Letter* letter = m_mail.Front(pending.slot))
            {
                pending.letter = *letter;
                m_mail.Take(pending.slot);
            }
            if (m_graph.rendezvous)
            {
                std::swap(pending.credit, m_credits[pending.slot]);
            }
            all.push_back(pending);
        }
    }
    // All are gone before the first comes back: later slots may be those of others.
    for (const Pending& pending : all)
    {
        const size_t later = pending.slot + microbatches;
        if (pending.letter.arrival != Duration::Max())
        {
            m_mail.Put(later, {pending.letter.posted + by, pending.letter.arrival + by});
        }
        if (pending.credit != Duration::Max())
        {
            m_credits[later] = pending.credit + by;
        }
    }
}

/// Messages of which a class has the letter, or its peer the credit, in the order in which they are
/// received; none if not all of them are received in this iteration, each once.
std::optional<std::vector<uint32_t>>
Evaluator::AwaitedMessages(uint32_t c) const
{
    const ClassState& state = m_classes[c];
    const std::vector<Op>& ops = m_graph.classes[c].program.ops;
    std::vector<uint32_t> awaited;
    uint32_t left = state.letters + state.credits;
    for (size_t i = state.pc; i < ops.size() && left > 0; i++)
    {
        if (ops[i].kind != OpKind::Receive)
        {
            continue;
        }
        const size_t slot = Slot(c, ops[i].index);
        const uint32_t there = (m_mail.Front(slot) != nullptr ? 1U : 0U) +
                               (m_graph.rendezvous && m_credits[slot] != Duration::Max() ? 1U : 0U);
        if (there > 0)
        {
            awaited.push_back(ops[i].index);
            left -= there;
        }
    }
    return left == 0 ? std::optional(std::move(awaited)) : std::nullopt;
}

} // namespace scaleacross::evaluation
