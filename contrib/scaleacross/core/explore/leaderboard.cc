// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/leaderboard.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace scaleacross
{

namespace
{

/// Whether a makes b superfluous: nowhere worse, and somewhere better or named before it.
bool
Dominates(const Ranked& a, const Ranked& b)
{
    const RunReport& x = a.report;
    const RunReport& y = b.report;
    if (x.iterationTime > y.iterationTime || x.memoryMax > y.memoryMax ||
        x.crossBuildingBytes > y.crossBuildingBytes)
    {
        return false;
    }
    const bool equal = x.iterationTime == y.iterationTime && x.memoryMax == y.memoryMax &&
                       x.crossBuildingBytes == y.crossBuildingBytes;
    return !equal || a.text <= b.text;
}

} // namespace

Leaderboard::Leaderboard(size_t keep, Keeps keeps)
    : m_keep(keep),
      m_keeps(keeps)
{
    SCALEACROSS_INVARIANT(keep >= 1, std::to_string(keep));
}

void
Leaderboard::Offer(const Ranked& candidate)
{
    if (m_best.size() < m_keep || RanksBefore(candidate, *m_best.rbegin()))
    {
        m_best.insert(candidate);
        if (m_best.size() > m_keep)
        {
            m_best.erase(std::prev(m_best.end()));
        }
    }
    if (m_keeps == Keeps::Best)
    {
        return;
    }
    const auto [best, isFirst] =
        m_ofCrossing.emplace(ToString(candidate.plan.parallel.crossing), candidate);
    if (!isFirst && RanksBefore(candidate, best->second))
    {
        best->second = candidate;
    }
    OfferToFront(candidate);
}

bool
Leaderboard::CanMatter(const Crossing& crossing,
                       Duration bound,
                       Bytes memoryMax,
                       Bytes crossBuildingBytes) const
{
    // A plan whose bound equals a time may take just as long and come first by its text.
    if (m_best.size() < m_keep || bound <= m_best.rbegin()->report.iterationTime)
    {
        return true;
    }
    if (m_keeps == Keeps::Best)
    {
        return false;
    }
    const Ranked* best = BestOf(crossing);
    if (best == nullptr || bound <= best->report.iterationTime)
    {
        return true;
    }
    return std::none_of(m_front.begin(), m_front.end(), [&](const Ranked& kept) {
        return kept.report.iterationTime < bound && kept.report.memoryMax <= memoryMax &&
               kept.report.crossBuildingBytes <= crossBuildingBytes;
    });
}

void
Leaderboard::OfferToFront(const Ranked& candidate)
{
    const auto superfluous = [&candidate](const Ranked& other) {
        return Dominates(other, candidate);
    };
    if (std::any_of(m_front.begin(), m_front.end(), superfluous))
    {
        return;
    }
    const auto beaten = [&candidate](const Ranked& other) { return Dominates(candidate, other); };
    m_front.erase(std::remove_if(m_front.begin(), m_front.end(), beaten), m_front.end());
    m_front.push_back(candidate);
}

std::vector<Ranked>
Leaderboard::Best() const
{
    return {m_best.begin(), m_best.end()};
}

std::vector<Ranked>
Leaderboard::ParetoFront() const
{
    std::vector<Ranked> front = m_front;
    std::sort(front.begin(), front.end(), RanksBefore);
    return front;
}

const Ranked*
Leaderboard::BestOf(const Crossing& crossing) const
{
    const auto best = m_ofCrossing.find(ToString(crossing));
    return best == m_ofCrossing.end() ? nullptr : &best->second;
}

std::vector<Ranked>
Leaderboard::BestOfEach() const
{
    std::vector<Ranked> best;
    for (const auto& [crossing, ranked] : m_ofCrossing)
    {
        best.push_back(ranked);
    }
    std::sort(best.begin(), best.end(), RanksBefore);
    return best;
}

} // namespace scaleacross
