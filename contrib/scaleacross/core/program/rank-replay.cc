// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/rank-replay.h"

#include "core/program/message-tag.h"

#include <algorithm>
#include <numeric>

namespace scaleacross
{

namespace
{

constexpr uint32_t kNone = UINT32_MAX;

} // namespace

RankReplay::RankReplay(const TaskGraph& graph, Rank rank, RankWorld& world)
    : m_graph(graph),
      m_class(graph.classes[graph.ClassOf(rank)]),
      m_rank(rank),
      m_world(world),
      m_clock(m_class.collectiveShare),
      m_posted(graph.handles, 0),
      m_done(graph.handles, 0),
      m_handleComm(graph.handles, CommClass::Data),
      m_joins(graph.collectives.size())
{
}

RankTimes
RankReplay::Times() const
{
    RankTimes times = m_times;
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        const BusyClock& clock = m_busy[k];
        const int64_t open = clock.active > 0 ? NowPs() - clock.sincePs : 0;
        times.busy[k] += Duration::Picoseconds(clock.totalPs + open);
    }
    return times;
}

std::string
RankReplay::DescribeWait() const
{
    switch (m_state)
    {
    case State::WaitsForMessage:
        return "pipeline message " + std::to_string(m_waitFor);
    case State::WaitsForHandle:
        for (const StreamState& stream : m_streams)
        {
            if (stream.active && stream.queue.front().handle == m_waitFor)
            {
                const Collective& collective = m_graph.collectives[stream.queue.front().collective];
                std::string text = ToString(collective.comm) + " " + collective.name;
                for (uint32_t c = 0; c < stream.chunks.size(); c++)
                {
                    const ChunkState& chunk = stream.chunks[c];
                    if (!chunk.active)
                    {
                        continue;
                    }
                    text += stream.chunks.size() > 1 ? ", chunk " + std::to_string(c) : "";
                    text += ", phase " + std::to_string(chunk.phase) + ", " +
                            std::to_string(
                                std::accumulate(chunk.received.begin(), chunk.received.end(), 0U)) +
                            " messages received";
                }
                return text;
            }
        }
        return "a collective that has not begun";
    case State::Computing:
    case State::Running:
    case State::Finished:
        break;
    }
    return "nothing";
}

void
RankReplay::Start()
{
    if (m_class.program.ops.empty())
    {
        m_state = State::Finished;
        return;
    }
    Advance();
}

void
RankReplay::Advance()
{
    m_state = State::Running;
    while (true)
    {
        const bool inBody = m_body != kNone;
        const std::vector<Op>& ops = inBody ? m_graph.bodies[m_body].ops : m_class.program.ops;
        uint32_t& pc = inBody ? m_bodyPc : m_pc;
        if (m_running != nullptr && !inBody)
        {
            EndRun();
        }
        if (pc == ops.size())
        {
            if (inBody)
            {
                m_body = kNone;
                continue;
            }
            pc = 0;
            m_marked = false;
            if (++m_iteration == m_iterations || m_graph.once)
            {
                m_state = State::Finished;
                if (m_graph.once)
                {
                    m_world.IterationBegins(m_iteration); // which ends the one before
                }
                m_world.Finished();
                return;
            }
            continue;
        }
        const Op& op = ops[pc];
        switch (op.kind)
        {
        case OpKind::Compute:
            pc++;
            Compute(op.duration);
            return;
        case OpKind::Run:
            pc++;
            BeginRun(op);
            break;
        case OpKind::PostReceive:
            pc++;
            m_world.SendCredit(m_rank + op.peer, kPipelineBit | kCreditBit | op.index);
            break;
        case OpKind::Send:
            pc++;
            Send(op);
            break;
        case OpKind::Receive:
            if (m_arrived.erase(kPipelineBit | op.index) == 0)
            {
                m_state = State::WaitsForMessage;
                m_waitFor = op.index;
                m_blockedSincePs = NowPs();
                return;
            }
            if (m_record)
            {
                m_record->Receive(op.index);
            }
            pc++;
            break;
        case OpKind::Collective:
            pc++;
            PostCollective(op);
            break;
        case OpKind::Wait:
            if (m_done[op.handle] < m_posted[op.handle])
            {
                m_state = State::WaitsForHandle;
                m_waitFor = op.handle;
                m_blockedSincePs = NowPs();
                return;
            }
            pc++;
            break;
        }
    }
}

void
RankReplay::Send(const Op& op)
{
    if (!m_graph.rendezvous)
    {
        m_world.Send(m_rank + op.peer, op.bytes, kPipelineBit | op.index, {});
        return;
    }
    m_held[op.peer].push_back(&op);
    Release(op.peer);
}

/// Lets those messages to a peer leave that may.
void
RankReplay::Release(int32_t peer)
{
    std::deque<const Op*>& held = m_held[peer];
    while (!held.empty() && m_credits.erase(held.front()->index) > 0)
    {
        const Op& op = *held.front();
        held.pop_front();
        m_world.Send(m_rank + op.peer, op.bytes, kPipelineBit | op.index, {});
    }
}

void
RankReplay::Compute(Duration work)
{
    const Duration now = m_world.Now();
    m_state = State::Computing;
    m_blockedSincePs = now.Ps();
    m_world.ComputeUntil(m_clock.Begin(work, m_underway, now));
}

void
RankReplay::ComputeDone()
{
    m_times.compute += Duration::Picoseconds(NowPs() - m_blockedSincePs);
    if (m_record)
    {
        m_record->Spend(Occupation::Compute,
                        CommClass::Data,
                        Duration::Picoseconds(m_blockedSincePs),
                        m_world.Now());
    }
    Advance();
}

/// What is under way has changed, beside which the rank computes more slowly.
void
RankReplay::ChangePace()
{
    if (m_state == State::Computing && m_clock.IsShared())
    {
        m_world.ComputeUntil(m_clock.Change(m_underway, m_world.Now()));
    }
}

void
RankReplay::BeginRun(const Op& op)
{
    if (op.action == Action::Forward && !m_marked)
    {
        m_marked = true;
        m_world.IterationBegins(m_iteration);
    }
    m_running = &op;
    m_runBeginPs = NowPs();
    m_body = op.index;
    m_bodyPc = 0;
}

void
RankReplay::EndRun()
{
    const Op& op = *m_running;
    m_running = nullptr;
    if (m_record)
    {
        m_record->runs.push_back({m_iteration,
                                  op.action,
                                  op.chunk,
                                  op.microbatch,
                                  Duration::Picoseconds(m_runBeginPs),
                                  m_world.Now(),
                                  op.backChunk,
                                  op.backMicrobatch});
    }
}

void
RankReplay::Delivered(const RankMessage& message)
{
    constexpr uint64_t credit = kPipelineBit | kCreditBit;
    if ((message.tag & credit) == credit)
    {
        m_credits.insert(static_cast<uint32_t>(message.tag));
        Release(static_cast<int32_t>(message.from) - static_cast<int32_t>(m_rank));
        return;
    }
    m_arrived.insert(message.tag);
    if ((message.tag & kPipelineBit) != 0)
    {
        PipelineArrived(message);
        return;
    }
    const auto s = static_cast<uint32_t>(message.tag >> kStreamShift);
    const auto c = static_cast<uint32_t>(message.tag >> kChunkShift & kChunkMask);
    const StreamState& stream = m_streams[s];
    if (stream.active && c < stream.chunks.size() && stream.chunks[c].active &&
        (message.tag & ~kFlowMask) == CollectiveTag(s, c, 0, 0))
    {
        TakeArrivals(s, c);
    }
}

void
RankReplay::PipelineArrived(const RankMessage& message)
{
    const auto pipeline = static_cast<size_t>(CommClass::Pipeline);
    const int64_t now = NowPs();
    m_times.busy[pipeline] += Duration::Picoseconds(
        now - std::max(message.postedPs, std::min(m_pipelineBusyUntilPs, now)));
    m_pipelineBusyUntilPs = now;
    if (m_record)
    {
        m_record->arrivals.push_back({static_cast<uint32_t>(message.tag),
                                      message.from,
                                      Duration::Picoseconds(message.postedPs),
                                      m_world.Now()});
    }
    if (m_state != State::WaitsForMessage || (kPipelineBit | m_waitFor) != message.tag)
    {
        return;
    }
    const int64_t posted = std::max(m_blockedSincePs, message.postedPs);
    m_times.bubble += Duration::Picoseconds(posted - m_blockedSincePs);
    m_times.exposed[pipeline] += Duration::Picoseconds(now - posted);
    if (m_record)
    {
        m_record->Await(Duration::Picoseconds(m_blockedSincePs),
                        Duration::Picoseconds(posted),
                        m_world.Now());
    }
    Advance();
}

} // namespace scaleacross
