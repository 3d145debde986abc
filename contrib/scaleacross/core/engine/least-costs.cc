// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/least-costs.h"

#include "core/program/step-pattern.h"

#include <algorithm>

namespace scaleacross
{

double
LeastMessageTime(const FabricPath& path, const GpuSpec& gpu, Bytes bytes)
{
    const double rate = path.tier == Tier::Node
                            ? gpu.scaleUpBandwidth.Value() * gpu.scaleUpEfficiency
                            : gpu.nicRate.Value();
    return path.least.S() + static_cast<double>(bytes.Count()) * 8.0 / rate;
}

LeastCosts::LeastCosts(const Scenario& scenario,
                       const TaskGraph& graph,
                       const NetworkModel& network,
                       ClassCosts& costs)
    : m_graph(graph),
      m_network(network),
      m_costs(costs),
      m_bodies(graph.classes.size() * graph.bodies.size()),
      m_collectives(graph.classes.size() * graph.collectives.size())
{
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        m_fastestNic = std::max(m_fastestNic, building.gpu.nicRate.Value());
    }
}

const LeastWork&
LeastCosts::OfCollective(uint32_t classId, uint32_t collective)
{
    const std::vector<Collective>& collectives = m_graph.collectives;
    LeastWork& least = m_collectives[classId * collectives.size() + collective];
    if (least.known)
    {
        return least;
    }
    least.known = true;
    const std::vector<Phase>& phases = collectives[collective].phases;
    const uint32_t chunks = collectives[collective].chunks;
    const Rank rank = m_graph.classes[classId].representative;
    const double nicRate = m_network.PortRate(rank, Port::NicOut).Value();
    double scaleUp = 0;
    for (uint32_t p = 0; p < phases.size(); p++)
    {
        const Phase& phase = phases[p];
        const TransferCost& cost = m_costs.OfPhase(classId, collective, p);
        if (cost.On(Port::NicOut) == 0)
        {
            scaleUp += cost.portBytes[static_cast<size_t>(Port::ScaleUpOut)] * 8.0 * chunks /
                       m_network.PortRate(rank, Port::ScaleUpOut).Value();
            continue;
        }
        if (RoundsOf(phase).turns > 1 || collectives[collective].streams)
        {
            // Some hops, or phases, are over NICs, the others inside servers.
            const auto seconds = [&](Port port) {
                return cost.portBytes[static_cast<size_t>(port)] * 8.0 * chunks /
                       m_network.PortRate(rank, port).Value();
            };
            scaleUp += seconds(Port::ScaleUpOut);
            least.nic += seconds(Port::NicOut);
            continue;
        }
        if (StepsOf(phase).IsDirect())
        {
            // Members on the same server are reached over the scale-up network at the same time.
            least.nic += cost.portBytes[static_cast<size_t>(Port::NicOut)] * 8.0 * chunks / nicRate;
            continue;
        }
        // As much as all of them on average, or another sends more.
        const double sent = static_cast<double>(TimesSent(phase)) / phase.group.Size();
        const double payload = static_cast<double>(phase.bytes.Count()) * sent;
        // In a tree members send differently much: whoever sends more may have a faster NIC.
        const double rate = StepsOf(phase).ChainOf() == Chain::Tree ? m_fastestNic : nicRate;
        least.nic += payload * 8.0 / rate;
    }
    // Chunks are on scale-up network and NIC at the same time.
    least.time = chunks > 1 ? std::max(scaleUp, least.nic) : scaleUp + least.nic;
    // Of nothing, nothing begins.
    least.time += phases.empty() ? 0.0 : collectives[collective].launch.S();
    return least;
}

/// A collective of a layer; others are no body's own.
LoneCollective
LeastCosts::LoneOf(uint32_t classId, const Op& op)
{
    LoneCollective lone;
    lone.comm = m_graph.collectives[op.index].comm;
    // Down, so that a bound stays one.
    lone.time = Duration::Picoseconds(
        IsOfLayer(op.stream) ? static_cast<int64_t>(OfCollective(classId, op.index).time * 1e12)
                             : 0);
    return lone;
}

const LeastWork&
LeastCosts::OfBody(uint32_t classId, uint32_t body)
{
    LeastWork& least = m_bodies[classId * m_graph.bodies.size() + body];
    if (least.known)
    {
        return least;
    }
    least.known = true;
    const std::vector<Op>& ops = m_graph.bodies[body].ops;
    for (const Op& op : ops)
    {
        if (op.kind == OpKind::Collective)
        {
            least.nic += OfCollective(classId, op.index).nic;
        }
    }
    // Everything that happens later for whatever reason only makes it longer: neither what
    // collectives take from computing nor contention is in it.
    least.time =
        WalkBody(ops, {}, [this, classId](const Op& op) { return LoneOf(classId, op); }).total.S();
    return least;
}

} // namespace scaleacross
