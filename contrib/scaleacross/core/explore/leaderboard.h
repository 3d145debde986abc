// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LEADERBOARD_H
#define SCALEACROSS_LEADERBOARD_H

#include "core/explore/front.h"
#include "core/explore/objective.h"
#include "core/explore/outcome.h"

#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

/// Best plans that are kept unless somebody asks for more. Each further one is proven to have its
/// place, which takes more runs the more plans there are that are nearly as good.
constexpr size_t kUsualKeep = 10;

/// Goals::restGap unless somebody asks for another: "8.4 % longer" may be 8.0 then. What is far
/// behind the best is so either way, and to say by how much to the last digit is most of the work.
constexpr double kUsualRestGap = 0.05;

/// With a restGap nothing is kept of a crossing beside two others if none of its plans can take
/// less than so many times the best.
constexpr double kHopeless = 10;

/// What a search is asked for.
struct Goals
{
    Objective objective; //!< what plans are ranked by
    Rates rates;
    Front front; //!< its Pareto front
    /// A plan that may be better than what is kept, but by no more than this part of its own value,
    /// need not run. 0: the answer is that of running everything.
    double gap{0};
    /// Nor need one that may be better than what is kept behind the best, but by no more than this
    /// part of what that is behind the best: differences from it are as exact, and what is as good
    /// as the best is exact. 0: every place is.
    double restGap{0};
};

/// The least value that a plan can have which was left out, by gap or rest gap, in favour of one
/// with this value, where the best has that one; in the unit of the objective.
double LeastLeftOut(const Goals& goals, double value, double best);

/// By an objective; equal values by iteration time and then by canonical text, so that the order is
/// one for all runs.
struct RankOrder
{
    Objective objective;
    Rates rates;

    bool operator()(const Ranked& a, const Ranked& b) const;
};

/**
 * What is worth keeping of a search: the k best plans, the Pareto front and the best of each
 * crossing.
 *
 * What is kept depends only on which plans were offered, not on their order. The Pareto front holds
 * the plans that no other is better than in one of its objectives, and at least equal in the
 * others; of plans equal in all of them the one with the least canonical text. Those behind its
 * reach are left out: the plan with the least value by the first objective is on it, and whoever
 * beats one within reach is too.
 */
class Leaderboard
{
  public:
    enum class Keeps
    {
        Everything,
        Best //!< the k best alone, as if there were no front and no crossings
    };

    /// @param keep k, at least 1
    explicit Leaderboard(size_t keep, Goals goals = {}, Keeps keeps = Keeps::Everything);

    void Offer(const Ranked& candidate);

    /// Whether a plan with this crossing, of which so much is known, could change anything of what
    /// is kept.
    bool CanMatter(const Crossing& crossing, const ClosedForm& known) const;

    /// The least value, by the objective of the ranking, of a plan of which so much is known.
    double Least(const ClosedForm& known) const;

    /// The k best, best first.
    std::vector<Ranked> Best() const;

    /// The best of them, or nullptr if none has been offered.
    const Ranked* First() const
    {
        return m_best.empty() ? nullptr : &*m_best.begin();
    }

    /// By rank.
    std::vector<Ranked> ParetoFront() const;

    /// The best plan of a crossing that was offered, or nullptr if none was, or kHopeless leaves it
    /// out.
    const Ranked* BestOf(const Crossing& crossing) const;

    /// BestOf() of every crossing that has one, best first.
    std::vector<Ranked> BestOfEach() const;

  private:
    /// A plan of the front, with its value by each objective.
    struct OnFront
    {
        Ranked ranked;
        std::vector<double> values;
    };

    void OfferToFront(const Ranked& candidate);
    bool MayJoinFront(const ClosedForm& known) const;
    bool MayRankBefore(const ClosedForm& known, const Ranked& kept) const;
    bool IsFarBehind(double value, double least) const;
    bool IsHopeless(const std::string& crossing, double least) const;
    bool IsCoveredBy(const OnFront& kept, const std::vector<double>& least) const;

    size_t m_keep;
    Goals m_goals;
    Keeps m_keeps;
    RankOrder m_before;
    std::set<Ranked, RankOrder> m_best;
    std::vector<OnFront> m_front;
    double m_leastFirst{
        std::numeric_limits<double>::infinity()}; //!< by the front's first objective
    std::map<std::string, Ranked> m_ofCrossing;   //!< by its text
};

} // namespace scaleacross

#endif // SCALEACROSS_LEADERBOARD_H
