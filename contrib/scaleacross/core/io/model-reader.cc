// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/model-reader.h"

#include "core/io/map-reader.h"
#include "core/io/model-config.h"
#include "core/spec/presets.h"

#include <filesystem>

namespace scaleacross
{

namespace
{

bool
IsPath(const std::string& name)
{
    const std::string suffix = ".json";
    return name.find('/') != std::string::npos ||
           (name.size() > suffix.size() &&
            name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0);
}

/// A preset or a config.json by name.
ModelSpec
NamedModel(const YamlNode& node, const std::string& path, const std::string& folder)
{
    const std::string& name = ScalarText(node, path);
    try
    {
        if (!IsPath(name))
        {
            return ModelPreset(name);
        }
        ModelSpec model = ReadModelConfig((std::filesystem::path(folder) / name).string());
        model.name = name;
        return model;
    }
    catch (const ConfigError& error)
    {
        if (!IsPath(name))
        {
            throw ConfigError(node.Place() + " " + path,
                              error.Problem(),
                              error.Allowed() + ", or a path to a config.json",
                              error.Remedy());
        }
        throw error.At(node.Place() + " " + path + ": " + error.Where());
    }
}

} // namespace

ModelSpec
ReadModel(const YamlNode& node, const std::string& path, const std::string& folder)
{
    if (node.kind != YamlNode::Kind::Map)
    {
        return NamedModel(node, path, folder);
    }
    const MapReader map(node, path, WithKeys({"preset"}, ModelSpec::Fields()));
    ModelSpec model;
    if (const YamlNode* preset = map.Find("preset"); preset != nullptr)
    {
        model = NamedModel(*preset, map.PathOf("preset"), folder);
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
    if ((heads || map.Find("hidden") != nullptr) && map.Find("head_dim") == nullptr)
    {
        model.headDim = model.hidden / model.heads;
    }
    if (model.IsMoe() && model.moeEvery == 0 && map.Find("moe_every") == nullptr)
    {
        model.moeEvery = 1;
    }
    return model;
}

} // namespace scaleacross
