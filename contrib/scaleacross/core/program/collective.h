// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_H
#define SCALEACROSS_COLLECTIVE_H

#include "core/base/units.h"
#include "core/program/collective-op.h"
#include "core/program/rank-group.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// Which parallelism caused a transfer; reports are kept by it.
enum class CommClass : uint8_t
{
    Tensor,
    Context,
    Expert,
    Pipeline,
    Data
};

constexpr uint32_t kCommClasses = 5;

std::string ToString(CommClass value); //!< "tp", "cp", "ep", "pp", "dp"

/// The step pattern of one phase of a collective; step-pattern.h leads to all that is known of it.
enum class Pattern : uint8_t
{
    RingReduceScatter,   //!< n-1 dependent steps to the next member
    RingAllGather,       //!< n-1 dependent steps to the next member
    DirectAllToAll,      //!< n-1 independent steps, one to every other member, all posted at once
    SendToNext,          //!< one step to the next member
    JumpReduceScatter,   //!< one step of `parts` parts to the member `shift` further on
    JumpAllGather,       //!< one step of `parts` parts to the member `shift` further back
    TwoWayReduceScatter, //!< n/2 dependent steps to both neighbours
    TwoWayAllGather,     //!< n/2 dependent steps to both neighbours
    DoubleTree,          //!< all-reduce of one half in each of two trees, `chunk` by `chunk`
    SwitchAllGather      //!< everybody's part to the switch once, which copies it to all others
};

/**
 * What a step costs its sender besides what the network takes: flags that are waited for, the
 * kernel's copies, a proxy's posts.
 *
 * Of a message of B bytes: fixed + perByte B.
 */
struct StepCost
{
    Duration fixed;
    double perByte{0}; //!< seconds

    Duration Of(double bytes) const
    {
        return fixed + Duration::Seconds(perByte * bytes);
    }
};

bool operator==(const StepCost& a, const StepCost& b);

/**
 * Slots that a library copies messages through, of one pair of members in different buildings; in a
 * double tree of either tree.
 *
 * A message takes one for each `bytes` of it, and `least` of them however short it is. A slot is
 * free for another message when the receiver has said so, a round trip later. Inside a building
 * that is no longer than the slots take to fill, and they hold nothing back.
 */
struct SlotWindow
{
    uint32_t slots{0}; //!< 0: as many as messages take
    Bytes bytes{1};    //!< of each
    uint32_t least{1};
    uint32_t phases{1}; //!< of the collective that follow each other through them

    /// Slots that a message takes.
    double Of(double message) const
    {
        return std::max<double>(least, std::ceil(message / static_cast<double>(bytes.Count())));
    }
};

bool operator==(const SlotWindow& a, const SlotWindow& b);
bool operator<(const SlotWindow& a, const SlotWindow& b);

/**
 * One phase: a pattern within every group of a family at the same time.
 *
 * `bytes` is S of the group's buffer. Ring patterns: the whole buffer, of which each member ends
 * with (reduce-scatter) or starts from (all-gather) part i: bytes [S i / n, S (i+1) / n).
 * All-to-all: what each member holds, of which part i goes to member i. Send to next: what each
 * member holds, all of which goes to the next.
 *
 * A jump is one round of a dissemination: all-gather sends parts i, ..., i + parts - 1 (mod n) to
 * member i - shift, reduce-scatter sends parts i + shift, ..., i + shift + parts - 1 to member
 * i + shift; see DisseminationRounds().
 *
 * Two ways: a ring in which every part goes, or is summed up, both ways round and so passes n/2
 * members at most. Where n is even the part of the member opposite goes by halves.
 *
 * Double tree: reduction to the root and broadcast from it in two binary trees, each with half of
 * the buffer, cut into equal messages of `chunk` bytes at most, which follow each other through the
 * tree. A member with children in one has at most one in the other (Sanders et al. 2009).
 *
 * Lanes: a ring with `perServer` above 1 is one of several over all members, of which the first
 * `perServer` are on one server, the next on another, and so on. Ring `lane` enters the first
 * server at its member `lane`, passes all others upwards and leaves at member `lane` - 1 for the
 * same member of the next server, which it passes downwards from there, and so on (mod perServer):
 * whoever leaves a server and who is entered after it have the same position, and each position
 * carries as much of all lanes together. Only the last hop of an odd number of servers goes from
 * one position to the next.
 *
 * Switch: a scale-up network that adds up what is read from several members, and copies what is
 * written to several (NVLink SHARP). To reduce, every member sends n - 1 parts, as all to all, and
 * receives one sum; to gather, it sends one and receives n - 1. Both belong together, as an
 * all-reduce: its chunks stream, so that one way carries what the other spares, S in all. Domain:
 * all members on one scale-up network.
 */
struct Phase
{
    Phase() = default;

    Phase(Pattern pattern, RankGroup group, Bytes bytes)
        : pattern(pattern),
          group(std::move(group)),
          bytes(bytes)
    {
    }

    Pattern pattern{Pattern::RingAllGather};
    RankGroup group;
    Bytes bytes;
    uint32_t shift{1};     //!< jumps
    uint32_t parts{1};     //!< jumps
    Bytes chunk;           //!< double tree; more than 0
    uint32_t perServer{1}; //!< rings; divides the number of members
    uint32_t lane{0};      //!< rings; less than perServer
    /// Latency of a step inside a server, in place of the scale-up network's; none: that.
    std::optional<StepCost> inside;
    StepCost between;   //!< of a step between servers
    double occupied{1}; //!< times a message's own that it keeps the scale-up network busy; >= 1
    SlotWindow slots;
    /// Chunks of a collective that may be in this phase at the same time, times its channels.
    uint32_t width{1};
};

/// A round of a dissemination.
struct DisseminationRound
{
    uint32_t shift; //!< 2^k
    uint32_t parts; //!< min(2^k, n - 2^k)
};

/**
 * The rounds of an all-gather over any number of members n, ceil(log2 n) of them: in round k each
 * member sends the first parts of what it has to the member 2^k further back, so that it then has
 * min(2^(k+1), n) parts. Reduce-scatter is the same in reverse. Either sends (n-1)/n S per member,
 * as a ring does (Bruck et al. 1997).
 *
 * Worked case: n = 5. Shifts 1, 2, 4 with 1, 2, 1 parts: 4 of 5 parts in three rounds.
 */
std::vector<DisseminationRound> DisseminationRounds(uint32_t n);

/// A member's neighbours in one of the two trees over n members.
struct TreePlace
{
    static constexpr uint32_t kNone = UINT32_MAX;

    uint32_t parent{kNone};
    uint32_t left{kNone};
    uint32_t right{kNone};
};

/**
 * Where a member is in tree 0 or 1.
 *
 * Tree 0 numbers the members in order: a member whose number ends in h zero bits is h levels above
 * the leaves, below member 0. Tree 1 is its mirror image, or, for odd n, the same from member n-1
 * on. So every odd member is a leaf of tree 0, and every even one, but for member n-1 of an odd n,
 * of tree 1.
 *
 * Worked case: n = 4. Tree 0: 0 - 2 - {1, 3}; tree 1: 3 - 1 - {2, 0}.
 */
TreePlace PlaceInTree(uint32_t tree, uint32_t index, uint32_t n);

/// Messages of an edge of a double tree, each way.
uint32_t TreeMessages(const Phase& phase);

/// Messages that a member may have sent up a tree whose results have not come down: 32 MiB in both
/// trees together, what NCCLX has in flight on H100, and 2 at least. Without a limit the reductions
/// would crowd out the results.
uint32_t TreeWindow(const Phase& phase);

constexpr uint32_t kMostFlows = 6; //!< inputs, and outputs, of a member in a phase

/// Messages that a member sends one after the other: number m leaves as soon as each input of the
/// mask `after` has m + 1 - ahead messages, and each of the mask `within` m + 1 - window.
struct Outflow
{
    uint32_t messages{0};
    uint32_t after{0}; //!< bit i: input i
    uint32_t ahead{0};
    uint32_t within{0}; //!< bit i: input i
    uint32_t window{0};

    /// Messages that may have left when so many have come in.
    template <class Received>
    uint32_t Allowed(const Received& received) const
    {
        uint32_t most = messages;
        for (uint32_t i = 0; i < received.size(); i++)
        {
            most = (after >> i & 1) != 0 ? std::min(most, received[i] + ahead) : most;
            most = (within >> i & 1) != 0 ? std::min(most, received[i] + window) : most;
        }
        return most;
    }

    uint32_t to{0}; //!< member index; all-to-all: of the first message
    Bytes bytes;    //!< of all messages
};

/**
 * What a member does in a phase: it takes messages in order from each of its inputs, and sends
 * those of its outputs. It is through when all of its inputs have all of their messages.
 *
 * Worked case: member i of a ring of 4 has one input of 3 messages, and one output of 3 messages
 * after it, one ahead: the first leaves at once, each other after one more has arrived.
 */
struct MemberFlows
{
    std::array<uint32_t, kMostFlows> inputs{}; //!< messages of each
    std::array<Outflow, kMostFlows> outputs{};
};

/// Domain: the group has at least two members.
MemberFlows FlowsOf(const Phase& phase, uint32_t index);

/// One message, as its sender sees it.
struct PhaseMessage
{
    uint32_t to{0};    //!< member index
    uint32_t input{0}; //!< of that member
    Bytes bytes;
};

/**
 * Message `number` of an output of member `index`, as a function and never a list. At its receiver
 * it has the same number. Bytes are split so that the parts of a buffer add up to it exactly.
 *
 * Ring reduce-scatter: in step k member i sends part (i - k - 1) mod n to i+1, so that after n-1
 * steps it holds part i. Ring all-gather: in step k member i sends part (i - k) mod n to i+1.
 * All-to-all: in step k member i sends part (i + k + 1) mod n to that member. Two ways, h = n/2
 * rounded down: output 0 to i+1, output 1 to i-1; all-gather sends parts (i - k) and (i + k) mod n
 * in step k, of which for even n only the first and second half in the last step; reduce-scatter
 * parts (i + h - k) and (i - h + k), of which for even n only the halves in the first step.
 */
PhaseMessage MessageOf(const Phase& phase, uint32_t index, uint32_t output, uint32_t number);

/// Bytes that member `index` sends in the whole phase.
Bytes SentBy(const Phase& phase, uint32_t index);

/// How many times S all members of a group together send in a phase, exactly.
uint32_t TimesSent(const Phase& phase);

/// Steps of a phase that follow each other: those that a message's content may pass.
uint32_t StepCount(const Phase& phase);

/// Bytes of part `index` of `n` of a buffer S: [S index / n, S (index+1) / n).
Bytes PartOf(Bytes buffer, uint32_t index, uint32_t n);

/// One call of a communication library: what each group of a family does, and not how.
struct CollectiveCall
{
    CollectiveOp op{CollectiveOp::AllReduce};
    RankGroup group;
    Bytes bytes; //!< S as CollectiveSpec::bytes, without what a library's protocol adds to it
};

/// A collective as the phases that realise it, one after the other.
struct Collective
{
    CommClass comm{CommClass::Data};
    CollectiveCall call; //!< what the phases do
    std::string name;    //!< "reduce_scatter", "all_gather", "all_reduce", "all_to_all", "sendrecv"
    std::string algorithm; //!< in the words of network.collective and network.all_to_all
    std::vector<Phase> phases;
    /// Equal parts of the buffer, each of which goes through all phases by itself. Part j enters a
    /// phase when it has left the one before, and part j - Together() has left this one.
    uint32_t chunks{1};
    uint32_t channels{1};
    /// Chunks follow each other one by one: while one is in a phase others are in those before it,
    /// and of those behind the first, latencies pass while others are sent. Else those that enter
    /// together stay together.
    bool streams{false};
    Duration launch;             //!< from the start to the first step
    std::string protocol;        //!< of a library that has several
    uint32_t libraryChannels{0}; //!< of its own, whatever chunks there are; 0: it has none
    /// That its kernel takes from computing; 0: as many as collectives usually do.
    uint32_t processors{0};

    /// Chunks that may be in a phase at the same time.
    uint32_t Together(uint32_t phase) const
    {
        return channels * phases[phase].width;
    }
};

/// Whether the same moves in both, in the same steps, for the same parallelism.
bool MoveAlike(const Collective& a, const Collective& b);

/// A phase of one of the chunks of a collective; lanes take turns chunk by chunk.
Phase ChunkOf(const Phase& phase, uint32_t chunk, uint32_t chunks);

bool operator==(const Phase& a, const Phase& b);

/// Whether members send to the same ones in both, in all turns of lanes.
bool HaveSamePeers(const Phase& a, const Phase& b);

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_H
