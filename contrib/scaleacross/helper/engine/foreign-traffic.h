// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_TRAFFIC_H
#define SCALEACROSS_FOREIGN_TRAFFIC_H

#include "core/spec/scenario.h"

#include "ns3/data-rate.h"
#include "ns3/foreign-source.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

class ClusterHelper;
class FabricWire;
class RdmaNic;

/**
 * The foreign traffic of a scenario's events: NICs of somebody else on the switches at the ends of
 * a span, as fast as its links, with a ForeignSource for every link and direction. From switch to
 * switch their packets pass the links between these two and no others. Their priority is the one
 * above that of queue pairs, so that others have what they ask for and the job the rest, as the
 * other engines have it.
 *
 * Parallel links have equal parts: ports are random, so that hashing them spreads packets. Where
 * switches hash pairs of NICs alone, there are more NICs, and for every link two of them whose
 * packets take it. Where switches choose by the destination, the NICs of others have addresses that
 * lead over one link each.
 */
class ForeignTraffic
{
  public:
    /**
     * Adds NICs and sources to a cluster that has been built from the scenario, in which nothing
     * of the job changes by that: neither addresses nor paths. A source sends while its link is up.
     *
     * Throws ConfigError where the priority or lane above the job's data is not free, where a
     * switch has no room for the ports, and where it sends nothing over one of parallel links.
     */
    void Install(const scaleacross::Scenario& scenario, ClusterHelper& cluster);

    /// Fixes the streams of all sources; returns how many are used.
    int64_t AssignStreams(int64_t stream);

  private:
    /// Addresses that are chosen come after those of all NICs that are given any in turn.
    static constexpr uint32_t kFirstChosen = 1U << 24;

    /// The links between two switches, and the NICs on these.
    struct Bundle
    {
        scaleacross::EventSpec event;
        std::string where;      //!< what messages call it
        DataRate rate;          //!< of a link
        uint32_t packetSize{0}; //!< of an IP packet
        std::vector<Ptr<FabricWire>> wires;
        std::vector<Ptr<RdmaNic>> nics[2]; //!< on the switches at the ends 0 and 1 of the wires
        bool byPair{false};                //!< which link a packet takes is up to its two NICs
    };

    void Build(const scaleacross::Scenario& scenario,
               size_t event,
               const std::vector<uint32_t>& links,
               ClusterHelper& cluster);
    /// So that what goes to NIC i at an end takes link i, as the switch at the other end chooses.
    void ChooseAddresses(const Bundle& bundle, size_t end);
    void InstallSources();
    void AddSource(const Bundle& bundle,
                   const Ptr<FabricWire>& wire,
                   const Ptr<RdmaNic>& from,
                   const Ptr<RdmaNic>& to);
    void AddSourcesByPair(const Bundle& bundle, size_t end);

    std::vector<Bundle> m_bundles;
    uint32_t m_nextAddress{kFirstChosen}; //!< of those that are chosen
    std::vector<Ptr<ForeignSource>> m_sources;
};

} // namespace ns3

#endif // SCALEACROSS_FOREIGN_TRAFFIC_H
