// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/alone-replay.h"

#include "core/engine/least-replay.h"

namespace scaleacross
{

namespace
{

class AloneTimes : public LeastTimes
{
  public:
    AloneTimes(const TaskGraph& graph, ClassCosts& costs)
        : m_graph(graph),
          m_costs(costs)
    {
    }

    double OfBody(uint32_t classId, uint32_t body) override
    {
        return m_costs.OfBody(classId, body).times.total.S();
    }

    double OfCollective(uint32_t classId, uint32_t collective) override
    {
        return m_costs.AloneTime(classId, collective).S();
    }

    Message OfMessage(uint32_t classId, int32_t peer, Bytes bytes) override
    {
        const TransferCost& cost = m_costs.OfMessage(classId, peer, bytes);
        return {cost.PortSeconds(), cost.latency.S()};
    }

    double TakenBy(uint32_t classId, uint32_t collective) override
    {
        const CollectiveShare& share = m_graph.classes[classId].collectiveShare;
        return TakenFrom(share, m_graph.collectives[collective].processors);
    }

  private:
    const TaskGraph& m_graph;
    ClassCosts& m_costs;
};

} // namespace

double
AloneReplay(const TaskGraph& graph, uint32_t classId, ClassCosts& costs)
{
    AloneTimes times(graph, costs);
    return LeastReplay(graph, classId, times);
}

} // namespace scaleacross
