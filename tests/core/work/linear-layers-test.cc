// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/presets.h"
#include "core/work/cost/linear-layers.h"

#include <gmock/gmock.h>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::IsEmpty;
using Split = LinearLayer::Split;

bool
operator==(const LinearLayer& a, const LinearLayer& b)
{
    return a.in == b.in && a.out == b.out && a.split == b.split;
}

testing::Matcher<LinearLayer>
Is(const LinearLayer& layer)
{
    return testing::Truly([layer](const LinearLayer& other) { return other == layer; });
}

TEST(LinearLayers, EverySecondOfAGatedLayer)
{
    // Q, K, V, output, gate, up, down.
    const auto layers = AlternateLinears(ModelPreset("llama3-8b"), 0);
    EXPECT_THAT(layers.attention,
                ElementsAre(Is({4096, 1024, Split::Columns}), Is({4096, 4096, Split::Rows})));
    EXPECT_THAT(layers.mlp, ElementsAre(Is({4096, 14336, Split::Columns})));
}

TEST(LinearLayers, TheLastIsNotAmongThem)
{
    // GELU: the sixth of Q, K, V, output, up, down would be.
    ModelSpec model = ModelPreset("llama3-8b");
    model.gatedMlp = false;
    EXPECT_EQ(AlternateLinears(model, 0).attention.size(), 2U);
    EXPECT_THAT(AlternateLinears(model, 0).mlp, IsEmpty());
}

TEST(LinearLayers, LatentAttentionAndExperts)
{
    // Q down, Q up, KV down, KV up, output, gate, up, down; a MoE layer's MLP is its shared expert.
    const ModelSpec& model = ModelPreset("deepseek-v3");
    const auto dense = AlternateLinears(model, 0);
    EXPECT_THAT(dense.attention,
                ElementsAre(Is({1536, 128 * 192, Split::Columns}),
                            Is({512, 128 * (128 + 128), Split::Columns})));
    EXPECT_THAT(dense.mlp, ElementsAre(Is({7168, 18432, Split::Columns})));
    EXPECT_THAT(AlternateLinears(model, 10).mlp, ElementsAre(Is({7168, 2048, Split::Columns})));
    // Without shared experts the output is the last, and the routed ones behind it need it.
    const auto mixture = AlternateLinears(ModelPreset("mixtral-8x7b"), 0);
    EXPECT_THAT(mixture.attention,
                ElementsAre(Is({4096, 1024, Split::Columns}), Is({4096, 4096, Split::Rows})));
    EXPECT_THAT(mixture.mlp, IsEmpty());
}

} // namespace

} // namespace scaleacross
