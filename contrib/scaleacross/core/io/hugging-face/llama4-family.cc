// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/hugging-face/model-family.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// Returns which layers are MoE layers: those that `moe_layers` lists, else every n-th by
/// `interleave_moe_layer_step`.
std::vector<bool>
MoeLayersOf(const ConfigObject& config, const ModelSpec& model)
{
    const auto step = config.Count<uint32_t>("interleave_moe_layer_step");
    if (const auto list = config.Numbers("moe_layers"); list)
    {
        std::vector<bool> flags(model.layers, false);
        for (const int64_t layer : *list)
        {
            if (layer < 0 || layer >= static_cast<int64_t>(model.layers))
            {
                config.Fail("moe_layers",
                            "there is no layer " + std::to_string(layer),
                            "0 to " + std::to_string(model.layers - 1),
                            "");
            }
            flags[static_cast<size_t>(layer)] = true;
        }
        return flags;
    }
    if (step == 0)
    {
        config.Fail("interleave_moe_layer_step",
                    "0 is no distance between MoE layers",
                    "1 or more, or a list of moe_layers",
                    "give moe_layers: [] if the model has no experts");
    }
    return LayersWhere(model, [step](uint32_t layer) { return (layer + 1) % step == 0; });
}

/**
 * Reads which layers attend within chunks. `layer_types` says it of each layer; without it layers
 * with rotary positions do, which `no_rope_layers` marks by 1, and without that all but every
 * `no_rope_layer_interval`-th have.
 */
void
ReadChunks(const ConfigObject& config, ModelSpec& model)
{
    const auto chunk = config.MaybeCount<uint32_t>("attention_chunk_size").value_or(0);
    const auto marks = config.Numbers("no_rope_layers").value_or(std::vector<int64_t>());
    const auto interval = config.Count<uint32_t>("no_rope_layer_interval");
    std::string key = "layer_types";
    auto flags = WindowedByLayerTypes(config, model, "chunked_attention");
    if (!flags && !marks.empty())
    {
        key = "no_rope_layers";
        if (marks.size() < model.layers)
        {
            config.Fail(key,
                        std::to_string(marks.size()) + " numbers for " +
                            std::to_string(model.layers) + " layers",
                        "0 or 1 for each layer",
                        "");
        }
        flags = LayersWhere(model, [&marks](uint32_t layer) { return marks[layer] != 0; });
    }
    else if (!flags)
    {
        key = "no_rope_layer_interval";
        if (interval == 0)
        {
            config.Fail(key, "0 is no interval", "1 or more, or a list of no_rope_layers", "");
        }
        flags =
            LayersWhere(model, [interval](uint32_t layer) { return (layer + 1) % interval != 0; });
    }
    if (chunk == 0) // null: all layers see all
    {
        return;
    }
    model.chunkedWindow = true;
    SetWindowedLayers(config, key, *flags, chunk, model);
}

ModelSpec
ReadLlama4(const ConfigObject& config)
{
    ModelSpec model = ReadCommon(config);
    model.experts = config.Count<uint32_t>("num_local_experts");
    model.topK = config.Count<uint32_t>("num_experts_per_tok");
    model.expertFfn = config.Count<uint64_t>("intermediate_size");
    model.sharedFfn = model.expertFfn; // one shared expert, as wide as a routed one
    SetMoeLayers(config,
                 config.IsGiven("moe_layers") ? "moe_layers" : "interleave_moe_layer_step",
                 MoeLayersOf(config, model),
                 model);
    ReadDenseWidth(config, "intermediate_size_mlp", model);
    model.attentionBias = config.Flag("attention_bias");
    ReadChunks(config, model);
    return model;
}

} // namespace

std::vector<ModelFamily>
Llama4Families()
{
    return {
        {"llama4_text",
         "Llama4TextConfig",
         R"({"vocab_size": 202048, "hidden_size": 5120, "intermediate_size": 8192,
             "intermediate_size_mlp": 16384, "num_hidden_layers": 48, "num_attention_heads": 40,
             "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": false,
             "num_experts_per_tok": 1, "num_local_experts": 16, "interleave_moe_layer_step": 1,
             "no_rope_layer_interval": 4, "attention_chunk_size": 8192,
             "attention_bias": false})",
         {},
         // Norms of queries and keys have no weights here.
         {"attn_scale",
          "attn_temperature_tuning",
          "floor_scale",
          "for_llm_compressor",
          "use_qk_norm"},
         ReadLlama4},
    };
}

} // namespace scaleacross
