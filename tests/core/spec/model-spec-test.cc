// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/presets.h"
#include "core/spec/model-spec.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace scaleacross
{
namespace
{

/// Two layers, the second one MoE, every dimension a different small number.
ModelSpec
Small()
{
    ModelSpec model;
    model.name = "small";
    model.layers = 2;
    model.hidden = 6;
    model.heads = 4;
    model.kvHeads = 2;
    model.headDim = 3;
    model.denseFfn = 10;
    model.experts = 5;
    model.topK = 2;
    model.expertFfn = 7;
    model.sharedFfn = 8;
    model.moeEvery = 2;
    model.vocabulary = 11;
    return model;
}

std::string
RefusedKey(const ModelSpec& model)
{
    try
    {
        model.Validate();
    }
    catch (const ConfigError& error)
    {
        return error.Where();
    }
    return "";
}

TEST(ModelSpec, ParametersByHand)
{
    const ModelSpec model = Small();
    EXPECT_FALSE(model.IsMoeLayer(0));
    EXPECT_TRUE(model.IsMoeLayer(1));
    EXPECT_EQ(model.MoeLayers(), 1U);
    // Attention 2h(ad) + 2h(gd) = 2*6*12 + 2*6*6 = 216, norms 2h = 12, MLP 3hf = 180.
    EXPECT_EQ(model.DenseParametersOfLayer(0), 216U + 12 + 180);
    EXPECT_EQ(model.ExpertParametersOfLayer(0), 0U);
    // Shared expert 3*6*8 = 144, router hE = 30; experts 3*6*7*5 = 630.
    EXPECT_EQ(model.DenseParametersOfLayer(1), 216U + 12 + 144 + 30);
    EXPECT_EQ(model.ExpertParametersOfLayer(1), 630U);
    EXPECT_EQ(model.EmbeddingParameters(), 66U);
    EXPECT_EQ(model.HeadParameters(), 66U + 6);
    EXPECT_EQ(model.TotalParameters(), 408U + 402 + 630 + 66 + 72);
    // Two of the five experts.
    EXPECT_EQ(model.ActiveParameters(), 408U + 402 + 252 + 66 + 72);
}

TEST(ModelSpec, TiedEmbeddingAndPlainMlp)
{
    ModelSpec model = Small();
    model.tiedEmbedding = true;
    EXPECT_EQ(model.HeadParameters(), 6U);
    model.gatedMlp = false;
    EXPECT_EQ(model.DenseParametersOfLayer(0), 216U + 12 + 120);
    EXPECT_EQ(model.ExpertParametersOfLayer(1), 420U);
}

TEST(ModelSpec, LatentAttentionByHand)
{
    ModelSpec model = Small();
    model.kvHeads = 4;
    model.queryRank = 9;
    model.kvRank = 7;
    model.ropeDim = 1;
    model.valueDim = 5;
    // h = 6, a = 4, d = 3. Queries 6*9 + 9 + 9*12 = 171; keys and values 6*(7+1) + 7 +
    // 7*4*(2+5) = 251; output 20*6 = 120.
    EXPECT_EQ(model.AttentionParameters(), 171U + 251 + 120);
    model.queryRank = 0; // queries straight from the hidden state: 6*12
    EXPECT_EQ(model.AttentionParameters(), 72U + 251 + 120);
    EXPECT_EQ(RefusedKey(model), "");
    model.kvHeads = 2;
    EXPECT_EQ(RefusedKey(model), "model.kv_heads");
    model = Small();
    model.valueDim = 5;
    EXPECT_EQ(RefusedKey(model), "model.value_dim");
}

TEST(ModelSpec, BiasesNormsAndSinksByHand)
{
    ModelSpec model = Small();
    const uint64_t plain = model.TotalParameters();
    model.queryKeyNorm = true; // 2d = 6 in both layers
    EXPECT_EQ(model.TotalParameters(), plain + 2 * 6);
    model.attentionSinks = true; // a = 4
    EXPECT_EQ(model.TotalParameters(), plain + 2 * (6 + 4));
    model.attentionBias = true; // (a + 2g) d + h = 8*3 + 6
    EXPECT_EQ(model.TotalParameters(), plain + 2 * (6 + 4 + 30));
    // Dense 2f + h = 26; MoE: shared 2*8 + 6 = 22, five experts of 2*7 + 6 = 20, router 5.
    model.mlpBias = true;
    EXPECT_EQ(model.TotalParameters(), plain + 2 * 40 + 26 + 22 + 100 + 5);
}

TEST(ModelSpec, LeadingDenseLayers)
{
    ModelSpec model = Small();
    model.layers = 7;
    model.moeEvery = 2;
    model.leadingDense = 2; // of 1, 3, 5 the first is dense
    EXPECT_FALSE(model.IsMoeLayer(1));
    EXPECT_TRUE(model.IsMoeLayer(3));
    uint32_t counted = 0;
    for (uint32_t layer = 0; layer < model.layers; layer++)
    {
        counted += model.IsMoeLayer(layer) ? 1 : 0;
    }
    EXPECT_EQ(counted, 2U);
    EXPECT_EQ(model.MoeLayers(), 2U);
    model.leadingDense = 7;
    EXPECT_EQ(RefusedKey(model), "model.leading_dense");
    model.experts = 0;
    model.topK = model.moeEvery = 0;
    model.expertFfn = model.sharedFfn = 0;
    EXPECT_EQ(RefusedKey(model), "model.leading_dense");
}

TEST(ModelSpec, PairsOfWindowedAttention)
{
    // Counted one by one: token i sees itself as half a pair (the formulas are s^2 / 2, not
    // s (s + 1) / 2) and the tokens before it that the window leaves.
    ModelSpec model = Small();
    const auto count = [&model](uint32_t sequence) {
        double pairs = 0;
        for (uint32_t query = 0; query < sequence; query++)
        {
            for (uint32_t key = 0; key < query; key++)
            {
                const bool seen = model.chunkedWindow ? query / model.window == key / model.window
                                                      : query - key < model.window;
                pairs += seen ? 1 : 0;
            }
            pairs += 0.5;
        }
        return pairs;
    };
    model.window = 16;
    model.fullAttentionEvery = 2;
    EXPECT_TRUE(model.IsWindowedLayer(0));
    EXPECT_FALSE(model.IsWindowedLayer(1));
    EXPECT_EQ(model.AttentionPairs(100, 1), 5000);
    EXPECT_EQ(model.AttentionPairs(10, 0), 50); // shorter than the window
    // A window of w keeps w - 1 earlier tokens of each: w s - w^2 / 2 is half a token more.
    EXPECT_NEAR(model.AttentionPairs(100, 0), count(100), 100 * 0.5);
    model.chunkedWindow = true;
    EXPECT_EQ(model.AttentionPairs(100, 0), count(100));
    EXPECT_EQ(model.AttentionPairs(100, 0), 6 * 128 + 8);
    // Four kinds of layers at most.
    EXPECT_EQ(model.KindOf(0), 2U);
    EXPECT_EQ(model.KindOf(1), 1U);
    model.window = 0;
    EXPECT_EQ(RefusedKey(model), "model.chunked_window");
}

// Published: 8.03B, 70.55B and 405.85B parameters.
TEST(ModelSpec, Llama3Totals)
{
    // 8B: attention 2*4096^2 + 2*4096*1024 = 41,943,040; MLP 3*4096*14336 = 176,160,768; norms
    // 8,192: 218,112,000 a layer, 32 layers 6,979,584,000; twice 128256*4096 = 1,050,673,152; norm
    // 4,096.
    EXPECT_EQ(ModelPreset("llama3-8b").TotalParameters(), 8'030'261'248U);
    // 70B: 2*8192^2 + 2*8192*1024 = 150,994,944; 3*8192*28672 = 704,643,072; 16,384: 855,654,400 a
    // layer, 80 layers 68,452,352,000; embedding and head 2,101,346,304; norm 8,192.
    EXPECT_EQ(ModelPreset("llama3-70b").TotalParameters(), 70'553'706'496U);
    // 405B: 2*16384^2 + 2*16384*1024 = 570,425,344; 3*16384*53248 = 2,617,245,696; 32,768:
    // 3,187,703,808 a layer, 126 layers 401,650,679,808; 4,202,692,608; norm 16,384.
    EXPECT_EQ(ModelPreset("llama3-405b").TotalParameters(), 405'853'388'800U);
    EXPECT_EQ(ModelPreset("llama3-405b").ActiveParameters(), 405'853'388'800U);
}

// Published: Scout 109B, Maverick 400B in all (with the vision encoder), 17B active.
TEST(ModelSpec, Llama4Totals)
{
    // Attention 2*5120^2 + 2*5120*1024 = 62,914,560; norms 10,240; one expert 3*5120*8192 =
    // 125,829,120, of which one is shared; router 5120*E. Embedding and head 2*202048*5120 =
    // 2,068,971,520, norm 5,120.
    const uint64_t common = 62'914'560 + 10'240;
    const uint64_t expert = 125'829'120;
    const uint64_t ends = 2'068'971'520 + 5'120;
    const uint64_t scout = 48 * (common + expert + 5120 * 16 + 16 * expert) + ends;
    EXPECT_EQ(scout, 107'769'861'120U); // 107.8B
    EXPECT_EQ(ModelPreset("llama4-scout").TotalParameters(), scout);
    EXPECT_EQ(ModelPreset("llama4-scout").ActiveParameters(), scout - 48 * 15 * expert);
    EXPECT_EQ(ModelPreset("llama4-scout").MoeLayers(), 48U);

    // Every second layer is MoE; the others have an MLP of 3*5120*16384 = 251,658,240.
    const uint64_t maverick =
        24 * (common + expert + 5120 * 128 + 128 * expert) + 24 * (common + 251'658'240) + ends;
    EXPECT_EQ(maverick, 400'711'848'960U); // 400.7B
    EXPECT_EQ(ModelPreset("llama4-maverick").TotalParameters(), maverick);
    EXPECT_EQ(ModelPreset("llama4-maverick").ActiveParameters(), maverick - 24 * 127 * expert);
    EXPECT_EQ(ModelPreset("llama4-maverick").MoeLayers(), 24U);

    for (const auto* name : {"llama4-scout", "llama4-maverick"})
    {
        EXPECT_NEAR(static_cast<double>(ModelPreset(name).ActiveParameters()), 17e9, 0.3e9);
    }
}

// Published by llm-foundry's benchmarks (README.md at 8c8dd48) for sequences of 2,048, whose
// positions are learned: 2,048 h. Its layers have biases of projections, 9 h, and of norms, 2 h,
// the last norm h: presets leave them out.
TEST(ModelSpec, MptTotals)
{
    const std::map<std::string, uint64_t> published = {{"mpt-125m", 125'311'488},
                                                       {"mpt-350m", 355'985'408},
                                                       {"mpt-760m", 760'470'528},
                                                       {"mpt-1b", 1'315'950'592},
                                                       {"mpt-3b", 2'651'837'440},
                                                       {"mpt-7b", 6'658'859'008},
                                                       {"mpt-13b", 12'853'954'560},
                                                       {"mpt-30b", 29'975'214'080},
                                                       {"mpt-70b", 64'862'437'376}};
    for (const auto& [name, total] : published)
    {
        const ModelSpec model = ModelPreset(name);
        const uint64_t h = model.hidden;
        EXPECT_EQ(model.TotalParameters() + (11 * model.layers + 1) * h + 2048 * h, total) << name;
    }
}

TEST(ModelSpec, GroupsOfExpertsHaveToHoldThoseOfAToken)
{
    ModelSpec model = ModelPreset("deepseek-v3");
    EXPECT_EQ(RefusedKey(model), "");
    model.expertGroups = 7; // of 256 experts
    EXPECT_EQ(RefusedKey(model), "model.expert_groups");
    model.expertGroups = 64;
    model.topKGroups = 1; // 4 experts for 8
    EXPECT_EQ(RefusedKey(model), "model.top_k_groups");
    model.topKGroups = 65;
    EXPECT_EQ(RefusedKey(model), "model.top_k_groups");
    model.topKGroups = 0;
    EXPECT_EQ(RefusedKey(model), "model.top_k_groups");
    model.expertGroups = 0;
    EXPECT_EQ(RefusedKey(model), "");
    model.topKGroups = 2;
    EXPECT_EQ(RefusedKey(model), "model.top_k_groups");
    ModelSpec dense = ModelPreset("llama3-8b");
    dense.expertGroups = 8;
    EXPECT_EQ(RefusedKey(dense), "model.expert_groups");
}

TEST(ModelSpec, ValidateNamesTheField)
{
    EXPECT_EQ(RefusedKey(Small()), "");
    const auto changed = [](auto change) {
        ModelSpec model = Small();
        change(model);
        return RefusedKey(model);
    };
    EXPECT_EQ(changed([](auto& m) { m.layers = 0; }), "model.layers");
    EXPECT_EQ(changed([](auto& m) { m.hidden = 0; }), "model.hidden");
    EXPECT_EQ(changed([](auto& m) { m.kvHeads = 3; }), "model.kv_heads");
    EXPECT_EQ(changed([](auto& m) { m.kvHeads = 8; }), "model.kv_heads");
    EXPECT_EQ(changed([](auto& m) { m.topK = 6; }), "model.top_k");
    EXPECT_EQ(changed([](auto& m) { m.moeEvery = 0; }), "model.moe_every");
    EXPECT_EQ(changed([](auto& m) { m.expertFfn = 0; }), "model.expert_ffn");
    EXPECT_EQ(changed([](auto& m) { m.denseFfn = 0; }), "model.dense_ffn");
    EXPECT_EQ(changed([](auto& m) { m.moeEvery = 1; }), "model.dense_ffn");
    EXPECT_EQ(changed([](auto& m) { m.experts = 0; }), "model.top_k");
    EXPECT_EQ(changed([](auto& m) { m.vocabulary = 0; }), "model.vocabulary");
}

TEST(ModelSpec, RefusesMoreParametersThanCanBeCounted)
{
    ModelSpec model = Small();
    model.layers = 4096;
    model.moeEvery = 1;
    model.denseFfn = 0;
    model.hidden = 1U << 18;
    model.experts = 1U << 14;
    model.expertFfn = 1U << 22;
    EXPECT_EQ(RefusedKey(model), "model");
}

} // namespace
} // namespace scaleacross
