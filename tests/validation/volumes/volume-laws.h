// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_VOLUME_LAWS_H
#define SCALEACROSS_TESTS_VOLUME_LAWS_H

#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/schedule-registry.h"
#include "core/spec/scenario.h"

#include <algorithm>
#include <cstdint>
#include <vector>

/**
 * What a training job sends between buildings per iteration, by closed forms of its degrees alone:
 * nothing here looks at groups, collectives or programs.
 *
 * R equal buildings; all sizes are divisible, so that nothing is rounded. P: parameters of the
 * whole model (dense or routed experts), 2 bytes each gathered, g each as gradients.
 *
 * - Between the members of a group, whose k on a server share M servers, S bytes of all-gather or
 *   reduce-scatter send S over building boundaries if hierarchical and R S (M-1)/M as a ring;
 *   an all-reduce twice that. Groups of a family hold the parts of P, so S adds up to 2 P or g P.
 * - DDP all-reduces, ZeRO and FSDP gather and reduce-scatter, over all of data parallelism; HSDP
 *   all-reduces shards across, which adds up to 2 g P whatever the algorithm.
 * - PP-out: 2 m x crossings x 2 s b h x dp, crossings being v R - 1 where chunks begin at the first
 *   rank again and v in V shapes; a tied embedding g V h from either holder, once for every
 *   replica with DDP, else once.
 */
namespace scaleacross::volumes
{

/// Parameters of one piece of the model, whole.
struct Piece
{
    uint64_t dense;
    uint64_t expert;
    uint32_t position; //!< virtual stage
    bool layer;        //!< or the embedding; the head is needed backward too
};

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

    uint64_t CrossingBytes() const
    {
        return m_plan.crossing == Crossing::Data ? DataParallel() : Pipeline();
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
        if (m_job.model.tiedEmbedding && !(vee && m_plan.chunks % 2 == 0))
        {
            const uint64_t copies = m_plan.sharding == Sharding::Ddp ? m_plan.cp * m_plan.dp : 1;
            bytes += 2 * copies * m_job.workload.gradientBytes * m_job.model.vocabulary *
                     m_job.model.hidden;
        }
        return bytes;
    }

    uint64_t DataParallel() const
    {
        uint64_t bytes = 0;
        const auto pieces = Pieces();
        const auto gathers = Gathers(pieces);
        for (size_t i = 0; i < pieces.size(); i++)
        {
            for (const bool dense : {true, false})
            {
                const uint64_t count = dense ? pieces[i].dense : pieces[i].expert;
                const uint64_t gradients = m_job.workload.gradientBytes * count;
                const uint64_t reductions =
                    m_plan.ReductionOf() == Reduction::Microbatch ? m_microbatches : 1;
                switch (m_plan.sharding)
                {
                case Sharding::Ddp:
                    bytes += reductions * 2 * HalfOf(gradients, dense);
                    break;
                case Sharding::Hsdp:
                    bytes += 2 * (m_buildings - 1) * gradients;
                    break;
                default:
                    bytes += gathers[i] * HalfOf(2 * count, dense) +
                             reductions * HalfOf(gradients, dense);
                }
            }
        }
        return bytes;
    }

    /// An all-gather or reduce-scatter of S over all of data parallelism.
    uint64_t HalfOf(uint64_t bytes, bool dense) const
    {
        if (m_scenario.network.collective == CollectiveAlgorithm::Hierarchical)
        {
            return (m_buildings - 1) * bytes;
        }
        const uint64_t servers = Servers(dense);
        return m_buildings * (bytes / servers) * (servers - 1);
    }

    /// Servers over which a group is spread: coordinates inner to outer tp, cp, ep, pp, dp/ep.
    uint64_t Servers(bool dense) const
    {
        const uint32_t node = m_scenario.cluster.buildings.front().gpusPerNode;
        std::vector<uint32_t> servers;
        for (uint32_t d = 0; d < m_plan.dp / m_plan.ep; d++)
        {
            for (uint32_t e = 0; e < (dense ? m_plan.ep : 1); e++)
            {
                for (uint32_t c = 0; c < m_plan.cp; c++)
                {
                    const uint32_t rank =
                        m_plan.tp * (c + m_plan.cp * (e + m_plan.ep * (m_plan.pp * d)));
                    servers.push_back(rank / node);
                }
            }
        }
        std::sort(servers.begin(), servers.end());
        return static_cast<uint64_t>(std::unique(servers.begin(), servers.end()) - servers.begin());
    }

    std::vector<Piece> Pieces() const
    {
        const ModelSpec& model = m_job.model;
        const uint32_t positions = m_plan.pp * m_plan.chunks;
        std::vector<Piece> pieces;
        pieces.push_back({model.EmbeddingParameters(), 0, 0, false});
        for (uint32_t i = 0; i < model.layers; i++) // evenly
        {
            pieces.push_back({model.DenseParametersOfLayer(i),
                              model.ExpertParametersOfLayer(i),
                              i / (model.layers / positions),
                              true});
        }
        const bool vee = m_plan.schedule->Facts().placement == Placement::Vee;
        const bool copied =
            model.tiedEmbedding && m_plan.pp > 1 && !(vee && m_plan.chunks % 2 == 0);
        pieces.push_back({model.HeadParameters() + (copied ? model.EmbeddingParameters() : 0),
                          0,
                          positions - 1,
                          true});
        return pieces;
    }

    /// How often each piece is gathered in an iteration: once, or whenever it is used and was not
    /// among the last max(prefetch, 1) pieces used on its rank.
    std::vector<uint64_t> Gathers(const std::vector<Piece>& pieces) const
    {
        if (!m_plan.Reshards())
        {
            return std::vector<uint64_t>(pieces.size(), 1);
        }
        PipelineShape shape;
        shape.schedule = m_plan.schedule;
        shape.ranks = m_plan.pp;
        shape.microbatches = static_cast<uint32_t>(m_microbatches);
        shape.chunks = m_plan.chunks;
        shape.round = m_plan.round;
        std::vector<uint64_t> gathers(pieces.size(), 0);
        for (uint32_t r = 0; r < m_plan.pp; r++)
        {
            std::vector<size_t> used;
            for (const PipelineAction& action : PipelineOrder(shape, r))
            {
                // Of an overlapped pair the forward uses its parameters first.
                if (const auto pass = ForwardOf(action))
                {
                    const uint32_t position = VirtualStage(shape, r, pass->chunk);
                    Use(pieces, position, Action::Forward, used, gathers);
                }
                if (const auto pass = InputGradientOf(action))
                {
                    const uint32_t position = VirtualStage(shape, r, pass->chunk);
                    Use(pieces, position, Action::Backward, used, gathers);
                }
            }
        }
        return gathers;
    }

    void Use(const std::vector<Piece>& pieces,
             uint32_t position,
             Action action,
             std::vector<size_t>& used,
             std::vector<uint64_t>& gathers) const
    {
        const size_t window = std::max(m_plan.prefetch, 1U);
        const bool forward = action == Action::Forward;
        for (size_t k = 0; k < pieces.size() && action != Action::WeightGradient; k++)
        {
            const size_t i = forward ? k : pieces.size() - 1 - k;
            if (pieces[i].position == position && (forward || pieces[i].layer))
            {
                const auto from =
                    used.end() - static_cast<std::ptrdiff_t>(std::min(window, used.size()));
                gathers[i] += std::find(from, used.end(), i) == used.end() ? 1 : 0;
                used.push_back(i);
            }
        }
    }

    const Scenario& m_scenario;
    const JobSpec& m_job;
    const ParallelPlan& m_plan;
    uint64_t m_buildings;
    uint64_t m_microbatches;
};

} // namespace scaleacross::volumes

#endif // SCALEACROSS_TESTS_VOLUME_LAWS_H
