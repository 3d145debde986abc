// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_WORDS_H
#define SCALEACROSS_COLLECTIVE_WORDS_H

#include "core/base/word.h"

#include <cstdint>
#include <vector>

/// What a study can say in a word of how collectives go.
namespace scaleacross
{

/// How a level of a collective is reduced or gathered.
enum class LevelSteps : uint8_t
{
    Ring,    //!< around its members
    TwoWays, //!< the same, both ways round
    Halves   //!< by exchanges of halves of halves, an odd number of members by dissemination
};

/// What is known of an algorithm of reductions and gathers.
struct CollectiveAlgorithmFacts : WordFacts
{
    LevelSteps steps{LevelSteps::Ring};
    bool buildings{false};          //!< levels end at buildings: inside, across, inside again
    bool trees{false};              //!< all-reduce between servers in two binary trees
    bool chooses{false};            //!< of all others, for the size, what takes least time alone
    const char* allToAll{"direct"}; //!< what all-to-alls that follow do
    bool library{false};            //!< as NCCL runs them, by its model of time
};

/// How collectives that reduce or gather go.
using CollectiveAlgorithm = Word<CollectiveAlgorithmFacts>;

template <>
const std::vector<const CollectiveAlgorithmFacts*>& CollectiveAlgorithm::Rows();
extern template class Word<CollectiveAlgorithmFacts>;

/// Inside what an all-to-all makes a first hop, to the member in the destination's position.
enum class FirstHop : uint8_t
{
    None,
    Server,
    Building
};

/// Kernels that send tokens to experts, and what they cost besides the network.
enum class TokenKernel : uint8_t
{
    None,       //!< nothing but the messages
    Throughput, //!< DeepEP's for training: once to each server, forwarded there while more arrive
    LowLatency  //!< DeepEP's for decoding: a message for each token and expert, straight away
};

/// What is known of a way of all-to-alls.
struct AllToAllFacts : WordFacts
{
    FirstHop hop{FirstHop::None};
    bool follows{false}; //!< what the algorithm of other collectives says
    /// A token that goes to several experts of a server crosses to it once, and is copied there.
    bool oncePerServer{false};
    TokenKernel kernel{TokenKernel::None};
};

/// How an all-to-all goes.
using AllToAllAlgorithm = Word<AllToAllFacts>;

template <>
const std::vector<const AllToAllFacts*>& AllToAllAlgorithm::Rows();
extern template class Word<AllToAllFacts>;

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_WORDS_H
