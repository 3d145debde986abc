// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MODEL_ERROR_H
#define SCALEACROSS_MODEL_ERROR_H

#include <string>

namespace scaleacross
{

/**
 * Relative difference of two iteration times below which the model does not tell two plans apart:
 * "the model's error", of 10 to 15 %. What lies between the two counts as not told apart.
 *
 * Source: vTrain's measured iterations (arXiv:2312.12391; tests/validation/iteration-time). Of all
 * pairs of plans of one of its models the share that the analytical engine orders as they were
 * measured, by how much the engine says that they differ, is in doc/compute.md, "Which of two plans
 * is faster"; analysis/pair_order.py computes it anew. Under 10 % it is some seven in ten; between
 * 10 and 15 % nine in ten; beyond nearly all.
 */
constexpr double kModelErrorFrom = 0.10;
constexpr double kModelErrorTo = 0.15; //!< see kModelErrorFrom

/// "10 to 15 %".
std::string ModelErrorText();

/// Whether a relative difference, of either sign, is no finding.
bool IsWithinModelError(double excess);

} // namespace scaleacross

#endif // SCALEACROSS_MODEL_ERROR_H
