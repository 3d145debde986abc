// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/framework-ranks.h"

#include "core/topology/rank-digits.h"

#include <algorithm>
#include <unordered_map>
#include <variant>

namespace scaleacross
{

namespace
{

/// What a framework numbers the rank on each GPU by.
struct Place
{
    uint32_t tensor;
    uint32_t context;
    uint32_t data;
    uint32_t stage;
};

/// A number for the group of each GPU, in some family of groups.
using GroupNumbers = std::vector<uint64_t>;

/// Whether the same GPUs are together in both.
bool
AreSame(const GroupNumbers& a, const GroupNumbers& b)
{
    std::unordered_map<uint64_t, uint64_t> bOfA;
    std::unordered_map<uint64_t, uint64_t> aOfB;
    for (size_t gpu = 0; gpu < a.size(); gpu++)
    {
        if (bOfA.emplace(a[gpu], b[gpu]).first->second != b[gpu] ||
            aOfB.emplace(b[gpu], a[gpu]).first->second != a[gpu])
        {
            return false;
        }
    }
    return true;
}

template <class NumberOf>
GroupNumbers
Numbers(const PlannedJob& job, NumberOf numberOf)
{
    GroupNumbers numbers(job.layout.ranks);
    for (Rank gpu = 0; gpu < job.layout.ranks; gpu++)
    {
        numbers[gpu] = numberOf(gpu);
    }
    return numbers;
}

/// Tries numberings of a plan's ranks by a framework.
class Numbering
{
  public:
    Numbering(const PlannedJob& job, uint32_t shardMembers)
        : m_job(job),
          m_plan(job.plan.parallel),
          m_shardMembers(shardMembers)
    {
    }

    std::optional<FrameworkRanks> Find(const std::vector<FrameworkOrder>& orders) const
    {
        std::optional<FrameworkRanks> found;
        // Members of a data-parallel group in the order of GPUs; or those that share experts beside
        // each other, wherever they are.
        for (const bool expertsFirst : {false, true})
        {
            const auto places = PlacesOf(expertsFirst);
            if (!places || !HasGroups(*places))
            {
                continue;
            }
            for (const FrameworkOrder order : orders)
            {
                FrameworkRanks ranks = Placed(*places, order);
                if (!found || Needs(ranks) < Needs(*found))
                {
                    found = std::move(ranks);
                }
            }
        }
        return found;
    }

  private:
    std::optional<std::vector<Place>> PlacesOf(bool expertsFirst) const
    {
        if (expertsFirst && (m_plan.ep == 1 || m_plan.FoldsExperts()))
        {
            return std::nullopt;
        }
        const RankLayout& layout = m_job.layout;
        const auto digits = std::get<RankDigits>(DigitsOf(m_plan));
        const RankGroup data = GroupOf(digits, {Dimension::Expert, Dimension::Data});
        const RankGroup rest = GroupOf(digits, {Dimension::Data});
        std::vector<Place> places(layout.ranks);
        for (Rank gpu = 0; gpu < layout.ranks; gpu++)
        {
            places[gpu] = {layout.tensor.IndexOf(gpu),
                           layout.context.IndexOf(gpu),
                           expertsFirst ? layout.expert.IndexOf(gpu) + m_plan.ep * rest.IndexOf(gpu)
                                        : data.IndexOf(gpu),
                           layout.StageOf(gpu)};
        }
        return places;
    }

    /// Number of a GPU's rank in its stage.
    uint64_t InStage(const Place& place) const
    {
        return place.tensor +
               uint64_t{m_plan.tp} * (place.context + uint64_t{m_plan.cp} * place.data);
    }

    bool HasGroups(const std::vector<Place>& places) const
    {
        return HasExperts(places) && HasShards(places);
    }

    bool HasExperts(const std::vector<Place>& places) const
    {
        if (!m_job.Job().model.IsMoe())
        {
            return true;
        }
        const RankLayout& layout = m_job.layout;
        const uint64_t etp = m_plan.ExpertTensor();
        const auto group = [&](const RankGroup& family) {
            return Numbers(m_job, [&](Rank gpu) { return family.Member(gpu, 0); });
        };
        const uint64_t inStage = layout.ranks / m_plan.pp;
        return AreSame(group(layout.expert),
                       Numbers(m_job,
                               [&](Rank gpu) {
                                   const uint64_t number = InStage(places[gpu]);
                                   return places[gpu].stage * inStage +
                                          number / (etp * m_plan.ep) * etp + number % etp;
                               })) &&
               AreSame(group(layout.expertTensor), Numbers(m_job, [&](Rank gpu) {
                           return places[gpu].stage * inStage + InStage(places[gpu]) / etp;
                       }));
    }

    /// Number of the block of `span` neighbours that a member is in, of the group of each GPU.
    GroupNumbers Blocks(const RankGroup& family) const
    {
        return Numbers(m_job, [&](Rank gpu) {
            return uint64_t{family.Member(gpu, 0)} * m_job.layout.ranks +
                   gpu / m_job.layout.ShardSpan();
        });
    }

    bool HasShards(const std::vector<Place>& places) const
    {
        if (m_shardMembers == 0 || m_shardMembers == m_job.layout.dense.Size())
        {
            return true;
        }
        const uint64_t ranks = m_job.layout.ranks;
        const auto dense = Numbers(m_job, [&](Rank gpu) {
            const Place& place = places[gpu];
            const uint64_t member = place.context + uint64_t{m_plan.cp} * place.data;
            return (member / m_shardMembers * m_plan.pp + place.stage) * m_plan.tp + place.tensor;
        });
        if (!AreSame(Blocks(m_job.layout.dense), dense))
        {
            return false;
        }
        if (!m_job.Job().model.IsMoe())
        {
            return true;
        }
        const uint64_t instances = m_job.layout.dense.Size() / m_shardMembers;
        const uint64_t split = uint64_t{m_plan.ExpertTensor()} * m_plan.ep;
        if (m_plan.ExpertData() % instances != 0)
        {
            return false;
        }
        const uint64_t share = m_plan.ExpertData() / instances;
        return AreSame(Blocks(m_job.layout.experts), Numbers(m_job, [&](Rank gpu) {
                           const uint64_t number = InStage(places[gpu]);
                           return (places[gpu].stage * ranks + number / split / share) * split +
                                  number % split;
                       }));
    }

    FrameworkRanks Placed(const std::vector<Place>& places, FrameworkOrder order) const
    {
        FrameworkRanks ranks;
        ranks.order = order;
        ranks.perNode = m_job.layout.gpusPerNode;
        ranks.gpus.resize(places.size());
        for (Rank gpu = 0; gpu < places.size(); gpu++)
        {
            ranks.gpus[RankOn(places[gpu], order)] = gpu;
        }
        return ranks;
    }

    /// Of who starts the processes: nothing, an order of nodes, or a rank for each.
    static int Needs(const FrameworkRanks& ranks)
    {
        return ranks.KeepsOrder() ? 0 : ranks.GoesByNodes() ? 1 : 2;
    }

    uint32_t RankOn(const Place& place, FrameworkOrder order) const
    {
        const bool pipelineLast = order == FrameworkOrder::PipelineOutermost;
        const uint64_t outer = pipelineLast ? place.data + uint64_t{m_plan.dp} * place.stage
                                            : place.stage + uint64_t{m_plan.pp} * place.data;
        return static_cast<uint32_t>(place.tensor +
                                     m_plan.tp * (place.context + m_plan.cp * outer));
    }

    const PlannedJob& m_job;
    const ParallelPlan& m_plan;
    uint32_t m_shardMembers;
};

} // namespace

bool
FrameworkRanks::KeepsOrder() const
{
    for (uint32_t rank = 0; rank < gpus.size(); rank++)
    {
        if (gpus[rank] != rank)
        {
            return false;
        }
    }
    return true;
}

bool
FrameworkRanks::GoesByNodes() const
{
    for (uint32_t rank = 0; rank < gpus.size(); rank++)
    {
        if (gpus[rank] % perNode != rank % perNode ||
            gpus[rank] / perNode != gpus[rank - rank % perNode] / perNode)
        {
            return false;
        }
    }
    return true;
}

std::optional<FrameworkRanks>
FrameworkRanksOf(const PlannedJob& job,
                 const std::vector<FrameworkOrder>& orders,
                 uint32_t shardMembers)
{
    return Numbering(job, shardMembers).Find(orders);
}

} // namespace scaleacross
