// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-address.h"

#include "ns3/address.h"

#include <array>

namespace scaleacross
{

namespace
{
constexpr uint8_t kLocallyAdministered = 0x02;
} // namespace

ns3::Mac48Address
MacOf(uint32_t fabricAddress)
{
    std::array<uint8_t, 6> bytes{kLocallyAdministered, 0};
    for (uint32_t i = 0; i < 4; ++i)
    {
        bytes[2 + i] = static_cast<uint8_t>(fabricAddress >> (24 - 8 * i));
    }
    ns3::Mac48Address mac;
    mac.CopyFrom(bytes.data());
    return mac;
}

bool
FabricAddressOf(ns3::Mac48Address mac, uint32_t& fabricAddress)
{
    std::array<uint8_t, 6> bytes{};
    mac.CopyTo(bytes.data());
    if (bytes[0] != kLocallyAdministered || bytes[1] != 0)
    {
        return false;
    }
    fabricAddress = 0;
    for (uint32_t i = 2; i < 6; ++i)
    {
        fabricAddress = (fabricAddress << 8) | bytes[i];
    }
    return true;
}

} // namespace scaleacross
