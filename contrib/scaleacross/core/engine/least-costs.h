// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LEAST_COSTS_H
#define SCALEACROSS_LEAST_COSTS_H

#include "core/engine/body-walk.h"
#include "core/engine/class-costs.h"
#include "core/engine/network-model.h"
#include "core/topology/fabric-path.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What no engine can avoid of a collective or a body, in seconds.
struct LeastWork
{
    bool known{false};
    double time{0}; //!< compute, and payload over port rates
    double nic{0};  //!< payload of one rank over its NIC; of all-to-alls with its headers
};

/// From posting a message on a GPU to its arrival, at least, in seconds: the shortest way, and its
/// payload at the rate of the network that it leaves by.
double LeastMessageTime(const FabricPath& path, const GpuSpec& gpu, Bytes bytes);

/// The least of what classes of a task graph do, found when it is asked for.
class LeastCosts
{
  public:
    /// All are referred to.
    LeastCosts(const Scenario& scenario,
               const TaskGraph& graph,
               const NetworkModel& network,
               ClassCosts& costs);

    const LeastWork& OfCollective(uint32_t classId, uint32_t collective);
    /// Of what it computes and the collectives of its layers.
    const LeastWork& OfBody(uint32_t classId, uint32_t body);

  private:
    LoneCollective LoneOf(uint32_t classId, const Op& op);

    const TaskGraph& m_graph;
    const NetworkModel& m_network;
    ClassCosts& m_costs;
    double m_fastestNic{0};               //!< bit/s
    std::vector<LeastWork> m_bodies;      //!< by class x body
    std::vector<LeastWork> m_collectives; //!< by class x collective
};

} // namespace scaleacross

#endif // SCALEACROSS_LEAST_COSTS_H
