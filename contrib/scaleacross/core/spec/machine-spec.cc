// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/machine-spec.h"

#include "core/base/errors.h"
#include "core/base/field-rows.h"

#include <algorithm>
#include <optional>

namespace scaleacross
{

namespace
{

/// Of a server.
constexpr uint32_t g_mostNics = 1024;

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

/// What the table says against a field's value; nothing: it could be read.
template <class Owner>
std::optional<ConfigError>
Against(const FieldTable<Owner>& table, const std::string& key, const Owner& owner)
{
    const Field<Owner>* field = FindField(table, key);
    SCALEACROSS_INVARIANT(field != nullptr, key);
    Owner copy = owner;
    try
    {
        field->set(copy, field->get(owner));
    }
    catch (const ConfigError& error)
    {
        return error;
    }
    return std::nullopt;
}

} // namespace

GpuSpec
MachineSpec::GpuWithNics() const
{
    GpuSpec with = gpu;
    with.nicRate = NicShare();
    with.nicsPerGpu = static_cast<double>(nics) / gpusPerNode;
    with.nicEfficiency = nicEfficiency;
    return with;
}

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
    if (const auto no = Against(BuildingSpec::Fields(), "gpus", building))
    {
        throw ConfigError("nodes",
                          std::to_string(nodes) + " servers with " + std::to_string(used) +
                              " GPUs each have " + std::to_string(building.gpus),
                          "GPUs of a building: " + no->Allowed(),
                          "take fewer servers, or fewer GPUs of each");
    }
    building.gpusPerNode = joined * used;
    building.gpu = GpuWithNics();
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
                   g_mostNics,
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
    const auto allowsNics = [this](uint32_t count) {
        MachineSpec other = *this;
        other.nics = count;
        return !Against(GpuSpec::Fields(), "nics_per_gpu", other.GpuWithNics());
    };
    if (!allowsNics(nics))
    {
        uint32_t least = gpusPerNode; // one each is allowed
        uint32_t most = gpusPerNode;
        while (least > 1 && allowsNics(least - 1))
        {
            least--;
        }
        while (most < g_mostNics && allowsNics(most + 1))
        {
            most++;
        }
        throw ConfigError("nics",
                          std::to_string(nics) + " NICs of a server with " +
                              std::to_string(gpusPerNode) + " GPUs are " +
                              NumberText(static_cast<double>(nics) / gpusPerNode) + " for each",
                          std::to_string(least) + " to " + std::to_string(most),
                          "change it, or gpus_per_node");
    }
    if (const auto no = Against(GpuSpec::Fields(), "nic_rate", GpuWithNics()))
    {
        throw ConfigError("nic_rate",
                          std::to_string(nics) + " NICs of " + ExactText(nicRate) + ", shared by " +
                              std::to_string(gpusPerNode) + " GPUs, are " + ExactText(NicShare()) +
                              " for each",
                          no->Allowed() + " for each GPU",
                          "change it, or nics");
    }
}

} // namespace scaleacross
