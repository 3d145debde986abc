// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/study-input.h"

#include "core/base/errors.h"
#include "core/base/field.h"
#include "core/base/text.h"
#include "core/spec/plan-fields.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

namespace scaleacross
{

namespace
{

/// A number as a field writes it, and the unit behind it.
struct Figure
{
    double number{0};
    std::string unit;
    bool whole{false}; //!< the field takes whole numbers only
};

/// Nothing where the text is no number with or without a unit: words, lists, tiles.
template <class Owner>
std::optional<Figure>
FigureOf(const Field<Owner>& field, const Owner& owner)
{
    const std::string text = field.get(owner);
    const Decimal decimal = ScanDecimal(text);
    const std::string unit = text.substr(decimal.length);
    const bool isUnit = std::all_of(unit.begin(), unit.end(), [](char c) {
        return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '/';
    });
    if (field.label || !field.words.empty() || !field.applies(owner) || decimal.length == 0 ||
        !isUnit)
    {
        return std::nullopt;
    }
    return Figure{DecimalValue(decimal, 0), unit, field.allowed.rfind("a whole number", 0) == 0};
}

/// The step in which a whole number goes when it is changed by a part of itself.
double
StepOf(double number, double by)
{
    double step = 1;
    while (std::fmod(number, 2 * step) == 0 && 2 * step <= by * number)
    {
        step *= 2;
    }
    return step;
}

/// As StudyInput::scale, of one owner.
template <class Owner>
std::string
Scale(const Field<Owner>& field, Owner& owner, double factor)
{
    const Figure figure = *FigureOf(field, owner);
    double number = figure.number * factor;
    if (figure.whole)
    {
        const double step = StepOf(figure.number, std::fabs(factor - 1));
        number = std::round(number / step) * step;
    }
    // Rounded as people write figures: 0.8 x 3 is 2.4000000000000004 otherwise.
    const double digits = std::pow(10.0, 12 - std::ceil(std::log10(std::fabs(number) + 1e-300)));
    number = figure.whole ? number : std::round(number * digits) / digits;
    field.set(owner, NumberText(number) + figure.unit);
    return field.get(owner);
}

/// Where the owners of a table's fields stand in a scenario: all that vary together.
template <class Owner>
struct Place
{
    std::function<std::vector<Owner>(const Scenario&)> read;
    std::function<void(Scenario&, const std::vector<Owner>&)> write;
};

/// A part of every building.
template <class Part>
Place<Part>
OfBuildings(Part BuildingSpec::*part)
{
    return {[part](const Scenario& scenario) {
                std::vector<Part> parts;
                for (const BuildingSpec& building : scenario.cluster.buildings)
                {
                    parts.push_back(building.*part);
                }
                return parts;
            },
            [part](Scenario& scenario, const std::vector<Part>& parts) {
                for (size_t i = 0; i < parts.size(); i++)
                {
                    scenario.cluster.buildings[i].*part = parts[i];
                }
            }};
}

bool
LatencyFollows(const CrossLinkSpec& span)
{
    return span.latency == FibreDelay(span.distance);
}

Place<CrossLinkSpec>
OfSpans()
{
    return {[](const Scenario& scenario) { return scenario.cluster.crossLinks; },
            [](Scenario& scenario, const std::vector<CrossLinkSpec>& spans) {
                for (size_t i = 0; i < spans.size(); i++)
                {
                    CrossLinkSpec& span = scenario.cluster.crossLinks[i];
                    // A field sets itself alone; reading a study has the latency follow.
                    const bool follows = LatencyFollows(span) && spans[i].distance != span.distance;
                    span = spans[i];
                    span.latency = follows ? FibreDelay(span.distance) : span.latency;
                }
            }};
}

Place<WorkloadSpec>
OfWorkload()
{
    return {
        [](const Scenario& scenario) { return std::vector<WorkloadSpec>{scenario.Job().workload}; },
        [](Scenario& scenario, const std::vector<WorkloadSpec>& workload) {
            scenario.Job().workload = workload.front();
        }};
}

Place<SoftwareStack>
OfStack()
{
    return {[](const Scenario& scenario) {
                return std::vector<SoftwareStack>{scenario.Job().workload.stack};
            },
            [](Scenario& scenario, const std::vector<SoftwareStack>& stack) {
                scenario.Job().workload.stack = stack.front();
            }};
}

Place<Plan>
OfPlan()
{
    return {[](const Scenario& scenario) {
                return std::vector<Plan>{{scenario.Job().plan, scenario.network}};
            },
            [](Scenario& scenario, const std::vector<Plan>& plan) {
                scenario.Job().plan = plan.front().parallel;
                scenario.network = plan.front().network;
            }};
}

/// Adds the figures of a table but for those that `skip` names.
template <class Owner>
void
AddFigures(const Scenario& scenario,
           double by,
           const std::string& prefix,
           const FieldTable<Owner>& table,
           const Place<Owner>& place,
           const std::function<bool(const std::string&)>& skip,
           StudyInputs& inputs)
{
    const std::vector<Owner> owners = place.read(scenario);
    for (const Field<Owner>& field : table)
    {
        const auto hasFigure = [&field](const Owner& owner) {
            const auto figure = FigureOf(field, owner);
            return figure && figure->number != 0;
        };
        // What the first one does not have, another may.
        auto first = std::find_if(owners.begin(), owners.end(), hasFigure);
        first = first == owners.end() ? owners.begin() : first;
        if (first == owners.end() || skip(field.key) || !FigureOf(field, *first))
        {
            continue;
        }
        const Figure figure = *FigureOf(field, *first);
        const std::string key = prefix + field.key;
        const std::string value = field.get(*first);
        if (figure.number == 0)
        {
            inputs.fixed.push_back({key, value, "zero, which no factor changes"});
        }
        else if (figure.whole && by * figure.number < 0.5)
        {
            inputs.fixed.push_back({key, value, "no whole number is as near as that"});
        }
        else
        {
            inputs.varied.push_back(
                {key, value, [field, place, hasFigure](Scenario& target, double factor) {
                     std::string text;
                     std::vector<Owner> scaled = place.read(target);
                     for (Owner& owner : scaled)
                     {
                         if (hasFigure(owner))
                         {
                             const std::string own = Scale(field, owner, factor);
                             text = text.empty() ? own : text;
                         }
                     }
                     place.write(target, scaled);
                     return text;
                 }});
        }
    }
}

} // namespace

StudyInputs
InputsOf(const Study& study, double by)
{
    const Scenario& scenario = study.scenario;
    StudyInputs inputs;
    const auto none = [](const std::string&) { return false; };
    const auto add =
        [&](const auto& prefix, const auto& table, const auto& place, const auto& skip) {
            AddFigures(scenario, by, prefix, table, place, skip, inputs);
        };
    const auto& spans = scenario.cluster.crossLinks;
    const bool follows = std::all_of(spans.begin(), spans.end(), LatencyFollows);
    add("cluster.cross.", CrossLinkSpec::Fields(), OfSpans(), [follows](const std::string& key) {
        return follows && key == "latency";
    });
    add("cluster.buildings.gpu.", GpuSpec::Fields(), OfBuildings(&BuildingSpec::gpu), none);
    add("cluster.buildings.fabric.",
        FabricSpec::Fields(),
        OfBuildings(&BuildingSpec::fabric),
        none);
    add("workload.", WorkloadSpec::Fields(), OfWorkload(), none);
    add("workload.stack.", SoftwareStack::Fields(), OfStack(), none);
    add("", PlanFields(), OfPlan(), [&study](const std::string& key) {
        const auto searched = [&key](const SearchAxis& axis) { return axis.key == key; };
        return key.rfind("network.", 0) != 0 ||
               std::any_of(study.search.begin(), study.search.end(), searched);
    });
    return inputs;
}

} // namespace scaleacross
