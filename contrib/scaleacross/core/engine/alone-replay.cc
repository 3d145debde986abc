// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/alone-replay.h"

namespace scaleacross
{

AloneTimes::AloneTimes(const TaskGraph& graph, ClassCosts& costs)
    : m_graph(graph),
      m_costs(costs)
{
}

double
AloneTimes::OfBody(uint32_t classId, uint32_t body)
{
    return m_costs.OfBody(classId, body).times.total.S();
}

double
AloneTimes::OfCollective(uint32_t classId, uint32_t collective)
{
    return m_costs.AloneTime(classId, collective).S();
}

LeastTimes::Message
AloneTimes::OfMessage(uint32_t classId, int32_t peer, Bytes bytes)
{
    const TransferCost& cost = m_costs.OfMessage(classId, peer, bytes);
    return {cost.PortSeconds(), cost.latency.S()};
}

double
AloneTimes::TakenBy(uint32_t classId, uint32_t collective)
{
    const CollectiveShare& share = m_graph.classes[classId].collectiveShare;
    return TakenFrom(share, m_graph.collectives[collective].processors);
}

double
AloneReplay(const TaskGraph& graph, uint32_t classId, ClassCosts& costs)
{
    AloneTimes times(graph, costs);
    return LeastReplay(graph, classId, times);
}

} // namespace scaleacross
