// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/leaderboard.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// How the values of a plan stand to those of another, objective by objective.
struct Comparison
{
    bool noWorse{true};
    bool better{false}; //!< somewhere
};

Comparison
Compare(const std::vector<double>& values, const std::vector<double>& others)
{
    Comparison comparison;
    for (size_t i = 0; i < values.size(); i++)
    {
        comparison.noWorse = comparison.noWorse && values[i] <= others[i];
        comparison.better = comparison.better || values[i] < others[i];
    }
    return comparison;
}

/// Whether a value is above another by no more than this part of it: as Gap() has it, so that what
/// is proven is never above what was asked for by a last digit.
bool
IsWithin(double gap, double value, double least)
{
    return value <= least || value / least - 1 <= gap;
}

} // namespace

double
LeastLeftOut(const Goals& goals, double value, double best)
{
    return std::min(value - goals.restGap * (value - best), value / (1 + goals.gap));
}

bool
RankOrder::operator()(const Ranked& a, const Ranked& b) const
{
    const auto key = [this](const Ranked& ranked) {
        return std::tuple(objective->value(ranked.report, rates),
                          ranked.report.iterationTime,
                          std::string_view(ranked.text));
    };
    return key(a) < key(b);
}

Leaderboard::Leaderboard(size_t keep, Goals goals, Keeps keeps)
    : m_keep(keep),
      m_goals(std::move(goals)),
      m_keeps(keeps),
      m_before{m_goals.objective, m_goals.rates},
      m_best(m_before)
{
    SCALEACROSS_INVARIANT(keep >= 1, std::to_string(keep));
}

void
Leaderboard::Offer(const Ranked& candidate)
{
    if (m_best.size() < m_keep || m_before(candidate, *m_best.rbegin()))
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
    if (!isFirst && m_before(candidate, best->second))
    {
        best->second = candidate;
    }
    if (!m_goals.front.objectives.empty())
    {
        OfferToFront(candidate);
    }
}

bool
Leaderboard::CanMatter(const Crossing& crossing, const ClosedForm& known) const
{
    if (m_best.size() < m_keep || MayRankBefore(known, *m_best.rbegin()))
    {
        return true;
    }
    if (m_keeps == Keeps::Best)
    {
        return false;
    }
    const Ranked* best = BestOf(crossing);
    if (best == nullptr ? !IsHopeless(ToString(crossing), Least(known))
                        : MayRankBefore(known, *best))
    {
        return true;
    }
    return MayJoinFront(known);
}

bool
Leaderboard::MayJoinFront(const ClosedForm& known) const
{
    std::vector<double> least;
    for (const Objective& objective : m_goals.front.objectives)
    {
        least.push_back(objective->least(known, m_goals.rates));
    }
    if (least.empty() || !m_goals.front.Reaches(least.front(), m_leastFirst))
    {
        return false;
    }
    return std::none_of(m_front.begin(), m_front.end(), [&](const OnFront& kept) {
        return IsCoveredBy(kept, least);
    });
}

/// Whether a plan of which so much is known may come before one that is kept, by more than the gap.
bool
Leaderboard::MayRankBefore(const ClosedForm& known, const Ranked& kept) const
{
    const double value = m_goals.objective->value(kept.report, m_goals.rates);
    const double least = Least(known);
    if (IsFarBehind(value, least))
    {
        return false;
    }
    if (m_goals.gap > 0)
    {
        return !IsWithin(m_goals.gap, value, least);
    }
    // A plan that can be as good may be, and come first by its time or its text.
    return least < value || (least == value && known.bound <= kept.report.iterationTime);
}

/// Whether what is kept with this value is behind the best, and one with at least the other value
/// behind it by nearly as much. Stays so when the best or what is kept becomes better: both make
/// value - least lose at least what the part of value - best does.
bool
Leaderboard::IsFarBehind(double value, double least) const
{
    const double best = m_goals.objective->value(First()->report, m_goals.rates);
    return m_goals.restGap > 0 && value > best && value - least <= m_goals.restGap * (value - best);
}

/// Whether a plan of the crossing that has at least this value says nothing that its bound does
/// not: there is another placement to compare the best with, and this one is no alternative.
bool
Leaderboard::IsHopeless(const std::string& crossing, double least) const
{
    const double best = m_goals.objective->value(First()->report, m_goals.rates);
    return m_goals.restGap > 0 && m_ofCrossing.size() - m_ofCrossing.count(crossing) >= 2 &&
           least > kHopeless * best;
}

/// Whether a plan with at least these values would add nothing to a front that has this one.
bool
Leaderboard::IsCoveredBy(const OnFront& kept, const std::vector<double>& least) const
{
    // What is within the gap now may fall behind the reach later; what is no worse does not, unless
    // the other does.
    if (m_goals.gap > 0 && !m_goals.front.reach)
    {
        bool covered = true;
        for (size_t i = 0; i < least.size(); i++)
        {
            covered = covered && (kept.values[i] <= least[i] ||
                                  IsWithin(m_goals.gap, kept.values[i], least[i]));
        }
        return covered;
    }
    const Comparison comparison = Compare(kept.values, least);
    return comparison.noWorse && comparison.better;
}

void
Leaderboard::OfferToFront(const Ranked& candidate)
{
    OnFront offered{candidate, {}};
    for (const Objective& objective : m_goals.front.objectives)
    {
        offered.values.push_back(objective->value(candidate.report, m_goals.rates));
    }
    m_leastFirst = std::min(m_leastFirst, offered.values.front());
    const auto isBehind = [this](const OnFront& other) {
        return !m_goals.front.Reaches(other.values.front(), m_leastFirst);
    };
    if (isBehind(offered))
    {
        return;
    }
    // Whether a makes b superfluous: nowhere worse, and somewhere better or named before it.
    const auto dominates = [](const OnFront& a, const OnFront& b) {
        const Comparison comparison = Compare(a.values, b.values);
        return comparison.noWorse && (comparison.better || a.ranked.text <= b.ranked.text);
    };
    const auto superfluous = [&](const OnFront& other) { return dominates(other, offered); };
    if (std::any_of(m_front.begin(), m_front.end(), superfluous))
    {
        return;
    }
    const auto beaten = [&](const OnFront& other) {
        return dominates(offered, other) || isBehind(other);
    };
    m_front.erase(std::remove_if(m_front.begin(), m_front.end(), beaten), m_front.end());
    m_front.push_back(std::move(offered));
}

double
Leaderboard::Least(const ClosedForm& known) const
{
    return m_goals.objective->least(known, m_goals.rates);
}

std::vector<Ranked>
Leaderboard::Best() const
{
    return {m_best.begin(), m_best.end()};
}

std::vector<Ranked>
Leaderboard::ParetoFront() const
{
    std::vector<Ranked> front;
    for (const OnFront& kept : m_front)
    {
        front.push_back(kept.ranked);
    }
    std::sort(front.begin(), front.end(), m_before);
    return front;
}

// What was left out in favour of the best of a crossing may be better than that. Where even this is
// hopeless none is told, or which one is would depend on what came up first.
const Ranked*
Leaderboard::BestOf(const Crossing& crossing) const
{
    const std::string name = ToString(crossing);
    const auto found = m_ofCrossing.find(name);
    if (found == m_ofCrossing.end())
    {
        return nullptr;
    }
    const auto valueOf = [this](const Ranked& ranked) {
        return m_goals.objective->value(ranked.report, m_goals.rates);
    };
    const double least = LeastLeftOut(m_goals, valueOf(found->second), valueOf(*First()));
    return IsHopeless(name, least) ? nullptr : &found->second;
}

std::vector<Ranked>
Leaderboard::BestOfEach() const
{
    std::vector<Ranked> best;
    for (const auto& [crossing, ranked] : m_ofCrossing)
    {
        if (BestOf(ranked.plan.parallel.crossing) != nullptr)
        {
            best.push_back(ranked);
        }
    }
    std::sort(best.begin(), best.end(), m_before);
    return best;
}

} // namespace scaleacross
