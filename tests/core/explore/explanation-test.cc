// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/explanation.h"
#include "core/explore/model-error.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;
using testing::Not;

Duration
Ms(int64_t ms)
{
    return Duration::Microseconds(1000 * ms);
}

/// 100 ms: 60 compute, 10 bubble, 20 exposed dp (of 50 busy), 10 exposed pp (all of it).
RunReport
Report()
{
    RunReport report;
    report.iterationTime = Ms(100);
    report.mfu = 0.4;
    report.computeTime = Ms(60);
    report.bubble = Ms(10);
    report.bubbleFraction = 0.1;
    report.exposedComm = Ms(30);
    report.Of(CommClass::Data) = {Ms(50), Ms(20), Bytes(900), Bytes(300)};
    report.Of(CommClass::Pipeline) = {Ms(10), Ms(10), Bytes(100), Bytes(100)};
    report.crossBuildingBytes = Bytes(400);
    report.memoryMax = Bytes(1ULL << 30);
    report.memory = {{Bytes(1),
                      Bytes(1),
                      Bytes(1),
                      Bytes((1ULL << 30) - 5),
                      Bytes(1),
                      Bytes(1),
                      Bytes(4ULL << 30)}};
    return report;
}

Contender
Make(Crossing crossing, int64_t milliseconds, const std::string& label)
{
    Contender contender{label, {}, Report()};
    contender.plan.parallel.crossing = crossing;
    const Duration more = Ms(milliseconds - 100);
    contender.report.iterationTime += more;
    contender.report.Of(CommClass::Data).exposed += more;
    contender.report.exposedComm += more;
    return contender;
}

ExplanationInput
Input(Crossing winner, int64_t other)
{
    ExplanationInput input;
    input.winner = Make(winner, 100, "the winner");
    input.otherCrossing =
        Make(winner == Crossing::Data ? Crossing::Pipeline : Crossing::Data, other, "the other");
    input.runnerUp = input.otherCrossing;
    input.counts.bound = Ms(80);
    input.counts.evaluated = 7;
    input.counts.rejected[kRuledOut].count = 5;
    input.engine = "analytical";
    input.buildings = 2;
    return input;
}

std::string
Text(const ExplanationInput& input)
{
    std::string text;
    for (const auto& [topic, line] : Explain(input))
    {
        EXPECT_THAT(kTopics, testing::Contains(topic)) << line;
        text += line + "\n";
    }
    return text;
}

std::optional<double>
GapOf(const ExplanationInput& input)
{
    return Gap(input.winner.report, input.goals, input.counts);
}

TEST(Explanation, TellsWhatCrossesHidesAndFills)
{
    const std::string text = Text(Input(Crossing::Data, 150));
    EXPECT_THAT(text, HasSubstr("Best: the winner: 100 ms per iteration, MFU 40.0 %"));
    // 300 of 400 bytes are dp, 100 pp.
    EXPECT_THAT(text, HasSubstr("400 B per iteration, dp 75.0 % and pp 25.0 %"));
    // Hidden = busy - exposed: 50 - 20 and 10 - 10.
    EXPECT_THAT(text, HasSubstr("dp 20 ms exposed, 30 ms hidden"));
    EXPECT_THAT(text, HasSubstr("pp 10 ms exposed, none hidden"));
    EXPECT_THAT(text, HasSubstr("30.0 % of the iteration"));
    EXPECT_THAT(text, HasSubstr("bubble: 10.0 %"));
    EXPECT_THAT(text, HasSubstr("1 GiB of 4 GiB usable"));
    EXPECT_THAT(text, HasSubstr("most of it activations"));
    // All 12 were run or ruled out: that is a proof, whatever the bound is worth (100 / 80 - 1).
    EXPECT_THAT(
        text,
        HasSubstr("Optimal for the analytical engine: 7 plans were run and 5 ruled out, which by "
                  "their bounds cannot be faster, whether they can run or not; it takes 25.0 % "
                  "longer than the least bound of all, 80 ms (the slack of the bound)."));
}

TEST(Explanation, EitherPlacementCanWin)
{
    const std::string data = Text(Input(Crossing::Data, 150));
    EXPECT_THAT(data, HasSubstr("the best PP-out plan (the other) takes 150 ms"));
    EXPECT_THAT(data, HasSubstr("50.0 % longer than DP-out"));
    EXPECT_THAT(data, HasSubstr("exposed dp communication 50 ms more"));
    const std::string pipeline = Text(Input(Crossing::Pipeline, 150));
    EXPECT_THAT(pipeline, HasSubstr("the best DP-out plan (the other) takes 150 ms"));
    EXPECT_THAT(pipeline, HasSubstr("50.0 % longer than PP-out"));
}

/// What was ruled out takes 80 ms at least, so that the best is 100 / 80 - 1 above it at most; or
/// more than the best, which is the optimum then, whatever was asked for.
TEST(Explanation, NeverCallsOptimalWhatIsProvenToAGap)
{
    ExplanationInput input = Input(Crossing::Data, 150);
    input.goals.gap = 0.3;
    input.counts.left = 0.08;
    EXPECT_NEAR(*GapOf(input), 0.25, 1e-12); // 0.08 is no binary fraction
    EXPECT_THAT(
        Text(input),
        HasSubstr("Within 25 % of optimal for the analytical engine: 7 plans were run and 5 "
                  "ruled out, which by their bounds cannot be faster by more, whether they "
                  "can run or not; it takes 25.0 % longer"));
    EXPECT_THAT(Text(input),
                HasSubstr("The rest of what is kept is proven to 30 %, as asked for."));
    EXPECT_THAT(Text(input), Not(HasSubstr("Optimal")));
    input.counts.left = 0.101;
    EXPECT_EQ(*GapOf(input), 0);
    EXPECT_THAT(Text(input), HasSubstr("Optimal for the analytical engine"));
    input.counts.failed["crash"].count = 1;
    EXPECT_DOUBLE_EQ(*GapOf(input), 0.25); // by the bound of all, 80 ms
    EXPECT_THAT(Text(input), HasSubstr("Not proven optimal"));
}

/// What is alike is told together, and numbers in runs.
TEST(Explanation, TellsWhatBuildingsHold)
{
    ExplanationInput input = Input(Crossing::Pipeline, 150);
    EXPECT_THAT(Text(input), Not(HasSubstr("Stages")));
    input.stages =
        StagePlaces{{7, 8, 8, 8, 7, 1}, {{"east", {0, 1, 2}, {}}, {"west", {3, 4, 5}, {}}}};
    EXPECT_THAT(Text(input),
                HasSubstr("Stages: east has stages 0 to 2 with 23 layers (7, 2 x 8); west has "
                          "stages 3 to 5 with 16 layers (8, 7, 1)."));
    input.stages = StagePlaces{{6, 6, 6}, {{"a", {0, 1}, {}}, {"b", {0, 1}, {}}, {"c", {2}, {}}}};
    EXPECT_THAT(Text(input),
                HasSubstr("Stages: a and b each have stages 0 and 1 with 12 layers (2 x 6); c has "
                          "stage 2 with 6 layers."));
}

TEST(Explanation, TellsTheFullestLinkOfEachKind)
{
    ExplanationInput input = Input(Crossing::Data, 150);
    EXPECT_THAT(Text(input), Not(HasSubstr("Links")));
    const auto add = [&input](const std::string& name, bool shared, double busy) {
        ResourceReport link;
        link.name = name;
        link.shared = shared;
        link.busy = busy;
        input.winner.report.resources.push_back(link);
    };
    add("east leaf up", true, 0.2);
    add("west leaf down", true, 0.25);
    add("east zone up", true, 0.1);
    add("east to west", true, 0.5);
    add("west to east", true, 0.4);
    add("stage 0 scale-up out", false, 0.05);
    add("stage 1 NIC in", false, 0.3);
    add("stage 0 NIC out", false, 0.125);
    EXPECT_THAT(Text(input),
                HasSubstr("Links, the fullest of each kind: east to west 50.0 %, stage 1 NIC in "
                          "30.0 %, west leaf down 25.0 %, east zone up 10.0 %, stage 0 scale-up "
                          "out 5.00 % of the time."));
}

/// Nothing is said of times where plans are not ranked by them; the winner is the slower one here.
TEST(Explanation, ComparesByTheObjective)
{
    ExplanationInput input = Input(Crossing::Data, 50);
    input.goals.objective = "memory";
    input.otherCrossing->report.memoryMax = Bytes(3ULL << 30);
    input.runnerUp = input.otherCrossing;
    input.probabilityBest.reset();
    input.oneSite = BaselineResult{};
    input.baselines.emplace_back();
    input.baselines.front().contender = Make(Crossing::Data, 80, "a school's");
    const std::string text = Text(input);
    EXPECT_THAT(text, HasSubstr("Best by memory: the winner: 1 GiB, 100 ms per iteration"));
    EXPECT_THAT(text,
                HasSubstr("the best PP-out plan (the other) has 3 GiB instead of 1 GiB, and takes "
                          "50 ms."));
    EXPECT_THAT(text, HasSubstr("Next best: the other, 3 GiB."));
    // 1 GiB and 1 KiB is 1 GiB in four digits.
    input.otherCrossing->report.memoryMax = Bytes((1ULL << 30) + 1024);
    EXPECT_THAT(Text(input), HasSubstr("(the other) has 1 GiB (1 KiB more), and takes 50 ms."));
    input.otherCrossing->report.memoryMax = Bytes((1ULL << 30) - 1024);
    EXPECT_THAT(Text(input), HasSubstr("(the other) has 1 GiB (1 KiB less), and takes 50 ms."));
    input.otherCrossing->report.memoryMax = Bytes(1ULL << 30);
    EXPECT_THAT(Text(input), HasSubstr("(the other) has 1 GiB as well, and takes 50 ms."));
    EXPECT_THAT(
        text,
        HasSubstr(
            "ruled out, which by their bounds cannot be better, whether they can run or not."));
    EXPECT_THAT(text, Not(HasSubstr("search space does not hold")));
    EXPECT_THAT(text, Not(HasSubstr("spread out")));
    EXPECT_THAT(text, Not(HasSubstr("likely")));
    // The bound is one of times: of memory it proves nothing.
    input.counts.failed["crash"].count = 1;
    EXPECT_FALSE(GapOf(input));
}

/// 100 ms against 80 ms in one building; 125 ms; as long but for what no printed digit shows.
TEST(Explanation, TellsWhatBeingSpreadOutCosts)
{
    ExplanationInput input = Input(Crossing::Data, 150);
    EXPECT_THAT(Text(input), Not(HasSubstr("spread out")));
    input.oneSite = BaselineResult{};
    input.oneSite->contender = Make(Crossing::Pipeline, 80, "the near one");
    input.oneSite->assumed = "fabric and NICs of east";
    EXPECT_THAT(Text(input),
                HasSubstr("All GPUs in one building (fabric and NICs of east): the near one "
                          "takes 80 ms: being spread out costs 25.0 %."));
    input.oneSite->contender = Make(Crossing::Pipeline, 125, "the near one");
    EXPECT_THAT(Text(input), HasSubstr("takes 125 ms: being spread out saves 20.0 %."));
    input.oneSite->contender->report.iterationTime = Ms(100) + Duration::Nanoseconds(1);
    EXPECT_THAT(Text(input), HasSubstr("being spread out costs 0.00 %."));
    input.oneSite->contender.reset();
    input.oneSite->reason = {"building", "they differ"};
    EXPECT_THAT(Text(input), HasSubstr("All GPUs in one building: none (building): they differ."));
    input.buildings = 1;
    EXPECT_THAT(Text(input), HasSubstr("Being spread out costs nothing: there is one building."));
}

TEST(Explanation, NothingIsSaidOfPlacementsWhereNothingCrosses)
{
    ExplanationInput input = Input(Crossing::Data, 150);
    EXPECT_THAT(Text(input), HasSubstr("Placement: "));
    input.winner.report.crossBuildingBytes = Bytes();
    EXPECT_THAT(Text(input), Not(HasSubstr("Placement: ")));
    EXPECT_THAT(Text(input), HasSubstr("Across buildings: nothing."));
}

TEST(Explanation, WhatFailedIsNoProof)
{
    ExplanationInput input = Input(Crossing::Data, 150);
    EXPECT_EQ(GapOf(input), 0.0);
    EXPECT_DOUBLE_EQ(*BoundSlack(Ms(100), input.counts.bound), 0.25);
    input.counts.failed["timeout"].count = 2;
    EXPECT_DOUBLE_EQ(*GapOf(input), 0.25);
    EXPECT_THAT(Text(input), HasSubstr("Not proven optimal: 2 plans failed"));
    EXPECT_THAT(Text(input), Not(HasSubstr("Optimal for")));
    input.counts.bound = Duration::Max();
    EXPECT_FALSE(GapOf(input));
}

/// "57 % likely": F(ln ratio / scale), by the formula of model-error.h.
std::string
Likely(double ratio, double scale)
{
    const double x = std::log(ratio) / scale;
    return ProbabilityText(0.5 + x / (2 * std::sqrt(2 + x * x))) + " likely";
}

TEST(Explanation, SaysHowSureAComparisonIs)
{
    for (const Crossing& winner : {Crossing::Data, Crossing::Pipeline})
    {
        ExplanationInput input = Input(winner, 100);
        input.otherCrossing->report.iterationTime += Duration::Microseconds(200);
        const std::string text = Text(input);
        EXPECT_THAT(text, HasSubstr("0.20 % longer than "));
        EXPECT_THAT(text, HasSubstr(", " + Likely(1.002, kOtherScale) + ". Placement does not"));
    }
    // Of a search that is not at its end nobody knows, whatever the two plans are.
    ExplanationInput open = Input(Crossing::Data, 300);
    open.undecided = 7;
    open.counts.left = 0.08;
    EXPECT_THAT(
        Text(open),
        HasSubstr("Placement: the best PP-out plan so far (the other) takes 300 ms, 200.0 % "
                  "longer than DP-out; either may have better ones that are not found. It "
                  "sends"));
    open.counts.left = 1; // the winner is proven
    EXPECT_THAT(Text(open), HasSubstr("than DP-out; it may have better ones that are not found."));
    // Sure, by 0.9, from sqrt(32 / 9) scales on.
    const double sure = 100 * std::exp(std::sqrt(32.0 / 9) * kOtherScale);
    const auto at = [](double time) { return static_cast<int64_t>(std::llround(time)); };
    EXPECT_THAT(Text(Input(Crossing::Data, at(sure - 2))), HasSubstr("does not decide"));
    EXPECT_THAT(Text(Input(Crossing::Data, at(sure + 2))), Not(HasSubstr("does not decide")));
}

TEST(Explanation, SaysHowFarTimesAreOff)
{
    ExplanationInput input = Input(Crossing::Data, 150);
    EXPECT_THAT(Text(input), HasSubstr("Times: no runs of this kind of model"));
    const TimeError error{"dense on X", 0.123, 0.2, -0.25, 7, 4, {"dense on X"}};
    input.timeError = error;
    EXPECT_THAT(
        Text(input),
        HasSubstr("(dense on X) they are 12.3 % off in the mean, within 20.0 % for eight in "
                  "ten and 25.0 % at most (7 runs of 4 model families, as they are and by fits"));
    EXPECT_THAT(Text(input), Not(HasSubstr("each figure")));
    EXPECT_THAT(Text(input), HasSubstr("no published run spans buildings"));
    // Two kinds speak of a short step.
    input.timeError->figuresOf = {"dense on X", "short"};
    EXPECT_THAT(Text(input), HasSubstr("(dense on X) they are 12.3 % off"));
    EXPECT_THAT(Text(input), HasSubstr("; each figure the largest of dense on X; short; all of"));
    // Too few families say nothing of another one, and what is told is another kind's.
    input.timeError->figuresOf = {"MoE"};
    input.timeError->unvalidated = "its runs are of one family";
    EXPECT_THAT(Text(input),
                HasSubstr("not validated for this kind (dense on X, 7 runs of 4 model families "
                          "published): its runs are of one family. Those of the kind that errs "
                          "most (MoE) are 12.3 % off in the mean"));
}

/// The times are printed whatever plans are ranked by, and are as far off.
TEST(Explanation, SaysHowFarTimesAreOffWhereAnotherObjectiveRanks)
{
    ExplanationInput input = Input(Crossing::Data, 150);
    input.goals.objective = "memory";
    input.probabilityBest.reset();
    input.timeError = TimeError{"dense on X", 0.123, 0.2, -0.25, 7, 4, {"dense on X"}};
    EXPECT_THAT(Text(input), HasSubstr("(dense on X) they are 12.3 % off in the mean"));
    input.engine = "packet";
    EXPECT_THAT(Text(input), HasSubstr("Times: those of the packet engine were not set beside"));
}

TEST(Explanation, SaysNothingOfHowSureAnotherEnginesOrderIs)
{
    ExplanationInput input = Input(Crossing::Data, 102);
    input.closePlans = 3;
    BaselineResult baseline;
    baseline.name = "school";
    baseline.contender = Make(Crossing::Data, 103, "theirs");
    input.baselines = {baseline};
    const std::vector<const char*> sureness = {"likely",
                                               "does not decide",
                                               "cannot be told",
                                               "the fastest of all"};
    for (const char* said : sureness)
    {
        EXPECT_THAT(Text(input), HasSubstr(said));
    }
    const TimeError error{"dense on X", 0.123, 0.2, -0.25, 7, 4, {"dense on X"}};
    input.timeError = error;
    input.engine = "packet";
    input.probabilityBest.reset();
    for (const char* said : sureness)
    {
        EXPECT_THAT(Text(input), Not(HasSubstr(said)));
    }
    EXPECT_THAT(Text(input), Not(HasSubstr("dense on X")));
    EXPECT_THAT(Text(input), HasSubstr("Times: those of the packet engine were not set beside"));
    EXPECT_THAT(Text(input), HasSubstr("2.00 % longer than DP-out. It sends"));
    EXPECT_THAT(Text(input), HasSubstr("Next best: the other, 2.00 % longer.\n"));
    EXPECT_THAT(Text(input), HasSubstr("takes 103 ms: the best is 3.00 % faster.\n"));
}

TEST(Explanation, TellsWhereTheDifferenceArisesLargestFirst)
{
    ExplanationInput input = Input(Crossing::Data, 150);
    // The other computes 40 ms less, so its other parts must hold 90 ms more: 50 dp and 40 bubble.
    input.otherCrossing->report.computeTime = Ms(20);
    input.otherCrossing->report.bubble = Ms(50);
    EXPECT_THAT(Text(input),
                HasSubstr("exposed dp communication 50 ms more, compute 40 ms less and pipeline "
                          "bubble 40 ms more"));
}

TEST(Explanation, TellsWhyThereIsNoOtherPlacement)
{
    ExplanationInput input = Input(Crossing::Data, 150);
    input.withoutPlan = {Crossing::Expert};
    EXPECT_THAT(Text(input), HasSubstr(" No EP-out plan of this search can run."));
    input.goals.restGap = 0.05;
    EXPECT_THAT(
        Text(input),
        HasSubstr("No EP-out plan that can run, if there is any, comes within 10 times the best."));
    EXPECT_THAT(Text(input),
                HasSubstr("The rest of what is kept is proven to 5 % of how far it is behind."));
    input.goals.gap = 0.01;
    EXPECT_THAT(
        Text(input),
        HasSubstr("The rest of what is kept is proven to 1 % or 5 % of how far it is behind, "
                  "as asked for."));
    input.goals.gap = 0;
    input.counts.failed["timeout"].count = 1;
    EXPECT_THAT(Text(input), HasSubstr(" No EP-out plan has run."));
    input.counts.failed.clear();
    input.goals.restGap = 0;
    EXPECT_THAT(Text(input), Not(HasSubstr("is proven to")));
    input.otherCrossing.reset();
    input.withoutPlan = {Crossing::Pipeline};
    EXPECT_THAT(Text(input), HasSubstr("no PP-out plan of this search can run"));
    input.withoutPlan.push_back(Crossing::Expert);
    EXPECT_THAT(Text(input), HasSubstr("no PP-out and no EP-out plan of this search can run"));
    input.withoutPlan.clear();
    EXPECT_THAT(Text(input), HasSubstr("DP-out only; the search has no other"));
    input.buildings = 1;
    EXPECT_THAT(Text(input), Not(HasSubstr("PP-out")));
    EXPECT_THAT(Text(input), HasSubstr("there is one building"));
}

TEST(Explanation, NextBest)
{
    ExplanationInput input = Input(Crossing::Data, 150);
    input.probabilityBest = 0.34;
    EXPECT_THAT(Text(input),
                HasSubstr("Next best: the other, 50.0 % longer, " + Likely(1.5, kOtherScale) +
                          ". The best is the fastest of all that are kept with 34 %."));
    input.runnerUp->report.iterationTime = Ms(102);
    input.closePlans = 3;
    EXPECT_THAT(Text(input),
                HasSubstr("2.00 % longer, " + Likely(1.02, kOtherScale) +
                          ". 3 plans cannot be told from the best (90 %)."));
    input.closePlansAtLeast = true;
    EXPECT_THAT(Text(input), HasSubstr("At least 3 plans"));
    input.runnerUp.reset();
    EXPECT_THAT(Text(input), HasSubstr("No next best plan is kept."));
    input.counts.evaluated = 1;
    input.counts.rejected.clear();
    EXPECT_THAT(Text(input), HasSubstr("the only plan that can run"));
}

TEST(Explanation, BaselinesCanLoseTieAndWin)
{
    ExplanationInput input = Input(Crossing::Data, 150);
    input.baselines = {
        {"slow", Make(Crossing::Data, 164, "slow plan"), {}, "pp and cp", "the network", ""},
        {"equal", Make(Crossing::Data, 101, "equal plan"), {}, "", "", ""},
        {"fast", Make(Crossing::Data, 80, "fast plan"), {}, "", "", ""},
        {"absent", std::nullopt, {"memory", "needs 99 GiB"}, "ep", "pp", ""}};
    input.baselines[1].contender->plan.parallel.microbatch = 2;
    input.baselines[2].contender->plan.parallel.microbatch = 2;
    input.baselines[2].outside = {{"plan.pp", "4", FieldOutside::Why::Held, {"2"}}};
    const std::string text = Text(input);
    EXPECT_THAT(
        text,
        HasSubstr("Baseline slow (the fastest over pp and cp; not touched: the network): slow "
                  "plan takes 164 ms: the best is 64.0 % faster, over 99 % likely."));
    EXPECT_THAT(text,
                HasSubstr("the best is 1.00 % faster, " + Likely(1.01, kMicrobatchScale) + "."));
    // 100 / 80 - 1 = 25 %.
    EXPECT_THAT(text,
                HasSubstr("fast plan takes 80 ms: the best takes 25.0 % longer, " +
                          Likely(1.25, kMicrobatchScale) +
                          "; the search space does not hold this plan: pp 4 (held at 2)."));
    // 1 - 80 / 100: said at once, for what was asked is another question.
    EXPECT_THAT(
        text,
        HasSubstr("\nFaster, but outside this search: fast plan, which baseline fast finds, "
                  "takes 80 ms, 20.0 % less: it has pp 4 (held at 2).\nAcross"));
    input.baselines[2].contender->report.iterationTime = Ms(100);
    EXPECT_THAT(Text(input), Not(HasSubstr("outside this search")));
    EXPECT_THAT(text,
                HasSubstr("Baseline absent (the fastest over ep; not touched: pp): none (memory): "
                          "needs 99 GiB."));
}

/// Of a search that was stopped, too: best 100 ms, and what is left may take less, is unknown (0),
/// or is nothing.
TEST(Explanation, TheGapIsOfWhatIsLeft)
{
    const auto gap = [](double left, const char* objective, Bytes bytes, bool failed) {
        RunReport best = Report();
        best.crossBuildingBytes = bytes;
        Goals goals;
        goals.objective = objective;
        Frontier counts;
        counts.evaluated = 3;
        counts.left = left;
        counts.bound = Duration::Seconds(left);
        if (failed)
        {
            counts.failed["timeout"] = {1, ""};
        }
        return Gap(best, goals, counts);
    };
    EXPECT_NEAR(gap(0.08, "time", Bytes(5), false).value(), 0.25, 1e-12);
    EXPECT_NEAR(gap(0.08, "time", Bytes(5), true).value(), 0.25, 1e-12);
    EXPECT_EQ(gap(0.1, "time", Bytes(5), false), 0);
    EXPECT_EQ(gap(0, "time", Bytes(5), false), std::nullopt);
    EXPECT_EQ(gap(0, "time", Bytes(5), true), std::nullopt);
    EXPECT_EQ(gap(4, "bytes", Bytes(5), false), 0.25);
    EXPECT_EQ(gap(0, "bytes", Bytes(5), false), std::nullopt);
    EXPECT_EQ(gap(0, "bytes", Bytes(0), false), 0); // nothing has less than nothing
    EXPECT_EQ(gap(4, "bytes", Bytes(5), true), std::nullopt);
}

/// A bound is rounded up.
TEST(Explanation, AGapIsPrintedAsNoLessThanItIs)
{
    for (const auto& [gap, text] : {std::pair(0.01449, "1.5 %"),
                                    std::pair(0.014, "1.4 %"),
                                    std::pair(0.25, "25 %"),
                                    std::pair(0.0000123, "0.0013 %"),
                                    std::pair(0.0996, "10 %"),
                                    std::pair(1.001, "101 %"),
                                    std::pair(0.0, "0 %")})
    {
        EXPECT_EQ(GapText(gap), text);
    }
}

/// What is not decided is not said to be impossible.
TEST(Explanation, OfASearchThatIsOutOfTime)
{
    ExplanationInput input;
    input.winner = Make(Crossing::Data, 100, "A");
    input.withoutPlan = {Crossing::Pipeline};
    input.buildings = 2;
    input.engine = "analytical";
    input.counts.evaluated = 1;
    input.counts.left = 0.08;
    const auto text = [&input] {
        std::string all;
        for (const auto& [topic, line] : Explain(input))
        {
            all += line + "\n";
        }
        return all;
    };
    EXPECT_THAT(text(), HasSubstr("It is the only plan that can run."));
    EXPECT_THAT(text(), HasSubstr("no PP-out plan of this search can run."));
    input.undecided = 7;
    EXPECT_THAT(text(), HasSubstr("no PP-out plan is kept so far."));
    EXPECT_THAT(text(), HasSubstr("No next best plan is kept."));
    EXPECT_THAT(text(),
                HasSubstr("7 combinations are not decided. None of them can be better by more than "
                          "25 %."));
    input.counts.evaluated = 0; // the best ran before
    EXPECT_THAT(text(), HasSubstr("No next best plan is kept."));
    input.counts.left = 0;
    EXPECT_THAT(text(), HasSubstr("How much better they can be is not known."));
    input.counts.left = 1;
    EXPECT_THAT(text(), HasSubstr("None of them can be better.\n"));
}

} // namespace

} // namespace scaleacross
