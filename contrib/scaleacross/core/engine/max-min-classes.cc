// SPDX-License-Identifier: GPL-2.0-only

// Filling where resources tell classes of flows apart.

#include "core/base/errors.h"
#include "core/engine/max-min.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace scaleacross
{

void
MaxMin::TellClassesApart(std::vector<double> weights)
{
    SCALEACROSS_INVARIANT(m_flows.empty(), "classes are told apart from the first flow on");
    m_classWeights = std::move(weights);
}

/// All that shares something that may be full with those that are filled.
void
MaxMin::IncludeConnected()
{
    m_pass++;
    for (size_t i = 0; i < m_filled.size(); i++)
    {
        for (const FlowUse& use : m_flows[m_filled[i]].uses)
        {
            ResourceState& resource = m_resources[use.resource];
            if (resource.mark == m_pass || !MayBeFull(resource))
            {
                continue;
            }
            resource.mark = m_pass;
            for (const User& user : resource.flows)
            {
                Include(user.flow);
            }
        }
    }
}

void
MaxMin::FillByClass()
{
    const size_t classes = m_classWeights.size();
    m_classStates.assign(m_touched.size() * classes, ClassState());
    for (size_t i = 0; i < m_touched.size(); i++)
    {
        m_resources[m_touched[i]].classes = static_cast<uint32_t>(i * classes);
    }
    while (!m_rising.empty())
    {
        FindLevels();
        if (!HoldSettled())
        {
            HoldFirst();
        }
        m_rising.erase(std::remove_if(m_rising.begin(),
                                      m_rising.end(),
                                      [this](Flow flow) { return m_flows[flow].held; }),
                       m_rising.end());
    }
}

/// What those that rise are sure to reach on every resource, and where they are held by that.
void
MaxMin::FindLevels()
{
    for (ClassState& state : m_classStates)
    {
        state.weight = 0;
        state.rising = false;
        state.agreed = true;
    }
    for (const Flow rising : m_rising)
    {
        const FlowState& flow = m_flows[rising];
        for (const FlowUse& use : flow.uses)
        {
            const ResourceState& resource = m_resources[use.resource];
            if (resource.mark == m_pass)
            {
                ClassState& state = ClassOf(resource, flow);
                state.weight += use.demand * flow.weight;
                state.rising = true;
            }
        }
    }
    for (const uint32_t r : m_touched)
    {
        FindLevels(m_resources[r]);
    }
    for (const Flow rising : m_rising)
    {
        const FlowState& flow = m_flows[rising];
        const double level = LevelOf(flow);
        for (const FlowUse& use : flow.uses)
        {
            const ResourceState& resource = m_resources[use.resource];
            if (resource.mark == m_pass)
            {
                ClassState& state = ClassOf(resource, flow);
                state.agreed = state.agreed && state.level <= level * kSame;
            }
        }
    }
    for (const uint32_t r : m_touched)
    {
        Settle(m_resources[r]);
    }
}

/// The levels of a resource's classes: what each has if no other leaves anything.
void
MaxMin::FindLevels(ResourceState& resource)
{
    ClassState* const states = &m_classStates[resource.classes];
    // What rounding leaves of a resource is nothing.
    const auto levelOf = [&resource](double left, const ClassState& state) {
        return left <= kNear * resource.capacity ? 0.0 : left / state.weight;
    };
    if (resource.alike)
    {
        states[0].level = levelOf(resource.capacity - states[0].held, states[0]);
        return;
    }
    double left = resource.capacity;
    bool taken = false; // a class that goes before may take all
    double weights = 0; // of those with a weight that rise
    for (size_t c = m_classWeights.size(); c-- > 0;)
    {
        ClassState& state = states[c];
        if (m_classWeights[c] > 0)
        {
            weights += state.rising ? m_classWeights[c] : 0.0;
            continue;
        }
        left -= state.held;
        state.level = taken ? 0.0 : levelOf(left, state);
        taken = taken || state.rising;
    }
    for (size_t c = 0; c < m_classWeights.size(); c++)
    {
        left -= m_classWeights[c] > 0 && !states[c].rising ? states[c].held : 0.0;
    }
    for (size_t c = 0; c < m_classWeights.size(); c++)
    {
        ClassState& state = states[c];
        if (m_classWeights[c] > 0 && state.rising)
        {
            state.level =
                taken ? 0.0 : levelOf(left * (m_classWeights[c] / weights) - state.held, state);
        }
    }
}

/// Finds the classes that have what they will have there: those that go before, or share, have
/// nothing else that holds them.
void
MaxMin::Settle(const ResourceState& resource)
{
    ClassState* const states = &m_classStates[resource.classes];
    if (resource.alike)
    {
        states[0].settled = states[0].rising && states[0].agreed;
        return;
    }
    bool all = true; // of those that go before
    for (size_t c = m_classWeights.size(); c-- > 0;)
    {
        if (m_classWeights[c] == 0)
        {
            all = all && (!states[c].rising || states[c].agreed);
            states[c].settled = states[c].rising && all;
        }
    }
    for (size_t c = 0; c < m_classWeights.size(); c++)
    {
        all = all && (m_classWeights[c] == 0 || !states[c].rising || states[c].agreed);
    }
    for (size_t c = 0; c < m_classWeights.size(); c++)
    {
        if (m_classWeights[c] > 0)
        {
            states[c].settled = states[c].rising && all;
        }
    }
}

/// The least level that a flow is sure to reach on what it uses, or by its limit.
double
MaxMin::LevelOf(const FlowState& flow) const
{
    double level = flow.most / flow.weight;
    for (const FlowUse& use : flow.uses)
    {
        const ResourceState& resource = m_resources[use.resource];
        if (resource.mark == m_pass)
        {
            level = std::min(level, ClassOf(resource, flow).level);
        }
    }
    return level;
}

/// Holds those that are at their limits, or where all is settled; false if there are none.
bool
MaxMin::HoldSettled()
{
    bool any = false;
    for (const Flow rising : m_rising)
    {
        const FlowState& flow = m_flows[rising];
        const double level = LevelOf(flow);
        if (flow.most <= level * kSame * flow.weight)
        {
            HoldInClass(rising, kOwnLimit, flow.most);
            any = true;
            continue;
        }
        for (const FlowUse& use : flow.uses)
        {
            const ResourceState& resource = m_resources[use.resource];
            if (resource.mark == m_pass && ClassOf(resource, flow).settled &&
                ClassOf(resource, flow).level <= level * kSame)
            {
                HoldInClass(rising, use.resource, level * flow.weight);
                any = true;
                break;
            }
        }
    }
    return any;
}

/// Holds one where everybody waits for another: of those that go first the one with the least
/// level for the weight of its class, and of these the one that is first.
void
MaxMin::HoldFirst()
{
    std::pair<double, double> least{0, 0};
    Flow first = m_rising.front();
    for (const Flow rising : m_rising)
    {
        const FlowState& flow = m_flows[rising];
        const double weight = m_classWeights[flow.flowClass];
        const double before = weight > 0 ? 1.0 : -static_cast<double>(flow.flowClass);
        const std::pair<double, double> order{before, LevelOf(flow) / (weight > 0 ? weight : 1.0)};
        if (rising == m_rising.front() || order < least)
        {
            least = order;
            first = rising;
        }
    }
    const FlowState& flow = m_flows[first];
    const double level = LevelOf(flow);
    uint32_t bottleneck = kOwnLimit;
    for (const FlowUse& use : flow.uses)
    {
        const ResourceState& resource = m_resources[use.resource];
        if (resource.mark == m_pass && ClassOf(resource, flow).level <= level)
        {
            bottleneck = use.resource;
        }
    }
    HoldInClass(first, bottleneck, level * flow.weight);
}

/// What holds a flow is found before any is held, so that levels stay as they were found.
void
MaxMin::HoldInClass(Flow flow, uint32_t bottleneck, double rate)
{
    FlowState& state = m_flows[flow];
    state.held = true;
    state.rate = rate;
    state.bottleneck = bottleneck;
    for (const FlowUse& use : state.uses)
    {
        ResourceState& resource = m_resources[use.resource];
        if (resource.mark == m_pass)
        {
            ClassOf(resource, state).held += use.demand * rate;
        }
    }
}

} // namespace scaleacross
