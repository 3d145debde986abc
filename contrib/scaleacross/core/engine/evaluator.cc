// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/evaluator.h"

#include "core/base/errors.h"

#include <algorithm>
#include <chrono>

namespace scaleacross::evaluation
{

// Events, and the programs of the classes.

Evaluator::Evaluator(const TaskGraph& graph, const TransferTimes& times, const RunOptions& options)
    : m_graph(graph),
      m_costs(graph, times),
      m_options(options),
      m_network(static_cast<uint32_t>(graph.classes.size()), times.cuts),
      m_classes(graph.classes.size()),
      m_unfinished(static_cast<uint32_t>(graph.classes.size())),
      m_sibling(graph.classes.size())
{
    uint32_t siblings = 1;
    std::vector<uint32_t> ofStage(graph.pipeline.Size(), 0);
    for (uint32_t c = 0; c < graph.classes.size(); c++)
    {
        m_sibling[c] = ofStage[graph.classes[c].stage]++;
        siblings = std::max(siblings, m_sibling[c] + 1);
        m_classes[c].posted.assign(graph.handles, 0);
        m_classes[c].done.assign(graph.handles, 0);
        m_classes[c].handleComm.assign(graph.handles, CommClass::Data);
        m_classes[c].clock = ComputeClock(graph.classes[c].collectiveShare);
        if (graph.classes[c].program.ops.empty())
        {
            m_classes[c].finished = true;
            m_unfinished--;
        }
    }
    m_arrived.assign(size_t{siblings} * graph.messages, 0);
    m_postTime.assign(size_t{siblings} * graph.messages, Duration());
}

size_t
Evaluator::Slot(uint32_t c, uint32_t message) const
{
    return size_t{m_sibling[c]} * m_graph.messages + message;
}

void
Evaluator::Push(Duration at, EventKind kind, uint32_t subject, uint32_t detail)
{
    m_events.push({{at, m_order++}, kind, subject, detail});
}

void
Evaluator::Own(FluidNetwork::Id id, const TransferOwner& owner)
{
    if (m_owners.size() <= id)
    {
        m_owners.resize(id + 1);
    }
    m_owners[id] = owner;
}

void
Evaluator::FlushChanged()
{
    for (const FluidNetwork::Id id : m_network.Changed())
    {
        m_transfers.Set(id, {m_network.FinishTime(id), m_order++});
    }
    m_network.Changed().clear();
}

void
Evaluator::Run(RunReport& report)
{
    for (uint32_t c = 0; c < m_classes.size(); c++)
    {
        if (!m_classes[c].finished)
        {
            Advance(c);
        }
    }
    FlushChanged();
    const auto start = std::chrono::steady_clock::now();
    uint64_t handled = 0;
    while (m_unfinished > 0)
    {
        if (!HandleNext())
        {
            FailStuck();
        }
        FlushChanged();
        if (++handled % 65536 == 0)
        {
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            if (spent.count() > m_options.timeLimit.S())
            {
                throw RunError("time limit: the analytical engine gave up after " +
                               ToString(m_options.timeLimit) + " of wall clock time");
            }
        }
    }
    Fill(report);
}

/// Handles the earliest of all that is to come; false if there is nothing.
bool
Evaluator::HandleNext()
{
    if (!m_transfers.Empty() && (m_events.empty() || m_transfers.Earliest() < m_events.top().time))
    {
        m_now = m_transfers.Earliest().at;
        VolumeMoved(m_transfers.Pop());
        return true;
    }
    if (m_events.empty())
    {
        return false;
    }
    const Event event = m_events.top();
    m_events.pop();
    m_now = event.time.at;
    Handle(event);
    return true;
}

void
Evaluator::VolumeMoved(FluidNetwork::Id id)
{
    const TransferOwner owner = m_owners[id];
    m_network.Finish(id, m_now);
    if (owner.isMessage)
    {
        Channel& channel = m_classes[owner.classId].channels[owner.index];
        const QueuedMessage sent = channel.queue.front();
        channel.queue.pop_front();
        Push(m_now + sent.cost->latency, EventKind::Arrival, channel.toClass, sent.message);
        if (!channel.queue.empty())
        {
            StartMessage(owner.classId, owner.index);
        }
        return;
    }
    ChunkState& chunk = m_instances[owner.index].chunks[owner.chunk];
    if (--chunk.volumesLeft == 0)
    {
        Push(m_now + chunk.latency, EventKind::PhaseDone, owner.index, owner.chunk);
    }
}

void
Evaluator::Handle(const Event& event)
{
    switch (event.kind)
    {
    case EventKind::Resume: {
        ClassState& state = m_classes[event.subject];
        if (event.detail == state.resume)
        {
            state.totals.compute += state.jumping ? Duration() : m_now - state.blockedSince;
            state.blocked = Blocked::No;
            state.jumping = false;
            Advance(event.subject);
        }
        break;
    }
    case EventKind::Arrival:
        Arrive(event.subject, event.detail);
        break;
    case EventKind::PhaseDone:
        PhaseDone(event.subject, event.detail);
        break;
    }
}

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
            Compute(c, op.duration);
            return;
        case OpKind::Run:
            pc++;
            if (!BeginRun(c, op))
            {
                return;
            }
            break;
        case OpKind::Send:
            pc++;
            PostSend(c, op);
            break;
        case OpKind::Receive: {
            const size_t slot = Slot(c, op.index);
            if (m_arrived[slot] == 0)
            {
                state.blocked = Blocked::Message;
                state.waitFor = op.index;
                state.blockedSince = m_now;
                return;
            }
            m_arrived[slot]--;
            pc++;
            break;
        }
        case OpKind::Collective:
            pc++;
            PostCollective(c, op);
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

void
Evaluator::Compute(uint32_t c, Duration work)
{
    ClassState& state = m_classes[c];
    state.blocked = Blocked::Computing;
    state.blockedSince = m_now;
    Push(state.clock.Begin(work, state.active, m_now), EventKind::Resume, c, ++state.resume);
}

/// So many collectives more are under way on a class, beside which it computes more slowly.
void
Evaluator::Activate(uint32_t c, int32_t collectives)
{
    ClassState& state = m_classes[c];
    state.active += collectives;
    if (state.blocked == Blocked::Computing && !state.jumping && state.clock.IsShared())
    {
        Push(state.clock.Change(state.active, m_now), EventKind::Resume, c, ++state.resume);
    }
}

/// Enters a body or takes it in one step; false if the class is now busy until a Resume.
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
    Push(m_now + times.total, EventKind::Resume, c, ++state.resume);
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
        state.atEnd = snapshot();
        state.finished = true;
        m_unfinished--;
    }
}

bool
Evaluator::MayJump(uint32_t c, uint32_t body)
{
    const BodySum& sum = m_costs.OfBody(c, body);
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
