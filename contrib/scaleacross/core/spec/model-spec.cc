// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/model-spec.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/check.h"

#include <algorithm>

namespace scaleacross
{

namespace
{
/// Weight matrices of one MLP: gate, up and down with a gated activation, else up and down.
uint64_t
MlpMatrices(const ModelSpec& model)
{
    return model.gatedMlp ? 3 : 2;
}
} // namespace

uint32_t
ModelSpec::MoeLayers() const
{
    if (experts == 0 || moeEvery == 0)
    {
        return 0;
    }
    // Multiples of moeEvery among the numbers of layers from 1, less those of the leading ones.
    return layers / moeEvery - std::min(leadingDense, layers) / moeEvery;
}

uint64_t
ModelSpec::AttentionParameters() const
{
    const uint64_t h = hidden;
    const uint64_t query = uint64_t{heads} * headDim;
    const uint64_t keyValue = uint64_t{kvHeads} * headDim;
    const uint64_t value = uint64_t{heads} * ValueDim();
    uint64_t count = 0;
    if (IsLatent())
    {
        const uint64_t q = queryRank;
        const uint64_t c = kvRank;
        count += q > 0 ? h * q + q + q * query : h * query;
        count += h * (c + ropeDim) + c + c * heads * (headDim - ropeDim + ValueDim());
        count += value * h;
    }
    else
    {
        count += 2 * h * query + 2 * h * keyValue;
    }
    count += attentionBias ? query + 2 * keyValue + h : 0;
    count += queryKeyNorm ? 2 * uint64_t{headDim} : 0;
    count += attentionSinks ? heads : 0;
    return count;
}

double
ModelSpec::AttentionPairs(uint64_t sequence, uint32_t layer) const
{
    const auto triangle = [](double tokens) { return tokens * tokens / 2; };
    const auto s = static_cast<double>(sequence);
    if (!IsWindowedLayer(layer) || window >= sequence)
    {
        return triangle(s);
    }
    const double w = window;
    if (chunkedWindow)
    {
        return static_cast<double>(sequence / window) * triangle(w) +
               triangle(static_cast<double>(sequence % window));
    }
    return w * s - triangle(w);
}

uint64_t
ModelSpec::DenseParametersOfLayer(uint32_t layer) const
{
    const uint64_t h = hidden;
    const uint64_t norms = 2 * h;
    const auto mlp = [&](uint64_t width) {
        const uint64_t biases = (MlpMatrices(*this) - 1) * width + h;
        return MlpMatrices(*this) * h * width + (mlpBias ? biases : 0);
    };
    uint64_t count = AttentionParameters() + norms;
    if (!IsMoeLayer(layer))
    {
        return count + mlp(denseFfn);
    }
    count += sharedFfn > 0 ? mlp(sharedFfn) : 0;
    return count + h * experts + (mlpBias ? experts : 0);
}

uint64_t
ModelSpec::ExpertParametersOfLayer(uint32_t layer) const
{
    if (!IsMoeLayer(layer))
    {
        return 0;
    }
    const uint64_t biases = mlpBias ? (MlpMatrices(*this) - 1) * expertFfn + hidden : 0;
    return (MlpMatrices(*this) * hidden * expertFfn + biases) * experts;
}

uint64_t
ModelSpec::EmbeddingParameters() const
{
    return vocabulary * hidden;
}

uint64_t
ModelSpec::HeadParameters() const
{
    return (tiedEmbedding ? 0 : vocabulary * hidden) + hidden;
}

uint64_t
ModelSpec::TotalParameters() const
{
    uint64_t total = EmbeddingParameters() + HeadParameters();
    for (uint32_t layer = 0; layer < layers; layer++)
    {
        total += DenseParametersOfLayer(layer) + ExpertParametersOfLayer(layer);
    }
    return total;
}

uint64_t
ModelSpec::ActiveParameters() const
{
    uint64_t active = EmbeddingParameters() + HeadParameters();
    for (uint32_t layer = 0; layer < layers; layer++)
    {
        active += DenseParametersOfLayer(layer);
        // All experts of a layer are alike: E of them divide evenly.
        active += experts > 0 ? ExpertParametersOfLayer(layer) / experts * topK : 0;
    }
    return active;
}

void
ModelSpec::ValidateAttention() const
{
    CheckWhole("model.value_dim", valueDim, 0, 1U << 14);
    CheckWhole("model.window", window, 0, 1U << 24);
    CheckWhole("model.full_attention_every", fullAttentionEvery, 0, 4096);
    if (window == 0 && (chunkedWindow || fullAttentionEvery != 0))
    {
        throw ConfigError(chunkedWindow ? "model.chunked_window" : "model.full_attention_every",
                          "the model has no attention window",
                          "",
                          "leave it out, or give model.window");
    }
    if (!IsLatent())
    {
        for (const auto& [key, value] :
             {std::pair<const char*, uint32_t>{"model.query_rank", queryRank},
              {"model.rope_dim", ropeDim},
              {"model.value_dim", valueDim}})
        {
            if (value != 0)
            {
                throw ConfigError(key,
                                  std::to_string(value) + ", but attention is not latent",
                                  "0 without model.kv_rank",
                                  "leave it out, or give model.kv_rank");
            }
        }
        return;
    }
    CheckWhole("model.kv_rank", kvRank, 1, 1U << 18);
    CheckWhole("model.query_rank", queryRank, 0, 1U << 18);
    CheckWhole("model.rope_dim", ropeDim, 0, headDim);
    if (kvHeads != heads)
    {
        throw ConfigError("model.kv_heads",
                          std::to_string(kvHeads) +
                              ", but latent attention has a key for each of "
                              "the " +
                              std::to_string(heads) + " query heads",
                          "as many as heads",
                          "");
    }
}

void
ModelSpec::Validate() const
{
    // The limits lie far above every published model and keep all counts within 64 bits.
    CheckWhole("model.layers", layers, 1, 4096);
    CheckWhole("model.hidden", hidden, 1, 1U << 18);
    CheckWhole("model.heads", heads, 1, 1U << 14);
    CheckWhole("model.kv_heads", kvHeads, 1, heads);
    if (heads % kvHeads != 0)
    {
        throw ConfigError("model.kv_heads",
                          std::to_string(kvHeads) + " does not divide the " +
                              std::to_string(heads) + " query heads",
                          "a divisor of heads",
                          "");
    }
    CheckWhole("model.head_dim", headDim, 1, 1U << 14);
    ValidateAttention();
    CheckWhole("model.vocabulary", vocabulary, 1, 1U << 26);
    CheckWhole("model.experts", experts, 0, 1U << 14);
    if (experts == 0)
    {
        for (const auto& [key, value] : {std::pair<const char*, uint64_t>{"model.top_k", topK},
                                         {"model.expert_ffn", expertFfn},
                                         {"model.shared_ffn", sharedFfn},
                                         {"model.moe_every", moeEvery},
                                         {"model.leading_dense", leadingDense}})
        {
            if (value != 0)
            {
                throw ConfigError(key,
                                  std::to_string(value) + ", but the model has no experts",
                                  "0 for a dense model",
                                  "leave it out, or give model.experts");
            }
        }
    }
    else
    {
        CheckWhole("model.top_k", topK, 1, experts);
        CheckWhole("model.expert_ffn", expertFfn, 1, 1U << 22);
        CheckWhole("model.shared_ffn", sharedFfn, 0, 1U << 22);
        CheckWhole("model.moe_every", moeEvery, 1, layers);
        CheckWhole("model.leading_dense", leadingDense, 0, layers - 1);
    }
    if (MoeLayers() < layers)
    {
        CheckWhole("model.dense_ffn", denseFfn, 1, 1U << 22);
    }
    else if (denseFfn != 0)
    {
        throw ConfigError("model.dense_ffn",
                          std::to_string(denseFfn) + ", but every layer is a MoE layer",
                          "0 where there is no dense layer",
                          "leave it out, or set model.moe_every above 1 or model.leading_dense");
    }
    // 2^18 x 2^22 x 3 x 2^14 x 2^12 would not fit: what the fields allow together is checked apart.
    const double perMoeLayer = 3.0 * hidden * static_cast<double>(expertFfn) * experts;
    if (perMoeLayer * layers > 1e18)
    {
        throw ConfigError("model",
                          "more than 1e18 parameters",
                          "at most 1e18",
                          "check hidden, experts, expert_ffn and layers");
    }
}

} // namespace scaleacross
