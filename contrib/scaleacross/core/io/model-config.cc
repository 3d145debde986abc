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

/// MoE layers must follow the pattern of ModelSpec::IsMoeLayer(), or the counts would be wrong.
void
CheckMoeLayers(const Config& config, const ModelSpec& model)
{
    if (config.Has("moe_layers"))
    {
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
                        "such models are not supported yet");
        }
    }
    if (config.Has("mlp_only_layers") && !config.Value("mlp_only_layers").empty())
    {
        config.Fail("mlp_only_layers",
                    "some layers are dense out of turn",
                    "an empty list",
                    "such models are not supported yet");
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
    model.denseFfn = model.moeEvery > 1 ? config.Count<uint64_t>("intermediate_size") : 0;
    CheckMoeLayers(config, model);
    return model;
}

ModelSpec
DensePart(const Config& config)
{
    ModelSpec model = CommonPart(config);
    model.denseFfn = config.Count<uint64_t>("intermediate_size");
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
        const bool latent = config.Has("kv_lora_rank");
        config.Fail("model_type",
                    type.empty() ? "the key is missing"
                                 : "the architecture " + Quoted(type) + " is not supported" +
                                       (latent ? " (multi-head latent attention)" : ""),
                    "llama, llama4, llama4_text, mixtral, qwen3 or qwen3_moe",
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
