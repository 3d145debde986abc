// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MODEL_SPEC_H
#define SCALEACROSS_MODEL_SPEC_H

#include "core/base/field.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * A decoder-only transformer, dense or mixture of experts, by its dimensions.
 *
 * Notation of the formulas: layers L, hidden h, heads a, kvHeads g, headDim d, denseFfn f, experts
 * E, topK k, expertFfn f_e, sharedFfn f_s, vocabulary V. Parameters per layer: attention 2h(ad) +
 * 2h(gd); MLP (3 if gated else 2) h f; MoE (3|2) h f_e E + (3|2) h f_s + h E (router); two norms of
 * h each. Embedding V h, output head V h again unless tied, final norm h.
 *
 * **Latent attention** (MLA, arXiv:2405.04434; kvRank c > 0): d = headDim is the width of a query
 * and a key, of which ropeDim r is rotary and shared by the heads in the key; d_v = valueDim.
 * Queries h q + q + q (ad), or h (ad) without queryRank q; keys and values h (c + r) + c +
 * c a (d - r + d_v); output (a d_v) h. The c and q alone are the norms of the latent vectors.
 *
 * **Windows**: in a windowed layer a token attends to the last `window` tokens (sliding) or to
 * those before it in its block of `window` (chunked).
 *
 * **Multi-token prediction** (arXiv:2412.19437, 2.2): D = mtpLayers modules behind the last layer,
 * numbered as if they were layers L .. L+D-1. Each has what a layer like the last one has, and in
 * front of that the embedding of a later token, norms of this and of what the layer before gives, h
 * each, and a projection of both to one, 2h h. Embedding and head with its loss are the model's:
 * the head runs 1 + D times. The last position of a pipeline has the modules.
 *
 * Left out: modules that only see (vision encoders), learned positions, and what a checkpoint holds
 * beside its parameters, such as the router's correction bias of DeepSeek-V3 (E per layer).
 */
struct ModelSpec
{
    std::string name;          //!< preset name or path of the config.json
    uint32_t layers{0};        //!< L
    uint32_t hidden{0};        //!< h
    uint32_t heads{0};         //!< a, query heads
    uint32_t kvHeads{0};       //!< g, divides heads
    uint32_t headDim{0};       //!< d
    uint64_t denseFfn{0};      //!< f, width of a dense layer's MLP; 0 if there is no dense layer
    uint32_t experts{0};       //!< E, routed experts of a MoE layer; 0 for a dense model
    uint32_t topK{0};          //!< k, routed experts a token visits
    uint64_t expertFfn{0};     //!< f_e, width of one routed expert
    uint32_t expertGroups{0};  //!< G, equal groups of experts in their order; 0: none
    uint32_t topKGroups{0};    //!< groups that the experts of a token are in, at most
    uint64_t sharedFfn{0};     //!< f_s, total width of the shared experts; 0 if none
    uint32_t moeEvery{0};      //!< every moeEvery-th layer is MoE (1: all); 0 for a dense model
    uint64_t vocabulary{0};    //!< V
    bool tiedEmbedding{false}; //!< the output head shares the embedding's weights
    bool gatedMlp{true};       //!< SwiGLU (three matrices) instead of GELU (two)

    uint32_t queryRank{0}; //!< q, rank of the queries' latent vector; 0: queries are projected
    uint32_t kvRank{0};    //!< c, rank of the latent vector of keys and values; 0: no MLA
    uint32_t ropeDim{0};   //!< r, rotary part of headDim with MLA
    uint32_t valueDim{0};  //!< d_v, width of a value head; 0: headDim

    uint32_t leadingDense{0};  //!< the first layers, which are dense whatever moeEvery says
    bool attentionBias{false}; //!< Q, K, V and output projections have biases: (a + 2g) d + h
    bool mlpBias{false};       //!< MLPs, experts and router have biases
    bool clampedMlp{false};    //!< gate and up are clamped before their product
    bool qkvBias{false};       //!< Q, K and V projections alone have biases: (a + 2g) d
    bool queryKeyNorm{false};  //!< norms of a head's queries and of its keys, shared: 2d per layer
    bool wideQueryKeyNorm{
        false};                 //!< these norms span all heads: (a + g) d per layer in place of 2d
    bool normBias{false};       //!< the norms of width h have biases, as LayerNorm has: h more each
    bool routerBias{false};     //!< the router has a bias: E per MoE layer
    bool headBias{false};       //!< the output head has a bias: V
    bool attentionSinks{false}; //!< a learned logit per head: a per layer

    uint32_t mtpLayers{0}; //!< D, modules that each predict one token more, in training

    uint32_t window{0};             //!< tokens a windowed layer sees; 0: all layers see all
    bool chunkedWindow{false};      //!< blocks of `window` tokens instead of the last `window`
    uint32_t fullAttentionEvery{0}; //!< with a window: the layers n-1, 2n-1, ... see all; 0: none

    /// What to know of the file that the model was read from, a line each: keys that were not read.
    /// No dimension, and not part of what identifies the model.
    std::vector<std::string> warnings;

    bool IsMoe() const
    {
        return experts > 0;
    }

    /// Llama 4's convention: with moeEvery = n the layers n-1, 2n-1, ... (counted from 0) are MoE,
    /// but for the leading dense ones.
    bool IsMoeLayer(uint32_t layer) const
    {
        return experts > 0 && layer >= leadingDense && (LikeOf(layer) + 1) % moeEvery == 0;
    }

    uint32_t MoeLayers() const;

    bool IsLatent() const
    {
        return kvRank > 0;
    }

    /// Whether tp ranks are more than the KV heads, so that several of them have the same one.
    bool RepeatsKvHeads(uint32_t tp) const
    {
        return tp > kvHeads;
    }

    /// KV heads that tp ranks attend to, each counted once for every rank that has it: g, or tp
    /// where these are more.
    uint32_t KvHeadsOver(uint32_t tp) const
    {
        return RepeatsKvHeads(tp) ? tp : kvHeads;
    }

    bool IsWindowedLayer(uint32_t layer) const
    {
        return window > 0 &&
               (fullAttentionEvery == 0 || (LikeOf(layer) + 1) % fullAttentionEvery != 0);
    }

    /// Layers of equal kind are alike in everything: 0 to kLayerKinds - 1.
    uint32_t KindOf(uint32_t layer) const
    {
        return (IsMoeLayer(layer) ? 1 : 0) + (IsWindowedLayer(layer) ? 2 : 0) +
               (IsModule(layer) ? 4 : 0);
    }

    static constexpr uint32_t kLayerKinds = 8;

    /// Whether it is a module of multi-token prediction.
    bool IsModule(uint32_t layer) const
    {
        return mtpLayers > 0 && layer >= layers;
    }

    /// Layers and modules.
    uint32_t LayersInTraining() const
    {
        return layers + mtpLayers;
    }

    /// Width of a value head.
    uint32_t ValueDim() const
    {
        return valueDim > 0 ? valueDim : headDim;
    }

    /// Width of the MLP that a token passes through in a layer: f, or k f_e + f_s.
    uint64_t MlpWidthOf(uint32_t layer) const
    {
        return IsMoeLayer(layer) ? topK * expertFfn + sharedFfn : denseFfn;
    }

    /// Parameters of a layer's attention without its norm.
    uint64_t AttentionParameters() const;

    /**
     * Pairs of query and key that causal attention computes for one sequence of `sequence` tokens,
     * per head: s^2 / 2 without a window; with a sliding one w s - w^2 / 2; chunked, w^2 / 2 for
     * every whole chunk and r^2 / 2 for the rest r.
     */
    double AttentionPairs(uint64_t sequence, uint32_t layer) const;

    /// Parameters of one layer that every data-parallel rank needs: attention, norms, dense MLP or
    /// router and shared experts. Counts, not bytes.
    uint64_t DenseParametersOfLayer(uint32_t layer) const;

    /// Parameters of the routed experts of one layer (all E of them); 0 for a dense layer.
    uint64_t ExpertParametersOfLayer(uint32_t layer) const;

    uint64_t EmbeddingParameters() const; //!< V h
    uint64_t HeadParameters() const;      //!< V h (0 if tied) plus the final norm h

    uint64_t TotalParameters() const;
    /// Those a token uses: k of the E routed experts, everything else once.
    uint64_t ActiveParameters() const;

    /// What a study may say of a model, in canonical order.
    static const FieldTable<ModelSpec>& Fields();

    /// Throws ConfigError (where = "model.<field>") naming the first impossible value.
    void Validate() const;

  private:
    /// The layer that it is like: the last one for a module.
    uint32_t LikeOf(uint32_t layer) const
    {
        return IsModule(layer) ? layers - 1 : layer;
    }

    void ValidateAttention() const;
    void ValidateGroups() const;
};

} // namespace scaleacross

#endif // SCALEACROSS_MODEL_SPEC_H
