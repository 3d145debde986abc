// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PATH_SIZE_H
#define SCALEACROSS_PATH_SIZE_H

#include <cstdint>
#include <string>

namespace ns3
{
class RdmaNic;
} // namespace ns3

namespace scaleacross
{

/// A data packet that is to cross a fabric.
struct PathSizeInput
{
    std::string where;       //!< what an error names
    const ns3::RdmaNic& nic; //!< by which it leaves
    uint32_t destination{0}; //!< fabric address
    uint32_t size{0};        //!< bytes on the wire, telemetry left out
    bool telemetry{false};   //!< each switch that it leaves adds an entry
};

/**
 * Throws ConfigError, with the arithmetic, if a switch on its way would drop the packet as
 * oversize. To be asked when there are routes: the first of several ways is looked at, and a way
 * that does not lead on (yet) is no error here.
 *
 * The k-th switch sees size bytes, and with telemetry 2 + 8 (k - 1) more (telemetry.h). Worked
 * case: the first packet of a write with an MTU of 4,096 has 4,194 bytes; with telemetry the first
 * switch sees 4,196 and the second 4,204, which is more than a MaxPacketSize of 4,200.
 */
void CheckFitsPath(const PathSizeInput& packet);

} // namespace scaleacross

#endif // SCALEACROSS_PATH_SIZE_H
