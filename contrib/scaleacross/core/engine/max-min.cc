// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/max-min.h"

#include "core/base/errors.h"

#include <algorithm>
#include <limits>

namespace scaleacross
{

MaxMin::MaxMin(uint32_t resources)
    : m_resources(resources)
{
}

uint32_t
MaxMin::AddResource()
{
    m_resources.emplace_back();
    return static_cast<uint32_t>(m_resources.size() - 1);
}

void
MaxMin::SetCapacity(uint32_t resource, double capacity)
{
    ResourceState& state = m_resources[resource];
    SCALEACROSS_INVARIANT(capacity > 0 &&
                              (capacity <= 1 || (state.waits && capacity == kUnlimited)),
                          "a part of what a resource has");
    if (capacity == state.capacity)
    {
        return;
    }
    state.capacity = capacity;
    Seed(state, resource);
    for (const User& user : state.flows)
    {
        if (MayBeFull(state)) // they may take too much of it
        {
            m_seeds.push_back(user.flow);
        }
    }
}

/// Those that a resource holds may rise.
void
MaxMin::Seed(const ResourceState& resource, uint32_t number)
{
    if (resource.holds == 0)
    {
        return;
    }
    for (const User& user : resource.flows)
    {
        if (m_flows[user.flow].bottleneck == number)
        {
            m_seeds.push_back(user.flow);
        }
    }
}

MaxMin::Flow
MaxMin::Add(double weight,
            double limit,
            const std::vector<Use>& uses,
            uint32_t flowClass,
            int64_t time,
            uint32_t owner)
{
    SCALEACROSS_INVARIANT(m_classWeights.empty() || flowClass < m_classWeights.size(),
                          "a flow of a class that has no weight");
    Flow flow;
    if (m_free.empty())
    {
        flow = static_cast<Flow>(m_flows.size());
        m_flows.emplace_back();
    }
    else
    {
        flow = m_free.back();
        m_free.pop_back();
    }
    FlowState& state = m_flows[flow];
    state.weight = weight;
    state.most = limit;
    state.rate = 0;
    state.bottleneck = kOwnLimit;
    state.arrival = {time, owner, m_added++};
    state.there = true;
    state.flowClass = flowClass;
    state.uses.clear();
    for (const Use& use : uses)
    {
        SCALEACROSS_INVARIANT(use.demand > 0, "a flow uses a resource without taking of it");
        if (!m_resources[use.resource].waits)
        {
            state.most = std::min(state.most, 1.0 / use.demand);
        }
    }
    for (const Use& use : uses)
    {
        ResourceState& resource = m_resources[use.resource];
        const auto position = static_cast<uint32_t>(resource.flows.size());
        const User user{flow, static_cast<uint32_t>(state.uses.size())};
        resource.flows.push_back(user);
        resource.most += use.demand * state.most;
        state.uses.push_back({use.resource, position, use.demand});
        if (m_keepsOrder)
        {
            Rise(resource);
        }
    }
    m_seeds.push_back(flow);
    return flow;
}

/// The last flow of a resource takes its place in the order of arrivals.
void
MaxMin::Rise(ResourceState& resource)
{
    std::vector<User>& users = resource.flows;
    const User last = users.back();
    const Arrival& arrival = m_flows[last.flow].arrival;
    size_t position = users.size() - 1;
    for (; position > 0 && arrival < m_flows[users[position - 1].flow].arrival; position--)
    {
        users[position] = users[position - 1];
        m_flows[users[position].flow].uses[users[position].use].position =
            static_cast<uint32_t>(position);
    }
    if (position + 1 < users.size())
    {
        users[position] = last;
        m_flows[last.flow].uses[last.use].position = static_cast<uint32_t>(position);
        AddUp(resource);
    }
}

void
MaxMin::Erase(ResourceState& resource, uint32_t position)
{
    std::vector<User>& users = resource.flows;
    if (!m_keepsOrder)
    {
        users[position] = users.back();
        m_flows[users[position].flow].uses[users[position].use].position = position;
        users.pop_back();
        return;
    }
    users.erase(users.begin() + position);
    for (; position < users.size(); position++)
    {
        m_flows[users[position].flow].uses[users[position].use].position = position;
    }
}

/// What the flows of a resource would take, without rounding errors that would add up.
void
MaxMin::AddUp(ResourceState& resource)
{
    resource.most = 0;
    for (const User& user : resource.flows)
    {
        const FlowState& other = m_flows[user.flow];
        resource.most += other.uses[user.use].demand * other.most;
    }
}

void
MaxMin::Remove(Flow flow)
{
    FlowState& state = m_flows[flow];
    if (state.bottleneck != kOwnLimit)
    {
        m_resources[state.bottleneck].holds--;
    }
    for (const FlowUse& use : state.uses)
    {
        ResourceState& resource = m_resources[use.resource];
        Erase(resource, use.position);
        AddUp(resource);
        Seed(resource, use.resource);
    }
    state.there = false;
    state.uses.clear();
    m_free.push_back(flow);
}

void
MaxMin::Solve()
{
    if (m_seeds.empty())
    {
        return;
    }
    m_mark++;
    m_filled.clear();
    for (const Flow seed : m_seeds)
    {
        Include(seed);
    }
    m_seeds.clear();
    if (!m_classWeights.empty())
    {
        IncludeConnected();
        SortFilled();
        Connect();
        FillByClass();
    }
    for (size_t filled = 0; m_classWeights.empty() && filled < m_filled.size();)
    {
        filled = m_filled.size();
        SortFilled();
        Connect();
        Fill();
        IncludeWhoMayNotStay();
    }
    Conclude();
}

/// In one order, whatever brought them here.
void
MaxMin::SortFilled()
{
    std::sort(m_filled.begin(), m_filled.end(), [this](Flow a, Flow b) {
        return m_keepsOrder ? m_flows[a].arrival < m_flows[b].arrival : a < b;
    });
}

/// Those that were filled stay as they are now.
void
MaxMin::Conclude()
{
    for (const Flow flow : m_filled)
    {
        const FlowState& state = m_flows[flow];
        if (state.bottleneck != kOwnLimit)
        {
            m_resources[state.bottleneck].holds++;
        }
        if (state.rate != state.before)
        {
            m_changed.push_back(flow);
        }
    }
}

void
MaxMin::Describe(Flow flow, StateWords& words) const
{
    const FlowState& state = m_flows[flow];
    words.Add(state.weight);
    words.Add(state.most);
    words.Add(state.rate);
    words.Add(uint64_t{state.bottleneck});
    words.Add(uint64_t{state.flowClass});
    words.Add(uint64_t{state.uses.size()});
    for (const FlowUse& use : state.uses)
    {
        words.Add(uint64_t{use.resource});
        words.Add(use.demand);
    }
}

double
MaxMin::Load(uint32_t resource) const
{
    double load = 0;
    for (const User& user : m_resources[resource].flows)
    {
        const FlowState& flow = m_flows[user.flow];
        load += flow.uses[user.use].demand * flow.rate;
    }
    return load;
}

void
MaxMin::Include(Flow flow)
{
    FlowState& state = m_flows[flow];
    if (state.there && state.mark != m_mark)
    {
        state.mark = m_mark;
        state.before = state.rate;
        if (state.bottleneck != kOwnLimit)
        {
            m_resources[state.bottleneck].holds--;
        }
        m_filled.push_back(flow);
    }
}

/// Finds what those that are filled have to share, and what the others leave of it.
void
MaxMin::Connect()
{
    m_pass++;
    m_touched.clear();
    for (const Flow flow : m_filled)
    {
        FlowState& state = m_flows[flow];
        state.held = false;
        for (const FlowUse& use : state.uses)
        {
            ResourceState& resource = m_resources[use.resource];
            if (resource.mark == m_pass || !MayBeFull(resource))
            {
                continue;
            }
            resource.mark = m_pass;
            resource.left = resource.capacity;
            resource.weight = 0;
            resource.rising = 0;
            m_touched.push_back(use.resource);
            // From the flows each time, so that equal ones get equal rates whatever was before.
            for (const User& user : resource.flows)
            {
                const FlowState& other = m_flows[user.flow];
                const double demand = other.uses[user.use].demand;
                if (other.mark == m_mark)
                {
                    resource.weight += demand * other.weight;
                    resource.rising++;
                }
                else
                {
                    resource.left -= demand * other.rate;
                }
            }
        }
    }
    m_rising = m_filled;
    m_connecting = m_touched;
}

/// Of those that were not filled, who has no bottleneck now or is another's.
void
MaxMin::IncludeWhoMayNotStay()
{
    m_leaving.clear();
    for (const uint32_t r : m_touched)
    {
        const ResourceState& resource = m_resources[r];
        if (resource.holds == 0 && resource.full != m_pass)
        {
            continue; // nobody has a bottleneck here
        }
        // Where somebody is held, whatever rounding has left of it.
        const bool full = resource.full == m_pass || resource.left <= kNear * resource.capacity;
        double highest = 0;
        double held = std::numeric_limits<double>::infinity(); // of who is filled and held here
        for (const User& user : resource.flows)
        {
            const FlowState& flow = m_flows[user.flow];
            const double level = flow.rate / flow.weight;
            highest = std::max(highest, level);
            if (flow.mark == m_mark && flow.bottleneck == r)
            {
                held = std::min(held, level);
            }
        }
        for (const User& user : resource.flows)
        {
            const FlowState& flow = m_flows[user.flow];
            const double level = flow.rate / flow.weight;
            const bool mayRise = flow.bottleneck == r && (!full || level < highest * (1.0 - kNear));
            const bool mustGive = full && level > held * (1.0 + kNear);
            if (flow.mark != m_mark && (mayRise || mustGive))
            {
                m_leaving.push_back(user.flow);
            }
        }
    }
    for (const Flow flow : m_leaving)
    {
        Include(flow);
    }
}

/// The level at which the next flow is held.
double
MaxMin::NextLevel() const
{
    double level = std::numeric_limits<double>::infinity();
    for (const Flow flow : m_rising)
    {
        level = std::min(level, m_flows[flow].most / m_flows[flow].weight);
    }
    for (const uint32_t r : m_connecting)
    {
        const ResourceState& resource = m_resources[r];
        if (resource.weight > 0)
        {
            level = std::min(level, std::max(0.0, resource.left) / resource.weight);
        }
    }
    return level;
}

void
MaxMin::Hold(Flow flow, double rate)
{
    FlowState& state = m_flows[flow];
    state.held = true;
    for (const FlowUse& use : state.uses)
    {
        ResourceState& resource = m_resources[use.resource];
        if (resource.mark == m_pass)
        {
            resource.left -= use.demand * rate;
            resource.weight -= use.demand * state.weight;
            resource.rising--;
        }
    }
    state.rate = rate;
}

void
MaxMin::Fill()
{
    while (!m_rising.empty())
    {
        const double level = NextLevel() * kSame;
        // Which resources are full at this level is to be known before the first flow is held.
        for (const uint32_t r : m_connecting)
        {
            ResourceState& resource = m_resources[r];
            if (resource.weight <= 0 || resource.left > level * resource.weight)
            {
                continue;
            }
            for (const User& user : resource.flows)
            {
                FlowState& flow = m_flows[user.flow];
                if (!flow.held && flow.mark == m_mark)
                {
                    flow.held = true; // its rate follows
                    flow.bottleneck = r;
                    resource.full = m_pass;
                }
            }
        }
        const double exact = level / kSame;
        size_t kept = 0;
        for (const Flow flow : m_rising)
        {
            FlowState& state = m_flows[flow];
            if (state.most <= level * state.weight)
            {
                state.bottleneck = kOwnLimit;
                Hold(flow, state.most);
            }
            else if (state.held)
            {
                Hold(flow, exact * state.weight);
            }
            else
            {
                m_rising[kept++] = flow;
            }
        }
        m_rising.resize(kept);
        // What nobody rises on any more is done with, whatever rounding has left of its weight.
        m_connecting.erase(
            std::remove_if(m_connecting.begin(),
                           m_connecting.end(),
                           [this](uint32_t r) { return m_resources[r].rising == 0; }),
            m_connecting.end());
    }
}

} // namespace scaleacross
