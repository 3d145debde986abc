// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/nccl-tests-words.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

const std::string g_ending = "_perf";

/// Without "_perf" and what may follow it: nccl-tests builds programs with a suffix
/// (NAME_SUFFIX=_mpi).
std::string
WithoutEnding(const std::string& name)
{
    return name.substr(0, name.rfind(g_ending));
}

} // namespace

const std::vector<NcclTestsProgram>&
NcclTestsPrograms()
{
    static const std::vector<NcclTestsProgram> programs = {
        {"all_reduce", CollectiveOp::AllReduce},
        {"all_gather", CollectiveOp::AllGather},
        {"reduce_scatter", CollectiveOp::ReduceScatter},
        {"alltoall", CollectiveOp::AllToAll},
        {"sendrecv", CollectiveOp::SendReceive},
        {"alltoallv", std::nullopt},
        {"broadcast", std::nullopt},
        {"gather", std::nullopt},
        {"hypercube", std::nullopt},
        {"reduce", std::nullopt},
        {"scatter", std::nullopt}};
    return programs;
}

const NcclTestsProgram*
FindNcclTestsProgram(const std::string& name)
{
    // Windows' folders end in a backslash, and its programs in ".exe".
    std::string word = name.substr(name.find_last_of("/\\") + 1);
    word = WithoutEnding(word.substr(0, word.find('.')));
    const auto found =
        std::find_if(NcclTestsPrograms().begin(),
                     NcclTestsPrograms().end(),
                     [&word](const NcclTestsProgram& program) { return program.word == word; });
    return found == NcclTestsPrograms().end() ? nullptr : &*found;
}

std::vector<std::string>
ModelledNcclTestsPrograms()
{
    std::vector<std::string> names;
    for (const NcclTestsProgram& program : NcclTestsPrograms())
    {
        if (program.op)
        {
            names.push_back(program.word + g_ending);
        }
    }
    return names;
}

CollectiveOp
ParseCollectiveOp(const std::string& where, const std::string& word)
{
    const std::vector<std::string>& words = CollectiveOpWords();
    const auto own = std::find(words.begin(), words.end(), word);
    if (own != words.end())
    {
        return static_cast<CollectiveOp>(own - words.begin());
    }
    const NcclTestsProgram* program = FindNcclTestsProgram(word);
    if (program != nullptr && program->op)
    {
        return *program->op;
    }
    if (program != nullptr)
    {
        throw ConfigError(where,
                          Quoted(word) + " is an operation of nccl-tests that is not modelled",
                          AnyOf(words),
                          "ask for one of these");
    }
    const std::string nearest = Nearest(WithoutEnding(word), words);
    throw ConfigError(where,
                      Quoted(word) + " is not known",
                      AnyOf(words),
                      nearest.empty() ? "ask for one of these" : "did you mean " + nearest + "?");
}

} // namespace scaleacross
