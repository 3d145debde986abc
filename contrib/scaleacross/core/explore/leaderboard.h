// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LEADERBOARD_H
#define SCALEACROSS_LEADERBOARD_H

#include "core/explore/outcome.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * What is worth keeping of a search: the k best plans, the Pareto front and the best of each
 * crossing.
 *
 * What is kept depends only on which plans were offered, not on their order. The Pareto front holds
 * the plans that no other is better than in one of iteration time, memory of the fullest stage and
 * bytes across buildings, and at least equal in the other two; of plans equal in all three the one
 * with the least canonical text.
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
    explicit Leaderboard(size_t keep, Keeps keeps = Keeps::Everything);

    void Offer(const Ranked& candidate);

    /**
     * Whether a plan with this crossing, memory and bytes that takes at least `bound` could change
     * anything of what is kept.
     */
    bool CanMatter(const Crossing& crossing,
                   Duration bound,
                   Bytes memoryMax,
                   Bytes crossBuildingBytes) const;

    /// The k best, best first.
    std::vector<Ranked> Best() const;

    /// By rank.
    std::vector<Ranked> ParetoFront() const;

    /// The best plan of a crossing, or nullptr if none has been offered.
    const Ranked* BestOf(const Crossing& crossing) const;

    /// The best plan of every crossing that was offered, best first.
    std::vector<Ranked> BestOfEach() const;

  private:
    void OfferToFront(const Ranked& candidate);

    struct Before
    {
        bool operator()(const Ranked& a, const Ranked& b) const
        {
            return RanksBefore(a, b);
        }
    };

    size_t m_keep;
    Keeps m_keeps;
    std::set<Ranked, Before> m_best;
    std::vector<Ranked> m_front;
    std::map<std::string, Ranked> m_ofCrossing; //!< by its text
};

} // namespace scaleacross

#endif // SCALEACROSS_LEADERBOARD_H
