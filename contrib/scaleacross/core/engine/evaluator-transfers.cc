// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/evaluator.h"

#include <algorithm>

namespace scaleacross::evaluation
{

// Messages and collectives.

void
Evaluator::PostSend(uint32_t c, const Op& op)
{
    ClassState& state = m_classes[c];
    const Rank to = m_graph.classes[c].representative + op.peer;
    uint32_t index = 0;
    while (index < state.channels.size() && state.channels[index].peer != op.peer)
    {
        index++;
    }
    if (index == state.channels.size())
    {
        state.channels.push_back({op.peer, m_graph.ClassOf(to), {}});
    }
    Channel& channel = state.channels[index];
    const size_t slot = Slot(channel.toClass, op.index);
    m_postTime[slot] = m_now;
    channel.queue.push_back({op.index, &m_costs.OfMessage(c, op.peer, op.bytes)});
    if (channel.queue.size() == 1)
    {
        StartMessage(c, index);
    }
}

void
Evaluator::StartMessage(uint32_t c, uint32_t channelIndex)
{
    Channel& channel = m_classes[c].channels[channelIndex];
    const TransferCost& cost = *channel.queue.front().cost;
    const FluidNetwork::Id id = m_network.Start(cost, c, m_classes[c].iteration, m_now);
    TransferOwner owner;
    owner.isMessage = true;
    owner.classId = c;
    owner.index = channelIndex;
    Own(id, owner);
}

void
Evaluator::Arrive(uint32_t toClass, uint32_t message)
{
    const size_t slot = Slot(toClass, message);
    m_arrived[slot]++;
    ClassState& state = m_classes[toClass];
    const auto pipeline = static_cast<size_t>(CommClass::Pipeline);
    state.totals.busy[pipeline] += m_now - std::max(m_postTime[slot], state.pipelineBusyUntil);
    state.pipelineBusyUntil = m_now;
    if (state.blocked == Blocked::Message && state.waitFor == message)
    {
        const Duration posted = std::max(state.blockedSince, m_postTime[slot]);
        state.totals.bubble += posted - state.blockedSince;
        state.totals.exposed[pipeline] += m_now - posted;
        state.blocked = Blocked::No;
        Advance(toClass);
    }
}

void
Evaluator::PostCollective(uint32_t c, const Op& op)
{
    ClassState& state = m_classes[c];
    state.posted[op.handle]++;
    state.handleComm[op.handle] = m_graph.collectives[op.index].comm;
    state.streams[static_cast<size_t>(op.stream)].queue.push_back({op.index, op.handle});
    TryStart(c, op.stream);
}

/// From now on the front of a stream counts as under way on a class.
void
Evaluator::Begin(uint32_t c, Stream stream, size_t comm)
{
    ClassState& state = m_classes[c];
    bool& begun = state.streams[static_cast<size_t>(stream)].begun;
    if (!begun)
    {
        begun = true;
        state.busy[comm].Begin(m_now);
        Activate(c, 1);
    }
}

void
Evaluator::TryStart(uint32_t c, Stream stream)
{
    const auto s = static_cast<size_t>(stream);
    StreamState& own = m_classes[c].streams[s];
    if (own.active || own.queue.empty())
    {
        return;
    }
    const uint32_t collective = own.queue.front().collective;
    const auto comm = static_cast<size_t>(m_graph.collectives[collective].comm);
    Begin(c, stream, comm);
    const std::vector<uint32_t>& classes = m_costs.Participants(c, collective);
    for (const uint32_t other : classes)
    {
        const StreamState& theirs = m_classes[other].streams[s];
        if (theirs.active || theirs.queue.empty() || theirs.queue.front().collective != collective)
        {
            return;
        }
    }
    uint32_t id;
    if (m_freeInstances.empty())
    {
        id = static_cast<uint32_t>(m_instances.size());
        m_instances.emplace_back();
    }
    else
    {
        id = m_freeInstances.back();
        m_freeInstances.pop_back();
    }
    Instance& instance = m_instances[id];
    instance.collective = collective;
    instance.stream = stream;
    instance.chunksLeft = m_graph.collectives[collective].chunks;
    instance.chunks.assign(instance.chunksLeft, ChunkState());
    instance.classes = classes;
    for (const uint32_t other : classes)
    {
        Begin(other, stream, comm);
        m_classes[other].streams[s].active = true;
    }
    if (m_graph.collectives[collective].phases.empty())
    {
        CompleteInstance(id);
        return;
    }
    // The others follow when these leave the first phase.
    const uint32_t channels =
        std::min(m_graph.collectives[collective].channels, m_graph.collectives[collective].chunks);
    for (uint32_t chunk = 0; chunk < channels; chunk++)
    {
        StartPhase(id, chunk);
    }
}

void
Evaluator::StartPhase(uint32_t id, uint32_t index)
{
    Instance& instance = m_instances[id];
    ChunkState& chunk = instance.chunks[index];
    chunk.active = true;
    chunk.latency = Duration();
    chunk.volumesLeft = 0;
    const bool isEnd = index + 1 == instance.chunks.size() &&
                       chunk.phase + 1 == m_graph.collectives[instance.collective].phases.size();
    for (const uint32_t c : instance.classes)
    {
        const TransferCost& cost = m_costs.OfPhase(c, instance.collective, chunk.phase);
        const Duration losses = isEnd ? m_costs.LossesOfChunks(c, instance.collective) : Duration();
        chunk.latency = std::max(chunk.latency, cost.latency + losses);
        if (cost.portSeconds > 0)
        {
            chunk.volumesLeft++;
            TransferOwner owner;
            owner.index = id;
            owner.chunk = index;
            Own(m_network.Start(cost, c, m_classes[c].iteration, m_now), owner);
        }
    }
    if (chunk.volumesLeft > 0)
    {
        return;
    }
    if (chunk.latency > Duration() || instance.chunks.size() > 1)
    {
        Push(m_now + chunk.latency, EventKind::PhaseDone, id, index);
        return;
    }
    PhaseDone(id, index); // nothing to move and nothing to wait for
}

/// Whether the chunk before it on the same channel has left the phase that it waits for.
bool
Evaluator::MayEnter(uint32_t id, uint32_t index) const
{
    const Instance& instance = m_instances[id];
    const uint32_t channels = m_graph.collectives[instance.collective].channels;
    return index < channels ||
           instance.chunks[index - channels].phase > instance.chunks[index].phase;
}

void
Evaluator::PhaseDone(uint32_t id, uint32_t index)
{
    Instance& instance = m_instances[id];
    const Collective& collective = m_graph.collectives[instance.collective];
    ChunkState& chunk = instance.chunks[index];
    chunk.active = false;
    const uint32_t left = chunk.phase++;
    if (chunk.phase == collective.phases.size() && --instance.chunksLeft == 0)
    {
        CompleteInstance(id);
        return;
    }
    if (chunk.phase < collective.phases.size() && MayEnter(id, index))
    {
        StartPhase(id, index);
    }
    // The next one of this channel may be waiting for the phase that this one has left.
    const uint32_t next = index + collective.channels;
    if (next < collective.chunks && !m_instances[id].chunks[next].active &&
        m_instances[id].chunks[next].phase == left)
    {
        StartPhase(id, next);
    }
}

void
Evaluator::CompleteInstance(uint32_t id)
{
    const std::vector<uint32_t> classes = m_instances[id].classes;
    const Stream stream = m_instances[id].stream;
    const CommClass comm = m_graph.collectives[m_instances[id].collective].comm;
    m_freeInstances.push_back(id);
    const auto s = static_cast<size_t>(stream);
    for (const uint32_t c : classes)
    {
        ClassState& state = m_classes[c];
        state.busy[static_cast<size_t>(comm)].End(m_now);
        state.done[state.streams[s].queue.front().handle]++;
        state.streams[s].queue.pop_front();
        state.streams[s].active = false;
        state.streams[s].begun = false;
        Activate(c, -1);
    }
    for (const uint32_t c : classes)
    {
        TryStart(c, stream);
    }
    for (const uint32_t c : classes)
    {
        ClassState& state = m_classes[c];
        if (state.blocked == Blocked::Handle &&
            state.done[state.waitFor] == state.posted[state.waitFor])
        {
            const auto waited = static_cast<size_t>(state.handleComm[state.waitFor]);
            state.totals.exposed[waited] += m_now - state.blockedSince;
            state.blocked = Blocked::No;
            Advance(c);
        }
    }
}

} // namespace scaleacross::evaluation
