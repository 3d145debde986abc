// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_PCAP_HELPER_H
#define SCALEACROSS_FABRIC_PCAP_HELPER_H

#include "ns3/fabric-packet.h"
#include "ns3/trace-helper.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * Captures what ports of a fabric send and receive in pcap files with real headers.
 *
 * \code
 *   FabricPcapHelper pcap(fabric);
 *   pcap.EnablePcap("run", fabric.Nics()[0]); // run-<node>-<device>.pcap
 *   pcap.EnablePcap("run", fabric.Switches()[0]->GetPort(3));
 *   pcap.EnablePcapAll("run");                // or every port there is
 * \endcode
 *
 * RDMA packets are written as RoCEv2 (RoceFrame says what is in them), PFC frames as 802.1Qbb has
 * them, packets of other stacks as they are behind an Ethernet header. Packets sent are written
 * when their first bit leaves, packets received when their last bit has arrived, packets that a
 * wire lost not at all at the receiver. Times are nanoseconds, what is left of one is cut off.
 *
 * What the model does not have, or has otherwise, is made up as follows: IPv4 10.0.0.1 + fabric
 * address, as FabricInternetHelper gives it; DestQP, number of the queue pair + 2, as 0 and 1 are
 * for management; DSCP 8 x priority; TTL, the switches that a packet may still pass, plus one; RETH
 * address, bytes posted before on the queue pair; R_Key, the sending queue pair's number + 2;
 * immediate data, the tag; AETH credits, none. A message of more than 2^32 - 1 bytes shows that DMA
 * length. A payload that is no multiple of 4 bytes is padded, as in reality, which the model's wire
 * size leaves out; where sizes are set by FixedOverhead or the like, the files show legal packets
 * all the same, of other lengths than the model counts.
 *
 * To be used before the first message is posted. Files are complete after Simulator::Destroy().
 */
class FabricPcapHelper : public PcapHelperForDevice
{
  public:
    /// For the ports of one fabric, all of whose NICs exist. Throws ConfigError if messages have
    /// been posted.
    explicit FabricPcapHelper(const FabricHelper& fabric);
    ~FabricPcapHelper() override;

    /// Most bytes of a packet that are kept, in files opened from now on; 65,535 if not set. RoCE
    /// packets that are longer are written headers first (scaleacross::HeadersFirst): their lengths
    /// of IP and UDP leave out the payload, which the length of the frame in the file counts. 128
    /// bytes hold all headers.
    void SetSnapLength(uint32_t bytes);

    class Capture;

  private:
    /// Devices that are no fabric ports are passed over. Throws ConfigError if the file cannot be
    /// written.
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> device,
                            bool promiscuous,
                            bool explicitFilename) override;

    std::shared_ptr<Capture> m_capture;
    uint32_t m_snapLength{65535};
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_PCAP_HELPER_H
