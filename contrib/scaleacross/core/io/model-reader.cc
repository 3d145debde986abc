// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/model-reader.h"

#include "core/io/map-reader.h"
#include "core/io/model-config.h"
#include "core/spec/presets.h"

#include <filesystem>

namespace scaleacross
{

namespace
{

bool
IsPath(const std::string& name)
{
    const std::string suffix = ".json";
    return name.find('/') != std::string::npos ||
           (name.size() > suffix.size() &&
            name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0);
}

/// A preset or a config.json by name.
ModelSpec
NamedModel(const YamlNode& node, const std::string& path, const std::string& folder)
{
    const std::string& name = ScalarText(node, path);
    try
    {
        if (!IsPath(name))
        {
            return ModelPreset(name);
        }
        ModelSpec model = ReadModelConfig((std::filesystem::path(folder) / name).string());
        model.name = name;
        return model;
    }
    catch (const ConfigError& error)
    {
        if (!IsPath(name))
        {
            throw ConfigError(node.Place() + " " + path,
                              error.Problem(),
                              error.Allowed() + ", or a path to a config.json",
                              error.Remedy());
        }
        throw error.At(node.Place() + " " + path + ": " + error.Where());
    }
}

} // namespace

ModelSpec
ReadModel(const YamlNode& node, const std::string& path, const std::string& folder)
{
    if (node.kind != YamlNode::Kind::Map)
    {
        return NamedModel(node, path, folder);
    }
    const MapReader map(
        node,
        path,
        {"preset",          "name",           "layers",         "hidden",
         "heads",           "kv_heads",       "head_dim",       "dense_ffn",
         "experts",         "top_k",          "expert_ffn",     "shared_ffn",
         "moe_every",       "vocabulary",     "tied_embedding", "gated_mlp",
         "query_rank",      "kv_rank",        "rope_dim",       "value_dim",
         "leading_dense",   "attention_bias", "mlp_bias",       "query_key_norm",
         "attention_sinks", "window",         "chunked_window", "full_attention_every"});
    ModelSpec model;
    if (const YamlNode* preset = map.Find("preset"); preset != nullptr)
    {
        model = NamedModel(*preset, map.PathOf("preset"), folder);
    }
    else
    {
        model.name = "custom";
        for (const auto* key : {"layers", "hidden", "heads", "vocabulary"})
        {
            map.Require(key, std::string(key) + ": 32, or start from a preset: llama3-8b");
        }
    }
    const auto count = Whole(0, UINT32_MAX);
    map.Get("name", model.name, [](const std::string& text) { return text; });
    map.Get("layers", model.layers, count);
    const bool width = map.Get("hidden", model.hidden, count);
    const bool heads = map.Get("heads", model.heads, count);
    // As many key and value heads as query heads, and heads that share the width, unless said.
    if (!map.Get("kv_heads", model.kvHeads, count) && heads)
    {
        model.kvHeads = model.heads;
    }
    if (!map.Get("head_dim", model.headDim, count) && (width || heads) && model.heads > 0)
    {
        model.headDim = model.hidden / model.heads;
    }
    map.Get("dense_ffn", model.denseFfn, count);
    if (map.Get("experts", model.experts, count) && model.moeEvery == 0 && model.experts > 0)
    {
        model.moeEvery = 1;
    }
    map.Get("top_k", model.topK, count);
    map.Get("expert_ffn", model.expertFfn, count);
    map.Get("shared_ffn", model.sharedFfn, count);
    map.Get("moe_every", model.moeEvery, count);
    map.Get("vocabulary", model.vocabulary, count);
    map.Get("tied_embedding", model.tiedEmbedding, ParseBool);
    map.Get("gated_mlp", model.gatedMlp, ParseBool);
    map.Get("query_rank", model.queryRank, count);
    map.Get("kv_rank", model.kvRank, count);
    map.Get("rope_dim", model.ropeDim, count);
    map.Get("value_dim", model.valueDim, count);
    map.Get("leading_dense", model.leadingDense, count);
    map.Get("attention_bias", model.attentionBias, ParseBool);
    map.Get("mlp_bias", model.mlpBias, ParseBool);
    map.Get("query_key_norm", model.queryKeyNorm, ParseBool);
    map.Get("attention_sinks", model.attentionSinks, ParseBool);
    map.Get("window", model.window, count);
    map.Get("chunked_window", model.chunkedWindow, ParseBool);
    map.Get("full_attention_every", model.fullAttentionEvery, count);
    return model;
}

} // namespace scaleacross
