// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_THREE_STAGE_CLOS_H
#define SCALEACROSS_THREE_STAGE_CLOS_H

#include "helper/fabric-helper.h"

#include "ns3/data-rate.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/nstime.h"
#include "ns3/rdma-nic.h"
#include "ns3/uinteger.h"

#include <vector>

namespace scaleacross
{

/**
 * Buildings with three tiers of switches each, as large training fabrics have them, made by hand.
 *
 * A rack switch has `nicsPerRack` NICs and one wire to every cluster switch of its zone; cluster
 * switch c has `parallel` wires to each of the aggregation switches (planes) c, c + clusters, c + 2
 * clusters...; aggregation switches of equal number are joined between all buildings, by `spans`
 * wires of 150 us (30 km). All wires carry 400 Gb/s.
 *
 * The defaults are 4 buildings of 4,096 NICs: 1,024 rack, 256 cluster and 256 aggregation switches,
 * 40,064 wires; 64 x 16 wires into the zones' cluster switches and 16 x 24 out of them (1 : 2.7).
 */
struct ThreeStageClos
{
    uint32_t buildings{4};
    uint32_t zones{4};  //!< per building
    uint32_t racks{64}; //!< per zone
    uint32_t nicsPerRack{16};
    uint32_t clusters{16}; //!< cluster switches per zone
    uint32_t planes{64};   //!< aggregation switches per building; a multiple of clusters
    uint32_t parallel{6};
    uint32_t spans{3};

    uint32_t NicsPerBuilding() const
    {
        return zones * racks * nicsPerRack;
    }

    uint32_t Nics() const
    {
        return buildings * NicsPerBuilding();
    }

    uint32_t Switches() const
    {
        return buildings * (zones * (racks + clusters) + planes);
    }

    uint32_t Wires() const
    {
        return Nics() + buildings * zones * (racks * clusters + planes * parallel) +
               buildings * (buildings - 1) / 2 * planes * spans;
    }

    /// Nodes, devices, channels; no routes yet. NICs are numbered building by building.
    void Build(ns3::FabricHelper& fabric) const
    {
        using namespace ns3;
        const DataRate rate("400Gbps");
        const auto tier = [&](uint64_t buffer, uint32_t count) {
            fabric.SetSwitchAttribute("BufferSize", UintegerValue(buffer));
            std::vector<Ptr<FabricSwitch>> switches(count);
            for (auto& fabricSwitch : switches)
            {
                fabricSwitch = fabric.AddSwitch();
            }
            return switches;
        };
        std::vector<std::vector<Ptr<FabricSwitch>>> aggregation;
        for (uint32_t b = 0; b < buildings; b++)
        {
            aggregation.push_back(tier(1ULL << 30, planes));
            for (uint32_t other = 0; other < b; other++)
            {
                for (uint32_t i = 0; i < planes * spans; i++)
                {
                    const uint32_t plane = i / spans;
                    fabric.Connect(aggregation[other][plane],
                                   aggregation[b][plane],
                                   rate,
                                   MicroSeconds(150));
                }
            }
            for (uint32_t z = 0; z < zones; z++)
            {
                const auto cluster = tier(64ULL << 20, clusters);
                for (const auto& rack : tier(64ULL << 20, racks))
                {
                    for (uint32_t n = 0; n < nicsPerRack; n++)
                    {
                        const Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
                        fabric.Connect(nic, rack, rate, NanoSeconds(750));
                    }
                    for (const auto& above : cluster)
                    {
                        fabric.Connect(rack, above, rate, NanoSeconds(4500));
                    }
                }
                for (uint32_t i = 0; i < planes * parallel; i++)
                {
                    const uint32_t plane = i / parallel;
                    fabric.Connect(cluster[plane % clusters],
                                   aggregation[b][plane],
                                   rate,
                                   NanoSeconds(8500));
                }
            }
        }
    }
};

} // namespace scaleacross

#endif // SCALEACROSS_THREE_STAGE_CLOS_H
