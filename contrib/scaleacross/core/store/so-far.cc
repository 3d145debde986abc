// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/so-far.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

using Json = nlohmann::json;

constexpr const char* g_time = "time";
constexpr const char* g_signal = "signal";

Json
CountsJson(const std::map<std::string, Count>& counts)
{
    Json json = Json::object();
    for (const auto& [reason, count] : counts)
    {
        json[reason] = {{"count", count.count}, {"example", count.example}};
    }
    return json;
}

std::map<std::string, Count>
CountsOf(const Json& json)
{
    std::map<std::string, Count> counts;
    for (const auto& [reason, count] : json.items())
    {
        counts[reason] = {count.at("count").get<uint64_t>(), count.at("example")};
    }
    return counts;
}

} // namespace

std::string
ToText(const SoFar& soFar)
{
    const Frontier& counts = soFar.counts;
    const bool isBounded = counts.bound != Duration::Max();
    Json json = {{"end", soFar.end == SoFar::End::Time ? g_time : g_signal},
                 {"evaluated", counts.evaluated},
                 {"bound_s", isBounded ? Json(counts.bound.S()) : Json(nullptr)},
                 {"left", std::isfinite(counts.left) ? Json(counts.left) : Json(nullptr)},
                 {"proven_after", counts.provenAfter ? Json(*counts.provenAfter) : Json(nullptr)},
                 {"rejected", CountsJson(counts.rejected)},
                 {"failed", CountsJson(counts.failed)}};
    // Examples have names that users give, in whatever encoding.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

SoFar
SoFarOf(const Database& database, const std::string& text, uint64_t plans)
{
    SoFar soFar;
    try
    {
        const Json json = Json::parse(text);
        soFar.end = json.at("end") == g_signal ? SoFar::End::Signal : SoFar::End::Time;
        Frontier& counts = soFar.counts;
        counts.evaluated = json.at("evaluated").get<uint64_t>();
        if (const Json& bound = json.at("bound_s"); !bound.is_null())
        {
            counts.bound = Duration::Seconds(bound.get<double>());
        }
        if (const Json& left = json.at("left"); !left.is_null())
        {
            counts.left = left.get<double>();
        }
        if (const Json& after = json.at("proven_after"); !after.is_null())
        {
            counts.provenAfter = after.get<uint64_t>();
        }
        counts.rejected = CountsOf(json.at("rejected"));
        counts.failed = CountsOf(json.at("failed"));
    }
    catch (const Json::exception& error)
    {
        database.Damaged(std::string("so_far of a search: ") + error.what());
    }
    if (soFar.counts.DecidedPositions() > plans)
    {
        database.Damaged("so_far of a search has " +
                         std::to_string(soFar.counts.DecidedPositions()) + " of " +
                         std::to_string(plans) + " plans decided");
    }
    return soFar;
}

} // namespace scaleacross
