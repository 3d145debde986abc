// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FAMILIES_H
#define SCALEACROSS_FAMILIES_H

#include "core/explore/search.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/// Plans that agree down to a level of a SearchSpace, of which some may be worth a run; of the last
/// level, one plan. It is made again when it comes up.
struct Family
{
    /// What finds out more.
    enum class Next
    {
        Split, //!< into the families of the next level
        Filter,
        Run
    };

    ClosedForm form;      //!< below what all of them take
    uint64_t position{0}; //!< of the first plan
    size_t level{0};
    Next next{Next::Split};
    double least{0}; //!< the value by the objective that none of them goes below

    /// Whether it comes up later.
    bool operator<(const Family& other) const
    {
        return least != other.least             ? least > other.least
               : form.bound != other.form.bound ? form.bound > other.form.bound
               : position != other.position     ? position > other.position
                                                : level < other.level;
    }
};

/// What looks at families have found.
struct Look
{
    std::vector<Family> open;
    std::map<uint64_t, Failure> failures;  //!< of plans among these, by position
    std::map<std::string, Count> rejected; //!< plans, by reason; what is ruled out among them
    std::optional<uint64_t> duplicate;     //!< position of the first
    /// The least bound of what is ruled out.
    Duration bound{Duration::Max()};
    double left{std::numeric_limits<double>::infinity()}; //!< see Frontier
    uint64_t decided{0}; //!< plans about which no more is to be found out

    void Reject(const std::string& reason, uint64_t plans, const std::string& example);
};

/// Which of the plans that can run are run.
enum class Runs
{
    WhatCanMatter,
    Everything
};

/// Whether looks say how many plans are rejected, which in a large space takes longer than to find
/// out why.
enum class Counts
{
    Plans,
    Nothing
};

/// How far a first look goes.
enum class Looks
{
    Whole,
    /// Of schedules whose passes overlap memory and computing alone: what two passes take beside
    /// each other, and replays with it, are left to the filter. A look finds them for every network
    /// of the space, which pays where many plans share them.
    WithoutPairs
};

/**
 * The families of a space at their positions in a search, or in the shard of it that is searched.
 *
 * The first level is gone through in strides of about the golden section of its size, so that any
 * stretch is a sample of the whole; inside its families, positions are in the order of numbers.
 */
class Families
{
  public:
    /// Space and options are referred to.
    Families(const SearchSpace& space,
             const SearchOptions& options,
             Runs runs,
             Counts counts = Counts::Plans,
             Looks looks = Looks::Whole);

    /// How many positions there are: those of the shard.
    uint64_t Positions() const
    {
        return m_options.shard.Positions(m_space.Size(), m_sizes.front());
    }

    /// The plan number at a position.
    uint64_t IndexOf(uint64_t position) const;

    /// The position of a plan number. Domain: a number of the shard.
    uint64_t PositionOf(uint64_t index) const;

    uint64_t SizeOf(size_t level) const
    {
        return m_sizes[level];
    }

    bool ArePlans(size_t level) const
    {
        return level + 1 == m_sizes.size();
    }

    /// The first plan. Domain: of an open family.
    Plan FirstOf(const Family& family) const;

    /// Looks at families of the first level that follow each other: whether a plan can run, and
    /// how fast at best; what cannot matter by `board` is ruled out. Called from several threads.
    Look AtHeads(uint64_t position, uint64_t count, const Leaderboard& board) const;

    /// Those of the next level of an open one that are distinct.
    const std::vector<uint64_t>& PartsOf(const Family& family) const;

    /// The same look at some of these, after those that mean the same as another are counted with
    /// the first.
    Look AtParts(const Family& family, size_t begin, size_t end, const Leaderboard& board) const;

    /// A first look at the one plan at a position, whatever its families are; a duplicate is looked
    /// at as what it means. Empty where it cannot matter by `board` or not run. Called from several
    /// threads.
    Look AtPlan(uint64_t position, const Leaderboard& board) const;

    /// What the filter says of a plan, as far as it is worth it. Called from several threads.
    Look Filtered(const Family& family, const Leaderboard& board) const;

    /// The whole that is known of a plan before it runs, or none where it cannot.
    std::optional<ClosedForm> KnownOf(const Plan& plan) const;

    /// By what is kept so far; the more that is, the fewer can matter.
    bool CanMatter(const Plan& plan, const ClosedForm& form, const Leaderboard& board) const;

    /// Counts a family that cannot matter.
    void RuleOut(const Family& family,
                 const Plan& first,
                 const Leaderboard& board,
                 Look& look) const;

  private:
    using Told = std::variant<ClosedForm, Infeasible, Failure>;

    uint64_t NumberOf(const Family& family) const;
    void LookAt(Family family, const Plan& plan, const Leaderboard& board, Look& look) const;
    Told LookFirst(const Family& family, const Plan& plan, const Leaderboard& board) const;
    Told Filter(const Family& family, const Plan& plan, const Leaderboard& board) const;
    template <class Tell>
    Told Hear(const Family& family, const Plan& plan, const Tell& tell) const;
    /// Adds what is told to a look.
    void Add(Family family,
             const Plan& plan,
             const Told& told,
             Family::Next next,
             Look& look) const;
    void Refuse(const Family& family, const Plan& plan, const Infeasible& why, Look& look) const;
    /// Counts all plans of a family under a reason, those that mean the same apart.
    void Reject(const Family& family,
                const Plan& first,
                const std::string& reason,
                const std::string& example,
                Look& look) const;

    const SearchSpace& m_space;
    const SearchOptions& m_options;
    Runs m_runs;
    Counts m_counts;
    Looks m_looks;
    Glance m_glance;
    std::vector<uint64_t> m_sizes;   //!< by level
    std::vector<PlanDepth> m_depths; //!< by level: down to where all is decided
    uint64_t m_heads;
    uint64_t m_stride{1};
};

} // namespace scaleacross

#endif // SCALEACROSS_FAMILIES_H
