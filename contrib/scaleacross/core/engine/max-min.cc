// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/max-min.h"

#include "core/base/errors.h"

#include <algorithm>
#include <limits>

namespace scaleacross
{

namespace
{

/// Levels that differ by less are reached at once: what rounding makes of equal ones.
constexpr double kSame = 1.0 + 1e-12;

} // namespace

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
    if (capacity == state.capacity)
    {
        return;
    }
    const bool held = MayBeFull(state);
    state.capacity = capacity;
    if (held || MayBeFull(state))
    {
        for (const User& user : state.flows)
        {
            m_seeds.push_back(user.flow);
        }
    }
}

MaxMin::Flow
MaxMin::Add(double weight, double limit, const std::vector<Use>& uses)
{
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
    state.there = true;
    state.uses.clear();
    for (const Use& use : uses)
    {
        SCALEACROSS_INVARIANT(use.demand > 0, "a flow uses a resource without taking of it");
        state.most = std::min(state.most, 1.0 / use.demand);
    }
    for (const Use& use : uses)
    {
        ResourceState& resource = m_resources[use.resource];
        const auto position = static_cast<uint32_t>(resource.flows.size());
        resource.flows.push_back({flow, static_cast<uint32_t>(state.uses.size())});
        resource.most += use.demand * state.most;
        state.uses.push_back({use.resource, position, use.demand});
    }
    m_seeds.push_back(flow);
    return flow;
}

void
MaxMin::Remove(Flow flow)
{
    FlowState& state = m_flows[flow];
    for (const FlowUse& use : state.uses)
    {
        ResourceState& resource = m_resources[use.resource];
        const bool held = MayBeFull(resource);
        const User moved = resource.flows.back();
        resource.flows[use.position] = moved;
        m_flows[moved.flow].uses[moved.use].position = use.position;
        resource.flows.pop_back();
        // Without rounding errors that would add up.
        resource.most = 0;
        for (const User& user : resource.flows)
        {
            const FlowState& other = m_flows[user.flow];
            resource.most += other.uses[user.use].demand * other.most;
            if (held)
            {
                m_seeds.push_back(user.flow);
            }
        }
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
    Gather();
    Fill();
    m_seeds.clear();
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
        state.held = false;
        m_rising.push_back(flow);
    }
}

/// Finds what is connected with the seeds.
void
MaxMin::Gather()
{
    m_mark++;
    m_rising.clear();
    m_connecting.clear();
    for (const Flow seed : m_seeds)
    {
        Include(seed);
    }
    for (size_t i = 0; i < m_rising.size(); i++) // it grows
    {
        for (const FlowUse& use : m_flows[m_rising[i]].uses)
        {
            ResourceState& resource = m_resources[use.resource];
            if (resource.mark == m_mark || !MayBeFull(resource))
            {
                continue;
            }
            resource.mark = m_mark;
            resource.left = resource.capacity;
            resource.weight = 0;
            m_connecting.push_back(use.resource);
            for (const User& user : resource.flows)
            {
                const FlowState& other = m_flows[user.flow];
                resource.weight += other.uses[user.use].demand * other.weight;
                Include(user.flow);
            }
        }
    }
    // In one order, whatever connected them.
    std::sort(m_rising.begin(), m_rising.end());
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
        if (resource.mark == m_mark)
        {
            resource.left -= use.demand * rate;
            resource.weight -= use.demand * state.weight;
        }
    }
    if (rate != state.rate)
    {
        state.rate = rate;
        m_changed.push_back(flow);
    }
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
                const FlowState& flow = m_flows[user.flow];
                if (!flow.held && flow.mark == m_mark)
                {
                    m_flows[user.flow].held = true; // its rate follows
                }
            }
        }
        const double exact = level / kSame;
        size_t kept = 0;
        for (const Flow flow : m_rising)
        {
            const FlowState& state = m_flows[flow];
            if (state.most <= level * state.weight)
            {
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
        m_connecting.erase(std::remove_if(m_connecting.begin(),
                                          m_connecting.end(),
                                          [this](uint32_t r) {
                                              const auto& flows = m_resources[r].flows;
                                              return std::all_of(flows.begin(),
                                                                 flows.end(),
                                                                 [this](const User& u) {
                                                                     return m_flows[u.flow].held;
                                                                 });
                                          }),
                           m_connecting.end());
    }
}

} // namespace scaleacross
