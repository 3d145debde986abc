// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/engine/evaluator.h"

#include <algorithm>
#include <cstddef>

namespace scaleacross::evaluation
{

// What happens when.

EvaluationWork
Evaluator::Run(RunReport& report)
{
    m_start = std::chrono::steady_clock::now();
    while (m_unfinished > 0)
    {
        if (m_events.Empty())
        {
            FailStuck();
        }
        m_now = m_events.Earliest().at;
        m_current = m_events.First();
        HandleNext(m_current);
        Schedule(m_current);
        TouchChanged();
        for (const uint32_t c : m_touched)
        {
            m_isTouched[c] = false;
            Schedule(c);
        }
        m_touched.clear();
        if (m_passed != kNone)
        {
            PassMark(m_passed);
            m_passed = kNone;
        }
    }
    CheckTimeLimit();
    if (m_graph.once)
    {
        EndTogether();
    }
    Fill(report);
    return m_work;
}

void
Evaluator::EndTogether()
{
    for (uint32_t c = 0; c < m_classes.size(); c++)
    {
        ClassState& state = m_classes[c];
        if (m_graph.classes[c].program.ops.empty())
        {
            continue;
        }
        const Duration idle = m_now - state.end;
        state.atEnd.bubble += idle;
        if (!m_records.empty())
        {
            m_records[c].Spend(Occupation::Bubble, CommClass::Pipeline, state.end, m_now);
        }
        state.end = m_now;
    }
}

void
Evaluator::CheckTimeLimit() const
{
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_start;
    if (spent.count() > m_options.limits.wallTime.S())
    {
        throw RunError("timeout",
                       "time limit: the analytical engine gave up after " +
                           ToString(m_options.limits.wallTime) + " of wall clock time");
    }
}

/// When the next thing happens on a class, as far as is known; Max: nothing.
Duration
Evaluator::Next(uint32_t c) const
{
    const ClassState& state = m_classes[c];
    Duration next = Duration::Max();
    for (const FluidNetwork::Id id : state.transfers)
    {
        next = std::min(next, m_network.FinishTime(id));
    }
    for (const PhaseEnd& end : state.phaseEnds)
    {
        next = std::min(next, end.at);
    }
    for (size_t i = 0; state.held > 0 && i < state.channels.size(); i++)
    {
        next = std::min(next, ReleaseTime(state.channels[i]));
    }
    switch (state.blocked)
    {
    case Blocked::Computing:
    case Blocked::Ready:
        return std::min(next, state.resume);
    case Blocked::Message:
        if (const Letter* letter = m_mail.Front(Slot(c, state.waitFor)))
        {
            return std::min(next, std::max(letter->arrival, state.blockedSince));
        }
        return next;
    case Blocked::No:
    case Blocked::Handle:
    case Blocked::Ended:
        return next;
    }
    return next;
}

/// Handles what happens on a class at m_now, which is Next() of it: at equal times what the network
/// does before what the program does.
void
Evaluator::HandleNext(uint32_t c)
{
    if (++m_work.events % 4096 == 0)
    {
        CheckTimeLimit();
    }
    ClassState& state = m_classes[c];
    for (size_t i = 0; i < state.transfers.size(); i++)
    {
        if (m_network.FinishTime(state.transfers[i]) == m_now)
        {
            VolumeMoved(c, i);
            return;
        }
    }
    for (size_t i = 0; i < state.phaseEnds.size(); i++)
    {
        if (state.phaseEnds[i].at == m_now)
        {
            const PhaseEnd end = state.phaseEnds[i];
            state.phaseEnds.erase(state.phaseEnds.begin() + static_cast<std::ptrdiff_t>(i));
            PhaseDone(end.instance, end.convoy);
            return;
        }
    }
    for (uint32_t i = 0; state.held > 0 && i < state.channels.size(); i++)
    {
        if (ReleaseTime(state.channels[i]) == m_now)
        {
            Release(c, i);
            return;
        }
    }
    switch (state.blocked)
    {
    case Blocked::Computing:
        if (state.repeating)
        {
            EndStretches(c);
        }
        state.totals.compute += state.jumping ? Duration() : m_now - state.blockedSince;
        if (!m_records.empty())
        {
            m_records[c].Spend(Occupation::Compute, CommClass::Data, state.blockedSince, m_now);
        }
        state.jumping = false;
        break;
    case Blocked::Message: {
        TakeLetter(c, *m_mail.Front(Slot(c, state.waitFor)), state.blockedSince);
        Take(c, state.waitFor);
        state.pc++;
        break;
    }
    default:
        break;
    }
    state.blocked = Blocked::No;
    Advance(c);
}

/// A class that waited may go on from now.
void
Evaluator::GoOn(uint32_t c)
{
    m_classes[c].blocked = Blocked::Ready;
    m_classes[c].resume = m_now;
    Touch(c);
}

void
Evaluator::Touch(uint32_t c)
{
    if (c != m_current && !m_isTouched[c])
    {
        m_isTouched[c] = true;
        m_touched.push_back(c);
    }
}

void
Evaluator::Schedule(uint32_t c)
{
    const Duration next = Next(c);
    if (next == m_classes[c].scheduled)
    {
        return;
    }
    m_classes[c].scheduled = next;
    if (next == Duration::Max())
    {
        m_events.Remove(c);
        return;
    }
    m_events.Set(c, {next, c});
}

/// Transfers whose ends have moved, by what they share with others.
void
Evaluator::TouchChanged()
{
    for (const FluidNetwork::Id id : m_network.Changed())
    {
        Touch(m_owners[id].classId);
    }
    m_network.Changed().clear();
}

} // namespace scaleacross::evaluation
