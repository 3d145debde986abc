// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MODEL_ERROR_H
#define SCALEACROSS_MODEL_ERROR_H

#include "core/base/units.h"
#include "core/spec/plan-fields.h"

#include <string>
#include <vector>

/**
 * How sure the analytical engine's order of plans is.
 *
 * ln(modelled / measured) of two plans of one job is not the same: it differs by s t, where t is
 * Student's with two degrees of freedom, and s^2 the sum of the squares of a scale for each kind in
 * which the plans differ. So a plan that is r times as long as another by the model is the slower
 * one with
 *
 *     P = F(ln r / s),    F(x) = 1/2 + x / (2 sqrt(2 + x^2)).
 *
 * Several plans: the same with effects of their own for every value of every kind, which have their
 * spread in common.
 *
 * The scales are the most likely ones of pairs of published runs (vTrain, arXiv:2312.12391, and the
 * table of doc/compute.md), as analysis/model_error.py finds them; the page says how true the
 * probabilities are of models that were not looked at. No published pair of one release of the
 * software differs in anything else: there the largest scale is taken, without evidence.
 */
namespace scaleacross
{

/// Scales of ln(modelled / measured) by the kind in which two plans differ.
constexpr double kTensorScale = 0.141;     //!< tp, asynchronous or not
constexpr double kPipelineScale = 0.044;   //!< pp, schedule, chunks, layers of stages
constexpr double kMicrobatchScale = 0.043; //!< and of what times communication: prefetch, bucket
constexpr double kOtherScale = 0.141;      //!< each of: other parallelism; placement; network

/// The engine whose times were set beside measured ones. Of any other engine's these scales, and
/// the errors of time-error.h, say nothing.
constexpr const char* kMeasuredEngine = "analytical";

/// From which probability on one plan counts as faster than another: the two are told apart.
constexpr double kSure = 0.9;

struct TimedPlan
{
    Plan plan;
    Duration time;
};

/// How likely it is that `a` is faster than `b` where both are run, 0 to 1; 1/2 for plans that do
/// the same. Domain: times above zero.
double ProbabilityFaster(const TimedPlan& a, const TimedPlan& b);

/// How many times as long a plan takes that is slower with kSure whatever it differs in.
double SureRatio();

/// Whether one of the two is faster with kSure.
bool AreToldApart(const TimedPlan& a, const TimedPlan& b);

/// "81 %"; "over 99 %" and "under 1 %", since nothing is certain.
std::string ProbabilityText(double probability);

/**
 * Of every plan how likely it is that none of the others is faster; the sum is 1. By 10,000 draws
 * of the effects, from the same numbers every time: to about half a point. Domain: best first,
 * since of more than 1,000 those behind are not looked at and get 0.
 */
std::vector<double> ProbabilitiesBest(const std::vector<TimedPlan>& plans);

} // namespace scaleacross

#endif // SCALEACROSS_MODEL_ERROR_H
