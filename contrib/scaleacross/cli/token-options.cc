// SPDX-License-Identifier: GPL-2.0-only

#include "cli/token-options.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <map>
#include <vector>

namespace scaleacross
{

namespace
{

/// The all-to-all that stands for a kernel's word.
AllToAllAlgorithm
WayOf(const std::string& word)
{
    static const std::map<std::string, TokenKernel> kernels = {
        {"low-latency", TokenKernel::LowLatency},
        {"throughput", TokenKernel::Throughput}};
    const auto found = kernels.find(word);
    if (found == kernels.end())
    {
        std::vector<std::string> words;
        for (const auto& [known, kernel] : kernels)
        {
            words.push_back(known);
        }
        const std::string nearest = Nearest(word, words);
        throw ConfigError("--kernel",
                          Quoted(word) + " is not known",
                          AnyOf(words),
                          nearest.empty() ? "" : "did you mean " + nearest + "?");
    }
    const TokenKernel kernel = found->second;
    return AllToAllAlgorithm::First([kernel](const auto& row) { return row.kernel == kernel; });
}

} // namespace

void
AddTokenOptions(Command command, TokenOptions& options)
{
    command.Add("--tokens", options.tokens, "dispatch, combine: tokens of a rank")
        .Between(1, 1U << 24);
    command.Add("--hidden", options.hidden, "dispatch, combine: elements of a token")
        .Between(1, 1U << 24);
    command.Add("--top-k", options.topK, "dispatch, combine: experts of a token").Between(1, 1024);
    command.Add("--experts", options.experts, "dispatch, combine: experts of all ranks")
        .Between(1, 1U << 20);
    command
        .Add("--max-nodes",
             options.maxNodes,
             "dispatch, combine: servers that a token's experts may be on; 0: any number")
        .Between(0, 1U << 20);
    command.Add("--precision",
                options.precision,
                "dispatch, combine: fp8, bf16 or usual, which is fp8 there and bf16 back");
    command.Add("--kernel",
                options.kernel,
                "dispatch, combine: throughput (network.all_to_all: deepep) or low-latency "
                "(deepep-low-latency); default: what the network says, or throughput");
}

void
CheckTokenOptions(const CollectiveSpec& spec,
                  const TokenOptions& options,
                  const std::vector<std::string>& sizes)
{
    const std::string op = "--op " + ToString(spec.op);
    if (!spec.Routes() && options.Any())
    {
        throw ConfigError(op,
                          "options of tokens are given, and it sends none",
                          "--op dispatch or combine",
                          "leave out --tokens, --hidden, --top-k, --experts, --max-nodes, "
                          "--precision and --kernel");
    }
    if (spec.Routes() && !sizes.empty())
    {
        throw ConfigError(op,
                          "sizes are given, and its size follows from its tokens",
                          "--tokens, --hidden and --top-k",
                          "leave out -b, -e, -f and -i");
    }
}

void
SetTokens(const TokenOptions& options, Scenario& scenario, CollectiveSpec& spec)
{
    AllToAllAlgorithm& way = scenario.network.allToAll;
    if (!options.kernel.empty() || way->follows)
    {
        way = WayOf(options.kernel.empty() ? "throughput" : options.kernel);
    }
    TokenSpec& tokens = spec.tokens;
    const ModelSpec& model = scenario.Job().model;
    if (model.IsMoe())
    {
        tokens.hidden = static_cast<uint32_t>(model.hidden);
        tokens.topK = model.topK;
        tokens.experts = model.experts;
    }
    if (way->kernel == TokenKernel::LowLatency)
    {
        tokens.tokens = 128;
    }
    tokens.tokens = options.tokens.value_or(tokens.tokens);
    tokens.hidden = options.hidden.value_or(tokens.hidden);
    tokens.topK = options.topK.value_or(tokens.topK);
    tokens.experts = options.experts.value_or(tokens.experts);
    tokens.maxNodes = options.maxNodes.value_or(tokens.maxNodes);
    if (!options.precision.empty())
    {
        try
        {
            FindField(CollectiveSpec::Fields(), "precision")->set(spec, options.precision);
        }
        catch (const ConfigError& error)
        {
            throw error.At("--precision");
        }
    }
    try
    {
        spec.Validate();
    }
    catch (const ConfigError& error)
    {
        throw ConfigError("--top-k",
                          error.Problem(),
                          error.Allowed(),
                          "give fewer, or more experts with --experts");
    }
}

} // namespace scaleacross
