// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/pass-ends.h"

#include <algorithm>
#include <cstddef>

namespace scaleacross
{

namespace
{

/// By how much gathers hold up the first forward pass.
double
HeldUp(const std::vector<PassTimes>& pieces,
       const std::vector<ParameterUnit>& units,
       const std::vector<UnitTimes>& times)
{
    double gathered = 0;
    double now = 0;
    double computed = 0;
    size_t piece = 0;
    for (size_t u = 0; u < units.size(); u++)
    {
        gathered += times[u].gatherDense;
        now = std::max(now, gathered);
        gathered += times[u].gatherExpert;
        for (uint32_t i = 0; i < units[u].pieces; i++)
        {
            const double forward = pieces[piece++].forward.S();
            now += forward;
            computed += forward;
        }
        now = std::max(now, gathered);
    }
    return now - computed;
}

/// How long reductions go on after the last backward pass.
double
LeftOver(const std::vector<PassTimes>& pieces,
         const std::vector<ParameterUnit>& units,
         const std::vector<UnitTimes>& times)
{
    double reduced = 0;
    double now = 0;
    size_t piece = pieces.size();
    for (size_t u = units.size(); u-- > 0;)
    {
        double begin = now; // of the piece that is done last
        for (uint32_t i = 0; i < units[u].pieces; i++)
        {
            begin = now;
            now += pieces[--piece].Backward().S();
        }
        reduced = std::max(reduced, begin) + times[u].reduceExpert;
        reduced = std::max(reduced, now) + times[u].reduceDense;
    }
    return std::max(now, reduced) - now;
}

} // namespace

WindowEnds
WindowEndsOf(const std::vector<PassTimes>& pieces, const std::vector<ParameterUnit>& units)
{
    const ParameterUnit& unit = units.back();
    const size_t first = pieces.size() - unit.pieces;
    WindowEnds ends;
    for (size_t i = first; i < pieces.size(); i++)
    {
        if (unit.expert == 0)
        {
            ends.left += pieces[i].forward;
        }
        if (unit.expert == 0 || i > first)
        {
            ends.weights += pieces[i].weightGradient;
            ends.backwards += pieces[i].Backward();
        }
    }
    return ends;
}

PassEnds
EndsOf(const std::vector<PassTimes>& pieces,
       const std::vector<ParameterUnit>& units,
       const std::vector<UnitTimes>& times)
{
    return {HeldUp(pieces, units, times), LeftOver(pieces, units, times), 0, 0};
}

} // namespace scaleacross
