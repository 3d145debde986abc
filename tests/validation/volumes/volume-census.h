// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_VOLUME_CENSUS_H
#define SCALEACROSS_TESTS_VOLUME_CENSUS_H

#include "core/program/collective.h"
#include "core/spec/scenario.h"
#include "nccl-census.h"
#include "parameter-units.h"
#include "rank-places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

/**
 * What a training job sends between buildings per iteration, whatever crosses them, by a census:
 * groups are listed member by member, and what each class of communication sends is added up from
 * its definition. Slow and plain; knows no program or phase.
 *
 * Sizes divide, so that nothing is rounded. Between the members of a group, k on each of M servers:
 * an all-gather or reduce-scatter of S as a ring, one way or both, sends (M-1)/M S over every
 * boundary that the ring of servers passes (k rings of S/k); a hierarchical one, or one by halving
 * and doubling, over R of the buildings, (R-1) S. An all-reduce sends twice that, or S over every
 * such edge of both trees. NCCL's send what nccl-census.h says. An all-to-all sends from every
 * member its part for every other, on whatever way once between buildings.
 *
 * S = 2 s b h / cp. Per layer and microbatch, forward and backward:
 *
 * - Tensor: each half of a layer gathers S before and scatters S after, both ways, and gathers its
 *   input once more for its weight gradient. Routed experts that tokens are sent to gather and
 *   scatter k S instead, both ways, or with etp k S etp / tp over these ranks; shared ones are a
 *   dense MLP. Embedding: a scatter, backward a
 *   gather; head: a gather, backward its input's and a scatter. Asynchronous: forward both and
 *   backward the first gather go as t - 1 steps of S/t to the next rank.
 *   With fewer KV heads than ranks attention gathers 2 s b (a + 2g) d / cp, too, unless it is kept
 *   from before, and backward scatters as much.
 * - Context: keys and values 2 s b g (d + d_v) / tp, or of one head where there are fewer than
 * ranks, gathered forward and backward, their gradients scattered.
 * - Expert: k S / tp dispatched (half of it with FP8) and combined, both ways.
 * - With full recomputation all of a forward once more, in place of the backward gather of keys;
 * with that of MLPs, of MoE layers or of shared experts theirs.
 *
 * Per microbatch, pipeline: S / tp over every boundary between virtual stages both ways. Per
 * iteration, a tied embedding, data parallelism and the norm of gradients: see volume-laws.h.
 */
namespace scaleacross::volumes
{

class Census
{
  public:
    explicit Census(const Scenario& scenario)
        : m_scenario(scenario),
          m_job(scenario.Job()),
          m_plan(m_job.plan),
          m_places(scenario)
    {
        if (scenario.network.collective->library)
        {
            m_nccl.emplace(scenario, m_places);
        }
    }

    /// By class.
    std::array<uint64_t, kCommClasses> CrossingBytes() const
    {
        return {Tensor(), Context(), Expert(), Pipeline(), Data()};
    }

    /// Algorithms and protocols that NCCL takes for what crosses.
    std::set<std::string> NcclChoices() const
    {
        CrossingBytes();
        return m_nccl ? m_nccl->Taken() : std::set<std::string>();
    }

  private:
    /// An exact quotient.
    static uint64_t Share(uint64_t bytes, uint64_t by)
    {
        SCALEACROSS_INVARIANT(bytes % by == 0, "sizes of the laws divide");
        return bytes / by;
    }

    /// An all-gather of S in one group.
    uint64_t Gather(const Ranks& group, uint64_t bytes) const
    {
        return m_nccl ? m_nccl->Gather(group, bytes) : Half(group, bytes);
    }

    /// A reduce-scatter of S in one group.
    uint64_t Scatter(const Ranks& group, uint64_t bytes) const
    {
        return m_nccl ? m_nccl->Scatter(group, bytes) : Half(group, bytes);
    }

    /// Either, but for NCCL's.
    uint64_t Half(const Ranks& group, uint64_t bytes) const
    {
        const CollectiveAlgorithm algorithm = m_scenario.network.collective;
        if (algorithm == CollectiveAlgorithm("hierarchical") ||
            algorithm == CollectiveAlgorithm("halving-doubling"))
        {
            return (m_places.BuildingsOf(group) - 1) * bytes;
        }
        const Ranks servers = m_places.ServersOf(group);
        return m_places.BoundariesOf(servers) * Share(bytes, servers.size()) * (servers.size() - 1);
    }

    /// An all-reduce of S in one group.
    uint64_t AllReduce(const Ranks& group, uint64_t bytes) const
    {
        if (m_nccl)
        {
            return m_nccl->AllReduce(group, bytes);
        }
        if (m_scenario.network.collective != CollectiveAlgorithm("tree"))
        {
            return 2 * Half(group, bytes);
        }
        Ranks servers = m_places.ServersOf(group);
        uint64_t sum = 0;
        // Half of it up and down each of two trees: the other is the mirror image, or begins one
        // member earlier.
        sum += 2 * m_places.BoundariesOfTree(servers) * Share(bytes, 2);
        if (servers.size() % 2 == 0)
        {
            std::reverse(servers.begin(), servers.end());
        }
        else
        {
            std::rotate(servers.rbegin(), servers.rbegin() + 1, servers.rend());
        }
        sum += 2 * m_places.BoundariesOfTree(servers) * Share(bytes, 2);
        return sum;
    }

    /// The same as Half() in steps to the next of the group's ranks.
    uint64_t Steps(const Ranks& group, uint64_t bytes) const
    {
        return m_places.BoundariesOf(group) * Share(bytes, group.size()) * (group.size() - 1);
    }

    /// Every member has S, a part of it for each member.
    uint64_t AllToAll(const Ranks& group, uint64_t bytes) const
    {
        uint64_t pairs = 0;
        for (const uint32_t from : group)
        {
            for (const uint32_t to : group)
            {
                pairs += m_places.BuildingOf(from) != m_places.BuildingOf(to) ? 1 : 0;
            }
        }
        return pairs * Share(bytes, group.size());
    }

    /// Of S with a copy for each of a token's k experts, what is left with one for each of n parts
    /// of the E experts that have any: none of E / n experts is among k with the probability that
    /// none of k is among E / n, the product of (E - k - j) / (E - j) over them.
    uint64_t Once(uint64_t bytes, uint64_t parts) const
    {
        const double experts = m_job.model.experts;
        const double k = m_job.model.topK;
        double none = 1;
        for (uint64_t j = 0; j < m_job.model.experts / parts; j++)
        {
            none *= std::max(experts - k - static_cast<double>(j), 0.0) /
                    (experts - static_cast<double>(j));
        }
        return static_cast<uint64_t>(
            std::llround(static_cast<double>(bytes * parts) / k * (1 - none)));
    }

    /// Every member sends every other the bytes between two marks, i of n and the next.
    uint64_t Crossing(const Ranks& members, uint64_t bytes) const
    {
        const uint64_t n = members.size();
        uint64_t sum = 0;
        for (const uint32_t from : members)
        {
            for (uint64_t i = 0; i < n; i++)
            {
                const bool crosses = m_places.BuildingOf(from) != m_places.BuildingOf(members[i]);
                sum += crosses ? bytes * (i + 1) / n - bytes * i / n : 0;
            }
        }
        return sum;
    }

    /// Tokens to their experts: to each server once, between members in equal positions, where all
    /// of the group's servers have members in the same positions; else to each member once.
    uint64_t Dispatched(const Ranks& group, uint64_t bytes) const
    {
        if (!m_scenario.network.allToAll->oncePerServer)
        {
            return AllToAll(group, bytes);
        }
        std::map<uint32_t, Ranks> positions;
        std::set<uint32_t> servers;
        for (const uint32_t rank : group)
        {
            positions[m_places.PositionOf(rank)].push_back(rank);
            servers.insert(m_places.ServerOf(rank));
        }
        uint64_t sum = 0;
        for (const auto& position : positions)
        {
            if (position.second.size() != servers.size())
            {
                return Crossing(group, Once(bytes, group.size()));
            }
            sum += Crossing(position.second, Once(bytes, servers.size()));
        }
        return sum;
    }

    uint64_t Tokens() const
    {
        return uint64_t{m_job.workload.sequence} * m_plan.microbatch;
    }

    /// S: an activation on the ranks of a tensor-parallel group together.
    uint64_t Activation() const
    {
        return Share(2 * Tokens() * m_job.model.hidden, m_plan.cp);
    }

    /// k S, as much more as the fullest rank has; without ep all have the same.
    uint64_t Routed() const
    {
        const double load = m_plan.ep > 1 ? m_job.workload.expertImbalance : 1;
        return static_cast<uint64_t>(load * 2) * Share(Activation() * m_job.model.topK, 2);
    }

    /// Of every replica alike: those that differ share nothing but gradients between buildings,
    /// which do not count microbatches.
    uint64_t Microbatches() const
    {
        return m_job.workload.globalBatch / m_plan.microbatch / m_plan.dp;
    }

    /// Forward passes, the one that backward does again among them: of attention, and of the dense
    /// MLP or the experts of a layer.
    uint64_t AttentionPasses() const
    {
        return m_plan.recompute->layers ? 2 : 1;
    }

    uint64_t MlpPasses(bool moe) const
    {
        const RecomputedParts& again = *m_plan.recompute;
        return again.layers || (moe ? again.experts : again.denseMlp) ? 2 : 1;
    }

    /// The same of shared experts, which may be done again without the others.
    uint64_t SharedPasses() const
    {
        return m_plan.recompute->sharedExperts ? 2 : MlpPasses(true);
    }

    /// Sums `each` over the virtual stages and the groups of the ranks that have them.
    template <class GroupsOf, class Each>
    uint64_t SumOver(const GroupsOf& groupsOf, const Each& each) const
    {
        uint64_t sum = 0;
        const auto stages = LayersOfStages(m_scenario);
        for (uint32_t position = 0; position < stages.size(); position++)
        {
            for (const Ranks& group : groupsOf(StageAt(m_plan, position)))
            {
                sum += each(stages[position], group);
            }
        }
        return sum;
    }

    template <class Each>
    uint64_t Sum(const std::set<Dimension>& dimensions, const Each& each) const
    {
        return SumOver([&](uint32_t stage) { return m_places.Groups(dimensions, stage); }, each);
    }

    /// Over groups of experts.
    template <class Each>
    uint64_t SumOfExperts(Dimension dimension, const Each& each) const
    {
        return SumOver([&](uint32_t stage) { return m_places.ExpertGroups(dimension, stage); },
                       each);
    }

    /// Whether a layer's tokens go to experts, be it on the same rank.
    bool Dispatches(uint32_t layer) const
    {
        return m_job.model.IsMoeLayer(layer) &&
               (m_plan.ep > 1 || SplitOfExperts(m_plan) < m_plan.tp);
    }

    uint64_t Dispatches(const StageLayers& stage) const
    {
        uint64_t layers = 0;
        for (uint32_t i = stage.first; i < stage.first + stage.count; i++)
        {
            layers += Dispatches(i) ? 1 : 0;
        }
        return layers;
    }

    uint64_t Tensor() const
    {
        const auto each = [this](const StageLayers& stage, const Ranks& group) {
            const uint64_t gather = Gather(group, Activation());
            const uint64_t scatter = Scatter(group, Activation());
            const uint64_t steps = Steps(group, Activation());
            const uint64_t both = m_plan.asyncTensor ? 2 * steps : gather + scatter;
            // Backward, of which only the first goes in steps.
            const uint64_t back = (m_plan.asyncTensor ? steps : gather) + gather + scatter;
            uint64_t bytes = 0;
            for (uint32_t i = stage.first; i < stage.first + stage.count; i++)
            {
                bytes += AttentionPasses() * both + back + Columns(group);
                const bool moe = m_job.model.IsMoeLayer(i);
                if (!Dispatches(i) || m_job.model.sharedFfn > 0)
                {
                    const bool shares = moe && m_job.model.sharedFfn > 0;
                    const uint64_t passes = shares ? SharedPasses() : MlpPasses(moe);
                    bytes += passes * both + back;
                }
            }
            // A module looks its tokens up, too, and has the head once more.
            const uint64_t modules = stage.head ? m_job.model.mtpLayers : 0;
            bytes += ((stage.embedding ? 1 : 0) + modules) * (gather + scatter);
            bytes += ((stage.head ? 1 : 0) + modules) * (2 * gather + scatter);
            return Microbatches() * bytes;
        };
        const auto routed = [this](const StageLayers& stage, const Ranks& group) {
            const uint64_t gathered = Share(Routed(), m_plan.tp) * group.size();
            return Microbatches() * Dispatches(stage) * (MlpPasses(true) + 1) *
                   (Gather(group, gathered) + Scatter(group, gathered));
        };
        return Sum({Dimension::Tensor}, each) + SumOfExperts(Dimension::Tensor, routed);
    }

    /// Queries, keys and values of a layer, of all heads, where ranks have them in common.
    uint64_t Columns(const Ranks& group) const
    {
        const ModelSpec& model = m_job.model;
        if (model.kvHeads >= m_plan.tp)
        {
            return 0;
        }
        const uint64_t heads = model.heads + 2 * uint64_t{model.kvHeads};
        const uint64_t columns = Share(2 * Tokens() * heads * model.headDim, m_plan.cp);
        const uint64_t made = m_plan.recompute->keepsProjections ? 1 : AttentionPasses();
        return made * Gather(group, columns) + Scatter(group, columns);
    }

    uint64_t Context() const
    {
        const ModelSpec& model = m_job.model;
        const uint64_t heads = model.kvHeads < m_plan.tp ? 1 : Share(model.kvHeads, m_plan.tp);
        const uint64_t keys = 2 * Tokens() * heads * (model.headDim + model.ValueDim());
        const auto each = [&](const StageLayers& stage, const Ranks& group) {
            // Forward; backward, of its recomputed forward or its own; the gradients.
            return Microbatches() * stage.count * (2 * Gather(group, keys) + Scatter(group, keys));
        };
        return Sum({Dimension::Context}, each);
    }

    uint64_t Expert() const
    {
        const bool fp8 = m_job.workload.precision == Precision("fp8");
        const auto each = [&](const StageLayers& stage, const Ranks& group) {
            const uint64_t combined = Share(Routed(), m_plan.tp);
            const uint64_t dispatched = fp8 ? Share(combined, 2) : combined;
            return Microbatches() * Dispatches(stage) * (MlpPasses(true) + 1) *
                   (Dispatched(group, dispatched) + Dispatched(group, combined));
        };
        return m_plan.ep > 1 ? SumOfExperts(Dimension::Expert, each) : 0;
    }

    uint64_t Pipeline() const
    {
        const uint64_t message = Share(Activation(), m_plan.tp);
        const uint32_t positions = m_plan.pp * m_plan.chunks;
        uint64_t bytes = 0;
        for (uint32_t first = 0; first < m_plan.Ranks(); first++)
        {
            if (m_places.StageOf(first) != 0)
            {
                continue;
            }
            for (uint32_t position = 0; position + 1 < positions; position++)
            {
                const uint32_t from = m_places.AtStage(first, StageAt(m_plan, position));
                const uint32_t to = m_places.AtStage(first, StageAt(m_plan, position + 1));
                bytes += m_places.BuildingOf(from) != m_places.BuildingOf(to)
                             ? 2 * Microbatches() * message
                             : 0;
            }
            const uint32_t last = m_places.AtStage(first, StageAt(m_plan, positions - 1));
            if (HeldTwice(m_job) && m_places.BuildingOf(first) != m_places.BuildingOf(last))
            {
                const uint64_t whole =
                    m_job.workload.gradientBytes * m_job.model.vocabulary * m_job.model.hidden;
                bytes += 2 * Share(whole, uint64_t{m_plan.tp} * ShardsAround(first));
            }
            bytes += m_job.workload.stack.clipsGradients ? NormOf(first) : 0;
        }
        return bytes;
    }

    /// What the pipeline of a rank of stage 0 sends for the norm.
    uint64_t NormOf(uint32_t first) const
    {
        uint64_t bytes = 0;
        for (uint32_t stage = 1; stage < m_plan.pp; stage++)
        {
            const uint32_t from = m_places.AtStage(first, stage);
            const uint32_t to = m_places.AtStage(first, stage & (stage - 1));
            bytes += m_places.BuildingOf(from) != m_places.BuildingOf(to) ? 2 * 4 : 0;
        }
        return bytes;
    }

    /// What the ranks of a stage send for it, over tensor groups and those that hold the same; with
    /// DDP, where these have the same gradients, over those that experts are split over.
    uint64_t NormOfStages() const
    {
        uint64_t bytes = 0;
        for (uint32_t stage = 0; stage < m_plan.pp; stage++)
        {
            std::vector<Ranks> groups = m_places.Groups({Dimension::Tensor}, stage);
            const auto add = [&groups](const std::vector<Ranks>& more) {
                groups.insert(groups.end(), more.begin(), more.end());
            };
            if (m_plan.sharding != "ddp")
            {
                add(Holders(true, stage));
            }
            else
            {
                add(m_places.ExpertGroups(Dimension::Expert, stage));
                if (m_plan.FoldsExperts())
                {
                    add(m_places.ExpertGroups(Dimension::Tensor, stage));
                }
            }
            for (const Ranks& group : groups)
            {
                bytes += 2 * (m_places.BuildingsOf(group) - 1) * 4 * group.size();
            }
        }
        return bytes;
    }

    /// Groups of ranks that hold the same.
    std::vector<Ranks> Holders(bool dense, uint32_t stage) const
    {
        return dense ? m_places.Groups({Dimension::Context, Dimension::Expert, Dimension::Data},
                                       stage)
                     : m_places.ExpertGroups(Dimension::Data, stage);
    }

    /// Ranks that share what a rank of stage 0 has of the dense parameters.
    uint64_t ShardsAround(uint32_t rank) const
    {
        for (const Ranks& group : Holders(true, 0))
        {
            if (std::find(group.begin(), group.end(), rank) != group.end())
            {
                const std::string& sharding = m_plan.sharding.Name();
                return sharding == "ddp"    ? 1
                       : sharding == "hsdp" ? group.size() / m_places.BuildingsOf(group)
                                            : group.size();
            }
        }
        return 0;
    }

    uint64_t Data() const
    {
        const auto units = UnitsOfModel(m_scenario);
        const auto gathers = GathersOf(m_scenario, units);
        uint64_t bytes = m_job.workload.stack.clipsGradients ? NormOfStages() : 0;
        for (size_t i = 0; i < units.size(); i++)
        {
            for (const bool dense : {true, false})
            {
                const uint64_t split = dense ? m_plan.tp : SplitOfExperts(m_plan);
                const uint64_t held = Share(dense ? units[i].dense : units[i].expert, split);
                for (const Ranks& group : Holders(dense, StageAt(m_plan, units[i].position)))
                {
                    bytes += held == 0 ? 0 : OfParameters(group, held, gathers[i]);
                }
            }
        }
        return bytes;
    }

    /// What a group sends for the parameters that each of its ranks needs.
    uint64_t OfParameters(const Ranks& group, uint64_t held, uint64_t gathers) const
    {
        const uint64_t gradients = m_job.workload.gradientBytes * held;
        const uint64_t reductions =
            m_plan.ReductionOf() == Reduction("microbatch") ? Microbatches() : 1;
        if (m_plan.sharding == "ddp")
        {
            return reductions * AllReduce(group, gradients);
        }
        if (m_plan.sharding == "hsdp")
        {
            // Shards inside a building; all-reduced across once, when they are complete.
            return m_nccl ? AcrossByNccl(group, gradients)
                          : 2 * (m_places.BuildingsOf(group) - 1) * gradients;
        }
        return gathers * Gather(group, 2 * held) + reductions * Scatter(group, gradients);
    }

    /// All-reduces of the shards of a group between the ranks of all buildings that have the same.
    uint64_t AcrossByNccl(const Ranks& group, uint64_t bytes) const
    {
        const uint64_t shards = group.size() / m_places.BuildingsOf(group);
        uint64_t sum = 0;
        for (uint64_t shard = 0; shard < shards; shard++)
        {
            Ranks holders;
            for (uint64_t i = shard; i < group.size(); i += shards)
            {
                holders.push_back(group[i]);
            }
            sum += AllReduce(holders, Share(bytes, shards));
        }
        return sum;
    }

    const Scenario& m_scenario;
    const JobSpec& m_job;
    const ParallelPlan& m_plan;
    RankPlaces m_places;
    std::optional<NcclCensus> m_nccl;
};

} // namespace scaleacross::volumes

#endif // SCALEACROSS_TESTS_VOLUME_CENSUS_H
