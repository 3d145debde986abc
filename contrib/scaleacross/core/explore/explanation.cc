// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/explanation.h"

#include "core/base/text.h"
#include "core/explore/difference.h"
#include "core/explore/link-kind.h"
#include "core/explore/model-error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

std::string
Percent(double fraction)
{
    std::array<char, 32> text{};
    const double percent = 100 * fraction;
    const int digits = std::abs(percent) < 10 ? 2 : 1;
    std::snprintf(text.data(), text.size(), "%.*f %%", digits, percent);
    return text.data();
}

double
Share(Duration part, Duration whole)
{
    return whole.Ps() == 0 ? 0 : static_cast<double>(part.Ps()) / static_cast<double>(whole.Ps());
}

std::string
Amount(Duration value)
{
    return value.Ps() == 0 ? "none" : ToString(value);
}

/// "50.0 % longer" of a time `b` beside `a`.
std::string
Longer(Duration a, Duration b)
{
    return IsRounding(b - a, a) ? "as long" : Percent(RelativeExcess(a, b)) + " longer";
}

/// "compute 12 ms less" for every part that matters in the step from `a` to `b`.
std::string
WhereItArises(const RunReport& a, const RunReport& b)
{
    std::vector<std::string> words;
    for (const TimeChange& part : MainChanges(a, b))
    {
        words.push_back(part.name + " " + ToString(Magnitude(part.change)) +
                        (part.change.Ps() > 0 ? " more" : " less"));
    }
    return AllOf(words);
}

/// "3 GiB instead of 2 GiB" of values by the objective; of two that are told alike, what is between
/// them: "2.312 GiB (96 KiB more)".
std::string
InsteadText(Objective objective, double theirs, double mine)
{
    const std::string text = ValueText(objective, theirs);
    return text != ValueText(objective, mine) ? text + " instead of " + ValueText(objective, mine)
           : theirs == mine                   ? text + " as well"
                            : text + " (" + ValueText(objective, std::abs(theirs - mine)) +
                                  (theirs > mine ? " more)" : " less)");
}

/// Its value by the objective, "12.5 GiB".
std::string
ValueOf(const ExplanationInput& input, const RunReport& report)
{
    return ValueText(input.goals.objective,
                     input.goals.objective->value(report, input.goals.rates));
}

std::string
WinnerLine(const ExplanationInput& input)
{
    const RunReport& report = input.winner.report;
    const Objective objective = input.goals.objective;
    const bool usual = objective == Objective();
    return "Best" + (usual ? "" : " by " + objective.Name()) + ": " + input.winner.label + ": " +
           (usual ? "" : ValueOf(input, report) + ", ") + ToString(report.iterationTime) +
           " per iteration, MFU " + Percent(report.mfu) + ".";
}

/// The fastest plan of a baseline that is faster than the best and lies outside the search space:
/// the best is the best of what was searched, not of what is known.
std::string
FasterOutsideLine(const ExplanationInput& input)
{
    const BaselineResult* fastest = nullptr;
    for (const BaselineResult& baseline : input.baselines)
    {
        if (baseline.contender && !baseline.outside.empty() &&
            (fastest == nullptr ||
             baseline.contender->report.iterationTime < fastest->contender->report.iterationTime))
        {
            fastest = &baseline;
        }
    }
    if (fastest == nullptr || !input.goals.objective->followsTime)
    {
        return "";
    }
    const Duration time = fastest->contender->report.iterationTime;
    const Duration best = input.winner.report.iterationTime;
    if (time >= best || IsRounding(best - time, time))
    {
        return "";
    }
    return "Faster, but outside this search: " + fastest->contender->label + ", which baseline " +
           fastest->name + " finds, takes " + ToString(time) + ", " +
           Percent(-RelativeExcess(best, time)) + " less: it has " + OutsideText(fastest->outside) +
           ".";
}

std::string
CrossingLine(const ExplanationInput& input)
{
    const RunReport& report = input.winner.report;
    if (input.buildings < 2)
    {
        return "Across buildings: there is one building, nothing crosses.";
    }
    if (report.crossBuildingBytes.Count() == 0)
    {
        return "Across buildings: nothing.";
    }
    std::vector<std::pair<uint64_t, std::string>> shares;
    const auto total = static_cast<double>(report.crossBuildingBytes.Count());
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        const uint64_t bytes = report.classes[c].crossBytes.Count();
        if (bytes > 0)
        {
            shares.emplace_back(bytes,
                                ToString(static_cast<CommClass>(c)) + " " +
                                    Percent(static_cast<double>(bytes) / total));
        }
    }
    std::sort(shares.rbegin(), shares.rend());
    std::vector<std::string> words;
    for (const auto& share : shares)
    {
        words.push_back(share.second);
    }
    return "Across buildings: " + ToString(report.crossBuildingBytes) + " per iteration, " +
           AllOf(words) + ".";
}

std::string
OverlapLine(const RunReport& report)
{
    std::vector<std::string> words;
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        const ClassReport& entry = report.classes[c];
        if (entry.busy.Ps() > 0 || entry.exposed.Ps() > 0)
        {
            const Duration hidden = std::max(Duration(), entry.busy - entry.exposed);
            words.push_back(ToString(static_cast<CommClass>(c)) + " " + Amount(entry.exposed) +
                            " exposed, " + Amount(hidden) + " hidden");
        }
    }
    if (words.empty())
    {
        return "Communication: none.";
    }
    std::string text = "Communication: " + ToString(report.exposedComm) + " exposed (" +
                       Percent(Share(report.exposedComm, report.iterationTime)) +
                       " of the iteration): ";
    for (size_t i = 0; i < words.size(); i++)
    {
        text += (i == 0 ? "" : "; ") + words[i];
    }
    return text + ".";
}

/// The stage with the least left of what its GPU may fill; where nothing is known of GPUs, of which
/// usable is 0, that is the fullest.
std::vector<MemoryUse>::const_iterator
Tightest(const RunReport& report)
{
    return std::max_element(report.memory.begin(),
                            report.memory.end(),
                            [](const MemoryUse& a, const MemoryUse& b) {
                                return b.usable + a.Total() < a.usable + b.Total();
                            });
}

std::string
BubbleAndMemoryLine(const ExplanationInput& input)
{
    const RunReport& report = input.winner.report;
    const auto tightest = Tightest(report);
    const bool isFullest = tightest == report.memory.end() || tightest->Total() == report.memoryMax;
    std::string text = "Pipeline bubble: " + Percent(report.bubbleFraction) +
                       ". Memory: " + ToString(isFullest ? report.memoryMax : tightest->Total());
    if (tightest != report.memory.end() && tightest->usable > Bytes())
    {
        text += " of " + ToString(tightest->usable) + " usable";
    }
    text += isFullest ? " on the fullest stage"
                      : " where the least is left, " + ToString(report.memoryMax) +
                            " on GPUs that may fill more";
    if (tightest != report.memory.end())
    {
        const std::array<std::pair<Bytes, const char*>, 6> categories = {
            {{tightest->parameters, "parameters"},
             {tightest->gradients, "gradients"},
             {tightest->optimizer, "optimizer states"},
             {tightest->activations, "activations"},
             {tightest->gathered, "gathered parameters"},
             {tightest->buffers, "buffers"}}};
        const auto largest =
            std::max_element(categories.begin(),
                             categories.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
        text +=
            std::string(", most of it ") + largest->second + " (" + ToString(largest->first) + ")";
    }
    return text + ".";
}

/// "0 to 3", "0 and 2": of rising numbers.
std::string
RangesText(const std::vector<uint32_t>& numbers)
{
    std::vector<std::string> ranges;
    for (size_t i = 0; i < numbers.size();)
    {
        size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
        {
            last++;
        }
        last = last - i == 1 ? i : last; // two are told one by one
        ranges.push_back(std::to_string(numbers[i]) +
                         (last == i ? "" : " to " + std::to_string(numbers[last])));
        i = last + 1;
    }
    return AllOf(ranges);
}

/// "7, 14 x 8, 7".
std::string
RunsText(const std::vector<uint32_t>& counts)
{
    std::string text;
    for (size_t i = 0; i < counts.size();)
    {
        size_t end = i;
        while (end < counts.size() && counts[end] == counts[i])
        {
            end++;
        }
        text += (text.empty() ? "" : ", ") +
                (end - i > 1 ? std::to_string(end - i) + " x " : std::string()) +
                std::to_string(counts[i]);
        i = end;
    }
    return text;
}

/// Which stages, and how many layers, the buildings hold; those that hold the same together.
std::string
StagesLine(const ExplanationInput& input)
{
    if (!input.stages)
    {
        return "";
    }
    const StagePlaces& places = *input.stages;
    std::vector<std::string> parts;
    for (size_t i = 0; i < places.buildings.size(); i++)
    {
        const StagesOfBuilding& own = places.buildings[i];
        std::vector<std::string> names;
        bool told = false;
        for (size_t j = 0; j < places.buildings.size(); j++)
        {
            const bool same = places.buildings[j].stages == own.stages;
            told = told || (same && j < i);
            if (same)
            {
                names.push_back(places.buildings[j].building);
            }
        }
        if (told)
        {
            continue;
        }
        std::vector<uint32_t> layers;
        for (const uint32_t stage : own.stages)
        {
            layers.push_back(places.layers[stage]);
        }
        const uint32_t sum = std::accumulate(layers.begin(), layers.end(), 0U);
        parts.push_back(AllOf(names) + (names.size() > 1 ? " each have stage" : " has stage") +
                        (own.stages.size() == 1 ? " " : "s ") + RangesText(own.stages) + " with " +
                        std::to_string(sum) + (sum == 1 ? " layer" : " layers") +
                        (layers.size() > 1 ? " (" + RunsText(layers) + ")" : ""));
    }
    std::string text = "Stages: ";
    for (size_t i = 0; i < parts.size(); i++)
    {
        text += (i == 0 ? "" : "; ") + parts[i];
    }
    return text + ".";
}

/// The fullest link of every kind.
std::string
LinksLine(const RunReport& report)
{
    std::vector<const ResourceReport*> links;
    for (const ResourceReport& link : report.resources)
    {
        links.push_back(&link);
    }
    std::stable_sort(links.begin(), links.end(), [](const auto* a, const auto* b) {
        return a->busy > b->busy;
    });
    std::set<std::string> kinds;
    std::string text;
    for (const ResourceReport* link : links)
    {
        if (kinds.insert(LinkKindOf(*link)).second)
        {
            text += (text.empty() ? "" : ", ") + link->name + " " + Percent(link->busy);
        }
    }
    return text.empty() ? "" : "Links, the fullest of each kind: " + text + " of the time.";
}

/// "1 plan", "2 plans".
std::string
Plans(uint64_t count)
{
    return std::to_string(count) + (count == 1 ? " plan" : " plans");
}

TimedPlan
Timed(const Contender& contender)
{
    return {contender.plan, contender.report.iterationTime};
}

/// ", 81 % likely": that the faster one by the model is the faster one.
std::string
Sureness(const ExplanationInput& input, const Contender& faster, const Contender& slower)
{
    return input.probabilityBest
               ? ", " + ProbabilityText(ProbabilityFaster(Timed(faster), Timed(slower))) + " likely"
               : "";
}

/// What is said of a crossing of which no plan is kept, behind "no ...-out plan ".
std::string
WhyNone(const ExplanationInput& input)
{
    if (input.undecided > 0)
    {
        return "is kept so far";
    }
    if (!input.counts.failed.empty())
    {
        return "has run";
    }
    const bool isHopeless =
        input.otherCrossing && input.goals.restGap > 0 && input.counts.RuledOut() > 0;
    return isHopeless ? "that can run, if there is any, comes within " + NumberText(kHopeless) +
                            " times the best"
                      : "of this search can run";
}

/// Behind an amount that is told as `mine` is: " as well", " (96 KiB more)".
std::string
SameAmountText(Bytes mine, Bytes theirs)
{
    return theirs == mine  ? " as well"
           : theirs > mine ? " (" + ToString(theirs - mine) + " more)"
                           : " (" + ToString(mine - theirs) + " less)";
}

std::string
OtherCrossingLine(const ExplanationInput& input)
{
    const Crossing mine = input.winner.plan.parallel.crossing;
    if (input.buildings < 2 || input.winner.report.crossBuildingBytes == Bytes())
    {
        return "";
    }
    if (!input.otherCrossing)
    {
        std::vector<std::string> others;
        for (const Crossing& other : input.withoutPlan)
        {
            others.push_back("no " + NameOf(other));
        }
        return "Placement: " + NameOf(mine) + " only; " +
               (others.empty() ? "the search has no other."
                               : AllOf(others) + " plan " + WhyNone(input) + ".");
    }
    const Crossing theirs = input.otherCrossing->plan.parallel.crossing;
    const RunReport& a = input.winner.report;
    const RunReport& b = input.otherCrossing->report;
    // Of a search that is not at its end, either placement may have better plans.
    const bool isOpen = input.undecided > 0;
    std::string text = "Placement: the best " + NameOf(theirs) + " plan" +
                       (isOpen ? " so far" : "") + " (" + input.otherCrossing->label + ") ";
    std::string farther;
    for (const Crossing& other : input.withoutPlan)
    {
        farther += " No " + NameOf(other) + " plan " + WhyNone(input) + ".";
    }
    if (!input.goals.objective->followsTime)
    {
        const auto valueOf = [&input](const RunReport& report) {
            return input.goals.objective->value(report, input.goals.rates);
        };
        return text + "has " + InsteadText(input.goals.objective, valueOf(b), valueOf(a)) +
               ", and takes " + ToString(b.iterationTime) + "." + farther;
    }
    const bool isAsLong = IsRounding(b.iterationTime - a.iterationTime, a.iterationTime);
    text += "takes " + ToString(b.iterationTime) + ", " + Longer(a.iterationTime, b.iterationTime) +
            (isAsLong ? " as " : " than ") + NameOf(mine) +
            (isOpen ? Gap(a, input.goals, input.counts) == 0.0
                          ? "; it may have better ones that are not found"
                          : "; either may have better ones that are not found"
                    : Sureness(input, input.winner, *input.otherCrossing)) +
            ".";
    if (!isOpen && input.probabilityBest &&
        !AreToldApart(Timed(input.winner), Timed(*input.otherCrossing)))
    {
        text += " Placement does not decide here.";
    }
    const std::string where = WhereItArises(a, b);
    const std::string sent = ToString(b.crossBuildingBytes);
    text += " It sends " + sent + " across buildings" +
            (sent == ToString(a.crossBuildingBytes)
                 ? SameAmountText(a.crossBuildingBytes, b.crossBuildingBytes)
                 : " instead of " + ToString(a.crossBuildingBytes)) +
            (where.empty() ? "" : " and has " + where) + ".";
    return text + farther;
}

std::string
CloseLine(const ExplanationInput& input)
{
    const std::string same =
        input.samePlans.empty() ? ""
                                : "The same work by another name: " + AllOf(input.samePlans) + ". ";
    if (!input.runnerUp)
    {
        // What is not decided may be the best itself, which an earlier call has run.
        const uint64_t all = input.counts.evaluated + input.counts.RuledOut() + input.undecided;
        return same +
               (all > 1 ? "No next best plan is kept." : "It is the only plan that can run.");
    }
    if (!input.goals.objective->followsTime)
    {
        return same + "Next best: " + input.runnerUp->label + ", " +
               ValueOf(input, input.runnerUp->report) + ".";
    }
    std::string text =
        same + "Next best: " + input.runnerUp->label + ", " +
        Longer(input.winner.report.iterationTime, input.runnerUp->report.iterationTime) +
        Sureness(input, input.winner, *input.runnerUp) + ".";
    if (!input.probabilityBest)
    {
        return text;
    }
    if (input.closePlans > 0)
    {
        text += input.closePlansAtLeast ? " At least " : " ";
        text += Plans(input.closePlans) + " cannot be told from the best (" +
                ProbabilityText(kSure) + ").";
    }
    return text + " The best is the fastest of all that are kept with " +
           ProbabilityText(*input.probabilityBest) + ".";
}

std::string
TimeErrorLine(const ExplanationInput& input)
{
    if (input.engine != kMeasuredEngine)
    {
        return "Times: those of the " + input.engine +
               " engine were not set beside published runs, so that nothing is known of how far "
               "they are off, nor of how sure a comparison is.";
    }
    const auto& error = input.timeError;
    if (!error)
    {
        return "Times: no runs of this kind of model by this stack on these GPUs are published, so "
               "that nothing is known of how far they are off.";
    }
    const std::string off = Percent(error->mean) + " off in the mean, within " +
                            Percent(error->within) + " for eight in ten and " +
                            Percent(std::abs(error->worst)) + " at most";
    const std::string where = "all of them in one building: no published run spans buildings).";
    const std::string runs = std::to_string(error->runs) +
                             (error->runs == 1 ? " run of " : " runs of ") +
                             std::to_string(error->families) +
                             (error->families == 1 ? " model family" : " model families");
    std::string kinds;
    for (const std::string& kind : error->figuresOf)
    {
        kinds += (kinds.empty() ? "" : "; ") + kind;
    }
    return error->IsValidated()
               ? "Times: of the published runs of this kind (" + error->kind + ") they are " + off +
                     " (" + runs +
                     ", as they are and by fits without their family, their release, or their GPU "
                     "and precision, whichever errs most; " +
                     (error->figuresOf.size() > 1 ? "each figure the largest of " + kinds + "; "
                                                  : std::string()) +
                     where
               : "Times: not validated for this kind (" + error->kind + ", " + runs +
                     " published): " + error->unvalidated + ". Those of the kind that errs most (" +
                     kinds + ") are " + off + " (" + where;
}

std::string
BaselineLine(const ExplanationInput& input, const BaselineResult& baseline)
{
    const Contender& winner = input.winner;
    const std::string name = "Baseline " + baseline.name + " (the fastest over " + baseline.tunes +
                             "; not touched: " + baseline.untouched + "): ";
    if (!baseline.contender)
    {
        return name + "none (" + baseline.reason.reason + "): " + baseline.reason.detail + ".";
    }
    const Duration time = baseline.contender->report.iterationTime;
    const double gain = RelativeExcess(winner.report.iterationTime, time);
    std::string text =
        name + baseline.contender->label + " takes " + ToString(time) + ": the best ";
    text += IsRounding(time - winner.report.iterationTime, time) ? "takes as long"
            : gain < 0 ? "takes " + Longer(time, winner.report.iterationTime)
                       : "is " + Percent(gain) + " faster";
    text += gain < 0 ? Sureness(input, *baseline.contender, winner)
                     : Sureness(input, winner, *baseline.contender);
    if (!baseline.outside.empty())
    {
        text += "; the search space does not hold this plan: " + OutsideText(baseline.outside);
    }
    return text + ".";
}

/// What being spread out costs. The times are of two clusters: how likely an order of plans is says
/// nothing of them.
std::string
SitesLine(const ExplanationInput& input)
{
    if (!input.oneSite || !input.goals.objective->followsTime) // whose best plan is the fastest
    {
        return "";
    }
    if (input.buildings < 2)
    {
        return "Being spread out costs nothing: there is one building.";
    }
    const BaselineResult& site = *input.oneSite;
    if (!site.contender)
    {
        return "All GPUs in one building: none (" + site.reason.reason +
               "): " + site.reason.detail + ".";
    }
    const Duration time = site.contender->report.iterationTime;
    const double cost = RelativeExcess(time, input.winner.report.iterationTime);
    const bool saves = cost < 0 && Percent(-cost) != Percent(0);
    return "All GPUs in one building" + (site.assumed.empty() ? "" : " (" + site.assumed + ")") +
           ": " + site.contender->label + " takes " + ToString(time) + ": being spread out " +
           (saves ? "saves " : "costs ") + Percent(std::abs(cost)) + ".";
}

std::string
WereRun(uint64_t plans)
{
    return Plans(plans) + (plans == 1 ? " was run" : " were run");
}

std::string
ProofLine(const ExplanationInput& input)
{
    const Frontier& counts = input.counts;
    const Duration best = input.winner.report.iterationTime;
    const bool followsTime = input.goals.objective->followsTime;
    const auto slack = followsTime ? BoundSlack(best, counts.bound) : std::nullopt;
    const std::string bound = slack ? "; it takes " + Percent(*slack) +
                                          " longer than the least bound of all, " +
                                          ToString(counts.bound) + " (the slack of the bound)"
                                    : "";
    if (input.undecided > 0)
    {
        const auto gap = Gap(input.winner.report, input.goals, counts);
        return "Not searched to the end: " + std::to_string(input.undecided) +
               " combinations are not decided. " +
               (!gap       ? "How much better they can be is not known."
                : *gap > 0 ? "None of them can be better by more than " + GapText(*gap) + "."
                           : "None of them can be better.");
    }
    if (counts.IsProof())
    {
        const double gap = *Gap(input.winner.report, input.goals, counts);
        std::string text = (gap > 0 ? "Within " + GapText(gap) + " of optimal" : "Optimal") +
                           " for the " + input.engine + " engine: " +
                           (counts.RuledOut() > 0 ? WereRun(counts.evaluated)
                                                  : "all plans that can run were run, " +
                                                        std::to_string(counts.evaluated));
        if (counts.RuledOut() > 0)
        {
            text += " and " + std::to_string(counts.RuledOut()) +
                    " ruled out, which by their bounds cannot be " +
                    (followsTime ? "faster" : "better") + (gap > 0 ? " by more" : "") +
                    ", whether they can run or not";
        }
        text += bound + ".";
        const std::string part = GapText(input.goals.restGap) + " of how far it is behind";
        const bool isPart = input.goals.restGap > 0 && counts.RuledOut() > 0 && input.runnerUp;
        if (input.goals.gap > 0)
        {
            text += " The rest of what is kept is proven to " + GapText(input.goals.gap) +
                    (isPart ? " or " + part : "") + ", as asked for.";
        }
        else if (isPart)
        {
            text += " The rest of what is kept is proven to " + part + ".";
        }
        return text;
    }
    uint64_t failed = 0;
    for (const auto& [reason, count] : counts.failed)
    {
        failed += count.count;
    }
    return "Not proven optimal: " + Plans(failed) + " failed" + bound +
           (slack ? ", and can be by no more than that above the optimum" : "") + ".";
}

} // namespace

double
RelativeExcess(Duration base, Duration other)
{
    return static_cast<double>(other.Ps()) / static_cast<double>(base.Ps()) - 1;
}

std::optional<double>
BoundSlack(Duration best, Duration bound)
{
    if (bound == Duration::Max() || bound.Ps() <= 0)
    {
        return std::nullopt;
    }
    return RelativeExcess(bound, best);
}

std::string
GapText(double gap)
{
    if (gap <= 0)
    {
        return "0 %";
    }
    const double percent = 100 * gap;
    const double digit = std::min(1.0, std::pow(10, std::floor(std::log10(percent)) - 1));
    // What is above by the last bits of a sum is not above.
    const double up = std::ceil(percent / digit - 1e-6) * digit;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), percent < 10 ? "%.2g %%" : "%.0f %%", up);
    return text.data();
}

std::optional<double>
Gap(const RunReport& best, const Goals& goals, const Frontier& counts)
{
    if (counts.failed.empty())
    {
        const double value = goals.objective->value(best, goals.rates);
        if (value <= counts.left)
        {
            return 0;
        }
        return counts.left > 0 ? std::optional<double>(value / counts.left - 1) : std::nullopt;
    }
    // Where a time was below its bound, bounds do not hold.
    const bool holds = counts.failed.count("below-bound") == 0;
    return holds && goals.objective->followsTime ? BoundSlack(best.iterationTime, counts.bound)
                                                 : std::nullopt;
}

std::vector<Statement>
Explain(const ExplanationInput& input)
{
    std::vector<Statement> lines = {{"best", WinnerLine(input)},
                                    {"best", FasterOutsideLine(input)},
                                    {"time", CrossingLine(input)},
                                    {"time", OverlapLine(input.winner.report)},
                                    {"time", BubbleAndMemoryLine(input)},
                                    {"stages", StagesLine(input)},
                                    {"links", LinksLine(input.winner.report)},
                                    {"placement", OtherCrossingLine(input)},
                                    {"sure", CloseLine(input)},
                                    {"sure", TimeErrorLine(input)}};
    for (const auto& baseline : input.baselines)
    {
        lines.push_back({"baselines", BaselineLine(input, baseline)});
    }
    lines.push_back({"baselines", SitesLine(input)});
    lines.push_back({"proof", ProofLine(input)});
    lines.erase(std::remove_if(lines.begin(),
                               lines.end(),
                               [](const Statement& line) { return line.text.empty(); }),
                lines.end());
    return lines;
}

} // namespace scaleacross
