// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/objective.h"

#include "core/base/text.h"
#include "core/base/word-registry.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace scaleacross
{

namespace
{

double
Hours(Duration time)
{
    return time.S() / 3600;
}

double
GpuHours(Duration time, const Rates& rates)
{
    return Hours(time) * static_cast<double>(rates.gpus);
}

double
Cost(Duration time, const Rates& rates)
{
    SCALEACROSS_INVARIANT(rates.costPerHour, "no prices");
    return Hours(time) * *rates.costPerHour;
}

double
Count(Bytes bytes)
{
    return static_cast<double>(bytes.Count());
}

} // namespace

template <>
const std::vector<const ObjectiveFacts*>&
Objective::Rows()
{
    static const auto rows = PointersTo<ObjectiveFacts>(
        {{{"time", "time of an iteration", true},
          "s",
          "iteration_time_s",
          "iteration_time_s",
          true,
          false,
          [](const RunReport& report, const Rates&) { return report.iterationTime.S(); },
          [](const ClosedForm& form, const Rates&) { return form.bound.S(); }},
         {{"gpu-hours", "time of an iteration times the GPUs of the cluster"},
          "GPU-hours",
          "gpu_hours",
          "iteration_time_s",
          true,
          false,
          [](const RunReport& report, const Rates& rates) {
              return GpuHours(report.iterationTime, rates);
          },
          [](const ClosedForm& form, const Rates& rates) { return GpuHours(form.bound, rates); }},
         {{"cost", "what an iteration costs, by the study's prices of GPUs and spans"},
          "in the currency of the prices",
          "cost",
          "iteration_time_s",
          true,
          true,
          [](const RunReport& report, const Rates& rates) {
              return Cost(report.iterationTime, rates);
          },
          [](const ClosedForm& form, const Rates& rates) { return Cost(form.bound, rates); }},
         {{"memory", "memory of the rank that holds the most"},
          "B",
          "memory_bytes_max",
          "memory_bytes_max",
          false,
          false,
          [](const RunReport& report, const Rates&) { return Count(report.memoryMax); },
          [](const ClosedForm& form, const Rates&) { return Count(form.memoryMax); }},
         {{"bytes", "bytes across buildings in an iteration"},
          "B",
          "cross_building_bytes",
          "cross_building_bytes",
          false,
          false,
          [](const RunReport& report, const Rates&) { return Count(report.crossBuildingBytes); },
          [](const ClosedForm& form, const Rates&) { return Count(form.crossBuildingBytes); }}});
    return rows;
}

template class Word<ObjectiveFacts>;

Rates
RatesOf(const Study& study)
{
    const WorkloadSpec& workload = study.scenario.Job().workload;
    Rates rates;
    rates.gpus = study.scenario.cluster.Gpus();
    rates.tokens = static_cast<double>(workload.globalBatch) * workload.sequence;
    if (study.prices)
    {
        rates.costPerHour = study.prices->PerHour(study.scenario.cluster);
    }
    return rates;
}

std::vector<Objective>
ObjectivesWith(const Rates& rates)
{
    std::vector<Objective> objectives;
    for (const std::string& name : Objective::Names())
    {
        const Objective objective = name;
        if (!objective->needsPrices || rates.costPerHour)
        {
            objectives.push_back(objective);
        }
    }
    return objectives;
}

std::string
ValueText(Objective objective, double value)
{
    if (objective->unit == "s")
    {
        return ToString(Duration::Seconds(value));
    }
    if (objective->unit == "B")
    {
        return ToString(Bytes(static_cast<uint64_t>(value)));
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), value < 1000 ? "%.4g" : "%.0f", value);
    return text.data() + (" " + objective->unit);
}

} // namespace scaleacross
