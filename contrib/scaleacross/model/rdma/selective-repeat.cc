// SPDX-License-Identifier: GPL-2.0-only

#include "selective-repeat.h"

#include <algorithm>

namespace scaleacross
{

void
SelectiveRepeat::Start(uint64_t firstPsn, uint64_t tolerance)
{
    m_una = firstPsn;
    m_judged = firstPsn;
    m_tolerance = tolerance;
    m_arrived.Reset(firstPsn);
}

SelectiveRepeat::Finding
SelectiveRepeat::Answered(uint64_t cumulative, uint64_t cause, uint64_t next)
{
    Finding finding;
    finding.progress = cumulative > m_una;
    const uint64_t knownBefore = m_una + m_arrived.Count();
    m_una = cumulative;
    m_judged = std::max(m_judged, cumulative);
    m_arrived.AdvanceTo(cumulative);
    if (!m_toRepeat.Empty())
    {
        m_toRepeat.AdvanceTo(cumulative);
    }
    if (!m_trimmed.Empty())
    {
        m_trimmed.AdvanceTo(cumulative);
    }
    finding.arrived = m_una + m_arrived.Count() - knownBefore;
    if (cause >= next) // never sent: says nothing
    {
        TidyLost();
        return finding;
    }
    // The first PSN that is missing cannot have arrived: an overtaken answer about a packet that
    // was refused later would say so.
    if (cause > cumulative)
    {
        const bool fresh = m_arrived.Set(cause);
        finding.progress = fresh || finding.progress;
        finding.arrived += fresh ? 1 : 0;
        m_toRepeat.Clear(cause);
    }
    if (m_arrived.Empty() && m_repetitions.empty() && m_lost.empty())
    {
        return finding;
    }
    const bool mayBeRepeated = cause < m_judged || m_trimmed.Test(cause);
    const auto repeated = std::find_if(m_repetitions.begin(),
                                       mayBeRepeated ? m_repetitions.end() : m_repetitions.begin(),
                                       [cause](const Repetition& r) { return r.psn == cause; });
    if (mayBeRepeated && repeated != m_repetitions.end())
    {
        const uint64_t before = repeated->before;
        const auto position = static_cast<uint64_t>(repeated - m_repetitions.begin());
        JudgeRepetitions(before, position, finding);
        JudgeFirst(before, finding);
    }
    else
    {
        JudgeRepetitions(cause + 1, 0, finding);
        JudgeFirst(cause, finding);
    }
    TidyLost();
    return finding;
}

// The cause comes `end` - before + (position - index) transmissions after a repetition. For a cause
// that has been sent once, end is the PSN after it and position 0: repetitions between the two are
// not counted then, which errs on the side of patience.
void
SelectiveRepeat::JudgeRepetitions(uint64_t end, uint64_t position, Finding& finding)
{
    for (uint64_t index = 0; !m_repetitions.empty(); ++index)
    {
        const Repetition repetition = m_repetitions.front();
        if (!HasArrived(repetition.psn))
        {
            const uint64_t between = position > index ? position - index : 0;
            if (repetition.before > end || end - repetition.before + between <= m_tolerance)
            {
                return;
            }
            FoundLost(repetition.psn, finding);
        }
        m_repetitions.pop_front();
    }
}

void
SelectiveRepeat::JudgeFirst(uint64_t end, Finding& finding)
{
    end = end > m_tolerance ? end - m_tolerance : 0;
    for (; m_judged < end; ++m_judged)
    {
        if (!m_arrived.Test(m_judged) && !m_trimmed.Test(m_judged))
        {
            FoundLost(m_judged, finding);
        }
    }
}

SelectiveRepeat::Finding
SelectiveRepeat::Trimmed(uint64_t cumulative, uint64_t psn, uint64_t next, bool repetition)
{
    Finding finding = Answered(cumulative, next, next); // what was never sent is no cause
    if (psn >= next || HasArrived(psn) || m_toRepeat.Test(psn))
    {
        return finding;
    }
    if (psn >= m_judged && !m_trimmed.Test(psn))
    {
        Note(m_trimmed, psn);
        FoundLost(psn, finding);
        return finding;
    }
    const auto repeated = std::find_if(m_repetitions.begin(),
                                       m_repetitions.end(),
                                       [psn](const Repetition& r) { return r.psn == psn; });
    if (repetition && repeated != m_repetitions.end())
    {
        m_repetitions.erase(repeated);
        FoundLost(psn, finding);
    }
    return finding;
}

void
SelectiveRepeat::Note(PsnBitmap& set, uint64_t psn) const
{
    if (set.Empty())
    {
        set.Reset(m_una); // where it is has not been kept while it was empty
    }
    set.Set(psn);
}

void
SelectiveRepeat::FoundLost(uint64_t psn, Finding& finding)
{
    if (finding.lost == 0)
    {
        finding.firstLost = psn;
    }
    ++finding.lost;
    Note(m_toRepeat, psn);
    m_lost.push_back(psn);
}

void
SelectiveRepeat::TidyLost()
{
    while (!m_lost.empty() && !m_toRepeat.Test(m_lost.front()))
    {
        m_lost.pop_front();
    }
}

void
SelectiveRepeat::Refused(uint64_t psn)
{
    m_una = psn;
    m_arrived.AdvanceTo(psn);
    m_arrived.Clear(psn);
    m_judged = std::max(m_judged, psn + 1);
    m_repetitions.erase(std::remove_if(m_repetitions.begin(),
                                       m_repetitions.end(),
                                       [psn](const Repetition& r) { return r.psn == psn; }),
                        m_repetitions.end());
    m_lost.erase(std::remove(m_lost.begin(), m_lost.end(), psn), m_lost.end());
    if (!m_toRepeat.Empty())
    {
        m_toRepeat.AdvanceTo(psn);
    }
    Note(m_toRepeat, psn);
    m_lost.push_front(psn);
}

SelectiveRepeat::Finding
SelectiveRepeat::TimedOut(uint64_t next)
{
    Finding finding;
    m_lost.clear();
    m_toRepeat.Reset(m_una);
    m_trimmed.Reset(m_una);
    m_repetitions.clear();
    m_judged = m_una;
    for (; m_judged < next; ++m_judged)
    {
        if (!m_arrived.Test(m_judged))
        {
            FoundLost(m_judged, finding);
        }
    }
    return finding;
}

uint64_t
SelectiveRepeat::TakeLost(uint64_t next)
{
    const uint64_t psn = m_lost.front();
    m_lost.pop_front();
    m_toRepeat.Clear(psn);
    m_repetitions.push_back({psn, next});
    TidyLost();
    return psn;
}

} // namespace scaleacross
