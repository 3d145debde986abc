// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CORRECTIONS_H
#define SCALEACROSS_CORRECTIONS_H

#include "core/base/units.h"
#include "core/engine/slice.h"

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
    uint32_t members{2};
    Bytes bytes;
    Factor factor;
};

/**
 * What is known of how much a model misses operations of one network.
 *
 * The logarithm of a factor between those that are known is their mean, weighted by 1 / d^2 with
 * d^2 = log2(bytes / bytes')^2 + log2(members / members')^2: at a row it is the row's own. Beyond
 * kReach from every row of the same kind nothing is known.
 *
 * Worked case: rows of 1 MiB with factor 1 and of 4 MiB with factor 1.21, and 2 MiB is asked for:
 * d is 1 from both, so that the factor is sqrt(1.21) = 1.1.
 */
class Corrections
{
  public:
    static constexpr double kReach = 3; //!< octaves

    explicit Corrections(std::vector<CorrectionRow> rows);

    std::optional<Factor> Of(const OperationKind& kind, uint32_t members, Bytes bytes) const;

  private:
    std::vector<CorrectionRow> m_rows;
};

} // namespace scaleacross

#endif // SCALEACROSS_CORRECTIONS_H
