// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_KNOWN_DIFFERENCES_H
#define SCALEACROSS_KNOWN_DIFFERENCES_H

#include "core/spec/scenario.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// How far from packets an engine was on drawn studies of a kind, as time over that of packets.
struct KnownDifference
{
    const char* kind;   //!< of analysis/engine-agreement
    const char* engine; //!< "analytical"
    uint32_t studies;   //!< that were compared
    double low;         //!< one in ten took less
    double high;        //!< one in ten took more
    uint32_t far;       //!< more than 5 % off
    double worst;       //!< the one that was farthest off
};

/// As analysis/engine_agreement.py --page has measured them, which writes them, too.
const std::vector<KnownDifference>& KnownDifferences();

/**
 * Returns what to know of a scenario of a kind of which one drawn study in ten or more was farther
 * from packets than 5 %: which kind that is, and by how much the engine was off on studies of it, a
 * line for each kind; and where messages go by segments over several queue pairs (network.balance).
 * Nothing of an engine that is not in KnownDifferences().
 */
std::vector<std::string> WarningsOfKnownDifferences(const Scenario& scenario,
                                                    const std::string& engine);

} // namespace scaleacross

#endif // SCALEACROSS_KNOWN_DIFFERENCES_H
