// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/evaluator.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace scaleacross::evaluation
{

// The state of a group, as it is compared with that of other times.

namespace
{

/// Writes down a state as of a time and a microbatch.
class Describer
{
  public:
    Describer(Duration now, uint32_t microbatch, StateWords& words)
        : m_now(now),
          m_microbatch(microbatch),
          m_words(words)
    {
    }

    void Add(uint64_t number)
    {
        m_words.Add(number);
    }

    void AddSince(Duration time)
    {
        m_words.Add(m_now - time);
    }

    void AddMessage(uint32_t message)
    {
        m_words.Add(uint64_t{message} - m_microbatch);
    }

    void Add(const std::deque<QueuedMessage>& queue)
    {
        Add(queue.size());
        for (const QueuedMessage& message : queue)
        {
            AddMessage(message.message);
            m_words.AddAddress(message.cost);
            AddSince(message.posted);
        }
    }

    void Add(const StreamState& stream)
    {
        Add(stream.queue.size());
        for (const Posted& posted : stream.queue)
        {
            Add(posted.collective);
            Add(posted.handle);
        }
        Add((stream.begun ? 1U : 0U) + (stream.active ? 2U : 0U));
    }

    void AddProgram(const ClassState& state, uint32_t operations)
    {
        Add(uint64_t{state.pc} - operations);
        Add(state.body);
        Add(state.body == kNone ? 0 : state.bodyPc);
        Add((state.marked ? 1U : 0U) + (state.jumping ? 2U : 0U) +
            (state.running != nullptr ? 4U : 0U) + (state.repeating ? 8U : 0U));
        Add(static_cast<uint64_t>(state.blocked));
        Add(state.underway.usual);
        Add(state.underway.processors);
        switch (state.blocked)
        {
        case Blocked::Computing:
            AddSince(state.resume);
            if (state.repeating)
            {
                AddSince(state.blockedSince);
            }
            else if (!state.jumping)
            {
                AddSince(state.blockedSince);
                state.clock.Describe(m_now, m_words);
            }
            break;
        case Blocked::Ready:
            AddSince(state.resume);
            break;
        case Blocked::Message:
            AddMessage(state.waitFor);
            AddSince(state.blockedSince);
            break;
        case Blocked::Handle:
            Add(state.waitFor);
            AddSince(state.blockedSince);
            break;
        case Blocked::No:
        case Blocked::Ended:
            break;
        }
    }

    /// Handles whose collectives are complete let whoever asks pass.
    void AddHandles(const ClassState& state)
    {
        for (uint32_t handle = 0; handle < state.posted.size(); handle++)
        {
            if (state.posted[handle] != state.done[handle])
            {
                Add(handle);
                Add(state.posted[handle] - state.done[handle]);
                Add(static_cast<uint64_t>(state.handleComm[handle]));
            }
        }
        Add(kNone); // no handle
    }

    void Add(const Instance& instance)
    {
        Add(instance.collective);
        Add(static_cast<uint64_t>(instance.stream));
        instance.convoys.Describe(m_words);
        for (const ConvoyState& convoy : instance.states)
        {
            Add(convoy.volumesLeft);
            // The latency counts while there is something it follows.
            m_words.Add(convoy.volumesLeft > 0 ? convoy.latency : Duration());
        }
        for (const uint32_t c : instance.classes)
        {
            Add(c);
        }
        for (const RankWindows& windows : instance.windows)
        {
            windows.Describe(m_now, m_words);
        }
    }

  private:
    Duration m_now;
    uint32_t m_microbatch;
    StateWords& m_words;
};

} // namespace

/// Collectives under way in a group, by class and in the order in which they are found.
std::vector<uint32_t>
Evaluator::InstancesOf(const SteadyState& group) const
{
    std::vector<uint32_t> instances;
    const auto add = [&instances](uint32_t id) {
        if (std::find(instances.begin(), instances.end(), id) == instances.end())
        {
            instances.push_back(id);
        }
    };
    for (const uint32_t c : group.group.classes)
    {
        for (const FluidNetwork::Id id : m_classes[c].transfers)
        {
            if (!m_owners[id].isMessage)
            {
                add(m_owners[id].index);
            }
        }
        for (const PhaseEnd& end : m_classes[c].phaseEnds)
        {
            add(end.instance);
        }
    }
    return instances;
}

/// Writes down the state of a group at its mark; false if not all of it is of its steady part.
bool
Evaluator::DescribeGroup(const SteadyState& group, StateWords& words) const
{
    const std::vector<uint32_t>& classes = group.group.classes;
    const uint32_t iteration = m_classes[classes.front()].iteration;
    for (const uint32_t c : classes)
    {
        // What arrives when the measured iteration begins is counted with what was before.
        const bool begins = iteration == m_options.warmup && m_classes[c].begin == m_now;
        if (!IsSteady(c, iteration) || begins)
        {
            return false;
        }
    }
    Describer describer(m_now, m_repetition->microbatches * group.mark, words);
    const std::vector<uint32_t> instances = InstancesOf(group);
    const auto numberOf = [&instances](uint32_t id) {
        return static_cast<uint64_t>(std::find(instances.begin(), instances.end(), id) -
                                     instances.begin());
    };
    std::vector<std::pair<FluidNetwork::Id, uint64_t>>
        order; // of transfers, and how many are before
    for (const uint32_t c : classes)
    {
        const ClassState& state = m_classes[c];
        describer.AddProgram(state, m_repetition->classes[c].period * group.mark);
        describer.AddHandles(state);
        for (const StreamState& stream : state.streams)
        {
            describer.Add(stream);
        }
        state.windows.Describe(m_now, words);
        describer.Add(state.channels.size());
        for (const Channel& channel : state.channels)
        {
            describer.Add(channel.queue);
            describer.Add(channel.held);
            channel.window.Describe(m_now, words);
        }
        describer.Add(state.transfers.size());
        for (const FluidNetwork::Id id : state.transfers)
        {
            const TransferOwner& owner = m_owners[id];
            describer.Add(owner.isMessage ? owner.index : numberOf(owner.index));
            describer.Add(owner.isMessage ? kNone : owner.convoy);
            m_network.Describe(id, m_now, words);
            order.emplace_back(id, order.size());
        }
        describer.Add(state.phaseEnds.size());
        for (const PhaseEnd& end : state.phaseEnds)
        {
            describer.AddSince(end.at);
            describer.Add(numberOf(end.instance));
            describer.Add(end.convoy);
        }
        for (const BusyClock& busy : state.busy)
        {
            describer.Add(busy.active);
        }
        const auto awaited = AwaitedMessages(c);
        if (!awaited)
        {
            return false;
        }
        describer.Add(awaited->size());
        for (const uint32_t message : *awaited)
        {
            const size_t slot = Slot(c, message);
            describer.AddMessage(message);
            const Letter* letter = m_mail.Front(slot);
            const bool credit = m_graph.rendezvous && m_credits[slot] != Duration::Max();
            describer.Add((letter != nullptr ? 1U : 0U) + (credit ? 2U : 0U));
            if (letter != nullptr)
            {
                describer.AddSince(letter->posted);
                describer.AddSince(letter->arrival);
            }
            if (credit)
            {
                // One that is there is there, since whenever.
                describer.AddSince(std::max(m_credits[slot], m_now));
            }
        }
        for (const uint32_t cut : group.group.cuts)
        {
            m_network.DescribeTrace(c, cut, iteration, m_now, words);
        }
    }
    std::sort(order.begin(), order.end(), [this](const auto& a, const auto& b) {
        return m_network.IsBefore(a.first, b.first);
    });
    for (const auto& [id, number] : order)
    {
        describer.Add(number);
    }
    for (const uint32_t id : instances)
    {
        describer.Add(m_instances[id]);
    }
    return true;
}

} // namespace scaleacross::evaluation
