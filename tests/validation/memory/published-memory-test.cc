// SPDX-License-Identifier: GPL-2.0-only

// Published peaks of memory against the model's: doc/memory.md has the table, and says what a peak
// contains and what is left open.

#include "../../csv-rows.h"
#include "core/base/errors.h"
#include "core/io/read-study.h"
#include "core/topology/rank-layout.h"
#include "core/work/memory/memory.h"
#include "places.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

const std::string kFolder = SourcePath("tests/validation/memory/");

/// What the model's word sets. Llama 3.1 405B ran with 16 KV heads, where it has 8 (the source's
/// run_pretrain_llama3.sh). DeepSeek-V2: arXiv:2405.04434, 3.1.2, as DeepSeek-V3 in what is not
/// named (its attention is as wide).
Overrides
ModelOf(const std::string& word)
{
    const std::map<std::string, Overrides> known = {
        {"Llama3-70B proxy 12 layers", {{"model", "llama3-70b"}, {"model.layers", "12"}}},
        {"Llama3.1-405B proxy 4 layers",
         {{"model", "llama3-405b"}, {"model.layers", "4"}, {"model.kv_heads", "16"}}},
        {"DeepSeek-V3-671B proxy 4 layers",
         {{"model", "deepseek-v3"}, {"model.layers", "4"}, {"model.leading_dense", "1"}}},
        {"DeepSeek-V2-236B proxy 4 layers",
         {{"model", "deepseek-v3"},
          {"model.layers", "4"},
          {"model.leading_dense", "1"},
          {"model.hidden", "5120"},
          {"model.head_dim", "192"},
          {"model.value_dim", "128"},
          {"model.dense_ffn", "12288"},
          {"model.experts", "160"},
          {"model.top_k", "6"},
          {"model.expert_ffn", "1536"},
          {"model.shared_ffn", "3072"},
          {"model.vocabulary", "102400"}}}};
    return known.at(word);
}

Study
StudyOf(const CsvRow& row)
{
    Overrides set = ModelOf(row.at("model"));
    for (const auto& [column, key] :
         std::map<std::string, std::string>{{"seq", "workload.sequence"},
                                            {"gbs", "workload.global_batch"},
                                            {"mbs", "plan.microbatch"},
                                            {"tp", "plan.tp"},
                                            {"pp", "plan.pp"},
                                            {"cp", "plan.cp"},
                                            {"ep", "plan.ep"},
                                            {"gpus", "cluster.buildings.0.gpus"}})
    {
        set.emplace_back(key, row.at(column));
    }
    if (row.at("notes") == "token drop")
    {
        set.emplace_back("workload.capacity_factor", "1");
        set.emplace_back("workload.stack.preset", "megatron-core-padded");
    }
    return ReadStudy(kFolder + "published-memory.yaml", set);
}

struct Result
{
    CsvRow row;
    std::vector<double> stages; //!< GiB
    double gib{0};              //!< of the fullest

    double Published() const
    {
        return std::stod(row.at("gib"));
    }

    double Error() const
    {
        return gib / Published() - 1;
    }
};

/// Of the rows whose measure is what the model computes.
const std::vector<Result>&
Results()
{
    static std::vector<Result> results;
    if (results.empty())
    {
        for (const auto& row : CsvRows("memory/published-memory.csv"))
        {
            if (row.at("measured") != "torch")
            {
                continue;
            }
            const Scenario scenario = StudyOf(row).scenario;
            const auto layout = LayOut(scenario.Job().plan, scenario.cluster);
            Result result;
            result.row = row;
            for (const auto& use : MemoryOf(scenario, std::get<RankLayout>(layout)))
            {
                result.stages.push_back(static_cast<double>(use.Total().Count()) / (1UL << 30U));
                result.gib = std::max(result.gib, result.stages.back());
            }
            results.push_back(result);
        }
    }
    return results;
}

std::string
Text(const char* format, double value)
{
    char text[32];
    std::snprintf(text, sizeof(text), format, value);
    return text;
}

std::string
Page()
{
    std::ifstream file(SourcePath("contrib/scaleacross/doc/memory.md"));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// A run of the page's table: what it was but for its number of microbatches.
std::string
NameOf(const CsvRow& row)
{
    std::string name = row.at("model").substr(0, row.at("model").find(" proxy"));
    for (const char* degree : {"tp", "pp", "cp", "ep", "dp"})
    {
        if (row.at(degree) != "1")
        {
            std::string upper = degree;
            std::transform(upper.begin(), upper.end(), upper.begin(), ::toupper);
            name += " " + upper + row.at(degree);
        }
    }
    return name + " s " + row.at("seq");
}

} // namespace

TEST(PublishedMemory, PeaksAreMet)
{
    ASSERT_EQ(Results().size(), 22U);
    double sum = 0;
    double worst = 0;
    for (const auto& result : Results())
    {
        std::cout << result.row.at("id") << ": " << result.gib << " GiB for "
                  << result.row.at("gib") << ", " << Text("%+.2f", 100 * result.Error()) << " %\n";
        sum += std::abs(result.Error());
        worst = std::max(worst, std::abs(result.Error()));
    }
    const double mean = sum / static_cast<double>(Results().size());
    std::cout << "mean " << Text("%.2f", 100 * mean) << " %, worst " << Text("%.2f", 100 * worst)
              << " %\n";
    EXPECT_LE(mean, 0.02);
    EXPECT_LE(worst, 0.06);
    EXPECT_NE(Page().find("mean error is " + Text("%.2f", 100 * mean) + " %, the worst " +
                          Text("%.2f", 100 * worst) + " %"),
              std::string::npos);
}

TEST(PublishedMemory, StagesAreMet)
{
    for (const auto& result : Results())
    {
        std::istringstream published(result.row.at("by_stage"));
        size_t stage = 0;
        for (double gib = 0; published >> gib; stage++)
        {
            ASSERT_LT(stage, result.stages.size());
            EXPECT_LE(std::abs(result.stages[stage] / gib - 1), 0.01)
                << result.row.at("id") << " stage " << stage << ": " << result.stages[stage];
        }
    }
}

TEST(PublishedMemory, AllToAllKeepsAttentionsOutputTwice)
{
    // 2 a d bytes per layer and token of a rank (s / (cp tp)) more: with them the runs with CP are
    // met within a percent.
    const std::string page = Page();
    size_t runs = 0;
    for (const auto& result : Results())
    {
        if (result.row.at("cp") == "1")
        {
            continue;
        }
        const JobSpec job = StudyOf(result.row).scenario.Job();
        const double tokens =
            static_cast<double>(job.workload.sequence) / (job.plan.cp * job.plan.tp);
        const double copies =
            2.0 * job.model.heads * job.model.headDim * job.model.layers * tokens / (1UL << 30U);
        EXPECT_LE(std::abs((result.gib + copies) / result.Published() - 1), 0.01)
            << result.row.at("id");
        if (job.workload.sequence == 131072)
        {
            const std::string lacks = Text("%.2f", result.Published() - result.gib);
            EXPECT_NE(page.find(Text("%.2f", copies)), std::string::npos) << copies;
            EXPECT_NE(page.find(lacks), std::string::npos) << lacks;
        }
        runs++;
    }
    EXPECT_EQ(runs, 4U);
}

TEST(PublishedMemory, WhatADeviceUsesIsNotCompared)
{
    size_t rows = 0;
    for (const auto& row : CsvRows("memory/published-memory.csv"))
    {
        if (row.at("measured") != "torch")
        {
            EXPECT_EQ(row.at("measured"), "smi");
            EXPECT_EQ(row.at("precision"), "FP32");
            rows++;
        }
    }
    EXPECT_EQ(rows, 14U);
}

TEST(PublishedMemory, ThePageHasTheErrors)
{
    const std::string page = Page();
    for (const auto& result : Results())
    {
        const std::string line = "| " + NameOf(result.row) + " | " + result.row.at("gib") + " | " +
                                 Text("%.2f", result.gib) + " | " +
                                 Text("%+.2f", 100 * result.Error()) + " |";
        EXPECT_NE(page.find(line), std::string::npos) << line;
    }
}

} // namespace scaleacross
