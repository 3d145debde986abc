// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/traffic-classes.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <vector>

namespace scaleacross
{

namespace
{

const std::string g_strict = "strict";

} // namespace

uint32_t
TrafficClasses::Used() const
{
    uint32_t used = 0;
    for (const uint32_t number : of)
    {
        used |= 1U << number;
    }
    return used;
}

uint32_t
TrafficClasses::Count() const
{
    uint32_t count = 0;
    for (uint32_t rest = Used(); rest != 0; rest &= rest - 1)
    {
        count++;
    }
    return count;
}

ClassWeights
ParseClassWeights(const std::string& text)
{
    ClassWeights weights{};
    if (text == g_strict)
    {
        return weights;
    }
    std::vector<std::string> parts(1);
    for (const char c : text)
    {
        if (c == ':')
        {
            parts.emplace_back();
        }
        else
        {
            parts.back() += c;
        }
    }
    if (parts.size() > weights.size())
    {
        throw ValueError(Quoted(text) + " has " + std::to_string(parts.size()) + " weights",
                         ClassWeightsAllowed(),
                         "leave out those behind the last class, which is " +
                             std::to_string(kTrafficClasses - 1));
    }
    for (size_t i = 0; i < parts.size(); i++)
    {
        try
        {
            weights[i] = static_cast<uint32_t>(ParseWhole(parts[i], 0, kMostClassWeight));
        }
        catch (const ValueError& error)
        {
            throw ValueError("the weight of class " + std::to_string(i) + ": " + error.Problem(),
                             ClassWeightsAllowed(),
                             "for instance 1:3, of which class 1 gets three quarters");
        }
    }
    return weights;
}

std::string
ClassWeightsAllowed()
{
    return g_strict + ", or up to " + std::to_string(kTrafficClasses) + " whole numbers 0 to " +
           std::to_string(kMostClassWeight) + ", of class 0 first, joined by colons";
}

std::string
ClassWeightsText(const ClassWeights& weights)
{
    const auto isWeight = [](uint32_t weight) { return weight > 0; };
    const auto end = std::find_if(weights.rbegin(), weights.rend(), isWeight).base();
    std::string text;
    for (auto weight = weights.begin(); weight != end; ++weight)
    {
        text += (text.empty() ? "" : ":") + std::to_string(*weight);
    }
    return text.empty() ? g_strict : text;
}

} // namespace scaleacross
