// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/model-spec.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/check.h"

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
    return experts > 0 && moeEvery > 0 ? layers / moeEvery : 0;
}

uint64_t
ModelSpec::DenseParametersOfLayer(uint32_t layer) const
{
    const uint64_t h = hidden;
    const uint64_t query = uint64_t{heads} * headDim;
    const uint64_t keyValue = uint64_t{kvHeads} * headDim;
    const uint64_t attention = 2 * h * query + 2 * h * keyValue;
    const uint64_t norms = 2 * h;
    const uint64_t mlp = IsMoeLayer(layer) ? MlpMatrices(*this) * h * sharedFfn + h * experts
                                           : MlpMatrices(*this) * h * denseFfn;
    return attention + norms + mlp;
}

uint64_t
ModelSpec::ExpertParametersOfLayer(uint32_t layer) const
{
    return IsMoeLayer(layer) ? MlpMatrices(*this) * hidden * expertFfn * experts : 0;
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
    CheckWhole("model.vocabulary", vocabulary, 1, 1U << 26);
    CheckWhole("model.experts", experts, 0, 1U << 14);
    if (experts == 0)
    {
        for (const auto& [key, value] : {std::pair<const char*, uint64_t>{"model.top_k", topK},
                                         {"model.expert_ffn", expertFfn},
                                         {"model.shared_ffn", sharedFfn},
                                         {"model.moe_every", moeEvery}})
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
                          "leave it out, or set model.moe_every above 1");
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
