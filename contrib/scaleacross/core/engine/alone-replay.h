// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ALONE_REPLAY_H
#define SCALEACROSS_ALONE_REPLAY_H

#include "core/engine/class-costs.h"
#include "core/engine/least-replay.h"
#include "core/program/program.h"

#include <cstdint>

namespace scaleacross
{

/**
 * What classes do takes at least, where nothing that they send gets into another's way:
 *  - a body what it does alone (ClassCosts::OfBody);
 *  - a gather or a reduction what it does with ports and cuts to itself, with its latencies and
 *    chunks (ClassCosts::AloneTime);
 *  - a message its time on the ports, for which the next one waits, and its latency; of the cuts on
 *    its way it may find its turns done already (FluidNetwork::Start), so that they do not count;
 *  - computing beside gathers and reductions goes on with what these leave.
 */
class AloneTimes : public LeastTimes
{
  public:
    /// Both have to outlive it.
    AloneTimes(const TaskGraph& graph, ClassCosts& costs);

    double OfBody(uint32_t classId, uint32_t body) override;
    double OfCollective(uint32_t classId, uint32_t collective) override;
    Message OfMessage(uint32_t classId, int32_t peer, Bytes bytes) override;
    double TakenBy(uint32_t classId, uint32_t collective) override;

  private:
    const TaskGraph& m_graph;
    ClassCosts& m_costs;
};

/**
 * What an iteration takes at least by AloneTimes (rung 1.5): LeastReplay from a class, which tells
 * most of stage 0.
 *
 * It is below the analytical engine's time, which knows of no resource more than these and adds
 * what they share, but not below another engine's. In seconds; not rounded.
 */
double AloneReplay(const TaskGraph& graph, uint32_t classId, ClassCosts& costs);

} // namespace scaleacross

#endif // SCALEACROSS_ALONE_REPLAY_H
