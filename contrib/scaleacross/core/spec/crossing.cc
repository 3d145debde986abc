// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/crossing.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace scaleacross
{

const char* const kCrossingAllowed =
    "dp, pp, ep, or tp, cp, ep, pp and dp inner to outer, as in tp-cp-ep-pp4-dp-pp";

namespace
{

const std::vector<std::string>&
Words()
{
    static const std::vector<std::string> words = {"tp", "cp", "ep", "pp", "dp"};
    return words;
}

/// The crossings that have a name of their own.
const std::vector<std::pair<std::string, Crossing>>&
Named()
{
    static const std::vector<std::pair<std::string, Crossing>> named = {{"dp", Crossing::Data},
                                                                        {"pp", Crossing::Pipeline},
                                                                        {"ep", Crossing::Expert}};
    return named;
}

/// The name of a crossing, or nothing.
std::string
ShortWord(const Crossing& value)
{
    for (const auto& [word, crossing] : Named())
    {
        if (crossing == value)
        {
            return word;
        }
    }
    return "";
}

[[noreturn]] void
Refuse(const std::string& text, const std::string& why, const std::string& remedy = "")
{
    throw ValueError(Quoted(text) + ": " + why, kCrossingAllowed, remedy);
}

Crossing::Part
ParsePart(const std::string& text, const std::string& part)
{
    const auto word = std::find(Words().begin(), Words().end(), part.substr(0, 2));
    if (word == Words().end())
    {
        Refuse(text, Quoted(part) + " is no dimension");
    }
    Crossing::Part parsed;
    parsed.dimension = static_cast<Dimension>(word - Words().begin());
    if (part.size() > 2)
    {
        try
        {
            parsed.count = static_cast<uint32_t>(ParseWhole(part.substr(2), 2, 1U << 22));
        }
        catch (const ValueError&)
        {
            Refuse(text, "the count of " + Quoted(part) + " is not a whole number from 2");
        }
    }
    return parsed;
}

/// Every dimension has exactly one part that takes what the others leave.
void
CheckParts(const std::string& text, const Crossing& crossing)
{
    uint32_t open[kDimensions] = {};
    for (uint32_t i = 0; i < crossing.size; i++)
    {
        const Crossing::Part& part = crossing.parts[i];
        open[static_cast<size_t>(part.dimension)] += part.count == 0 ? 1 : 0;
        if (i > 0 && crossing.parts[i - 1].dimension == part.dimension)
        {
            Refuse(text, ToString(part.dimension) + " follows itself", "join the two");
        }
    }
    for (uint32_t d = 0; d < kDimensions; d++)
    {
        if (open[d] != 1)
        {
            Refuse(text,
                   open[d] == 0 ? Words()[d] + " without a count is missing"
                                : Words()[d] + " stands there " + std::to_string(open[d]) +
                                      " times without a count",
                   "name it once without a count: that part has what the others leave");
        }
    }
}

} // namespace

std::string
ToString(Dimension value)
{
    return Words().at(static_cast<size_t>(value));
}

bool
Crossing::IsNamed() const
{
    return !ShortWord(*this).empty();
}

Crossing
Crossing::Parse(const std::string& text)
{
    for (const auto& [word, crossing] : Named())
    {
        if (word == text)
        {
            return crossing;
        }
    }
    Crossing crossing;
    for (size_t begin = 0; begin <= text.size();)
    {
        const size_t end = std::min(text.find('-', begin), text.size());
        if (crossing.size == kMostParts)
        {
            Refuse(text, "more than " + std::to_string(kMostParts) + " parts");
        }
        crossing.parts[crossing.size++] = ParsePart(text, text.substr(begin, end - begin));
        begin = end + 1;
    }
    CheckParts(text, crossing);
    return crossing;
}

bool
operator==(const Crossing& a, const Crossing& b)
{
    return a.size == b.size && std::equal(a.parts.begin(),
                                          a.parts.begin() + a.size,
                                          b.parts.begin(),
                                          [](const Crossing::Part& x, const Crossing::Part& y) {
                                              return x.dimension == y.dimension &&
                                                     x.count == y.count;
                                          });
}

std::string
ToString(const Crossing& value)
{
    std::string text = ShortWord(value);
    if (text.empty())
    {
        for (uint32_t i = 0; i < value.size; i++)
        {
            const Crossing::Part& part = value.parts[i];
            text += (i == 0 ? "" : "-") + ToString(part.dimension) +
                    (part.count == 0 ? "" : std::to_string(part.count));
        }
    }
    return text;
}

std::string
NameOf(const Crossing& value)
{
    std::string word = ShortWord(value);
    std::transform(word.begin(), word.end(), word.begin(), [](char c) {
        return static_cast<char>(c - 'a' + 'A');
    });
    return word.empty() ? ToString(value) : word + "-out";
}

} // namespace scaleacross
