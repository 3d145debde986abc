// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/collective-time.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

namespace scaleacross
{

double
CollectiveSeconds(const Collective& collective,
                  const std::function<const TransferCost&(uint32_t phase)>& costOf)
{
    double first = 0;
    double pace = 0;
    std::array<double, kPorts> ports{};
    std::map<uint32_t, double> cuts;
    for (uint32_t p = 0; p < collective.phases.size(); p++)
    {
        const TransferCost& cost = costOf(p);
        const double alone = cost.Alone().S();
        first += alone;
        pace = std::max(pace, alone / collective.channels);
        for (uint32_t port = 0; port < kPorts; port++)
        {
            ports[port] += cost.ports[port];
            pace = std::max(pace, ports[port]);
        }
        for (const CutUse& use : cost.cuts)
        {
            double& cut = cuts[use.cut];
            cut += use.seconds;
            pace = std::max(pace, cut);
        }
    }
    return first + (collective.chunks - 1) * pace;
}

CollectiveTimer
TimerOf(const Scenario& scenario, const RankLayout& layout)
{
    if (scenario.network.collective != CollectiveAlgorithm::Auto)
    {
        return {};
    }
    const auto network = std::make_shared<const NetworkModel>(scenario, layout);
    return [network](const Collective& collective) {
        std::vector<TransferCost> costs;
        for (const Phase& phase : collective.phases)
        {
            costs.push_back(network->PhaseCost(LargestChunkOf(phase, collective.chunks), 0));
        }
        return CollectiveSeconds(collective,
                                 [&costs](uint32_t p) -> const TransferCost& { return costs[p]; });
    };
}

Phase
LargestChunkOf(const Phase& phase, uint32_t chunks)
{
    return ChunkOf(phase, chunks - 1, chunks);
}

} // namespace scaleacross
