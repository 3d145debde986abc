// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LAYER_LAYOUT_H
#define SCALEACROSS_LAYER_LAYOUT_H

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * How many layers every position of a pipeline has, in its order, as a plan says it: "7+8x14+7" is
 * 7, then 8 fourteen times, then 7, of 126 layers over 16 positions. Or nothing: "auto".
 *
 * A position may have none: it passes on what it receives, after the embedding if it is the first
 * and before the head if it is the last.
 */
struct LayerLayout
{
    /// `positions` neighbours with `layers` each.
    struct Run
    {
        uint32_t layers{0};
        uint32_t positions{1};
    };

    static constexpr uint32_t kMostLayers = 4096;
    static constexpr uint32_t kMostPositions = 1U << 16;

    std::vector<Run> runs; //!< neighbours differ in layers; none: not given

    bool IsGiven() const
    {
        return !runs.empty();
    }

    uint64_t Positions() const;
    uint64_t Layers() const;

    /// Layers by position.
    std::vector<uint32_t> Counts() const;

    static LayerLayout Of(const std::vector<uint32_t>& counts);

    /// Throws ValueError for anything but "auto" and numbers with or without "x" and how often,
    /// joined by "+"; for more than kMostLayers layers of a position, and for more than
    /// kMostPositions positions.
    static LayerLayout Parse(const std::string& text);
};

bool operator==(const LayerLayout& a, const LayerLayout& b);

/// What Parse() reads, the same for equal layouts: "8+8" is "8x2".
std::string ToString(const LayerLayout& value);

/// What Parse() allows, for messages.
extern const char* const kLayerLayoutAllowed;

} // namespace scaleacross

#endif // SCALEACROSS_LAYER_LAYOUT_H
