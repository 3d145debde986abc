// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LOOK_AHEAD_WORKS_H
#define SCALEACROSS_LOOK_AHEAD_WORKS_H

#include "look-ahead-runs.h"

// The works on which engines are compared.

namespace lookahead
{

void SendFlow(FabricHelper& fabric, Log& log, uint32_t from, uint32_t to, uint64_t bytes);

/// `leaves` leaves of four hosts, as many spines; loss on every wire.
std::vector<Ptr<FabricSwitch>> BuildLeafSpine(FabricHelper& fabric,
                                              uint32_t leaves,
                                              double loss,
                                              Delays& delays);

/// 16 hosts under four leaves, each sends to one under another leaf. Buffers are so small that
/// flows which ECMP has put on one wire pause their senders.
void Permutation(FabricHelper& fabric, Log& log, Delays delays, double loss, bool pfc);

void Incast(FabricHelper& fabric, Log& log, Delays delays);

/// Two fabrics whose spines are joined by wires of 1 ms: windows of very different lengths meet.
void LongHaul(FabricHelper& fabric, Log& log, Delays delays);

/// Four to one with marks and a congestion control, some losses, and two queue pairs whose rate is
/// limited by hand.
void Controlled(FabricHelper& fabric,
                Log& log,
                Delays delays,
                const std::string& control,
                double loss);

/// The same while the wires of all hosts become shorter, one a little more than the other: what the
/// switch asks for next finds NICs that have had no event since.
void ControlledOverShorterWires(FabricHelper& fabric, Log& log, Delays delays);

/// Slow flows to and from a host whose wire becomes many times shorter while a packet is on it, or
/// none is.
void SparseOverAShorterWire(FabricHelper& fabric, Log& log, Delays delays);

/// The permutation, while a wire of a host and one of a spine flap, another one is slow, and a
/// spine fails and comes back.
void Failures(FabricHelper& fabric, Log& log, Delays delays, bool keep);

/// A path selector of the switches, or entropies of the senders, with receivers that place packets
/// in any order.
void SpreadPaths(FabricHelper& fabric, const std::string& type);

/// The permutation with another choice of paths, receivers that place out of order, and weights
/// 1, 2, 3, ... on the ports of every group.
void OtherPaths(FabricHelper& fabric,
                Log& log,
                Delays delays,
                const std::string& selector,
                double loss);

/// The permutation with an entropy per packet; queues that mark, and timers that are short enough
/// for a ring to be frozen.
void Entropies(FabricHelper& fabric, Log& log, Delays delays, const std::string& type, double loss);

/// Switches that trim, an entropy per packet, and windows that count what is under way.
void Trimming(FabricHelper& fabric);

/// Data gets ten times the bytes of headers and answers where both wait.
void ShareLines(FabricHelper& fabric);

/// Packets that have passed a switch go on by lane 5, and the answers to them by lane 2.
Scenario WithLaneMap(Scenario scenario);

/// Credits in place of pauses: 219 blocks for each lane of nine ports are less than 1 MiB, and more
/// than the least there may be.
Scenario WithCredits(Scenario scenario);

} // namespace lookahead

#endif // SCALEACROSS_LOOK_AHEAD_WORKS_H
