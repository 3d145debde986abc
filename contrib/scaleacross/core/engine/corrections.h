// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CORRECTIONS_H
#define SCALEACROSS_CORRECTIONS_H

#include "core/base/units.h"
#include "core/engine/operation.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

/// By how much packets take longer than a model says, and between what.
struct Factor
{
    double value{1};
    double low{1};
    double high{1};
};

/// A factor that has been measured.
struct CorrectionRow
{
    OperationKind kind;
    MemberLevels levels{2};
    Bytes bytes;
    Factor factor;
};

/**
 * What is known of how much a model misses operations of one network.
 *
 * Rows of the same kind, with as many levels of members, are d octaves away: d^2 = log2(bytes /
 * bytes')^2 + the sum over levels of log2(members / members')^2, and 1 more for what another class
 * of communication does. The logarithm of a factor is their mean, weighted by (1 - d / kReach) /
 * d^2: at a row it is the row's own, and what is kReach away counts for nothing. More than an
 * octave from the nearest it goes back towards that of 1, which it reaches at kReach: beyond that
 * nothing is known. The interval has the mean of the rows' intervals with what is left of it on the
 * way back, and widens on both sides by kDrift for each octave from the nearest.
 *
 * Worked case: rows of 1 MiB with factor 1 and of 4 MiB with factor 1.21, and 2 MiB is asked for:
 * d is 1 from both, so that the factor is sqrt(1.21) = 1.1.
 */
class Corrections
{
  public:
    static constexpr double kReach = 3;    //!< octaves
    static constexpr double kDrift = 0.03; //!< of the logarithm, in an octave

    explicit Corrections(std::vector<CorrectionRow> rows);

    std::optional<Factor> Of(const OperationKind& kind,
                             const MemberLevels& levels,
                             Bytes bytes) const;

  private:
    std::vector<CorrectionRow> m_rows;
};

} // namespace scaleacross

#endif // SCALEACROSS_CORRECTIONS_H
