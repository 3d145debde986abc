// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/gpu-reader.h"

#include "core/io/map-reader.h"
#include "core/io/presets.h"

namespace scaleacross
{

GpuSpec
ReadGpu(const YamlNode& node, const std::string& path, const FileChain& from)
{
    if (node.kind != YamlNode::Kind::Map)
    {
        return ReadNamed<GpuSpec>(node, path, from);
    }
    const MapReader map(node, path, WithKeys({"preset", "curve"}, GpuSpec::Fields()));
    GpuSpec gpu;
    gpu.name = "custom";
    if (const YamlNode* preset = map.Find("preset"); preset != nullptr)
    {
        gpu = ReadNamed<GpuSpec>(*preset, map.PathOf("preset"), from);
    }
    if (const YamlNode* curve = map.Find("curve"); curve != nullptr)
    {
        gpu.Take(ReadCurve(*curve, map.PathOf("curve"), from));
    }
    ReadFields(map, GpuSpec::Fields(), gpu);
    return gpu;
}

GpuCurve
ReadCurve(const YamlNode& node, const std::string& path, const FileChain& from)
{
    if (node.kind != YamlNode::Kind::Map)
    {
        return ReadNamed<GpuCurve>(node, path, from);
    }
    const MapReader map(node, path, WithKeys({"preset"}, GpuCurve::Fields()));
    GpuCurve curve;
    if (const YamlNode* preset = map.Find("preset"); preset != nullptr)
    {
        curve = ReadNamed<GpuCurve>(*preset, map.PathOf("preset"), from);
    }
    ReadFields(map, GpuCurve::Fields(), curve);
    return curve;
}

} // namespace scaleacross
