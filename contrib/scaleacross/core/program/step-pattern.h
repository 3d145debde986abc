// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STEP_PATTERN_H
#define SCALEACROSS_STEP_PATTERN_H

#include "core/program/collective.h"

#include <cstdint>
#include <functional>

namespace scaleacross
{

/// How what a member sends depends on what it receives.
enum class Chain : uint8_t
{
    None,    //!< it does not: all is posted at once
    Ring,    //!< a part goes from member to member around a ring, and spares one edge of it
    TwoWays, //!< the same both ways round, half of the ring each
    Tree     //!< up to the root of a tree, and down again
};

/// What the members of a phase send, as a cost model asks for it.
struct PhaseRounds
{
    double message{0};   //!< bytes
    double perEdge{1};   //!< messages over an edge
    double perMember{1}; //!< messages of the member that sends most; all-to-all apart
    double joined{1};    //!< messages of an edge that follow each other without a wait
    uint32_t steps{1};   //!< that follow each other
    bool chained{false}; //!< what a member sends depends on what it receives
    double chains{1};    //!< of messages of a group, side by side
    /// Chunks in a row between which members change places, so that in the mean all do what some
    /// do in one.
    uint32_t turns{1};
};

/**
 * All that is known of a pattern, one class for each kind, in core/program/patterns; phases name it
 * by Pattern.
 *
 * The functions of collective.h that are given a phase ask its pattern, and say what they mean;
 * their domain is a group of at least two members unless said otherwise.
 */
class StepPattern
{
  public:
    virtual ~StepPattern() = default;

    virtual Chain ChainOf() const = 0;

    /// Every member sends a part to every other, all at once.
    virtual bool IsDirect() const
    {
        return false;
    }

    /// What a member sends goes to all others at once, copied by the scale-up network.
    virtual bool IsCopied() const
    {
        return false;
    }

    /// Of one that reduces and scatters: what gathers the same way back.
    virtual Pattern Mirror() const;

    /// Of several trees over the same members, each of which a library gives channels of its own:
    /// whose output this is.
    virtual uint32_t TreeOf(uint32_t /* output */) const
    {
        return 0;
    }

    virtual uint32_t StepCount(const Phase& phase) const = 0;
    virtual MemberFlows FlowsOf(const Phase& phase, uint32_t index) const = 0;
    virtual PhaseMessage MessageOf(const Phase& phase,
                                   uint32_t index,
                                   uint32_t output,
                                   uint32_t number) const = 0;
    virtual Bytes SentBy(const Phase& phase, uint32_t index) const = 0;

    /// Domain: any group.
    virtual uint32_t TimesSent(const Phase& phase) const = 0;

    /// By default whom the first message goes to; of lanes, those of all turns.
    virtual void ForEachPeer(const Phase& phase,
                             uint32_t index,
                             const std::function<void(uint32_t)>& visit) const;

    /// By default those of one message of 1/n of the buffer from each member.
    virtual PhaseRounds RoundsOf(const Phase& phase) const;
};

const StepPattern& StepsOf(Pattern pattern);

inline const StepPattern&
StepsOf(const Phase& phase)
{
    return StepsOf(phase.pattern);
}

/// What the members of a phase's group send. Domain: at least two members.
inline PhaseRounds
RoundsOf(const Phase& phase)
{
    return StepsOf(phase).RoundsOf(phase);
}

/// Calls `visit` with the index of each member that member `index` of a phase's group sends to; of
/// lanes with that of each turn.
inline void
ForEachPeer(const Phase& phase, uint32_t index, const std::function<void(uint32_t)>& visit)
{
    StepsOf(phase).ForEachPeer(phase, index, visit);
}

/// Most peers that a member of a phase's group sends to.
uint32_t MostPeers(const Phase& phase);

// What patterns are made of.

/// Bytes of parts first, ..., first + count - 1 (mod n). Domain: first < n, count <= n.
Bytes PartsOf(Bytes buffer, uint32_t first, uint32_t count, uint32_t n);

/// An output of so many messages, which waits for nothing.
Outflow OutflowTo(uint32_t to, uint32_t messages, Bytes bytes);

/// One input and one output, whose messages go to member `to`; `chained`: each after an input.
MemberFlows OneFlow(uint32_t messages, bool chained, uint32_t to, Bytes bytes);

} // namespace scaleacross

#endif // SCALEACROSS_STEP_PATTERN_H
