// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/hugging-face/model-config.h"
#include "core/io/hugging-face/model-family.h"
#include "core/io/text-file.h"
#include "places.h"
#include "tensor-count.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>

namespace scaleacross
{
namespace
{

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

/// Published configurations by the names of their repositories: the keys that shape the model, and
/// the parameters that Hugging Face counts in its files, where that is the language model alone.
Json
PublishedConfigs()
{
    return Json::parse(ReadTextFile(SourcePath("tests/core/data/published-configs.json")));
}

TEST(PublishedConfigs, AreReadToTheParameter)
{
    std::set<std::string> types;
    size_t counted = 0;
    const Json rows = PublishedConfigs();
    for (const Json& row : rows)
    {
        SCOPED_TRACE(row.at("name").get<std::string>());
        const Json& config = row.at("config");
        const ModelSpec model = ParseModelConfig(config.dump(), "config.json");
        EXPECT_THAT(model.warnings, IsEmpty());
        const Json text = config.contains("text_config") ? config.at("text_config") : config;
        EXPECT_EQ(model.TotalParameters(), TensorCount(text));
        types.insert(text.at("model_type").get<std::string>());
        if (row.contains("parameters"))
        {
            EXPECT_EQ(model.TotalParameters(), row.at("parameters").get<uint64_t>());
            counted++;
        }
    }
    std::string page = ReadTextFile(SourcePath("contrib/scaleacross/doc/models.md"));
    std::replace(page.begin(), page.end(), '\n', ' ');
    EXPECT_THAT(page,
                HasSubstr("reads " + std::to_string(rows.size()) + " published configurations of " +
                          std::to_string(types.size()) + " architectures"));
    EXPECT_THAT(page, HasSubstr(std::to_string(counted) + " of the totals are those that"));
    for (const ModelFamily& family : ModelFamilies())
    {
        EXPECT_EQ(types.count(family.type), 1U) << family.type << " has no published configuration";
    }
}

TEST(PublishedConfigs, OtherFamiliesAreRefusedByWhatIsMissing)
{
    for (const auto& [type, missing] : {std::pair<const char*, const char*>{"mamba2", "Mamba"},
                                        {"jamba", "Mamba"},
                                        {"nemotron_h", "Mamba"},
                                        {"qwen3_next", "linear attention"},
                                        {"minimax_text_01", "linear attention"},
                                        {"deepseek_v32", "sparse attention"},
                                        {"gemma3_text", "norms behind"},
                                        {"gpt2", "learned positions"},
                                        {"falcon", "side by side"},
                                        {"t5", "an encoder"},
                                        {"qwen2_moe", "gate of the shared expert"},
                                        {"paligemma", "attention to what follows"},
                                        {"mllama", "attention to pictures"}})
    {
        // Python writes Infinity into the files of some of them, which is not JSON.
        const std::string text =
            std::string(R"({"model_type": ")") + type + R"(", "time_step_limit": [0.0, Infinity]})";
        try
        {
            ParseModelConfig(text, "config.json");
            ADD_FAILURE() << type;
        }
        catch (const ConfigError& error)
        {
            EXPECT_EQ(error.Where(), "config.json model_type");
            EXPECT_THAT(error.Problem(), HasSubstr(std::string("'") + type + "' has "));
            EXPECT_THAT(error.Problem(), HasSubstr(missing));
        }
    }
}

/// No family that is read may also stand among those that are not.
TEST(PublishedConfigs, WhatIsReadMissesNothing)
{
    for (const ModelFamily& family : ModelFamilies())
    {
        EXPECT_FALSE(MissingOf(family.type)) << family.type;
    }
}

TEST(PublishedConfigs, ThePageNamesEveryFamily)
{
    const std::string page = ReadTextFile(SourcePath("contrib/scaleacross/doc/study-file.md"));
    for (const ModelFamily& family : ModelFamilies())
    {
        EXPECT_THAT(page, HasSubstr("`" + family.type + "`"));
    }
}

/// The defaults of some classes are a published model: the files of the first one that had the
/// class. Their totals are what Hugging Face counts in its files.
TEST(PublishedConfigs, DefaultsAreThoseOfTheClasses)
{
    for (const auto& [type, parameters] :
         {std::pair<const char*, uint64_t>{"llama", 6'738'415'616}, // Llama-2-7b
          {"mistral", 7'241'732'096},                               // Mistral-7B-v0.1
          {"mixtral", 46'702'792'704},                              // Mixtral-8x7B-v0.1
          {"phi3", 3'821'079'552},                                  // Phi-3-mini
          {"gemma", 8'537'680'896},                                 // gemma-7b
          {"deepseek_v3", 671'026'404'352},                         // DeepSeek-V3
          {"kimi_k2", 671'026'404'352},                             // whose class it is
          {"gpt_oss", 116'829'156'672},                             // gpt-oss-120b
          {"ernie4_5_moe", 21'825'437'888}})                        // ERNIE-4.5-21B-A3B
    {
        const std::string text = std::string(R"({"model_type": ")") + type + "\"}";
        EXPECT_EQ(ParseModelConfig(text, "m").TotalParameters(), parameters) << type;
    }
}

/// Draws dimensions for the keys of a class's defaults, which the class itself could be given.
class ConfigDraw
{
  public:
    ConfigDraw(const ModelFamily& family, std::mt19937_64& random)
        : m_random(random),
          m_config(Json::parse(family.defaults))
    {
        m_config["model_type"] = family.type;
        for (const auto& [key, value] : m_config.items())
        {
            value = value.is_boolean()                                  ? Json(Number(0, 1) == 1)
                    : value.is_number() && key != "moe_layer_end_index" ? Json(Number(1, 96))
                                                                        : value;
        }
        const auto layers = Number(1, 12);
        const auto kvHeads = Number(1, 4);
        Set("num_hidden_layers", layers);
        m_config["num_key_value_heads"] = kvHeads;
        Set("num_attention_heads", kvHeads * Number(1, 4));
        m_config["head_dim"] = Number(1, 64);
        if (family.type == "olmoe") // whose norms have the width of the hidden state
        {
            m_config["hidden_size"] = m_config["head_dim"].get<uint64_t>() *
                                      m_config["num_attention_heads"].get<uint64_t>();
        }
        Set("max_window_layers", Number(0, 1) * layers);
        Set("mlp_bias", family.type == "deepseek_v2" ? 0 : Number(0, 1), true);
        Set("attention_bias", m_config.contains("kv_lora_rank") ? 0 : Number(0, 1), true);
        if (m_config.contains("kv_lora_rank"))
        {
            m_config["num_key_value_heads"] = m_config["num_attention_heads"];
            m_config["moe_layer_freq"] = 1;
            Set("q_lora_rank", Number(0, 1) * Number(1, 64));
        }
        if (m_config.contains("n_group")) // equal groups
        {
            const auto groups = Number(1, 4);
            m_config["n_group"] = groups;
            m_config["topk_group"] = Number(1, groups);
            m_config["n_routed_experts"] = groups * Number(1, 24);
        }
        for (const char* key : {"first_k_dense_replace", "moe_layer_start_index"})
        {
            Set(key, Number(0, layers - 1));
        }
        for (const char* key :
             {"moe_layer_interval", "decoder_sparse_step", "interleave_moe_layer_step"})
        {
            Set(key, Number(1, std::min<uint64_t>(layers, 3)));
        }
        m_config[m_config.contains("moe_k") ? "moe_k" : "num_experts_per_tok"] = 1;
    }

    const Json& Get() const
    {
        return m_config;
    }

  private:
    uint64_t Number(uint64_t least, uint64_t most)
    {
        return std::uniform_int_distribution<uint64_t>(least, most)(m_random);
    }

    /// Only a key that the class has.
    void Set(const std::string& key, uint64_t value, bool flag = false)
    {
        if (m_config.contains(key))
        {
            m_config[key] = flag ? Json(value == 1) : Json(value);
        }
    }

    std::mt19937_64& m_random;
    Json m_config;
};

TEST(PublishedConfigs, DrawnOnesAreReadToTheParameter)
{
    std::mt19937_64 random(20261128);
    for (const ModelFamily& family : ModelFamilies())
    {
        uint32_t read = 0;
        for (uint32_t draw = 0; draw < 200; draw++)
        {
            const Json config = ConfigDraw(family, random).Get();
            SCOPED_TRACE(config.dump());
            try
            {
                const ModelSpec model = ParseModelConfig(config.dump(), "m");
                ASSERT_EQ(model.TotalParameters(), TensorCount(config));
                read++;
            }
            catch (const ConfigError& error)
            {
                // Patterns of layers, and more layers between MoE layers than there are.
                ASSERT_TRUE(error.Where().find("moe_layer") != std::string::npos ||
                            error.Where().find("moe_every") != std::string::npos ||
                            error.Where().find("first_k") != std::string::npos)
                    << error.what();
            }
        }
        EXPECT_GE(read, 120U) << family.type;
    }
}

/// Each key that a class has by default matters: another value makes another model, or is refused
/// at that key or where the model's dimensions do not go together.
TEST(PublishedConfigs, EveryKeyThatIsReadMatters)
{
    // Without a window that is used, and with MoE layers to the end, these have no say.
    // Nor has the way in which groups are chosen where there are none.
    const std::map<std::string, std::set<std::string>> idle = {
        {"deepseek_v2", {"topk_method"}},
        {"qwen2", {"sliding_window", "max_window_layers", "use_sliding_window"}},
        {"qwen3", {"sliding_window", "max_window_layers", "use_sliding_window"}},
        {"qwen3_moe", {"sliding_window"}}};
    for (const ModelFamily& family : ModelFamilies())
    {
        const Json defaults = Json::parse(family.defaults);
        Json full = defaults;
        full["model_type"] = family.type;
        if (family.type == "deepseek_v2")
        {
            full["num_experts_per_tok"] = 2; // which the class has no default of
        }
        if (family.type == "glm4_moe")
        {
            full["head_dim"] = 128; // its default heads do not divide its default width
        }
        const ModelSpec whole = ParseModelConfig(full.dump(), "m");
        for (const auto& [key, value] : defaults.items())
        {
            const auto known = idle.find(family.type);
            const bool dense = key == "intermediate_size" || key == "intermediate_size_mlp";
            if ((known != idle.end() && known->second.count(key) > 0) ||
                (dense && whole.MoeLayers() == whole.layers && whole.expertFfn != value))
            {
                continue;
            }
            Json other = full;
            other[key] = value.is_boolean()           ? Json(!value.get<bool>())
                         : value.get<int64_t>() == -1 ? Json(1)
                         : value.get<int64_t>() == 0  ? Json(1)
                                                      : Json(value.get<int64_t>() * 2);
            try
            {
                const ModelSpec model = ParseModelConfig(other.dump(), "m");
                const bool same = model.TotalParameters() == whole.TotalParameters() &&
                                  model.ActiveParameters() == whole.ActiveParameters() &&
                                  model.window == whole.window && model.heads == whole.heads &&
                                  model.expertGroups == whole.expertGroups &&
                                  model.topKGroups == whole.topKGroups &&
                                  model.fullAttentionEvery == whole.fullAttentionEvery;
                EXPECT_FALSE(same) << family.type << " " << key;
            }
            catch (const ConfigError& error)
            {
                EXPECT_TRUE(error.Where().find(key) != std::string::npos ||
                            error.Where().find("model.") != std::string::npos)
                    << family.type << " " << key << ": " << error.what();
            }
        }
    }
}

} // namespace
} // namespace scaleacross
