// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/hugging-face/model-family.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// Reads the experts of every layer by the keys that most classes have.
void
ReadLocalExperts(const ConfigObject& config, ModelSpec& model)
{
    model.experts = config.Count<uint32_t>("num_local_experts");
    model.topK = config.Count<uint32_t>("num_experts_per_tok");
    model.expertFfn = config.Count<uint64_t>("intermediate_size");
    SetMoeLayers(config,
                 "num_local_experts",
                 LayersWhere(model, [](uint32_t /* layer */) { return true; }),
                 model);
}

ModelSpec
ReadMixtral(const ConfigObject& config)
{
    ModelSpec model = ReadCommon(config);
    ReadLocalExperts(config, model);
    ReadWindowOfAll(config, model);
    return model;
}

/// Reads a model whose norms are LayerNorms.
ModelSpec
ReadPhiMoe(const ConfigObject& config)
{
    ModelSpec model = ReadMixtral(config);
    model.attentionBias = config.Flag("attention_bias");
    model.headBias = config.Flag("lm_head_bias");
    model.normBias = true;
    return model;
}

ModelSpec
ReadGraniteMoe(const ConfigObject& config)
{
    ModelSpec model = ReadCommon(config);
    ReadLocalExperts(config, model);
    model.attentionBias = config.Flag("attention_bias");
    CheckLayerTypes(config, model);
    return model;
}

/// Reads a model whose norms of queries and keys span all heads, and whose layers see all:
/// MiniMax-M2's own files could say otherwise.
ModelSpec
ReadMiniMaxM2(const ConfigObject& config)
{
    ModelSpec model = ReadCommon(config);
    ReadLocalExperts(config, model);
    model.queryKeyNorm = true;
    model.wideQueryKeyNorm = true;
    config.Demand("use_qk_norm", true, "queries and keys without norms");
    config.Demand("qk_norm_type", "per_layer", "another norm of queries and keys");
    config.Demand("shared_intermediate_size", 0, "a shared expert");
    config.Demand("sliding_window", nullptr, "a sliding window");
    config.Demand("attn_window_size", nullptr, "a sliding window");
    if (const auto types = config.Numbers("attn_type_list"); types)
    {
        if (types->size() < model.layers || std::any_of(types->begin(),
                                                        types->begin() + model.layers,
                                                        [](int64_t type) { return type != 1; }))
        {
            config.Fail("attn_type_list",
                        "some layers have linear attention, which is not modelled",
                        "1 for each layer",
                        "");
        }
    }
    CheckLayerTypes(config, model);
    return model;
}

ModelSpec
ReadOlmoe(const ConfigObject& config)
{
    ModelSpec model = ReadCommon(config);
    if (uint64_t{model.heads} * model.headDim != model.hidden)
    {
        config.Fail("head_dim",
                    std::to_string(model.headDim) + ": the norm of the queries is " +
                        std::to_string(model.hidden) + " wide, and they would be " +
                        std::to_string(uint64_t{model.heads} * model.headDim),
                    "hidden_size over num_attention_heads",
                    "leave it out");
    }
    model.experts = config.Count<uint32_t>("num_experts");
    model.topK = config.Count<uint32_t>("num_experts_per_tok");
    model.expertFfn = config.Count<uint64_t>("intermediate_size");
    SetMoeLayers(config,
                 "num_experts",
                 LayersWhere(model, [](uint32_t /* layer */) { return true; }),
                 model);
    model.attentionBias = config.Flag("attention_bias");
    model.queryKeyNorm = true;
    model.wideQueryKeyNorm = true;
    CheckLayerTypes(config, model);
    return model;
}

/// Reads experts: with `decoder_sparse_step` n those of the layers n-1, 2n-1, ... but for
/// `mlp_only_layers`.
void
ReadQwenExperts(const ConfigObject& config, ModelSpec& model)
{
    model.experts = config.Count<uint32_t>("num_experts");
    model.topK = config.Count<uint32_t>("num_experts_per_tok");
    model.expertFfn = config.Count<uint64_t>("moe_intermediate_size");
    const auto step = config.Count<uint32_t>("decoder_sparse_step");
    if (step == 0)
    {
        config.Fail("decoder_sparse_step", "0 is no step", "1 or more", "");
    }
    const auto dense = config.Numbers("mlp_only_layers").value_or(std::vector<int64_t>());
    const auto flags = LayersWhere(model, [&](uint32_t layer) {
        return model.experts > 0 && (layer + 1) % step == 0 &&
               std::find(dense.begin(), dense.end(), int64_t{layer}) == dense.end();
    });
    SetMoeLayers(config, dense.empty() ? "decoder_sparse_step" : "mlp_only_layers", flags, model);
    ReadDenseWidth(config, "intermediate_size", model);
}

ModelSpec
ReadQwen3VlMoe(const ConfigObject& config)
{
    ModelSpec model = ReadCommon(config);
    ReadQwenExperts(config, model);
    model.attentionBias = config.Flag("attention_bias");
    model.queryKeyNorm = true;
    CheckLayerTypes(config, model);
    return model;
}

ModelSpec
ReadQwen3Moe(const ConfigObject& config)
{
    ModelSpec model = ReadCommon(config);
    ReadQwenExperts(config, model);
    model.attentionBias = config.Flag("attention_bias");
    model.queryKeyNorm = true;
    if (config.Flag("use_sliding_window"))
    {
        // Early releases have no window in the first layers, later ones do not know the key.
        config.Demand("max_window_layers",
                      0,
                      "early releases of transformers 4 window the layers from there on, later "
                      "ones all");
        ReadWindowOfAll(config, model);
    }
    else
    {
        CheckLayerTypes(config, model);
    }
    return model;
}

/// Reads a model in which the projections of queries, keys and values alone may have biases.
ModelSpec
ReadGlm4Moe(const ConfigObject& config)
{
    ModelSpec model = ReadCommon(config);
    model.experts = config.Count<uint32_t>("n_routed_experts");
    model.topK = config.Count<uint32_t>("num_experts_per_tok");
    model.expertFfn = config.Count<uint64_t>("moe_intermediate_size");
    model.sharedFfn = config.Count<uint32_t>("n_shared_experts") * model.expertFfn;
    ReadGroups(config, model);
    const auto dense = config.Count<uint32_t>("first_k_dense_replace");
    SetMoeLayers(config,
                 "first_k_dense_replace",
                 LayersWhere(model, [dense](uint32_t layer) { return layer >= dense; }),
                 model);
    ReadDenseWidth(config, "intermediate_size", model);
    model.qkvBias = config.Flag("attention_bias");
    model.queryKeyNorm = config.Flag("use_qk_norm");
    CheckLayerTypes(config, model);
    return model;
}

/// Reads a model whose routers' correction biases are parameters, in place of buffers as elsewhere.
ModelSpec
ReadErnieMoe(const ConfigObject& config)
{
    ModelSpec model = ReadCommon(config);
    model.experts = config.Count<uint32_t>("moe_num_experts");
    model.topK = config.Count<uint32_t>("moe_k");
    model.expertFfn = config.Count<uint64_t>("moe_intermediate_size");
    model.sharedFfn =
        config.MaybeCount<uint32_t>("moe_num_shared_experts").value_or(0) * model.expertFfn;
    const auto first = config.Count<uint32_t>("moe_layer_start_index");
    const auto every = config.Count<uint32_t>("moe_layer_interval");
    const int64_t last = config.Integer("moe_layer_end_index").value_or(-1);
    if (every == 0)
    {
        config.Fail("moe_layer_interval", "0 is no interval", "1 or more", "");
    }
    const bool isToEnd = last == -1 || last >= static_cast<int64_t>(model.layers) - 1;
    const auto flags = LayersWhere(model, [=](uint32_t layer) {
        return (layer + 1) % every == 0 && layer >= first &&
               (isToEnd || static_cast<int64_t>(layer) <= last);
    });
    SetMoeLayers(config, isToEnd ? "moe_layer_interval" : "moe_layer_end_index", flags, model);
    ReadDenseWidth(config, "intermediate_size", model);
    model.routerBias = model.IsMoe();
    model.attentionBias = config.Flag("use_bias");
    model.mlpBias = model.attentionBias;
    model.headBias = model.attentionBias;
    CheckLayerTypes(config, model);
    return model;
}

/// Reads a model with biases of everything, sinks, and a window in every second layer.
ModelSpec
ReadGptOss(const ConfigObject& config)
{
    ModelSpec model = ReadCommon(config);
    ReadLocalExperts(config, model);
    model.mlpBias = true;
    model.clampedMlp = true;
    model.attentionBias = config.Flag("attention_bias");
    model.attentionSinks = true;
    const auto window = config.MaybeCount<uint32_t>("sliding_window").value_or(0);
    auto flags = WindowedByLayerTypes(config, model, "sliding_attention");
    if (!flags)
    {
        flags =
            LayersWhere(model, [window](uint32_t layer) { return window > 0 && layer % 2 == 0; });
    }
    SetWindowedLayers(config, "layer_types", *flags, window, model);
    return model;
}

} // namespace

std::vector<ModelFamily>
MoeFamilies()
{
    return {
        {"ernie4_5_moe",
         "Ernie4_5_MoeConfig",
         R"({"vocab_size": 103424, "hidden_size": 2560, "intermediate_size": 12288,
             "num_hidden_layers": 28, "num_attention_heads": 20, "num_key_value_heads": 4,
             "tie_word_embeddings": true, "use_bias": false, "moe_intermediate_size": 1536,
             "moe_k": 6, "moe_num_experts": 64, "moe_num_shared_experts": 2,
             "moe_layer_start_index": 1, "moe_layer_end_index": -1, "moe_layer_interval": 1})",
         {{"num_experts", "moe_num_experts"}, {"num_experts_per_tok", "moe_k"}},
         {"moe_capacity",
          "moe_gate",
          "moe_norm_min",
          "moe_use_aux_free",
          "num_nextn_predict_layers",
          "use_rmsnorm"},
         ReadErnieMoe},
        {"glm4_moe",
         "Glm4MoeConfig",
         R"({"vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 10944,
             "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8,
             "tie_word_embeddings": false, "attention_bias": false,
             "moe_intermediate_size": 1408, "num_experts_per_tok": 8, "n_shared_experts": 1,
             "n_routed_experts": 128, "first_k_dense_replace": 1, "use_qk_norm": false})",
         {{"num_local_experts", "n_routed_experts"}},
         {"num_nextn_predict_layers"},
         ReadGlm4Moe},
        {"gpt_oss",
         "GptOssConfig",
         R"({"vocab_size": 201088, "hidden_size": 2880, "intermediate_size": 2880,
             "num_hidden_layers": 36, "num_attention_heads": 64, "num_key_value_heads": 8,
             "head_dim": 64, "sliding_window": 128, "tie_word_embeddings": false,
             "num_local_experts": 128, "num_experts_per_tok": 4, "attention_bias": true})",
         {{"num_experts", "num_local_experts"}},
         {"experts_per_token", "initial_context_length", "swiglu_alpha", "swiglu_limit"},
         ReadGptOss},
        {"granitemoe",
         "GraniteMoeConfig",
         R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
             "num_hidden_layers": 32, "num_attention_heads": 32, "tie_word_embeddings": false,
             "attention_bias": false, "num_local_experts": 8, "num_experts_per_tok": 2})",
         {{"num_experts", "num_local_experts"}},
         {},
         ReadGraniteMoe},
        {"minimax_m2",
         "MiniMaxM2Config",
         R"({"vocab_size": 200064, "hidden_size": 3072, "intermediate_size": 1536,
             "num_hidden_layers": 62, "num_attention_heads": 48, "num_key_value_heads": 8,
             "head_dim": 128, "tie_word_embeddings": false, "num_local_experts": 256,
             "num_experts_per_tok": 8})",
         {{"num_experts", "num_local_experts"}},
         {"layernorm_full_attention_beta",
          "layernorm_linear_attention_beta",
          "layernorm_mlp_beta",
          "max_model_len",
          "mlp_intermediate_size",
          "mtp_transformer_layers",
          "num_expert_group",
          "num_mtp_modules",
          "shared_moe_mode",
          "swa_rope_theta",
          "use_grouped_topk",
          "use_mtp",
          "use_routing_bias"},
         ReadMiniMaxM2},
        {"mixtral",
         "MixtralConfig",
         R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
             "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
             "tie_word_embeddings": false, "num_local_experts": 8, "num_experts_per_tok": 2})",
         {{"num_experts", "num_local_experts"}},
         {},
         ReadMixtral},
        {"olmoe",
         "OlmoeConfig",
         R"({"vocab_size": 50304, "hidden_size": 2048, "intermediate_size": 2048,
             "num_hidden_layers": 16, "num_attention_heads": 16, "tie_word_embeddings": false,
             "attention_bias": false, "num_experts": 64, "num_experts_per_tok": 8})",
         {{"num_local_experts", "num_experts"}},
         {"clip_qkv"},
         ReadOlmoe},
        {"phimoe",
         "PhimoeConfig",
         R"({"vocab_size": 32064, "hidden_size": 4096, "intermediate_size": 6400,
             "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
             "tie_word_embeddings": false, "num_local_experts": 16, "num_experts_per_tok": 2,
             "attention_bias": false, "lm_head_bias": false})",
         {{"num_experts", "num_local_experts"}},
         {"input_jitter_noise"},
         ReadPhiMoe},
        {"qwen3_moe",
         "Qwen3MoeConfig",
         R"({"vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 6144,
             "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 4,
             "tie_word_embeddings": false, "attention_bias": false,
             "use_sliding_window": false, "sliding_window": 4096, "decoder_sparse_step": 1,
             "moe_intermediate_size": 768, "num_experts_per_tok": 8, "num_experts": 128})",
         {{"num_local_experts", "num_experts"}},
         {"max_window_layers", "sliding_window"}, // which are read if a window is used
         ReadQwen3Moe},
        {"qwen3_vl_moe_text",
         "Qwen3VLMoeTextConfig",
         R"({"vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 5632,
             "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16,
             "tie_word_embeddings": true, "attention_bias": false, "decoder_sparse_step": 1,
             "moe_intermediate_size": 1408, "num_experts_per_tok": 4, "num_experts": 60})",
         {{"num_local_experts", "num_experts"}},
         {},
         ReadQwen3VlMoe},
    };
}

} // namespace scaleacross
