// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_VOLUME_LAWS_H
#define SCALEACROSS_TESTS_VOLUME_LAWS_H

#include "core/spec/scenario.h"
#include "parameter-units.h"

#include <cstdint>
#include <set>

/**
 * What a training job sends between buildings per iteration, by closed forms of its degrees alone,
 * for the crossings that have a name: nothing here looks at groups, collectives or programs.
 *
 * R equal buildings; all sizes are divisible, so that nothing is rounded. P: parameters of the
 * whole model (dense or routed experts), 2 bytes each gathered, g each as gradients.
 *
 * - Between the members of a group, whose k on a server share M servers, S bytes of all-gather or
 *   reduce-scatter send S over building boundaries if hierarchical or by halving and
 * doubling, and R S (M-1)/M as a ring; an all-reduce twice that. Groups of a family hold the parts
 * of P, so S adds up to 2 P or g P.
 * - DDP all-reduces, ZeRO and FSDP gather and reduce-scatter, over all of data parallelism; HSDP
 *   all-reduces shards across, which adds up to 2 g P whatever the algorithm.
 * - PP-out: 2 m x crossings x 2 s b h x dp, crossings being v R - 1 where chunks begin at the first
 *   rank again and v in V shapes; a tied embedding g V h from either holder, once for every
 *   replica with DDP, else once.
 * - EP-out: of the k copies of all T = s x (sequences) tokens (R-1)/R go to experts elsewhere, 2 h
 *   bytes each (h with FP8), and come back as 2 h, forward and backward, in every MoE layer; a
 *   recomputation of whole layers, or of their experts, repeats forward. Dense parameters as in
 * DP-out, experts not at all.
 * - Clipping: the dense group of n all-reduces 4 n bytes, hierarchically: 2 4 for every rank;
 *   a pipeline sends 4 bytes up and down every edge of a binomial tree, where the parent of a stage
 *   is that stage without its lowest bit.
 */
namespace scaleacross::volumes
{

class Law
{
  public:
    explicit Law(const Scenario& scenario)
        : m_scenario(scenario),
          m_job(scenario.Job()),
          m_plan(m_job.plan),
          m_buildings(static_cast<uint32_t>(scenario.cluster.buildings.size())),
          m_microbatches(m_job.workload.globalBatch / m_plan.dp / m_plan.microbatch)
    {
    }

    /// Domain: a crossing with a name, no trees, no etp.
    uint64_t CrossingBytes() const
    {
        const uint64_t norm = m_job.workload.stack.clipsGradients ? Norm() : 0;
        if (m_plan.crossing == Crossing::Pipeline)
        {
            return Pipeline() + norm;
        }
        return norm + (m_plan.crossing == Crossing::Data ? DataParallel(true)
                                                         : Experts() + DataParallel(false));
    }

  private:
    uint64_t Pipeline() const
    {
        const bool vee = m_plan.schedule->Facts().placement == Placement::Vee;
        const uint64_t crossings = vee ? uint64_t{m_plan.chunks} * (m_buildings - 1)
                                       : uint64_t{m_plan.chunks} * m_buildings - 1;
        const uint64_t activation =
            2ULL * m_job.workload.sequence * m_plan.microbatch * m_job.model.hidden;
        uint64_t bytes = 2 * m_microbatches * crossings * activation * m_plan.dp;
        if ((m_job.model.tiedEmbedding || m_job.model.mtpLayers > 0) && !vee)
        {
            const uint64_t copies = m_plan.sharding == Sharding("ddp") ? m_plan.cp * m_plan.dp : 1;
            bytes += 2 * copies * m_job.workload.gradientBytes * m_job.model.vocabulary *
                     m_job.model.hidden;
        }
        return bytes;
    }

    uint64_t Norm() const
    {
        const uint64_t ranks = uint64_t{m_plan.tp} * m_plan.cp * m_plan.pp * m_plan.dp;
        if (m_plan.crossing == Crossing::Data && m_plan.sharding == "ddp")
        {
            return 0; // replicas have the same gradients
        }
        if (m_plan.crossing != Crossing::Pipeline)
        {
            return 2 * (m_buildings - 1) * 4 * ranks;
        }
        uint64_t edges = 0;
        for (uint64_t stage = 1; stage < m_plan.pp; stage++)
        {
            const uint64_t parent = stage & (stage - 1);
            edges += stage * m_buildings / m_plan.pp != parent * m_buildings / m_plan.pp ? 1 : 0;
        }
        return edges * 2 * 4 * (ranks / m_plan.pp);
    }

    uint64_t Experts() const
    {
        const uint64_t tokens = uint64_t{m_job.workload.sequence} * m_job.workload.globalBatch;
        const uint64_t passes = m_plan.recompute->layers || m_plan.recompute->experts ? 3 : 2;
        const uint64_t bytes = m_job.workload.precision == Precision("fp8") ? 1 + 2 : 2 + 2;
        const ModelSpec& model = m_job.model;
        const uint64_t layers =
            model.MoeLayers() + (model.IsMoeLayer(model.layers - 1) ? model.mtpLayers : 0);
        const uint64_t copies = tokens * model.topK * layers;
        const auto leaving = copies / m_buildings * (m_buildings - 1) * passes * bytes;
        return static_cast<uint64_t>(static_cast<double>(leaving * m_job.model.hidden) *
                                     m_job.workload.expertImbalance);
    }

    uint64_t DataParallel(bool experts) const
    {
        uint64_t bytes = 0;
        const auto units = UnitsOfModel(m_scenario);
        const auto gathers = GathersOf(m_scenario, units);
        for (size_t i = 0; i < units.size(); i++)
        {
            for (const bool dense : {true, false})
            {
                const uint64_t whole = dense ? units[i].dense : experts ? units[i].expert : 0;
                const uint64_t gradients = m_job.workload.gradientBytes * whole;
                const uint64_t reductions =
                    m_plan.ReductionOf() == Reduction("microbatch") ? m_microbatches : 1;
                bytes += m_plan.sharding == "ddp"    ? reductions * 2 * HalfOf(gradients, dense)
                         : m_plan.sharding == "hsdp" ? 2 * (m_buildings - 1) * gradients
                                                     : gathers[i] * HalfOf(2 * whole, dense) +
                                                           reductions * HalfOf(gradients, dense);
            }
        }
        return bytes;
    }

    /// An all-gather or reduce-scatter of S over all of data parallelism.
    uint64_t HalfOf(uint64_t bytes, bool dense) const
    {
        const CollectiveAlgorithm algorithm = m_scenario.network.collective;
        if (algorithm == CollectiveAlgorithm("hierarchical") ||
            algorithm == CollectiveAlgorithm("halving-doubling"))
        {
            return (m_buildings - 1) * bytes;
        }
        const uint64_t servers = Servers(dense);
        return m_buildings * (bytes / servers) * (servers - 1);
    }

    /// Servers over which a group is spread: coordinates inner to outer tp, cp, ep, pp, dp/ep, or
    /// with EP-out tp, cp, pp, dp/ep, ep.
    uint64_t Servers(bool dense) const
    {
        const uint32_t node = m_scenario.cluster.buildings.front().gpusPerNode;
        const bool expertsOut = m_plan.crossing == Crossing::Expert;
        const uint32_t rest = m_plan.dp / m_plan.ep;
        std::set<uint32_t> servers;
        for (uint32_t d = 0; d < rest; d++)
        {
            for (uint32_t e = 0; e < (dense ? m_plan.ep : 1); e++)
            {
                for (uint32_t c = 0; c < m_plan.cp; c++)
                {
                    const uint32_t outer =
                        expertsOut ? m_plan.pp * (d + rest * e) : e + m_plan.ep * (m_plan.pp * d);
                    servers.insert(m_plan.tp * (c + m_plan.cp * outer) / node);
                }
            }
        }
        return servers.size();
    }

    const Scenario& m_scenario;
    const JobSpec& m_job;
    const ParallelPlan& m_plan;
    uint64_t m_buildings;
    uint64_t m_microbatches;
};

} // namespace scaleacross::volumes

#endif // SCALEACROSS_TESTS_VOLUME_LAWS_H
