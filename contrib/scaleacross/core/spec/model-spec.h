// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MODEL_SPEC_H
#define SCALEACROSS_MODEL_SPEC_H

#include <cstdint>
#include <string>

namespace scaleacross
{

/**
 * A decoder-only transformer, dense or mixture of experts, by its dimensions.
 *
 * Notation of the formulas: layers L, hidden h, heads a, kvHeads g, headDim d, denseFfn f, experts
 * E, topK k, expertFfn f_e, sharedFfn f_s, vocabulary V. Parameters per layer: attention 2h(ad) +
 * 2h(gd); MLP (3 if gated else 2) h f; MoE (3|2) h f_e E + (3|2) h f_s + h E (router); two norms of
 * h each. Embedding V h, output head V h again unless tied, final norm h.
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
    uint64_t sharedFfn{0};     //!< f_s, total width of the shared experts; 0 if none
    uint32_t moeEvery{0};      //!< every moeEvery-th layer is MoE (1: all); 0 for a dense model
    uint64_t vocabulary{0};    //!< V
    bool tiedEmbedding{false}; //!< the output head shares the embedding's weights
    bool gatedMlp{true};       //!< SwiGLU (three matrices) instead of GELU (two)

    bool IsMoe() const
    {
        return experts > 0;
    }

    /// Llama 4's convention: with moeEvery = n the layers n-1, 2n-1, ... (counted from 0) are MoE.
    bool IsMoeLayer(uint32_t layer) const
    {
        return experts > 0 && (layer + 1) % moeEvery == 0;
    }

    uint32_t MoeLayers() const;

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

    /// Throws ConfigError (where = "model.<field>") naming the first impossible value.
    void Validate() const;
};

} // namespace scaleacross

#endif // SCALEACROSS_MODEL_SPEC_H
