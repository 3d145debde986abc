// SPDX-License-Identifier: GPL-2.0-only

#include "cli/bench-plans.h"

#include "core/base/errors.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/first-look.h"
#include "core/explore/search.h"
#include "core/io/read-study.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <vector>

namespace scaleacross
{

namespace
{

/// CPU time of this thread so far, in seconds.
double
CpuNow()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// One pass over a space.
struct Pass
{
    uint64_t distinct{0};
    std::vector<Plan> runnable;
    double cpu{0}; //!< s
};

/// Looks at the distinct plans of a family, one by one, as nothing is ruled out.
void
LookAtFamily(const SearchSpace& space, size_t level, uint64_t number, const Plan& first, Pass& pass)
{
    if (level + 1 < space.Levels().size())
    {
        const uint64_t parts = space.FamilySize(level) / space.FamilySize(level + 1);
        for (const uint64_t part : space.PartsOf(level, number, first).distinct)
        {
            const uint64_t child = number * parts + part;
            LookAtFamily(space, level + 1, child, space.KnownFirstOf(level + 1, child), pass);
        }
        return;
    }
    pass.distinct++;
    try
    {
        if (std::holds_alternative<ClosedForm>(FirstLook(space.With(first))))
        {
            pass.runnable.push_back(first);
        }
    }
    catch (const ConfigError&)
    {
    } // counted: that it cannot run is what was to be found out
}

Pass
LookAtAll(const Study& study)
{
    Pass pass;
    const double begin = CpuNow();
    const SearchSpace space(study); // knows nothing yet
    const uint64_t families = space.Size() / space.FamilySize(0);
    for (uint64_t i = 0; i < families; i++)
    {
        if (const auto first = space.FirstOf(0, i))
        {
            LookAtFamily(space, 0, i, *first, pass);
        }
    }
    pass.cpu = CpuNow() - begin;
    return pass;
}

Pass
MedianPass(const Study& study, uint32_t repeat)
{
    std::vector<Pass> passes;
    for (uint32_t i = 0; i < repeat; i++)
    {
        passes.push_back(LookAtAll(study));
    }
    const auto middle = passes.begin() + (repeat - 1) / 2;
    std::nth_element(passes.begin(), middle, passes.end(), [](const Pass& a, const Pass& b) {
        return a.cpu < b.cpu;
    });
    return *middle;
}

} // namespace

Study
StandardStudy()
{
    return ReadStudy(SCALEACROSS_SOURCE_DIR "/examples/llama4-maverick-two-buildings/study.yaml");
}

nlohmann::json
BenchPlans(const Study& study, uint32_t repeat, uint64_t stride)
{
    const SearchSpace space(study);
    const Pass pass = MedianPass(study, repeat);
    const ClosedFormFilter filter(BoundOf::Analytical);
    const AnalyticalEngine engine;
    uint64_t sample = 0;
    double replay = 0;
    double run = 0;
    double error = 0;
    double worst = 0;
    for (uint64_t i = 0; i < pass.runnable.size(); i += stride)
    {
        const Scenario scenario = space.With(pass.runnable[i]);
        const double begin = CpuNow();
        const auto filtered = filter(scenario, [](const ClosedForm& /* form */) { return true; });
        const double between = CpuNow();
        const Evaluation evaluation = Evaluate(engine, scenario, RunOptions());
        const double end = CpuNow();
        const auto* form = std::get_if<ClosedForm>(&filtered);
        const auto* report = std::get_if<RunReport>(&evaluation);
        if (form == nullptr || report == nullptr)
        {
            continue;
        }
        sample++;
        replay += between - begin;
        run += end - between;
        const double above = report->iterationTime.S() / form->bound.S() - 1;
        error += above;
        worst = std::max(worst, above);
    }
    const auto distinct = static_cast<double>(pass.distinct);
    const auto mean = [sample](double sum) {
        return sample == 0 ? nlohmann::json(nullptr)
                           : nlohmann::json(sum / static_cast<double>(sample));
    };
    return {{"study", study.name},
            {"combinations", space.Size()},
            {"space", pass.distinct},
            {"runnable", pass.runnable.size()},
            {"repeat", repeat},
            {"leaf_bounds_per_cpu_s", distinct / pass.cpu},
            {"leaf_bound_us", 1e6 * pass.cpu / distinct},
            {"sample", sample},
            {"replay_us", mean(1e6 * replay)},
            {"run_us", mean(1e6 * run)},
            {"bound_error", mean(error)},
            {"bound_error_worst", mean(worst * static_cast<double>(sample))}};
}

} // namespace scaleacross
