// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MARKING_H
#define SCALEACROSS_MARKING_H

#include <cstdint>

namespace scaleacross
{

/// How switches mark packets of data by the bytes that wait: none up to kmin, all above kmax,
/// between them with a probability that grows from 0 to pmax.
struct Marking
{
    const char* reference; //!< rate of the ports at which the thresholds hold; they grow with it
    uint64_t kmin;         //!< B
    uint64_t kmax;         //!< B
    double pmax;
    uint32_t rate{0}; //!< above kmax only one of rate + 1 is marked
};

} // namespace scaleacross

#endif // SCALEACROSS_MARKING_H
