// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EXPLORE_FAKES_H
#define SCALEACROSS_EXPLORE_FAKES_H

#include "core/explore/search.h"
#include "core/io/read-study.h"

#include <atomic>
#include <functional>
#include <string>

namespace scaleacross
{

/// A study's text with nothing searched where it does not say what is.
inline std::string
WithSearch(const std::string& text)
{
    return text.find("search:") == std::string::npos ? text + "search: {}\n" : text;
}

/// 64 GPUs in two buildings with the given text of `plan` and `search` below it.
inline Study
TwoBuildings(const std::string& rest)
{
    return ParseStudy("study: fake\n"
                      "model: llama3-8b\n"
                      "workload: {sequence: 2048, global_batch: 64}\n"
                      "cluster:\n"
                      "  buildings: {count: 2, gpus: 32, gpu: h100, fabric: {spines: 4}}\n"
                      "  cross: {distance: 30km, oversubscription: 4}\n" +
                          WithSearch(rest),
                      "fake/study.yaml");
}

/// 64 GPUs in one building.
inline Study
OneBuilding(const std::string& rest)
{
    return ParseStudy(
        "study: fake\n"
        "model: llama3-8b\n"
        "workload: {sequence: 2048, global_batch: 64}\n"
        "cluster: {buildings: {count: 1, gpus: 64, gpu: h100, fabric: {spines: 4}}}\n" +
            WithSearch(rest),
        "fake/study.yaml");
}

/// An engine whose iteration time is a function of the plan, and which counts its runs.
class FakeEngine : public Engine
{
  public:
    using Time = std::function<Duration(const ParallelPlan&)>;

    explicit FakeEngine(Time time)
        : m_time(std::move(time))
    {
    }

    std::string Name() const override
    {
        return "fake";
    }

    bool UsesSeed() const override
    {
        return false;
    }

    std::string Fingerprint() const override
    {
        return fingerprint;
    }

    RunResult Run(const Scenario& scenario, const RunOptions& /* options */) const override
    {
        runs++;
        const ParallelPlan& plan = scenario.Job().plan;
        RunReport report;
        report.engine = Name();
        report.version = "test";
        report.iterationTime = m_time(plan);
        report.memoryMax = Bytes(1000 / plan.tp);
        report.crossBuildingBytes = Bytes(plan.crossing == Crossing::Data ? 100 : 50);
        report.memory = {{Bytes(1), Bytes(2), Bytes(3), Bytes(4), Bytes(5), Bytes(6), Bytes(7)}};
        report.Of(CommClass::Data).busy = Duration::Microseconds(plan.dp);
        return report;
    }

    std::string fingerprint{"fake 1"};
    mutable std::atomic<uint64_t> runs{0};

  private:
    Time m_time;
};

/// Slower with tp, pp and microbatch, each by another amount: all times differ.
inline Duration
DistinctTime(const ParallelPlan& plan)
{
    return Duration::Microseconds(1000 + plan.tp * 100 + plan.pp * 7 + plan.microbatch +
                                  (plan.crossing == Crossing::Pipeline ? 3 : 0));
}

/// Everything fits, in no memory at all, and nothing can be faster than 1 ms.
inline std::variant<ClosedForm, Infeasible>
FitsAlways(const Scenario& /* scenario */, const IsWorthMore& /* isWorthMore */)
{
    ClosedForm form;
    form.bound = Duration::Microseconds(1000);
    return form;
}

inline std::vector<std::string>
Texts(const std::vector<Ranked>& plans)
{
    std::vector<std::string> texts;
    for (const auto& ranked : plans)
    {
        texts.push_back(ranked.text);
    }
    return texts;
}

} // namespace scaleacross

#endif // SCALEACROSS_EXPLORE_FAKES_H
