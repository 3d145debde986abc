// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/model-spec.h"

#include "core/base/errors.h"
#include "core/base/field-rows.h"
#include "core/spec/check.h"

#include <algorithm>

namespace scaleacross
{

namespace
{
constexpr uint32_t g_widest = 1U << 22; // MLP

/// Weight matrices of one MLP: gate, up and down with a gated activation, else up and down.
uint64_t
MlpMatrices(const ModelSpec& model)
{
    return model.gatedMlp ? 3 : 2;
}

/// Parameters of one norm of width h: its weight, and its bias where norms have one.
uint64_t
NormParameters(const ModelSpec& model)
{
    return (model.normBias ? 2 : 1) * uint64_t{model.hidden};
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
    count += attentionBias || qkvBias ? query + 2 * keyValue : 0;
    count += attentionBias ? h : 0;
    if (queryKeyNorm)
    {
        count += wideQueryKeyNorm ? query + keyValue : 2 * uint64_t{headDim};
    }
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
    const uint64_t norms = 2 * NormParameters(*this);
    const auto mlp = [&](uint64_t width) {
        const uint64_t biases = (MlpMatrices(*this) - 1) * width + h;
        return MlpMatrices(*this) * h * width + (mlpBias ? biases : 0);
    };
    uint64_t count = AttentionParameters() + norms + (IsModule(layer) ? 2 * h * h + norms : 0);
    if (!IsMoeLayer(layer))
    {
        return count + mlp(denseFfn);
    }
    count += sharedFfn > 0 ? mlp(sharedFfn) : 0;
    return count + h * experts + (mlpBias || routerBias ? experts : 0);
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
    return (tiedEmbedding ? 0 : vocabulary * hidden) + (headBias ? vocabulary : 0) +
           NormParameters(*this);
}

uint64_t
ModelSpec::TotalParameters() const
{
    uint64_t total = EmbeddingParameters() + HeadParameters();
    for (uint32_t layer = 0; layer < LayersInTraining(); layer++)
    {
        total += DenseParametersOfLayer(layer) + ExpertParametersOfLayer(layer);
    }
    return total;
}

uint64_t
ModelSpec::ActiveParameters() const
{
    uint64_t active = EmbeddingParameters() + HeadParameters();
    for (uint32_t layer = 0; layer < LayersInTraining(); layer++)
    {
        active += DenseParametersOfLayer(layer);
        // All experts of a layer are alike: E of them divide evenly.
        active += experts > 0 ? ExpertParametersOfLayer(layer) / experts * topK : 0;
    }
    return active;
}

const FieldTable<ModelSpec>&
ModelSpec::Fields()
{
    using Row = FieldRows<ModelSpec>;
    using M = ModelSpec;
    const std::string orPreset = ", or start from a preset: llama3-8b";
    // The limits lie far above every published model and keep all counts within 64 bits.
    static const FieldTable<ModelSpec> fields = {
        Row::Text("name", "for people", &M::name).Label(),
        Row::Whole("layers", 1, 4096, "decoder layers", &M::layers)
            .Required("layers: 32" + orPreset),
        Row::Whole("hidden", 1, 1U << 18, "width of the residual stream", &M::hidden)
            .Required("hidden: 4096" + orPreset),
        Row::Whole("heads", 1, 1U << 14, "query heads", &M::heads).Required("heads: 32" + orPreset),
        Row::Whole("kv_heads",
                   1,
                   1U << 14,
                   "key and value heads, a divisor of heads; left out: as many as heads",
                   &M::kvHeads),
        Row::Whole("head_dim",
                   1,
                   1U << 14,
                   "width of a head; left out: hidden / heads",
                   &M::headDim),
        Row::Whole("dense_ffn", 0, g_widest, "width of a dense layer's MLP", &M::denseFfn),
        Row::Whole("experts",
                   0,
                   1U << 14,
                   "routed experts of a MoE layer; 0: a dense model",
                   &M::experts),
        Row::Whole("top_k", 0, 1U << 14, "routed experts that a token visits", &M::topK),
        Row::Whole("expert_ffn", 0, g_widest, "width of a routed expert", &M::expertFfn),
        Row::Whole("expert_groups",
                   0,
                   1U << 14,
                   "equal groups of experts, of which a token visits top_k_groups; 0: none",
                   &M::expertGroups),
        Row::Whole("top_k_groups",
                   0,
                   1U << 14,
                   "with expert_groups: groups that a token's experts are in, at most",
                   &M::topKGroups),
        Row::Whole("shared_ffn",
                   0,
                   g_widest,
                   "total width of the shared experts; 0: none",
                   &M::sharedFfn),
        Row::Whole("moe_every",
                   0,
                   4096,
                   "one layer in so many is MoE; left out: 1 with experts",
                   &M::moeEvery),
        Row::Whole("vocabulary", 1, 1U << 26, "tokens that there are", &M::vocabulary)
            .Required("vocabulary: 128256" + orPreset),
        Row::Bool("tied_embedding",
                  "the output head shares the embedding's weights",
                  &M::tiedEmbedding),
        Row::Bool("gated_mlp", "SwiGLU, three matrices, in place of GELU, two", &M::gatedMlp),
        Row::Whole("query_rank",
                   0,
                   1U << 18,
                   "latent attention: rank of the queries' latent vector; 0: projected",
                   &M::queryRank),
        Row::Whole("kv_rank",
                   0,
                   1U << 18,
                   "latent attention (MLA): rank of the latent vector of keys and values; 0: none",
                   &M::kvRank),
        Row::Whole("rope_dim",
                   0,
                   1U << 14,
                   "latent attention: rotary part of head_dim, shared by the heads",
                   &M::ropeDim),
        Row::Whole("value_dim",
                   0,
                   1U << 14,
                   "latent attention: width of a value head; 0: head_dim",
                   &M::valueDim),
        Row::Whole("leading_dense",
                   0,
                   4096,
                   "first layers, which are dense whatever moe_every says",
                   &M::leadingDense),
        Row::Bool("attention_bias",
                  "projections of query, key, value and output have biases",
                  &M::attentionBias),
        Row::Bool("qkv_bias",
                  "projections of query, key and value have biases, that of the output has none",
                  &M::qkvBias),
        Row::Bool("mlp_bias", "MLPs, experts and router have biases", &M::mlpBias),
        Row::Bool("clamped_mlp", "gate and up are clamped before their product", &M::clampedMlp),
        Row::Bool("router_bias", "the router has a bias", &M::routerBias),
        Row::Bool("norm_bias", "norms have biases, as LayerNorm has", &M::normBias),
        Row::Bool("head_bias", "the output head has a bias", &M::headBias),
        Row::Bool("query_key_norm", "norms of a head's queries and of its keys", &M::queryKeyNorm),
        Row::Bool("wide_query_key_norm",
                  "with query_key_norm: norms that span all heads",
                  &M::wideQueryKeyNorm),
        Row::Bool("attention_sinks", "a learned logit for each head", &M::attentionSinks),
        Row::Whole("mtp_layers",
                   0,
                   16,
                   "modules of multi-token prediction, each a layer more and the head once more",
                   &M::mtpLayers),
        Row::Whole("window",
                   0,
                   1U << 24,
                   "tokens that a windowed layer sees; 0: all layers see all",
                   &M::window),
        Row::Bool("chunked_window",
                  "blocks of `window` tokens in place of the last `window`",
                  &M::chunkedWindow),
        Row::Whole("full_attention_every",
                   0,
                   4096,
                   "with a window: one layer in so many sees all; 0: none",
                   &M::fullAttentionEvery),
    };
    return fields;
}

void
ModelSpec::ValidateAttention() const
{
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
    CheckWhole("model.rope_dim",
               ropeDim,
               0,
               headDim,
               "model.head_dim is " + std::to_string(headDim));
    for (const auto& [key, isGiven] :
         {std::pair<const char*, bool>{"model.attention_bias", attentionBias},
          {"model.qkv_bias", qkvBias},
          {"model.query_key_norm", queryKeyNorm}})
    {
        if (isGiven)
        {
            throw ConfigError(key,
                              "true, but latent attention has other projections and norms",
                              "false with model.kv_rank",
                              "leave it out, or leave model.kv_rank out");
        }
    }
    if (kvHeads != heads)
    {
        throw ConfigError("model.kv_heads",
                          std::to_string(kvHeads) +
                              ", but latent attention has a key for each of "
                              "the " +
                              std::to_string(heads) + " query heads",
                          "as many as heads",
                          "leave kv_heads out with model.kv_rank");
    }
}

void
ModelSpec::Validate() const
{
    CheckFields(Fields(), *this, "model");
    CheckWhole("model.kv_heads",
               kvHeads,
               1,
               heads,
               "the model has " + std::to_string(heads) + " query heads");
    if (heads % kvHeads != 0)
    {
        throw ConfigError("model.kv_heads",
                          std::to_string(kvHeads) + " does not divide the " +
                              std::to_string(heads) + " query heads",
                          "a divisor of heads",
                          "give each key and value head the same number of query heads");
    }
    ValidateAttention();
    if (qkvBias && attentionBias)
    {
        throw ConfigError("model.qkv_bias",
                          "true, but model.attention_bias says that the output has a bias, too",
                          "one of the two",
                          "leave one of them out");
    }
    if (wideQueryKeyNorm && !queryKeyNorm)
    {
        throw ConfigError("model.wide_query_key_norm",
                          "true, but there are no norms of queries and keys",
                          "false without model.query_key_norm",
                          "leave it out, or give model.query_key_norm: true");
    }
    if (experts == 0)
    {
        for (const auto& [key, value] : {std::pair<const char*, uint64_t>{"model.top_k", topK},
                                         {"model.router_bias", routerBias ? 1 : 0},
                                         {"model.expert_ffn", expertFfn},
                                         {"model.expert_groups", expertGroups},
                                         {"model.top_k_groups", topKGroups},
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
        const std::string ofExperts = "the model has " + std::to_string(experts) + " experts";
        const std::string ofLayers = "the model has " + std::to_string(layers) + " layers";
        CheckWhole("model.top_k", topK, 1, experts, ofExperts);
        CheckWhole("model.expert_ffn", expertFfn, 1, g_widest, ofExperts);
        ValidateGroups();
        if (clampedMlp && !gatedMlp)
        {
            throw ConfigError("model.clamped_mlp",
                              "true, but model.gated_mlp is false: there is no gate to clamp",
                              "false without a gate",
                              "leave it out");
        }
        CheckWhole("model.moe_every", moeEvery, 1, layers, ofExperts + ", and " + ofLayers);
        CheckWhole("model.leading_dense",
                   leadingDense,
                   0,
                   layers - 1,
                   ofExperts + ", and " + ofLayers);
    }
    if (MoeLayers() < layers)
    {
        CheckWhole("model.dense_ffn",
                   denseFfn,
                   1,
                   g_widest,
                   std::to_string(layers - MoeLayers()) + " layers have a dense MLP");
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
    if (perMoeLayer * LayersInTraining() > 1e18)
    {
        throw ConfigError("model",
                          "more than 1e18 parameters",
                          "at most 1e18",
                          "check hidden, experts, expert_ffn and layers");
    }
}

void
ModelSpec::ValidateGroups() const
{
    const std::string ofGroups =
        std::to_string(expertGroups) + (expertGroups == 1 ? " group" : " groups") + " of experts";
    if (expertGroups == 0)
    {
        CheckWhole("model.top_k_groups", topKGroups, 0, 0, "there are no groups of experts");
        return;
    }
    if (experts % expertGroups != 0)
    {
        throw ConfigError("model.expert_groups",
                          ofGroups + " for " + std::to_string(experts) + " experts",
                          "a divisor of model.experts",
                          "groups are equal: give each as many experts");
    }
    CheckWhole("model.top_k_groups", topKGroups, 1, expertGroups, "there are " + ofGroups);
    if (uint64_t{topKGroups} * (experts / expertGroups) < topK)
    {
        throw ConfigError("model.top_k_groups",
                          std::to_string(topKGroups) +
                              (topKGroups == 1 ? " group has " : " groups have ") +
                              std::to_string(topKGroups * (experts / expertGroups)) +
                              " experts, and a token goes to " + std::to_string(topK),
                          "as many groups as have the top_k experts of a token",
                          "raise it, or lower model.top_k or model.expert_groups");
    }
}

} // namespace scaleacross
