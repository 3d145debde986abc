// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWITCH_CREDITS_H
#define SCALEACROSS_SWITCH_CREDITS_H

#include "core/base/packet-format.h"
#include "switch-port.h"

#include "ns3/arrival-agenda.h"
#include "ns3/credit-link.h"
#include "ns3/lane-map.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace scaleacross
{

/// FabricSwitch's attributes Credits, VirtualLanes, VlBuffer, CreditUpdate and MaxCreditBlocks.
struct CreditConfig
{
    bool on{false};
    uint32_t lanes{0}; //!< bit v: virtual lane v has a receive buffer
    uint64_t buffer{0};
    uint32_t update{0};
    uint64_t mostBlocks{0};
};

/**
 * InfiniBand's flow control as a switch has it, in place of pauses.
 *
 * Every virtual lane (priority) of every port has a receive buffer of its own, of VlBuffer bytes,
 * and the neighbour sends no more than there is room for (CreditLink, FabricPort). What a packet
 * took is granted anew at the moment at which its last bit has left; what leaves at that moment,
 * leaves first. Nothing is dropped for want of room. A packet goes on by the lane that LaneMap
 * names for its service level, which is the priority with which its NIC has sent it; without a map
 * it keeps its lane.
 */
class SwitchCredits
{
  public:
    using Ports = std::vector<ns3::Ptr<ns3::SwitchPort>>;

    /// Domain: both live as long as this.
    SwitchCredits(const Ports& ports, ArrivalAgenda& agenda);

    /// LaneMap's rules as text; empty: packets keep their lanes. Before time zero.
    void SetMap(const std::string& rules);
    const std::string& Map() const;

    bool HasMap() const
    {
        return m_map != nullptr;
    }

    /// Virtual lane by which packets of a service level leave; the level itself without a map.
    uint8_t LaneOf(uint32_t in, uint32_t out, uint8_t level) const
    {
        return m_map ? m_map->LaneOf(in, out, level) : level;
    }

    /**
     * Gives the ports, and NICs behind them, their buffers, or takes them away if `config.on` is
     * false. `owner` is what messages begin with, as in "node 3 FabricSwitch::".
     *
     * Throws ConfigError if a buffer cannot hold a packet of `maxPacket` bytes, if a NIC sends
     * longer ones, and if the buffers together are more than `memory` bytes.
     */
    void Configure(const CreditConfig& config,
                   uint32_t maxPacket,
                   uint64_t memory,
                   const std::string& owner);

    bool On() const
    {
        return m_config.on;
    }

    /// A packet that came in by a port and lane has left the memory.
    void Free(uint32_t port, uint8_t lane, uint32_t bytes)
    {
        m_ports[port]->Credits()->Free(lane, CreditBlocks(bytes));
        m_freed.push_back(port * kPriorities + lane);
    }

    /// There is room that the neighbours have not been told of.
    bool HasFreed() const
    {
        return !m_freed.empty();
    }

    /// A port has begun to send, and is free at `end`.
    void NoteEnd(uint32_t port, int64_t end);

    /// Grants what has been freed until `now`.
    void GrantFreed(int64_t now);

  private:
    /// When a port's line is free again.
    struct PortEnd
    {
        int64_t time;
        uint32_t port;

        bool operator>(const PortEnd& other) const
        {
            return time > other.time;
        }
    };

    CreditBuffer BufferOf(const ns3::SwitchPort& port) const;
    void Forget();
    uint64_t SetUp(ns3::SwitchPort& port);

    const Ports& m_ports;
    ArrivalAgenda& m_agenda;
    CreditConfig m_config;
    uint32_t m_maxPacket{0};
    std::vector<PortEnd> m_ends;    //!< a heap, the earliest first
    std::vector<uint32_t> m_freed;  //!< port * 8 + lane: where room has been made since the alarm
    std::unique_ptr<LaneMap> m_map; //!< null: packets keep their lanes
    std::string m_mapText;
};

} // namespace scaleacross

#endif // SCALEACROSS_SWITCH_CREDITS_H
