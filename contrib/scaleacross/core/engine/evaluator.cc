// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/evaluator.h"

#include <algorithm>
#include <cstddef>

namespace scaleacross::evaluation
{

// The programs of the classes.

Evaluator::Evaluator(const TaskGraph& graph,
                     ClassCosts& costs,
                     const ResourceUse& use,
                     const RunOptions& options,
                     Shortcuts shortcuts)
    : m_graph(graph),
      m_costs(costs),
      m_use(use),
      m_steps(graph.classes.size() * graph.bodies.size(), ResourceUse::Step::Never),
      m_options(options),
      m_network(static_cast<uint32_t>(graph.classes.size()), costs.Cuts()),
      m_isTouched(graph.classes.size(), false),
      m_classes(graph.classes.size()),
      m_unfinished(static_cast<uint32_t>(graph.classes.size())),
      m_mail(0),
      m_sibling(graph.classes.size())
{
    if (graph.once)
    {
        m_options.warmup = 0;
        m_options.iterations = 1;
    }
    if (shortcuts != Shortcuts::None)
    {
        TakeShortcuts(use);
    }
    if (!costs.Classes().AreOne())
    {
        m_network.TellApart(costs.Classes().weights);
    }
    if (options.timeline != Timelines::None)
    {
        m_records.resize(graph.classes.size());
        m_network.Watch(m_moved);
    }
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
    if (graph.rendezvous)
    {
        m_credits.assign(size_t{siblings} * graph.messages, Duration::Max());
    }
    if (shortcuts == Shortcuts::Taken)
    {
        m_stretches.resize(graph.classes.size() * graph.bodies.size());
        m_reserved.resize(costs.Cuts());
        FindSteadyGroups();
    }
}

void
Evaluator::TakeShortcuts(const ResourceUse& use)
{
    for (uint32_t r = 0; r < ResourceUse::Ports(m_graph) + m_costs.Cuts(); r++)
    {
        if (!use.IsNeeded(r))
        {
            m_network.LeaveOut(r);
        }
    }
    for (uint32_t c = 0; c < m_graph.classes.size(); c++)
    {
        std::vector<bool> seen(m_graph.bodies.size(), false);
        for (const Op& op : m_graph.classes[c].program.ops)
        {
            if (op.kind == OpKind::Run && !seen[op.index])
            {
                seen[op.index] = true;
                m_steps[c * m_graph.bodies.size() + op.index] = use.StepOf(c, op.index);
            }
        }
    }
}

size_t
Evaluator::Slot(uint32_t c, uint32_t message) const
{
    return size_t{m_sibling[c]} * m_graph.messages + message;
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
        if (inBody && state.underWay == 0 && !m_stretches.empty() && !PassStretch(c))
        {
            return;
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
            if (state.steadyGroup != kNone)
            {
                BeginSteadyGroup(state.steadyGroup);
            }
            if (m_graph.once)
            {
                Mark(c);
                state.blocked = Blocked::Ended;
                return;
            }
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
        case OpKind::PostReceive:
            PostReceive(c, op);
            pc++;
            break;
        case OpKind::Send:
            Send(c, op);
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
            Post(c, op);
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
    if (letter == nullptr || letter->arrival > m_now)
    {
        ClassState& state = m_classes[c];
        state.blocked = Blocked::Message;
        state.waitFor = op.index;
        state.blockedSince = m_now;
        return false;
    }
    Take(c, op.index);
    return true;
}

/// The first of the letters of a message leaves the mail for its pass.
void
Evaluator::Take(uint32_t c, uint32_t message)
{
    m_mail.Take(Slot(c, message));
    m_classes[c].letters--;
    if (!m_records.empty())
    {
        m_records[c].Receive(message);
    }
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
    if (!m_records.empty())
    {
        m_records[c].Await(since, posted, m_now);
    }
}

/// False if the class is now busy.
bool
Evaluator::Compute(uint32_t c, Duration work)
{
    ClassState& state = m_classes[c];
    const Duration end = state.clock.Begin(work, state.underway, m_now);
    if (end == m_now)
    {
        return true;
    }
    state.blocked = Blocked::Computing;
    state.blockedSince = m_now;
    state.resume = end;
    return false;
}

/// What is under way on a class has changed, beside which it computes more slowly.
void
Evaluator::ChangePace(uint32_t c)
{
    ClassState& state = m_classes[c];
    if (state.blocked == Blocked::Computing && !state.jumping && state.clock.IsShared())
    {
        state.resume = state.clock.Change(state.underway, m_now);
        Touch(c);
    }
}

/// Enters a body or takes it in one step; false if the class is now busy.
bool
Evaluator::BeginRun(uint32_t c, const Op& op)
{
    ClassState& state = m_classes[c];
    if (state.pc == state.mark)
    {
        state.mark += m_repetition->classes[c].period;
        m_passed = state.steadyGroup;
    }
    if (op.action == Action::Forward && !state.marked)
    {
        state.marked = true;
        Mark(c);
    }
    state.running = &op;
    state.runBegin = m_now;
    if (!MayJump(c, op.index))
    {
        state.body = op.index;
        state.bodyPc = 0;
        return true;
    }
    const BodyTimes& times = m_costs.OfBody(c, op.index).times;
    state.totals.compute += times.compute;
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        state.totals.exposed[k] += times.exposed[k];
        state.totals.busy[k] += times.busy[k];
    }
    state.blocked = Blocked::Computing;
    state.jumping = true;
    state.resume = m_now + times.total;
    return false;
}

void
Evaluator::EndRun(uint32_t c)
{
    ClassState& state = m_classes[c];
    const Op& op = *state.running;
    state.running = nullptr;
    if (!m_records.empty())
    {
        m_records[c].runs.push_back({state.iteration,
                                     op.action,
                                     op.chunk,
                                     op.microbatch,
                                     state.runBegin,
                                     m_now,
                                     op.backChunk,
                                     op.backMicrobatch});
    }
}

/// What a class has done until now.
Totals
Evaluator::TotalsOf(uint32_t c) const
{
    Totals totals = m_classes[c].totals;
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        totals.busy[k] += m_classes[c].busy[k].At(m_now);
    }
    return totals;
}

void
Evaluator::Mark(uint32_t c)
{
    ClassState& state = m_classes[c];
    if (state.iteration == m_options.warmup)
    {
        state.begin = m_now;
        state.atBegin = TotalsOf(c);
    }
    if (state.iteration == m_options.warmup + m_options.iterations && !state.finished)
    {
        state.end = m_now;
        state.atEnd = TotalsOf(c);
        state.finished = true;
        m_unfinished--;
    }
}

/// Whether a body takes what it takes alone.
bool
Evaluator::MayJump(uint32_t c, uint32_t body) const
{
    const auto idle = [&](Stream stream) {
        return m_classes[c].streams[static_cast<size_t>(stream)].queue.empty();
    };
    switch (m_steps[c * m_graph.bodies.size() + body])
    {
    case ResourceUse::Step::Never:
        return false;
    case ResourceUse::Step::WhileIdle:
        return idle(Stream::Gather) && idle(Stream::Reduce);
    case ResourceUse::Step::Always:
        return true;
    }
    return false;
}

} // namespace scaleacross::evaluation
