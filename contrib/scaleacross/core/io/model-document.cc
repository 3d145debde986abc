// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/model-document.h"

#include "core/base/text.h"
#include "core/explore/span-quantity.h"
#include "core/io/task-list-json.h"
#include "core/spec/canonical-json.h"
#include "core/topology/cluster-paths.h"
#include "core/work/graph/collective-graph.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

using Json = nlohmann::ordered_json;

/// Shown of an answer that is none.
constexpr size_t g_shown = 200;

/// Parts of an iteration are rounded by whoever prints them.
constexpr double g_partsSlack = 1e-3;

// ---- the question ----

Json
Seconds(const std::optional<Duration>& time)
{
    return time ? Json(time->S()) : Json();
}

Json
Number(const std::optional<double>& value)
{
    return value ? Json(*value) : Json();
}

/// Of several buildings the slowest and the farthest: what bounds a transfer that all take part in.
Json
NetworkJson(const Scenario& scenario)
{
    const ClusterSpec& cluster = scenario.cluster;
    const ClusterPaths paths(cluster);
    const GpuSpec& first = cluster.buildings.front().gpu;
    BitRate nic = first.nicRate;
    BitRate nvlink = first.scaleUpBandwidth;
    double efficiency = first.scaleUpEfficiency;
    Duration near = first.scaleUpLatency;
    double leaf = 1;
    std::optional<Duration> inside;
    std::optional<Duration> across;
    std::optional<double> loss;
    std::optional<double> over;
    std::optional<double> span;
    const auto longest = [](std::optional<Duration>& most, Duration time) {
        most = most ? std::max(*most, time) : time;
    };
    for (uint32_t b = 0; b < cluster.buildings.size(); b++)
    {
        const BuildingSpec& building = cluster.buildings[b];
        nic = std::min(nic, building.gpu.nicRate);
        nvlink = std::min(nvlink, building.gpu.scaleUpBandwidth);
        efficiency = std::min(efficiency, building.gpu.scaleUpEfficiency);
        near = std::max(near, building.gpu.scaleUpLatency);
        leaf = std::max(leaf, building.fabric.oversubscription);
        const uint32_t gpu = cluster.FirstGpu(b);
        if (building.Nodes() > 1)
        {
            longest(inside, paths.Between(gpu, gpu + building.gpus - 1).propagation);
        }
        for (uint32_t other = 0; other < b; other++)
        {
            const FabricPath& path = paths.Between(gpu, cluster.FirstGpu(other));
            longest(across, path.propagation);
            loss = std::max(loss.value_or(0), path.loss);
        }
    }
    for (const CrossLinkSpec& link : cluster.crossLinks)
    {
        span = std::min(span.value_or(link.capacity.Value()), link.capacity.Value());
        if (const auto ratio = OversubscriptionOf(cluster, link))
        {
            over = std::max(over.value_or(0), *ratio);
        }
    }
    return {{"nic_rate_bps", nic.Value()},
            {"nvlink_rate_bps", nvlink.Value()},
            {"nvlink_efficiency", efficiency},
            {"server_delay_s", near.S()},
            {"building_delay_s", Seconds(inside)},
            {"across_delay_s", Seconds(across)},
            {"building_oversubscription", leaf},
            {"oversubscription", Number(over)},
            {"span_rate_bps", Number(span)},
            {"loss", Number(loss)},
            {"mtu_bytes", scenario.network.mtu.Count()},
            {"header_bytes", scenario.network.Format().DataHeaders().Count()}};
}

Json
BuildingsJson(const RankLayout& layout, const ClusterSpec& cluster)
{
    Json list = Json::array();
    for (uint32_t b = 0; b < layout.Buildings(); b++)
    {
        const GpuSpec& gpu = cluster.buildings[b].gpu;
        list.push_back({{"first_rank", layout.buildingBegin[b]},
                        {"ranks", layout.buildingBegin[b + 1] - layout.buildingBegin[b]},
                        {"nic_rate_bps", gpu.nicRate.Value()},
                        {"nvlink_rate_bps", gpu.scaleUpBandwidth.Value()}});
    }
    return list;
}

/// Servers that the members of a rank's group are on.
uint32_t
ServersOf(const RankGroup& group, Rank rank, uint32_t gpusPerNode)
{
    std::set<uint32_t> servers;
    for (uint32_t i = 0; i < group.Size(); i++)
    {
        servers.insert(group.Member(rank, i) / gpusPerNode);
    }
    return static_cast<uint32_t>(servers.size());
}

uint32_t
BuildingsOf(const RankGroup& group, Rank rank, const RankLayout& layout)
{
    std::set<uint32_t> buildings;
    for (uint32_t i = 0; i < group.Size(); i++)
    {
        buildings.insert(layout.BuildingOf(group.Member(rank, i)));
    }
    return static_cast<uint32_t>(buildings.size());
}

Json
CollectiveJson(const CollectiveSpec& spec, const PreparedRun& run)
{
    const RankGroup group = std::get<RankGroup>(GroupOf(spec.group, run.layout));
    const Collective& collective = run.graph.collectives.front();
    return {{"operation", ToString(spec.op)},
            {"algorithm", collective.algorithm},
            {"bytes", spec.bytes.Count()},
            {"ranks", group.Size()},
            {"servers", ServersOf(group, 0, run.layout.gpusPerNode)},
            {"buildings", BuildingsOf(group, 0, run.layout)},
            {"groups", spec.groups == 0 ? run.layout.ranks / group.Size() : spec.groups},
            {"scope", ScopeOf(run.layout, group, 0)}};
}

Json
PlanJson(const JobSpec& job)
{
    const ParallelPlan& plan = job.plan;
    return {{"tp", plan.tp},
            {"cp", plan.cp},
            {"ep", plan.ep},
            {"pp", plan.pp},
            {"dp", plan.dp},
            {"microbatch", plan.microbatch},
            {"global_batch", job.workload.globalBatch}};
}

// ---- the answer ----

std::string
Keys(bool collective)
{
    return collective ? "{\"time_s\": seconds} or {\"infeasible\": \"reason\"}"
                      : "{\"iteration_time_s\": seconds}, with compute_s, bubble_s and exposed "
                        "{tp, cp, ep, pp, dp} if known, or {\"infeasible\": \"reason\"}";
}

[[noreturn]] void
Refuse(const std::string& problem, bool collective)
{
    throw ValueError(problem, "one JSON object on standard output: " + Keys(collective), "");
}

/// A time of the answer, not below 0.
Duration
TimeOf(const Json& value, const std::string& key, bool collective)
{
    if (!value.is_number())
    {
        Refuse(key + " is " + Excerpt(value.dump(-1, ' ', true), g_shown) + ", not a number",
               collective);
    }
    const double seconds = value.get<double>();
    if (!std::isfinite(seconds) || seconds < 0 || seconds > 9e6)
    {
        Refuse(key + " is " + NumberText(seconds) + ", not a time from 0 to 9e6 s", collective);
    }
    return Duration::Seconds(seconds);
}

void
ReadExposed(const Json& exposed, ModelAnswer& answer)
{
    if (!exposed.is_object())
    {
        Refuse("exposed is " + Excerpt(exposed.dump(-1, ' ', true), g_shown) + ", not an object",
               false);
    }
    for (const auto& [key, value] : exposed.items())
    {
        bool known = false;
        for (uint32_t c = 0; c < kCommClasses; c++)
        {
            if (key == ToString(static_cast<CommClass>(c)))
            {
                answer.exposed[c] = TimeOf(value, "exposed." + key, false);
                known = true;
            }
        }
        if (!known)
        {
            Refuse("exposed has " + Quoted(Excerpt(key, g_shown)), false);
        }
    }
}

/// Parts of an iteration are no longer than all of it.
void
CheckParts(const ModelAnswer& answer)
{
    double sum = answer.compute.value_or(Duration()).S() + answer.bubble.value_or(Duration()).S();
    for (const auto& exposed : answer.exposed)
    {
        sum += exposed.value_or(Duration()).S();
    }
    if (sum > answer.time.S() * (1 + g_partsSlack))
    {
        Refuse("compute_s, bubble_s and exposed are " + NumberText(sum) +
                   " s together, more than iteration_time_s, " + NumberText(answer.time.S()),
               false);
    }
}

} // namespace

std::string
ModelDocument(const Scenario& scenario, const PreparedRun& run)
{
    const JobSpec& job = scenario.Job();
    Json document{{"format", kModelFormat},
                  {"kind", job.collective ? "collective" : "iteration"},
                  {"ranks", run.layout.ranks},
                  {"gpus_per_server", run.layout.gpusPerNode},
                  {"buildings", BuildingsJson(run.layout, scenario.cluster)},
                  {"network", NetworkJson(scenario)}};
    if (job.collective)
    {
        document["collective"] = CollectiveJson(*job.collective, run);
    }
    else
    {
        document["plan"] = PlanJson(job);
    }
    document["tasks"] = TaskListJson(run.graph, run.layout);
    document["scenario"] = Json::parse(CanonicalJson(scenario));
    return document.dump() + "\n";
}

ModelAnswer
ParseModelAnswer(const std::string& text, bool collective)
{
    if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    {
        Refuse("the answer is empty", collective);
    }
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object())
    {
        Refuse("the answer is no JSON object: " + Excerpt(text, g_shown), collective);
    }
    const std::string timeKey = collective ? "time_s" : "iteration_time_s";
    ModelAnswer answer;
    for (const auto& [key, value] : json.items())
    {
        if (key == "infeasible")
        {
            if (!value.is_string() || value.get<std::string>().empty() || json.size() > 1)
            {
                Refuse("infeasible stands alone, with a reason in words", collective);
            }
            answer.infeasible = Excerpt(value.get<std::string>(), 1000);
            return answer;
        }
        if (key == timeKey)
        {
            answer.time = TimeOf(value, key, collective);
        }
        else if (key == "compute_s" && !collective)
        {
            answer.compute = TimeOf(value, key, collective);
        }
        else if (key == "bubble_s" && !collective)
        {
            answer.bubble = TimeOf(value, key, collective);
        }
        else if (key == "exposed" && !collective)
        {
            ReadExposed(value, answer);
        }
        else
        {
            Refuse("the answer has " + Quoted(Excerpt(key, g_shown)), collective);
        }
    }
    if (!json.contains(timeKey))
    {
        Refuse("the answer has no " + timeKey, collective);
    }
    if (answer.time == Duration())
    {
        Refuse(timeKey + " is less than a picosecond", collective);
    }
    CheckParts(answer);
    return answer;
}

std::string
Excerpt(const std::string& text, size_t most, bool last)
{
    std::string part = text;
    while (!part.empty() && (part.back() == '\n' || part.back() == '\r'))
    {
        part.pop_back();
    }
    if (part.size() > most)
    {
        part = last ? "..." + part.substr(part.size() - most) : part.substr(0, most) + "...";
    }
    std::string line;
    for (const char c : part)
    {
        const auto byte = static_cast<unsigned char>(c);
        line += c == '\n' ? " | " : std::string(1, byte < 0x20 || byte == 0x7f ? ' ' : c);
    }
    // What is no UTF-8, or was cut, no JSON and no database could hold.
    std::string valid = Json::parse(Json(line).dump(-1, ' ', false, Json::error_handler_t::replace))
                            .get<std::string>();
    const std::string replacement = "\xef\xbf\xbd";
    for (size_t at = 0; (at = valid.find(replacement, at)) != std::string::npos;)
    {
        valid.replace(at, replacement.size(), "?");
    }
    return valid;
}

} // namespace scaleacross
