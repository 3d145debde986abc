// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/hugging-face/model-config.h"
#include "core/io/hugging-face/model-family.h"
#include "core/io/text-file.h"
#include "places.h"
#include "tensor-count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
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
    EXPECT_GE(rows.size(), 40U);
    EXPECT_GE(counted, 30U);
    // Every family that is read has a published configuration here.
    for (const ModelFamily& family : ModelFamilies())
    {
        EXPECT_EQ(types.count(family.type), 1U) << family.type;
    }
    EXPECT_GE(types.size(), 15U);
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

/// A key that is left out is the class's default, so a file with the defaults written out is the
/// same model.
TEST(PublishedConfigs, DefaultsMayBeLeftOut)
{
    for (const ModelFamily& family : ModelFamilies())
    {
        SCOPED_TRACE(family.type);
        Json full = Json::parse(family.defaults);
        full["model_type"] = family.type;
        if (family.type == "deepseek_v2")
        {
            full["num_experts_per_tok"] = 6; // the class has none
        }
        const ModelSpec whole = ParseModelConfig(full.dump(), "m");
        for (const auto& [key, value] : Json::parse(family.defaults).items())
        {
            Json less = full;
            less.erase(key);
            const ModelSpec model = ParseModelConfig(less.dump(), "m");
            EXPECT_EQ(model.TotalParameters(), whole.TotalParameters()) << key;
            EXPECT_EQ(model.ActiveParameters(), whole.ActiveParameters()) << key;
            EXPECT_EQ(model.window, whole.window) << key;
            EXPECT_EQ(model.fullAttentionEvery, whole.fullAttentionEvery) << key;
        }
    }
}

/// Each key that a family reads matters: another value makes another model or is refused.
TEST(PublishedConfigs, EveryKeyThatIsReadMatters)
{
    for (const ModelFamily& family : ModelFamilies())
    {
        Json full = Json::parse(family.defaults);
        full["model_type"] = family.type;
        full["num_experts_per_tok"] = full.value("num_experts_per_tok", 2);
        // Without windows, and with every layer a MoE layer, some keys have no say.
        const std::set<std::string> idle = {"use_sliding_window",
                                            "sliding_window",
                                            "max_window_layers",
                                            "moe_layer_end_index",
                                            "moe_layer_interval"};
        const ModelSpec whole = ParseModelConfig(full.dump(), "m");
        for (const auto& [key, value] : Json::parse(family.defaults).items())
        {
            const bool dense = key == "intermediate_size" || key == "intermediate_size_mlp";
            if (idle.count(key) > 0 || (dense && whole.MoeLayers() == whole.layers))
            {
                continue;
            }
            Json other = full;
            other[key] =
                value.is_boolean() ? Json(!value.get<bool>()) : Json(value.get<int64_t>() * 2);
            if (key == "moe_layer_freq" || key == "interleave_moe_layer_step" ||
                key == "decoder_sparse_step")
            {
                other[key] = 2;
            }
            try
            {
                const ModelSpec model = ParseModelConfig(other.dump(), "m");
                const bool same = model.TotalParameters() == whole.TotalParameters() &&
                                  model.ActiveParameters() == whole.ActiveParameters() &&
                                  model.window == whole.window && model.heads == whole.heads &&
                                  model.fullAttentionEvery == whole.fullAttentionEvery;
                EXPECT_FALSE(same) << family.type << " " << key;
            }
            catch (const ConfigError&)
            {
            }
        }
    }
}

} // namespace
} // namespace scaleacross
