// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/stack-reader.h"

#include "core/io/map-reader.h"

namespace scaleacross
{

SoftwareStack
ReadStack(const YamlNode& node, const std::string& path)
{
    if (node.kind != YamlNode::Kind::Map)
    {
        return ParseScalar(node, path, SoftwareStackOf);
    }
    const MapReader map(node, path, WithKeys({"preset"}, SoftwareStack::Fields()));
    SoftwareStack stack;
    map.Get("preset", stack, SoftwareStackOf);
    ReadFields(map, SoftwareStack::Fields(), stack);
    return stack;
}

} // namespace scaleacross
