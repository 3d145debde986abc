// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/presets.h"
#include "core/spec/head-split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

ModelSpec
HeadsOf(uint32_t heads, uint32_t kvHeads, uint32_t headDim = 128)
{
    ModelSpec model;
    model.heads = heads;
    model.kvHeads = kvHeads;
    model.headDim = headDim;
    return model;
}

std::string
ProblemOf(const ModelSpec& model, const std::string& stack, uint32_t tp)
{
    const auto bad = CheckHeads(model, PresetNamed<SoftwareStack>(stack), tp);
    return bad ? bad->reason + ": " + bad->detail : "";
}

} // namespace

// Which software takes tp above the KV heads: Megatron Core from 0.16 on (transformer_config.py
// wants num_query_groups to be a multiple or a divisor of tp; 0.15 wanted a multiple); not
// TorchTitan (models/common/decoder.py) nor Transformer Engine's MultiheadAttention, nor
// Megatron-LM before there were query groups. Of MaxText, PaxML and llm-foundry it is not known.
TEST(HeadSplit, SoftwareThatRepeatsKvHeads)
{
    for (const auto& [stack, repeats] : {std::pair<const char*, bool>{"fused", true},
                                         {"megatron-core", true},
                                         {"megatron-core-nccl", true},
                                         {"megatron-core-padded", true},
                                         {"megatron-2021", false},
                                         {"megatron-2022", false},
                                         {"torch-compile", false},
                                         {"torch-eager", false},
                                         {"torch-fsdp", false},
                                         {"torch-te", false},
                                         {"maxtext", false},
                                         {"paxml", false}})
    {
        EXPECT_EQ(PresetNamed<SoftwareStack>(stack).repeatsKvHeads, repeats) << stack;
    }
}

TEST(HeadSplit, DegreesDivideQueriesAndDivideOrMultiplyKeys)
{
    const auto of = [](const ModelSpec& model, const std::string& stack) {
        return HeadSplits(model, PresetNamed<SoftwareStack>(stack));
    };
    // Qwen3-30B-A3B, 32 query heads and 4 KV heads.
    const ModelSpec qwen = PresetNamed<ModelSpec>("qwen3-30b-a3b");
    EXPECT_THAT(of(qwen, "megatron-core"), ElementsAre(1, 2, 4, 8, 16, 32));
    EXPECT_THAT(of(qwen, "torch-compile"), ElementsAre(1, 2, 4));
    // 24 and 6: 4, 8 neither divide 6 nor are multiples of it.
    EXPECT_THAT(of(HeadsOf(24, 6), "megatron-core"), ElementsAre(1, 2, 3, 6, 12, 24));
    EXPECT_THAT(of(HeadsOf(24, 6), "torch-compile"), ElementsAre(1, 2, 3, 6));
    // Nothing to repeat: heads and KV heads are the same.
    EXPECT_THAT(of(HeadsOf(6, 6), "megatron-core"), ElementsAre(1, 2, 3, 6));
    // (8 + 2) x 2 = 20 columns: 1, 2 and 4 divide them, 8 does not.
    EXPECT_THAT(of(HeadsOf(8, 1, 2), "megatron-core"), ElementsAre(1, 2, 4));
}

TEST(HeadSplit, SaysWhatStandsAgainstADegreeAndWhatToTake)
{
    const ModelSpec qwen = PresetNamed<ModelSpec>("qwen3-30b-a3b");
    EXPECT_EQ(ProblemOf(qwen, "megatron-core", 8), "");
    EXPECT_EQ(
        ProblemOf(qwen, "torch-compile", 8),
        "heads: plan.tp 8 is more than the 4 KV heads, which workload.stack torch-compile does "
        "not repeat (repeats_kv_heads: false): take tp 1, 2 or 4, or a stack that repeats KV "
        "heads, as Megatron Core does from 0.16 on");
    EXPECT_EQ(ProblemOf(qwen, "megatron-core", 64),
              "heads: plan.tp 64 does not divide the 32 query heads: take tp 1, 2, 4, 8, 16 or 32");
    EXPECT_EQ(ProblemOf(HeadsOf(24, 6), "megatron-core", 4),
              "heads: plan.tp 4 and the 6 KV heads: neither divides the other: take tp 1, 2, 3, 6, "
              "12 or 24");
    EXPECT_THAT(ProblemOf(HeadsOf(8, 1, 2), "megatron-core", 8),
                HasSubstr("does not divide the 20 columns of queries, keys and values together: "
                          "take tp 1, 2 or 4"));
}

} // namespace scaleacross
