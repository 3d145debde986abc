// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MACHINE_SPEC_H
#define SCALEACROSS_MACHINE_SPEC_H

#include "core/base/field.h"
#include "core/base/units.h"
#include "core/spec/cluster-spec.h"
#include "core/spec/gpu-spec.h"
#include "core/spec/network-plan.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

/**
 * A server that one can buy or rent, with its NICs and the network that joins such servers: what a
 * page of measurements names by one word.
 *
 * A server is a case with GPUs and NICs, of which several may share a scale-up network: the compute
 * trays of a rack, 4 GPUs each, of which GpuSpec::scaleUpDomain has 72. (A building's server is
 * all that such a network joins; Cluster() makes the one of the other.)
 */
struct MachineSpec
{
    std::string name;
    GpuSpec gpu;             //!< its NICs are replaced by what nics and nicRate give it
    uint32_t gpusPerNode{0}; //!< GPUs of a server
    uint32_t nics{0};        //!< NICs of a server for traffic between GPUs
    BitRate nicRate;         //!< of each of these
    double nicEfficiency{1}; //!< of that, what traffic between GPUs reaches, (0, 1]
    FabricSpec fabric;       //!< between servers where they are many
    NetworkPlan network;     //!< transport and what else is the machine's

    /// What a GPU has of the NICs of its server: nics x nicRate x nicEfficiency / gpusPerNode.
    BitRate NicShare() const
    {
        return nicRate * (nics * nicEfficiency / gpusPerNode);
    }

    /// The GPU with that share, which is what a study says of the NICs.
    GpuSpec GpuWithNics() const;

    /**
     * One building of `nodes` such servers, of which `gpusPerNode` GPUs each are used.
     *
     * Servers fill scale-up networks, pods and zones as far as they do evenly, scale-up networks by
     * half at least: fewer to each would be another machine. A part of a pod keeps the width of its
     * links: a leaf has no more spines than ports below it, so that no link upwards is thinner than
     * a port (at an oversubscription of 1).
     *
     * Worked case: 32 trays of 4 GPUs, of which a rack has 18, are two racks of 16 trays: 128 GPUs
     * with gpusPerNode 64.
     *
     * Throws ConfigError (where = "nodes", also of more GPUs than a building has, or
     * "gpus-per-node").
     *
     * @param nodes from 1
     * @param gpusPerNode 0: all of a server
     */
    ClusterSpec Cluster(uint32_t nodes, uint32_t gpusPerNode = 0) const;

    /// What a file may say of a machine besides GPU, fabric and network, in canonical order.
    static const FieldTable<MachineSpec>& Fields();

    /// Throws ConfigError (where = "gpus_per_node", or "nics" or "nic_rate" where a GPU's share of
    /// them is none that a GPU may have).
    void Validate() const;
};

} // namespace scaleacross

#endif // SCALEACROSS_MACHINE_SPEC_H
