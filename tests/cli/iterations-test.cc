// SPDX-License-Identifier: GPL-2.0-only

#include "places.h"
#include "program.h"

#include <gmock/gmock.h>
#include <iterator>
#include <regex>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

class Iterations : public ProgramTest
{
  protected:
    void WriteRows(const std::string& rows) const
    {
        std::ofstream(folder / "base.yaml")
            << "model: llama3-8b\nworkload: {sequence: 2048, global_batch: 16}\n"
               "cluster: {buildings: [{name: a, gpus: 8, gpu: h100}]}\n"
               "plan: {sharding: fsdp, recompute: full}\n";
        std::ofstream(folder / "rows.csv")
            << "name,seconds,fitted,study,plan.microbatch,plan.sharding\n" + rows;
    }
};

TEST_F(Iterations, AreTimedAsRunTimesThem)
{
    WriteRows("one,2,yes,base.yaml,1,\ntwo,4,no,base.yaml,2,\n");
    const auto rows = RunJson("iterations rows.csv --json");
    ASSERT_EQ(rows.size(), 2U);
    for (size_t i = 0; i < 2; i++)
    {
        const auto run = RunJson("run base.yaml --no-store --json --set plan.microbatch=" +
                                 std::to_string(i + 1));
        const double seconds = run.at("iteration_time_s");
        EXPECT_EQ(rows[i].at("iteration_time_s"), seconds);
        EXPECT_DOUBLE_EQ(rows[i].at("error"), seconds / (i == 0 ? 2 : 4) - 1);
        EXPECT_EQ(rows[i].at("fitted"), i == 0);
        EXPECT_EQ(rows[i].at("set"), "rows");
    }
    EXPECT_EQ(RunJson("iterations rows.csv --json --fitted").size(), 1U);
    // Half the efficiency of GEMMs makes it slower, by less than twice.
    const auto slow =
        RunJson("iterations rows.csv --json --set cluster.buildings.0.gpu.gemm_efficiency=0.36");
    const double ratio =
        slow[0].at("iteration_time_s").get<double>() / rows[0].at("iteration_time_s").get<double>();
    EXPECT_GT(ratio, 1.3);
    EXPECT_LT(ratio, 2);
    const Call table = Run("iterations rows.csv");
    EXPECT_EQ(table.code, 0);
    EXPECT_THAT(table.out, HasSubstr("1 fitted: mean"));
    EXPECT_THAT(table.out, HasSubstr("1 not fitted: mean"));
}

/// The page's table has what the program prints of the rows written by hand, cell by cell.
TEST_F(Iterations, ArePrintedAsThePageHasThem)
{
    std::ifstream file(SourcePath("contrib/scaleacross/doc/compute.md"));
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const Call call = Run("iterations " + SourcePath("tests/validation/iteration-time/sc21.csv"));
    ASSERT_EQ(call.code, 0) << call.err;
    std::istringstream lines(call.out);
    std::string line;
    std::getline(lines, line);
    const std::regex row(R"((\S+) +(\S+) +(fitted)? +(\S+ m?s) +(\S+ m?s) +(\S+ %))");
    size_t checked = 0;
    for (std::smatch cells; std::getline(lines, line) && std::regex_match(line, cells, row);)
    {
        std::string expected = "|";
        for (size_t i = 1; i < cells.size(); i++)
        {
            expected += " " + cells[i].str() + " |";
        }
        EXPECT_THAT(page, HasSubstr(expected));
        checked++;
    }
    EXPECT_EQ(checked, 7U);
}

TEST_F(Iterations, SayWhatDoesNotRun)
{
    // 8 billion parameters at 18 bytes are 145 GB on every GPU.
    WriteRows("one,2,yes,base.yaml,1,ddp\n");
    const Call call = Run("iterations rows.csv");
    EXPECT_EQ(call.code, 0); // an answer, too
    EXPECT_THAT(call.out, HasSubstr("rows one: "));
    const auto rows = RunJson("iterations rows.csv");
    EXPECT_TRUE(rows.at(0).at("error").is_null());
    EXPECT_THAT(rows.at(0).at("reason").get<std::string>(), HasSubstr("stage 0 needs"));
    // Its memory told instead: it runs, and says what it lacks, as `run` does.
    const auto told = RunJson("iterations rows.csv --set workload.memory_limit=false");
    EXPECT_TRUE(told.at(0).at("error").is_number());
    EXPECT_EQ(told.at(0).at("warnings").at(0),
              "memory: " + rows.at(0).at("reason").get<std::string>());
    const auto run = RunJson("run base.yaml --no-store --set plan.sharding=ddp --set "
                             "workload.memory_limit=false");
    EXPECT_EQ(run.at("warnings"), told.at(0).at("warnings"));
    WriteRows("one,2,yes,base.yaml,0,\n");
    EXPECT_EQ(Run("iterations rows.csv").code, 2);
    EXPECT_THAT(Run("iterations rows.csv").err, HasSubstr("rows.csv:2: --set plan.microbatch=0"));
    EXPECT_EQ(Run("iterations nothing.csv").code, 2);
    EXPECT_EQ(Run("iterations").code, 2);
}

} // namespace

} // namespace scaleacross
