// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_HAND_WRITTEN_OPS_H
#define SCALEACROSS_TESTS_HAND_WRITTEN_OPS_H

#include "core/program/program.h"

namespace scaleacross
{

/// Milliseconds, fractions too.
inline Duration
Ms(double count)
{
    return Duration::Seconds(count * 1e-3);
}

/// Posts a collective under the handle that has its stream's number.
inline Op
Post(Stream stream, uint32_t collective)
{
    Op op;
    op.kind = OpKind::Collective;
    op.stream = stream;
    op.index = collective;
    op.handle = static_cast<uint32_t>(stream);
    return op;
}

/// Waits for what was posted last on a stream.
inline Op
Await(Stream stream)
{
    Op op;
    op.kind = OpKind::Wait;
    op.handle = static_cast<uint32_t>(stream);
    return op;
}

inline Op
Compute(double ms)
{
    Op op;
    op.kind = OpKind::Compute;
    op.duration = Ms(ms);
    return op;
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_HAND_WRITTEN_OPS_H
