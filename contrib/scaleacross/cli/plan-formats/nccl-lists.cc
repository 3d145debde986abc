// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/nccl-lists.h"

#include "core/base/errors.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace scaleacross
{

namespace
{

/// What NCCL can do with an algorithm (src/graph/tuning.cc and updateCollCostTable() in
/// src/enqueue.cc of 2.30.7).
struct AlgorithmSupport
{
    NcclKind kind;
    const char* word;
    bool allReduce;   //!< it does all-reduces
    bool gathers;     //!< it does all-gathers and reduce-scatters
    bool everywhere;  //!< whatever the servers, GPUs and types of a communicator
    bool onlySimple;  //!< it has no other protocol
    bool asksCollnet; //!< it asks for switches between servers that reduce
};

/// In the order in which they stand behind each other in a list. Broadcasts and reduces are by
/// rings in any case, which no list here forbids.
constexpr AlgorithmSupport g_support[] = {
    {NcclKind::CollnetDirect, "CollNetDirect", true, true, false, true, true},
    {NcclKind::CollnetChain, "CollNetChain", true, false, false, true, true},
    {NcclKind::NvlsTree, "NVLSTree", true, false, false, true, false},
    {NcclKind::Nvls, "NVLS", true, true, false, true, false},
    {NcclKind::Pat, "PAT", false, true, false, true, false},
    {NcclKind::Tree, "Tree", true, false, true, false, false},
    {NcclKind::Ring, "Ring", true, true, true, false, false},
};

const AlgorithmSupport&
SupportOf(NcclKind kind)
{
    const auto* found =
        std::find_if(std::begin(g_support),
                     std::end(g_support),
                     [kind](const AlgorithmSupport& one) { return one.kind == kind; });
    SCALEACROSS_INVARIANT(found != std::end(g_support), "an algorithm of NCCL has no row");
    return *found;
}

/// The functions that a plan's word is about: all-reduces, unless the algorithm has none of them.
std::vector<const char*>
FunctionsOf(const AlgorithmSupport& named)
{
    return named.allReduce ? std::vector<const char*>{"allreduce"}
                           : std::vector<const char*>{"allgather", "reducescatter"};
}

/// One list for each of these functions.
std::string
ByFunction(const std::vector<const char*>& functions, const std::vector<std::string>& words)
{
    std::string text;
    for (const char* function : functions)
    {
        text += fmt::format("{}{}:{}", text.empty() ? "" : ";", function, fmt::join(words, ","));
    }
    return text;
}

} // namespace

std::string
NcclAlgorithmList(NcclKind kind, bool collnet)
{
    const AlgorithmSupport& named = SupportOf(kind);
    if (named.allReduce && named.gathers && named.everywhere)
    {
        return named.word; // for all functions
    }
    std::vector<std::string> words = {named.word};
    for (const AlgorithmSupport& other : g_support)
    {
        const bool does = named.allReduce ? other.allReduce : other.gathers;
        if (!named.everywhere && does && other.kind != kind && (collnet || !other.asksCollnet))
        {
            words.emplace_back(other.word);
        }
    }
    return ByFunction(FunctionsOf(named), words);
}

std::string
NcclProtocolList(NcclProtocol protocol, NcclAlgorithm algorithm)
{
    static const std::vector<std::string> columns = {"LL", "LL128", "Simple"};
    const size_t simple = columns.size() - 1;
    if (!protocol->chooses)
    {
        const std::string& word = columns.at(protocol->column);
        if (algorithm->chooses || protocol->column == simple ||
            !SupportOf(algorithm->kind).onlySimple)
        {
            return word;
        }
        return word + ";" +
               ByFunction(FunctionsOf(SupportOf(algorithm->kind)), {word, columns[simple]});
    }
    std::vector<std::string> words;
    for (size_t column = 0; protocol->without >= 0 && column < columns.size(); column++)
    {
        if (static_cast<int>(column) != protocol->without)
        {
            words.push_back(columns[column]);
        }
    }
    return fmt::format("{}", fmt::join(words, ","));
}

bool
RunsEverywhere(NcclKind kind)
{
    return SupportOf(kind).everywhere;
}

} // namespace scaleacross
