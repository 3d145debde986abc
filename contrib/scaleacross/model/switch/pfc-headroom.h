// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PFC_HEADROOM_H
#define SCALEACROSS_PFC_HEADROOM_H

#include "switch-port.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// FabricSwitch's attributes Pfc, LosslessPriorities, PauseResponse and HeadroomScale.
struct PfcConfig
{
    bool on{true};
    uint32_t priorities{0}; //!< bit p: priority p is lossless
    ns3::Time response;
    double scale{1};
};

/// What the ports of a switch reserve for what still comes after a pause (HeadroomBytes), for each
/// lossless priority.
class PfcHeadroom
{
  public:
    /// Nothing is reserved yet. `lossless`: bit per priority. `maxPacket`: bytes on the wire.
    void Configure(const PfcConfig& config, uint32_t lossless, uint32_t maxPacket, size_t ports);

    /// Lossless priorities.
    uint32_t Priorities() const;

    /// Bytes that a port needs, itself sending at `own`, its neighbour at `peer`.
    uint64_t Needed(const ns3::FabricPort& port,
                    ns3::DataRate own,
                    ns3::DataRate peer,
                    ns3::Time delay) const;

    /// Reserves what a port needs as it is. Domain: it has a wire.
    uint64_t Reserve(const ns3::SwitchPort& port);

    /// Bytes reserved for a port and each lossless priority.
    uint64_t Reserved(uint32_t port) const;
    /// The most for any port.
    uint64_t Largest() const;

    /// Throws ConfigError if with these values a port would need more than has been reserved.
    void Check(const ns3::SwitchPort& port,
               ns3::DataRate own,
               ns3::DataRate peer,
               ns3::Time delay) const;

  private:
    PfcConfig m_config;
    uint32_t m_lossless{0};
    uint32_t m_maxPacket{0};
    std::vector<uint64_t> m_reserved; //!< by port
};

} // namespace scaleacross

#endif // SCALEACROSS_PFC_HEADROOM_H
