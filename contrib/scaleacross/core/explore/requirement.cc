// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/requirement.h"

#include "core/base/errors.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace scaleacross
{

namespace
{

/// The values to look at first, the better ones first.
std::vector<double>
FirstValues(const ValueRange& range, Sense sense, const std::vector<double>& extra)
{
    std::vector<double> values{range.least, range.most};
    for (int i = 1; i + 1 < kRangeSamples; i++)
    {
        const double part = static_cast<double>(i) / (kRangeSamples - 1);
        values.push_back(range.least * std::pow(range.most / range.least, part));
    }
    for (const double value : extra)
    {
        if (value > range.least && value < range.most)
        {
            values.push_back(value);
        }
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (sense == Sense::Least)
    {
        std::reverse(values.begin(), values.end());
    }
    return values;
}

} // namespace

Requirement
FindRequirement(const ValueRange& range,
                Sense sense,
                double target,
                const std::vector<double>& extra,
                const std::function<std::optional<double>(double)>& lossAt)
{
    SCALEACROSS_INVARIANT(range.least > 0 && range.least < range.most,
                          std::to_string(range.least) + " to " + std::to_string(range.most));
    Requirement answer;
    auto& samples = answer.samples;
    for (const double value : FirstValues(range, sense, extra))
    {
        samples.push_back({value, lossAt(value)});
    }
    const auto meets = [target](const Sample& sample) { return sample.Meets(target); };
    const auto failing = std::find_if_not(samples.begin(), samples.end(), meets);
    const bool met = std::any_of(samples.begin(), samples.end(), meets);
    if (failing == samples.end())
    {
        answer.finding = Finding::Everywhere;
    }
    else if (failing == samples.begin())
    {
        answer.finding = met ? Finding::InPart : Finding::Nowhere;
        answer.monotone = !met;
    }
    else
    {
        answer.finding = Finding::Found;
        answer.monotone = std::none_of(failing, samples.end(), meets);
        double good = (failing - 1)->value;
        double bad = failing->value;
        while (std::max(good, bad) > std::min(good, bad) * (1 + kRequirementTolerance))
        {
            const double middle = std::sqrt(good * bad);
            samples.push_back({middle, lossAt(middle)});
            (meets(samples.back()) ? good : bad) = middle;
        }
        answer.value = good;
        answer.beyond = bad;
    }
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
        return a.value < b.value;
    });
    return answer;
}

} // namespace scaleacross
