// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ROUTE_TABLE_H
#define SCALEACROSS_ROUTE_TABLE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace scaleacross
{

/// The ports that lead to a destination, and which share of its traffic each should get.
struct PortGroup
{
    std::vector<uint16_t> ports;
    /// One per port, proportional to the share it should get, none of them 0; empty: all are equal.
    /// Heeded by selectors that weight.
    std::vector<uint32_t> weights;

    bool operator==(const PortGroup& other) const
    {
        return ports == other.ports && weights == other.weights;
    }
};

/**
 * A switch's forwarding table: ranges of destination addresses, each with its group of ports.
 *
 * Addresses are fabric addresses of NICs, small whole numbers. Ranges do not overlap. Equal groups
 * are kept once, so that memory grows with the number of ranges and of distinct groups, that is,
 * with the structure of the fabric and not with its pairs.
 *
 * Packets of the switch's own NICs may be sent elsewhere than those that pass by: over detours,
 * from which they go on by the shortest way (AddEntry, LookupEntry).
 *
 * A port that is down is left out of what Lookup gives, and comes back when it is up again; a range
 * all of whose ports are down leads nowhere. Which of a group's ports a packet takes is a
 * PathSelector's business.
 */
class RouteTable
{
  public:
    /// A range and the number of its group.
    struct Range
    {
        uint32_t first{0}; //!< addresses first to last, both included
        uint32_t last{0};
        uint32_t group{0};
    };

    /**
     * Adds a range. Throws ConfigError if it is empty, has no ports or overlaps another one, or if
     * there are weights but not one above 0 for each port. Neighbouring ranges with the same group
     * become one, in whatever order they come. Ranges that come in ascending order are added in
     * constant time.
     */
    void Add(uint32_t first, uint32_t last, PortGroup group);

    /// The same for packets of the switch's own NICs. What is in no such range, or in one all of
    /// whose ports are down, goes as all else does.
    void AddEntry(uint32_t first, uint32_t last, PortGroup group);

    /// Removes all ranges. Ports that are down stay down.
    void Clear();

    /// One more than the largest port of any group, 0 if there are none.
    uint32_t EndOfPorts() const
    {
        return HasEntries() ? std::max(m_endOfPorts, m_entry.front().m_endOfPorts) : m_endOfPorts;
    }

    /// Packets of the switch's own NICs may go another way than those that pass by.
    bool HasEntries() const
    {
        return !m_entry.empty();
    }

    /// All ranges, in ascending order.
    const std::vector<Range>& Ranges() const
    {
        return m_ranges;
    }

    /// The ports of a range as they were added, whether up or down.
    const PortGroup& GroupOf(const Range& range) const
    {
        return m_groups[range.group];
    }

    /// Takes a port out of all groups, or puts it back. Switches do this when a wire fails.
    void SetPortUp(uint16_t port, bool up);

    bool IsPortUp(uint16_t port) const
    {
        return port >= m_down.size() || !m_down[port];
    }

    /// The ports to a destination that are up, null if there are none.
    const PortGroup* Lookup(uint32_t destination) const
    {
        const Range* range = RangeOf(destination);
        if (range == nullptr)
        {
            return nullptr;
        }
        const PortGroup& group = m_live[range->group];
        return group.ports.empty() ? nullptr : &group;
    }

    /// The same for a packet of one of the switch's own NICs.
    const PortGroup* LookupEntry(uint32_t destination) const
    {
        const PortGroup* group = HasEntries() ? m_entry.front().Lookup(destination) : nullptr;
        return group != nullptr ? group : Lookup(destination);
    }

    /// The range a destination is in, null if it is in none.
    const Range* RangeOf(uint32_t destination) const
    {
        // The last range that begins at or before the destination; the keys alone fill few cache
        // lines.
        const uint32_t* begin = m_firsts.data();
        size_t count = m_firsts.size();
        while (count > 1)
        {
            const size_t half = count / 2;
            begin = begin[half] <= destination ? begin + half : begin;
            count -= half;
        }
        if (count == 0)
        {
            return nullptr;
        }
        const Range& range = m_ranges[static_cast<size_t>(begin - m_firsts.data())];
        return destination < range.first || range.last < destination ? nullptr : &range;
    }

    /// Packets for a destination should not wait for this port: another one leads there, or nothing
    /// has ever led there. `entering`: they are of the switch's own NICs.
    bool LeadsElsewhere(uint32_t destination, uint32_t port, bool entering) const
    {
        const PortGroup* group = entering ? LookupEntry(destination) : Lookup(destination);
        if (group == nullptr)
        {
            return RangeOf(destination) == nullptr;
        }
        return group->ports.size() > 1 || group->ports.front() != port;
    }

    /// The ports to a destination whether they are up or not; null if there have never been any.
    const PortGroup* WithDown(uint32_t destination) const
    {
        const Range* range = RangeOf(destination);
        return range == nullptr ? nullptr : &GroupOf(*range);
    }

  private:
    uint32_t NumberOf(PortGroup&& group);
    PortGroup LivePartOf(const PortGroup& group) const;

    std::vector<Range> m_ranges;     //!< sorted by first
    std::vector<uint32_t> m_firsts;  //!< of m_ranges
    std::vector<PortGroup> m_groups; //!< distinct, as they were added
    std::vector<PortGroup> m_live;   //!< what is up of m_groups
    uint32_t m_endOfPorts{0};
    std::vector<bool> m_down;                              //!< by port, as far as any was ever down
    std::unordered_multimap<size_t, uint32_t> m_byContent; //!< hash -> number of the group
    std::vector<RouteTable> m_entry; //!< for packets of the switch's own NICs; at most one
};

} // namespace scaleacross

#endif // SCALEACROSS_ROUTE_TABLE_H
