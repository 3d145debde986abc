// SPDX-License-Identifier: GPL-2.0-only

// The collectives of a rank: phase by phase, on streams that take turns.

#include "core/program/message-tag.h"
#include "core/program/rank-replay.h"
#include "core/program/step-pattern.h"

#include <algorithm>
#include <numeric>

namespace scaleacross
{

void
RankReplay::PostCollective(const Op& op)
{
    m_posted[op.handle]++;
    m_handleComm[op.handle] = m_graph.collectives[op.index].comm;
    const auto s = static_cast<uint32_t>(op.stream);
    StreamState& stream = m_streams[s];
    const bool joined = JoinsClasses(op.index);
    stream.queue.push_back({op.index, op.handle, stream.posted[joined ? 1 : 0]++, joined});
    if (!stream.active)
    {
        StartNext(s);
    }
}

bool
RankReplay::JoinsClasses(uint32_t collective)
{
    std::optional<bool>& joins = m_joins[collective];
    if (!joins)
    {
        const std::vector<Phase>& phases = m_graph.collectives[collective].phases;
        joins = std::any_of(phases.begin(), phases.end(), [this](const Phase& phase) {
            return m_graph.ClassesOf(phase.group, m_rank).size() > 1;
        });
    }
    return *joins;
}

void
RankReplay::StartNext(uint32_t s)
{
    StreamState& stream = m_streams[s];
    if (stream.queue.empty())
    {
        return;
    }
    stream.active = true;
    const Collective& collective = CollectiveOn(s);
    m_underway += m_clock.Of(collective.processors);
    ChangePace();
    BusyClock& clock = m_busy[static_cast<size_t>(collective.comm)];
    if (clock.active++ == 0)
    {
        clock.sincePs = NowPs();
    }
    if (m_record)
    {
        stream.recorded = m_record->collectives.size();
        m_record->collectives.push_back(
            {stream.queue.front().collective, static_cast<Stream>(s), m_world.Now()});
    }
    if (collective.phases.empty())
    {
        Complete(s);
        return;
    }
    stream.chunksLeft = collective.chunks;
    stream.chunks.assign(collective.chunks, ChunkState());
    if (collective.launch > Duration())
    {
        m_world.LaunchAt(m_world.Now() + collective.launch, s);
        return;
    }
    Launched(s);
}

void
RankReplay::Launched(uint32_t s)
{
    const Collective& collective = CollectiveOn(s);
    // The others follow when these leave the first phase.
    for (uint32_t chunk = 0; chunk < std::min(collective.Together(0), collective.chunks); chunk++)
    {
        StartPhase(s, chunk);
    }
}

const Collective&
RankReplay::CollectiveOn(uint32_t s) const
{
    return m_graph.collectives[m_streams[s].queue.front().collective];
}

uint64_t
RankReplay::CollectiveTag(uint32_t s, uint32_t chunk, uint32_t input, uint32_t number) const
{
    const StreamState& stream = m_streams[s];
    return uint64_t{s} << kStreamShift | uint64_t{stream.queue.front().joined} << kJoinedShift |
           (stream.queue.front().instance & kInstanceMask) << kInstanceShift |
           uint64_t{chunk} << kChunkShift | uint64_t{stream.chunks[chunk].phase} << kPhaseShift |
           uint64_t{input} << kInputShift | number;
}

void
RankReplay::StartPhase(uint32_t s, uint32_t c)
{
    ChunkState& chunk = m_streams[s].chunks[c];
    const Phase& phase = CollectiveOn(s).phases[chunk.phase];
    chunk.active = true;
    chunk.index = phase.group.IndexOf(m_rank);
    chunk.flows = FlowsOf(ChunkOf(phase, c, CollectiveOn(s).chunks), chunk.index);
    chunk.received.fill(0);
    chunk.sent.fill(0);
    const Collective& collective = CollectiveOn(s);
    if (collective.chunks == 1 &&
        m_world.TakesPhase({&phase, collective.comm, s, CollectiveTag(s, c, 0, 0)}))
    {
        return;
    }
    SendMessages(s, c);
    TakeArrivals(s, c);
}

void
RankReplay::PhaseOver(uint32_t s)
{
    ChunkState& chunk = m_streams[s].chunks.front();
    chunk.received = chunk.flows.inputs;
    PhaseDone(s, 0);
}

void
RankReplay::GoOnWithPhase(uint32_t s, uint32_t sent, uint32_t received)
{
    ChunkState& chunk = m_streams[s].chunks.front();
    chunk.sent.front() = sent;
    chunk.received.front() = received;
}

/// Sends what the messages received so far allow.
void
RankReplay::SendMessages(uint32_t s, uint32_t c)
{
    ChunkState& chunk = m_streams[s].chunks[c];
    const Phase phase = ChunkOf(CollectiveOn(s).phases[chunk.phase], c, CollectiveOn(s).chunks);
    if (StepsOf(phase).IsCopied())
    {
        SendCopies(s, c, phase);
        return;
    }
    for (uint32_t o = 0; o < kMostFlows; o++)
    {
        const uint32_t most = chunk.flows.outputs[o].Allowed(chunk.received);
        for (; chunk.sent[o] < most; chunk.sent[o]++)
        {
            const PhaseMessage message = MessageOf(phase, chunk.index, o, chunk.sent[o]);
            m_world.Send(phase.group.Member(m_rank, message.to),
                         message.bytes,
                         CollectiveTag(s, c, message.input, chunk.sent[o]),
                         CareOf(phase, CollectiveOn(s).comm, o, message.bytes));
        }
    }
}

MessageCare
RankReplay::CareOf(const Phase& phase, CommClass comm, uint32_t output, Bytes bytes)
{
    const auto size = static_cast<double>(bytes.Count());
    MessageCare care;
    care.before = phase.between.Of(size);
    if (phase.inside)
    {
        care.inside = phase.inside->Of(size);
    }
    care.occupied = phase.occupied;
    care.lane = phase.lane;
    care.slots = phase.slots;
    care.tree = StepsOf(phase).TreeOf(output);
    care.comm = comm;
    return care;
}

/// All messages of a phase, which are one that is copied.
void
RankReplay::SendCopies(uint32_t s, uint32_t c, const Phase& phase)
{
    ChunkState& chunk = m_streams[s].chunks[c];
    std::vector<MessageCopy> copies;
    Bytes bytes;
    for (; chunk.sent[0] < chunk.flows.outputs[0].messages; chunk.sent[0]++)
    {
        const PhaseMessage message = MessageOf(phase, chunk.index, 0, chunk.sent[0]);
        copies.push_back({phase.group.Member(m_rank, message.to),
                          CollectiveTag(s, c, message.input, chunk.sent[0])});
        bytes = message.bytes;
    }
    if (!copies.empty())
    {
        m_world.SendCopies(copies, bytes, CareOf(phase, CollectiveOn(s).comm, 0, bytes));
    }
}

void
RankReplay::TakeArrivals(uint32_t s, uint32_t c)
{
    ChunkState& chunk = m_streams[s].chunks[c];
    bool arrived = false;
    for (uint32_t i = 0; i < kMostFlows; i++)
    {
        while (chunk.received[i] < chunk.flows.inputs[i] &&
               m_arrived.erase(CollectiveTag(s, c, i, chunk.received[i])) > 0)
        {
            chunk.received[i]++;
            arrived = true;
        }
    }
    if (arrived)
    {
        SendMessages(s, c);
    }
    if (chunk.received == chunk.flows.inputs)
    {
        PhaseDone(s, c);
    }
}

/// Whether the chunk whose place it takes has left the phase that it waits for.
bool
RankReplay::MayEnter(uint32_t s, uint32_t c) const
{
    const std::vector<ChunkState>& chunks = m_streams[s].chunks;
    const uint32_t together = CollectiveOn(s).Together(chunks[c].phase);
    return c < together || chunks[c - together].phase > chunks[c].phase;
}

void
RankReplay::PhaseDone(uint32_t s, uint32_t c)
{
    StreamState& stream = m_streams[s];
    const Collective& collective = CollectiveOn(s);
    stream.chunks[c].active = false;
    const uint32_t left = stream.chunks[c].phase++;
    const bool through = stream.chunks[c].phase == collective.phases.size();
    if (through && --stream.chunksLeft == 0)
    {
        Complete(s);
        return;
    }
    // One may be waiting for the phase that this one has left.
    const uint32_t next = c + collective.Together(left);
    const bool waits = next < collective.chunks && !stream.chunks[next].active &&
                       stream.chunks[next].phase == left;
    if (!through && MayEnter(s, c))
    {
        StartPhase(s, c);
    }
    if (waits)
    {
        StartPhase(s, next);
    }
}

void
RankReplay::Complete(uint32_t s)
{
    StreamState& stream = m_streams[s];
    const PostedCollective finished = stream.queue.front();
    stream.queue.pop_front();
    stream.active = false;
    const Collective& collective = m_graph.collectives[finished.collective];
    m_underway -= m_clock.Of(collective.processors);
    ChangePace();
    BusyClock& clock = m_busy[static_cast<size_t>(collective.comm)];
    if (--clock.active == 0)
    {
        clock.totalPs += NowPs() - clock.sincePs;
    }
    if (m_record)
    {
        m_record->collectives[stream.recorded].end = m_world.Now();
    }
    m_done[finished.handle]++;
    StartNext(s);
    if (m_state == State::WaitsForHandle && m_done[m_waitFor] == m_posted[m_waitFor])
    {
        const CommClass comm = m_handleComm[m_waitFor];
        m_times.exposed[static_cast<size_t>(comm)] +=
            Duration::Picoseconds(NowPs() - m_blockedSincePs);
        if (m_record)
        {
            m_record->Spend(Occupation::Exposed,
                            comm,
                            Duration::Picoseconds(m_blockedSincePs),
                            m_world.Now());
        }
        Advance();
    }
}

} // namespace scaleacross
