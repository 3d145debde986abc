// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/layer-layout.h"

#include "core/base/text.h"

#include <algorithm>

namespace scaleacross
{

const char* const kLayerLayoutAllowed =
    "auto, or the layers of every position in the order of the pipeline, as in 7+8x14+7";

namespace
{

const std::string g_auto = "auto";

[[noreturn]] void
Refuse(const std::string& text, const std::string& why, const std::string& remedy)
{
    throw ValueError(Quoted(text) + ": " + why, kLayerLayoutAllowed, remedy);
}

/// A number that `text` has in it.
uint32_t
NumberOf(const std::string& text, const std::string& number, uint32_t least, uint32_t most)
{
    try
    {
        return static_cast<uint32_t>(ParseWhole(number, least, most));
    }
    catch (const ValueError&)
    {
        Refuse(text,
               Quoted(number) + " is not a whole number from " + std::to_string(least) + " to " +
                   std::to_string(most),
               "join positions by +; 8x14 is 8 layers on each of 14");
    }
}

LayerLayout::Run
ParseRun(const std::string& text, const std::string& part)
{
    const size_t times = part.find('x');
    LayerLayout::Run run;
    run.layers = NumberOf(text, part.substr(0, times), 0, LayerLayout::kMostLayers);
    if (times != std::string::npos)
    {
        run.positions = NumberOf(text, part.substr(times + 1), 1, LayerLayout::kMostPositions);
    }
    return run;
}

/// Adds positions at the end.
void
Append(std::vector<LayerLayout::Run>& runs, const LayerLayout::Run& run)
{
    if (!runs.empty() && runs.back().layers == run.layers)
    {
        runs.back().positions += run.positions;
        return;
    }
    runs.push_back(run);
}

} // namespace

uint64_t
LayerLayout::Positions() const
{
    uint64_t positions = 0;
    for (const Run& run : runs)
    {
        positions += run.positions;
    }
    return positions;
}

uint64_t
LayerLayout::Layers() const
{
    uint64_t layers = 0;
    for (const Run& run : runs)
    {
        layers += uint64_t{run.layers} * run.positions;
    }
    return layers;
}

std::vector<uint32_t>
LayerLayout::Counts() const
{
    std::vector<uint32_t> counts;
    for (const Run& run : runs)
    {
        counts.insert(counts.end(), run.positions, run.layers);
    }
    return counts;
}

LayerLayout
LayerLayout::Of(const std::vector<uint32_t>& counts)
{
    LayerLayout layout;
    for (const uint32_t layers : counts)
    {
        Append(layout.runs, {layers, 1});
    }
    return layout;
}

LayerLayout
LayerLayout::Parse(const std::string& text)
{
    LayerLayout layout;
    if (text == g_auto)
    {
        return layout;
    }
    uint64_t positions = 0;
    for (size_t begin = 0; begin <= text.size();)
    {
        const size_t end = std::min(text.find('+', begin), text.size());
        const Run run = ParseRun(text, text.substr(begin, end - begin));
        positions += run.positions;
        if (positions > kMostPositions)
        {
            Refuse(text,
                   "more than " + std::to_string(kMostPositions) + " positions",
                   "there are as many as pp x chunks");
        }
        Append(layout.runs, run);
        begin = end + 1;
    }
    return layout;
}

bool
operator==(const LayerLayout& a, const LayerLayout& b)
{
    return std::equal(a.runs.begin(),
                      a.runs.end(),
                      b.runs.begin(),
                      b.runs.end(),
                      [](const LayerLayout::Run& x, const LayerLayout::Run& y) {
                          return x.layers == y.layers && x.positions == y.positions;
                      });
}

std::string
ToString(const LayerLayout& value)
{
    if (!value.IsGiven())
    {
        return g_auto;
    }
    std::string text;
    for (const LayerLayout::Run& run : value.runs)
    {
        text += (text.empty() ? "" : "+") + std::to_string(run.layers) +
                (run.positions > 1 ? "x" + std::to_string(run.positions) : "");
    }
    return text;
}

} // namespace scaleacross
