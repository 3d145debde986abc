// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EXPLANATION_H
#define SCALEACROSS_EXPLANATION_H

#include "core/explore/conclusion.h"
#include "core/explore/held-keys.h"
#include "core/explore/outcome.h"
#include "core/explore/result-sink.h"
#include "core/explore/stage-places.h"
#include "core/explore/time-error.h"
#include "core/spec/scenario.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// A plan as the explanation needs it.
struct Contender
{
    std::string label;
    Plan plan;
    RunReport report;
};

/// A baseline's result: a report, or the reason why there is none.
struct BaselineResult
{
    std::string name;
    std::optional<Contender> contender;
    Infeasible reason;                   //!< where there is no contender
    std::string tunes;                   //!< Baseline::tunes
    std::string untouched;               //!< Baseline::untouched
    std::string assumed{};               //!< of a reference: what its cluster is
    std::vector<FieldOutside> outside{}; //!< FieldsOutside() of its plan
};

/// Everything that an explanation is drawn from.
struct ExplanationInput
{
    Contender winner;
    std::optional<StagePlaces> stages;  //!< of the winner
    std::vector<std::string> samePlans; //!< labels of those that do the same work as the winner
    std::optional<Contender> runnerUp;  //!< the next that does other work
    /// The best plan of a crossing that the winner does not have.
    std::optional<Contender> otherCrossing;
    std::vector<Crossing> withoutPlan; //!< crossings of the space of which none is kept
    /// How likely it is that the winner is the fastest of the plans that were kept; none: how far
    /// times of this engine are off is not known, and nothing is said of how sure a comparison is.
    std::optional<double> probabilityBest{1};
    /// Plans that ran and cannot be told apart from the winner (model-error.h), itself not counted;
    /// where only some are kept, at least so many.
    uint64_t closePlans{0};
    bool closePlansAtLeast{false};
    std::vector<BaselineResult> baselines;
    std::optional<BaselineResult> oneSite; //!< the best plan of all GPUs in one building
    Frontier counts;                       //!< of the whole space
    uint64_t undecided{0};                 //!< combinations that a search left when its time was up
    std::string engine;                    //!< that ran them
    uint32_t buildings{1};
    std::optional<TimeError> timeError; //!< FindTimeError(): of the times of this study
    Goals goals;                        //!< what the search was asked for
};

/// How much longer `other` takes than `base`: other / base - 1; negative if it is faster.
double RelativeExcess(Duration base, Duration other);

/// best / bound - 1: how loose the least bound of a search is, a statement about the bound; none
/// where there is no bound.
std::optional<double> BoundSlack(Duration best, Duration bound);

/// The most by which the best plan found can lie above the optimum of its space on this engine, by
/// the objective. Where every plan that can run was run or ruled out, best / the least bound of
/// what was ruled out - 1, or 0 if that is no less than the best: at most Goals::gap. Else
/// BoundSlack(), or none where the objective has nothing to do with time. Of an interrupted search
/// the same, with what its counts say of the plans left (SearchResult), or none if they say
/// nothing.
std::optional<double> Gap(const RunReport& best, const Goals& goals, const Frontier& counts);

/// 0.00121 as "0.13 %": with two digits of what can be very small, and no less than it is.
std::string GapText(double gap);

/**
 * Why the winner wins and by how much: what crosses buildings, what is hidden and what exposed, the
 * bubble, memory; what buildings hold and how full links are; the best plan of another crossing and
 * where the difference arises; the baselines; what being spread out costs; the gap. One sentence
 * group per line. Every statement follows from the numbers handed in; of every comparison it says
 * how likely it is to be right (model-error.h), where the engine's times were ever set beside
 * measured ones.
 *
 * Where plans are ranked by what does not follow their times, comparisons are of the objective.
 *
 * Where a difference arises: MainChanges().
 */
std::vector<Statement> Explain(const ExplanationInput& input);

} // namespace scaleacross

#endif // SCALEACROSS_EXPLANATION_H
