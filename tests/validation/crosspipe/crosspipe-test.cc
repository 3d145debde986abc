// SPDX-License-Identifier: GPL-2.0-only

// CrossPipe (2507.00217): a 70B class model over two and four data centres by PP, TP4 PP8 DP2, with
// the memory of 1F1B (its memory case 1); time of an iteration per microbatch in seconds. Latency
// and transfer time of a message between two data centres are in times of a stage's forward.
//
// The paper's runs are made with scripts that a public fork keeps (ssb233/Megatron-LM,
// test_crossdc/exp_slurm and megatron/core/pipeline_parallel/cdc_scheduler). They say:
//
// - m = 16: two microbatches per stage and replica.
// - The slow boundaries are those between data centres of two stages each (of four, in two data
//   centres), for every chunk of a V: its messages are as long as those of one chunk, and the unit
//   is the forward of a stage, both its chunks.
// - Transfers are on a stream of their own for every direction of send and receive, so that they
//   overlap with compute and queue one after the other; the latency comes after the transfer and is
//   hidden if the receiver has other work.
// - Sends and receives are NCCL's: a transfer begins when both are posted. Fixed schedules post a
//   receive where it stands in a plan with equal passes and no delay ("prefetch" is off). With
//   delays that is too late: the transfer waits for the receiver. This is what the delayed cells
//   measure. With early receives those of ZBV are up to 28 % less.
// - Their own schedules post receives by a plan with the delays.
//
// The paper gives no times of passes. F, I, W = .0382, .0470, .0209 are the least squares of the
// relative errors of the 15 cells over four data centres, with an error of 1.1 % in the mean
// square; the cells over two data centres and of the latency-aware schedule are not fitted on.

#include "../../cli/program.h"
#include "../../csv-rows.h"
#include "../../waiting-oracle.h"
#include "core/engine/analytical-engine.h"
#include "core/io/read-study.h"
#include "places.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

constexpr double kForward = 0.0382;
constexpr double kInputGradient = 0.0470;
constexpr double kWeightGradient = 0.0209;
constexpr uint32_t kStages = 8;
constexpr uint32_t kMicrobatches = 16;
const std::vector<std::string> g_schedules{"1f1b", "zb-h1", "zbv"};

struct Row
{
    uint32_t sites{0};
    double latency{0};
    double transfer{0};
    std::vector<double> published; //!< by schedule
};

std::vector<Row>
Rows()
{
    std::vector<Row> rows;
    for (const CsvRow& cells : CsvRows("crosspipe/cells.csv"))
    {
        Row row{static_cast<uint32_t>(CsvNumber(cells, "sites")),
                CsvNumber(cells, "latency"),
                CsvNumber(cells, "transfer"),
                {}};
        for (const std::string& schedule : g_schedules)
        {
            row.published.push_back(CsvNumber(cells, schedule));
        }
        rows.push_back(row);
    }
    return rows;
}

/// Seconds of a stage's passes, all its chunks together.
struct Passes
{
    double forward{kForward};
    double inputGradient{kInputGradient};
    double weightGradient{kWeightGradient};
};

double
PerMicrobatch(const std::string& name,
              const Row& row,
              bool planned,
              double credit = 0,
              const Passes& passes = {})
{
    const uint32_t v = name == "zbv" ? 2 : 1;
    WaitingTimes times{passes.forward / v, passes.inputGradient / v, passes.weightGradient / v};
    times.latency = row.latency * passes.forward;
    times.transfer = row.transfer * passes.forward;
    times.ranksPerSite = kStages / row.sites;
    times.planned = planned;
    times.credit = credit;
    return EvaluateWaiting({name, kStages, kMicrobatches, v}, times)->Makespan() / kMicrobatches;
}

std::string
Describe(const std::string& name, const Row& row)
{
    std::ostringstream text;
    text << name << " over " << row.sites << " at " << row.latency << "/" << row.transfer;
    return text.str();
}

class CrossPipe : public ProgramTest
{
  protected:
    double Printed(const std::string& name, const Row& row) const
    {
        std::ostringstream text;
        text << "schedule --name " << name << " --stages " << kStages << " --microbatches "
             << kMicrobatches << " --forward " << kForward << "s --input-grad " << kInputGradient
             << "s --weight-grad " << kWeightGradient << "s --buildings " << row.sites
             << " --cross " << row.latency * kForward << "s --cross-transfer "
             << row.transfer * kForward << "s --receives planned";
        const auto run = RunJson(text.str());
        return run.at("makespan_s").get<double>() / kMicrobatches;
    }
};

} // namespace

TEST_F(CrossPipe, EveryCellOfFixedSchedules)
{
    // 21 cells with one set of times; the worst are 1F1B over four without delay, 2.4 % more than
    // published, and ZBV over two at .25/.25, 2.0 % more.
    ASSERT_EQ(Rows().size(), 7U);
    double worst = 0;
    for (const Row& row : Rows())
    {
        for (size_t i = 0; i < g_schedules.size(); i++)
        {
            const std::string& name = g_schedules[i];
            const double ours = PerMicrobatch(name, row, true);
            EXPECT_NEAR(ours / row.published[i], 1, 0.03) << Describe(name, row);
            worst = std::max(worst, std::abs(ours / row.published[i] - 1));
            EXPECT_NEAR(Printed(name, row), ours, 1e-9) << Describe(name, row);
        }
    }
    EXPECT_NEAR(worst, 0.024, 0.0005); // as validation.md and schedules.md say
}

TEST_F(CrossPipe, TwoDataCentresToThreeDecimals)
{
    // Without delay the time of a microbatch is, with S = F + I + W,
    //     1F1B:   (m + p - 1) S / m
    //     ZB-H1:  S + (p - 1) (S - 2 W) / m
    // so that the two cells over two data centres, .151 and .133, give S = .151 m / (m + p - 1) and
    // W = (.151 - .133) m / (2 (p - 1)). Only how S - W parts into F and I is not in them: as in
    // the fit. Then both cells of these schedules with delay are predicted.
    constexpr double threeDecimals = 0.5e-3;
    constexpr double m = kMicrobatches;
    constexpr double more = kStages - 1;
    const auto oneFOneB = [](double sum) { return (m + more) * sum / m; };
    const auto zbH1 = [](double sum, double weight) { return sum + more * (sum - 2 * weight) / m; };
    const auto rows = Rows();
    const Row& still = rows.at(5);
    const Row& delayed = rows.at(6);
    ASSERT_TRUE(still.sites == 2 && still.latency == 0 && delayed.sites == 2);
    const double sum = still.published[0] * m / (m + more);
    const double weight = (still.published[0] - still.published[1]) * m / (2 * more);
    const double forward = (sum - weight) * kForward / (kForward + kInputGradient);
    const Passes passes{forward, sum - weight - forward, weight};
    EXPECT_NEAR(PerMicrobatch("1f1b", still, true, 0, passes), still.published[0], 1e-9);
    EXPECT_NEAR(PerMicrobatch("zb-h1", still, true, 0, passes), still.published[1], 1e-9);
    for (const size_t i : {0U, 1U})
    {
        EXPECT_NEAR(PerMicrobatch(g_schedules[i], delayed, true, 0, passes),
                    delayed.published[i],
                    threeDecimals)
            << g_schedules[i];
    }
    // The fit to four data centres has one S and W for all cells. It misses the two by what follows
    // from its S, 1.0 %, and W.
    constexpr double fitted = kForward + kInputGradient + kWeightGradient;
    EXPECT_NEAR(PerMicrobatch("1f1b", still, true), oneFOneB(fitted), 1e-9);
    EXPECT_NEAR(PerMicrobatch("zb-h1", still, true), zbH1(fitted, kWeightGradient), 1e-9);
    EXPECT_NEAR(fitted / sum, 1.010, threeDecimals);
}

TEST_F(CrossPipe, TableOfThePage)
{
    std::ifstream file(SourcePath("contrib/scaleacross/doc/schedules.md"));
    std::stringstream page;
    page << file.rdbuf();
    const auto seconds = [](double s) {
        std::ostringstream text;
        text << std::fixed << std::setprecision(3) << s << " s";
        return text.str().substr(1); // without the 0
    };
    for (const Row& row : Rows())
    {
        for (size_t i = 0; row.sites == 4 && row.transfer == row.latency && row.latency > 0 &&
                           i < g_schedules.size();
             i++)
        {
            const std::string& name = g_schedules[i];
            std::ostringstream line;
            line << "| " << row.latency << ", " << row.transfer << " | `" << name << "` | "
                 << seconds(row.published[i]) << " | " << seconds(PerMicrobatch(name, row, true))
                 << " | " << seconds(PerMicrobatch(name, row, false)) << " |";
            EXPECT_NE(page.str().find(line.str()), std::string::npos) << line.str();
        }
    }
    EXPECT_EQ(seconds(Printed("latency-aware", {4, 2, 2, {}})), ".265 s");
}

TEST_F(CrossPipe, TimesOfPassesAreTheLeastSquares)
{
    // No single time that is .0001 s more or less fits the cells over four data centres better.
    const auto squares = [](double forward, double input, double weight) {
        double sum = 0;
        for (const Row& row : Rows())
        {
            for (size_t i = 0; row.sites == 4 && i < g_schedules.size(); i++)
            {
                const double ours =
                    PerMicrobatch(g_schedules[i], row, true, 0, {forward, input, weight});
                sum += std::pow(ours / row.published[i] - 1, 2);
            }
        }
        return sum;
    };
    const double least = squares(kForward, kInputGradient, kWeightGradient);
    EXPECT_NEAR(std::sqrt(least / 15), 0.011, 0.0005);
    for (const double step : {-1e-4, 1e-4})
    {
        EXPECT_GT(squares(kForward + step, kInputGradient, kWeightGradient), least);
        EXPECT_GT(squares(kForward, kInputGradient + step, kWeightGradient), least);
        EXPECT_GT(squares(kForward, kInputGradient, kWeightGradient + step), least);
    }
}

TEST_F(CrossPipe, TheLatencyAwareScheduleAtItsLongestDelay)
{
    // Published .268 for CrossPipe's own; our list schedule of the same memory has .2654.
    EXPECT_NEAR(Printed("latency-aware", {4, 2, 2, {}}) / 0.268, 1, 0.03);
}

TEST_F(CrossPipe, CreditsTookNoTime)
{
    // NCCL's receiver tells the sender that a receive is posted. Had that taken the emulated
    // latency, too, every delayed cell would be longer than published.
    double least = 2;
    double most = 0;
    for (const Row& row : Rows())
    {
        for (size_t i = 0; row.sites == 4 && row.latency > 0 && i < g_schedules.size(); i++)
        {
            const double ratio =
                PerMicrobatch(g_schedules[i], row, true, row.latency * kForward) / row.published[i];
            least = std::min(least, ratio);
            most = std::max(most, ratio);
        }
    }
    EXPECT_NEAR(least, 1.01, 0.005); // the figures of schedules.md
    EXPECT_NEAR(most, 1.57, 0.005);
}

/// Passes of a run, and its first iteration.
struct StudyRun
{
    PassTimes times; //!< of a stage and microbatch
    double makespan{0};
};

/// A study of their setting: eight stages of a GPU each over four buildings in a row, and passes
/// that hardly differ, as there is next to no vocabulary.
StudyRun
RunStudy(const std::string& schedule, const std::string& receives)
{
    const std::string text =
        "study: four-sites\n"
        "model: {layers: 16, hidden: 4096, heads: 32, dense_ffn: 16384, vocabulary: 128}\n"
        "workload: {sequence: 4096, global_batch: 16, stack: {receives: " +
        receives +
        "}}\n"
        "cluster: {buildings: {count: 4, gpus: 2, gpus_per_node: 1, gpu: h100, fabric: {spines: "
        "1}}, cross: {distance: 2000km, capacity: 40Gbps}}\n"
        "plan: {pp: 8, crossing: pp, schedule: " +
        schedule + (schedule == "zbv" ? ", chunks: 2" : "") + "}\n";
    const Scenario scenario = ParseStudy(text, "four-sites.yaml").scenario;
    RunOptions options;
    options.warmup = 0;
    options.iterations = 1;
    options.timeline = Timelines::OfClasses;
    const RunReport report = std::get<RunReport>(AnalyticalEngine().Run(scenario, options));
    StudyRun run;
    std::vector<RankRun> passes;
    for (const RankTimeline* rank : report.timeline->OnePerStage())
    {
        passes.insert(passes.end(), rank->record.runs.begin(), rank->record.runs.end());
    }
    for (const RankRun& entry : passes)
    {
        const Duration part = (entry.end - entry.begin) / (kStages * kMicrobatches);
        switch (entry.action)
        {
        case Action::Forward:
            run.times.forward += part;
            break;
        case Action::InputGradient:
        case Action::Backward:
            run.times.inputGradient += part;
            break;
        case Action::WeightGradient:
            run.times.weightGradient += part;
            break;
        default:
            continue; // the optimizer
        }
        run.makespan = std::max(run.makespan, entry.end.S());
    }
    return run;
}

TEST_F(CrossPipe, AStudyOfTheirSettingIsWhatTheScheduleSays)
{
    // A message of 2 x 4,096 x 4,096 B is 8,192 packets of 4,178 B and an ACK of 86 B per 4, at 40
    // Gb/s 6.88 ms, and 0.69 ms at 400 Gb/s between the two stages of a building. 2,000 km take
    // 10 ms, and so does the credit. What is left is what switches take, some us of more than 0.4
    // s, and what the first and the last stage have besides their layers.
    const double packets = 8192 * (4178 + 86 / 4.0) * 8;
    for (const std::string& name : g_schedules)
    {
        double makespan[2] = {};
        for (const bool planned : {false, true})
        {
            const StudyRun run = RunStudy(name, planned ? "planned" : "early");
            makespan[planned] = run.makespan;
            std::ostringstream text;
            text << "schedule --name " << name << " --stages " << kStages << " --microbatches "
                 << kMicrobatches << " --forward " << run.times.forward.S() << "s --input-grad "
                 << run.times.inputGradient.S() << "s --weight-grad "
                 << run.times.weightGradient.S() << "s --buildings 4 --comm " << packets / 400e9
                 << "s --cross " << 10e-3 - packets / 400e9 << "s --cross-transfer "
                 << packets / 40e9 << "s --receives "
                 << (planned ? "planned --credit 10ms" : "early");
            const double expected = RunJson(text.str()).at("makespan_s");
            EXPECT_NEAR(run.makespan / expected, 1, 0.005) << text.str();
        }
        EXPECT_GT(makespan[1], 1.05 * makespan[0]) << name;
    }
}

TEST_F(CrossPipe, EarlyReceivesAreNotWhatWasMeasured)
{
    // Latency and transfer alone, as if receives were always there, leave the delayed cells of ZBV
    // 14 to 28 % short.
    double nearest = 0;
    double farthest = 1;
    for (const Row& row : Rows())
    {
        if (row.transfer > 0)
        {
            const double ratio = PerMicrobatch("zbv", row, false) / row.published[2];
            nearest = std::max(nearest, ratio);
            farthest = std::min(farthest, ratio);
        }
    }
    EXPECT_NEAR(nearest, 0.86, 0.005);
    EXPECT_NEAR(farthest, 0.72, 0.005);
}

} // namespace scaleacross
