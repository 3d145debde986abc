// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/report-json.h"

namespace scaleacross
{

namespace
{

/// A field's text as the JSON value it stands for.
Json
Typed(const std::string& text)
{
    if (text == "true" || text == "false")
    {
        return text == "true";
    }
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos)
    {
        return std::stoull(text);
    }
    return text;
}

Json
ToJson(const ClassReport& report)
{
    return {{"busy_s", report.busy.S()},
            {"exposed_s", report.exposed.S()},
            {"bytes", report.bytes.Count()},
            {"cross_bytes", report.crossBytes.Count()}};
}

Json
ToJson(const MemoryUse& use)
{
    return {{"parameters", use.parameters.Count()},
            {"gradients", use.gradients.Count()},
            {"optimizer", use.optimizer.Count()},
            {"activations", use.activations.Count()},
            {"gathered", use.gathered.Count()},
            {"buffers", use.buffers.Count()}};
}

Json
ToJson(const NetworkReport& network)
{
    return {{"packets_sent", network.packetsSent},
            {"packets_delivered", network.packetsDelivered},
            {"packets_dropped", network.packetsDropped},
            {"packets_in_flight", network.packetsInFlight},
            {"retransmissions", network.retransmissions},
            {"pauses", network.pauses},
            {"collision_factor", network.collisionFactor}};
}

Duration
TimeAt(const Json& json, const char* key)
{
    return Duration::Seconds(json.at(key).get<double>());
}

Bytes
BytesAt(const Json& json, const char* key)
{
    return Bytes(json.at(key).get<uint64_t>());
}

} // namespace

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
        target[name] = Typed(field.get(plan));
    }
    json["network"] = network;
    return json;
}

Json
ToJson(const ResourceReport& resource)
{
    return {{"name", resource.name},
            {"bytes", resource.bytes.Count()},
            {"capacity_bps", resource.capacity.Value()},
            {"shared", resource.shared},
            {"busy", resource.busy}};
}

Json
ToJson(const RunReport& report)
{
    Json classes = Json::object();
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        classes[ToString(static_cast<CommClass>(c))] = ToJson(report.classes[c]);
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
    return {{"iteration_time_s", report.iterationTime.S()},
            {"mfu", report.mfu},
            {"bubble_fraction", report.bubbleFraction},
            {"exposed_comm_s", report.exposedComm.S()},
            {"memory_bytes_max", report.memoryMax.Count()},
            {"cross_building_bytes", report.crossBuildingBytes.Count()},
            {"engine", report.engine},
            {"seed", report.seed == 0 ? Json(nullptr) : Json(report.seed)},
            {"version", report.version},
            {"compute_s", report.computeTime.S()},
            {"bubble_s", report.bubble.S()},
            {"warmup", report.warmup},
            {"iterations", report.iterations},
            {"classes", classes},
            {"memory", memory},
            {"network", ToJson(report.network)},
            {"resources", resources}};
}

RunReport
ReportFromJson(const Json& json)
{
    RunReport report;
    report.iterationTime = TimeAt(json, "iteration_time_s");
    report.mfu = json.at("mfu");
    report.bubbleFraction = json.at("bubble_fraction");
    report.exposedComm = TimeAt(json, "exposed_comm_s");
    report.memoryMax = BytesAt(json, "memory_bytes_max");
    report.crossBuildingBytes = BytesAt(json, "cross_building_bytes");
    report.engine = json.at("engine");
    report.seed = json.at("seed").is_null() ? 0 : json.at("seed").get<uint64_t>();
    report.version = json.at("version");
    report.computeTime = TimeAt(json, "compute_s");
    report.bubble = TimeAt(json, "bubble_s");
    report.warmup = json.at("warmup");
    report.iterations = json.at("iterations");
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        const Json& part = json.at("classes").at(ToString(static_cast<CommClass>(c)));
        report.classes[c] = {TimeAt(part, "busy_s"),
                             TimeAt(part, "exposed_s"),
                             BytesAt(part, "bytes"),
                             BytesAt(part, "cross_bytes")};
    }
    for (const auto& use : json.at("memory"))
    {
        report.memory.push_back({BytesAt(use, "parameters"),
                                 BytesAt(use, "gradients"),
                                 BytesAt(use, "optimizer"),
                                 BytesAt(use, "activations"),
                                 BytesAt(use, "gathered"),
                                 BytesAt(use, "buffers")});
    }
    const Json& network = json.at("network");
    report.network.packetsSent = network.at("packets_sent");
    report.network.packetsDelivered = network.at("packets_delivered");
    report.network.packetsDropped = network.at("packets_dropped");
    report.network.packetsInFlight = network.at("packets_in_flight");
    report.network.retransmissions = network.at("retransmissions");
    report.network.pauses = network.at("pauses");
    report.network.collisionFactor = network.at("collision_factor");
    for (const Json& entry : json.at("resources"))
    {
        ResourceReport resource;
        resource.name = entry.at("name");
        resource.bytes = BytesAt(entry, "bytes");
        resource.capacity = BitRate(entry.at("capacity_bps").get<double>());
        resource.shared = entry.at("shared");
        resource.busy = entry.at("busy");
        report.resources.push_back(std::move(resource));
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
