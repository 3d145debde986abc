// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_VOLUME_RANK_PLACES_H
#define SCALEACROSS_TESTS_VOLUME_RANK_PLACES_H

#include "core/spec/scenario.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

/// Where every rank of a job is, rank by rank and group by group: knows no lattice.
namespace scaleacross::volumes
{

using Ranks = std::vector<uint32_t>;
using Place = std::array<uint32_t, kDimensions>; //!< coordinates of a rank

/// The ranks of a job in equal buildings.
class RankPlaces
{
  public:
    explicit RankPlaces(const Scenario& scenario)
        : m_plan(scenario.Job().plan),
          m_building(static_cast<uint32_t>(m_plan.Ranks() / scenario.cluster.buildings.size())),
          m_server(scenario.cluster.buildings.front().gpusPerNode)
    {
        std::vector<uint32_t> counted(m_plan.pp, 0); // ranks of each stage
        for (uint32_t rank = 0; rank < m_plan.Ranks(); rank++)
        {
            m_places.push_back(PlaceOf(rank));
            m_ofExperts.push_back(PlaceInStage(counted[StageOf(rank)]++));
            m_ofExperts.back()[static_cast<size_t>(Dimension::Pipeline)] = StageOf(rank);
        }
    }

    uint32_t BuildingOf(uint32_t rank) const
    {
        return rank / m_building;
    }

    uint32_t ServerOf(uint32_t rank) const
    {
        return rank / m_server;
    }

    uint32_t PositionOf(uint32_t rank) const
    {
        return rank % m_server;
    }

    uint32_t StageOf(uint32_t rank) const
    {
        return m_places[rank][static_cast<size_t>(Dimension::Pipeline)];
    }

    /// The rank of the same replica that has another stage.
    uint32_t AtStage(uint32_t rank, uint32_t stage) const
    {
        Place place = m_places[rank];
        place[static_cast<size_t>(Dimension::Pipeline)] = stage;
        return static_cast<uint32_t>(std::find(m_places.begin(), m_places.end(), place) -
                                     m_places.begin());
    }

    /// Groups of ranks of a stage that differ in these dimensions only, each in ascending order.
    std::vector<Ranks> Groups(const std::set<Dimension>& dimensions, uint32_t stage) const
    {
        return Groups(m_places, dimensions, stage);
    }

    /// The same of what routed experts are split over (tensor), sent to and repeated over (data).
    std::vector<Ranks> ExpertGroups(Dimension dimension, uint32_t stage) const
    {
        if (Folds())
        {
            return Groups(m_ofExperts, {dimension}, stage);
        }
        return dimension == Dimension::Data ? Groups({Dimension::Context, Dimension::Data}, stage)
                                            : Groups({dimension}, stage);
    }

    uint32_t BuildingsOf(const Ranks& group) const
    {
        std::set<uint32_t> buildings;
        for (const uint32_t rank : group)
        {
            buildings.insert(BuildingOf(rank));
        }
        return static_cast<uint32_t>(buildings.size());
    }

    /// Boundaries between buildings that a ring through these ranks passes.
    uint64_t BoundariesOf(const Ranks& ring) const
    {
        uint64_t boundaries = 0;
        for (size_t i = 0; i < ring.size(); i++)
        {
            const uint32_t next = ring[(i + 1) % ring.size()];
            boundaries += BuildingOf(ring[i]) != BuildingOf(next) ? 1 : 0;
        }
        return boundaries;
    }

    /// Edges between buildings of the binary tree over these ranks by their numbers: the parent of
    /// i, whose lowest bit is b, is i - b with the next bit, or without it where that is none of
    /// them.
    uint64_t BoundariesOfTree(const Ranks& members) const
    {
        uint64_t boundaries = 0;
        for (size_t i = 1; i < members.size(); i++)
        {
            const size_t b = i & (~i + 1);
            const size_t above = (i - b) | (2 * b);
            const size_t parent = above < members.size() ? above : i - b;
            boundaries += BuildingOf(members[i]) != BuildingOf(members[parent]) ? 1 : 0;
        }
        return boundaries;
    }

    /// The first rank of a group on each of its servers.
    Ranks ServersOf(const Ranks& group) const
    {
        Ranks servers;
        for (const uint32_t rank : group)
        {
            if (servers.empty() || servers.back() / m_server != rank / m_server)
            {
                servers.push_back(rank);
            }
        }
        return servers;
    }

  private:
    std::vector<Ranks> Groups(const std::vector<Place>& places,
                              const std::set<Dimension>& dimensions,
                              uint32_t stage) const
    {
        std::map<Place, Ranks> groups;
        for (uint32_t rank = 0; rank < places.size(); rank++)
        {
            Place others = places[rank];
            for (const Dimension dimension : dimensions)
            {
                others[static_cast<size_t>(dimension)] = 0;
            }
            if (StageOf(rank) == stage)
            {
                groups[others].push_back(rank);
            }
        }
        std::vector<Ranks> list;
        for (const auto& [others, group] : groups)
        {
            list.push_back(group);
        }
        return list;
    }

    /// Whether experts count the ranks of a stage by themselves.
    bool Folds() const
    {
        return m_plan.etp > 0 && (m_plan.etp < m_plan.tp || (m_plan.cp > 1 && m_plan.ep > 1));
    }

    /// What of dp is next to each other where the order says ep: as much as whole groups of experts
    /// fill; or, with ep behind dp, the most that divides both.
    uint32_t ExpertPart() const
    {
        if (!Folds())
        {
            return m_plan.ep;
        }
        const Crossing& order = m_plan.crossing;
        bool behind = false;
        for (uint32_t i = 0; i < order.size; i++)
        {
            if (order.parts[i].dimension == Dimension::Expert)
            {
                break;
            }
            behind = behind || order.parts[i].dimension == Dimension::Data;
        }
        uint32_t part = behind ? m_plan.dp : 1;
        while (behind ? m_plan.dp % part + m_plan.ep % part > 0
                      : m_plan.tp * m_plan.cp * part % (m_plan.etp * m_plan.ep) > 0)
        {
            part += behind ? -1 : 1;
        }
        return part;
    }

    uint32_t DegreeOf(Dimension dimension) const
    {
        const uint32_t part = ExpertPart();
        const uint32_t degrees[] = {m_plan.tp, m_plan.cp, part, m_plan.pp, m_plan.dp / part};
        return degrees[static_cast<size_t>(dimension)];
    }

    /// The coordinates of experts on the n-th rank of a stage, in the order of the crossing.
    Place PlaceInStage(uint32_t n) const
    {
        Place place{};
        for (uint32_t i = 0; i < m_plan.crossing.size && Folds(); i++)
        {
            const Dimension dimension = m_plan.crossing.parts[i].dimension;
            const uint32_t count =
                dimension == Dimension::Tensor   ? m_plan.etp
                : dimension == Dimension::Expert ? m_plan.ep
                : dimension == Dimension::Data
                    ? m_plan.tp * m_plan.cp * m_plan.dp / (m_plan.etp * m_plan.ep)
                    : 1;
            place[static_cast<size_t>(dimension)] += n % count;
            n /= count;
        }
        return place;
    }

    /// The digits of a rank's number, in the order of the crossing.
    Place PlaceOf(uint32_t rank) const
    {
        Place place{};
        Place worth; // of the next digit of a dimension
        worth.fill(1);
        for (uint32_t i = 0; i < m_plan.crossing.size; i++)
        {
            const Crossing::Part& part = m_plan.crossing.parts[i];
            uint32_t count = part.count;
            if (count == 0)
            {
                count = DegreeOf(part.dimension);
                for (uint32_t j = 0; j < m_plan.crossing.size; j++)
                {
                    const Crossing::Part& other = m_plan.crossing.parts[j];
                    count /= other.dimension == part.dimension ? std::max(other.count, 1U) : 1;
                }
            }
            const auto d = static_cast<size_t>(part.dimension);
            place[d] += rank % count * worth[d];
            worth[d] *= count;
            rank /= count;
        }
        return place;
    }

    const ParallelPlan& m_plan;
    uint32_t m_building; //!< ranks in one
    uint32_t m_server;
    std::vector<Place> m_places;
    std::vector<Place> m_ofExperts;
};

} // namespace scaleacross::volumes

#endif // SCALEACROSS_TESTS_VOLUME_RANK_PLACES_H
