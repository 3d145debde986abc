// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOWLET_SELECTOR_H
#define SCALEACROSS_FLOWLET_SELECTOR_H

#include "path-selector.h"

#include "ns3/nstime.h"

#include <vector>

namespace ns3
{

/**
 * Flowlet switching: a flow that has paused for longer than Gap may take another path (Vanini et
 * al., "Let It Flow", NSDI 2017).
 *
 * Model: a table of TableSize entries, in which a flow has the one number floor(h TableSize / 2^32)
 * of its hash h. An entry holds a port and when it was last used. A packet that comes within Gap of
 * the one before takes the same port; a later one a port drawn at random. Flows that share an entry
 * are one flowlet. A packet whose group does not have the entry's port (a flow of another group
 * that shares the entry, or the port is down) goes where ECMP would send it, as long as the entry
 * is in use: flows keep to one port each.
 *
 * Order: packets that leave at t and t' > t + Gap on paths whose delays, queues included, are d and
 * d' arrive at t + d and t' + d'. They keep their order if Gap >= d - d': if Gap is at least the
 * largest difference in delay between two paths, nothing overtakes.
 *
 * RDMA at line rate has no gaps but between messages, and where it is paced below it.
 *
 * Left out: ports chosen by congestion (CONGA).
 *
 * Worked case: 100 KiB messages at 400 Gb/s, each posted 100 us after the one before, which takes
 * 2 us: 98 us of silence. With Gap = 50 us each message takes a path of its own.
 */
class FlowletSelector : public PathSelector
{
  public:
    static TypeId GetTypeId();
    FlowletSelector();
    ~FlowletSelector() override;

    std::string GetName() const override;
    bool Reorders() const override;
    bool GoesByTime() const override;
    uint16_t Select(const scaleacross::PortGroup& group,
                    const scaleacross::FabricPacket& packet,
                    int64_t now) override;

    /// Packets that came later than Gap after the one before, and drew a port.
    uint64_t GetFlowlets() const;

    void SetGap(Time gap);
    Time GetGap() const;

  private:
    struct Entry
    {
        int64_t last{INT64_MIN}; //!< ps: when it was used last
        uint16_t port{0};
    };

    std::vector<Entry> m_table; //!< made when first used
    int64_t m_gap{0};           //!< ps
    uint32_t m_tableSize{0};
    uint64_t m_flowlets{0};
};

} // namespace ns3

#endif // SCALEACROSS_FLOWLET_SELECTOR_H
