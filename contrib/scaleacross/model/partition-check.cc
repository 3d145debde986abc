// SPDX-License-Identifier: GPL-2.0-only

#include "partition-check.h"

#include "core/base/errors.h"

#include "ns3/simulator.h"

namespace scaleacross
{

void
CheckPartition(const ns3::Ptr<ns3::Node>& node, const std::string& where)
{
    const uint32_t own = ns3::Simulator::GetSystemId();
    if (!node || node->GetSystemId() == own)
    {
        return;
    }
    throw ConfigError(where,
                      "node " + std::to_string(node->GetId()) + " has systemId " +
                          std::to_string(node->GetSystemId()) + ", and this process simulates " +
                          std::to_string(own) +
                          ": fabrics cannot be partitioned over MPI, as no packet of theirs would "
                          "cross from one process to another",
                      "nodes with systemId " + std::to_string(own),
                      "make all nodes by CreateObject<Node>() and run the script as one process, "
                      "without mpirun");
}

} // namespace scaleacross
