// SPDX-License-Identifier: GPL-2.0-only

#include "cli/compared-cases.h"

#include "cli/show/table.h"
#include "core/base/errors.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <variant>

namespace scaleacross
{

namespace
{

/// The report of an engine in a case; null: it has none.
const RunReport*
ReportBy(const ComparedCase& one, const std::string& engine)
{
    return ReportBy(one.comparison, engine);
}

/// Of a rank correlation, which some have not.
std::string
CorrelationText(const std::optional<double>& correlation)
{
    return correlation ? fmt::format("{:.3f}", *correlation) : "-";
}

/// "cluster.cross.distance=30km, " of every axis.
std::string
AxesText(const std::vector<SweepAxis>& axes, const std::vector<std::string>& values)
{
    std::string text;
    for (size_t i = 0; i < axes.size(); i++)
    {
        text += axes[i].key + "=" + values[i] + ", ";
    }
    return text;
}

/// "1/4".
std::string
PartText(const ScaledPart& part)
{
    return "1/" + std::to_string(part.factor);
}

/// "scaled: 1/4".
std::string
ScaleText(const ScaledPart& part)
{
    return "scaled: " + PartText(part);
}

Json
ScaledJson(const ScaledPart& part)
{
    Json changed = Json::array();
    for (const ScaledSetting& setting : part.changed)
    {
        changed.push_back({{"key", setting.key}, {"from", setting.from}, {"to", setting.to}});
    }
    return {{"part", PartText(part)}, {"factor", part.factor}, {"changed", changed}};
}

/// What went over each kind of link that ranks share, by an engine and by the reference; null where
/// one of them has none of it.
Json
LinksJson(const RunReport& report, const RunReport& reference)
{
    std::vector<std::string> names;
    std::map<std::string, std::pair<const ResourceReport*, const ResourceReport*>> links;
    for (const RunReport* of : {&reference, &report})
    {
        for (const ResourceReport& resource : of->resources)
        {
            if (resource.shared)
            {
                const auto added = links.emplace(resource.name, std::pair(nullptr, nullptr));
                if (added.second)
                {
                    names.push_back(resource.name);
                }
                auto& both = added.first->second;
                (of == &report ? both.first : both.second) = &resource;
            }
        }
    }
    const auto put = [](Json& json, const std::string& before, const ResourceReport* resource) {
        json[before + "bytes"] = resource == nullptr ? Json() : Json(resource->bytes.Count());
        json[before + "busy"] = resource == nullptr ? Json() : Json(resource->busy);
    };
    Json list = Json::array();
    for (const std::string& name : names)
    {
        Json json = {{"name", name}};
        put(json, "", links[name].first);
        put(json, "reference_", links[name].second);
        list.push_back(std::move(json));
    }
    return list;
}

/// What is shared and busiest; null: nothing is shared.
const ResourceReport*
BusiestOf(const RunReport& report)
{
    const ResourceReport* busiest = nullptr;
    for (const ResourceReport& resource : report.resources)
    {
        if (resource.shared && (busiest == nullptr || resource.busy > busiest->busy))
        {
            busiest = &resource;
        }
    }
    return busiest;
}

/// What a run saw, in words.
std::string
SeenText(const RunReport& report)
{
    std::string text;
    if (const ResourceReport* busiest = BusiestOf(report))
    {
        text += fmt::format("{} busy {}", busiest->name, PercentText(busiest->busy));
    }
    const NetworkReport& network = report.network;
    if (network.packetsSent > 0)
    {
        text += fmt::format("{}{} dropped, {} retransmitted, {} pauses, collision factor {:.2f}",
                            text.empty() ? "" : "; ",
                            network.packetsDropped,
                            network.retransmissions,
                            network.pauses,
                            network.collisionFactor);
    }
    return text;
}

Json
SeenJson(const RunReport& report)
{
    const NetworkReport& network = report.network;
    Json json = {{"busiest", nullptr},
                 {"busy", nullptr},
                 {"packets_dropped", network.packetsDropped},
                 {"retransmissions", network.retransmissions},
                 {"pauses", network.pauses},
                 {"collision_factor", network.collisionFactor}};
    if (const ResourceReport* busiest = BusiestOf(report))
    {
        json["busiest"] = busiest->name;
        json["busy"] = busiest->busy;
    }
    return json;
}

/// Why there is no report: the short name.
std::string
OutcomeOf(const Evaluation& evaluation)
{
    if (const auto* infeasible = std::get_if<Infeasible>(&evaluation))
    {
        return infeasible->reason;
    }
    const auto* failure = std::get_if<Failure>(&evaluation);
    return failure == nullptr ? "done" : failure->reason;
}

} // namespace

std::string
ToString(const ScaledPart& part)
{
    return part.factor > 1 ? ScaleText(part) + " (" + ToString(part.changed) + ")" : "";
}

ComparedCases::ComparedCases(std::vector<SweepAxis> axes,
                             std::vector<ComparedCase> cases,
                             std::vector<LeftOutPlan> leftOut,
                             std::string reference)
    : m_axes(std::move(axes)),
      m_cases(std::move(cases)),
      m_leftOut(std::move(leftOut)),
      m_reference(std::move(reference))
{
    std::vector<std::string> engines;
    for (const ComparedCase& one : m_cases)
    {
        for (const std::string& engine : one.comparison.engines)
        {
            if (std::find(engines.begin(), engines.end(), engine) == engines.end())
            {
                engines.push_back(engine);
            }
        }
    }
    for (const std::string& engine : engines)
    {
        if (engine != m_reference)
        {
            AddErrors(engine);
        }
    }
}

void
ComparedCases::AddErrors(const std::string& engine)
{
    // Of the iteration, then of each class.
    for (uint32_t figure = 0; figure <= kCommClasses; figure++)
    {
        std::vector<double> times;
        std::vector<double> references;
        std::vector<size_t> numbers;
        for (size_t i = 0; i < m_cases.size(); i++)
        {
            const RunReport* report = ReportBy(m_cases[i], engine);
            const RunReport* reference = ReportBy(m_cases[i], m_reference);
            if (report == nullptr || reference == nullptr)
            {
                continue;
            }
            double time = report->iterationTime.S();
            if (figure > 0)
            {
                const ClassReport& part = report->classes[figure - 1];
                const ClassReport& other = reference->classes[figure - 1];
                if (other.bytes == Bytes() || !report->KnowsBusy() || !reference->KnowsBusy())
                {
                    continue;
                }
                time = reference->iterationTime.S() + part.busy.S() - other.busy.S();
            }
            times.push_back(time);
            references.push_back(reference->iterationTime.S());
            numbers.push_back(i);
        }
        if (!times.empty())
        {
            FigureErrors errors;
            errors.engine = engine;
            errors.of = figure == 0 ? "iteration" : ToString(static_cast<CommClass>(figure - 1));
            errors.errors = ErrorsOf(times, references);
            errors.worst = numbers[errors.errors.worst];
            errors.orders = figure == 0 ? OrdersOf(engine) : std::vector<PointOrder>();
            m_errors.push_back(std::move(errors));
        }
    }
}

/// Why the reference has no report of a case, in a word; "" where it has one.
std::string
ComparedCases::MissingReason(const ComparedCase& one) const
{
    const std::vector<std::string>& engines = one.comparison.engines;
    const auto reference = std::find(engines.begin(), engines.end(), m_reference);
    if (reference == engines.end())
    {
        return "interrupted";
    }
    const Evaluation& evaluation = one.comparison.evaluations[reference - engines.begin()];
    return std::holds_alternative<RunReport>(evaluation) ? "" : OutcomeOf(evaluation);
}

std::vector<PointOrder>
ComparedCases::OrdersOf(const std::string& engine) const
{
    struct Sums
    {
        double time{0};
        double reference{0};
        double seeds{0};
    };

    std::map<std::vector<std::string>, std::map<std::string, Sums>> points; // by plan
    for (const ComparedCase& one : m_cases)
    {
        const RunReport* report = ReportBy(one, engine);
        const RunReport* reference = ReportBy(one, m_reference);
        if (report != nullptr && reference != nullptr)
        {
            Sums& sums = points[one.point][one.label];
            sums.time += report->iterationTime.S();
            sums.reference += reference->iterationTime.S();
            sums.seeds++;
        }
    }
    std::vector<PointOrder> orders;
    for (const auto& point : points)
    {
        std::vector<double> times;
        std::vector<double> references;
        for (const auto& plan : point.second)
        {
            times.push_back(plan.second.time / plan.second.seeds);
            references.push_back(plan.second.reference / plan.second.seeds);
        }
        if (times.size() > 1)
        {
            orders.push_back({point.first, OrderingOf(times, references)});
        }
    }
    return orders;
}

std::optional<double>
FigureErrors::Order() const
{
    double sum = 0;
    double points = 0;
    for (const PointOrder& order : orders)
    {
        sum += order.ordering.rankCorrelation.value_or(0);
        points += order.ordering.rankCorrelation ? 1 : 0;
    }
    return points > 0 ? std::optional<double>(sum / points) : std::nullopt;
}

const PointOrder*
FigureErrors::WorstChoice() const
{
    const auto worst =
        std::max_element(orders.begin(),
                         orders.end(),
                         [](const PointOrder& a, const PointOrder& b) {
                             return std::tie(a.ordering.regret, a.ordering.rankOfBest) <
                                    std::tie(b.ordering.regret, b.ordering.rankOfBest);
                         });
    return worst == orders.end() ? nullptr : &*worst;
}

size_t
ComparedCases::CasesWithoutReference() const
{
    return static_cast<size_t>(
        std::count_if(m_cases.begin(), m_cases.end(), [this](const ComparedCase& one) {
            return !MissingReason(one).empty();
        }));
}

std::string
ComparedCases::WithoutReferenceText() const
{
    std::map<std::string, std::vector<const ComparedCase*>> reasons;
    for (const ComparedCase& one : m_cases)
    {
        if (const std::string reason = MissingReason(one); !reason.empty())
        {
            reasons[reason].push_back(&one);
        }
    }
    std::string why;
    for (const auto& entry : reasons)
    {
        why += fmt::format("  {} x {}, such as {}\n",
                           entry.second.size(),
                           entry.first,
                           PointText(*entry.second.front()));
    }
    return why.empty() ? ""
                       : fmt::format("Without an error, for {} did not run them, are {} of {} "
                                     "cases:\n{}\n",
                                     m_reference,
                                     CasesWithoutReference(),
                                     m_cases.size(),
                                     why);
}

std::vector<Comparison>
ComparedCases::Comparisons() const
{
    std::vector<Comparison> comparisons;
    for (const ComparedCase& one : m_cases)
    {
        comparisons.push_back(one.comparison);
    }
    return comparisons;
}

void
ComparedCases::ExpectSomeRun() const
{
    for (const ComparedCase& one : m_cases)
    {
        for (const Evaluation& evaluation : one.comparison.evaluations)
        {
            if (RefusalIn(evaluation) == nullptr)
            {
                return;
            }
        }
    }
    std::string refusals = RefusalsText(Comparisons());
    if (!refusals.empty())
    {
        refusals.pop_back();
        throw ConfigError("--engines",
                          "all engines refuse all cases\n" + refusals,
                          "at least one engine that takes the study",
                          "change what they say, or name others");
    }
}

Json
ComparedCases::PointJson(const std::vector<std::string>& values) const
{
    Json point = Json::object();
    for (size_t i = 0; i < m_axes.size(); i++)
    {
        point[m_axes[i].key] = values[i];
    }
    return point;
}

std::string
ComparedCases::PointText(const ComparedCase& one) const
{
    return AxesText(m_axes, one.point) + one.label + ", seed " + std::to_string(one.seed) +
           (one.scaled.factor > 1 ? ", " + ScaleText(one.scaled) : "");
}

/// What choosing by an engine costs at most; "" where nothing is chosen among.
std::string
ComparedCases::ChoiceText(const FigureErrors& errors) const
{
    const PointOrder* worst = errors.WorstChoice();
    return worst == nullptr
               ? std::string()
               : fmt::format(
                     "  {}the best by {} is ranked {} by it; its own best takes {} longer\n",
                     AxesText(m_axes, worst->point),
                     m_reference,
                     worst->ordering.rankOfBest,
                     PercentText(worst->ordering.regret));
}

std::string
ComparedCases::ErrorsText() const
{
    if (m_cases.size() < 2 || m_errors.empty())
    {
        return WithoutReferenceText();
    }
    Table table({{"engine", Table::Align::Left},
                 {"of", Table::Align::Left},
                 {"cases"},
                 {"half within"},
                 {"95 % within"},
                 {"mean"},
                 {"worst"},
                 {"order"}});
    std::string worst;
    std::string before;
    for (const FigureErrors& one : m_errors)
    {
        const EngineErrors& errors = one.errors;
        table.Add({one.engine == before ? "" : one.engine,
                   one.of,
                   std::to_string(errors.cases),
                   PercentText(errors.median),
                   PercentText(errors.p95),
                   SignedPercent(errors.bias),
                   SignedPercent(errors.atWorst),
                   one.of == "iteration" ? CorrelationText(one.Order()) : ""});
        before = one.engine;
        if (one.of == "iteration")
        {
            const ComparedCase& where = m_cases[one.worst];
            worst += fmt::format("{} {}: {}\n  {}: {}\n",
                                 one.engine,
                                 SignedPercent(errors.atWorst),
                                 PointText(where),
                                 m_reference,
                                 SeenText(*ReportBy(where, m_reference))) +
                     ChoiceText(one);
        }
    }
    return fmt::format("Errors of {} cases against {}; of a class, of its busy time as "
                       "a part of the iteration:\n{}\nWhere they are worst:\n{}\n",
                       m_cases.size(),
                       m_reference,
                       table.Text(),
                       worst) +
           WithoutReferenceText();
}

Json
ComparedCases::ToJson(const std::vector<Json>& rows) const
{
    Json json = {{"reference", m_reference},
                 {"cases", m_cases.size()},
                 {"cases_without_reference", CasesWithoutReference()},
                 {"rows", Json::array()},
                 {"errors", Json::array()},
                 {"worst", Json::array()},
                 {"left_out", Json::array()}};
    for (size_t i = 0; i < m_cases.size(); i++)
    {
        for (Json row : rows[i])
        {
            row["point"] = PointJson(m_cases[i].point);
            row["seed"] = m_cases[i].seed;
            if (m_cases[i].scaled.factor > 1)
            {
                row["scaled"] = ScaledJson(m_cases[i].scaled);
            }
            json["rows"].push_back(std::move(row));
        }
    }
    for (const FigureErrors& one : m_errors)
    {
        const EngineErrors& errors = one.errors;
        json["errors"].push_back({{"engine", one.engine},
                                  {"of", one.of},
                                  {"cases", errors.cases},
                                  {"median", errors.median},
                                  {"p95", errors.p95},
                                  {"bias", errors.bias},
                                  {"worst", errors.atWorst},
                                  {"rank_correlation", one.Order() ? Json(*one.Order()) : Json()}});
        if (const PointOrder* choice = one.WorstChoice())
        {
            json["errors"].back()["choice"] = {{"point", PointJson(choice->point)},
                                               {"rank_of_best", choice->ordering.rankOfBest},
                                               {"regret", choice->ordering.regret}};
        }
        if (one.of == "iteration")
        {
            const ComparedCase& where = m_cases[one.worst];
            json["worst"].push_back(
                {{"engine", one.engine},
                 {"relative_error", errors.atWorst},
                 {"point", PointJson(where.point)},
                 {"label", where.label},
                 {"seed", where.seed},
                 {"seen", SeenJson(*ReportBy(where, m_reference))},
                 {"links",
                  LinksJson(*ReportBy(where, one.engine), *ReportBy(where, m_reference))}});
            if (where.scaled.factor > 1)
            {
                json["worst"].back()["scaled"] = ScaledJson(where.scaled);
            }
        }
    }
    for (const LeftOutPlan& plan : m_leftOut)
    {
        json["left_out"].push_back({{"label", plan.label},
                                    {"point", PointJson(plan.point)},
                                    {"reason", plan.why.reason},
                                    {"detail", plan.why.detail}});
    }
    return json;
}

std::string
ComparedCases::LeftOutText() const
{
    std::map<std::string, size_t> reasons;
    for (const LeftOutPlan& plan : m_leftOut)
    {
        reasons[plan.why.reason]++;
    }
    std::string text;
    for (const auto& entry : reasons)
    {
        const std::string& reason = entry.first;
        const auto first =
            std::find_if(m_leftOut.begin(), m_leftOut.end(), [&](const LeftOutPlan& plan) {
                return plan.why.reason == reason;
            });
        text += fmt::format("Left out, for it cannot run: {} x {}, such as {}: {}\n",
                            entry.second,
                            reason,
                            first->label,
                            first->why.detail);
    }
    return text + RefusalsText(Comparisons());
}

} // namespace scaleacross
