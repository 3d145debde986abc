// SPDX-License-Identifier: GPL-2.0-only

#include "queue-pair-ends.h"

#include "rdma-nic.h"

namespace scaleacross
{

std::string
QueuePairEnds::Describe() const
{
    return "queue pair " + std::to_string(number) + " of " +
           (nic != nullptr ? nic->Describe() : "no NIC") + " to address " +
           std::to_string(remoteAddress);
}

} // namespace scaleacross
