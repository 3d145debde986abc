// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_CALLBACKS_H
#define SCALEACROSS_RDMA_CALLBACKS_H

#include "core/base/units.h"

#include "ns3/callback.h"

#include <cstdint>
#include <string>

namespace ns3
{

/// A message of `bytes` with the tag it was posted with.
using RdmaMessageCallback = Callback<void, scaleacross::Bytes, uint64_t>;
/// Why no more messages will get through, as a sentence with the values.
using RdmaFailureCallback = Callback<void, const std::string&>;

} // namespace ns3

#endif // SCALEACROSS_RDMA_CALLBACKS_H
