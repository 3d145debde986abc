// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/collective-time.h"

#include "core/program/step-pattern.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

/// The groups of the first stage that reach into different buildings, of each kind one, by a rank.
class UnlikeGroups
{
  public:
    explicit UnlikeGroups(const RankLayout& layout)
        : m_layout(layout)
    {
    }

    const std::vector<Rank>& Of(const RankGroup& group)
    {
        for (const auto& [known, ranks] : m_ranks)
        {
            if (known == group)
            {
                return ranks;
            }
        }
        m_ranks.emplace_back(group, Find(group));
        return m_ranks.back().second;
    }

  private:
    std::vector<Rank> Find(const RankGroup& group) const
    {
        const uint32_t span = m_layout.buildingSpan;
        const RankGroup blocks = group.SplitAt(span).outer;
        std::map<std::vector<uint32_t>, Rank> unlike; // by the buildings of their blocks
        for (Rank block = 0; block < m_layout.ranks; block += span)
        {
            if (m_layout.StageOf(block) != 0 || blocks.IndexOf(block) != 0)
            {
                continue;
            }
            if (group.Member(block, group.Size() - 1) >= m_layout.ranks)
            {
                continue; // of a family that does not tile all ranks
            }
            std::vector<uint32_t> buildings;
            for (uint32_t i = 0; i < blocks.Size(); i++)
            {
                buildings.push_back(m_layout.BuildingOf(blocks.Member(block, i)));
            }
            unlike.emplace(std::move(buildings), block);
        }
        std::vector<Rank> ranks;
        for (const auto& [buildings, rank] : unlike)
        {
            ranks.push_back(rank);
        }
        return ranks;
    }

    const RankLayout& m_layout;
    std::deque<std::pair<RankGroup, std::vector<Rank>>> m_ranks;
};

} // namespace

namespace
{

/// Seconds for which the chunks behind the first keep a phase waiting, which follow each other at
/// no less than `pace`.
double
Behind(const Collective& collective, uint32_t phase, const TransferCost& cost, double pace)
{
    const uint32_t behind = collective.chunks - 1;
    const uint32_t together = collective.Together(phase);
    const double alone = cost.Alone().S();
    if (!collective.streams)
    {
        return behind * std::max(pace, alone / together);
    }
    // Of each a chunk waits for the one that has to leave before it, or for its slots.
    const double first = std::max(cost.slots.Seconds(), cost.slots.Pieces() * cost.slots.seconds);
    return std::max({behind * pace,
                     behind / together * alone + behind % together * pace,
                     cost.slots.Seconds(collective.chunks) - first});
}

} // namespace

double
CollectiveSeconds(const Collective& collective,
                  const std::function<const TransferCost&(uint32_t phase)>& costOf)
{
    double first = 0;
    double pace = 0;
    double ownPace = 0; // by what one phase takes alone
    double windowed = 0;
    std::array<double, kPorts> ports{};
    std::map<uint32_t, double> cuts;
    // Where messages of the first and the last phase are all posted at once, chunks behind reduce
    // while the first are on their way, and no port is idle for that.
    const bool runAhead = collective.streams && StepsOf(collective.phases.front()).IsDirect() &&
                          StepsOf(collective.phases.back()).IsDirect();
    for (uint32_t p = 0; p < collective.phases.size(); p++)
    {
        const TransferCost& cost = costOf(p);
        first += cost.Alone().S();
        for (uint32_t port = 0; port < kPorts; port++)
        {
            ports[port] += cost.ports[port];
            pace = std::max(pace, ports[port]);
            ownPace = std::max(ownPace, cost.ports[port]);
        }
        for (const CutUse& use : cost.cuts)
        {
            double& cut = cuts[use.cut];
            cut += use.seconds;
            pace = std::max(pace, cut);
            ownPace = std::max(ownPace, use.seconds);
        }
        windowed += std::max(cost.window.Seconds(), cost.admission.Seconds());
        pace = std::max(pace, windowed);
    }
    double behind = 0;
    for (uint32_t p = 0; p < collective.phases.size(); p++)
    {
        behind = std::max(behind, Behind(collective, p, costOf(p), runAhead ? ownPace : pace));
    }
    return collective.launch.S() +
           std::max(first + behind, runAhead ? collective.chunks * pace : 0.0);
}

CollectiveTimer
TimerOf(const Scenario& scenario, const RankLayout& layout)
{
    if (!scenario.network.collective->chooses)
    {
        return {};
    }
    const auto network = std::make_shared<const NetworkModel>(scenario, layout);
    const auto groups = std::make_shared<UnlikeGroups>(layout);
    return [network, groups](const Collective& collective) {
        std::vector<TransferCost> costs;
        for (uint32_t p = 0; p < collective.phases.size(); p++)
        {
            const Phase chunk = LargestChunkOf(collective, p);
            TransferCost slowest;
            for (const Rank representative : groups->Of(chunk.group))
            {
                TransferCost cost = network->PhaseCost(chunk, representative);
                if (cost.Alone() >= slowest.Alone())
                {
                    slowest = std::move(cost);
                }
            }
            costs.push_back(std::move(slowest));
        }
        return CollectiveSeconds(collective,
                                 [&costs](uint32_t p) -> const TransferCost& { return costs[p]; });
    };
}

Phase
LargestChunkOf(const Collective& collective, uint32_t phase)
{
    const uint32_t chunks = collective.chunks;
    Phase largest = ChunkOf(collective.phases[phase], chunks - 1, chunks);
    if (!collective.streams)
    {
        const uint32_t together = collective.Together(phase);
        largest.inTurn = (chunks + together - 1) / together;
    }
    return largest;
}

} // namespace scaleacross
