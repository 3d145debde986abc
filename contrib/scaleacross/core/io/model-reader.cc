// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/model-reader.h"

#include "core/io/map-reader.h"
#include "core/io/presets.h"

namespace scaleacross
{

ModelSpec
ReadModel(const YamlNode& node, const std::string& path, const FileChain& from)
{
    if (node.kind != YamlNode::Kind::Map)
    {
        return ReadNamed<ModelSpec>(node, path, from);
    }
    const MapReader map(node, path, WithKeys({"preset"}, ModelSpec::Fields()));
    ModelSpec model;
    if (const YamlNode* preset = map.Find("preset"); preset != nullptr)
    {
        model = ReadNamed<ModelSpec>(*preset, map.PathOf("preset"), from);
    }
    else
    {
        model.name = "custom";
    }
    ReadFields(map, ModelSpec::Fields(), model);
    // As many key and value heads as query heads, and heads that share the width, unless said.
    const bool heads = map.Find("heads") != nullptr;
    if (heads && map.Find("kv_heads") == nullptr)
    {
        model.kvHeads = model.heads;
    }
    const bool isWidthGiven = map.Find("hidden") != nullptr;
    if ((heads || isWidthGiven) && map.Find("head_dim") == nullptr && model.heads > 0)
    {
        if (model.hidden % model.heads != 0)
        {
            const char* const key = heads ? "heads" : "hidden";
            FailAt(*map.Find(key),
                   map.PathOf(key),
                   "the hidden width of " + std::to_string(model.hidden) + " is no multiple of " +
                       std::to_string(model.heads) + " heads, and head_dim is left out",
                   "heads that divide hidden, or a head_dim",
                   "give head_dim, the width of a head, as the model has it");
        }
        model.headDim = model.hidden / model.heads;
    }
    if (model.IsMoe() && model.moeEvery == 0 && map.Find("moe_every") == nullptr)
    {
        model.moeEvery = 1;
    }
    return model;
}

} // namespace scaleacross
