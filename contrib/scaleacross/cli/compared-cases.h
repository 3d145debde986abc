// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COMPARED_CASES_H
#define SCALEACROSS_COMPARED_CASES_H

#include "cli/compare-engines.h"
#include "cli/grid.h"
#include "core/explore/engine-errors.h"
#include "core/explore/scale-down.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// What a case is a part of, where the study is too large for an engine.
struct ScaledPart
{
    uint32_t factor{1}; //!< 1: it is the whole
    std::vector<ScaledSetting> changed;
};

/// "scaled: 1/4 (plan.dp 64 to 16, ...)"; "" of a whole.
std::string ToString(const ScaledPart& part);

/// One plan at one point of a grid with one seed, on several engines.
struct ComparedCase
{
    std::vector<std::string> point; //!< a value of each axis
    uint64_t seed{1};               //!< of the engines that draw
    std::string label;              //!< of the plan
    Comparison comparison;
    ScaledPart scaled{};
};

/// A plan of a study that cannot run, at one point of a grid.
struct LeftOutPlan
{
    std::vector<std::string> point;
    std::string label;
    Infeasible why;
};

/// The plans of one point of a grid in an engine's order against the reference's.
struct PointOrder
{
    std::vector<std::string> point;
    Ordering ordering;
};

/**
 * How far an engine is from the reference in one figure of all cases that both have run.
 *
 * Of the iteration: t over t_r, less 1. Of a class of communication: what its busy time b is away
 * from that of the reference, as a part of the reference's iteration, (b - b_r) / t_r, so that what
 * takes next to no time counts as next to nothing. Cases in which the class sends nothing are none.
 */
struct FigureErrors
{
    std::string engine;
    std::string of; //!< "iteration", "tp", "cp", ...
    EngineErrors errors;
    size_t worst{0}; //!< number of the case
    /// Of the iteration, where a point has several plans: how they are put in order at each, by the
    /// means of their seeds. At different points times differ anyhow, in whatever order.
    std::vector<PointOrder> orders;

    /// The mean over points of Spearman's; none where no point has it.
    std::optional<double> Order() const;

    /// The point at which the engine's choice costs most; null: none has an order.
    const PointOrder* WorstChoice() const;
};

/// The cases of a comparison, what they were swept by, and what follows from them.
class ComparedCases
{
  public:
    /// `reference` is what ReferenceEngine() says of the engines that are asked for.
    ComparedCases(std::vector<SweepAxis> axes,
                  std::vector<ComparedCase> cases,
                  std::vector<LeftOutPlan> leftOut,
                  std::string reference);

    /// The engine that the others are held against, in every case or not at all.
    const std::string& Reference() const
    {
        return m_reference;
    }

    /// By engine, the iteration first; nothing of the reference itself.
    const std::vector<FigureErrors>& Errors() const
    {
        return m_errors;
    }

    /// A table of errors and what the reference saw where they were greatest, but of a single case;
    /// then how many cases have no error, for the reference did not run them, and why.
    std::string ErrorsText() const;

    /// A line for every reason why plans are left out, and one for every engine that refuses cases;
    /// "" where there are none.
    std::string LeftOutText() const;

    /// Throws ConfigError, with what each engine says, where there are cases and all engines refuse
    /// all of them.
    void ExpectSomeRun() const;

    /// {reference, cases, cases_without_reference, rows, errors, worst, left_out}; `rows` are those
    /// of ComparisonJson(), each with its `point` and `seed`, and `scaled` of a part.
    Json ToJson(const std::vector<Json>& rows) const;

  private:
    void AddErrors(const std::string& engine);
    std::string MissingReason(const ComparedCase& one) const;
    std::vector<PointOrder> OrdersOf(const std::string& engine) const;
    size_t CasesWithoutReference() const;
    std::string WithoutReferenceText() const;
    std::vector<Comparison> Comparisons() const;
    Json PointJson(const std::vector<std::string>& values) const;
    std::string PointText(const ComparedCase& one) const;
    std::string ChoiceText(const FigureErrors& errors) const;

    std::vector<SweepAxis> m_axes;
    std::vector<ComparedCase> m_cases;
    std::vector<LeftOutPlan> m_leftOut;
    std::string m_reference;
    std::vector<FigureErrors> m_errors;
};

} // namespace scaleacross

#endif // SCALEACROSS_COMPARED_CASES_H
