// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RCCL_TUNING_H
#define SCALEACROSS_RCCL_TUNING_H

#include "core/work/nccl/tuning.h"

namespace scaleacross
{

/**
 * RCCL's model of time, by the constants of its release 2.21.5 for servers of eight MI300X
 * (src/graph/tuning.cc, tuning_model_5): NCCL's of before the switch reduced, with latencies and
 * bandwidths of its own, and a correction by size for rings, too.
 *
 * Trees and rings, LL and Simple; a tree's Simple between servers only. Its latency of a ring's
 * Simple step between servers, 320 us, is no step's time but keeps rings from all but large sizes.
 *
 * @param choice algorithm, protocol and channels; takes latency, bandwidth and time. False if RCCL
 * does not run it so.
 * @param channels what its graph search found.
 */
bool RcclTime(const NcclMachine& machine,
              CollectiveOp op,
              Bytes bytes,
              const NcclChannels& channels,
              NcclChoice& choice);

} // namespace scaleacross

#endif // SCALEACROSS_RCCL_TUNING_H
