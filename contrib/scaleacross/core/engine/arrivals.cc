// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/arrivals.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace scaleacross::evaluation
{

namespace
{

/// All that came to a class, in the order in which it arrived.
std::vector<Letter>
LettersTo(const ClassState& state)
{
    const auto earlier = [](const Letter& a, const Letter& b) { return a.arrival < b.arrival; };
    std::vector<Letter> letters;
    for (const std::vector<Letter>& inlet : state.inlets)
    {
        // Of one sender they come in order, unless longer ones have a longer latency.
        const auto middle = static_cast<std::ptrdiff_t>(letters.size());
        letters.insert(letters.end(), inlet.begin(), inlet.end());
        if (!std::is_sorted(inlet.begin(), inlet.end(), earlier))
        {
            std::sort(letters.begin() + middle, letters.end(), earlier);
        }
        std::inplace_merge(letters.begin(), letters.begin() + middle, letters.end(), earlier);
    }
    return letters;
}

} // namespace

Duration
BusyBetween(const ClassState& state)
{
    Duration until;
    Duration busy;
    auto skipped = state.skipped.begin();
    for (const Letter& letter : LettersTo(state))
    {
        for (; skipped != state.skipped.end() && skipped->at <= letter.arrival; ++skipped)
        {
            // The last one before this one arrived in the last of the skipped periods.
            until += skipped->arrivals ? skipped->by : Duration();
        }
        if (letter.arrival > state.begin && letter.arrival <= state.end)
        {
            busy += letter.arrival - std::max(letter.posted, until);
        }
        until = letter.arrival;
    }
    for (const SkippedPeriods& periods : state.skipped)
    {
        if (periods.at > state.begin && periods.at < state.end)
        {
            busy += periods.busy;
        }
    }
    return busy;
}

PeriodArrivals
ArrivalsBetween(const ClassState& state, Duration from, Duration until)
{
    const std::vector<Letter> all = LettersTo(state);
    const auto firstFrom = [&all](Duration time) {
        return std::find_if(all.begin(), all.end(), [time](const Letter& letter) {
            return letter.arrival >= time;
        });
    };
    const auto first = firstFrom(from);
    const auto end = firstFrom(until);
    PeriodArrivals arrivals;
    arrivals.any = first != end;
    if (arrivals.any)
    {
        Duration before = std::prev(end)->arrival - (until - from); // in the period before
        for (auto letter = first; letter != end; ++letter)
        {
            arrivals.busy += letter->arrival - std::max(letter->posted, before);
            before = letter->arrival;
        }
    }
    return arrivals;
}

} // namespace scaleacross::evaluation
