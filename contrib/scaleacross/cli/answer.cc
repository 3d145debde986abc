// SPDX-License-Identifier: GPL-2.0-only

#include "cli/explore-study.h"
#include "cli/report-text.h"

#include <algorithm>
#include <fmt/format.h>

namespace scaleacross
{

namespace
{

Json
CountsJson(const std::map<std::string, Count>& counts)
{
    Json json = Json::object();
    for (const auto& [reason, count] : counts)
    {
        json[reason] = count.count;
    }
    return json;
}

uint64_t
Sum(const std::map<std::string, Count>& counts)
{
    uint64_t sum = 0;
    for (const auto& entry : counts)
    {
        sum += entry.second.count;
    }
    return sum;
}

Json
RankedJson(const SearchSpace& space, const Ranked& ranked)
{
    Json json = ToJson(ranked.report);
    json["plan"] = ToJson(ranked.plan);
    json["plan"]["label"] = space.LabelOf(ranked.plan);
    return json;
}

} // namespace

std::string
CountsText(const std::map<std::string, Count>& counts)
{
    std::vector<std::pair<uint64_t, std::string>> sorted;
    for (const auto& [reason, count] : counts)
    {
        sorted.emplace_back(count.count, reason);
    }
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::string text;
    for (const auto& [count, reason] : sorted)
    {
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + reason;
    }
    return text;
}

std::string
AnswerText(const Study& study, const SearchSpace& space, const Answer& answer, size_t top)
{
    const Frontier& counts = answer.search.counts;
    std::string text = fmt::format("{}: {} on {} GPUs in {} building{}\n{} plans: {} ran",
                                   study.name,
                                   study.scenario.Job().model.name,
                                   study.scenario.cluster.Gpus(),
                                   study.scenario.cluster.buildings.size(),
                                   study.scenario.cluster.buildings.size() == 1 ? "" : "s",
                                   answer.plans,
                                   counts.evaluated);
    if (!counts.rejected.empty())
    {
        text +=
            fmt::format(", {} rejected ({})", Sum(counts.rejected), CountsText(counts.rejected));
    }
    if (!counts.failed.empty())
    {
        text += fmt::format(", {} failed ({})", Sum(counts.failed), CountsText(counts.failed));
    }
    text += fmt::format("; {:.1f} s\n", answer.seconds);
    if (!answer.HasWinner())
    {
        for (const auto* reasons : {&counts.rejected, &counts.failed})
        {
            for (const auto& [reason, count] : *reasons)
            {
                text += fmt::format("{}: e.g. {}\n", reason, count.example);
            }
        }
        return text;
    }
    Table table = RunTable();
    const auto best = answer.search.board.Best();
    for (size_t i = 0; i < std::min(top, best.size()); i++)
    {
        AddRow(table, std::to_string(i + 1), space.LabelOf(best[i].plan), best[i].report);
    }
    for (const auto& baseline : answer.baselines)
    {
        if (baseline.plan)
        {
            AddRow(table, baseline.name, space.LabelOf(*baseline.plan), baseline.evaluation);
        }
    }
    text += "\n" + table.Text() + "\n";
    for (const auto& line : answer.explanation)
    {
        text += line + "\n";
    }
    return text;
}

Json
AnswerJson(const Study& study, const SearchSpace& space, const Answer& answer, size_t top)
{
    Json json = {{"study", study.name}, {"engine", study.engines.front()}};
    const auto best = answer.search.board.Best();
    json["best"] = best.empty() ? Json(nullptr) : RankedJson(space, best.front());
    Json baselines = Json::object();
    for (const auto& baseline : answer.baselines)
    {
        Json entry = ToJson(baseline.evaluation);
        const auto* report = std::get_if<RunReport>(&baseline.evaluation);
        if (report != nullptr && !best.empty())
        {
            entry["gain"] =
                RelativeExcess(best.front().report.iterationTime, report->iterationTime);
        }
        entry["plan"] = baseline.plan ? ToJson(*baseline.plan) : Json(nullptr);
        baselines[baseline.name] = entry;
    }
    json["baselines"] = baselines;
    json["evaluated"] = answer.search.counts.evaluated;
    json["rejected"] = CountsJson(answer.search.counts.rejected);
    json["failed"] = CountsJson(answer.search.counts.failed);
    json["plans"] = answer.plans;
    json["seconds"] = answer.seconds;
    json["db"] = answer.database;
    json["gap"] = answer.gap ? Json(*answer.gap) : Json(nullptr);
    json["interrupted"] = answer.search.interrupted;
    json["explanation"] = answer.explanation;
    Json placements = Json::object();
    for (const Crossing& crossing : {Crossing::Data, Crossing::Pipeline})
    {
        placements[ToString(crossing)] = Json(nullptr);
    }
    for (const auto& ranked : answer.search.board.BestOfEach())
    {
        placements[ToString(ranked.plan.parallel.crossing)] = RankedJson(space, ranked);
    }
    json["placements"] = placements;
    Json ranking = Json::array();
    for (size_t i = 0; i < std::min(top, best.size()); i++)
    {
        ranking.push_back({{"label", space.LabelOf(best[i].plan)},
                           {"iteration_time_s", best[i].report.iterationTime.S()}});
    }
    json["ranking"] = ranking;
    return json;
}

} // namespace scaleacross
