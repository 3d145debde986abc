// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/step-pattern.h"

#include <array>
#include <utility>

namespace scaleacross
{

// The patterns there are, each in the file that its name is of.
const StepPattern& RingReduceScatterSteps();
const StepPattern& RingAllGatherSteps();
const StepPattern& TwoWayReduceScatterSteps();
const StepPattern& TwoWayAllGatherSteps();
const StepPattern& DirectAllToAllSteps();
const StepPattern& SendToNextSteps();
const StepPattern& JumpReduceScatterSteps();
const StepPattern& JumpAllGatherSteps();
const StepPattern& DoubleTreeSteps();
const StepPattern& SwitchAllGatherSteps();

namespace
{

using Entry = std::pair<Pattern, const StepPattern& (*)()>;

/// In the order of the enumeration.
constexpr std::array<Entry, 10> g_patterns = {
    {{Pattern::RingReduceScatter, RingReduceScatterSteps},
     {Pattern::RingAllGather, RingAllGatherSteps},
     {Pattern::DirectAllToAll, DirectAllToAllSteps},
     {Pattern::SendToNext, SendToNextSteps},
     {Pattern::JumpReduceScatter, JumpReduceScatterSteps},
     {Pattern::JumpAllGather, JumpAllGatherSteps},
     {Pattern::TwoWayReduceScatter, TwoWayReduceScatterSteps},
     {Pattern::TwoWayAllGather, TwoWayAllGatherSteps},
     {Pattern::DoubleTree, DoubleTreeSteps},
     {Pattern::SwitchAllGather, SwitchAllGatherSteps}}};

constexpr bool
IsInOrder()
{
    for (size_t i = 0; i < g_patterns.size(); i++)
    {
        if (static_cast<size_t>(g_patterns[i].first) != i)
        {
            return false;
        }
    }
    return true;
}

static_assert(IsInOrder(), "a pattern finds its steps by its value");

} // namespace

const StepPattern&
StepsOf(Pattern pattern)
{
    return g_patterns[static_cast<size_t>(pattern)].second();
}

} // namespace scaleacross
