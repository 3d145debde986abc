// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NCCL_WORDS_H
#define SCALEACROSS_NCCL_WORDS_H

#include "core/base/units.h"
#include "core/base/word.h"

#include <cstdint>
#include <vector>

/// What a study can say in a word of NCCL, and of GPUs as it tells them apart.
namespace scaleacross
{

/// NCCL's algorithms, in the order of its tables.
enum class NcclKind : uint8_t
{
    Tree,
    Ring,
    CollnetDirect,
    CollnetChain,
    Nvls,
    NvlsTree,
    Pat
};

constexpr uint32_t kNcclKinds = 7;

/// Whether it asks for switches between servers that reduce.
constexpr bool
IsCollnet(NcclKind kind)
{
    return kind == NcclKind::CollnetDirect || kind == NcclKind::CollnetChain;
}

/// Whether the scale-up switch reduces.
constexpr bool
IsNvls(NcclKind kind)
{
    return kind == NcclKind::Nvls || kind == NcclKind::NvlsTree;
}

struct NcclAlgorithmFacts : WordFacts
{
    bool chooses{false};           //!< NCCL does, by its model
    NcclKind kind{NcclKind::Ring}; //!< unless it chooses
};

using NcclAlgorithm = Word<NcclAlgorithmFacts>;

template <>
const std::vector<const NcclAlgorithmFacts*>& NcclAlgorithm::Rows();
extern template class Word<NcclAlgorithmFacts>;

struct NcclProtocolFacts : WordFacts
{
    bool chooses{false}; //!< NCCL does, by its model
    uint32_t column{0};  //!< of NCCL's tables; unless it chooses
    double wire{1};      //!< bytes on the wire for each of payload: flags travel with it
    Bytes slot{1};       //!< of a channel's buffer, on the wire; unless it chooses
    int without{-1};     //!< a column that NCCL does not choose; -1: it may choose all
};

/// Slots (NCCL_STEPS) of a channel between two GPUs.
constexpr uint32_t kNcclSlots = 8;

using NcclProtocol = Word<NcclProtocolFacts>;

constexpr uint32_t kNcclProtocols = 3;

template <>
const std::vector<const NcclProtocolFacts*>& NcclProtocol::Rows();
extern template class Word<NcclProtocolFacts>;

/// A generation of GPUs.
struct ArchitectureFacts : WordFacts
{
    bool known{true};   //!< to NCCL's or RCCL's tables
    uint32_t column{0}; //!< of NCCL's tables
    double links{0};    //!< share of the scale-up bandwidth that NCCL counts on
    bool rccl{false};   //!< AMD's fork of NCCL runs its collectives
};

using Architecture = Word<ArchitectureFacts>;

template <>
const std::vector<const ArchitectureFacts*>& Architecture::Rows();
extern template class Word<ArchitectureFacts>;

} // namespace scaleacross

#endif // SCALEACROSS_NCCL_WORDS_H
