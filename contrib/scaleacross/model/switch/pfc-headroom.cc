// SPDX-License-Identifier: GPL-2.0-only

#include "pfc-headroom.h"

#include "core/base/errors.h"
#include "core/base/headroom.h"

#include "ns3/fabric-wire.h"

#include <algorithm>
#include <bitset>
#include <string>

namespace scaleacross
{

void
PfcHeadroom::Configure(const PfcConfig& config, uint32_t lossless, uint32_t maxPacket, size_t ports)
{
    m_config = config;
    m_lossless = lossless;
    m_maxPacket = maxPacket;
    m_reserved.assign(ports, 0);
}

uint32_t
PfcHeadroom::Priorities() const
{
    return static_cast<uint32_t>(std::bitset<kPriorities>(m_lossless).count());
}

uint64_t
PfcHeadroom::Needed(const ns3::FabricPort& port,
                    ns3::DataRate own,
                    ns3::DataRate peer,
                    ns3::Time delay) const
{
    const uint64_t bytes = HeadroomBytes({delay.GetPicoSeconds(),
                                          peer.GetBitRate(),
                                          own.GetBitRate(),
                                          m_maxPacket,
                                          Priorities(),
                                          port.PauseSize(),
                                          m_config.response.GetPicoSeconds()});
    return static_cast<uint64_t>(static_cast<double>(bytes) * m_config.scale);
}

uint64_t
PfcHeadroom::Reserve(const ns3::SwitchPort& port)
{
    return m_reserved.at(port.GetPortNumber()) = Needed(port,
                                                        port.GetDataRate(),
                                                        port.GetPeer()->GetDataRate(),
                                                        port.GetWire()->GetDelay());
}

uint64_t
PfcHeadroom::Reserved(uint32_t port) const
{
    return m_reserved.at(port);
}

uint64_t
PfcHeadroom::Largest() const
{
    return m_reserved.empty() ? 0 : *std::max_element(m_reserved.begin(), m_reserved.end());
}

void
PfcHeadroom::Check(const ns3::SwitchPort& port,
                   ns3::DataRate own,
                   ns3::DataRate peer,
                   ns3::Time delay) const
{
    const uint64_t reserved = Reserved(port.GetPortNumber());
    if (reserved == 0)
    {
        return; // not needed
    }
    const uint64_t needed = Needed(port, own, peer, delay);
    // Rounded up, which may differ by a byte.
    if (needed > reserved + 1)
    {
        throw ConfigError(port.Describe(),
                          "is to get a rate or delay (" + std::to_string(own.GetBitRate()) +
                              " bit/s, its neighbour " + std::to_string(peer.GetBitRate()) +
                              " bit/s, " + std::to_string(delay.GetPicoSeconds()) +
                              " ps) that needs a PFC headroom of " + std::to_string(needed) +
                              " bytes, and " + std::to_string(reserved) +
                              " bytes were reserved at the beginning",
                          "during a run no rate above the first one, and no longer delay",
                          "begin with the highest rate and the longest delay");
    }
}

} // namespace scaleacross
