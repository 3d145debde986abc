// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/collective-json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

using Json = nlohmann::ordered_json;

/// Writes a member unless it is as it usually is.
template <class Value>
void
Put(Json& json, const char* key, const Value& value, const Value& usual)
{
    if (!(value == usual))
    {
        json[key] = value;
    }
}

template <class Value>
void
Take(const Json& json, const char* key, Value& value)
{
    value = json.value(key, value);
}

Json
ToJson(const StepCost& cost)
{
    return Json::array({cost.fixed.Ps(), cost.perByte});
}

StepCost
StepCostOf(const Json& json)
{
    return {Duration::Picoseconds(json.at(0).get<int64_t>()), json.at(1).get<double>()};
}

Json
ToJson(const Phase& phase)
{
    const Phase usual;
    Json json{{"pattern", static_cast<uint32_t>(phase.pattern)},
              {"group", ExactJson(phase.group)},
              {"bytes", phase.bytes.Count()}};
    Put(json, "shift", phase.shift, usual.shift);
    Put(json, "parts", phase.parts, usual.parts);
    Put(json, "chunk", phase.chunk.Count(), usual.chunk.Count());
    Put(json, "per_server", phase.perServer, usual.perServer);
    Put(json, "lane", phase.lane, usual.lane);
    if (phase.inside)
    {
        json["inside"] = ToJson(*phase.inside);
    }
    if (!(phase.between == usual.between))
    {
        json["between"] = ToJson(phase.between);
    }
    Put(json, "occupied", phase.occupied, usual.occupied);
    if (!(phase.slots == usual.slots))
    {
        json["slots"] = Json::array(
            {phase.slots.slots, phase.slots.bytes.Count(), phase.slots.least, phase.slots.phases});
    }
    Put(json, "width", phase.width, usual.width);
    return json;
}

Phase
PhaseOf(const Json& json)
{
    Phase phase;
    phase.pattern = static_cast<Pattern>(json.at("pattern").get<uint32_t>());
    phase.group = GroupOfJson(json.at("group"));
    phase.bytes = Bytes(json.at("bytes").get<uint64_t>());
    Take(json, "shift", phase.shift);
    Take(json, "parts", phase.parts);
    phase.chunk = Bytes(json.value("chunk", uint64_t{0}));
    Take(json, "per_server", phase.perServer);
    Take(json, "lane", phase.lane);
    if (json.contains("inside"))
    {
        phase.inside = StepCostOf(json.at("inside"));
    }
    if (json.contains("between"))
    {
        phase.between = StepCostOf(json.at("between"));
    }
    Take(json, "occupied", phase.occupied);
    if (json.contains("slots"))
    {
        const Json& slots = json.at("slots");
        phase.slots.slots = slots.at(0).get<uint32_t>();
        phase.slots.bytes = Bytes(slots.at(1).get<uint64_t>());
        phase.slots.least = slots.at(2).get<uint32_t>();
        phase.slots.phases = slots.at(3).get<uint32_t>();
    }
    Take(json, "width", phase.width);
    return phase;
}

} // namespace

Json
ExactJson(const RankGroup& group)
{
    Json axes = Json::array();
    for (const RankGroup::Axis& axis : group.Axes())
    {
        axes.push_back(Json::array({axis.stride, axis.count}));
    }
    return axes;
}

RankGroup
GroupOfJson(const Json& json)
{
    std::vector<RankGroup::Axis> axes;
    for (const Json& axis : json)
    {
        axes.push_back({axis.at(0).get<uint32_t>(), axis.at(1).get<uint32_t>()});
    }
    return RankGroup(std::move(axes));
}

Json
ExactJson(const Collective& collective)
{
    const Collective usual;
    Json json{{"class", static_cast<uint32_t>(collective.comm)},
              {"name", collective.name},
              {"algorithm", collective.algorithm}};
    json["call"] = Json::array({static_cast<uint32_t>(collective.call.op),
                                ExactJson(collective.call.group),
                                collective.call.bytes.Count()});
    Put(json, "chunks", collective.chunks, usual.chunks);
    Put(json, "channels", collective.channels, usual.channels);
    Put(json, "streams", collective.streams, usual.streams);
    Put(json, "launch_ps", collective.launch.Ps(), usual.launch.Ps());
    Put(json, "protocol", collective.protocol, usual.protocol);
    Put(json, "library_channels", collective.libraryChannels, usual.libraryChannels);
    Put(json, "processors", collective.processors, usual.processors);
    Json phases = Json::array();
    for (const Phase& phase : collective.phases)
    {
        phases.push_back(ToJson(phase));
    }
    json["phases"] = std::move(phases);
    return json;
}

Collective
CollectiveOfJson(const Json& json)
{
    Collective collective;
    collective.comm = static_cast<CommClass>(json.at("class").get<uint32_t>());
    collective.name = json.at("name").get<std::string>();
    collective.algorithm = json.at("algorithm").get<std::string>();
    const Json& call = json.at("call");
    collective.call = {static_cast<CollectiveOp>(call.at(0).get<uint32_t>()),
                       GroupOfJson(call.at(1)),
                       Bytes(call.at(2).get<uint64_t>())};
    Take(json, "chunks", collective.chunks);
    Take(json, "channels", collective.channels);
    Take(json, "streams", collective.streams);
    collective.launch = Duration::Picoseconds(json.value("launch_ps", int64_t{0}));
    Take(json, "protocol", collective.protocol);
    Take(json, "library_channels", collective.libraryChannels);
    Take(json, "processors", collective.processors);
    for (const Json& phase : json.at("phases"))
    {
        collective.phases.push_back(PhaseOf(phase));
    }
    return collective;
}

} // namespace scaleacross
