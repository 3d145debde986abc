// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/model-config.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/text-file.h"

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace scaleacross
{

namespace
{

using Json = nlohmann::json;

/// The keys of one JSON object, read with their place in messages.
class Config
{
  public:
    Config(const Json& object, std::string name)
        : m_object(object),
          m_name(std::move(name))
    {
    }

    [[noreturn]] void Fail(const std::string& key,
                           const std::string& problem,
                           const std::string& allowed,
                           const std::string& remedy) const
    {
        throw ConfigError(m_name + " " + key, problem, allowed, remedy);
    }

    bool Has(const std::string& key) const
    {
        const auto found = m_object.find(key);
        return found != m_object.end() && !found->is_null();
    }

    template <class T>
    T Count(const std::string& key) const
    {
        if (!Has(key))
        {
            Fail(key, "the key is missing", "", "is this the config.json of a language model?");
        }
        const Json& value = m_object.at(key);
        if (!value.is_number_unsigned() || value.get<uint64_t>() > std::numeric_limits<T>::max())
        {
            Fail(key,
                 Quoted(value.dump(-1, ' ', true, Json::error_handler_t::replace)) + " is no count",
                 "a whole number up to " + std::to_string(std::numeric_limits<T>::max()),
                 "");
        }
        return value.get<T>();
    }

    template <class T>
    T Count(const std::string& key, T otherwise) const
    {
        return Has(key) ? Count<T>(key) : otherwise;
    }

    bool Flag(const std::string& key, bool otherwise) const
    {
        if (!Has(key))
        {
            return otherwise;
        }
        if (!m_object.at(key).is_boolean())
        {
            Fail(key, "this is not a truth value", "true or false", "");
        }
        return m_object.at(key).get<bool>();
    }

    std::string Text(const std::string& key) const
    {
        if (!Has(key))
        {
            return "";
        }
        if (!m_object.at(key).is_string())
        {
            Fail(key, "this is not a text", "a text", "");
        }
        return m_object.at(key).get<std::string>();
    }

    const Json& Value(const std::string& key) const
    {
        return m_object.at(key);
    }

  private:
    const Json& m_object;
    std::string m_name;
};

/// What the architectures have in common.
ModelSpec
CommonPart(const Config& config)
{
    ModelSpec model;
    model.layers = config.Count<uint32_t>("num_hidden_layers");
    model.hidden = config.Count<uint32_t>("hidden_size");
    model.heads = config.Count<uint32_t>("num_attention_heads");
    model.kvHeads = config.Count<uint32_t>("num_key_value_heads", model.heads);
    if (config.Has("head_dim"))
    {
        model.headDim = config.Count<uint32_t>("head_dim");
    }
    else if (model.heads > 0)
    {
        model.headDim = model.hidden / model.heads;
    }
    model.vocabulary = config.Count<uint64_t>("vocab_size");
    model.tiedEmbedding = config.Flag("tie_word_embeddings", false);
    return model;
}

/// A list of layers has to say what IsMoeLayer() says, or the counts would be wrong.
void
CheckMoeLayers(const Config& config, const ModelSpec& model)
{
    if (!config.Has("moe_layers"))
    {
        return;
    }
    Json pattern = Json::array();
    for (uint32_t layer = 0; layer < std::min(model.layers, 4096U); layer++)
    {
        if (model.moeEvery > 0 && model.IsMoeLayer(layer))
        {
            pattern.push_back(layer);
        }
    }
    if (config.Value("moe_layers") != pattern)
    {
        config.Fail("moe_layers",
                    "the list is not every n-th layer",
                    "every interleave_moe_layer_step-th layer",
                    "such models are not supported");
    }
}

/// Layers that are dense out of turn, which have to be the first ones.
uint32_t
LeadingDense(const Config& config)
{
    if (!config.Has("mlp_only_layers"))
    {
        return 0;
    }
    const Json& list = config.Value("mlp_only_layers");
    Json leading = Json::array();
    for (uint32_t layer = 0; layer < std::min<size_t>(list.size(), 4096); layer++)
    {
        leading.push_back(layer);
    }
    if (!list.is_array() || list != leading)
    {
        config.Fail("mlp_only_layers",
                    "layers other than the first ones are dense out of turn",
                    "an empty list, or 0, 1, ... without a gap",
                    "such models are not supported");
    }
    return static_cast<uint32_t>(list.size());
}

/// `layer_types`, where it is given, has to say what IsWindowedLayer() says.
void
CheckLayerTypes(const Config& config, const ModelSpec& model)
{
    if (!config.Has("layer_types"))
    {
        return;
    }
    const char* windowed = model.chunkedWindow ? "chunked_attention" : "sliding_attention";
    Json pattern = Json::array();
    for (uint32_t layer = 0; layer < std::min(model.layers, 4096U); layer++)
    {
        pattern.push_back(model.IsWindowedLayer(layer) ? windowed : "full_attention");
    }
    if (config.Value("layer_types") != pattern)
    {
        config.Fail("layer_types",
                    "the windowed layers follow another pattern",
                    "all layers, or all but every n-th",
                    "such models are not supported");
    }
}

ModelSpec
Llama4Part(const Config& config)
{
    ModelSpec model = CommonPart(config);
    model.experts = config.Count<uint32_t>("num_local_experts");
    model.topK = config.Count<uint32_t>("num_experts_per_tok");
    model.expertFfn = config.Count<uint64_t>("intermediate_size");
    model.sharedFfn = model.expertFfn; // one shared expert, as wide as a routed one
    model.moeEvery = config.Count<uint32_t>("interleave_moe_layer_step");
    model.denseFfn = model.moeEvery > 1 ? config.Count<uint64_t>("intermediate_size_mlp") : 0;
    CheckMoeLayers(config, model);
    model.window = config.Count<uint32_t>("attention_chunk_size", 0);
    if (model.window > 0)
    {
        // The layers without rotary positions, every fourth unless said, attend to everything.
        model.chunkedWindow = true;
        model.fullAttentionEvery = config.Count<uint32_t>("no_rope_layer_interval", 4);
        CheckLayerTypes(config, model);
    }
    return model;
}

ModelSpec
GptOssPart(const Config& config)
{
    ModelSpec model = CommonPart(config);
    model.experts = config.Count<uint32_t>("num_local_experts");
    model.topK = config.Count<uint32_t>("num_experts_per_tok");
    model.expertFfn = config.Count<uint64_t>("intermediate_size");
    model.moeEvery = 1;
    model.mlpBias = true;
    model.attentionBias = config.Flag("attention_bias", true);
    model.attentionSinks = true;
    model.window = config.Count<uint32_t>("sliding_window", 0);
    model.fullAttentionEvery = model.window > 0 ? 2 : 0;
    CheckLayerTypes(config, model);
    return model;
}

/// DeepSeek-V2 and -V3, without the layers that predict further tokens.
ModelSpec
DeepSeekPart(const Config& config)
{
    ModelSpec model = CommonPart(config);
    model.kvHeads = model.heads;
    model.queryRank = config.Count<uint32_t>("q_lora_rank", 0);
    model.kvRank = config.Count<uint32_t>("kv_lora_rank");
    model.ropeDim = config.Count<uint32_t>("qk_rope_head_dim");
    const auto nope = config.Count<uint32_t>("qk_nope_head_dim");
    if (nope > std::numeric_limits<uint32_t>::max() - model.ropeDim)
    {
        config.Fail("qk_nope_head_dim", "with qk_rope_head_dim it is too much", "", "");
    }
    model.headDim = nope + model.ropeDim;
    model.valueDim = config.Count<uint32_t>("v_head_dim");
    model.experts = config.Count<uint32_t>("n_routed_experts");
    model.topK = config.Count<uint32_t>("num_experts_per_tok");
    model.expertFfn = config.Count<uint64_t>("moe_intermediate_size");
    model.sharedFfn = config.Count<uint32_t>("n_shared_experts", 0) * model.expertFfn;
    model.moeEvery = config.Count<uint32_t>("moe_layer_freq", 1);
    model.leadingDense = config.Count<uint32_t>("first_k_dense_replace", 0);
    const bool dense = model.moeEvery > 1 || model.leadingDense > 0;
    model.denseFfn = dense ? config.Count<uint64_t>("intermediate_size") : 0;
    if (model.moeEvery > 1)
    {
        // There the layers 0, n, 2n, ... are MoE, which IsMoeLayer() cannot say.
        config.Fail("moe_layer_freq", "not every layer is a MoE layer", "1", "");
    }
    return model;
}

ModelSpec
MixtralPart(const Config& config)
{
    ModelSpec model = CommonPart(config);
    model.experts = config.Count<uint32_t>("num_local_experts");
    model.topK = config.Count<uint32_t>("num_experts_per_tok");
    model.expertFfn = config.Count<uint64_t>("intermediate_size");
    model.moeEvery = 1;
    return model;
}

ModelSpec
Qwen3MoePart(const Config& config)
{
    ModelSpec model = CommonPart(config);
    model.experts = config.Count<uint32_t>("num_experts");
    model.topK = config.Count<uint32_t>("num_experts_per_tok");
    model.expertFfn = config.Count<uint64_t>("moe_intermediate_size");
    model.moeEvery = config.Count<uint32_t>("decoder_sparse_step", 1);
    model.leadingDense = LeadingDense(config);
    const bool dense = model.moeEvery > 1 || model.leadingDense > 0;
    model.denseFfn = dense ? config.Count<uint64_t>("intermediate_size") : 0;
    model.queryKeyNorm = true;
    return model;
}

ModelSpec
DensePart(const Config& config)
{
    ModelSpec model = CommonPart(config);
    model.denseFfn = config.Count<uint64_t>("intermediate_size");
    model.attentionBias = config.Flag("attention_bias", false);
    model.mlpBias = config.Flag("mlp_bias", false);
    return model;
}

Json
ParseJson(const std::string& text, const std::string& name)
{
    CheckText(text, name);
    try
    {
        return Json::parse(text);
    }
    catch (const Json::exception& error)
    {
        // Of "[json.exception.parse_error.101] parse error at line 1, column 3: ..." the last part.
        const std::string what = error.what();
        const size_t bracket = what.find("] ");
        throw ConfigError(name,
                          "this is not JSON: " +
                              (bracket == std::string::npos ? what : what.substr(bracket + 2)),
                          "the config.json of a model",
                          "");
    }
}

} // namespace

ModelSpec
ParseModelConfig(const std::string& text, const std::string& name)
{
    const Json document = ParseJson(text, name);
    if (!document.is_object())
    {
        throw ConfigError(name, "this is not a JSON object", "the config.json of a model", "");
    }
    // Models that also see pictures keep the language model in text_config.
    const Config top(document, name);
    const bool nested = top.Has("text_config") && top.Value("text_config").is_object();
    const Config config(nested ? top.Value("text_config") : document,
                        nested ? name + " text_config" : name);
    std::string type = config.Text("model_type");
    type = type.empty() ? top.Text("model_type") : type;

    ModelSpec model;
    if (type == "llama4" || type == "llama4_text")
    {
        model = Llama4Part(config);
    }
    else if (type == "llama" || type == "qwen3")
    {
        model = DensePart(config);
        model.queryKeyNorm = type == "qwen3";
    }
    else if (type == "deepseek_v2" || type == "deepseek_v3")
    {
        model = DeepSeekPart(config);
    }
    else if (type == "gpt_oss")
    {
        model = GptOssPart(config);
    }
    else if (type == "mixtral")
    {
        model = MixtralPart(config);
    }
    else if (type == "qwen3_moe")
    {
        model = Qwen3MoePart(config);
    }
    else
    {
        config.Fail(
            "model_type",
            type.empty() ? "the key is missing"
                         : "the architecture " + Quoted(type) + " is not supported",
            "deepseek_v2, deepseek_v3, gpt_oss, llama, llama4, llama4_text, mixtral, qwen3 or "
            "qwen3_moe",
            "give the dimensions as a map under model, if the formulas fit");
    }
    model.name = name;
    try
    {
        model.Validate();
    }
    catch (const ConfigError& error)
    {
        throw error.At(name + " " + error.Where());
    }
    return model;
}

ModelSpec
ReadModelConfig(const std::string& path)
{
    std::error_code code;
    const std::filesystem::path given(path);
    const std::filesystem::path file =
        std::filesystem::is_directory(given, code) ? given / "config.json" : given;
    return ParseModelConfig(ReadTextFile(file.string()), file.string());
}

} // namespace scaleacross
