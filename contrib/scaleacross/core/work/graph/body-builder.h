// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BODY_BUILDER_H
#define SCALEACROSS_BODY_BUILDER_H

#include "core/pipeline/pipeline-order.h"
#include "core/program/program.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"
#include "core/work/collectives/parameter-collectives.h"
#include "core/work/cost/compute-cost.h"
#include "core/work/graph/layer-program.h"
#include "core/work/partition/layer-split.h"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace scaleacross
{

/// A parameter unit on a rank: unit `unit` of virtual stage `position`, which is the rank's
/// `chunk`.
struct UnitUse
{
    uint32_t position{0};
    uint32_t chunk{0};
    uint32_t unit{0};
};

/// Whether two uses on one rank are of the same unit.
bool SameUnit(const UnitUse& a, const UnitUse& b);

/// What tells a body from that of the same chunk and action for another microbatch.
struct BodyVariant
{
    bool first{false}; //!< first forward of the chunk in the iteration
    bool last{false};  //!< last weight gradient of the chunk
    /// Where nothing is prefetched: the first unit is that which the rank used last, still there.
    bool stillThere{false};
    std::vector<UnitUse> next; //!< used next on this rank after this body, up to the prefetch depth
};

/**
 * Writes the bodies of a task graph: what one pass over one chunk does, unit by unit.
 *
 * A body is shared by all microbatches, chunks and stages that do the same, unless it posts or
 * awaits collectives of its own parameters, whose handles belong to the chunk.
 *
 * **Without resharding**, the first forward of a chunk waits for each unit's gather, which the
 * program posted at the beginning of the iteration. **With resharding**, each unit's gather is
 * posted ParallelPlan::prefetch uses ahead and awaited before its use, forward and backward; a unit
 * that is used again within this window is still there and is not gathered twice. Backward does not
 * need the embedding's parameters, a weight gradient needs none. Gradients are reduced right after
 * the unit's last weight gradient, or after every one (ReductionFacts); over the replicas of
 * a shard only after the last.
 *
 * A recomputation of whole layers, of MLPs or of shared experts repeats that forward with its
 * collectives before the layer's backward; the other kinds have none. An input gradient of a split
 * backward has the layer's communication, its weight gradient has none.
 */
class BodyBuilder
{
  public:
    /// Bodies are added to `bodies`, collectives to `table`, written by `rules`. `gpus` are the
    /// different accelerators, named by their index below.
    BodyBuilder(const Scenario& scenario,
                const RankLayout& layout,
                const LoweringRules& rules,
                std::vector<GpuSpec> gpus,
                std::vector<StageLayers> split,
                CollectiveTable& table,
                std::vector<Program>& bodies);

    /// The body of `action` on virtual stage `position`.
    uint32_t Body(uint32_t gpu,
                  uint32_t position,
                  const PipelineAction& action,
                  const BodyVariant& variant);

    /**
     * A forward body and a backward body overlapped: each computes while a collective of the other
     * is under way. One computes up to its next inline collective and posts that, then the other
     * goes on, and so in turn; what is left of the longer one comes last. With resharding one runs
     * after the other, since the gathers of both are posted for that order.
     */
    uint32_t Overlapped(uint32_t forward, uint32_t backward);

    /// The optimizer step over `parameters` at rest on a rank.
    uint32_t OptimizerBody(uint32_t gpu, uint64_t parameters);

    /// Units of a virtual stage, as chunk `chunk` of its rank, in order of forward.
    std::vector<UnitUse> UnitsOfChunk(uint32_t position, uint32_t chunk) const;

    /// The uses of parameters by a pass, in order.
    std::vector<UnitUse> UsesOf(uint32_t position, const PipelineAction& action) const;

    void PostGather(const UnitUse& use, Program& program) const;
    void WaitReduction(const UnitUse& use, Program& program) const;

    const ParameterUnit& UnitOf(const UnitUse& use) const
    {
        return m_units[use.position][use.unit];
    }

    /// Whether parameters are gathered once, at the beginning of an iteration.
    bool GathersOnce() const
    {
        return m_parameters.Shards() && !m_plan.Reshards();
    }

    /// Whether parameters are gathered for every use.
    bool GathersPerUse() const
    {
        return m_parameters.Shards() && m_plan.Reshards();
    }

    /// Handles in use on any rank.
    uint32_t Handles() const
    {
        // The last are those of the backward's collectives inside layers in overlapped bodies.
        return ParameterCollectives::Handles(m_slotsPerChunk * m_plan.chunks) +
               LayerProgram::kHandles;
    }

  private:
    /// What layers cost on one accelerator, by ModelSpec::KindOf().
    using LayerCosts = std::array<LayerCost, ModelSpec::kLayerKinds>;

    /// What the parts of the model cost on one accelerator.
    struct Costs
    {
        LayerCosts layers;
        LayerCosts behind; //!< those behind ParallelPlan::recomputeLayers
        ComputeCost embedding;
        ComputeCost head;
    };

    /// What the embedding, a layer or the head of a virtual stage has to do with its unit.
    struct Piece
    {
        UnitUse unit;
        bool opens{false};  //!< the first of its unit in this direction
        bool closes{false}; //!< the last of it
    };

    /// A body under construction.
    struct Pass
    {
        const Costs& costs;
        const StageLayers& layers;
        Action action;
        const BodyVariant& variant;
        std::vector<Piece> pieces; //!< of the chunk, in the order of the pass
        std::vector<UnitUse> uses; //!< by this pass, then the next of the rank
        size_t used{0};            //!< uses begun
        Program program;
    };

    void Forward(Pass& pass) const;
    void ForwardLayer(Pass& pass, const Piece& piece, uint32_t layer) const;
    void ForwardMlp(Pass& pass,
                    uint32_t layer,
                    const ComputeCost& mlp,
                    const ComputeCost& shared) const;
    void RepeatForward(Pass& pass, uint32_t layer) const;
    void Backward(Pass& pass) const;
    void BackwardLayer(Pass& pass, const Piece& piece, uint32_t layer) const;
    void BackwardMlp(Pass& pass, uint32_t layer) const;
    void WeightGradient(Pass& pass) const;
    LayerCosts CostsOfLayers(const JobSpec& job, const GpuSpec& gpu) const;
    const LayerCost& CostOf(const Pass& pass, uint32_t layer) const;
    RecomputedParts RecomputedOf(const Pass& pass, uint32_t layer) const;
    std::vector<Piece> PiecesOf(uint32_t position, uint32_t chunk, bool forward) const;
    void BeginUse(Pass& pass) const;
    void Begin(Pass& pass, const Piece& piece) const;
    void Await(Pass& pass, const UnitUse& unit, UnitPart part) const;
    void Reduce(Pass& pass, const Piece& piece, UnitPart part) const;

    bool ReducesEveryMicrobatch() const
    {
        return m_plan.ReductionOf()->everyMicrobatch;
    }

    uint32_t SlotOf(const UnitUse& use) const
    {
        return use.chunk * m_slotsPerChunk + use.unit;
    }

    ModelSpec m_model;
    WorkloadSpec m_workload;
    ParallelPlan m_plan;
    std::vector<StageLayers> m_split;
    std::vector<std::vector<ParameterUnit>> m_units; //!< by virtual stage
    std::vector<uint32_t> m_shapes; //!< by virtual stage: the first one with the same units
    uint32_t m_slotsPerChunk{0};
    std::vector<GpuSpec> m_gpus;
    std::vector<Costs> m_costs; //!< by accelerator
    double m_attentionColumns;  //!< share of attention's weights that are split by columns
    double m_mlpColumns;        //!< of an MLP's
    LayerProgram m_layer;
    ParameterCollectives m_parameters;
    std::vector<Program>& m_bodies;
    std::map<std::vector<uint32_t>, uint32_t> m_index;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_overlapped; //!< by forward and backward
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> m_optimizers;
};

} // namespace scaleacross

#endif // SCALEACROSS_BODY_BUILDER_H
