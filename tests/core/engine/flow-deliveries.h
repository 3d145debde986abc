// SPDX-License-Identifier: GPL-2.0-only

// Messages of a test on the network of the flow engine, without ranks.

#ifndef SCALEACROSS_TESTS_FLOW_DELIVERIES_H
#define SCALEACROSS_TESTS_FLOW_DELIVERIES_H

#include "core/engine/flow/flow-transport.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
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
    std::map<FlowNetwork::Id, Duration> ends;
    while (left > 0)
    {
        transport.Share();
        for (const FlowNetwork::Id flow : transport.Network().Changed())
        {
            ends[flow] = transport.Network().FinishTime(flow);
        }
        Duration next = clock.Earliest();
        for (const auto& end : ends)
        {
            next = std::min(next, end.second);
        }
        clock.GoOnTo(next);
        const std::map<FlowNetwork::Id, Duration> all = ends;
        for (const auto& end : all)
        {
            if (end.second == next)
            {
                ends.erase(end.first);
                transport.Finished(end.first);
            }
        }
        clock.GoOnTo(next);
    }
    return delivered;
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_FLOW_DELIVERIES_H
