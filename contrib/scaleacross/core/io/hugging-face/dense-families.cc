// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/hugging-face/model-family.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// Reads the dimensions of a model whose layers all have the same MLP.
ModelSpec
ReadDense(const ConfigObject& config)
{
    ModelSpec model = ReadCommon(config);
    model.denseFfn = config.Count<uint64_t>("intermediate_size");
    return model;
}

/// Reads a model whose four projections of attention have biases or none has.
ModelSpec
ReadGemma(const ConfigObject& config)
{
    ModelSpec model = ReadDense(config);
    model.attentionBias = config.Flag("attention_bias");
    config.Demand("use_bidirectional_attention", false, "attention to what follows");
    CheckLayerTypes(config, model);
    return model;
}

/// Reads a model whose MLPs may have biases as well.
ModelSpec
ReadLlama(const ConfigObject& config)
{
    ModelSpec model = ReadDense(config);
    model.attentionBias = config.Flag("attention_bias");
    model.mlpBias = config.Flag("mlp_bias");
    CheckLayerTypes(config, model);
    return model;
}

/// Reads a model without biases, whose layers may all have a window.
ModelSpec
ReadWindowed(const ConfigObject& config)
{
    ModelSpec model = ReadDense(config);
    ReadWindowOfAll(config, model);
    return model;
}

/// Reads a model whose norms of queries and keys span all heads. That its layers have their other
/// norms behind attention and MLP, in place of before them, changes no count.
ModelSpec
ReadOlmo2(const ConfigObject& config)
{
    ModelSpec model = ReadDense(config);
    model.attentionBias = config.Flag("attention_bias");
    model.queryKeyNorm = true;
    model.wideQueryKeyNorm = true;
    CheckLayerTypes(config, model);
    return model;
}

/// Reads the window that, with `use_sliding_window`, the layers have that `layer_types` names, or
/// those from `max_window_layers` on.
void
ReadQwenWindow(const ConfigObject& config, ModelSpec& model)
{
    const bool isUsed = config.Flag("use_sliding_window");
    const auto width = config.MaybeCount<uint32_t>("sliding_window").value_or(0);
    const uint32_t window = isUsed ? width : 0;
    const auto from = config.Count<uint32_t>("max_window_layers");
    auto flags = WindowedByLayerTypes(config, model, "sliding_attention");
    const bool isListed = flags.has_value();
    if (isListed && !isUsed && std::find(flags->begin(), flags->end(), true) != flags->end())
    {
        config.Fail("layer_types",
                    "it has sliding_attention, but use_sliding_window is false",
                    "full_attention for all layers, or use_sliding_window: true",
                    "transformers finds no window there, and stops");
    }
    if (!isListed)
    {
        flags = LayersWhere(model, [=](uint32_t layer) { return window > 0 && layer >= from; });
    }
    SetWindowedLayers(config,
                      isListed ? "layer_types" : "max_window_layers",
                      *flags,
                      window,
                      model);
}

ModelSpec
ReadQwen2(const ConfigObject& config)
{
    ModelSpec model = ReadDense(config);
    model.qkvBias = true;
    ReadQwenWindow(config, model);
    return model;
}

ModelSpec
ReadQwen3(const ConfigObject& config)
{
    ModelSpec model = ReadDense(config);
    model.attentionBias = config.Flag("attention_bias");
    model.queryKeyNorm = true;
    ReadQwenWindow(config, model);
    return model;
}

/// Reads the language model of Qwen3-VL, which has no windows.
ModelSpec
ReadQwen3Vl(const ConfigObject& config)
{
    ModelSpec model = ReadDense(config);
    model.attentionBias = config.Flag("attention_bias");
    model.queryKeyNorm = true;
    CheckLayerTypes(config, model);
    return model;
}

} // namespace

std::vector<ModelFamily>
DenseFamilies()
{
    return {
        {"gemma",
         "GemmaConfig",
         R"({"vocab_size": 256000, "hidden_size": 3072, "intermediate_size": 24576,
             "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16,
             "head_dim": 256, "tie_word_embeddings": true, "attention_bias": false})",
         {},
         {},
         ReadGemma},
        {"granite",
         "GraniteConfig",
         R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
             "num_hidden_layers": 32, "num_attention_heads": 32, "tie_word_embeddings": false,
             "attention_bias": false, "mlp_bias": false})",
         {},
         {},
         ReadLlama},
        {"llama",
         "LlamaConfig",
         R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
             "num_hidden_layers": 32, "num_attention_heads": 32, "tie_word_embeddings": false,
             "attention_bias": false, "mlp_bias": false})",
         {},
         {},
         ReadLlama},
        {"mistral",
         "MistralConfig",
         R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
             "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
             "tie_word_embeddings": false, "sliding_window": 4096})",
         {},
         {},
         ReadWindowed},
        {"olmo2",
         "Olmo2Config",
         R"({"vocab_size": 50304, "hidden_size": 4096, "intermediate_size": 11008,
             "num_hidden_layers": 32, "num_attention_heads": 32, "tie_word_embeddings": false,
             "attention_bias": false})",
         {},
         {},
         ReadOlmo2},
        {"phi3",
         "Phi3Config",
         R"({"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192,
             "num_hidden_layers": 32, "num_attention_heads": 32, "tie_word_embeddings": false})",
         {},
         {"attention_bias"}, // which published files have and no projection looks at
         ReadWindowed},
        {"qwen2",
         "Qwen2Config",
         R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
             "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
             "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 4096,
             "max_window_layers": 28})",
         {},
         {"use_mrope"},
         ReadQwen2},
        {"qwen3",
         "Qwen3Config",
         R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
             "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
             "head_dim": 128, "tie_word_embeddings": false, "attention_bias": false,
             "use_sliding_window": false, "sliding_window": 4096, "max_window_layers": 28})",
         {},
         {},
         ReadQwen3},
        {"qwen3_vl_text",
         "Qwen3VLTextConfig",
         R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
             "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
             "head_dim": 128, "tie_word_embeddings": false, "attention_bias": false})",
         {},
         {},
         ReadQwen3Vl},
    };
}

} // namespace scaleacross
