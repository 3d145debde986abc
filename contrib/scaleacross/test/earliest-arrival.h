// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TEST_EARLIEST_ARRIVAL_H
#define SCALEACROSS_TEST_EARLIEST_ARRIVAL_H

#include "fabric-test.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fabrictest
{

/**
 * The earliest time at which a message can arrive, whatever else there is: a bound from below that
 * knows nothing of queues, windows or protocols.
 *
 * A message that is posted at T is S bytes on the wire altogether, in packets of at least s and at
 * most m bytes. Let D(s) be the shortest way of a packet of s bytes, over all paths: the sum of
 * delay + s * 8 / rate over its wires, as every hop stores and forwards. Then it has not arrived
 * before each of
 *
 *   T + D(s)                              its last packet takes the way
 *   T + D(s) + (S - s) * 8 / R            R: the wires by which its senders, or receivers, are tied
 *   T + D(s) + (S - 2 k m) * 8 / (k L)    L: the RateLimit of each of its k queue pairs, which
 *                                         sends at most one packet ahead of it
 *
 * and its sender does not know of it before an answer has taken the way back.
 *
 * Rates and delays are those at the beginning: during the run rates may only fall and delays only
 * grow. Times are rounded down at every hop, as ports do.
 */
class EarliestArrival
{
  public:
    explicit EarliestArrival(const ns3::FabricHelper& fabric);

    /// A message is posted now.
    void Note(uint64_t tag, const ns3::RdmaConnection& connection, uint64_t bytes);
    /// A packet of another stack is sent now.
    void NoteForeign(uint64_t tag, ns3::RdmaNic& from, ns3::RdmaNic& to, uint32_t bytes);

    /// What has come too early, each with its values.
    void Check(const Log& log, std::vector<std::string>& violations) const;

    /// ps for a packet from one node to another.
    int64_t Way(uint32_t from, uint32_t to, uint64_t bytes) const;

  private:
    struct Wire
    {
        uint32_t from;
        uint32_t to;
        int64_t delay;
        uint64_t rate;
    };

    struct Bound
    {
        int64_t posted;
        int64_t delivered;
        int64_t completed;
    };

    static void Compare(const std::vector<Event>& events,
                        const std::map<uint64_t, Bound>& bounds,
                        int64_t Bound::*bound,
                        const std::string& what,
                        std::vector<std::string>& violations);

    std::vector<Wire> m_wires;            //!< both directions
    std::map<uint32_t, uint64_t> m_rates; //!< bit/s, of nodes with a single wire
    uint32_t m_nodes{0};
    std::map<uint64_t, Bound> m_bounds;
};

} // namespace fabrictest

#endif // SCALEACROSS_TEST_EARLIEST_ARRIVAL_H
