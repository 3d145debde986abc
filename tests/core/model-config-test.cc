// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/model-config.h"
#include "core/spec/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

using ::testing::HasSubstr;

std::string
DataFile(const std::string& name)
{
    return SCALEACROSS_SOURCE_DIR "/tests/core/data/" + name;
}

ConfigError
Refusal(const std::string& text)
{
    try
    {
        ParseModelConfig(text, "config.json");
    }
    catch (const ConfigError& error)
    {
        return error;
    }
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
    return ConfigError("", "", "", "");
}

const std::string g_dense = R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
    "num_attention_heads": 4, "vocab_size": 100, "intermediate_size": 128)";

/// Dimensions only: name differs by design.
void
ExpectSame(const ModelSpec& read, const ModelSpec& preset)
{
    EXPECT_EQ(read.layers, preset.layers);
    EXPECT_EQ(read.hidden, preset.hidden);
    EXPECT_EQ(read.heads, preset.heads);
    EXPECT_EQ(read.kvHeads, preset.kvHeads);
    EXPECT_EQ(read.headDim, preset.headDim);
    EXPECT_EQ(read.denseFfn, preset.denseFfn);
    EXPECT_EQ(read.experts, preset.experts);
    EXPECT_EQ(read.topK, preset.topK);
    EXPECT_EQ(read.expertFfn, preset.expertFfn);
    EXPECT_EQ(read.sharedFfn, preset.sharedFfn);
    EXPECT_EQ(read.moeEvery, preset.moeEvery);
    EXPECT_EQ(read.vocabulary, preset.vocabulary);
    EXPECT_EQ(read.tiedEmbedding, preset.tiedEmbedding);
    EXPECT_EQ(read.gatedMlp, preset.gatedMlp);
}

TEST(ModelConfig, LlamaFilesMatchThePresets)
{
    ExpectSame(ReadModelConfig(DataFile("llama3-8b-config.json")), ModelPreset("llama3-8b"));
    ExpectSame(ReadModelConfig(DataFile("llama4-scout-config.json")), ModelPreset("llama4-scout"));
    ExpectSame(ReadModelConfig(DataFile("llama4-maverick-config.json")),
               ModelPreset("llama4-maverick"));
}

// Published: 46.7B parameters, 12.9B active.
TEST(ModelConfig, Mixtral)
{
    const ModelSpec model = ReadModelConfig(DataFile("mixtral-8x7b-config.json"));
    // Attention 41,943,040, norms 8,192, router 4096*8, eight experts of 3*4096*14336; 32 layers;
    // 2*32000*4096 and the last norm 4,096.
    EXPECT_EQ(model.TotalParameters(), 46'702'792'704U);
    EXPECT_NEAR(static_cast<double>(model.ActiveParameters()), 12.9e9, 0.05e9);
}

// Published: 30.5B parameters, 3.3B active.
TEST(ModelConfig, Qwen3Moe)
{
    const ModelSpec model = ReadModelConfig(DataFile("qwen3-30b-a3b-config.json"));
    EXPECT_EQ(model.headDim, 128U); // 32 x 128 is not the hidden size of 2,048
    EXPECT_NEAR(static_cast<double>(model.TotalParameters()), 30.5e9, 0.05e9);
    EXPECT_NEAR(static_cast<double>(model.ActiveParameters()), 3.3e9, 0.06e9);
}

TEST(ModelConfig, WhatAFileLeavesOut)
{
    const ModelSpec model = ParseModelConfig(g_dense + "}", "m");
    EXPECT_EQ(model.name, "m");
    EXPECT_EQ(model.kvHeads, 4U);  // as many as query heads
    EXPECT_EQ(model.headDim, 16U); // 64 / 4
    EXPECT_FALSE(model.tiedEmbedding);
    EXPECT_EQ(ParseModelConfig(g_dense + R"(, "head_dim": null})", "m").headDim, 16U);
    EXPECT_TRUE(ParseModelConfig(g_dense + R"(, "tie_word_embeddings": true})", "m").tiedEmbedding);
}

TEST(ModelConfig, OtherArchitecturesAreRefusedByName)
{
    try
    {
        ReadModelConfig(DataFile("deepseek-v3-config.json"));
        FAIL();
    }
    catch (const ConfigError& error)
    {
        EXPECT_THAT(error.Where(), HasSubstr("deepseek-v3-config.json model_type"));
        EXPECT_THAT(error.Problem(), HasSubstr("'deepseek_v3' is not supported"));
        EXPECT_THAT(error.Problem(), HasSubstr("latent attention"));
        EXPECT_THAT(error.Allowed(), HasSubstr("mixtral"));
    }
    EXPECT_THAT(Refusal("{}").Problem(), HasSubstr("missing"));
}

TEST(ModelConfig, MoeLayersOutOfTurnAreRefused)
{
    const std::string moe =
        R"({"model_type": "qwen3_moe", "num_hidden_layers": 2, "hidden_size": 64,
        "num_attention_heads": 4, "vocab_size": 100, "num_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 32)";
    EXPECT_EQ(ParseModelConfig(moe + "}", "m").experts, 4U);
    EXPECT_THAT(Refusal(moe + R"(, "mlp_only_layers": [0]})").Where(),
                HasSubstr("mlp_only_layers"));
    const std::string llama4 =
        R"({"model_type": "llama4_text", "num_hidden_layers": 4, "hidden_size": 64,
        "num_attention_heads": 4, "vocab_size": 100, "num_local_experts": 4,
        "num_experts_per_tok": 1, "intermediate_size": 32, "intermediate_size_mlp": 64,
        "interleave_moe_layer_step": 2)";
    EXPECT_EQ(ParseModelConfig(llama4 + R"(, "moe_layers": [1, 3]})", "m").MoeLayers(), 2U);
    EXPECT_THAT(Refusal(llama4 + R"(, "moe_layers": [0, 2]})").Where(), HasSubstr("moe_layers"));
}

TEST(ModelConfig, BrokenFilesGiveOneClearError)
{
    EXPECT_THAT(Refusal("{").Problem(), HasSubstr("not JSON: parse error at line 1"));
    EXPECT_THAT(Refusal("[]").Problem(), HasSubstr("not a JSON object"));
    EXPECT_THAT(Refusal("").Problem(), HasSubstr("empty"));
    EXPECT_THAT(Refusal(std::string(500000, '[')).Problem(), HasSubstr("not JSON"));
    EXPECT_THAT(Refusal(R"({"model_type": 3})").Where(), HasSubstr("model_type"));
    EXPECT_THAT(Refusal(R"({"model_type": "llama"})").Where(), HasSubstr("num_hidden_layers"));
    EXPECT_THAT(Refusal(g_dense + R"(, "vocab_size": -5})").Problem(), HasSubstr("'-5'"));
    EXPECT_THAT(Refusal(g_dense + R"(, "vocab_size": 1.5})").Problem(), HasSubstr("'1.5'"));
    EXPECT_THAT(Refusal(g_dense + R"(, "hidden_size": 4294967296})").Problem(),
                HasSubstr("'4294967296'"));
    EXPECT_THAT(Refusal(g_dense + R"(, "hidden_size": "64"})").Where(), HasSubstr("hidden_size"));
    EXPECT_THAT(Refusal(g_dense + R"(, "num_attention_heads": 0})").Where(), HasSubstr("heads"));
    EXPECT_THAT(Refusal(g_dense + R"(, "tie_word_embeddings": "no"})").Allowed(),
                HasSubstr("true or false"));
    EXPECT_THAT(Refusal(g_dense + R"(, "num_hidden_layers": 4000000000})").Where(),
                HasSubstr("model.layers"));
}

} // namespace
} // namespace scaleacross
