// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STANDARD_WORK_H
#define SCALEACROSS_STANDARD_WORK_H

#include "core/base/units.h"
#include "core/spec/network-plan.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
class FabricHelper;
} // namespace ns3

namespace scaleacross
{

/**
 * A fabric and flows that all start at time zero: work on which packet simulators are compared.
 *
 * | name             | fabric                                               | flows, 16 MiB each |
 * |------------------|------------------------------------------------------|--------------------|
 * | permutation      | leaf-spine, 8 leaves of 8 hosts, 8 spines, 100 Gb/s  | i to i + 32 mod 64 |
 * | incast           | one switch, 100 Gb/s                                 | 16 hosts to one    |
 * | permutation-400g | as permutation, at 400 Gb/s with 4,096 B of payload  | i to i + 32 mod 64 |
 * | long-haul        | two leaf-spines of 4 leaves of 8 hosts and 8 spines; | i to i + 32 mod 64 |
 * |                  | spines of equal number joined by 4 wires of 1 ms     | (32 MiB)           |
 *
 * Wires of 1 us where nothing else is said; packets of 1,000 B of payload and 48 B of headers, an
 * ACK of 64 B for every one; PFC on, no congestion control and E-ECMP if nothing else is chosen;
 * sprayed packets are placed in any order and repaired by selective repeat. InfiniBand has credits
 * in place of PFC, trimming switches neither; packets have the same sizes. A data packet-hop is
 * one data packet sent over one wire: every flow crosses 4 wires (incast 2, long-haul 5), hence
 *
 *   hops = flows * ceil(size / payload) * wires,
 *
 * 64 * 16,778 * 4 = 4,295,168 for permutation. ACKs and pauses cost time but are not counted.
 *
 * The long haul holds 1 ms * 12.5 GB/s / 1,048 B = 11,927 data packets per wire and direction.
 */
struct StandardWork
{
    std::string name;

    uint32_t buildings{1};
    uint32_t leaves{8}; //!< per building
    uint32_t hostsPerLeaf{8};
    uint32_t spines{8};        //!< per building; 0: the only leaf is the only switch
    uint32_t spansPerSpine{0}; //!< wires from a spine to the one of its number in the next building

    uint64_t bitRate{100'000'000'000}; //!< bit/s of every wire; divides 8e12
    Duration delay{Duration::Microseconds(1)};
    Duration spanDelay;
    Bytes leafBuffer{32ULL << 20};
    Bytes spineBuffer{32ULL << 20};

    uint32_t payload{1000};
    uint32_t overhead{48};
    uint32_t ackSize{64};
    uint32_t ackInterval{1};
    Multipath multipath;
    CongestionControl control;
    Transport transport;
    uint64_t seed{0}; //!< of the switches' hash and, where they draw, of their random numbers

    Bytes size{16ULL << 20};                          //!< of every flow; at least 1
    std::vector<std::pair<uint32_t, uint32_t>> flows; //!< from host, to host
};

/// The names above.
const std::vector<std::string>& StandardWorkNames();

/**
 * The work of that name, with another number of hosts if `hosts` is not 0: senders of an incast,
 * all hosts otherwise. A permutation takes k^2 hosts on k leaves under k spines, a long haul k
 * leaves of 8 hosts and k wires per spine in each building. Throws ConfigError.
 */
StandardWork MakeStandardWork(const std::string& name, uint32_t hosts = 0);

/**
 * Gives the wires between buildings another delay, and spines the buffer that its headroom needs.
 * Throws ConfigError unless the work has such wires and 0 < delay <= 100 ms.
 */
void SetSpanDelay(StandardWork& work, Duration delay);

/**
 * A permutation over another number of paths: leaves of as many hosts, under as many spines. Throws
 * ConfigError unless that makes an even number of full leaves.
 */
void SetPaths(StandardWork& work, uint32_t paths);

/// Wires that every flow crosses.
uint32_t WiresPerFlow(const StandardWork& work);

uint64_t PacketsPerFlow(const StandardWork& work);

/// Data packet-hops, if no packet is sent twice.
uint64_t DataPacketHops(const StandardWork& work);

/**
 * Before this time no sender can know that its flow has arrived: on an idle path the last packet is
 * there after
 *
 *   (size + overhead * packets) * t + (wires - 1) * (longest packet) * t + delays,   t = 8 /
 * bitRate
 *
 * (a line of equal servers in series), and its ACK back after wires * ackSize * t + delays. Exact
 * for a flow that is alone. Permutation: 1,406.605 + 3 * 0.084 + 4 + 4 * 0.005 + 4 = 1,414.877 us.
 */
Duration FlowBound(const StandardWork& work);

/**
 * Before this time not all flows can be known to have arrived: as FlowBound, but the last wire has
 * to carry all flows that end at one host. Incast: 16 * 1,406.605 + 0.084 + 2 + 2 * 0.005 + 2 =
 * 22,509.77 us.
 */
Duration WorkBound(const StandardWork& work);

/**
 * Sets the attributes of packets and switches, and builds hosts, switches and wires with their
 * routes; the first leaf's hosts come first. Attributes that have been set on `fabric` before and
 * that the work does not define stay as they are.
 */
void BuildFabric(const StandardWork& work, ns3::FabricHelper& fabric);

/// Creates a connection per flow, in their order, and posts one message on each, tag = its index.
void PostFlows(const StandardWork& work, ns3::FabricHelper& fabric);

} // namespace scaleacross

#endif // SCALEACROSS_STANDARD_WORK_H
