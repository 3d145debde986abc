// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/machine-spec.h"

#include "core/base/errors.h"
#include "core/base/field-rows.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// The most members, up to `most`, that groups of equal size have.
uint32_t
EvenShare(uint32_t members, uint32_t most)
{
    uint32_t share = std::min(members, most);
    while (members % share != 0)
    {
        share--;
    }
    return share;
}

/// Whether equal parts of scale-up networks of `most` servers, half of one or more, make up
/// `nodes`.
bool
FillsScaleUp(uint32_t nodes, uint32_t most)
{
    return nodes <= most || 2 * EvenShare(nodes, most) >= most;
}

/// Servers that share a scale-up network.
uint32_t
ServersOfScaleUp(uint32_t nodes, uint32_t most)
{
    if (!FillsScaleUp(nodes, most))
    {
        uint32_t less = nodes;
        uint32_t more = nodes;
        while (!FillsScaleUp(less, most)) // not below `most`
        {
            less--;
        }
        while (!FillsScaleUp(more, most)) // not beyond its next multiple
        {
            more++;
        }
        throw ConfigError("nodes",
                          std::to_string(nodes) + " servers do not fill scale-up networks of " +
                              std::to_string(most) + " servers evenly, each at least by half",
                          "up to " + std::to_string(most) + ", or a multiple of " +
                              std::to_string((most + 1) / 2) + " to " + std::to_string(most),
                          "take " + std::to_string(less) + " or " + std::to_string(more));
    }
    return EvenShare(nodes, most);
}

} // namespace

ClusterSpec
MachineSpec::Cluster(uint32_t nodes, uint32_t gpusUsed) const
{
    SCALEACROSS_INVARIANT(nodes > 0, "no servers");
    const uint32_t used = gpusUsed == 0 ? gpusPerNode : gpusUsed;
    if (used > gpusPerNode)
    {
        throw ConfigError("gpus-per-node",
                          "a server of this machine has " + std::to_string(gpusPerNode) +
                              " GPUs, not " + std::to_string(used),
                          "1 to " + std::to_string(gpusPerNode),
                          "");
    }
    const uint32_t joined = ServersOfScaleUp(nodes, gpu.scaleUpDomain / gpusPerNode);
    BuildingSpec building;
    building.name = "building1";
    building.gpus = nodes * used;
    building.gpusPerNode = joined * used;
    building.gpu = gpu;
    building.gpu.nicRate = NicShare();
    building.gpu.nicsPerGpu = static_cast<double>(nics) / gpusPerNode;
    building.gpu.nicEfficiency = nicEfficiency;
    building.fabric = fabric;
    if (fabric.nodesPerPod != 0)
    {
        building.fabric.nodesPerPod = EvenShare(building.Nodes(), fabric.nodesPerPod);
    }
    if (fabric.podsPerZone != 0)
    {
        building.fabric.podsPerZone =
            EvenShare(building.Nodes() / building.NodesPerPod(), fabric.podsPerZone);
    }
    const uint32_t ports = building.NodesPerPod() * (fabric.rails ? 1 : building.gpusPerNode);
    building.fabric.spines = std::min(fabric.spines, ports);
    ClusterSpec cluster;
    cluster.buildings = {building};
    return cluster;
}

const FieldTable<MachineSpec>&
MachineSpec::Fields()
{
    using Row = FieldRows<MachineSpec>;
    using M = MachineSpec;
    static const FieldTable<MachineSpec> fields = {
        Row::Text("name", "for people", &M::name).Label(),
        Row::Whole("gpus_per_node", 1, 1024, "GPUs of a server", &M::gpusPerNode)
            .Required("gpus_per_node: 8"),
        Row::Whole("nics",
                   1,
                   1024,
                   "NICs of a server for traffic between GPUs, which share them evenly",
                   &M::nics)
            .Required("nics: 8"),
        Row::Amount("nic_rate", BitRate(1e6), BitRate(1e15), "of each NIC", &M::nicRate)
            .Required("nic_rate: 400Gbps"),
        Row::Number("nic_efficiency",
                    0.001,
                    1,
                    "of nic_rate, what traffic between GPUs reaches",
                    &M::nicEfficiency),
    };
    return fields;
}

void
MachineSpec::Validate() const
{
    if (gpu.scaleUpDomain % gpusPerNode != 0)
    {
        throw ConfigError("gpus_per_node",
                          std::to_string(gpusPerNode) +
                              " GPUs of a server, and the scale-up network of a " + gpu.name +
                              " joins " + std::to_string(gpu.scaleUpDomain),
                          "a divisor of " + std::to_string(gpu.scaleUpDomain),
                          "change it, or gpu: {preset: " + gpu.name +
                              ", scale_up_domain: " + std::to_string(gpusPerNode) + "}");
    }
}

} // namespace scaleacross
