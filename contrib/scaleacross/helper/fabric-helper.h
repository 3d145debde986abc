// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_HELPER_H
#define SCALEACROSS_FABRIC_HELPER_H

#include "core/topology/routing.h"

#include "ns3/data-rate.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

class FabricPort;
class FabricSwitch;
class FabricWire;
class RdmaConnection;
class RdmaNic;

/// What connections, and their queue pairs, are made with.
struct ConnectionAttributes
{
    ObjectFactory connection;
    std::vector<std::pair<std::string, Ptr<AttributeValue>>> queuePairs;
};

/**
 * Builds a fabric of hosts, switches and wires, and knows all of its parts afterwards.
 *
 * \code
 *   FabricHelper fabric;
 *   Ptr<FabricSwitch> leaf = fabric.AddSwitch();
 *   Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
 *   Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
 *   fabric.Connect(a, leaf, DataRate("100Gbps"), MicroSeconds(1));
 *   fabric.Connect(b, leaf, DataRate("100Gbps"), MicroSeconds(1));
 *   fabric.InstallRoutes();
 *   Ptr<RdmaConnection> connection = fabric.CreateConnection(a, b);
 *   connection->SetDeliveryCallback(MakeCallback(&Delivered));
 *   connection->Send(scaleacross::Bytes(16 << 20), 1);
 *   Simulator::Run();
 *   CheckConservation(fabric); // in "ns3/fabric-balance.h"
 * \endcode
 */
class FabricHelper
{
  public:
    FabricHelper();
    ~FabricHelper();

    // --- Attributes of what is created from now on
    // ------------------------------------------------

    void SetSwitchAttribute(const std::string& name, const AttributeValue& value);
    /// Of ports of switches, when they are connected: SwitchPort and FabricPort.
    void SetSwitchPortAttribute(const std::string& name, const AttributeValue& value);
    void SetNicAttribute(const std::string& name, const AttributeValue& value);
    void SetConnectionAttribute(const std::string& name, const AttributeValue& value);
    void SetQueuePairAttribute(const std::string& name, const AttributeValue& value);
    /// Of the ReceiverAdmission of NICs that are created from now on.
    void SetAdmissionAttribute(const std::string& name, const AttributeValue& value);

    // An attribute's value, as text, of what is created from now on. Throws ConfigError if there is
    // no such attribute.
    std::string GetQueuePairAttribute(const std::string& name) const;
    std::string GetNicAttribute(const std::string& name) const;
    std::string GetConnectionAttribute(const std::string& name) const;

    /// What a connection would be made with now, for one that is made later.
    ConnectionAttributes GetConnectionAttributes() const;

    /**
     * Lets the switches and NICs created from now on do in one event what is due within a wire's
     * delay (their LookAhead attributes). Several times faster, with the same results; while a sink
     * is connected to a trace source of a node, that node has an event for everything.
     */
    void SetLookAhead(bool lookAhead);

    /// Whether routes have weights, for switches whose path selection heeds them (weighted ECMP).
    /// Equal unless set; to be called before InstallRoutes.
    void SetRouteWeights(scaleacross::RouteWeights weights);

    /**
     * Announces that at `time` a script will look at counters of switches or change something: no
     * switch runs ahead of it. To be called at least the longest delay of a wire beforehand, or
     * before Simulator::Run. Needed with look-ahead only.
     */
    void HoldAt(Time time);

    // --- Building
    // ---------------------------------------------------------------------------------

    Ptr<Node> AddHost();
    /// A NIC on a node.
    Ptr<RdmaNic> AddNic(Ptr<Node> host);
    /// A node which is a switch.
    Ptr<FabricSwitch> AddSwitch();

    /// Joins NIC and switch, or two switches; several wires between the same two are fine.
    Ptr<FabricWire> Connect(Ptr<RdmaNic> nic,
                            Ptr<FabricSwitch> fabricSwitch,
                            DataRate rate,
                            Time delay,
                            double loss = 0);
    Ptr<FabricWire> Connect(Ptr<FabricSwitch> a,
                            Ptr<FabricSwitch> b,
                            DataRate rate,
                            Time delay,
                            double loss = 0);

    /// The same for two ports at hand, for instance two NICs back to back.
    Ptr<FabricWire> ConnectPorts(Ptr<FabricPort> a,
                                 Ptr<FabricPort> b,
                                 DataRate rate,
                                 Time delay,
                                 double loss = 0);

    /// How tables follow from what is up; scaleacross::ShortestPaths() unless this is called. It
    /// lives as long as this helper.
    void SetRouting(const scaleacross::Routing& routing);

    /**
     * Fills every switch's table with all shortest paths (in wires) to every NIC, grouped by ranges
     * of addresses (scaleacross::ComputeRoutes), or as SetRouting says, and checks every switch's
     * configuration. Throws ConfigError if a NIC is not connected, or a switch cannot hold its
     * headroom. To be called when all is connected. With NS_LOG=FabricHelper=warn, says so if the
     * routes have a cyclic buffer dependency.
     *
     * As long as there is no connection, fabric addresses are given anew: NICs on the same switch
     * get neighbouring ones, and switches under the same switches follow each other
     * (scaleacross::AddressOrder), otherwise in the order of creation. So tables stay short where
     * neighbours are on different switches, as with rails. MAC addresses follow.
     */
    void InstallRoutes();

    /// Fills the tables anew with the wires that are up now at both ends (RouteTable::IsPortUp),
    /// and changes nothing else: what a control plane does some time after a failure.
    void UpdateRoutes();

    /// The same for what was up when `graph` was taken. During a run, tables are swapped at all
    /// switches at once; with look-ahead, at a time that has been announced by HoldAt.
    void UpdateRoutes(const scaleacross::SwitchGraph& graph);

    /// The switches, in the order of creation, and what is up, as ComputeRoutes wants them.
    scaleacross::SwitchGraph GetSwitchGraph() const;

    /// Replaces the tables of all switches by others, for instance those of a graph in which some
    /// wires are down.
    void SetRoutes(const std::vector<scaleacross::SwitchRoutes>& tables);

    /// Addresses are final: InstallRoutes has been called, and will not give any anew from now on.
    /// Throws ConfigError if it has not been called.
    void FixAddresses();

    /// For the sake of this NIC its switch is none that detours go over (ValiantRouting), and its
    /// own packets take none. Before the routes that are to be so.
    void KeepOffDetours(Ptr<RdmaNic> nic);

    Ptr<RdmaConnection> CreateConnection(Ptr<RdmaNic> from, Ptr<RdmaNic> to);
    /// With queue pair i pinned to the i-th UDP source port in turn, see RdmaConnection's
    /// SetEntropies and FindEntropy (fabric-path.h).
    Ptr<RdmaConnection> CreateConnection(Ptr<RdmaNic> from,
                                         Ptr<RdmaNic> to,
                                         const std::vector<uint16_t>& entropies);
    /// Over several pairs of sending and receiving NICs, see RdmaConnection::Connect.
    Ptr<RdmaConnection> CreateConnection(
        const std::vector<std::pair<Ptr<RdmaNic>, Ptr<RdmaNic>>>& nics);
    /// With attributes that were taken earlier (GetConnectionAttributes), whatever is set now.
    Ptr<RdmaConnection> CreateConnection(Ptr<RdmaNic> from,
                                         Ptr<RdmaNic> to,
                                         const ConnectionAttributes& attributes);

    /// Called with every connection that is made from now on, before it carries anything.
    using ConnectionSink = std::function<void(Ptr<RdmaConnection>)>;
    void AddConnectionSink(ConnectionSink sink);

    /// Fixes the random streams of all wires, then switches, then queue pairs, those to be created
    /// included; returns how many were used.
    int64_t AssignStreams(int64_t stream);

    // --- Names
    // ------------------------------------------------------------------------------------------

    /// What NameOf calls a NIC or a switch. Fabrics of buildings and of files name theirs by site,
    /// role and number ("east/leaf3"); without a name it is "node 3", and a NIC "node 3 port 0".
    void SetName(const Ptr<RdmaNic>& nic, const std::string& name);
    void SetName(const Ptr<FabricSwitch>& fabricSwitch, const std::string& name);

    /// Where a port is and what is at the other end of its wire: "east/leaf3 to east/spine0". Equal
    /// for wires between the same two.
    std::string NameOf(const FabricPort& port) const;

    // --- Everything there is, in the order of creation
    // --------------------------------------------

    const std::vector<Ptr<RdmaNic>>& Nics() const;
    const std::vector<Ptr<FabricSwitch>>& Switches() const;
    const std::vector<Ptr<FabricWire>>& Wires() const;
    const std::vector<Ptr<RdmaConnection>>& Connections() const;

  private:
    void GiveAddresses();
    void SetDivisors();
    using NicPairs = std::vector<std::pair<Ptr<RdmaNic>, Ptr<RdmaNic>>>;

    /// Of the NIC or switch that a port belongs to.
    std::string OwnerOf(const FabricPort& port) const;
    void CheckEnds(const Ptr<RdmaNic>& from,
                   const Ptr<RdmaNic>& to,
                   const ConnectionAttributes& attributes) const;
    void CheckReordering(const RdmaNic& from, const ConnectionAttributes& attributes) const;
    Ptr<RdmaConnection> MakeConnection(const NicPairs& nics,
                                       const std::vector<uint16_t>& entropies,
                                       const ConnectionAttributes& attributes);

    ObjectFactory m_switchFactory;
    ObjectFactory m_nicFactory;
    ObjectFactory m_connectionFactory;
    ObjectFactory m_admissionFactory;
    bool m_admission{false}; //!< an attribute of it has been set
    std::vector<std::pair<std::string, Ptr<AttributeValue>>> m_portAttributes;
    std::vector<std::pair<std::string, Ptr<AttributeValue>>> m_queuePairAttributes;
    std::vector<std::pair<std::string, Ptr<AttributeValue>>> m_nicAttributes;
    std::vector<std::pair<std::string, Ptr<AttributeValue>>> m_connectionAttributes;
    std::vector<Ptr<RdmaNic>> m_nics;
    std::set<Ptr<RdmaNic>> m_ownNics;      //!< the same
    std::set<const RdmaNic*> m_offDetours; //!< of m_nics
    std::vector<Ptr<RdmaNic>> m_unrouted;  //!< added since InstallRoutes
    std::vector<Ptr<FabricSwitch>> m_switches;
    std::vector<Ptr<FabricWire>> m_wires;
    std::vector<Ptr<RdmaConnection>> m_connections;
    std::vector<ConnectionSink> m_sinks;
    std::map<const Object*, std::string> m_names; //!< of NICs and switches
    const scaleacross::Routing* m_routing{&scaleacross::ShortestPaths()};
    scaleacross::RouteWeights m_routeWeights{scaleacross::RouteWeights::Equal};
    bool m_routed{false};
    bool m_fixed{false};
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_HELPER_H
