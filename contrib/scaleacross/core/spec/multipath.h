// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MULTIPATH_H
#define SCALEACROSS_MULTIPATH_H

#include "core/base/word.h"
#include "core/spec/marking.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// What packets of a queue pair may do.
enum class PacketOrder : uint8_t
{
    Kept,         //!< one path
    KeptByPauses, //!< another path after a pause: kept only where the pause is long enough
    Sprayed       //!< on several paths at a time
};

/// What has a path of its own where packets are not sprayed.
enum class PathOwner : uint8_t
{
    QueuePair,
    NicPair,
    Destination //!< dealt out in turn, so that paths collide only where there are too few
};

/// What is known of a way to choose among several equal paths.
struct MultipathFacts : WordFacts
{
    const char* selector; //!< type of FabricSwitch::PathSelector
    PacketOrder order{PacketOrder::Kept};
    PathOwner owner{PathOwner::QueuePair};
    const char* hashFields{"source,destination,udp-source-port"}; //!< FabricSwitch::HashFields
    /// Type of RdmaQueuePair::EntropyOps, by which packets have UDP source ports of their own.
    const char* entropies{nullptr};
    std::optional<Marking> marking{}; //!< what the choice goes by, where it goes by marks
    /// Attribute of the selector that follows from the stage of each switch.
    const char* stageAttribute{nullptr};
    bool weightedRoutes{false}; //!< routes have weights by capacity
    /// Switches use their own links for what they carry, whatever is behind these; else equally.
    bool followsCapacity{false};

    bool IsSprayed() const
    {
        return order == PacketOrder::Sprayed;
    }

    /// Links that are not alike have unequal parts.
    bool TellsLinksApart() const
    {
        return weightedRoutes || followsCapacity;
    }

    bool MayReorder() const
    {
        return order != PacketOrder::Kept;
    }
};

/// Which of several equal paths packets take.
using Multipath = Word<MultipathFacts>;

template <>
const std::vector<const MultipathFacts*>& Multipath::Rows();
extern template class Word<MultipathFacts>;

} // namespace scaleacross

#endif // SCALEACROSS_MULTIPATH_H
