// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SHAPE_CUT_H
#define SCALEACROSS_SHAPE_CUT_H

#include "core/base/units.h"
#include "core/spec/tier.h"

#include <cstdint>

namespace scaleacross
{

/// A building has at most so many cuts one above the other: of its leaves, and one more.
constexpr uint32_t kCutLevels = 2;

/// The links by which traffic leaves one switch, or one group of switches, and comes in. Ports or
/// planes are taken together.
struct ShapeCut
{
    const char* name{""}; //!< in names of resources: "leaf", as in "east leaf up"
    uint32_t links{0};
    bool byPlane{false}; //!< queue pairs have no choice between planes; else none between ports
    BitRate rate;        //!< of a link
    Duration delay;      //!< of a link
    Tier nearest{Tier::Cross};  //!< traffic of this tier passes it,
    Tier farthest{Tier::Cross}; //!< and all that goes farther, up to this one
    /// Where there is a link from each switch to each other one and traffic between two takes any
    /// of the first one's links: the share that each link has, and that each switch but the two has
    /// come in and go out again.
    double detour{0};

    bool Carries(Tier tier) const
    {
        return nearest <= tier && tier <= farthest;
    }

    BitRate Capacity() const
    {
        return rate * links;
    }
};

/// A cut that one direction of a link belongs to.
struct CutSide
{
    uint32_t level{0}; //!< index into FabricShape::Cuts()
    bool up{true};     //!< out of the switch, or group of switches
    uint32_t part{0};  //!< port or plane
    uint32_t which{0}; //!< the switch or group, as SwitchOf() has it
    uint32_t fan{0};   //!< links of one fan are spread over after the fans are (CutsLeft)
};

} // namespace scaleacross

#endif // SCALEACROSS_SHAPE_CUT_H
