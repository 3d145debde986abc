// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/report-json.h"

#include "core/base/text.h"
#include "core/engine/model-figures.h"
#include "core/explore/link-kind.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace scaleacross
{

namespace
{

Json
ToJson(const FigureValue& value)
{
    return std::visit([](auto figure) { return Json(figure); }, value);
}

/// Adds the figures of a report, or a part of one.
template <class Owner>
void
AddFigures(Json& json, const Owner& owner)
{
    for (const auto& figure : Owner::Figures())
    {
        json[figure.key] = ToJson(figure.get(owner));
    }
}

template <class Owner>
Json
FiguresOf(const Owner& owner)
{
    Json json = Json::object();
    AddFigures(json, owner);
    return json;
}

/// Reads what AddFigures() has written; what is not known (null) is zero. Throws Json::exception
/// for what is not there.
template <class Owner>
void
ReadFigures(const Json& json, Owner& owner)
{
    for (const auto& figure : Owner::Figures())
    {
        figure.set(owner,
                   std::visit(
                       [&](auto zero) {
                           const Json& value = json.at(figure.key);
                           return FigureValue(value.is_null() ? zero : value.get<decltype(zero)>());
                       },
                       figure.zero));
    }
}

} // namespace

Json
FieldJson(const std::string& text)
{
    if (text == "true" || text == "false")
    {
        return text == "true";
    }
    if (IsDigits(text))
    {
        return std::stoull(text);
    }
    return text;
}

Json
ToJson(const Plan& plan)
{
    Json json = {{"label", Label(plan)}};
    Json network = Json::object();
    for (const auto& field : PlanFields())
    {
        if (IsLeftOut(field, plan))
        {
            continue;
        }
        const auto dot = field.key.find('.');
        const std::string name = field.key.substr(dot + 1);
        Json& target = field.key.compare(0, dot, "network") == 0 ? network : json;
        target[name] = FieldJson(field.get(plan));
    }
    json["network"] = network;
    return json;
}

Json
ToJson(const ResourceReport& resource)
{
    Json json = {{"name", resource.name},
                 {"kind", LinkKindOf(resource)},
                 {"family", LinkFamilyOf(resource)}};
    AddFigures(json, resource);
    return json;
}

Json
ToJson(const MemoryUse& use)
{
    return FiguresOf(use);
}

Json
ToJson(const RunReport& report)
{
    Json classes = Json::object();
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        classes[ToString(static_cast<CommClass>(c))] = FiguresOf(report.classes[c]);
    }
    Json memory = Json::array();
    for (const auto& use : report.memory)
    {
        memory.push_back(ToJson(use));
    }
    Json resources = Json::array();
    for (const ResourceReport& resource : report.resources)
    {
        resources.push_back(ToJson(resource));
    }
    Json json = FiguresOf(report);
    json["engine"] = report.engine;
    json["seed"] = report.seed == 0 ? Json(nullptr) : Json(report.seed);
    json["version"] = report.version;
    json["classes"] = classes;
    json["memory"] = memory;
    json["network"] = FiguresOf(report.network);
    json["resources"] = resources;
    if (report.correction)
    {
        const CorrectionReport& correction = *report.correction;
        json["correction"] = {{"set", correction.set},
                              {"operations", correction.operations},
                              {"covered", correction.covered},
                              {"uncovered_share", correction.uncovered},
                              {"missing", correction.missing},
                              {"unreached", correction.unreached},
                              {"low_s", correction.low.S()},
                              {"high_s", correction.high.S()}};
    }
    if (report.fastForward)
    {
        json["fast_forward"] = FiguresOf(*report.fastForward);
    }
    if (!report.KnowsParts())
    {
        for (const char* key : {"compute_s", "bubble_s", "bubble_fraction", "exposed_comm_s"})
        {
            json[key] = nullptr;
        }
    }
    for (const char* key : kModelFigures)
    {
        json[key] = HasModel(report) ? json[key] : Json(nullptr);
    }
    for (Json& part : json["classes"])
    {
        for (const auto& [key, known] :
             {std::pair("exposed_s", report.KnowsParts()), std::pair("busy_s", report.KnowsBusy())})
        {
            part[key] = known ? part[key] : Json(nullptr);
        }
    }
    return json;
}

RunReport
ReportFromJson(const Json& json)
{
    RunReport report;
    ReadFigures(json, report);
    report.engine = json.at("engine");
    report.seed = json.at("seed").is_null() ? 0 : json.at("seed").get<uint64_t>();
    report.version = json.at("version");
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        ReadFigures(json.at("classes").at(ToString(static_cast<CommClass>(c))), report.classes[c]);
    }
    for (const auto& use : json.at("memory"))
    {
        ReadFigures(use, report.memory.emplace_back());
    }
    ReadFigures(json.at("network"), report.network);
    for (const Json& entry : json.at("resources"))
    {
        ResourceReport& resource = report.resources.emplace_back();
        resource.name = entry.at("name");
        ReadFigures(entry, resource);
    }
    return report;
}

Json
ToJson(const Evaluation& evaluation)
{
    if (const auto* report = std::get_if<RunReport>(&evaluation))
    {
        return ToJson(*report);
    }
    if (const auto* infeasible = std::get_if<Infeasible>(&evaluation))
    {
        return {{"infeasible", {{"reason", infeasible->reason}, {"detail", infeasible->detail}}}};
    }
    const auto& failure = std::get<Failure>(evaluation);
    return {{"failed", {{"reason", failure.reason}, {"detail", failure.detail}}}};
}

} // namespace scaleacross
