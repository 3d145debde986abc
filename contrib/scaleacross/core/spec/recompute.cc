// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/recompute.h"

#include "core/base/word-registry.h"

#include <algorithm>
#include <tuple>

namespace scaleacross
{

namespace
{

using Parts = RecomputedParts;

RecomputeFacts
Alone(const WordFacts& word, std::initializer_list<bool Parts::*> parts)
{
    RecomputeFacts facts{word};
    for (const auto part : parts)
    {
        facts.parts.*part = true;
    }
    return facts;
}

RecomputeFacts
Module(const WordFacts& word, bool Parts::*part)
{
    return {word, part};
}

std::vector<std::string>
NamesOf(bool modules)
{
    std::vector<std::string> names;
    for (const auto* row : RecomputeWord::Rows())
    {
        if ((row->module != nullptr) == modules)
        {
            names.push_back(row->word);
        }
    }
    return names;
}

/// The words that "+" joins.
std::vector<std::string>
WordsOf(const std::string& text)
{
    std::vector<std::string> words;
    for (size_t begin = 0; begin <= text.size();)
    {
        const size_t end = std::min(text.find('+', begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

const RecomputeFacts&
RowOf(const std::string& text, const std::string& word)
{
    try
    {
        return *RecomputeWord(word);
    }
    catch (const ValueError& error)
    {
        const std::string where = word == text ? "" : Quoted(text) + ": ";
        throw ValueError(where + error.Problem(), RecomputeAllowed(), error.Remedy());
    }
}

} // namespace

template <>
const std::vector<const RecomputeFacts*>&
RecomputeWord::Rows()
{
    static const auto rows = PointersTo<RecomputeFacts>(
        {Alone({"none", "nothing: all is kept", true}, {}),
         Alone({"selective", "the outputs of norms and of activation functions"},
               {&Parts::norms, &Parts::activations}),
         Alone({"full", "whole layers: only each layer's input is kept"}, {&Parts::layers}),
         Alone({"full-but-qkv",
                "whole layers: kept are each layer's input, queries, keys and values"},
               {&Parts::layers, &Parts::keepsProjections}),
         Alone({"alternate",
                "every second linear layer, routed experts and all that is element-wise"},
               {&Parts::norms, &Parts::activations, &Parts::linears}),
         Module({"norm", "module: the outputs of a layer's norms"}, &Parts::norms),
         Module({"activation", "module: the outputs of activation functions, experts' too"},
                &Parts::activations),
         Module({"mla-up-proj", "module: queries, keys and values from the latent vectors of MLA"},
                &Parts::upProjections),
         Module({"mlp", "module: the MLPs of dense layers, with their communication"},
                &Parts::denseMlp),
         Module({"moe",
                 "module: MoE layers from their norm's output on: router, dispatch, experts, "
                 "combination"},
                &Parts::experts),
         Module({"shared-experts", "module: the shared experts of MoE layers"},
                &Parts::sharedExperts)});
    return rows;
}

template class Word<RecomputeFacts>;

bool
operator==(const RecomputedParts& a, const RecomputedParts& b)
{
    const auto all = [](const RecomputedParts& p) {
        return std::tie(p.norms,
                        p.activations,
                        p.upProjections,
                        p.denseMlp,
                        p.experts,
                        p.sharedExperts,
                        p.linears,
                        p.layers,
                        p.keepsProjections);
    };
    return all(a) == all(b);
}

Recompute::Recompute(const char* text)
    : Recompute(std::string(text))
{
}

Recompute::Recompute(const std::string& text)
{
    const auto words = WordsOf(text);
    for (const auto& word : words)
    {
        const RecomputeFacts& row = RowOf(text, word);
        if (row.module == nullptr)
        {
            if (words.size() > 1)
            {
                throw ValueError(Quoted(text) + ": " + word + " stands alone",
                                 RecomputeAllowed(),
                                 "say " + word + ", or leave it out");
            }
            m_parts = row.parts;
            return;
        }
        if (m_parts.*row.module)
        {
            throw ValueError(Quoted(text) + ": " + word + " is there twice",
                             RecomputeAllowed(),
                             "name it once");
        }
        m_parts.*row.module = true;
    }
}

Recompute
Recompute::Without(bool RecomputedParts::*module) const
{
    Recompute without = *this;
    without.m_parts.*module = false;
    return without;
}

std::string
ToString(const Recompute& value)
{
    std::string text;
    for (const auto* row : RecomputeWord::Rows())
    {
        if (row->module == nullptr && row->parts == *value)
        {
            return row->word;
        }
        if (row->module != nullptr && *value.*row->module)
        {
            text += (text.empty() ? "" : "+") + row->word;
        }
    }
    return text;
}

const std::string&
RecomputeAllowed()
{
    static const std::string allowed =
        AnyOf(NamesOf(false)) + ", or of the modules " + AnyOf(NamesOf(true)) + " any joined by +";
    return allowed;
}

} // namespace scaleacross
