// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/hugging-face/model-config.h"
#include "core/io/presets.h"
#include "places.h"

#include <array>
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
    return SourcePath("tests/core/data/") + name;
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
    EXPECT_EQ(read.queryRank, preset.queryRank);
    EXPECT_EQ(read.kvRank, preset.kvRank);
    EXPECT_EQ(read.ropeDim, preset.ropeDim);
    EXPECT_EQ(read.valueDim, preset.valueDim);
    EXPECT_EQ(read.leadingDense, preset.leadingDense);
    EXPECT_EQ(read.attentionBias, preset.attentionBias);
    EXPECT_EQ(read.qkvBias, preset.qkvBias);
    EXPECT_EQ(read.normBias, preset.normBias);
    EXPECT_EQ(read.routerBias, preset.routerBias);
    EXPECT_EQ(read.headBias, preset.headBias);
    EXPECT_EQ(read.wideQueryKeyNorm, preset.wideQueryKeyNorm);
    EXPECT_EQ(read.mlpBias, preset.mlpBias);
    EXPECT_EQ(read.queryKeyNorm, preset.queryKeyNorm);
    EXPECT_EQ(read.attentionSinks, preset.attentionSinks);
    EXPECT_EQ(read.window, preset.window);
    EXPECT_EQ(read.chunkedWindow, preset.chunkedWindow);
    EXPECT_EQ(read.fullAttentionEvery, preset.fullAttentionEvery);
}

/// A preset, the published total and active parameters in billions, and where they stand.
struct Published
{
    const char* preset;
    double total;
    double active; //!< 0: dense, as many as in total
};

// Llama 3 as its weights count; Llama 4's model cards say 109B and 400B in total with the vision
// encoder and 17B active, their text parts are 107.8B and 400.7B; Mistral 46.7B/12.9B and
// 140.6B/39B; Qwen3 30.5B/3.3B and 235.1B/22B; DeepSeek-V3 671B/37B; GPT-OSS's model card,
// 20.91B/3.61B and 116.83B/5.13B, its active parameters without the embedding.
const Published g_published[] = {{"llama3-8b", 8.03, 0},
                                 {"llama3-70b", 70.55, 0},
                                 {"llama3-405b", 405.85, 0},
                                 {"llama4-scout", 107.8, 17.2},
                                 {"llama4-maverick", 400.7, 17.2},
                                 {"mixtral-8x7b", 46.7, 12.9},
                                 {"mixtral-8x22b", 140.6, 39.15},
                                 {"qwen3-30b-a3b", 30.53, 3.35},
                                 {"qwen3-235b-a22b", 235.09, 22.14},
                                 {"deepseek-v3", 671.0, 37.55},
                                 {"gpt-oss-20b", 20.91, 3.61 + 0.579},
                                 {"gpt-oss-120b", 116.83, 5.13 + 0.579}};

TEST(ModelConfig, FilesMatchThePresetsAndThePublishedTotals)
{
    for (const auto& row : g_published)
    {
        const ModelSpec read = ReadModelConfig(DataFile(std::string(row.preset) + "-config.json"));
        SCOPED_TRACE(row.preset);
        ExpectSame(read, ModelPreset(row.preset));
        const double total = static_cast<double>(read.TotalParameters()) * 1e-9;
        const double active = static_cast<double>(read.ActiveParameters()) * 1e-9;
        EXPECT_NEAR(total / row.total, 1, 0.005);
        EXPECT_NEAR(active / (row.active > 0 ? row.active : row.total), 1, 0.02);
    }
}

TEST(ModelConfig, TotalsByHand)
{
    // Attention 41,943,040, norms 8,192, router 4096*8, eight experts of 3*4096*14336; 32 layers;
    // 2*32000*4096 and the last norm 4,096.
    EXPECT_EQ(ModelPreset("mixtral-8x7b").TotalParameters(), 46'702'792'704U);
    EXPECT_EQ(ModelPreset("qwen3-30b-a3b").headDim, 128U); // 32 x 128 is not the hidden 2,048
    // DeepSeek-V3, attention per layer: queries 7168*1536 + 1536 + 1536*128*192 = 48,760,320;
    // keys and values 7168*(512+64) + 512 + 512*128*(128+128) = 20,906,496; output
    // 128*128*7168 = 117,440,512. Sum 187,107,328.
    const ModelSpec& deepSeek = ModelPreset("deepseek-v3");
    EXPECT_EQ(deepSeek.AttentionParameters(), 187'107'328U);
    // Norms 14,336; dense MLP 3*7168*18432 = 396,361,728 in 3 layers; in 58 shared expert
    // 3*7168*2048 = 44,040,192, router 1,835,008 and 256 experts; embedding and head
    // 129,280*7168 = 926,679,040 each; last norm 7,168.
    EXPECT_EQ(deepSeek.MoeLayers(), 58U);
    EXPECT_EQ(deepSeek.TotalParameters(),
              61 * (187'107'328ULL + 14'336) + 3 * 396'361'728ULL +
                  58 * (44'040'192ULL * 257 + 1'835'008) + 2 * 926'679'040ULL + 7'168);
    // GPT-OSS 120B, per layer: attention 2*2880*4096 + 2*2880*512 = 26,542,080, its biases
    // 4096 + 2*512 + 2880 = 8,000, sinks 64, norms 5,760, router 128*2880 + 128 = 368,768, experts
    // 128 * (3*2880*2880 + 3*2880) = 3,186,155,520; 36 layers; 2*201088*2880 + 2880.
    EXPECT_EQ(ModelPreset("gpt-oss-120b").TotalParameters(),
              36 * (26'542'080ULL + 8'000 + 64 + 5'760 + 368'768 + 3'186'155'520) +
                  2 * 579'133'440ULL + 2'880);
}

/// Models without a config.json here, by the parameters that others count: those of Hugging Face's
/// files for Llama 2 (each layer's norms and all weights, so exactly), else what a model is known
/// by.
TEST(ModelConfig, PresetsOfPublishedRunsHaveTheirTotals)
{
    EXPECT_EQ(ModelPreset("llama2-7b").TotalParameters(), 6'738'415'616U);
    EXPECT_EQ(ModelPreset("llama2-13b").TotalParameters(), 13'015'864'320U);
    EXPECT_EQ(ModelPreset("llama2-70b").TotalParameters(), 68'976'648'192U);
    for (const auto& [preset, billions] : {std::pair<const char*, double>{"gpt3-175b", 175},
                                           {"nemotron4-15b", 15.6},
                                           {"nemotron4-340b", 341},
                                           {"grok1-314b", 314}})
    {
        const auto total = static_cast<double>(ModelPreset(preset).TotalParameters());
        EXPECT_NEAR(total * 1e-9 / billions, 1, 0.01) << preset;
    }
}

TEST(ModelConfig, WhatAFileLeavesOut)
{
    const ModelSpec model = ParseModelConfig(g_dense + "}", "m");
    EXPECT_EQ(model.name, "m");
    EXPECT_EQ(model.kvHeads, 4U);  // as many as query heads, in Llama's class
    EXPECT_EQ(model.headDim, 16U); // 64 / 4
    EXPECT_FALSE(model.tiedEmbedding);
    EXPECT_EQ(ParseModelConfig(g_dense + R"(, "head_dim": null})", "m").headDim, 16U);
    EXPECT_TRUE(ParseModelConfig(g_dense + R"(, "tie_word_embeddings": true})", "m").tiedEmbedding);
}

TEST(ModelConfig, OtherArchitecturesAreRefusedByName)
{
    const auto refusal = Refusal(R"({"model_type": "mamba2"})");
    EXPECT_THAT(refusal.Where(), HasSubstr("model_type"));
    EXPECT_THAT(refusal.Problem(), HasSubstr("'mamba2' has state space layers"));
    EXPECT_THAT(refusal.Allowed(), HasSubstr("deepseek_v3"));
    EXPECT_THAT(Refusal(R"({"model_type": "nobody"})").Problem(),
                HasSubstr("'nobody' is not known"));
    EXPECT_THAT(Refusal("{}").Problem(), HasSubstr("missing"));
}

TEST(ModelConfig, LayersOutOfTurnAreRefused)
{
    const std::string moe =
        R"({"model_type": "qwen3_moe", "num_hidden_layers": 4, "hidden_size": 64,
        "num_attention_heads": 4, "vocab_size": 100, "num_experts": 4, "num_experts_per_tok": 2,
        "intermediate_size": 128, "moe_intermediate_size": 32, "num_key_value_heads": 2)";
    EXPECT_EQ(ParseModelConfig(moe + "}", "m").experts, 4U);
    const ModelSpec leading = ParseModelConfig(moe + R"(, "mlp_only_layers": [0, 1]})", "m");
    EXPECT_EQ(leading.leadingDense, 2U);
    EXPECT_EQ(leading.MoeLayers(), 2U);
    EXPECT_EQ(leading.denseFfn, 128U);
    for (const char* list : {"[1]", "[2]", "\"0\"", "3", "[2, 3]"})
    {
        EXPECT_THAT(Refusal(moe + R"(, "mlp_only_layers": )" + list + "}").Where(),
                    HasSubstr("mlp_only_layers"))
            << list;
    }
    const std::string oss = R"({"model_type": "gpt_oss", "num_hidden_layers": 2, "hidden_size": 64,
        "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 100,
        "num_local_experts": 4, "num_experts_per_tok": 2, "intermediate_size": 32,
        "sliding_window": 16)";
    const std::string types = R"(, "layer_types": ["sliding_attention", "full_attention"]})";
    EXPECT_TRUE(ParseModelConfig(oss + types, "m").IsWindowedLayer(0));
    EXPECT_FALSE(ParseModelConfig(oss + types, "m").IsWindowedLayer(1));
    EXPECT_EQ(
        ParseModelConfig(oss + R"(, "layer_types": ["full_attention", "full_attention"]})", "m")
            .window,
        0U);
    for (const char* list : {R"(["full_attention", "sliding_attention"])",
                             R"(["sliding_attention"])",
                             R"(["sliding_attention", "linear_attention"])",
                             R"("sliding_attention")"})
    {
        EXPECT_THAT(Refusal(oss + R"(, "layer_types": )" + list + "}").Where(),
                    HasSubstr("layer_types"))
            << list;
    }
    EXPECT_THAT(Refusal(R"({"model_type": "deepseek_v3", "num_hidden_layers": 4, "hidden_size": 64,
        "num_attention_heads": 4, "vocab_size": 100, "kv_lora_rank": 8, "qk_rope_head_dim": 8,
        "qk_nope_head_dim": 8, "v_head_dim": 8, "n_routed_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 32, "intermediate_size": 64, "moe_layer_freq": 2,
        "first_k_dense_replace": 0})")
                    .Where(),
                HasSubstr("moe_layer_freq"));
    const std::string llama4 =
        R"({"model_type": "llama4_text", "num_hidden_layers": 4, "hidden_size": 64,
        "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 100,
        "num_local_experts": 4,
        "num_experts_per_tok": 1, "intermediate_size": 32, "intermediate_size_mlp": 64,
        "interleave_moe_layer_step": 2)";
    EXPECT_EQ(ParseModelConfig(llama4 + R"(, "moe_layers": [1, 3]})", "m").MoeLayers(), 2U);
    EXPECT_THAT(Refusal(llama4 + R"(, "moe_layers": [0, 2]})").Where(), HasSubstr("moe_layers"));
}

TEST(ModelConfig, GroupsOfExpertsAreThoseThatLimitAToken)
{
    const auto groups = [](const std::string& type, const std::string& more) {
        const ModelSpec model = ParseModelConfig(
            R"({"model_type": ")" + type + R"(", "num_hidden_layers": 2, "hidden_size": 64,
            "num_attention_heads": 4, "vocab_size": 100, "kv_lora_rank": 8, "qk_rope_head_dim": 8,
            "qk_nope_head_dim": 8, "v_head_dim": 8, "n_routed_experts": 16,
            "num_experts_per_tok": 4, "moe_intermediate_size": 32, "intermediate_size": 64,
            "first_k_dense_replace": 0)" +
                more + "}",
            "m");
        return std::make_pair(model.expertGroups, model.topKGroups);
    };
    using Groups = std::pair<uint32_t, uint32_t>;
    // Left out they are those of the class, of DeepSeek-V2 none.
    EXPECT_EQ(groups("deepseek_v3", ""), Groups(8, 4));
    EXPECT_EQ(groups("deepseek_v2", ""), Groups(0, 0));
    EXPECT_EQ(groups("deepseek_v3", R"(, "n_group": 4, "topk_group": 2)"), Groups(4, 2));
    const std::string eight = R"(, "n_group": 8, "topk_group": 3, "topk_method": )";
    EXPECT_EQ(groups("deepseek_v2", eight + R"("group_limited_greedy")"), Groups(8, 3));
    EXPECT_EQ(groups("deepseek_v2", eight + R"("greedy")"), Groups(0, 0));
    // One group, or all of them, limit nothing.
    EXPECT_EQ(groups("kimi_k2", R"(, "n_group": 1, "topk_group": 1)"), Groups(0, 0));
    EXPECT_EQ(groups("deepseek_v3", R"(, "n_group": 8, "topk_group": 8)"), Groups(0, 0));
    // DeepSeek-V3's class has no method, and does not look at one.
    EXPECT_EQ(groups("deepseek_v3", eight + R"("greedy")"), Groups(8, 3));
    const auto refused = [&groups](const std::string& type, const std::string& more) {
        try
        {
            groups(type, more);
        }
        catch (const ConfigError& error)
        {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(refused("deepseek_v3", R"(, "n_group": 8, "topk_group": 9)"),
                AllOf(HasSubstr("topk_group"), HasSubstr("9, but n_group is 8")));
    EXPECT_THAT(refused("deepseek_v3", R"(, "n_group": null)"), HasSubstr("but n_group is"));
    EXPECT_THAT(refused("deepseek_v2", eight + R"("best")"),
                AllOf(HasSubstr("topk_method"), HasSubstr("greedy or group_limited_greedy")));
}

TEST(ModelConfig, BrokenFilesGiveOneClearError)
{
    EXPECT_THAT(Refusal("{").Problem(), HasSubstr("not JSON: parse error at line 1"));
    EXPECT_THAT(Refusal("[]").Problem(), HasSubstr("not a JSON object"));
    EXPECT_THAT(Refusal("").Problem(), HasSubstr("empty"));
    for (const std::string& deep : {std::string(500000, '['),
                                    std::string(500000, '[') + std::string(500000, ']'),
                                    g_dense + R"(, "vocab_size": )" + std::string(500000, '[') +
                                        std::string(500000, ']') + "}"})
    {
        EXPECT_THAT(Refusal(deep).Problem(), HasSubstr("more than 64 others"));
    }
    EXPECT_THAT(Refusal(R"({"model_type": 3})").Where(), HasSubstr("model_type"));
    EXPECT_THAT(Refusal(R"({"model_type": "llama", "num_hidden_layers": null})").Problem(),
                HasSubstr("null is no count"));
    EXPECT_THAT(Refusal(R"({"model_type": "deepseek_v2"})").Where(),
                HasSubstr("num_experts_per_tok")); // the one key whose class has no default for it
    EXPECT_THAT(Refusal(g_dense + R"(, "vocab_size": -5})").Problem(), HasSubstr("'-5'"));
    EXPECT_THAT(Refusal(g_dense + R"(, "vocab_size": 1.5})").Problem(), HasSubstr("'1.5'"));
    EXPECT_THAT(Refusal(g_dense + R"(, "hidden_size": 4294967296})").Problem(),
                HasSubstr("'4294967296'"));
    EXPECT_THAT(Refusal(g_dense + R"(, "hidden_size": "64"})").Where(), HasSubstr("hidden_size"));
    EXPECT_THAT(Refusal(g_dense + R"(, "num_attention_heads": 0})").Where(), HasSubstr("heads"));
    EXPECT_THAT(Refusal(g_dense + R"(, "tie_word_embeddings": "no"})").Allowed(),
                HasSubstr("true or false"));
    EXPECT_THAT(Refusal(g_dense + R"(, "num_hidden_layers": 4000000000})").Where(),
                HasSubstr("num_hidden_layers"));
    // Python writes these words; they are shown where a number is needed, and else do not matter.
    EXPECT_THAT(Refusal(g_dense + R"(, "vocab_size": Infinity})").Problem(), HasSubstr("Infinity"));
    EXPECT_THAT(Refusal(g_dense + R"(, "vocab_size": NaN})").Problem(), HasSubstr("NaN"));
    EXPECT_EQ(
        ParseModelConfig(g_dense + R"(, "rope_theta": -Infinity, "hidden_act": "NaN\""})", "m")
            .layers,
        2U);
    // A megabyte of labels is no reason to refuse a file.
    EXPECT_EQ(
        ParseModelConfig(g_dense + R"(, "id2label": {"0": ")" + std::string(2U << 20, 'x') + "\"}}",
                         "m")
            .layers,
        2U);
}

/// Mixtral's first configuration had a window of all its layers.
TEST(ModelConfig, SlidingWindowsAreRead)
{
    const std::string mixtral = R"({"model_type": "mixtral", "sliding_window": 4096})";
    ModelSpec map = ModelPreset("mixtral-8x7b");
    map.window = 4096;
    ExpectSame(ParseModelConfig(mixtral, "m"), map);
    // A class that does not look at layer_types is not contradicted by it.
    const auto types = [](const std::string& word) {
        std::string list;
        for (int layer = 0; layer < 32; layer++)
        {
            list += (layer > 0 ? ", \"" : "\"") + word + "\"";
        }
        return R"(, "layer_types": [)" + list + "]}";
    };
    const std::string open = mixtral.substr(0, mixtral.size() - 1);
    ExpectSame(ParseModelConfig(open + types("sliding_attention"), "m"), map);
    EXPECT_THAT(Refusal(open + types("full_attention")).Problem(),
                HasSubstr("layer 0 is 'full_attention', but by the other keys it is sliding"));

    // Qwen's classes have a window, but use it only if they are told to, and then from
    // max_window_layers on.
    for (const char* type : {"qwen2", "qwen3"})
    {
        const std::string qwen = std::string(R"({"model_type": ")") + type +
                                 R"(", "num_hidden_layers": 4, "sliding_window": 512)";
        EXPECT_EQ(ParseModelConfig(qwen + "}", "m").window, 0U);
        const std::string used = qwen + R"(, "use_sliding_window": true)";
        EXPECT_EQ(ParseModelConfig(used + R"(, "max_window_layers": 4})", "m").window, 0U);
        const ModelSpec all = ParseModelConfig(used + R"(, "max_window_layers": 0})", "m");
        EXPECT_EQ(all.window, 512U);
        EXPECT_EQ(all.fullAttentionEvery, 0U);
        EXPECT_THAT(Refusal(used + R"(, "max_window_layers": 2})").Where(),
                    HasSubstr("max_window_layers"));
        const std::string two = R"(, "layer_types": ["sliding_attention", "full_attention",
            "sliding_attention", "full_attention"]})";
        EXPECT_EQ(ParseModelConfig(used + two, "m").fullAttentionEvery, 2U);
        EXPECT_THAT(Refusal(qwen + two).Problem(), HasSubstr("use_sliding_window is false"));
    }
    const std::string moe = R"({"model_type": "qwen3_moe", "sliding_window": 512)";
    EXPECT_EQ(ParseModelConfig(moe + R"(, "max_window_layers": 24})", "m").window, 0U);
    const std::string used = moe + R"(, "use_sliding_window": true)";
    EXPECT_EQ(ParseModelConfig(used + "}", "m").window, 512U);
    EXPECT_THAT(Refusal(used + R"(, "max_window_layers": 24})").Where(),
                HasSubstr("max_window_layers"));
    // Mistral has one unless told otherwise.
    EXPECT_EQ(ParseModelConfig(R"({"model_type": "mistral"})", "m").window, 4096U);
    EXPECT_EQ(ParseModelConfig(R"({"model_type": "mistral", "sliding_window": null})", "m").window,
              0U);
    // Llama has none, and no key for one.
    const ModelSpec llama = ParseModelConfig(g_dense + R"(, "sliding_window": 8, "foo": 1})", "m");
    EXPECT_EQ(llama.window, 0U);
    ASSERT_EQ(llama.warnings.size(), 1U);
    EXPECT_THAT(
        llama.warnings[0],
        HasSubstr(
            "m: 'foo' and 'sliding_window' are not read: LlamaConfig has no such key, or makes "
            "nothing of it"));
    // A slip is answered with what was looked for.
    const ModelSpec slip = ParseModelConfig(g_dense + R"(, "head_dimm": 64})", "m");
    ASSERT_EQ(slip.warnings.size(), 1U);
    EXPECT_THAT(slip.warnings[0], HasSubstr("Did you mean 'head_dim'?"));
    EXPECT_THAT(
        Refusal(g_dense + R"(, "layer_types": ["sliding_attention", "full_attention"]})").Where(),
        HasSubstr("layer_types"));
}

/// Llama 4: `layer_types` says of each layer whether it attends within chunks; without it
/// `no_rope_layers` does, 1 for a layer with rotary positions, and without that the interval.
TEST(ModelConfig, ChunksOfLlama4AreRead)
{
    const std::string four = R"({"model_type": "llama4_text", "num_hidden_layers": 4)";
    EXPECT_EQ(ParseModelConfig(four + "}", "m").fullAttentionEvery, 4U);
    EXPECT_EQ(ParseModelConfig(four + R"(, "no_rope_layers": []})", "m").fullAttentionEvery, 4U);
    EXPECT_EQ(ParseModelConfig(four + R"(, "no_rope_layer_interval": 2})", "m").fullAttentionEvery,
              2U);
    const ModelSpec all = ParseModelConfig(four + R"(, "no_rope_layers": [1, 1, 1, 1]})", "m");
    EXPECT_EQ(all.window, 8192U);
    EXPECT_TRUE(all.chunkedWindow);
    EXPECT_EQ(all.fullAttentionEvery, 0U);
    const ModelSpec none = ParseModelConfig(four + R"(, "no_rope_layers": [0, 0, 0, 0]})", "m");
    EXPECT_EQ(none.window, 0U);
    EXPECT_FALSE(none.chunkedWindow);
    EXPECT_EQ(ParseModelConfig(four + R"(, "attention_chunk_size": null})", "m").window, 0U);
    EXPECT_THAT(Refusal(four + R"(, "no_rope_layers": [0, 1, 1, 1]})").Where(),
                HasSubstr("no_rope_layers"));
    EXPECT_THAT(Refusal(four + R"(, "no_rope_layers": [1, 0]})").Problem(), HasSubstr("2 numbers"));
    const ModelSpec typed = ParseModelConfig(four + R"(, "no_rope_layers": [1, 1, 1, 1],
        "layer_types": ["chunked_attention", "full_attention", "chunked_attention",
        "full_attention"]})",
                                             "m");
    EXPECT_EQ(typed.fullAttentionEvery, 2U);
    // A model of the family without experts.
    EXPECT_THAT(Refusal(four + R"(, "num_local_experts": 0})").Problem(), HasSubstr("no experts"));
    const ModelSpec dense = ParseModelConfig(
        four + R"(, "num_local_experts": 0, "moe_layers": [], "interleave_moe_layer_step": 0})",
        "m");
    EXPECT_FALSE(dense.IsMoe());
    EXPECT_EQ(dense.denseFfn, 16384U);
    EXPECT_THAT(Refusal(four + R"(, "interleave_moe_layer_step": 0})").Where(),
                HasSubstr("interleave_moe_layer_step"));
}

/// 1,792 / 24 is no width: transformers refuses it, and so does a map.
TEST(ModelConfig, HeadsThatDoNotDivideTheWidthNeedOne)
{
    const std::string kanana = R"({"model_type": "llama", "hidden_size": 1792,
        "num_attention_heads": 24, "num_key_value_heads": 8)";
    const ConfigError refusal = Refusal(kanana + "}");
    EXPECT_THAT(refusal.Where(), HasSubstr("hidden_size"));
    EXPECT_THAT(refusal.Problem(), HasSubstr("no multiple of 24"));
    EXPECT_THAT(refusal.Remedy(), HasSubstr("head_dim"));
    EXPECT_EQ(ParseModelConfig(kanana + R"(, "head_dim": 128})", "m").headDim, 128U);
    // Classes with a width of their own do not divide.
    EXPECT_EQ(ParseModelConfig(R"({"model_type": "qwen3", "hidden_size": 1792,
        "num_attention_heads": 24, "num_key_value_heads": 8})",
                               "m")
                  .headDim,
              128U);
}

/// Both names of a key are read, but not with two values.
TEST(ModelConfig, SecondNamesOfKeysAreRead)
{
    const std::string five = R"({"model_type": "qwen3_moe", "num_local_experts": 64)";
    EXPECT_EQ(ParseModelConfig(five + "}", "m").experts, 64U);
    EXPECT_EQ(ParseModelConfig(five + R"(, "num_experts": 64})", "m").experts, 64U);
    EXPECT_THAT(Refusal(five + R"(, "num_experts": 128})").Problem(),
                HasSubstr("64, but num_experts is 128"));
}

/// What classes can be told and the model cannot have.
TEST(ModelConfig, WhatIsNotModelledIsRefusedByItsKey)
{
    for (const auto& [type, key, value] :
         {std::array<const char*, 3>{"deepseek_v3", "attention_bias", "true"},
          {"minimax_m2", "use_qk_norm", "false"},
          {"minimax_m2", "shared_intermediate_size", "64"},
          {"minimax_m2", "attn_type_list", "[0, 1]"},
          {"minimax_m2", "sliding_window", "64"},
          {"ernie4_5_moe", "moe_layer_end_index", "20"},
          {"llama", "is_encoder_decoder", "true"},
          {"llama", "per_layer_config", R"({"0": {"hidden_size": 8}})"},
          {"llama", "is_causal", "false"},
          {"gemma", "use_bidirectional_attention", "true"},
          {"llama4", "text_config", "null"},
          {"mistral3", "vision_config", "{}"}})
    {
        const std::string text =
            std::string(R"({"model_type": ")") + type + R"(", ")" + key + R"(": )" + value + "}";
        const std::string where = std::string(type) == "mistral3" ? "text_config" : key;
        EXPECT_EQ(Refusal(text).Where(), "config.json " + where) << type;
    }
}

/// The tied embedding of a model that also sees stands outside of its language model's part too.
TEST(ModelConfig, TiedEmbeddingOfNestedModels)
{
    const auto tied = [](const std::string& outer, const std::string& inner) {
        return ParseModelConfig(R"({"model_type": "qwen3_vl_moe")" + outer +
                                    R"(, "text_config": {"model_type": "qwen3_vl_moe_text")" +
                                    inner + "}}",
                                "m")
            .tiedEmbedding;
    };
    const std::string yes = R"(, "tie_word_embeddings": true)";
    const std::string no = R"(, "tie_word_embeddings": false)";
    EXPECT_FALSE(tied("", "")); // the outer class's default
    EXPECT_TRUE(tied(yes, ""));
    EXPECT_TRUE(tied("", yes));
    EXPECT_FALSE(tied(no, no));
    EXPECT_THROW(tied(yes, no), ConfigError);
    // Where the outer class is not known, its language model's class has the say: Gemma's ties.
    EXPECT_TRUE(
        ParseModelConfig(R"({"model_type": "looks", "text_config": {"model_type": "gemma"}})", "m")
            .tiedEmbedding);
}

} // namespace
} // namespace scaleacross
