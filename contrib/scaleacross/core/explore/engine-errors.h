// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ENGINE_ERRORS_H
#define SCALEACROSS_ENGINE_ERRORS_H

#include <cstddef>
#include <optional>
#include <vector>

namespace scaleacross
{

/**
 * How far the times t of an engine are from those r of another for the same cases, by their errors
 * e = t / r - 1.
 *
 * Quantiles are those of |e| by the nearest rank: the least that so large a part of the cases does
 * not exceed.
 */
struct EngineErrors
{
    size_t cases{0};
    double median{0};  //!< of |e|
    double p95{0};     //!< of |e|
    double bias{0};    //!< mean of e
    size_t worst{0};   //!< number of the case with the greatest |e|
    double atWorst{0}; //!< its e
};

/// Domain: as many times as references, at least one; references above 0.
EngineErrors ErrorsOf(const std::vector<double>& times, const std::vector<double>& references);

/// How an engine's times t put cases in order that a user chooses among, against those r of
/// another.
struct Ordering
{
    /// Spearman's, of t and r: 1 where the engine puts the cases in the other's order. None where
    /// all of t or of r are equal.
    std::optional<double> rankCorrelation;
    size_t rankOfBest{1}; //!< by t, from 1, of the case with the least r
    double regret{0}; //!< how much more r is of the case with the least t than the least r, of that
};

/// Domain: as many times as references, at least two; references above 0.
Ordering OrderingOf(const std::vector<double>& times, const std::vector<double>& references);

} // namespace scaleacross

#endif // SCALEACROSS_ENGINE_ERRORS_H
