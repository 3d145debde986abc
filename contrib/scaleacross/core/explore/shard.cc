// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/shard.h"

#include "core/base/text.h"

namespace scaleacross
{

std::string
ToString(const Shard& shard)
{
    return std::to_string(shard.index + 1) + "/" + std::to_string(shard.count);
}

Shard
ParseShard(const std::string& text)
{
    const std::string allowed = "i/n, the i-th of n parts, with n from 1 to " +
                                std::to_string(kMostShards) + " and i from 1 to n";
    const std::string remedy = "give each part once, such as 1/4, 2/4, 3/4 and 4/4";
    try
    {
        const auto slash = text.find('/');
        if (slash != std::string::npos)
        {
            const uint64_t count = ParseWhole(text.substr(slash + 1), 1, kMostShards);
            return {ParseWhole(text.substr(0, slash), 1, count) - 1, count};
        }
    }
    catch (const ValueError&)
    {
        // The same is said of both numbers.
    }
    throw ValueError(Quoted(text) + " names no part", allowed, remedy);
}

} // namespace scaleacross
