// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NCCL_TESTS_WORDS_H
#define SCALEACROSS_NCCL_TESTS_WORDS_H

#include "core/spec/collective-spec.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// A program of nccl-tests or rccl-tests.
struct NcclTestsProgram
{
    std::string word;               //!< its name without "_perf"
    std::optional<CollectiveOp> op; //!< none: this program does nothing that is modelled
};

/// All programs that nccl-tests 2.19.6 and rccl-tests of September 2024 build.
const std::vector<NcclTestsProgram>& NcclTestsPrograms();

/// The program of a name, with or without a folder and "_perf". Null: there is no such program.
const NcclTestsProgram* FindNcclTestsProgram(const std::string& name);

/// The names of the programs whose operations are modelled: "all_reduce_perf", ...
std::vector<std::string> ModelledNcclTestsPrograms();

/**
 * The operation of a word: one of CollectiveOpWords(), or the name of a program of nccl-tests
 * ("alltoall", "all_gather_perf").
 *
 * Throws ConfigError (where = `where`) for any other word, and for a program whose operation is not
 * modelled.
 */
CollectiveOp ParseCollectiveOp(const std::string& where, const std::string& word);

} // namespace scaleacross

#endif // SCALEACROSS_NCCL_TESTS_WORDS_H
