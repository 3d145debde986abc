// SPDX-License-Identifier: GPL-2.0-only

#include "../../temporary-folder.h"
#include "core/base/errors.h"
#include "core/io/iteration-rows.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

/// Writes the rows, and the study that they name, and returns the path of the rows.
std::string
RowsFile(const TemporaryFolder& folder, const std::string& text)
{
    folder.Write("base.yaml",
                 "model: llama3-8b\n"
                 "workload: {sequence: 8192, global_batch: 16, stack: torch-compile}\n"
                 "cluster: {buildings: [{name: a, gpus: 8, gpu: h100}]}\n");
    return folder.Write("measured.csv", text);
}

/// Where the file is wrong, without its folder.
std::string
Refused(const std::string& text)
{
    const TemporaryFolder folder;
    try
    {
        ReadIterationRows(RowsFile(folder, text));
    }
    catch (const ConfigError& error)
    {
        return error.Where().substr(folder.Of("").size());
    }
    return "";
}

TEST(IterationRows, SetWhatTheirCellsSay)
{
    const TemporaryFolder folder;
    const std::string path = RowsFile(folder,
                                      "# measured in May\n"
                                      "name,seconds,fitted,study,plan.tp,workload.stack\n"
                                      "one,2.5,yes,base.yaml,2,\n"
                                      "\n"
                                      "two,0.3,,base.yaml,,torch-eager\n");
    const auto rows = ReadIterationRows(path);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].set, "measured");
    EXPECT_EQ(rows[0].name, "one");
    EXPECT_TRUE(rows[0].fitted);
    EXPECT_EQ(rows[0].measured, Duration::Seconds(2.5));
    EXPECT_EQ(rows[0].study.scenario.Job().plan.tp, 2U);
    // dp follows from the GPUs, as in any study; an empty cell leaves the study's value.
    EXPECT_EQ(rows[0].study.scenario.Job().plan.dp, 4U);
    EXPECT_EQ(rows[0].study.scenario.Job().workload.stack.name, "torch-compile");
    EXPECT_FALSE(rows[1].fitted);
    EXPECT_EQ(rows[1].study.scenario.Job().plan.tp, 1U);
    EXPECT_EQ(rows[1].study.scenario.Job().workload.stack.name, "torch-eager");
    // What is set for all rows stands above what a row sets.
    const auto set = ReadIterationRows(path, {{"workload.stack.elementwise", "2"}});
    EXPECT_EQ(set[0].study.scenario.Job().workload.stack.elementwise, 2);
    EXPECT_EQ(set[1].study.scenario.Job().workload.stack.elementwise, 2);
    EXPECT_EQ(set[1].study.scenario.Job().workload.stack.name, "torch-eager");
}

TEST(IterationRows, SayWhereTheyAreWrong)
{
    const std::string head = "name,seconds,fitted,study,plan.tp\n";
    EXPECT_EQ(Refused("name,seconds\na,1\n"), "measured.csv:1");
    EXPECT_EQ(Refused("name,seconds,study,name\na,1,base.yaml,b\n"), "measured.csv:1");
    EXPECT_EQ(Refused("name,seconds,study,\na,1,base.yaml,b\n"), "measured.csv:1");
    EXPECT_EQ(Refused(head), "measured.csv");
    EXPECT_EQ(Refused(head + "a,1,yes,base.yaml\n"), "measured.csv:2");
    EXPECT_EQ(Refused(head + "a,-1,yes,base.yaml,1\n"), "measured.csv:2 seconds");
    EXPECT_EQ(Refused(head + "a,1,maybe,base.yaml,1\n"), "measured.csv:2 fitted");
    EXPECT_EQ(Refused(head + "a,1,yes,base.yaml,zero\n"),
              "measured.csv:2: --set plan.tp=zero plan.tp");
    EXPECT_NE(Refused(head + "a,1,yes,other.yaml,1\n").find("other.yaml"), std::string::npos);
    EXPECT_EQ(Refused(head + "a,1,yes,base.yaml,1\n"), "");
}

} // namespace

} // namespace scaleacross
