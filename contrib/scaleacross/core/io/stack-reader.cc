// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/stack-reader.h"

#include "core/io/map-reader.h"
#include "core/io/presets.h"

namespace scaleacross
{

SoftwareStack
ReadStack(const YamlNode& node, const std::string& path, const FileChain& from)
{
    if (node.kind != YamlNode::Kind::Map)
    {
        return ReadNamed<SoftwareStack>(node, path, from);
    }
    const MapReader map(node, path, WithKeys({"preset"}, SoftwareStack::Fields()));
    SoftwareStack stack;
    if (const YamlNode* preset = map.Find("preset"); preset != nullptr)
    {
        stack = ReadNamed<SoftwareStack>(*preset, map.PathOf("preset"), from);
    }
    ReadFields(map, SoftwareStack::Fields(), stack);
    return stack;
}

} // namespace scaleacross
