// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/known-names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <vector>

namespace scaleacross
{

namespace
{

/// The parts of a name behind its organisation, in lower case.
std::vector<std::string>
WordsOf(const std::string& name)
{
    const size_t slash = name.rfind('/');
    std::vector<std::string> words(1);
    for (size_t i = slash == std::string::npos ? 0 : slash + 1; i < name.size(); i++)
    {
        const auto byte = static_cast<unsigned char>(name[i]);
        if (byte == '-' || byte == '_')
        {
            words.emplace_back();
        }
        else
        {
            words.back() += static_cast<char>(std::tolower(byte));
        }
    }
    return words;
}

/// Whether a model is of the same shape with this behind its name.
bool
IsVariant(const std::string& word)
{
    static const std::set<std::string> variants = {"awq",
                                                   "base",
                                                   "bf16",
                                                   "chat",
                                                   "fp8",
                                                   "gguf",
                                                   "gptq",
                                                   "hf",
                                                   "instruct",
                                                   "int4",
                                                   "int8",
                                                   "it",
                                                   "mxfp4",
                                                   "nvfp4",
                                                   "original",
                                                   "pretrained",
                                                   "thinking"};
    const bool isVersion = word.size() > 1 && word.front() == 'v';
    const bool isNumber =
        !word.empty() &&
        std::all_of(word.begin() + (isVersion ? 1 : 0), word.end(), [](unsigned char byte) {
            return std::isdigit(byte) != 0 || byte == '.';
        });
    return isNumber || variants.count(word) > 0;
}

} // namespace

bool
IsNameOf(const std::string& name, const std::string& known)
{
    const std::vector<std::string> words = WordsOf(name);
    const std::vector<std::string> first = WordsOf(known);
    return words.size() >= first.size() && std::equal(first.begin(), first.end(), words.begin()) &&
           std::all_of(words.begin() + static_cast<std::ptrdiff_t>(first.size()),
                       words.end(),
                       IsVariant);
}

} // namespace scaleacross
