// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/collective-parts.h"

#include "core/base/errors.h"
#include "core/io/task-list-json.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace scaleacross
{

namespace
{

CollectiveOp
OpOf(const std::string& name)
{
    const auto& words = CollectiveOpWords();
    const auto found = std::find(words.begin(), words.end(), name);
    SCALEACROSS_INVARIANT(found != words.end(), name);
    return static_cast<CollectiveOp>(found - words.begin());
}

/// What a phase adds to what is scattered over members: gathering takes as much away.
int
Scattered(Pattern pattern)
{
    switch (pattern)
    {
    case Pattern::RingReduceScatter:
    case Pattern::JumpReduceScatter:
    case Pattern::TwoWayReduceScatter:
    case Pattern::DirectAllToAll: // to the switch, which adds up
        return 1;
    case Pattern::RingAllGather:
    case Pattern::JumpAllGather:
    case Pattern::TwoWayAllGather:
    case Pattern::SwitchAllGather:
        return -1;
    case Pattern::SendToNext:
    case Pattern::DoubleTree:
        break;
    }
    return 0;
}

/// How many of the first `count` phases come before the operation that ends there.
size_t
BeginOf(CollectiveOp op, const std::vector<Phase>& phases, size_t count)
{
    if (op != CollectiveOp::AllReduce)
    {
        return 0;
    }
    int balance = 0;
    size_t begin = count;
    while (begin > 0)
    {
        balance += Scattered(phases[--begin].pattern);
        if (balance == 0)
        {
            break;
        }
    }
    return begin;
}

} // namespace

std::vector<CollectivePart>
PartsOf(const Collective& collective)
{
    std::vector<std::string> names;
    for (size_t begin = 0; begin <= collective.name.size();)
    {
        const size_t end = std::min(collective.name.find('+', begin), collective.name.size());
        names.push_back(collective.name.substr(begin, end - begin));
        begin = end + 1;
    }
    std::vector<CollectivePart> parts;
    size_t end = collective.phases.size();
    for (size_t i = names.size(); i-- > 0 && end > 0;)
    {
        CollectivePart part;
        part.op = OpOf(names[i]);
        const size_t begin = i == 0 ? 0 : BeginOf(part.op, collective.phases, end);
        Collective phases;
        phases.phases.assign(collective.phases.begin() + static_cast<std::ptrdiff_t>(begin),
                             collective.phases.begin() + static_cast<std::ptrdiff_t>(end));
        for (const Phase& phase : phases.phases)
        {
            part.bytes = std::max(part.bytes, phase.bytes);
        }
        part.group = GroupOfPhases(phases);
        parts.insert(parts.begin(), part);
        end = begin;
    }
    return parts;
}

} // namespace scaleacross
