// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/hugging-face/model-family.h"

#include <algorithm>
#include <limits>

namespace scaleacross
{

namespace
{

/// Reads DeepSeek-V2 and what follows it, without the modules that predict further tokens.
/// @param readGroups takes the groups that limit a token
ModelSpec
ReadDeepSeek(const ConfigObject& config, void (*readGroups)(const ConfigObject&, ModelSpec&))
{
    ModelSpec model = ReadDimensions(config);
    model.kvHeads = model.heads;
    model.queryRank = config.MaybeCount<uint32_t>("q_lora_rank").value_or(0);
    model.kvRank = config.Count<uint32_t>("kv_lora_rank");
    if (model.kvRank == 0)
    {
        config.Fail("kv_lora_rank", "0, but attention of this type is latent", "1 or more", "");
    }
    model.ropeDim = config.Count<uint32_t>("qk_rope_head_dim");
    const auto nope = config.Count<uint32_t>("qk_nope_head_dim");
    if (nope > std::numeric_limits<uint32_t>::max() - model.ropeDim)
    {
        config.Fail("qk_nope_head_dim", "with qk_rope_head_dim it is too much", "", "");
    }
    model.headDim = nope + model.ropeDim;
    model.valueDim = config.Count<uint32_t>("v_head_dim");
    config.Demand("attention_bias", false, "biases of latent attention's projections");
    config.Demand("mlp_bias", false, "biases of MLPs and experts without those of routers");

    model.experts = config.MaybeCount<uint32_t>("n_routed_experts").value_or(0);
    const auto topK = config.MaybeCount<uint32_t>("num_experts_per_tok");
    const auto width = config.Count<uint64_t>("moe_intermediate_size");
    const auto shared = config.MaybeCount<uint32_t>("n_shared_experts").value_or(0);
    if (model.experts > 0)
    {
        model.topK = topK ? *topK : config.Count<uint32_t>("num_experts_per_tok");
        model.expertFfn = width;
        model.sharedFfn = shared * width;
        readGroups(config, model);
    }
    const auto first = config.Count<uint32_t>("first_k_dense_replace");
    config.Demand("moe_layer_freq",
                  1,
                  "by DeepSeek's own class MoE layers at a distance, by that of transformers all");
    SetMoeLayers(
        config,
        "first_k_dense_replace",
        LayersWhere(model, [&](uint32_t layer) { return model.experts > 0 && layer >= first; }),
        model);
    ReadDenseWidth(config, "intermediate_size", model);
    CheckLayerTypes(config, model);
    return model;
}

/// Of DeepSeek-V2's class, which alone asks for a method, by default one without groups.
void
ReadGroupsByMethod(const ConfigObject& config, ModelSpec& model)
{
    const std::string method = config.Text("topk_method");
    if (method == "group_limited_greedy")
    {
        ReadGroups(config, model);
    }
    else if (method != "greedy")
    {
        config.Fail("topk_method", method, "greedy or group_limited_greedy", "");
    }
}

ModelSpec
ReadDeepSeekV2(const ConfigObject& config)
{
    return ReadDeepSeek(config, ReadGroupsByMethod);
}

ModelSpec
ReadDeepSeekV3(const ConfigObject& config)
{
    return ReadDeepSeek(config, ReadGroups);
}

const char* const g_v3 =
    R"({"vocab_size": 129280, "hidden_size": 7168, "intermediate_size": 18432,
        "moe_intermediate_size": 2048, "num_hidden_layers": 61, "num_attention_heads": 128,
        "n_shared_experts": 1, "n_routed_experts": 256, "kv_lora_rank": 512, "q_lora_rank": 1536,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "qk_nope_head_dim": 128,
        "num_experts_per_tok": 8, "first_k_dense_replace": 3, "n_group": 8, "topk_group": 4,
        "tie_word_embeddings": false, "attention_bias": false})";

} // namespace

std::vector<ModelFamily>
LatentFamilies()
{
    return {
        {"deepseek_v2",
         "DeepseekV2Config",
         R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
             "moe_intermediate_size": 1407, "num_hidden_layers": 32, "num_attention_heads": 32,
             "n_shared_experts": 2, "n_routed_experts": 64, "kv_lora_rank": 512,
             "q_lora_rank": 1536, "qk_rope_head_dim": 64, "v_head_dim": 128,
             "qk_nope_head_dim": 128, "first_k_dense_replace": 0, "topk_method": "greedy",
             "tie_word_embeddings": false, "attention_bias": false, "mlp_bias": false})",
         {{"num_experts", "n_routed_experts"}},
         {"head_dim", "num_nextn_predict_layers", "qk_head_dim"},
         ReadDeepSeekV2},
        {"deepseek_v3",
         "DeepseekV3Config",
         g_v3,
         {{"num_local_experts", "n_routed_experts"}},
         {"head_dim", "num_nextn_predict_layers", "qk_head_dim"},
         ReadDeepSeekV3},
        {"kimi_k2",
         "DeepseekV3Config of Kimi K2",
         g_v3,
         {{"num_local_experts", "n_routed_experts"}},
         {"head_dim", "num_nextn_predict_layers", "qk_head_dim"},
         ReadDeepSeekV3},
    };
}

} // namespace scaleacross
