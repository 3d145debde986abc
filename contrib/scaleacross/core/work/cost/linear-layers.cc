// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/cost/linear-layers.h"

namespace scaleacross
{

namespace
{

using Split = LinearLayer::Split;

std::vector<LinearLayer>
OfAttention(const ModelSpec& model)
{
    const double h = model.hidden;
    const double queries = static_cast<double>(model.heads) * model.headDim;
    const double values = static_cast<double>(model.heads) * model.ValueDim();
    const LinearLayer output{values, h, Split::Rows};
    if (!model.IsLatent())
    {
        return {{h, queries, Split::Columns},
                {h, static_cast<double>(model.kvHeads) * model.headDim, Split::Columns},
                {h, static_cast<double>(model.kvHeads) * model.ValueDim(), Split::Columns},
                output};
    }
    const double q = model.queryRank;
    const double c = model.kvRank;
    const double keysAndValues =
        model.heads * (static_cast<double>(model.headDim) - model.ropeDim + model.ValueDim());
    std::vector<LinearLayer> layers;
    if (q > 0)
    {
        layers = {{h, q, Split::Tokens}, {q, queries, Split::Columns}};
    }
    else
    {
        layers = {{h, queries, Split::Columns}};
    }
    layers.push_back({h, c + model.ropeDim, Split::Tokens});
    layers.push_back({c, keysAndValues, Split::Columns});
    layers.push_back(output);
    return layers;
}

/// Of the dense MLP or of the shared experts; there may be none.
std::vector<LinearLayer>
OfMlp(const ModelSpec& model, uint32_t layer)
{
    const double h = model.hidden;
    const auto width =
        static_cast<double>(model.IsMoeLayer(layer) ? model.sharedFfn : model.denseFfn);
    if (width == 0)
    {
        return {};
    }
    const LinearLayer up{h, width, Split::Columns};
    const LinearLayer down{width, h, Split::Rows};
    return model.gatedMlp ? std::vector<LinearLayer>{up, up, down}
                          : std::vector<LinearLayer>{up, down};
}

} // namespace

RepeatedLinears
AlternateLinears(const ModelSpec& model, uint32_t layer)
{
    const auto attention = OfAttention(model);
    const auto mlp = OfMlp(model, layer);
    RepeatedLinears repeated;
    // Behind the output of attention there may be routed experts alone, which need it.
    const bool isLast = !model.IsMoeLayer(layer) || !mlp.empty();
    const size_t end = attention.size() + mlp.size() - (isLast ? 1 : 0);
    for (size_t i = 1; i < end; i += 2)
    {
        if (i < attention.size())
        {
            repeated.attention.push_back(attention[i]);
        }
        else
        {
            repeated.mlp.push_back(mlp[i - attention.size()]);
        }
    }
    return repeated;
}

std::vector<LinearLayer>
JoinedLinears(const ModelSpec& model, uint32_t layer)
{
    auto joined = OfAttention(model);
    if (!model.IsLatent())
    {
        // Q, K, V, output.
        joined = {{joined[0].in, joined[0].out + joined[1].out + joined[2].out, Split::Columns},
                  joined[3]};
    }
    const auto mlp = OfMlp(model, layer);
    if (mlp.size() == 3)
    {
        joined.push_back({mlp[0].in, mlp[0].out + mlp[1].out, Split::Columns});
        joined.push_back(mlp[2]);
    }
    else
    {
        joined.insert(joined.end(), mlp.begin(), mlp.end());
    }
    return joined;
}

} // namespace scaleacross
