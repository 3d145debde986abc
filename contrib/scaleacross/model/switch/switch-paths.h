// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWITCH_PATHS_H
#define SCALEACROSS_SWITCH_PATHS_H

#include "ns3/attribute-guard.h"
#include "ns3/fabric-packet.h"
#include "ns3/flow-hash.h"
#include "ns3/object.h"
#include "ns3/path-selector.h"
#include "ns3/route-table.h"
#include "ns3/type-id.h"

#include <cstdint>
#include <string>

namespace ns3
{

/// Which port of a switch a packet leaves by: routes, and a choice among equal ones by a selector
/// or by a hash of the flow.
class SwitchPaths : public Object,
                    public scaleacross::AttributeOwner,
                    protected scaleacross::EgressQueues
{
  public:
    SwitchPaths();
    ~SwitchPaths() override;

    /// Where packets go. To be filled before time zero; CheckConfig throws ConfigError if it names
    /// a port that is not there.
    scaleacross::RouteTable& Routes();
    const scaleacross::RouteTable& Routes() const;

    /// Chooses among the ports to a destination.
    Ptr<PathSelector> GetPathSelector() const;
    /// The selector is this switch's alone, and gets the stream that was assigned to the one
    /// before. Throws ConfigError if it is null, or the run has begun.
    void SetPathSelector(Ptr<PathSelector> selector);
    /// The same, with a new one of a type derived from PathSelector.
    void SetPathSelectorType(TypeId type);
    TypeId GetPathSelectorType() const;
    /// Why packets of a queue pair overtake each other here, as in "random spray lets packets
    /// overtake each other"; "" if they keep their order, or lose it only by a gap that is too
    /// short.
    std::string WhyReordered() const;

    /**
     * The port by which a packet with this source, destination, entropy and queue pair leaves as
     * things are now. Throws ConfigError if there is no route, if something was set after
     * CheckConfig, or if what chooses among several ports does not go by the flow's hash alone.
     */
    uint32_t PredictPort(const scaleacross::FabricPacket& packet) const;

    /// Header fields by which this switch tells flows apart; see ParseHashFields. Like the two
    /// below it throws ConfigError if the run has begun.
    void SetHashFields(std::string names);
    std::string GetHashFields() const;
    void SetHashSeed(uint64_t seed);
    uint64_t GetHashSeed() const;
    void SetHashPerSwitch(bool perSwitch);
    bool GetHashPerSwitch() const;

    const char* WhyFixed() const override;
    void AttributeSet() override;

  protected:
    void DoDispose() override;

    /// "node 3 FabricSwitch::", what messages about attributes begin with.
    std::string MessagePrefix() const;
    void CheckNotRunning(const char* attribute) const;
    /// Throws ConfigError if a route names a port beyond `ports`.
    void CheckRoutes(uint32_t ports) const;
    /// Gives hash and selector what they need. Before time zero.
    void SetUpPaths();
    /// Fixes the selector's attributes.
    void BeginPaths();
    /// Returns how many streams the selector uses.
    int64_t AssignSelectorStreams(int64_t stream);
    /// A NIC is at the other end of a port's wire. After CheckConfig.
    virtual bool IsEntry(uint16_t port) const = 0;

    uint16_t ChoosePort(const scaleacross::PortGroup& group,
                        const scaleacross::FabricPacket& packet,
                        int64_t now)
    {
        if (group.ports.size() == 1)
        {
            return group.ports[0];
        }
        if (m_asked == nullptr || packet.kind == scaleacross::PacketKind::Foreign)
        {
            return scaleacross::PortOfHash(group, m_flowHash(packet));
        }
        m_asking = &packet;
        return m_asked->Select(group, packet, now);
    }

    /// The packet for which the selector is asked.
    const scaleacross::FabricPacket& Asking() const
    {
        return *m_asking;
    }

    /// What leads to a packet's destination, from an own NIC or from elsewhere; null: nothing.
    const scaleacross::PortGroup* RouteOf(const scaleacross::FabricPacket& packet,
                                          bool entering) const
    {
        return entering ? m_routes.LookupEntry(packet.destination)
                        : m_routes.Lookup(packet.destination);
    }

    scaleacross::RouteTable m_routes;
    bool m_checked{false}; //!< nothing has been set since the last CheckConfig

  private:
    /// Its source is a NIC of this switch.
    bool IsEntering(const scaleacross::FabricPacket& packet) const;

    scaleacross::FlowHash m_flowHash;
    PathSelector* m_asked{nullptr}; //!< the selector, unless flows are simply hashed
    const scaleacross::FabricPacket* m_asking{nullptr};
    Ptr<PathSelector> m_selector;
    uint64_t m_hashSeed{0};
    bool m_hashPerSwitch{true};
    uint8_t m_hashFields{0}; //!< bits of HashField
    int64_t m_stream{-1};    //!< of the selector, -1 if none was assigned
};

} // namespace ns3

#endif // SCALEACROSS_SWITCH_PATHS_H
