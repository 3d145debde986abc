// SPDX-License-Identifier: GPL-2.0-only

#include "../csv-rows.h"
#include "commands.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

class ExportTest : public Commands
{
  protected:
    ExportTest()
    {
        EXPECT_EQ(Run("explore study.yaml --keep 6").code, 0);
    }

    /// Columns of each row by name.
    std::vector<CsvRow> Table(const std::string& arguments) const
    {
        const Call call = Run("export small.db --csv " + arguments);
        EXPECT_EQ(call.code, 0) << call.err;
        return CsvTable(call.out);
    }
};

TEST_F(ExportTest, WritesOverNothingThatItReads)
{
    for (const std::string& arguments : {std::string("export small.db --csv -o small.db"),
                                         std::string("slurm study.yaml --shards 2 -o study.yaml")})
    {
        const Call call = Run(arguments);
        EXPECT_EQ(call.code, 2) << call.err;
        EXPECT_THAT(call.err, testing::HasSubstr("is what is read")) << arguments;
    }
    EXPECT_EQ(Run("show small.db").code, 0);
    EXPECT_EQ(Run("show study.yaml").code, 0);
}

TEST_F(ExportTest, ARowPerKeptRun)
{
    const auto table = Table("");
    const auto json = RunJson("explore study.yaml --keep 6 --top 6");
    const auto shown = RunJson("show small.db")["searches"][0];
    ASSERT_GE(table.size(), 6);
    EXPECT_EQ(std::to_string(table.size()), Sql("small.db", "SELECT count(*) FROM search_run"));
    for (size_t i = 0; i < 6; i++)
    {
        const auto& row = table[i];
        const auto& plan = json["ranking"][i];
        EXPECT_EQ(row.at("rank"), std::to_string(i + 1));
        EXPECT_EQ(row.at("label"), plan["label"]);
        EXPECT_EQ(std::stod(row.at("iteration_time_s")), plan["iteration_time_s"]);
        const auto& run = shown["ranking"][i];
        EXPECT_EQ(std::stod(row.at("mfu")), run["mfu"]);
        EXPECT_EQ(std::stod(row.at("memory_bytes_max")), run["memory_bytes_max"]);
        EXPECT_EQ(std::stod(row.at("cross_building_bytes")), run["cross_building_bytes"]);
        EXPECT_EQ(row.at("label").rfind("TP" + row.at("tp") + " PP" + row.at("pp") + " ", 0), 0)
            << row.at("label");
        // Two buildings of 8 NICs of 400 Gbps, 1:4, 10 km.
        EXPECT_EQ(row.at("distance_km"), "10");
        EXPECT_EQ(std::stod(row.at("capacity_bps")), 8 * 400e9 / 4);
        EXPECT_EQ(row.at("loss"), "0");
        EXPECT_DOUBLE_EQ(std::stod(row.at("oversubscription")), 4);
    }
}

/// The view has the same, for anybody's SQL.
TEST_F(ExportTest, TheViewIsTheTable)
{
    const Call call = Run("export small.db --csv");
    EXPECT_EQ(std::system(("cd '" + folder.string() +
                           "' && sqlite3 -csv -header small.db 'SELECT * FROM ranking ORDER BY "
                           "rank IS NULL, rank, iteration_time_s' >view.csv")
                              .c_str()),
              0);
    const auto view = QuotedCsvLines(Read("view.csv"));
    const auto table = QuotedCsvLines(call.out);
    ASSERT_EQ(view.size(), table.size());
    EXPECT_EQ(view.front(), table.front());
    // Every column of a plan but what names it.
    for (const auto& column :
         nlohmann::json::parse(Sql("small.db",
                                   "SELECT json_group_array(name) FROM pragma_table_info('plan') "
                                   "WHERE name NOT IN ('id', 'hash', 'text', 'label')")))
    {
        EXPECT_EQ(std::count(view.front().begin(), view.front().end(), column), 1) << column;
    }
    EXPECT_EQ(Sql("small.db",
                  "SELECT min(iteration_time_s) = (SELECT iteration_time_s FROM ranking WHERE "
                  "rank = 1) FROM ranking WHERE oversubscription > 3 AND distance_km < 20"),
              "1");
}

TEST_F(ExportTest, QuotesWhatHasToBe)
{
    Sql("small.db",
        "UPDATE search SET settings = json_object('k', 'a, ''b''' || char(34) || char(10) || 'c')");
    EXPECT_EQ(Table("--search 1").front().at("changes"), "k=a, 'b'\"\nc");
    EXPECT_THAT(Run("export small.db --csv --search 1").out, HasSubstr(",\"k=a, 'b'\"\"\nc\","));
}

TEST_F(ExportTest, ChoosesTheSearch)
{
    EXPECT_EQ(Run("explore study.yaml --keep 6 --set cluster.cross.distance=20km").code, 0);
    Sql("small.db", "UPDATE search SET updated_at = '2026-01-0' || id");
    // That of the study as it is, though it is older.
    EXPECT_EQ(Table("").front().at("distance_km"), "10");
    EXPECT_EQ(Table("").front().at("changes"), "");
    EXPECT_EQ(Table("--search 2").front().at("distance_km"), "20");
    EXPECT_EQ(Table("--search 2").front().at("changes"), "cluster.cross.distance=20km");
    // Also one that is not finished.
    Sql("small.db", "UPDATE search SET finished = 0 WHERE id = 1");
    EXPECT_EQ(Table("").front().at("distance_km"), "10");
    const Call none = Run("export small.db --csv --search 4");
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, HasSubstr("--search 4: the database has no such search"));
}

TEST_F(ExportTest, WritesAFile)
{
    const Call call = Run("export small.db --csv -o table.csv");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_EQ(call.out, "");
    EXPECT_EQ(Read("table.csv"), Run("export small.db --csv").out);
    EXPECT_EQ(Run("export small.db --csv -o none/table.csv").code, 2);
    EXPECT_THAT(Run("export small.db").err, HasSubstr("--csv: is not given, nor is --format"));
    EXPECT_EQ(Run("export none.db --csv").code, 2);
    EXPECT_EQ(Run("export study.yaml --csv").code, 2);
}

/// What a kept plan's ranks do, as traces that give the same result on the study's cluster.
TEST_F(ExportTest, TracesOfAKeptPlanRunAsThePlanDoes)
{
    const Call call = Run("export small.db --format chakra --rank 2 -o step");
    ASSERT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("step.0.et to step.15.et: an iteration of 16 ranks"));
    const auto plan = RunJson("run --from small.db --rank 2 --no-store");
    const auto traces = RunJson("run study.yaml --set trace=step --no-store");
    EXPECT_EQ(traces["iteration_time_s"], plan["iteration_time_s"]);
    EXPECT_EQ(traces["classes"], plan["classes"]);
    EXPECT_EQ(traces["resources"], plan["resources"]);
    EXPECT_FALSE(traces.contains("plan"));
    // The engine of packets is a process of its own, which reads the traces again.
    const auto packets = RunJson("run study.yaml --set trace=step --no-store --engine packet");
    EXPECT_EQ(packets["classes"]["dp"]["bytes"], plan["classes"]["dp"]["bytes"]);
    const std::string text = Run("run study.yaml --set trace=step --no-store").out;
    EXPECT_THAT(text, HasSubstr("traces " + (folder / "step").string() + "\n"));
    EXPECT_THAT(text, testing::Not(HasSubstr("MFU")));
    // And a study of its own plan, with what is set.
    EXPECT_EQ(Run("export study.yaml --format chakra --set plan.tp=2 -o own").code, 0);
    EXPECT_EQ(RunJson("run study.yaml --set trace=own --no-store")["iteration_time_s"],
              RunJson("run study.yaml --set plan.tp=2 --no-store")["iteration_time_s"]);
}

TEST_F(ExportTest, TracesAreRefusedByName)
{
    const auto expect = [this](const std::string& arguments, const std::string& says) {
        const Call call = Run("export " + arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_THAT(call.err, HasSubstr(says)) << arguments;
    };
    expect("small.db --format chakra", "-o PREFIX");
    expect("small.db --csv --format chakra -o step", "beside --csv");
    expect("small.db --format chakra --rank 999 -o step", "keeps");
    expect("study.yaml --format chakra --rank 2 -o step", "study.yaml is no database");
    expect("small.db --format chakra -o none/step", "none");
    EXPECT_EQ(Read("step.0.et"), "");
    const Call unfit = Run("export study.yaml --format chakra --set model.heads=3 -o step");
    EXPECT_NE(unfit.code, 0);
    EXPECT_EQ(Read("step.0.et"), "");
    const Call missing = Run("run study.yaml --set trace=step");
    EXPECT_EQ(missing.code, 2);
    EXPECT_THAT(missing.err, HasSubstr("step.0.et: there is no such file"));
}

/// What a plan's figures do not say is empty, and no zero.
TEST_F(ExportTest, FailedRunsAreRowsWithoutFigures)
{
    Sql("small.db",
        "UPDATE run SET status = 'failed', reason = 'timeout', iteration_time_s = NULL, mfu = NULL "
        "WHERE id = (SELECT run_id FROM search_run WHERE rank = 6)");
    const auto row = Table("")[5];
    EXPECT_EQ(row.at("status"), "failed");
    EXPECT_EQ(row.at("reason"), "timeout");
    EXPECT_EQ(row.at("iteration_time_s"), "");
}

/// For other software a kept plan is what a study that says the same is.
TEST_F(ExportTest, APlanForOtherSoftware)
{
    for (const std::string format : {"megatron", "nccl", "torchtitan", "torchtitan-main"})
    {
        const std::string says = "export small.db --format " + format;
        const Call first = Run(says);
        ASSERT_EQ(first.code, 0) << first.err;
        EXPECT_EQ(first.out, Run(says + " --rank 1 --search 1").out);
        EXPECT_EQ(Run(says + " -o plan.txt").out, "");
        EXPECT_EQ(Read("plan.txt"), first.out);
        for (const int rank : {1, 4})
        {
            const auto plan =
                RunJson("run --from small.db --no-store --rank " + std::to_string(rank))["plan"];
            std::string set;
            for (const std::string key : {"tp", "pp", "crossing", "sharding"})
            {
                set += " --set plan." + key + "=" +
                       (plan[key].is_string() ? plan[key].get<std::string>() : plan[key].dump());
            }
            // A kept plan does not tell what a study gives as it usually is.
            const Call kept = Run(says +
                                  " --set cluster.buildings.0.fabric.rails=true --set "
                                  "cluster.buildings.1.fabric.rails=true --rank " +
                                  std::to_string(rank));
            const Call fixed = Run("export study.yaml --format " + format + set);
            EXPECT_EQ(kept.code, 0) << kept.err;
            EXPECT_EQ(fixed.code, 0) << fixed.err;
            const auto below = [](const std::string& text) {
                return text.substr(text.find("\n#\n"));
            };
            EXPECT_EQ(below(kept.out), below(fixed.out));
        }
    }
    EXPECT_THAT(Run("export small.db --format nccl --rank 3").out,
                HasSubstr("small.db, plan 3 of search 1\n"));
}

/// Without a number of a search the study as it is stands for it, and not the last point of a sweep
/// that came behind it; and what was set is told of a point that is asked for.
TEST_F(ExportTest, PlansOfASweepAreNotThoseOfTheStudy)
{
    const std::string asked = "explore study.yaml --db swept.db";
    ASSERT_EQ(Run(asked).code, 0);
    ASSERT_EQ(Run(asked + " --sweep cluster.cross.distance=1km,3000km").code, 0);
    const std::string usual = Run("export swept.db --format nccl").out;
    EXPECT_THAT(usual, HasSubstr("swept.db, plan 1 of search 1\n"));
    EXPECT_EQ(Run("export swept.db --format nccl --search 1").out, usual);
    EXPECT_THAT(Run("export swept.db --format nccl --search 3").out,
                HasSubstr("swept.db, plan 1 of search 3 (cluster.cross.distance=3000km)\n"));
    EXPECT_EQ(RunJson("run --from swept.db --no-store")["iteration_time_s"],
              RunJson("run --from swept.db --search 1 --no-store")["iteration_time_s"]);
    EXPECT_THAT(Run("show swept.db").out, HasSubstr("search 1 (--search chooses another)"));
}

/// A study and its file may be called anything that a shell would act on: it stands in comments.
TEST_F(ExportTest, WhatIsNamedStaysInComments)
{
    std::string study = g_smallStudy;
    study.replace(study.find("small"), 5, "a $(touch x) `touch x` 'b");
    const std::string file = "c\ntouch x\n.yaml";
    Write(file, study);
    for (const std::string format : {"megatron", "nccl"})
    {
        const Call call = Run("export '" + file + "' --format " + format + " -o plan.sh");
        ASSERT_EQ(call.code, 0) << call.err;
        EXPECT_EQ(std::system(("cd '" + folder.string() + "' && bash -eu plan.sh").c_str()), 0);
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

TEST_F(ExportTest, RefusesPlansThatItCannotExport)
{
    const auto kept = RunJson("show small.db")["searches"][0]["ranking"].size();
    for (const auto& [arguments, says] : std::vector<std::pair<std::string, std::string>>{
             {"small.db --format megatrom", "say megatron"},
             {"small.db --format x",
              "allowed: chakra, megatron, nccl, torchtitan or torchtitan-main"},
             {"small.db --csv --format nccl", "beside --csv"},
             {"small.db --csv --rank 2", "--rank requires --format"},
             {"small.db --csv --set plan.tp=2", "--set requires --format"},
             {"small.db --format nccl --rank " + std::to_string(kept + 1), "plans that can run"},
             {"small.db --format nccl --rank 0", "--rank"},
             {"small.db --format nccl --search 9", "no such search"},
             {"none.yaml --format nccl", "none.yaml"},
             {"study.yaml --format nccl --rank 2", "study.yaml is no database"},
             {"study.yaml --format nccl --set plan.tp=3", "the plan cannot run: degrees: "},
             {"study.yaml --format nccl -o study.yaml", "is what is read"},
             {"study.yaml --format megatron --set plan.schedule=zb-h2 --set plan.sharding=zero1",
              "Megatron-LM cannot run this plan: plan.schedule zb-h2: "},
             {"study.yaml --format torchtitan --set plan.schedule=zb-h2 --set plan.sharding=zero1",
              "plan.sharding zero1: it has fsdp and hsdp; plan.schedule zb-h2: "},
             {"small.db --format megatron --set plan.schedule=zb-h2 --set plan.pp=2 --set "
              "plan.crossing=dp --set plan.tp=4",
              "no plan that is kept is one that it can run"}})
    {
        const Call call = Run("export " + arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_EQ(call.out, "") << arguments;
        EXPECT_THAT(call.err, HasSubstr(says)) << arguments;
    }
    // Nothing is kept that could be exported.
    EXPECT_EQ(Run("run study.yaml --db runs.db").code, 0);
    const Call none = Run("export runs.db --format megatron");
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, HasSubstr("no search is stored here"));
}

/// Where a plan is none for the software, the error says which is.
TEST_F(ExportTest, NamesThePlanThatTheSoftwareCanRun)
{
    const auto ranking = RunJson("explore study.yaml --db both.db --keep 40 --top 40 --set "
                                 "search.plan.schedule='[zb-h1, 1f1b]' --set "
                                 "search.plan.pp='[2]'")["ranking"];
    std::vector<size_t> runs;
    std::vector<size_t> refused;
    for (size_t i = 0; i < ranking.size(); i++)
    {
        const bool isRun = ranking[i]["label"].get<std::string>().find("1f1b") != std::string::npos;
        (isRun ? runs : refused).push_back(i + 1);
    }
    ASSERT_FALSE(runs.empty());
    ASSERT_FALSE(refused.empty());
    for (const size_t rank : refused)
    {
        const Call call =
            Run("export both.db --search 1 --format megatron --rank " + std::to_string(rank));
        EXPECT_EQ(call.code, 2);
        EXPECT_THAT(call.err,
                    HasSubstr("remedy: --rank " + std::to_string(runs.front()) +
                              " is the best plan that it can run"));
    }
    for (const size_t rank : runs)
    {
        EXPECT_EQ(
            Run("export both.db --search 1 --format megatron --rank " + std::to_string(rank)).code,
            0);
    }
}

/// NCCL waits 4.096 us x 2^20 by default (NCCL_IB_TIMEOUT in its net_ib/connect.cc), 64 times as
/// long as we assume where a study says nothing; so only what it says is written.
TEST_F(ExportTest, WritesForNcclWhatTheStudyGives)
{
    const auto text = [this](const std::string& set) {
        const Call call = Run("export study.yaml --format nccl " + set);
        EXPECT_EQ(call.code, 0) << call.err;
        return call.out;
    };
    const std::string plain = text("");
    for (const char* variable : {"NCCL_IB_TIMEOUT",
                                 "NCCL_IB_RETRY_CNT",
                                 "NCCL_IB_ADAPTIVE_ROUTING",
                                 "NCCL_IB_SPLIT_DATA_ON_QPS",
                                 "NCCL_ALGO"})
    {
        EXPECT_THAT(plain, testing::Not(HasSubstr(std::string("export ") + variable)));
        EXPECT_THAT(plain, testing::Not(HasSubstr(std::string("unset ") + variable)));
        EXPECT_THAT(plain, HasSubstr(std::string("- ") + variable + " (NCCL's own: "));
    }
    EXPECT_THAT(plain, HasSubstr("# - NCCL_IB_TIMEOUT (NCCL's own: 20) for 14: "));
    // Be it what we assume as well.
    EXPECT_THAT(text("--set network.timeout_exponent=14"),
                HasSubstr("export NCCL_IB_TIMEOUT=14 # network.timeout_exponent\n"));
    EXPECT_THAT(text("--set network.timeout_exponent=18"), HasSubstr("NCCL_IB_TIMEOUT=18 "));
    EXPECT_THAT(text("--set network.multipath=ecmp"), HasSubstr("NCCL_IB_ADAPTIVE_ROUTING=0 "));
    EXPECT_THAT(text("--set network.collective=hierarchical"), HasSubstr("unset NCCL_ALGO "));
    EXPECT_THAT(text("--set cluster.buildings.fabric.rails=true"), HasSubstr("NCCL_CROSS_NIC=0 "));
    EXPECT_THAT(text("--set cluster.buildings.fabric.rails=false"), HasSubstr("NCCL_CROSS_NIC=2 "));
    const std::string library = " --set network.collective=nccl";
    EXPECT_THAT(text(library), testing::Not(HasSubstr("export NCCL_COLLNET_ENABLE")));
    EXPECT_THAT(text(library + " --set network.nccl_collnet=false"),
                HasSubstr("export NCCL_COLLNET_ENABLE=0 "));
}

/// What a search varies it has chosen, be it the usual value.
TEST_F(ExportTest, WritesForNcclWhatASearchVaried)
{
    EXPECT_THAT(Run("export small.db --format nccl").out,
                testing::Not(HasSubstr("export NCCL_IB_TIMEOUT")));
    EXPECT_EQ(Run("explore study.yaml --db varied.db --keep 1 --set "
                  "search.network.timeout_exponent='[14]'")
                  .code,
              0);
    EXPECT_THAT(Run("export varied.db --search 1 --format nccl").out,
                HasSubstr("export NCCL_IB_TIMEOUT=14 "));
}

/// Behind an algorithm that not every communicator can run stand those that can, by NCCL 2.30.7:
/// NVLSTree is for several servers, NVLS over several asks for CollNet, PAT for one GPU in each,
/// and all but trees and rings for the protocol Simple.
TEST_F(ExportTest, LeavesNcclAWayWhereAnAlgorithmCannotRun)
{
    const auto text = [this](const std::string& algorithm, const std::string& more = "") {
        return Run("export study.yaml --format nccl --set network.collective=nccl --set "
                   "network.nccl_algorithm=" +
                   algorithm + more)
            .out;
    };
    const std::string on = " --set network.nccl_collnet=true";
    const std::string ll = " --set network.nccl_protocol=ll";
    EXPECT_THAT(text("nvls-tree"),
                HasSubstr("export NCCL_ALGO=allreduce:NVLSTree,NVLS,Tree,Ring "));
    EXPECT_THAT(text("nvls"), HasSubstr("export NCCL_ALGO=allreduce:NVLS,NVLSTree,Tree,Ring "));
    EXPECT_THAT(text("pat"),
                HasSubstr("NCCL_ALGO='allgather:PAT,NVLS,Ring;reducescatter:PAT,NVLS,Ring' "));
    EXPECT_THAT(
        text("collnet-chain", on),
        HasSubstr("NCCL_ALGO=allreduce:CollNetChain,CollNetDirect,NVLSTree,NVLS,Tree,Ring"));
    EXPECT_THAT(text("collnet-chain", on), HasSubstr("export NCCL_COLLNET_ENABLE=1 "));
    EXPECT_THAT(text("collnet-direct"),
                HasSubstr("network.nccl_algorithm collnet-direct: NCCL takes another of its list"));
    // These run everywhere.
    EXPECT_THAT(text("tree"), HasSubstr("export NCCL_ALGO=allreduce:Tree "));
    EXPECT_THAT(text("ring"), HasSubstr("export NCCL_ALGO=Ring "));
    EXPECT_THAT(text("nvls-tree", ll), HasSubstr("export NCCL_PROTO='LL;allreduce:LL,Simple' "));
    EXPECT_THAT(text("tree", ll), HasSubstr("export NCCL_PROTO=LL "));
    EXPECT_THAT(text("pat", " --set network.nccl_protocol=ll128"),
                HasSubstr("NCCL_PROTO='LL128;allgather:LL128,Simple;reducescatter:LL128,Simple' "));
    EXPECT_THAT(text("auto"), HasSubstr("unset NCCL_ALGO "));
}

/// Megatron-LM core 0.19 deletes NCCL_COLLNET_ENABLE (initialize_model_parallel() of
/// megatron/core/parallel_state.py) and sets it for data parallelism with --use-sharp.
TEST_F(ExportTest, TellsMegatronOfCollnet)
{
    const std::string says = "export study.yaml --format megatron --set network.collective=nccl";
    EXPECT_THAT(Run(says).out, testing::Not(HasSubstr("--use-sharp")));
    EXPECT_THAT(Run(says + " --set network.nccl_collnet=true").out,
                HasSubstr("    --use-sharp # network.nccl_collnet\n"));
}

/// Schedule1F1B of torch.distributed.pipelining has as many microbatches as stages at least;
/// TorchTitan v0.2.2 asserts that tp x 2 cp divides the sequence: 4 x 2 does not divide 4,100, of
/// which 4 divides a microbatch; and its ranks of tp have whole heads. Megatron-LM asks for none of
/// these.
TEST_F(ExportTest, RefusesWhatTorchTitanDoes)
{
    Write("few.yaml",
          "model: {layers: 16, hidden: 1024, heads: 16, kv_heads: 2, dense_ffn: 4096, vocabulary: "
          "50304}\n"
          "workload: {sequence: 1024, global_batch: 2, memory_limit: false}\n"
          "cluster: {buildings: {count: 1, gpus: 4, gpus_per_node: 4, gpu: h100}}\n"
          "plan: {pp: 4, sharding: fsdp}\n");
    const auto refuses = [this](const std::string& format,
                                const std::string& set,
                                const std::vector<std::string>& says) {
        const Call call = Run("export few.yaml --format " + format + set);
        EXPECT_EQ(call.code, 2) << format << set << call.out;
        EXPECT_EQ(call.out, "");
        for (const std::string& text : says)
        {
            EXPECT_THAT(call.err, HasSubstr(text));
        }
    };
    const auto takes = [this](const std::string& format, const std::string& set) {
        const Call call = Run("export few.yaml --format " + format + set);
        EXPECT_EQ(call.code, 0) << format << set << call.err;
        return call.out;
    };
    for (const std::string format : {"torchtitan", "torchtitan-main"})
    {
        refuses(format,
                "",
                {"plan.schedule 1f1b: 1F1B has as many microbatches as stages at least, and here 2 "
                 "for 4",
                 "say plan.schedule gpipe"});
        takes(format, " --set plan.schedule=gpipe");
        takes(format, " --set workload.global_batch=4");
        // One microbatch goes as by GPipe, which takes it.
        EXPECT_THAT(takes(format, " --set workload.global_batch=1"), HasSubstr("\"GPipe\""));
        refuses(format,
                " --set plan.pp=1 --set plan.tp=4",
                {"plan.tp 4: it divides the heads of keys and values (model.kv_heads 2)"});
    }
    takes("megatron", "");
    const std::string tensor = " --set plan.pp=1 --set plan.tp=4 --set model.kv_heads=4"
                               " --set workload.sequence=";
    refuses("torchtitan",
            tensor + "4100",
            {"workload.sequence 4100: it is divided by 2 x tp x cp, here 8", "a multiple of 8"});
    takes("torchtitan", tensor + "4096");
    takes("torchtitan-main", tensor + "4100");
    takes("megatron", tensor + "4100");
    // 1,028 is 4 x 257: two parts for each of two ranks of cp, of which ranks of tp share both.
    const std::string context = " --set plan.pp=1 --set plan.cp=2 --set plan.tp=2 --set "
                                "model.kv_heads=4 --set workload.sequence=1028";
    takes("megatron", context);
    refuses("torchtitan-main",
            context,
            {"workload.sequence 1028: it times plan.microbatch is divided by 2 x tp x cp, here 8"});
    takes("torchtitan-main", context + " --set plan.microbatch=2");
    takes("megatron", " --set plan.pp=1 --set plan.tp=4");
}

} // namespace

} // namespace scaleacross
