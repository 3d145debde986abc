// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/stack-reader.h"

#include "core/io/map-reader.h"

namespace scaleacross
{

namespace
{

/// A time for which the host can be busy with one layer; a second is a slip of the unit.
Duration
ParseHostTime(const std::string& text)
{
    const Duration most = Duration::Microseconds(1000000);
    const Duration value = ParseDuration(text);
    if (value < Duration() || value > most)
    {
        throw ValueError(Quoted(text) + " is out of range", "0s to " + ExactText(most), "");
    }
    return value;
}

} // namespace

SoftwareStack
ReadStack(const YamlNode& node, const std::string& path)
{
    if (node.kind != YamlNode::Kind::Map)
    {
        return ParseScalar(node, path, SoftwareStackOf);
    }
    const MapReader map(node,
                        path,
                        {"preset",
                         "name",
                         "elementwise",
                         "flash_attention",
                         "score_passes",
                         "sequence_parallel",
                         "joined_projections",
                         "gathers_for_weights",
                         "overlaps_tensor_reduction",
                         "accumulation",
                         "optimizer_bytes",
                         "host_per_layer"});
    SoftwareStack stack;
    map.Get("preset", stack, SoftwareStackOf);
    map.Get("name", stack.name, [](const std::string& text) { return text; });
    map.Get("elementwise", stack.elementwise, Number(1, 1000));
    map.Get("flash_attention", stack.flashAttention, ParseBool);
    map.Get("score_passes", stack.scorePasses, Number(0, 1000));
    map.Get("sequence_parallel", stack.sequenceParallel, ParseBool);
    map.Get("joined_projections", stack.joinedProjections, ParseBool);
    map.Get("gathers_for_weights", stack.gathersForWeights, ParseBool);
    map.Get("overlaps_tensor_reduction", stack.overlapsTensorReduction, ParseBool);
    map.Get("accumulation", stack.accumulation, Number(0, 1000));
    map.Get("optimizer_bytes", stack.optimizerBytes, Number(0, 10000));
    map.Get("host_per_layer", stack.hostPerLayer, ParseHostTime);
    return stack;
}

} // namespace scaleacross
