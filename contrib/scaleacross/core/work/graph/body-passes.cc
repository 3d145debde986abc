// SPDX-License-Identifier: GPL-2.0-only

// One pass over a chunk: forward, backward or weight gradients, unit by unit and layer by layer.

#include "core/work/graph/body-builder.h"

#include <algorithm>

namespace scaleacross
{

const LayerCost&
BodyBuilder::CostOf(const Pass& pass, uint32_t layer) const
{
    const bool behind =
        m_plan.recomputeLayers > 0 && layer - pass.layers.first >= m_plan.recomputeLayers;
    return (behind ? pass.costs.behind : pass.costs.layers)[m_model.KindOf(layer)];
}

/// What of a layer backward does again.
RecomputedParts
BodyBuilder::RecomputedOf(const Pass& pass, uint32_t layer) const
{
    return *m_plan.OfLayer(layer - pass.layers.first).recompute;
}

/// Posts the gather whose turn it is with the next use.
void
BodyBuilder::BeginUse(Pass& pass) const
{
    const size_t ahead = pass.used + m_plan.prefetch;
    if (GathersPerUse() && ahead < pass.uses.size())
    {
        const UnitUse& use = pass.uses[ahead];
        const auto begin = pass.uses.begin() + static_cast<std::ptrdiff_t>(pass.used);
        const auto end = pass.uses.begin() + static_cast<std::ptrdiff_t>(ahead);
        bool there =
            std::any_of(begin, end, [&use](const UnitUse& other) { return SameUnit(use, other); });
        if (m_plan.prefetch == 0)
        {
            there =
                pass.used == 0 ? pass.variant.stillThere : SameUnit(use, pass.uses[pass.used - 1]);
        }
        if (!there)
        {
            PostGather(use, pass.program);
        }
    }
    pass.used++;
}

/// Where a piece opens its unit, a pass begins to use its parameters.
void
BodyBuilder::Begin(Pass& pass, const Piece& piece) const
{
    if (piece.opens)
    {
        BeginUse(pass);
        Await(pass, piece.unit, UnitPart::Dense);
    }
}

void
BodyBuilder::Await(Pass& pass, const UnitUse& unit, UnitPart part) const
{
    if (GathersPerUse() || (GathersOnce() && pass.variant.first))
    {
        m_parameters.WaitGather(UnitOf(unit), SlotOf(unit), part, pass.program);
    }
}

/// Where a piece closes its unit, all its gradients of `part` are done.
void
BodyBuilder::Reduce(Pass& pass, const Piece& piece, UnitPart part) const
{
    if (piece.closes && HasWeights(pass.action) && (pass.variant.last || ReducesEveryMicrobatch()))
    {
        // Without shards there is nothing but the replicas.
        m_parameters.PostReduction(UnitOf(piece.unit),
                                   SlotOf(piece.unit),
                                   part,
                                   pass.variant.last || !m_plan.sharding->optimizer,
                                   pass.program);
    }
}

void
BodyBuilder::Forward(Pass& pass) const
{
    auto piece = pass.pieces.begin();
    if (pass.layers.embedding)
    {
        Begin(pass, *piece++);
        m_layer.EmbeddingForward(pass.costs.embedding.forward, pass.program);
    }
    for (uint32_t i = 0; i < pass.layers.count; i++)
    {
        ForwardLayer(pass, *piece++, pass.layers.first + i);
    }
    if (pass.layers.head)
    {
        Begin(pass, *piece);
        for (uint32_t i = 0; i <= m_model.mtpLayers; i++)
        {
            m_layer.HeadForward(pass.costs.head.forward, pass.program);
        }
    }
}

void
BodyBuilder::ForwardLayer(Pass& pass, const Piece& piece, uint32_t layer) const
{
    Begin(pass, piece);
    if (m_model.IsModule(layer))
    {
        m_layer.EmbeddingForward(Duration(), pass.program); // computed with the layer
    }
    m_layer.AttentionForward(ForwardTime(CostOf(pass, layer).attention, m_attentionColumns),
                             true,
                             pass.program);
    Await(pass, piece.unit, UnitPart::Expert);
    ForwardMlp(pass, layer, CostOf(pass, layer).mlp, CostOf(pass, layer).shared);
}

/// @param mlp, shared what the layer's MLP and its shared experts cost forward.
void
BodyBuilder::ForwardMlp(Pass& pass,
                        uint32_t layer,
                        const ComputeCost& mlp,
                        const ComputeCost& shared) const
{
    if (m_model.IsMoeLayer(layer) && m_layer.Dispatches())
    {
        m_layer.MoeForward(ForwardTime(shared, m_mlpColumns),
                           mlp.forward - shared.forward,
                           pass.program);
        return;
    }
    m_layer.MlpForward(ForwardTime(mlp, m_mlpColumns), pass.program);
}

/// What backward does again of a layer's forward before its own work.
void
BodyBuilder::RepeatForward(Pass& pass, uint32_t layer) const
{
    const RecomputedParts again = RecomputedOf(pass, layer);
    const bool moe = m_model.IsMoeLayer(layer);
    const LayerCost& cost = CostOf(pass, layer);
    const ComputeCost mlp = AgainOf(cost.mlp);
    const ComputeCost shared = AgainOf(cost.shared);
    if (again.layers)
    {
        m_layer.AttentionForward(ForwardTime(AgainOf(cost.attention), m_attentionColumns),
                                 !again.keepsProjections,
                                 pass.program);
    }
    if (again.layers || again.WholeMlp(moe))
    {
        ForwardMlp(pass, layer, mlp, shared);
    }
    else if (moe && again.sharedExperts && m_model.sharedFfn > 0)
    {
        m_layer.MlpForward(ForwardTime(shared, m_mlpColumns), pass.program);
    }
}

void
BodyBuilder::Backward(Pass& pass) const
{
    const bool weights = HasWeights(pass.action);
    const auto none = [weights](Duration gradient) { return weights ? gradient : Duration(); };
    auto piece = pass.pieces.begin();
    if (pass.layers.head)
    {
        const ComputeCost& head = pass.costs.head;
        Begin(pass, *piece);
        for (uint32_t i = 0; i <= m_model.mtpLayers; i++)
        {
            m_layer.HeadBackward(head.inputGradient, none(head.weightGradient), pass.program);
        }
        Reduce(pass, *piece, UnitPart::Expert);
        Reduce(pass, *piece++, UnitPart::Dense);
    }
    for (uint32_t i = pass.layers.count; i-- > 0;)
    {
        BackwardLayer(pass, *piece++, pass.layers.first + i);
    }
    if (pass.layers.embedding)
    {
        const ComputeCost& embedding = pass.costs.embedding;
        m_layer.EmbeddingBackward(embedding.inputGradient + none(embedding.weightGradient),
                                  pass.program);
        Reduce(pass, *piece, UnitPart::Expert);
        Reduce(pass, *piece, UnitPart::Dense);
    }
}

void
BodyBuilder::BackwardLayer(Pass& pass, const Piece& piece, uint32_t layer) const
{
    const ComputeCost& attention = CostOf(pass, layer).attention;
    Begin(pass, piece);
    Await(pass, piece.unit, UnitPart::Expert);
    RepeatForward(pass, layer);
    BackwardMlp(pass, layer);
    Reduce(pass, piece, UnitPart::Expert);
    m_layer.AttentionBackward(BackwardTime(attention, m_attentionColumns, HasWeights(pass.action)),
                              !RecomputedOf(pass, layer).layers,
                              pass.program);
    if (m_model.IsModule(layer))
    {
        m_layer.EmbeddingBackward(Duration(), pass.program);
    }
    Reduce(pass, piece, UnitPart::Dense);
}

void
BodyBuilder::BackwardMlp(Pass& pass, uint32_t layer) const
{
    const bool weights = HasWeights(pass.action);
    const LayerCost& cost = CostOf(pass, layer);
    if (m_model.IsMoeLayer(layer) && m_layer.Dispatches())
    {
        const ComputeCost routed = cost.mlp - cost.shared;
        m_layer.MoeBackward(BackwardTime(cost.shared, m_mlpColumns, weights),
                            routed.inputGradient - routed.again +
                                (weights ? routed.weightGradient : Duration()),
                            pass.program);
        return;
    }
    m_layer.MlpBackward(BackwardTime(cost.mlp, m_mlpColumns, weights), pass.program);
}

void
BodyBuilder::WeightGradient(Pass& pass) const
{
    auto piece = pass.pieces.begin();
    if (pass.layers.head)
    {
        for (uint32_t i = 0; i <= m_model.mtpLayers; i++)
        {
            AppendCompute(pass.costs.head.weightGradient, pass.program);
        }
        Reduce(pass, *piece, UnitPart::Expert);
        Reduce(pass, *piece++, UnitPart::Dense);
    }
    for (uint32_t i = pass.layers.count; i-- > 0;)
    {
        const LayerCost& cost = CostOf(pass, pass.layers.first + i);
        AppendCompute(cost.mlp.weightGradient, pass.program);
        Reduce(pass, *piece, UnitPart::Expert);
        AppendCompute(cost.attention.weightGradient, pass.program);
        Reduce(pass, *piece++, UnitPart::Dense);
    }
    if (pass.layers.embedding)
    {
        AppendCompute(pass.costs.embedding.weightGradient, pass.program);
        Reduce(pass, *piece, UnitPart::Expert);
        Reduce(pass, *piece, UnitPart::Dense);
    }
}

} // namespace scaleacross
