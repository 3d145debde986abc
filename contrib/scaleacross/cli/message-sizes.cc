// SPDX-License-Identifier: GPL-2.0-only

#include "cli/message-sizes.h"

#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"

#include <cmath>

namespace scaleacross
{

namespace
{

constexpr uint64_t g_largestSize = 1ULL << 40;
constexpr size_t g_mostSizes = 10000;

Bytes
SizeAt(const std::string& option, const std::string& text)
{
    static const std::string units = "KMGkmg";
    const std::string allowed =
        "bytes from 1 to 1024G, with K, M or G for powers of 1024, such as 128M";
    std::string number = text;
    double unit = 1;
    const auto unitAt = text.empty() ? std::string::npos : units.find(text.back());
    if (unitAt != std::string::npos)
    {
        number.pop_back();
        unit = std::pow(1024.0, static_cast<double>(unitAt % 3 + 1));
    }
    try
    {
        const double bytes = ParseNumber(number, 0, static_cast<double>(g_largestSize)) * unit;
        if (bytes == 0)
        {
            throw ConfigError(option, Quoted(text) + " is nothing to send", allowed, "");
        }
        if (bytes >= 1 && bytes <= static_cast<double>(g_largestSize) && bytes == std::floor(bytes))
        {
            return Bytes(static_cast<uint64_t>(bytes));
        }
    }
    catch (const ValueError&)
    {
        throw ConfigError(option, Quoted(text) + " is not a size", allowed, "");
    }
    throw ConfigError(option, Quoted(text) + " is not a whole number of bytes", allowed, "");
}

} // namespace

void
AddSizeOptions(Command command, SizeOptions& options)
{
    command.Add("-b,--minbytes", options.least, "first size: 8, 4K, 128M, 1G (1024-based)")
        .ShowDefault();
    command.Add("-e,--maxbytes", options.most, "last size").ShowDefault();
    command.Add("-f,--stepfactor",
                options.factor,
                "each size is the one before times this; default: 2");
    command.Add("-i,--stepbytes",
                options.increment,
                "each size is the one before plus this, in place of -f");
}

std::vector<std::string>
GivenSizes(const Command& command)
{
    std::vector<std::string> given;
    for (const char* name : {"-b", "-e", "-f", "-i"})
    {
        if (command.IsGiven(name))
        {
            given.emplace_back(name);
        }
    }
    return given;
}

std::vector<Bytes>
SizesOf(const SizeOptions& options)
{
    const Bytes least = SizeAt("-b", options.least);
    const Bytes most = SizeAt("-e", options.most);
    if (most < least)
    {
        throw ConfigError("-e",
                          Quoted(options.most) + " is less than -b " + options.least,
                          "a size from -b on",
                          "");
    }
    if (!options.factor.empty() && !options.increment.empty())
    {
        throw ConfigError("-f", "-i is given as well", "one of them", "leave one away");
    }
    uint64_t factor = 2;
    if (!options.factor.empty())
    {
        factor = ParseAt("-f", [&] { return ParseWhole(options.factor, 2, 1U << 20); });
    }
    const bool adds = !options.increment.empty();
    const Bytes increment = adds ? SizeAt("-i", options.increment) : Bytes();
    std::vector<Bytes> sizes;
    for (Bytes size = least; size <= most; size = adds ? size + increment : size * factor)
    {
        if (sizes.size() == g_mostSizes)
        {
            throw ConfigError(adds ? "-i" : "-f",
                              "this gives more than " + std::to_string(g_mostSizes) + " sizes",
                              "fewer",
                              "take larger steps");
        }
        sizes.push_back(size);
    }
    return sizes;
}

} // namespace scaleacross
