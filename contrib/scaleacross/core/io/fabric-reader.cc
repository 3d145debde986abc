// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/fabric-reader.h"

#include "core/io/map-reader.h"
#include "core/io/presets.h"

namespace scaleacross
{

FabricSpec
ReadFabric(const YamlNode& node, const std::string& path, const FileChain& from)
{
    if (node.kind == YamlNode::Kind::Scalar)
    {
        return ReadNamed<FabricSpec>(node, path, from);
    }
    const MapReader map(node, path, WithKeys({"preset"}, FabricSpec::Fields()));
    FabricSpec fabric;
    if (const YamlNode* preset = map.Find("preset"); preset != nullptr)
    {
        fabric = ReadNamed<FabricSpec>(*preset, map.PathOf("preset"), from);
    }
    ReadFields(map, FabricSpec::Fields(), fabric);
    return fabric;
}

} // namespace scaleacross
