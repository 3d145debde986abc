// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARTITION_CHECK_H
#define SCALEACROSS_PARTITION_CHECK_H

#include "ns3/node.h"
#include "ns3/ptr.h"

#include <string>

namespace scaleacross
{

/**
 * Throws ConfigError(where, ...) if another process simulates the node: its systemId is not
 * ns3::Simulator::GetSystemId(), which is 0 without MPI. Does nothing if the node is null: a device
 * that is on none yet, an application that was disposed of before time zero.
 *
 * ns-3 partitions a run over MPI by systemIds: every process makes all nodes, and simulates its
 * own. Packets between partitions need a channel that sends them to the other process, as
 * PointToPointRemoteChannel does. FabricWire cannot, so each process would simulate the whole
 * fabric by itself, and the figures of both would be wrong.
 */
void CheckPartition(const ns3::Ptr<ns3::Node>& node, const std::string& where);

} // namespace scaleacross

#endif // SCALEACROSS_PARTITION_CHECK_H
