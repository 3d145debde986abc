// SPDX-License-Identifier: GPL-2.0-only

// Messages of a test on the network of the flow engine, without ranks.

#ifndef SCALEACROSS_TESTS_FLOW_DELIVERIES_H
#define SCALEACROSS_TESTS_FLOW_DELIVERIES_H

#include "core/engine/event-heap.h"
#include "core/engine/flow/flow-transport.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace scaleacross
{

/// When each of `count` messages is delivered, in seconds. `post` sends them, or has the clock do
/// so, with their numbers for tags.
inline std::vector<double>
FlowDeliveries(const Scenario& scenario,
               size_t count,
               const std::function<void(FlowTransport&, FlowClock&)>& post)
{
    FlowClock clock;
    std::vector<double> delivered(count);
    size_t left = count;
    const FlowPaths paths(scenario, 0);
    const Symmetry none = NoSymmetry(scenario.cluster.Gpus(), paths);
    FlowTransport transport(scenario,
                            paths,
                            none,
                            Collisions::Expected,
                            1,
                            clock,
                            [&](const RankMessage& message) {
                                delivered[message.tag] = clock.Now().S();
                                left--;
                            });
    post(transport, clock);
    EventHeap ends;
    while (left > 0)
    {
        transport.Share();
        const FlowNetwork& network = transport.Network();
        for (const FlowNetwork::Id flow : network.Changed())
        {
            ends.Set(flow, {network.FinishTime(flow), transport.OrderOf(flow)});
        }
        Duration next = std::min(clock.Earliest(), network.NextChange());
        if (!ends.Empty())
        {
            next = std::min(next, ends.Earliest().at);
        }
        clock.GoOnTo(next);
        while (!ends.Empty() && ends.Earliest().at == next)
        {
            const FlowNetwork::Id flow = ends.First();
            ends.Remove(flow);
            transport.Finished(flow);
        }
        clock.GoOnTo(next);
    }
    return delivered;
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_FLOW_DELIVERIES_H
