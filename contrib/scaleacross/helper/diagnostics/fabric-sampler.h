// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_SAMPLER_H
#define SCALEACROSS_FABRIC_SAMPLER_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

class FabricHelper;
class FabricPort;
class RdmaConnection;

/**
 * Samples ports and flows at equal intervals into CSV files.
 *
 * \code
 *   FabricSampler sampler(fabric);
 *   sampler.AddPort(fabric.Switches()[0]->GetPort(3));
 *   sampler.AddConnection(connection);
 *   sampler.Start("run", MicroSeconds(10), MilliSeconds(1)); // run-ports.csv, run-flows.csv
 *   Simulator::Run();
 * \endcode
 *
 * The first line of a file is a comment that begins with #, the second one names the columns.
 * Ports:
 *
 *   time_ps, port        when, and which ("node 3 port 1")
 *   queue_bytes          waiting, all priorities; in a NIC foreign packets too
 *   stopped_priorities   bit p: the neighbour keeps priority p stopped
 *   sent_bytes           on the wire, since the beginning
 *   ecn_marked           packets marked on joining a queue here, since the beginning
 *   utilisation          share of the last interval during which the line was busy
 *   stopped_share        share of it during which at least one priority was stopped
 *   name                 where the port is and what is at the other end of its wire, as
 *                        FabricHelper::NameOf has it: "east/leaf3 to east/spine0"
 *   pauses_sent          frames that stop or resume the neighbour, sent since the beginning
 *   pauses_received      the same, received
 *
 * Flows (connections):
 *
 *   time_ps, flow        when, and which (its number in the order of AddConnection)
 *   delivered_bytes      payload taken by the receiver, since the beginning
 *   acked_bytes          of messages that are acknowledged completely
 *   goodput_bps          payload delivered in the last interval, bit/s
 *   allowed_bps          what congestion control allows all queue pairs together, bit/s on the wire
 *   unacked_packets      sent and not acknowledged
 *   retransmissions      packets sent again, since the beginning
 *   window_packets       what windows and congestion control allow all queue pairs together to have
 *                        unacknowledged, or under way; empty if one has no limit
 *   label                RdmaConnection::Label, quoted as RFC 4180 says
 *
 * A sample at t sees everything before t and what starts to leave at t; whether it sees what
 * arrives at t exactly is not defined: choose times at which nothing does, if that matters. Samples
 * change no result. Switches that run ahead are held at the times of samples
 * (FabricHelper::HoldAt).
 */
class FabricSampler
{
  public:
    explicit FabricSampler(FabricHelper& fabric);
    ~FabricSampler();
    FabricSampler(const FabricSampler&) = delete;
    FabricSampler& operator=(const FabricSampler&) = delete;

    void AddPort(Ptr<FabricPort> port);
    void AddConnection(Ptr<RdmaConnection> connection);
    /// All ports of switches and NICs, and all connections there are and that come later, as those
    /// of collectives do.
    void AddAll();

    /**
     * Samples every `period` from now + period until `last` (included), into PREFIX-ports.csv and
     * PREFIX-flows.csv; a file is written if there is something to go into it, or may come. To be
     * called once, when the wires are connected.
     *
     * Throws ConfigError if the period is 0 or a file cannot be written.
     */
    void Start(const std::string& prefix, Time period, Time last);

  private:
    struct SampledPort
    {
        Ptr<FabricPort> port;
        Time busy;
        Time stopped;
        std::string name; //!< quoted where CSV needs it; "" before the first sample
    };

    struct SampledFlow
    {
        Ptr<RdmaConnection> connection;
        uint64_t delivered{0};
    };

    void Announce(Time from);
    void Sample();
    void SamplePort(SampledPort& sampled);
    void SampleFlow(SampledFlow& sampled, size_t number);

    FabricHelper& m_fabric;
    std::vector<SampledPort> m_ports;
    std::vector<SampledFlow> m_flows;
    std::ofstream m_portFile;
    std::ofstream m_flowFile;
    Time m_period;
    Time m_last;
    Time m_reach; //!< no switch runs further ahead
    /// True while this sampler lives: the fabric tells of new connections also after that.
    std::shared_ptr<bool> m_follows;
    Time m_announced; //!< samples up to here have been announced
    EventId m_event;
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_SAMPLER_H
