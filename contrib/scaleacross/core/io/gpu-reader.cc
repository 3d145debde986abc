// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/gpu-reader.h"

#include "core/io/map-reader.h"
#include "core/io/presets.h"

#include <utility>

namespace scaleacross
{

namespace
{

/// Keys of before, when every GPU was one vendor's, and what to do about each.
const std::pair<const char*, const char*> g_former[] = {
    {"nvlink_bandwidth", "it is called scale_up_bandwidth now"},
    {"nvlink_latency", "it is called scale_up_latency now"},
    {"nvlink_efficiency", "it is called scale_up_efficiency now"},
    {"collective_share",
     "give collective_processors, a number out of processors: 20 are a share of 20 / 132 of an "
     "h100"},
};

void
RefuseFormerKeys(const YamlNode& node, const std::string& path)
{
    for (const auto& [key, remedy] : g_former)
    {
        if (const YamlNode* value = node.Find(key); value != nullptr)
        {
            FailAt(*value,
                   path.empty() ? key : path + "." + key,
                   "there is no such key any more",
                   "",
                   remedy);
        }
    }
}

} // namespace

GpuSpec
ReadGpu(const YamlNode& node, const std::string& path, const FileChain& from)
{
    if (node.kind != YamlNode::Kind::Map)
    {
        return ReadNamed<GpuSpec>(node, path, from);
    }
    RefuseFormerKeys(node, path);
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
    RefuseFormerKeys(node, path);
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
