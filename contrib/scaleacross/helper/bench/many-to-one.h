// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MANY_TO_ONE_H
#define SCALEACROSS_MANY_TO_ONE_H

#include "core/base/units.h"
#include "core/spec/network-plan.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * Hosts that send to one host for ever: how a congestion control shares a port.
 *
 * All hosts are on the first of a row of switches, but the receiver, which is on the last. So the
 * port that all share is the one that leaves the first switch. Packets have 82 bytes of headers and
 * gaps; an ACK for each; PFC is on. Senders start one after the other, all flows of one together.
 */
struct ManyToOne
{
    CongestionControl control;
    uint32_t senders{8};
    uint32_t flows{1}; //!< connections of each sender
    uint32_t switches{1};
    uint32_t payload{1000}; //!< bytes of a packet
    uint64_t bitRate{100'000'000'000};
    Duration delay{Duration::Microseconds(3)};   //!< of every wire
    Duration stagger{Duration::Microseconds(0)}; //!< between the starts of two senders
    Duration warmUp{Duration::Microseconds(20'000)};
    Duration measured{Duration::Microseconds(20'000)};
    /// Over which bytes are counted to tell since when shares are fair.
    Duration interval{Duration::Microseconds(100)};
    uint64_t seed{1};
    /// Attributes ("ns3::Type::Attribute") for which the caller has set defaults, and for which
    /// what goes with a control sets nothing.
    std::set<std::string> chosen;

    /// Throws ConfigError.
    void Validate() const;

    /// The round trip of a packet and its ACK that wait for nothing; every switch takes them in
    /// whole before it sends them on.
    Duration BaseRoundTrip() const;
};

struct ManyToOneResult
{
    std::vector<double> rates; //!< by flow while measured, Gb/s on the wire
    double jain{0};            //!< Jain's index of them: (sum r)^2 / (n sum r^2)
    double share{0};           //!< of the line that was used while measured
    double queueMean{0};       //!< bytes waiting at the shared port, every 2 us while measured
    double queueP50{0};
    double queueP90{0};
    double queueP99{0};
    uint64_t queuePeak{0}; //!< since the beginning
    /// From the start of the last sender until Jain's index of the bytes of an interval is at least
    /// 0.95 in ten intervals in a row, to the end of the first of them; negative if that has not
    /// happened before the end.
    Duration convergence;
    double marked{0}; //!< share of packets marked while measured
    uint64_t drops{0};
    uint64_t pauses{0}; //!< frames sent by switches
};

/// One simulation. ns-3 has one Simulator per process, whose resolution is the caller's.
ManyToOneResult RunManyToOne(const ManyToOne& work);

/// Jain's index; 0 if all are 0.
double JainIndex(const std::vector<double>& shares);

} // namespace scaleacross

#endif // SCALEACROSS_MANY_TO_ONE_H
