// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/step-pattern.h"

#include <algorithm>
#include <utility>

namespace scaleacross
{

namespace
{

/// The trees number their places, and members take them: the place of a member.
uint32_t
TreeNumber(uint32_t tree, uint32_t index, uint32_t n)
{
    return tree == 0 ? index : n % 2 == 0 ? n - 1 - index : (index + 1) % n;
}

uint32_t
MemberAt(uint32_t tree, uint32_t number, uint32_t n)
{
    return tree == 0 ? number : n % 2 == 0 ? n - 1 - number : (number + n - 1) % n;
}

/// The lowest bit of a place, which tells its level; of the root the power of two that is not less
/// than n.
uint64_t
LowestBit(uint32_t number, uint32_t n)
{
    uint64_t bit = 1;
    while (number != 0 ? (number & bit) == 0 : bit < n)
    {
        bit *= 2;
    }
    return bit;
}

constexpr uint32_t kTreeInputs = 3; //!< of each tree: left child, right child, parent

MemberFlows
TreeFlows(const Phase& phase, uint32_t index)
{
    const uint32_t n = phase.group.Size();
    const uint32_t messages = TreeMessages(phase);
    MemberFlows flows;
    for (uint32_t tree = 0; tree < 2; tree++)
    {
        const TreePlace place = PlaceInTree(tree, index, n);
        const uint32_t first = kTreeInputs * tree;
        const Bytes half = PartOf(phase.bytes, tree, 2);
        uint32_t children = 0;
        for (const auto& [input, child] : {std::pair{first, place.left}, {first + 1, place.right}})
        {
            if (child != TreePlace::kNone)
            {
                flows.inputs[input] = messages;
                children |= 1U << input;
            }
        }
        uint32_t reduced = children; // inputs that tell of what is reduced by all
        if (place.parent != TreePlace::kNone)
        {
            flows.inputs[first + 2] = messages;
            Outflow& up = flows.outputs[first];
            up = OutflowTo(place.parent, messages, half);
            up.after = children;
            up.within = 1U << (first + 2);
            up.window = TreeWindow(phase);
            reduced = 1U << (first + 2);
        }
        for (const auto& [output, child] :
             {std::pair{first + 1, place.left}, {first + 2, place.right}})
        {
            if (child != TreePlace::kNone)
            {
                flows.outputs[output] = OutflowTo(child, messages, half);
                flows.outputs[output].after = reduced;
            }
        }
    }
    return flows;
}

PhaseMessage
TreeMessage(const Phase& phase, uint32_t index, uint32_t output, uint32_t number)
{
    const uint32_t n = phase.group.Size();
    const uint32_t tree = output / kTreeInputs;
    const uint32_t first = kTreeInputs * tree;
    const TreePlace place = PlaceInTree(tree, index, n);
    const Bytes bytes = PartOf(PartOf(phase.bytes, tree, 2), number, TreeMessages(phase));
    if (output > first)
    {
        return {output == first + 1 ? place.left : place.right, first + 2, bytes};
    }
    const bool left = PlaceInTree(tree, place.parent, n).left == index;
    return {place.parent, first + (left ? 0 : 1), bytes};
}

/// All-reduce of one half in each of two trees, message by message.
class DoubleTree : public StepPattern
{
  public:
    Chain ChainOf() const override
    {
        return Chain::Tree;
    }

    uint32_t TreeOf(uint32_t output) const override
    {
        return output / kTreeInputs;
    }

    uint32_t StepCount(const Phase& phase) const override
    {
        uint32_t depth = 0; // bits of n - 1: one level for each
        for (uint32_t number = phase.group.Size() - 1; number > 0; number /= 2)
        {
            depth++;
        }
        return 2 * depth;
    }

    MemberFlows FlowsOf(const Phase& phase, uint32_t index) const override
    {
        return TreeFlows(phase, index);
    }

    PhaseMessage MessageOf(const Phase& phase,
                           uint32_t index,
                           uint32_t output,
                           uint32_t number) const override
    {
        return TreeMessage(phase, index, output, number);
    }

    Bytes SentBy(const Phase& phase, uint32_t index) const override
    {
        Bytes sent;
        for (const Outflow& output : TreeFlows(phase, index).outputs)
        {
            sent += output.bytes;
        }
        return sent;
    }

    uint32_t TimesSent(const Phase& phase) const override
    {
        return 2 * (phase.group.Size() - 1);
    }

    void ForEachPeer(const Phase& phase,
                     uint32_t index,
                     const std::function<void(uint32_t)>& visit) const override
    {
        for (uint32_t tree = 0; tree < 2; tree++)
        {
            const TreePlace place = PlaceInTree(tree, index, phase.group.Size());
            for (const uint32_t peer : {place.parent, place.left, place.right})
            {
                if (peer != TreePlace::kNone)
                {
                    visit(peer);
                }
            }
        }
    }

    PhaseRounds RoundsOf(const Phase& phase) const override
    {
        PhaseRounds rounds = StepPattern::RoundsOf(phase);
        rounds.perEdge = rounds.joined = TreeMessages(phase);
        rounds.perMember = rounds.perEdge * MostPeers(phase);
        rounds.message = static_cast<double>(phase.bytes.Count()) / 2 / rounds.perEdge;
        return rounds;
    }
};

} // namespace

TreePlace
PlaceInTree(uint32_t tree, uint32_t index, uint32_t n)
{
    const uint32_t number = TreeNumber(tree, index, n);
    const uint64_t bit = LowestBit(number, n);
    TreePlace place;
    if (number != 0)
    {
        // One level up, unless there is nobody: then it hangs where that one would.
        const uint64_t up = (number ^ bit) | (2 * bit);
        place.parent =
            MemberAt(tree, up < n ? static_cast<uint32_t>(up) : number & (number - 1), n);
    }
    if (bit == 1)
    {
        return place;
    }
    if (number != 0)
    {
        place.left = MemberAt(tree, static_cast<uint32_t>(number - bit / 2), n);
    }
    for (uint64_t below = bit / 2; below > 0; below /= 2)
    {
        if (number + below < n)
        {
            place.right = MemberAt(tree, static_cast<uint32_t>(number + below), n);
            break;
        }
    }
    return place;
}

uint32_t
TreeMessages(const Phase& phase)
{
    const uint64_t half = PartOf(phase.bytes, 1, 2).Count(); // the larger one
    const uint64_t chunk = phase.chunk.Count();
    return static_cast<uint32_t>(std::max<uint64_t>(1, half / chunk + (half % chunk > 0 ? 1 : 0)));
}

uint32_t
TreeWindow(const Phase& phase)
{
    return static_cast<uint32_t>(
        std::max<uint64_t>(2, std::min<uint64_t>(UINT32_MAX, (16ULL << 20) / phase.chunk.Count())));
}

const StepPattern&
DoubleTreeSteps()
{
    static const DoubleTree steps;
    return steps;
}

} // namespace scaleacross
