// SPDX-License-Identifier: GPL-2.0-only

#include "cli/models/correction-file.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/base/version.h"
#include "core/io/text-file.h"
#include "core/store/key.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace scaleacross
{

namespace
{

using Json = nlohmann::ordered_json;

constexpr int kVersion = 2;

Json
ToJson(const MeasuredOperation& operation)
{
    const CorrectionRow& row = operation.row;
    return {{"class", ToString(row.kind.comm)},
            {"operation", row.kind.name},
            {"algorithm", row.kind.algorithm},
            {"protocol", row.kind.protocol},
            {"reach", ToString(row.kind.reach)},
            {"way", row.kind.way},
            {"split", row.kind.split},
            {"levels", row.levels},
            {"bytes", row.bytes.Count()},
            {"factor", row.factor.value},
            {"low", row.factor.low},
            {"high", row.factor.high},
            {"seeds", operation.seeds},
            {"slice", operation.slice},
            {"stages", operation.stages},
            {"times", operation.times},
            {"part", operation.part},
            {"share", operation.share},
            {"model_s", operation.modelSeconds}};
}

/// The value whose ToString() a text is.
template <class Value>
Value
ValueOf(const std::string& text, const std::vector<Value>& values)
{
    std::vector<std::string> words;
    for (const Value value : values)
    {
        if (ToString(value) == text)
        {
            return value;
        }
        words.push_back(ToString(value));
    }
    throw ValueError(Quoted(text) + " is not known", AnyOf(words), "");
}

/// A number above 0, of up to `most`.
double
Positive(const Json& json, const char* key, double most = 1e12)
{
    const double value = json.at(key);
    if (!(value > 0) || !(value <= most))
    {
        throw ValueError(std::string(key) + " is " + NumberText(value),
                         "a number above 0, up to " + NumberText(most),
                         "");
    }
    return value;
}

/// A number from 0 to `most`.
double
NotNegative(const Json& json, const char* key, double most)
{
    const double value = json.at(key);
    if (!(value >= 0) || !(value <= most))
    {
        throw ValueError(std::string(key) + " is " + NumberText(value),
                         "a number from 0 to " + NumberText(most),
                         "");
    }
    return value;
}

/// Of `least` to `most`.
uint64_t
Whole(const Json& json, const std::string& what, uint64_t least, uint64_t most)
{
    if (!json.is_number_unsigned() || json < least || json > most)
    {
        throw ValueError(what + " is " + json.dump(),
                         "a whole number from " + std::to_string(least) + " to " +
                             std::to_string(most),
                         "");
    }
    return json;
}

MemberLevels
LevelsOf(const Json& json)
{
    MemberLevels levels;
    if (!json.is_array())
    {
        throw ValueError("levels is " + json.dump(), "the members of a group, level by level", "");
    }
    for (const Json& members : json)
    {
        levels.push_back(static_cast<uint32_t>(Whole(members, "one of the levels", 1, UINT32_MAX)));
    }
    if (levels.empty())
    {
        throw ValueError("levels has none", "the members of a group, level by level", "");
    }
    return levels;
}

MeasuredOperation
OperationOf(const Json& json)
{
    MeasuredOperation operation;
    CorrectionRow& row = operation.row;
    row.kind.comm = ValueOf<CommClass>(json.at("class"),
                                       {CommClass::Tensor,
                                        CommClass::Context,
                                        CommClass::Expert,
                                        CommClass::Pipeline,
                                        CommClass::Data});
    row.kind.name = json.at("operation");
    row.kind.algorithm = json.at("algorithm");
    row.kind.protocol = json.at("protocol");
    row.kind.reach =
        ValueOf<Tier>(json.at("reach"), {Tier::Leaf, Tier::Zone, Tier::Building, Tier::Cross});
    row.kind.way = json.at("way");
    row.kind.split = json.at("split");
    row.levels = LevelsOf(json.at("levels"));
    row.bytes = Bytes(Whole(json.at("bytes"), "bytes", 1, UINT64_MAX));
    row.factor = {Positive(json, "factor"), Positive(json, "low"), Positive(json, "high")};
    if (row.factor.low > row.factor.value || row.factor.value > row.factor.high)
    {
        throw ValueError("the factor lies outside of low to high", "low <= factor <= high", "");
    }
    operation.seeds = static_cast<uint32_t>(Whole(json.at("seeds"), "seeds", 1, UINT32_MAX));
    if (json.contains("slice")) // what has been measured before there were others is of one stage
    {
        operation.slice = json.at("slice");
        operation.stages = static_cast<uint32_t>(Whole(json.at("stages"), "stages", 1, UINT32_MAX));
        operation.times = static_cast<uint32_t>(Whole(json.at("times"), "times", 1, UINT32_MAX));
    }
    operation.part = Positive(json, "part", 1);
    operation.share = NotNegative(json, "share", 1e12);
    operation.modelSeconds = Positive(json, "model_s");
    return operation;
}

CorrectionSet
SetOf(const Json& json)
{
    CorrectionSet set;
    set.network = json.at("network");
    set.study = json.at("study");
    set.models = json.at("models");
    set.distanceKm = NotNegative(json, "distance_km", 1e6);
    set.loss = NotNegative(json, "loss", 1);
    set.transport = Transport(json.at("transport").get<std::string>())->word;
    set.multipath = Multipath(json.at("multipath").get<std::string>())->word;
    set.control = CongestionControl(json.at("control").get<std::string>())->word;
    if (!json.at("operations").is_array())
    {
        throw ValueError("operations is no list", "what has been measured", "");
    }
    for (const Json& operation : json.at("operations"))
    {
        set.operations.push_back(OperationOf(operation));
    }
    return set;
}

bool
AreOfTheSame(const CorrectionRow& a, const CorrectionRow& b)
{
    return a.kind == b.kind && a.levels == b.levels && a.bytes == b.bytes;
}

/// How much of an operation was sent at a time.
double
AmountOf(const MeasuredOperation& operation)
{
    return operation.part * operation.stages * operation.times;
}

std::string
Summary(const CorrectionSet& set)
{
    return set.study + " (" + set.transport + ", " + set.multipath + ", control " + set.control +
           ", " + NumberText(set.distanceKm) + " km, loss " + NumberText(set.loss) + ")";
}

} // namespace

std::string
ToString(const MeasuredOperation& operation)
{
    return ToString(operation.row.kind) + ", " + ToString(operation.row.bytes) + " of " +
           ToString(operation.row.levels);
}

std::string
NetworkNameOf(const Scenario& scenario)
{
    return HashOf(NetworkText(scenario));
}

std::string
ModelsName()
{
    return HashOf(std::string(SourceHash(Sources::Core)) + " " + SourceHash(Sources::Module));
}

CorrectionSet
EmptySetOf(const Scenario& scenario, const std::string& study)
{
    CorrectionSet set;
    set.network = NetworkNameOf(scenario);
    set.study = study;
    set.models = ModelsName();
    const SpanFigures spans = SpanFiguresOf(scenario.cluster);
    set.distanceKm = spans.distanceKm.value_or(0);
    set.loss = spans.loss.value_or(0);
    set.transport = scenario.network.transport->word;
    set.multipath = scenario.network.multipath->word;
    set.control = scenario.network.control->word;
    return set;
}

std::vector<CorrectionSet>
ReadCorrectionFile(const std::string& path)
{
    const std::string allowed = "a file that `scaleacross calibrate` has written";
    const Json json = Json::parse(ReadTextFile(path), nullptr, false);
    if (!json.is_object() || !json.contains("corrections") || json.at("corrections") != kVersion ||
        !json.contains("sets") || !json.at("sets").is_array())
    {
        throw ConfigError(path, "this is no file of corrections", allowed, "");
    }
    std::vector<CorrectionSet> sets;
    for (size_t i = 0; i < json.at("sets").size(); i++)
    {
        const std::string where = path + " sets." + std::to_string(i);
        try
        {
            sets.push_back(SetOf(json.at("sets").at(i)));
        }
        catch (const nlohmann::json::exception& error)
        {
            throw ConfigError(where,
                              std::string("it lacks a value, or has one of another type: ") +
                                  error.what(),
                              allowed,
                              "");
        }
        catch (const ValueError& error)
        {
            throw ConfigError(where, error.Problem(), error.Allowed(), error.Remedy());
        }
    }
    return sets;
}

std::string
CorrectionFileText(const std::vector<CorrectionSet>& sets)
{
    Json json = {{"corrections", kVersion}, {"sets", Json::array()}};
    for (const CorrectionSet& set : sets)
    {
        Json operations = Json::array();
        for (const MeasuredOperation& operation : set.operations)
        {
            operations.push_back(ToJson(operation));
        }
        json["sets"].push_back({{"network", set.network},
                                {"study", set.study},
                                {"models", set.models},
                                {"distance_km", set.distanceKm},
                                {"loss", set.loss},
                                {"transport", set.transport},
                                {"multipath", set.multipath},
                                {"control", set.control},
                                {"operations", operations}});
    }
    return json.dump(2) + "\n";
}

std::vector<MeasuredOperation>
Merge(std::vector<CorrectionSet>& sets, CorrectionSet added)
{
    std::vector<MeasuredOperation> kept;
    const auto set = std::find_if(sets.begin(), sets.end(), [&added](const CorrectionSet& other) {
        return other.network == added.network;
    });
    if (set == sets.end())
    {
        sets.push_back(std::move(added));
        return kept;
    }
    const bool counts = set->models == added.models;
    for (const MeasuredOperation& old : counts ? set->operations : std::vector<MeasuredOperation>())
    {
        const auto newer = std::find_if(
            added.operations.begin(),
            added.operations.end(),
            [&old](const MeasuredOperation& other) { return AreOfTheSame(old.row, other.row); });
        if (newer == added.operations.end())
        {
            added.operations.push_back(old);
        }
        else if (std::make_pair(AmountOf(*newer), newer->seeds) <
                 std::make_pair(AmountOf(old), old.seeds))
        {
            *newer = old;
            kept.push_back(old);
        }
    }
    *set = std::move(added);
    return kept;
}

Corrections
CorrectionsFor(const Scenario& scenario,
               const std::vector<CorrectionSet>& sets,
               const std::string& path)
{
    const std::string network = NetworkNameOf(scenario);
    std::string others;
    for (const CorrectionSet& set : sets)
    {
        if (set.network != network)
        {
            others += (others.empty() ? "" : "; ") + Summary(set);
            continue;
        }
        if (set.models != ModelsName())
        {
            throw ConfigError(path,
                              "its corrections for this network are those of other models: this "
                              "program, or ns-3, has changed since",
                              "corrections that this program has measured",
                              "run scaleacross calibrate again");
        }
        std::vector<CorrectionRow> rows;
        for (const MeasuredOperation& operation : set.operations)
        {
            rows.push_back(operation.row);
        }
        return Corrections(std::move(rows));
    }
    throw ConfigError(path,
                      "it has no corrections for this cluster and network",
                      "one of its own: " + (others.empty() ? "it is empty" : others),
                      "scaleacross calibrate STUDY --output " + path + " adds some");
}

} // namespace scaleacross
