// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEARCH_SPACE_H
#define SCALEACROSS_SEARCH_SPACE_H

#include "core/base/errors.h"
#include "core/spec/plan-depth.h"
#include "core/spec/plan-fields.h"
#include "core/spec/study.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/**
 * Every plan that a study's search describes: its fixed plan with each axis set to one of its
 * values.
 *
 * Plans are numbered and made on demand. Axes stand in the order in which their fields are decided
 * (PlanDepth), those of a depth in the study's. Plan i has the digits of i in the mixed radix of
 * the axes' sizes, the last axis running fastest. So all plans that agree down to a depth, a
 * *family*, are a run of numbers, and the depths that have axes are the levels of a tree of
 * families whose leaves are plans.
 *
 * dp is GPUs / (tp cp pp), rounded down, unless the study or
 * an axis fixes it; a plan whose degrees do not multiply to the GPUs is left for the layout to
 * refuse.
 *
 * Worked case: axes tp {4, 8}, pp {2, 4}, 64 GPUs, cp 1: plans 0..3 are (4,2,8) (4,4,4) (8,2,4)
 * (8,4,2) as (tp, pp, dp).
 */
class SearchSpace
{
  public:
    /// Throws ConfigError (where = "search.<key>") for an axis that is unknown, empty, given twice
    /// or has a value its field does not take, and for more than 2^63 plans.
    explicit SearchSpace(const Study& study);

    uint64_t Size() const
    {
        return m_size;
    }

    /**
     * Plan `index`, normalised, or "duplicate" where another one, as a rule of a smaller number,
     * stands for all that mean the same.
     *
     * What means the same: PlanMeaning.
     *
     * Domain: index < Size().
     */
    std::variant<Plan, Infeasible> At(uint64_t index) const;

    /// The same without saying why it is none.
    std::optional<Plan> PlanAt(uint64_t index) const;

    /// The number of the distinct plan that the plan with this number means the same as: its own
    /// where it is no duplicate. Domain: index < Size().
    uint64_t FirstMeaning(uint64_t index) const;

    /// The number of the distinct plan with the values of `plan`, and with the first value of every
    /// axis that does not have the plan's: the plan itself where the space holds it.
    uint64_t NumberOf(const Plan& plan) const;

    /// The numbers of all plans that differ from one in exactly one axis, duplicates included, in
    /// the order of axes and values. Domain: index < Size().
    std::vector<uint64_t> NeighboursOf(uint64_t index) const;

    /// Whether one of its plans means the same as this one.
    bool Holds(const Plan& plan) const
    {
        return KeysOutside(plan).empty();
    }

    /// The fields in which a plan differs from all plans of the space, in the order of
    /// PlanFields(); those that follow from others (dp) only where nothing else differs.
    std::vector<std::string> KeysOutside(const Plan& plan) const;

    /// The depths that have axes; one at least. Families of the last are single plans.
    const std::vector<PlanDepth>& Levels() const
    {
        return m_levels;
    }

    /// Plans of each family of a level, those that mean the same included.
    uint64_t FamilySize(size_t level) const;

    /// The first plan of the `number`-th family of a level, or none where its digits of this very
    /// level make all its plans duplicates.
    std::optional<Plan> FirstOf(size_t level, uint64_t number) const;

    /// The same of one that has a first plan, as Distinct() says or PartsOf().
    Plan KnownFirstOf(size_t level, uint64_t number) const;

    /// What a family consists of.
    struct Parts
    {
        std::vector<uint64_t> distinct; //!< its families of the next level that have first plans
        uint64_t count{0};              //!< plans that differ in what they mean
    };

    /**
     * The parts of a family, numbered from 0, and of the last level its single plan. What it is
     * found from, families have in common by the thousand, so that it is found once.
     *
     * Domain: FirstOf() of the family is `first`, and the families that it belongs to have first
     * ones too. May be called from any thread; lives as long as the space and its copies.
     */
    const Parts& PartsOf(size_t level, uint64_t number, const Plan& first) const;

    /// The values that the field `key` may take: those of its axis, or the fixed one.
    std::vector<std::string> ValuesOf(const std::string& key) const;

    /// The study's scenario with this plan in it.
    Scenario With(const Plan& plan) const;

    /// The networks that plans have, by the axes of network fields; none if they are more than
    /// `most`.
    std::vector<NetworkPlan> Networks(size_t most) const;

    /// The plan that the study fixes, dp derived, without any axis.
    Plan Fixed() const;

    /// Label(plan), followed by the network fields that this space varies: plans of a space differ
    /// in it.
    std::string LabelOf(const Plan& plan) const;

    /// What the space is as text: equal for equal spaces; part of a search's key.
    std::string Text() const;

  private:
    struct Axis
    {
        const PlanField* field;
        PlanDepth depth;
        std::vector<std::string> values;
        std::vector<Plan> plans; //!< with these values, for they are made many times
        bool meansItself;        //!< whether two of its values never mean the same
        bool staysOrResets;      //!< whether two of them mean the same only as the usual one
    };

    /// Digits that mean something in other words, and the digits that stand for it.
    struct Repeated
    {
        std::vector<size_t> digits;
    };

    /// The distinct families of the next level in a family.
    struct Children;
    /// What is found out once, for all copies of the space.
    struct Known;

    std::vector<size_t> DigitsOf(uint64_t index) const;
    uint64_t IndexOf(const std::vector<size_t>& digits) const;
    /// By axis the digit of a plan's value, or of one that makes the plan mean the same; none where
    /// it has neither.
    std::vector<std::optional<size_t>> ValuesIn(const Plan& plan) const;
    /// Whether a plan, completed, means what all that mean `meaning` do.
    bool Means(const Plan& plan, const Plan& meaning) const;
    /// `digits` with, for each of the `open` axes in turn, the first value with which `plan` still
    /// means `meaning`.
    std::vector<size_t> FirstWords(Plan plan,
                                   const Plan& meaning,
                                   std::vector<size_t> digits,
                                   const std::vector<size_t>& open) const;
    /// The plan of these digits, unless an axis from `begin` up to `end` makes it a duplicate.
    std::variant<Plan, Repeated> Distinct(const std::vector<size_t>& digits,
                                          size_t begin,
                                          size_t end) const;
    /// What decides which plans of a family of this level mean the same.
    std::vector<uint64_t> ContextOf(size_t level, const Plan& first) const;
    /// What of that decides which families of the next level are distinct: of Degrees that are
    /// thousands of contexts there are some hundred, and no more looks at plans than of these.
    std::vector<uint64_t> ContextOfNext(size_t level, const Plan& first) const;
    const Children& ChildrenOf(size_t level, uint64_t number, const Plan& first) const;
    Plan Make(const std::vector<size_t>& digits) const;
    /// A plan with every axis set, with dp derived, normalised.
    Plan Complete(Plan plan) const;

    std::vector<Axis> m_axes;
    std::vector<PlanDepth> m_levels;
    std::vector<size_t> m_ends; //!< by level: one behind its last axis
    std::shared_ptr<Known> m_known;
    Scenario m_scenario;
    bool m_dpGiven{false};
    uint64_t m_size{1};
};

} // namespace scaleacross

#endif // SCALEACROSS_SEARCH_SPACE_H
