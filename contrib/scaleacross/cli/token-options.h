// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TOKEN_OPTIONS_H
#define SCALEACROSS_TOKEN_OPTIONS_H

#include "cli/command-line.h"
#include "core/spec/collective-spec.h"
#include "core/spec/scenario.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// What is said of dispatch and combine; nothing: what the study's model has, or TokenSpec.
struct TokenOptions
{
    std::optional<uint32_t> tokens;
    std::optional<uint32_t> hidden;
    std::optional<uint32_t> topK;
    std::optional<uint32_t> experts;
    std::optional<uint32_t> maxNodes;
    std::string precision; //!< empty: usual
    std::string kernel;    //!< empty: by the study's network, or throughput

    bool Any() const
    {
        return tokens || hidden || topK || experts || maxNodes || !precision.empty() ||
               !kernel.empty();
    }
};

/// Adds them.
void AddTokenOptions(Command command, TokenOptions& options);

/// Throws ConfigError where options of tokens are given for an operation that sends none, or sizes
/// for one whose size follows from its tokens. `sizes`: GivenSizes().
void CheckTokenOptions(const CollectiveSpec& spec,
                       const TokenOptions& options,
                       const std::vector<std::string>& sizes);

/**
 * Fills in what a dispatch or combine sends, and by which all-to-all of the network. Of a model
 * with experts it has hidden size, experts and those of a token; a rank has 4,096 tokens, and 128
 * for low latency, as in DeepEP's tests.
 *
 * Throws ConfigError (where = the option).
 */
void SetTokens(const TokenOptions& options, Scenario& scenario, CollectiveSpec& spec);

} // namespace scaleacross

#endif // SCALEACROSS_TOKEN_OPTIONS_H
