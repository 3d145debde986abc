// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/evaluator.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace scaleacross::evaluation
{

// Messages and collectives.

void
Evaluator::Own(FluidNetwork::Id id, const TransferOwner& owner)
{
    if (m_owners.size() <= id)
    {
        m_owners.resize(id + 1);
    }
    m_owners[id] = owner;
    m_classes[owner.classId].transfers.push_back(id);
}

/// The volume of the transfer at `position` of a class's has moved.
void
Evaluator::VolumeMoved(uint32_t c, size_t position)
{
    ClassState& state = m_classes[c];
    const FluidNetwork::Id id = state.transfers[position];
    state.transfers.erase(state.transfers.begin() + static_cast<std::ptrdiff_t>(position));
    const TransferOwner owner = m_owners[id];
    if (owner.isMessage && !m_stretches.empty())
    {
        DisturbCutsOf(*state.channels[owner.index].queue.front().cost);
    }
    m_network.Finish(id, m_now);
    if (owner.isMessage)
    {
        Channel& channel = state.channels[owner.index];
        state.near--;
        m_classes[channel.toClass].near--;
        const QueuedMessage sent = channel.queue.front();
        channel.queue.pop_front();
        Deliver(channel, sent.message, {sent.posted, m_now + sent.cost->latency});
        if (!channel.queue.empty())
        {
            StartMessage(c, owner.index);
        }
        return;
    }
    ConvoyState& convoy = m_instances[owner.index].states[owner.convoy];
    if (--convoy.volumesLeft == 0)
    {
        state.phaseEnds.push_back({m_now + convoy.latency, owner.index, owner.convoy});
    }
}

uint32_t
Evaluator::ChannelTo(uint32_t c, int32_t peer)
{
    ClassState& state = m_classes[c];
    uint32_t index = 0;
    while (index < state.channels.size() && state.channels[index].peer != peer)
    {
        index++;
    }
    if (index == state.channels.size())
    {
        Channel channel;
        channel.peer = peer;
        channel.toClass = m_costs.ClassAt(c, peer);
        std::vector<std::vector<Letter>>& inlets = m_classes[channel.toClass].inlets;
        channel.inlet = inlets.size();
        inlets.emplace_back();
        state.channels.push_back(std::move(channel));
    }
    return index;
}

void
Evaluator::Send(uint32_t c, const Op& op)
{
    const uint32_t index = ChannelTo(c, op.peer);
    const QueuedMessage message{op.index, &m_costs.OfMessage(c, op.peer, op.bytes), m_now};
    if (!m_graph.rendezvous)
    {
        Depart(c, index, message);
        return;
    }
    m_classes[c].channels[index].held.push_back(message);
    m_classes[c].held++;
    Release(c, index);
}

void
Evaluator::Depart(uint32_t c, uint32_t channelIndex, const QueuedMessage& message)
{
    Channel& channel = m_classes[c].channels[channelIndex];
    channel.queue.push_back(message);
    if (channel.queue.size() == 1)
    {
        StartMessage(c, channelIndex);
    }
}

void
Evaluator::PostReceive(uint32_t c, const Op& op)
{
    m_classes[c].credits++;
    m_credits[Slot(c, op.index)] = m_now + m_costs.CreditTime(c, op.peer);
    Touch(m_costs.ClassAt(c, op.peer));
}

/// When the first message that a channel holds back may leave; Max: that is not known, or there is
/// none.
Duration
Evaluator::ReleaseTime(const Channel& channel) const
{
    return channel.held.empty() ? Duration::Max()
                                : m_credits[Slot(channel.toClass, channel.held.front().message)];
}

/// Lets those messages leave that may.
void
Evaluator::Release(uint32_t c, uint32_t channelIndex)
{
    Channel& channel = m_classes[c].channels[channelIndex];
    while (ReleaseTime(channel) <= m_now)
    {
        QueuedMessage message = channel.held.front();
        message.posted = m_now;
        m_credits[Slot(channel.toClass, message.message)] = Duration::Max();
        m_classes[channel.toClass].credits--;
        channel.held.pop_front();
        m_classes[c].held--;
        Depart(c, channelIndex, message);
    }
}

void
Evaluator::StartMessage(uint32_t c, uint32_t channelIndex)
{
    Channel& channel = m_classes[c].channels[channelIndex];
    const TransferCost& cost = *channel.queue.front().cost;
    for (const uint32_t end : {c, channel.toClass})
    {
        Disturb(end);
        m_classes[end].near++;
    }
    if (!m_stretches.empty() && !cost.cuts.empty())
    {
        m_loads.clear();
        AddLoads(cost, 1, m_costs.PartiesOf(c));
        Announce(kNone);
        DisturbCutsOf(cost);
    }
    const TransferPlace place{c,
                              channel.toClass,
                              m_classes[c].iteration,
                              m_costs.PartiesOf(c),
                              m_costs.Classes().Of(CommClass::Pipeline)};
    const double held = std::max(channel.window.Hold(cost.window, m_now),
                                 m_classes[channel.toClass].windows.Admit(cost, m_now));
    const FluidNetwork::Id id = m_network.Start(cost, place, m_now, 1, held);
    TransferOwner owner;
    owner.isMessage = true;
    owner.classId = c;
    owner.index = channelIndex;
    Own(id, owner);
}

void
Evaluator::Deliver(const Channel& channel, uint32_t message, const Letter& letter)
{
    m_mail.Put(Slot(channel.toClass, message), letter);
    ClassState& receiver = m_classes[channel.toClass];
    if (!m_records.empty())
    {
        const Rank to = m_graph.classes[channel.toClass].representative;
        m_records[channel.toClass].arrivals.push_back(
            {message,
             static_cast<Rank>(static_cast<int32_t>(to) - channel.peer),
             letter.posted,
             letter.arrival});
    }
    receiver.inlets[channel.inlet].push_back(letter);
    receiver.letters++;
    if (receiver.blocked == Blocked::Message && receiver.waitFor == message)
    {
        Touch(channel.toClass);
    }
}

void
Evaluator::Post(uint32_t c, const Op& op)
{
    ClassState& state = m_classes[c];
    if (state.stretch != kNone && state.stretchLocal)
    {
        state.stretchLocal = IsLocal(c, op);
    }
    state.underWay++;
    state.posted[op.handle]++;
    state.handleComm[op.handle] = m_graph.collectives[op.index].comm;
    state.streams[static_cast<size_t>(op.stream)].queue.push_back({op.index, op.handle});
    TryStart(c, op.stream);
}

/// From now on the front of a stream counts as under way on a class.
void
Evaluator::Begin(uint32_t c, Stream stream, const Collective& collective)
{
    ClassState& state = m_classes[c];
    bool& begun = state.streams[static_cast<size_t>(stream)].begun;
    if (!begun)
    {
        begun = true;
        state.busy[static_cast<size_t>(collective.comm)].Begin(m_now);
        state.underway += state.clock.Of(collective.processors);
        ChangePace(c);
        if (!m_records.empty())
        {
            StreamState& own = state.streams[static_cast<size_t>(stream)];
            own.recorded = m_records[c].collectives.size();
            m_records[c].collectives.push_back({own.queue.front().collective, stream, m_now});
        }
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
    Begin(c, stream, m_graph.collectives[collective]);
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
    instance.convoys = Convoys(m_graph.collectives[collective]);
    instance.states.assign(instance.convoys.Count(), ConvoyState());
    instance.classes = classes;
    instance.windows.assign(IsOfLayer(stream) ? classes.size() : 0, RankWindows());
    for (const uint32_t other : classes)
    {
        Begin(other, stream, m_graph.collectives[collective]);
        m_classes[other].streams[s].active = true;
    }
    if (instance.convoys.Done())
    {
        CompleteInstance(id);
        return;
    }
    StartPhases(id, instance.convoys.Start());
}

void
Evaluator::StartPhases(uint32_t id, const Convoys::Entering& entering)
{
    for (const uint32_t convoy : entering)
    {
        StartPhase(id, convoy);
    }
}

/// Says what the transfers of a convoy put on cuts in the phase that it enters.
void
Evaluator::AnnouncePhase(uint32_t id, uint32_t index)
{
    const Instance& instance = m_instances[id];
    const uint32_t phase = instance.convoys.PhaseOf(index);
    m_loads.clear();
    for (const uint32_t c : instance.classes)
    {
        const TransferCost& cost = m_costs.OfPhase(c, instance.collective, phase);
        if (!cost.cuts.empty() && cost.Seconds() > 0)
        {
            AddLoads(cost, instance.convoys.ChunksOf(index), 1);
        }
    }
    if (!m_loads.empty())
    {
        Announce(instance.classes.size() == 1 ? instance.classes.front() : kNone);
    }
}

void
Evaluator::StartPhase(uint32_t id, uint32_t index)
{
    // What is executed to catch up has been announced when it was repeated.
    if (!m_stretches.empty() && !m_catchesUp)
    {
        AnnouncePhase(id, index);
    }
    Instance& instance = m_instances[id];
    const Convoys& convoys = instance.convoys;
    ConvoyState& convoy = instance.states[index];
    convoy.latency = Duration();
    convoy.volumesLeft = 0;
    const Collective& collective = m_graph.collectives[instance.collective];
    const uint32_t trafficClass = m_costs.Classes().Of(collective.comm);
    for (size_t i = 0; i < instance.classes.size(); i++)
    {
        const uint32_t c = instance.classes[i];
        const TransferCost& cost = m_costs.OfPhase(c, instance.collective, convoys.PhaseOf(index));
        const Duration late =
            convoys.IsEnd(index) ? m_costs.DelayOf(c, instance.collective) : Duration();
        double held = 0;
        if (cost.Seconds() > 0)
        {
            convoy.volumesLeft++;
            TransferOwner owner;
            owner.classId = c;
            owner.index = id;
            owner.convoy = index;
            const TransferPlace place{c, c, m_classes[c].iteration, 1, trafficClass};
            const uint32_t chunks = convoys.ChunksOf(index);
            RankWindows& windows =
                IsOfLayer(instance.stream) ? instance.windows[i] : m_classes[c].windows;
            const Phase& phase = collective.phases[convoys.PhaseOf(index)];
            held = windows.Hold(phase, cost, m_now, chunks);
            Own(m_network.Start(cost, place, m_now, chunks, held), owner);
            Touch(c);
        }
        convoy.latency = std::max(convoy.latency, cost.LatencyBehind(held, cost.Seconds()) + late);
    }
    if (convoy.volumesLeft > 0)
    {
        return;
    }
    if (convoy.latency > Duration() || convoys.Count() > 1)
    {
        const uint32_t first = instance.classes.front();
        m_classes[first].phaseEnds.push_back({m_now + convoy.latency, id, index});
        Touch(first);
        return;
    }
    PhaseDone(id, index); // nothing to move and nothing to wait for
}

void
Evaluator::PhaseDone(uint32_t id, uint32_t index)
{
    Convoys& convoys = m_instances[id].convoys;
    const Convoys::Entering entering = convoys.Leave(index);
    if (convoys.Done())
    {
        CompleteInstance(id);
        return;
    }
    StartPhases(id, entering);
}

void
Evaluator::CompleteInstance(uint32_t id)
{
    const std::vector<uint32_t> classes = m_instances[id].classes;
    const Stream stream = m_instances[id].stream;
    const uint32_t collective = m_instances[id].collective;
    const CommClass comm = m_graph.collectives[collective].comm;
    const uint32_t processors = m_graph.collectives[collective].processors;
    m_freeInstances.push_back(id);
    const auto s = static_cast<size_t>(stream);
    for (const uint32_t c : classes)
    {
        ClassState& state = m_classes[c];
        state.busy[static_cast<size_t>(comm)].End(m_now);
        state.done[state.streams[s].queue.front().handle]++;
        state.underWay--;
        if (!m_records.empty())
        {
            m_records[c].collectives[state.streams[s].recorded].end = m_now;
        }
        state.streams[s].queue.pop_front();
        state.streams[s].active = false;
        state.streams[s].begun = false;
        state.underway -= state.clock.Of(processors);
        ChangePace(c);
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
            if (!m_records.empty())
            {
                m_records[c].Spend(Occupation::Exposed,
                                   state.handleComm[state.waitFor],
                                   state.blockedSince,
                                   m_now);
            }
            GoOn(c);
        }
    }
}

} // namespace scaleacross::evaluation
