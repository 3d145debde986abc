// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EGRESS_ARBITER_H
#define SCALEACROSS_EGRESS_ARBITER_H

#include <cstdint>

namespace scaleacross
{

/// Which priority (virtual lane) a port serves next, if not strictly the largest.
class EgressArbiter
{
  public:
    virtual ~EgressArbiter() = default;

    /**
     * The priority to be served of those in the mask (bit p; higher bits than those of priorities
     * go first). `sentBytes` is what the port has sent so far: the priority chosen before pays for
     * the difference. Domain: ready is not 0.
     */
    virtual uint8_t Choose(uint32_t ready, uint64_t sentBytes) = 0;
};

} // namespace scaleacross

#endif // SCALEACROSS_EGRESS_ARBITER_H
