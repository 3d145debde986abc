// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/evaluator.h"

#include "core/base/errors.h"

#include <algorithm>
#include <cstddef>

namespace scaleacross::evaluation
{

// Time, and the programs of the classes.

Evaluator::Evaluator(const TaskGraph& graph,
                     const TransferTimes& times,
                     const RunOptions& options,
                     Pace pace)
    : m_graph(graph),
      m_costs(graph, times),
      m_coupling(graph, m_costs),
      m_options(options),
      m_pace(pace),
      m_network(static_cast<uint32_t>(graph.classes.size()), times.cuts),
      m_isTouched(graph.classes.size(), false),
      m_classes(graph.classes.size()),
      m_unfinished(static_cast<uint32_t>(graph.classes.size())),
      m_mail(0),
      m_sibling(graph.classes.size())
{
    uint32_t siblings = 1;
    std::vector<uint32_t> ofStage(graph.pipeline.Size(), 0);
    for (uint32_t c = 0; c < graph.classes.size(); c++)
    {
        m_sibling[c] = ofStage[graph.classes[c].stage]++;
        siblings = std::max(siblings, m_sibling[c] + 1);
        ClassState& state = m_classes[c];
        state.posted.assign(graph.handles, 0);
        state.done.assign(graph.handles, 0);
        state.handleComm.assign(graph.handles, CommClass::Data);
        state.clock = ComputeClock(graph.classes[c].collectiveShare);
        state.blocked = Blocked::Ready;
        if (graph.classes[c].program.ops.empty())
        {
            state.finished = true;
            m_unfinished--;
            continue;
        }
        Schedule(c);
    }
    m_mail = Mailbox(size_t{siblings} * graph.messages);
}

size_t
Evaluator::Slot(uint32_t c, uint32_t message) const
{
    return size_t{m_sibling[c]} * m_graph.messages + message;
}

void
Evaluator::Run(RunReport& report)
{
    m_start = std::chrono::steady_clock::now();
    // To the end of the last one: a class that has finished may still have to send what arrives in
    // the window of one that has run ahead of it.
    while (m_unfinished > 0 || (!m_agenda.Empty() && m_agenda.Earliest().at < m_end))
    {
        if (m_agenda.Empty())
        {
            FailStuck();
        }
        m_now = m_agenda.Earliest().at;
        m_current = m_agenda.First();
        m_turn = true;
        HandleNext(m_current);
        while (IsFree(m_current))
        {
            const Duration next = Next(m_current);
            if (next == Duration::Max())
            {
                break;
            }
            m_turn = m_turn && next == m_now;
            m_now = next;
            HandleNext(m_current);
        }
        Schedule(m_current);
        TouchChanged();
        for (const uint32_t c : m_touched)
        {
            m_isTouched[c] = false;
            Schedule(c);
        }
        m_touched.clear();
        CheckTimeLimit();
    }
    Fill(report);
}

void
Evaluator::CheckTimeLimit()
{
    if (++m_handled % 4096 != 0)
    {
        return;
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_start;
    if (spent.count() > m_options.timeLimit.S())
    {
        throw RunError("time limit: the analytical engine gave up after " +
                       ToString(m_options.timeLimit) + " of wall clock time");
    }
}

/// When the next thing happens on a class, as far as is known; Max: nothing.
Duration
Evaluator::Next(uint32_t c) const
{
    const ClassState& state = m_classes[c];
    Duration next = Duration::Max();
    for (const FluidNetwork::Id id : state.transfers)
    {
        next = std::min(next, m_network.FinishTime(id));
    }
    for (const PhaseEnd& end : state.phaseEnds)
    {
        next = std::min(next, end.at);
    }
    switch (state.blocked)
    {
    case Blocked::Computing:
    case Blocked::Ready:
    case Blocked::Turn:
        return std::min(next, state.resume);
    case Blocked::Message:
        if (const Letter* letter = m_mail.Front(Slot(c, state.waitFor)))
        {
            return std::min(next, std::max(letter->arrival, state.blockedSince));
        }
        return next;
    case Blocked::No:
    case Blocked::Handle:
        return next;
    }
    return next;
}

/// Handles what happens on a class at m_now, which is Next() of it: at equal times what the network
/// does before what the program does.
void
Evaluator::HandleNext(uint32_t c)
{
    ClassState& state = m_classes[c];
    for (size_t i = 0; i < state.transfers.size(); i++)
    {
        if (m_network.FinishTime(state.transfers[i]) == m_now)
        {
            VolumeMoved(c, i);
            return;
        }
    }
    for (size_t i = 0; i < state.phaseEnds.size(); i++)
    {
        if (state.phaseEnds[i].at == m_now)
        {
            const PhaseEnd end = state.phaseEnds[i];
            state.phaseEnds.erase(state.phaseEnds.begin() + static_cast<std::ptrdiff_t>(i));
            PhaseDone(end.instance, end.chunk);
            return;
        }
    }
    switch (state.blocked)
    {
    case Blocked::Computing:
        state.totals.compute += state.jumping ? Duration() : m_now - state.blockedSince;
        state.jumping = false;
        break;
    case Blocked::Message: {
        const size_t slot = Slot(c, state.waitFor);
        TakeLetter(c, *m_mail.Front(slot), state.blockedSince);
        m_mail.Take(slot);
        state.pc++;
        break;
    }
    default:
        break;
    }
    state.blocked = Blocked::No;
    Advance(c);
}

/// Whether a class may go on without looking at the time of others.
bool
Evaluator::IsFree(uint32_t c) const
{
    const ClassState& state = m_classes[c];
    return m_pace == Pace::Ahead && state.coupled == 0 && !state.finished &&
           state.blocked != Blocked::Turn &&
           (state.blocked != Blocked::Message || m_mail.Front(Slot(c, state.waitFor)) != nullptr);
}

/// Lets time pass on a class that does nothing else until then; false if something happens before,
/// or might for what others do.
bool
Evaluator::Pass(uint32_t c, Duration until)
{
    const ClassState& state = m_classes[c];
    if (m_pace != Pace::Ahead || state.coupled > 0 || state.finished || c != m_current)
    {
        return false;
    }
    for (const FluidNetwork::Id id : state.transfers)
    {
        if (m_network.FinishTime(id) <= until)
        {
            return false;
        }
    }
    for (const PhaseEnd& end : state.phaseEnds)
    {
        if (end.at <= until)
        {
            return false;
        }
    }
    m_turn = m_turn && until == m_now;
    m_now = until;
    return true;
}

/// A class that waited may go on from now.
void
Evaluator::GoOn(uint32_t c)
{
    m_classes[c].blocked = Blocked::Ready;
    m_classes[c].resume = m_now;
    Touch(c);
}

/// The next operation of a class couples it to others that may be behind.
void
Evaluator::AwaitTurn(uint32_t c)
{
    m_classes[c].blocked = Blocked::Turn;
    m_classes[c].resume = m_now;
}

void
Evaluator::Touch(uint32_t c)
{
    if (c != m_current && !m_isTouched[c])
    {
        m_isTouched[c] = true;
        m_touched.push_back(c);
    }
}

void
Evaluator::Schedule(uint32_t c)
{
    const Duration next = Next(c);
    if (next == m_classes[c].scheduled)
    {
        return;
    }
    m_classes[c].scheduled = next;
    if (next == Duration::Max())
    {
        m_agenda.Remove(c);
        return;
    }
    m_agenda.Set(c, {next, c});
}

/// Transfers whose ends have moved, by what they share with others.
void
Evaluator::TouchChanged()
{
    for (const FluidNetwork::Id id : m_network.Changed())
    {
        Touch(m_owners[id].classId);
    }
    m_network.Changed().clear();
}

/// Executes a class's program from m_now up to where it has to wait.
void
Evaluator::Advance(uint32_t c)
{
    ClassState& state = m_classes[c];
    while (true)
    {
        const bool inBody = state.body != kNone;
        const std::vector<Op>& ops =
            inBody ? m_graph.bodies[state.body].ops : m_graph.classes[c].program.ops;
        uint32_t& pc = inBody ? state.bodyPc : state.pc;
        if (state.running != nullptr && !inBody)
        {
            EndRun(c);
        }
        if (pc == ops.size())
        {
            if (inBody)
            {
                state.body = kNone;
                continue;
            }
            pc = 0;
            state.iteration++;
            state.marked = false;
            continue;
        }
        const Op& op = ops[pc];
        switch (op.kind)
        {
        case OpKind::Compute:
            pc++;
            if (!Compute(c, op.duration))
            {
                return;
            }
            break;
        case OpKind::Run:
            pc++;
            if (!BeginRun(c, op))
            {
                return;
            }
            break;
        case OpKind::Send:
            if (!Send(c, op))
            {
                return;
            }
            pc++;
            break;
        case OpKind::Receive:
            if (!Receive(c, op))
            {
                return;
            }
            pc++;
            break;
        case OpKind::Collective:
            if (!Post(c, op))
            {
                return;
            }
            pc++;
            break;
        case OpKind::Wait:
            if (state.done[op.handle] < state.posted[op.handle])
            {
                state.blocked = Blocked::Handle;
                state.waitFor = op.handle;
                state.blockedSince = m_now;
                return;
            }
            pc++;
            break;
        }
    }
}

/// False if the class now waits for the message.
bool
Evaluator::Receive(uint32_t c, const Op& op)
{
    const size_t slot = Slot(c, op.index);
    const Letter* letter = m_mail.Front(slot);
    const Duration since = m_now;
    if (letter == nullptr || (letter->arrival > m_now && !Pass(c, letter->arrival)))
    {
        ClassState& state = m_classes[c];
        state.blocked = Blocked::Message;
        state.waitFor = op.index;
        state.blockedSince = m_now;
        return false;
    }
    TakeLetter(c, *letter, since);
    m_mail.Take(slot);
    return true;
}

/// Accounts for the wait for a message from `since` to m_now.
void
Evaluator::TakeLetter(uint32_t c, const Letter& letter, Duration since)
{
    if (m_now == since)
    {
        return;
    }
    ClassState& state = m_classes[c];
    const Duration posted = std::max(since, letter.posted);
    state.totals.bubble += posted - since;
    state.totals.exposed[static_cast<size_t>(CommClass::Pipeline)] += m_now - posted;
}

/// False if the class is now busy.
bool
Evaluator::Compute(uint32_t c, Duration work)
{
    ClassState& state = m_classes[c];
    const Duration since = m_now;
    const Duration end = state.clock.Begin(work, state.active, m_now);
    if (Pass(c, end))
    {
        state.totals.compute += end - since;
        return true;
    }
    state.blocked = Blocked::Computing;
    state.blockedSince = since;
    state.resume = end;
    return false;
}

/// So many collectives more are under way on a class, beside which it computes more slowly.
void
Evaluator::Activate(uint32_t c, int32_t collectives)
{
    ClassState& state = m_classes[c];
    state.active += collectives;
    if (state.blocked == Blocked::Computing && !state.jumping && state.clock.IsShared())
    {
        state.resume = state.clock.Change(state.active, m_now);
        Touch(c);
    }
}

/// Enters a body or takes it in one step; false if the class is now busy.
bool
Evaluator::BeginRun(uint32_t c, const Op& op)
{
    ClassState& state = m_classes[c];
    if (op.action == Action::Forward && !state.marked)
    {
        state.marked = true;
        Mark(c);
    }
    state.running = &op;
    state.runBegin = m_now;
    const BodySum& sum = m_costs.OfBody(c, op.index);
    if (!MayJump(c, sum))
    {
        state.body = op.index;
        state.bodyPc = 0;
        return true;
    }
    const BodyTimes& times = sum.times;
    state.totals.compute += times.compute;
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        state.totals.exposed[k] += times.exposed[k];
        state.totals.busy[k] += times.busy[k];
    }
    const Duration end = m_now + times.total;
    if (Pass(c, end))
    {
        return true;
    }
    state.blocked = Blocked::Computing;
    state.jumping = true;
    state.resume = end;
    return false;
}

void
Evaluator::EndRun(uint32_t c)
{
    ClassState& state = m_classes[c];
    const Op& op = *state.running;
    state.running = nullptr;
    if (m_options.timeline && m_sibling[c] == 0 && state.iteration == m_options.warmup)
    {
        m_timeline.push_back({m_graph.classes[c].stage,
                              op.action,
                              op.chunk,
                              op.microbatch,
                              state.runBegin,
                              m_now,
                              op.backChunk,
                              op.backMicrobatch});
    }
}

void
Evaluator::Mark(uint32_t c)
{
    ClassState& state = m_classes[c];
    const auto snapshot = [&] {
        Totals totals = state.totals;
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            totals.busy[k] += state.busy[k].At(m_now);
        }
        return totals;
    };
    if (state.iteration == m_options.warmup)
    {
        state.begin = m_now;
        state.atBegin = snapshot();
    }
    if (state.iteration == m_options.warmup + m_options.iterations && !state.finished)
    {
        state.end = m_now;
        m_end = std::max(m_end, m_now);
        state.atEnd = snapshot();
        state.finished = true;
        m_unfinished--;
    }
}

bool
Evaluator::MayJump(uint32_t c, const BodySum& sum) const
{
    if (!sum.pure)
    {
        return false;
    }
    // What is queued may be under way at any time of the body: it would share the port with the
    // body's own collectives, and slow its computing down.
    const auto idle = [&](Stream stream) {
        return m_classes[c].streams[static_cast<size_t>(stream)].queue.empty();
    };
    return (!sum.onNic && !m_classes[c].clock.IsShared()) ||
           (idle(Stream::Gather) && idle(Stream::Reduce));
}

} // namespace scaleacross::evaluation
