// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/evaluator.h"

#include <algorithm>
#include <cstddef>

namespace scaleacross::evaluation
{

// Stretches of bodies that have been executed before.

/// Whether a collective starts as if there had been none before, and acts on its class alone, cuts
/// apart.
bool
Evaluator::IsLocal(uint32_t c, const Op& op)
{
    // Connections of other streams have windows of their own, which it may find used.
    return IsOfLayer(op.stream) && m_costs.Participants(c, op.index).size() == 1;
}

/// Whether so much more of a cut is there, whatever comes together: then nobody on it holds anybody
/// back.
bool
Evaluator::HasRoom(uint32_t cut, double most) const
{
    const double others = m_network.MostOn(cut) + m_reserved[cut].most;
    return others <= 0 || others + most <= kRoom;
}

void
Evaluator::Reserve(uint32_t c, const std::vector<CutLoad>& loads)
{
    for (const CutLoad& load : loads)
    {
        m_reserved[load.cut].most += load.most;
        m_reserved[load.cut].classes.push_back(c);
    }
}

void
Evaluator::Release(uint32_t c, const std::vector<CutLoad>& loads)
{
    for (const CutLoad& load : loads)
    {
        Reserved& reserved = m_reserved[load.cut];
        reserved.classes.erase(std::find(reserved.classes.begin(), reserved.classes.end(), c));
        // Without rounding errors that would add up.
        reserved.most = reserved.classes.empty() ? 0.0 : reserved.most - load.most;
    }
}

/// Whoever repeats what it did on a cut executes it from now on.
void
Evaluator::DisturbCut(uint32_t cut)
{
    const std::vector<uint32_t> classes = m_reserved[cut].classes;
    for (const uint32_t c : classes)
    {
        Disturb(c);
    }
}

/// Before transfers start that put `m_loads` on cuts: of a collective of one class, which is that
/// of `alone`, or of others (kNone).
void
Evaluator::Announce(uint32_t alone)
{
    for (const CutLoad& load : m_loads)
    {
        double own = 0;
        if (alone != kNone)
        {
            for (const FluidNetwork::Id id : m_classes[alone].transfers)
            {
                own += m_network.MostOn(load.cut, id);
            }
        }
        const double others = m_network.MostOn(load.cut) + m_reserved[load.cut].most - own;
        if (own + others + load.most > kRoom)
        {
            DisturbCut(load.cut);
            // Who is on the cut with others does not do what it does alone.
            for (uint32_t c = 0; c < m_classes.size(); c++)
            {
                if (c != alone && FindLoad(c, load.cut) != nullptr)
                {
                    m_classes[c].stretch = kNone;
                }
            }
            if (alone != kNone && others > 1.0 - kRoom)
            {
                m_classes[alone].stretch = kNone;
            }
        }
        if (alone == kNone || m_classes[alone].stretch == kNone)
        {
            continue;
        }
        CutLoad* known = FindLoad(alone, load.cut);
        if (known == nullptr)
        {
            m_classes[alone].stretchLoads.push_back({load.cut, 0, 0});
            known = &m_classes[alone].stretchLoads.back();
        }
        known->most = std::max(known->most, own + load.most);
        known->units += load.units;
    }
}

/// What a class has put on a cut in the stretch that it executes to repeat it; null: nothing.
CutLoad*
Evaluator::FindLoad(uint32_t c, uint32_t cut)
{
    ClassState& state = m_classes[c];
    const auto known = std::find_if(state.stretchLoads.begin(),
                                    state.stretchLoads.end(),
                                    [cut](const CutLoad& load) { return load.cut == cut; });
    return state.stretch == kNone || known == state.stretchLoads.end() ? nullptr : &*known;
}

/// Adds to `m_loads` what a transfer puts on cuts.
void
Evaluator::AddLoads(const TransferCost& cost, uint32_t alike, double parties)
{
    for (const CutUse& use : cost.cuts)
    {
        if (!m_network.IsThere(use.cut))
        {
            continue;
        }
        const CutLoad load{use.cut,
                           FluidNetwork::MostOn(use, cost, alike, parties),
                           FluidNetwork::UnitsOf(use.demand * alike)};
        const auto known = std::find_if(m_loads.begin(), m_loads.end(), [&](const CutLoad& other) {
            return other.cut == use.cut;
        });
        if (known == m_loads.end())
        {
            m_loads.push_back(load);
            continue;
        }
        known->most += load.most;
        known->units += load.units;
    }
}

/// Before a message starts, and before it ends: what has been used of its cuts counts for it, and
/// has to be known.
void
Evaluator::DisturbCutsOf(const TransferCost& cost)
{
    for (const CutUse& use : cost.cuts)
    {
        if (m_network.IsThere(use.cut))
        {
            DisturbCut(use.cut);
        }
    }
}

/// Whether a class is held up so often that repeating costs more than it saves.
bool
Evaluator::GoesWithoutStretches(const ClassState& state)
{
    // To be disturbed takes about as long as to execute so many operations: what is left out until
    // then still counts, since a body of many stretches is worth it where each has its message.
    constexpr uint64_t price = 4;
    constexpr uint64_t tries = 16;
    return state.disturbed > state.repeated / price + tries;
}

/// What a class's sums have come to, with nothing of it under way.
Totals
Evaluator::SumsOf(const ClassState& state)
{
    Totals totals = state.totals;
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        totals.busy[k] += state.busy[k].total;
    }
    return totals;
}

/// A class that has nothing under way comes to an operation of a body, or to its end; false if it
/// is now busy with what it has done before.
bool
Evaluator::PassStretch(uint32_t c)
{
    ClassState& state = m_classes[c];
    if (m_catchesUp || GoesWithoutStretches(state))
    {
        return true;
    }
    BodyStretches& known = m_stretches[c * m_graph.bodies.size() + state.body];
    if (state.stretch != kNone && state.stretch < state.bodyPc)
    {
        BodyStretch stretch;
        stretch.end = state.bodyPc;
        stretch.local = state.stretchLocal;
        stretch.time = m_now - state.stretchBegin;
        stretch.totals.AddTimes(1, SumsOf(state), state.stretchSums);
        stretch.loads = state.stretchLoads;
        known.Learn(state.stretch, stretch);
    }
    state.stretch = kNone;
    if (state.near > 0 || state.held > 0 || state.bodyPc == m_graph.bodies[state.body].ops.size())
    {
        return true;
    }
    if (!known.IsKnown(state.bodyPc))
    {
        state.stretch = state.bodyPc;
        state.stretchLocal = true;
        state.stretchBegin = m_now;
        state.stretchSums = SumsOf(state);
        state.stretchLoads.clear();
        return true;
    }
    if (!known.IsLocal(state.bodyPc))
    {
        return true;
    }
    const BodyStretches::Row& row = known.From(state.bodyPc);
    if (row.time == Duration())
    {
        state.totals.AddTimes(1, row.totals, Totals());
        state.bodyPc = row.end;
        return PassStretch(c);
    }
    for (const CutLoad& load : row.loads)
    {
        if (!HasRoom(load.cut, load.most))
        {
            return true;
        }
    }
    Reserve(c, row.loads);
    state.blocked = Blocked::Computing;
    state.jumping = true;
    state.repeating = true;
    state.blockedSince = m_now;
    state.resume = m_now + row.time;
    return false;
}

/// A class has done again what it had done before.
void
Evaluator::EndStretches(uint32_t c)
{
    ClassState& state = m_classes[c];
    const BodyStretches::Row& row =
        m_stretches[c * m_graph.bodies.size() + state.body].From(state.bodyPc);
    Release(c, row.loads);
    for (const CutLoad& load : row.loads)
    {
        m_network.Use(load.cut, load.units);
        m_network.Meet(c, load.cut);
    }
    state.totals.AddTimes(1, row.totals, Totals());
    state.repeated += row.end - state.bodyPc;
    state.bodyPc = row.end;
    state.repeating = false;
    m_work.repeated++;
}

/// Before a message takes its part of a class's ports: what the class does is executed from now on,
/// and has been until now.
void
Evaluator::Disturb(uint32_t c)
{
    ClassState& state = m_classes[c];
    state.stretch = kNone;
    if (!state.repeating)
    {
        return;
    }
    state.disturbed++;
    const Duration now = m_now;
    BodyStretches& known = m_stretches[c * m_graph.bodies.size() + state.body];
    Release(c, known.From(state.bodyPc).loads);
    const BodyStretches::Row done = known.Before(state.bodyPc, now - state.blockedSince);
    state.totals.AddTimes(1, done.totals, Totals());
    state.repeated += done.end - state.bodyPc;
    state.bodyPc = done.end;
    state.repeating = false;
    state.jumping = false;
    state.blocked = Blocked::No;
    // Nobody else has to do with what it has done until now.
    m_catchesUp = true;
    m_now = state.blockedSince + done.time;
    Advance(c);
    for (Duration next = Next(c); next < now || (next == now && c < m_current); next = Next(c))
    {
        m_now = next;
        HandleNext(c);
    }
    m_now = now;
    m_catchesUp = false;
    Touch(c);
}

} // namespace scaleacross::evaluation
