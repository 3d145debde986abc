// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TELEMETRY_H
#define SCALEACROSS_TELEMETRY_H

#include "fabric-packet.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace scaleacross
{

class TelemetryPool;

/// What one switch port writes into a packet that it begins to send.
struct TelemetryHop
{
    uint64_t port;       //!< which: node id * 2^32 + number
    int64_t time;        //!< ps: start of the packet
    uint64_t sentBytes;  //!< that have left by this port before, on the wire
    uint64_t queueBytes; //!< of its priority that wait behind it
    uint64_t rate;       //!< bit/s
};

/**
 * The in-band telemetry (INT) that a packet gathers, one entry per switch, any number of them.
 *
 * It hangs on the packet in place of its tag, which is kept here meanwhile, so that packets without
 * telemetry are no larger. The receiver hands it back on its answer. Trails come from the pool of
 * the NIC that sent the data packet and return to it when the packet that carries them ends.
 *
 * On the wire: kTelemetryHeader bytes when the packet is sent, kTelemetryEntry more from each
 * switch on (HPCC's 2 bytes and 8 per hop: Li et al., HPCC: High Precision Congestion Control,
 * SIGCOMM 2019).
 */
struct TelemetryTrail
{
    std::vector<TelemetryHop> hops;
    uint64_t tag{0};
    TelemetryPool* home{nullptr};
    TelemetryTrail* next{nullptr}; //!< in the pool
};

constexpr uint16_t kTelemetryHeader = 2;
constexpr uint16_t kTelemetryEntry = 8;

/// Memory for trails: what was returned last is handed out first, with no hops.
class TelemetryPool
{
  public:
    TelemetryPool() = default;
    TelemetryPool(const TelemetryPool&) = delete;
    TelemetryPool& operator=(const TelemetryPool&) = delete;

    TelemetryTrail* Take();
    /// Gives a trail back to its pool.
    static void Return(TelemetryTrail* trail);

    /// Trails ever made, in use or not.
    size_t Capacity() const
    {
        return m_trails.size();
    }

  private:
    std::vector<std::unique_ptr<TelemetryTrail>> m_trails;
    TelemetryTrail* m_free{nullptr};
};

/// Hangs a trail on a packet without one and adds its bytes to the packet's.
void AttachTrail(FabricPacket& packet, TelemetryTrail* trail);

/// Takes the trail off; the packet's size stays. Domain: packet.telemetry.
TelemetryTrail* DetachTrail(FabricPacket& packet);

/// The tag of a packet, wherever it is.
uint64_t TagOf(const FabricPacket& packet);

/// A switch's entry. Domain: packet.telemetry.
void AddHop(FabricPacket& packet, const TelemetryHop& hop);

} // namespace scaleacross

#endif // SCALEACROSS_TELEMETRY_H
