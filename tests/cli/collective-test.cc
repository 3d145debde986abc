// SPDX-License-Identifier: GPL-2.0-only

#include "program.h"

#include <cmath>
#include <gmock/gmock.h>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// 16 GPUs in two buildings: no model, no workload, no plan.
const char* const g_clusterOnly = R"yaml(study: pair
cluster:
  buildings: {count: 2, gpus: 8, gpus_per_node: 4, gpu: h100, fabric: {rails: true, spines: 1}}
  cross: {distance: 10km, oversubscription: 2}
)yaml";

class CollectiveCommand : public ProgramTest
{
  protected:
    CollectiveCommand()
    {
        Write("pair.yaml", g_clusterOnly);
        Write("study.yaml", g_smallStudy);
    }

    /// Sizes of the rows of a call.
    std::vector<uint64_t> SizesOf(const std::string& arguments) const
    {
        std::vector<uint64_t> sizes;
        for (const auto& row : RunJson("collective pair.yaml " + arguments))
        {
            sizes.push_back(row.at("bytes"));
        }
        return sizes;
    }
};

TEST_F(CollectiveCommand, RowsHaveTheirKeysAndAddUp)
{
    for (const std::string engine : {"analytical", "packet"})
    {
        const auto rows =
            RunJson("collective pair.yaml --op all_reduce -b 1M -e 4M --engine " + engine);
        ASSERT_EQ(rows.size(), 3U);
        for (const auto& row : rows)
        {
            const double time = row.at("time_us");
            const double bytes = row.at("bytes");
            // 10 km are 50 us one way, which an all-reduce pays twice.
            EXPECT_GT(time, 100);
            EXPECT_NEAR(row.at("algbw_GBps"), bytes / 1e3 / time, 1e-9);
            // 2 (n-1) / n of 16 ranks.
            EXPECT_NEAR(row.at("busbw_GBps"), row.at("algbw_GBps").get<double>() * 1.875, 1e-9);
            EXPECT_EQ(row.at("count"), bytes / 4);
            EXPECT_EQ(row.at("op"), "all_reduce");
            EXPECT_EQ(row.at("redop"), "sum");
            EXPECT_EQ(row.at("group"), "all");
            EXPECT_EQ(row.at("ranks"), 16);
            EXPECT_EQ(row.at("groups"), 1);
            EXPECT_EQ(row.at("study"), "pair");
            EXPECT_EQ(row.at("engine"), engine);
            EXPECT_EQ(row.at("seed").is_null(), engine == "analytical");
            EXPECT_EQ(row.at("network_plan").at("qps"), 16);
            EXPECT_EQ(row.at("network").at("packets_dropped"), 0);
        }
        // Hierarchical: 2 (R-1) S cross.
        EXPECT_EQ(rows[0].at("cross_building_bytes"), 2 << 20);
        EXPECT_LT(rows[0].at("time_us"), rows[2].at("time_us"));
    }
    EXPECT_THAT(Files(), ElementsAre("pair.yaml", "study.yaml"));
}

TEST_F(CollectiveCommand, TheTableIsThatOfNcclTests)
{
    const Call call = Run("collective pair.yaml --op all_gather -b 1M -e 2M --groups 1");
    EXPECT_EQ(call.code, 0) << call.err;
    std::istringstream lines(call.out);
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(lines, line);)
    {
        if (line.front() != '#')
        {
            std::istringstream cells(line);
            rows.emplace_back(std::istream_iterator<std::string>(cells),
                              std::istream_iterator<std::string>());
        }
    }
    // size, count, type, redop, root, time, algbw, busbw; count is that of one rank.
    ASSERT_EQ(rows.size(), 2U);
    ASSERT_EQ(rows[0].size(), 8U);
    EXPECT_THAT(std::vector<std::string>(rows[0].begin(), rows[0].begin() + 5),
                ElementsAre("1048576", "16384", "float", "none", "-1"));
    EXPECT_EQ(rows[1][0], "2097152");
    EXPECT_NEAR(std::stod(rows[0][7]), std::stod(rows[0][6]) * 15 / 16, 0.011);
    EXPECT_THAT(call.out, HasSubstr("busbw"));
    EXPECT_THAT(call.out, HasSubstr("# Avg bus bandwidth"));
}

TEST_F(CollectiveCommand, WordsOfTheNetworkThatChangeNothingAreTold)
{
    EXPECT_THAT(Run("collective pair.yaml -b 8 -e 8 --set network.segment=1MiB").out,
                HasSubstr("# Warning: network.segment changes nothing: no message that has it"));
    EXPECT_THAT(
        Run("collective pair.yaml -b 8 -e 8 --set network.nccl_algorithm=tree").out,
        HasSubstr("# Warning: network.nccl_algorithm changes nothing: network.collective is "
                  "hierarchical.\n"));
    EXPECT_THAT(Run("collective pair.yaml -b 8 -e 8").out, Not(HasSubstr("Warning")));
}

/// What is said of a network is said of a collective on it, too, by the engine that it holds for.
TEST_F(CollectiveCommand, WeaknessesOfAnEngineAreTold)
{
    // Two lanes, so that there are two paths to spray over.
    const std::string lossy = "collective pair.yaml -b 8 -e 8 --set cluster.cross.loss=1e-4 --set "
                              "cluster.cross.lanes=2 --set "
                              "network.multipath=spray-rr --set network.recovery=selective-repeat";
    EXPECT_THAT(Run(lossy).out, HasSubstr("# Warning: network.multipath spray-rr: packets that"));
    const std::string flow = Run(lossy + " --engine flow").out;
    EXPECT_THAT(flow, Not(HasSubstr("spray-rr: packets that")));
    EXPECT_THAT(flow, HasSubstr("# Warning: packets that are lost between buildings: of "));
    EXPECT_THAT(Run(lossy + " --engine packet").out, Not(HasSubstr("Warning")));
    EXPECT_THAT(Run("collective pair.yaml -b 0").err, HasSubstr("-b: '0' is nothing to send"));
}

TEST_F(CollectiveCommand, SizesAreThoseOfNcclTests)
{
    EXPECT_THAT(SizesOf("-b 8 -e 64 -f 2"), ElementsAre(8, 16, 32, 64));
    EXPECT_THAT(SizesOf("-b 1K -e 3k -i 1K"), ElementsAre(1024, 2048, 3072));
    EXPECT_THAT(SizesOf("-b 0.5M -e 2M -f 4"), ElementsAre(512 << 10, 2 << 20));
    EXPECT_EQ(SizesOf("").size(), 25U); // 8 to 128M by 2: 2^3 to 2^27
    // Sixteen ranks, four bytes each: multiples of 64, from the first that gives all an element.
    EXPECT_THAT(SizesOf("--op all_to_all -b 8 -e 256"), ElementsAre(64, 128, 256));
    EXPECT_THAT(SizesOf("--op reduce_scatter -b 100 -e 200 -i 50"), ElementsAre(64, 128, 192));
    // Send-receive is not divided.
    EXPECT_THAT(SizesOf("--op sendrecv -b 4 -e 4"), ElementsAre(4));
}

TEST_F(CollectiveCommand, GroupsAndWhoTakesPart)
{
    const auto of = [this](const std::string& arguments) {
        return RunJson("collective pair.yaml -b 1M -e 1M " + arguments).at(0);
    };
    const auto across = of("--group across");
    EXPECT_EQ(across.at("ranks"), 2);
    EXPECT_EQ(across.at("groups"), 8);
    EXPECT_EQ(across.at("cross_building_bytes"), 8 * (2 << 20));
    EXPECT_EQ(across.at("busbw_GBps"), across.at("algbw_GBps")); // 2 (n-1) / n = 1
    const auto alone = of("--group across --groups 1");
    EXPECT_EQ(alone.at("groups"), 1);
    EXPECT_EQ(alone.at("cross_building_bytes"), 2 << 20);
    EXPECT_LT(alone.at("time_us"), across.at("time_us")); // oversubscribed by 2
    EXPECT_EQ(of("--group building").at("cross_building_bytes"), 0);
    EXPECT_EQ(of("--group rail").at("ranks"), 4);
    EXPECT_EQ(of("--group node").at("groups"), 4);
    EXPECT_EQ(of("--group node --op sendrecv").at("busbw_GBps"),
              of("--group node --op sendrecv").at("algbw_GBps"));
}

TEST_F(CollectiveCommand, TokensGoToExpertsAndBack)
{
    const auto of = [this](const std::string& arguments) {
        return RunJson("collective " + arguments).at(0);
    };
    // 128 x 8 copies of 7,168 bytes of FP8, 56 scales of 4 and 16 of a header; of BF16.
    const auto low = of("pair.yaml --op dispatch --kernel low-latency");
    EXPECT_EQ(low.at("bytes"), 128 * 8 * 7408);
    EXPECT_EQ(low.at("count"), 128);
    EXPECT_EQ(low.at("type"), "token");
    EXPECT_EQ(low.at("algorithm"), "deepep-low-latency");
    EXPECT_NEAR(low.at("busbw_GBps"), 128 * 8 * 7.408 / low.at("time_us").get<double>(), 1e-9);
    EXPECT_EQ(of("pair.yaml --op combine --kernel low-latency").at("bytes"), 128 * 8 * 14336);
    EXPECT_EQ(of("pair.yaml --op dispatch --kernel low-latency --precision bf16 --tokens 1 "
                 "--hidden 100 --top-k 2")
                  .at("bytes"),
              2 * (200 + 16));
    // In one server a copy for each of 8 GPUs that has any of 8 of 256 experts: none of the 8 is
    // on a GPU with (224 x ... x 217) / (256 x ... x 249) = 0.338168.
    const double eight = of("--machine dgx-h100 --op dispatch").at("bytes");
    EXPECT_NEAR(eight, 4096 * 8 * (1 - 0.338168) * 7392, 200);
    // Experts on two of the four servers at most, one for each of two.
    const auto two = of("pair.yaml --op dispatch --max-nodes 2 --tokens 1000 --precision bf16");
    EXPECT_LT(two.at("bytes"), 2 * 1000 * 14336);
    EXPECT_GT(two.at("bytes"), 1.9 * 1000 * 14336);
    for (const auto* op : {"dispatch", "combine"})
    {
        const std::string run = std::string("pair.yaml --tokens 400 --op ") + op;
        EXPECT_EQ(of(run).at("bytes"), of(run + " --engine packet").at("bytes"));
        EXPECT_EQ(of(run).at("cross_building_bytes"),
                  of(run + " --engine packet").at("cross_building_bytes"));
    }
    // The network's own way, and none said.
    EXPECT_EQ(of("pair.yaml --op combine --set network.all_to_all=once").at("algorithm"), "once");
    EXPECT_EQ(of("pair.yaml --op combine").at("algorithm"), "deepep");
    // A model has hidden size, experts and those of a token: 4,096, 8 and 2.
    Write("experts.yaml", std::string(g_clusterOnly) + "model: mixtral-8x7b\n");
    EXPECT_EQ(of("experts.yaml --op dispatch --kernel low-latency --group node").at("bytes"),
              128 * 2 * (4096 + 128 + 16));
}

TEST_F(CollectiveCommand, ModelAndPlanOfTheStudyPlayNoPart)
{
    const auto with = RunJson("collective study.yaml -b 1M -e 1M");
    const auto without = RunJson("collective study.yaml -b 1M -e 1M --set plan.tp=7 --set "
                                 "model.layers=-3");
    EXPECT_EQ(with, without);
}

TEST_F(CollectiveCommand, BadInputIsRefusedByName)
{
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"--op all_reduced", "did you mean all_reduce?"},
        {"--group everyone", "all, across, building, rail or node"},
        {"--engine flows", "did you mean flow?"},
        {"-b 8Q", "-b: '8Q' is not a size"},
        {"-b 0", "-b"},
        {"-b -8", "-b"},
        {"-b 1.3", "whole number of bytes"},
        {"-b ''", "-b: the value is empty"},
        {"-b 2000G -e 3000G", "1024G"},
        {"-b 1M -e 1K", "-e"},
        {"-f 1", "-f"},
        {"-f 2 -i 8", "-i is given as well"},
        {"-b 4 -e 128M -i 4", "more than 10000 sizes"},
        {"--op all_gather -e 32", "64 bytes or more"},
        {"--groups 2", "groups"},
        {"--set cluster.buildings.count=1 --group across", "one building"},
        {"--set cluster.buildings.gpus_per_node=1 --group node", "one member"},
        {"--set network.collective=star", "network.collective"},
        {"--set network.qqps=4", "network.qqps"},
        {"--time-limit 3", "--time-limit"},
        {"--iterations 0", "iterations"},
        {"--ranks 0", "--ranks"},
        {"--tokens 128", "leave out --tokens"},
        {"--op all_to_all --kernel throughput", "--op dispatch or combine"},
        {"--op dispatch -b 1M", "leave out -b, -e, -f and -i"},
        // Of the usual sizes, too.
        {"--op dispatch -b 8", "leave out -b, -e, -f and -i"},
        {"--op combine --maxbytes 128M", "leave out -b, -e, -f and -i"},
        {"--op combine -f 2", "leave out -b, -e, -f and -i"},
        {"--op combine --tokens 0", "--tokens"},
        {"--op dispatch --kernel fast", "--kernel: 'fast' is not known"},
        {"--op dispatch --precision fp4", "--precision"},
        {"--op dispatch --top-k 300", "--top-k"}};
    for (const auto& [arguments, message] : cases)
    {
        const Call call = Run("collective pair.yaml " + arguments);
        EXPECT_EQ(call.code, 2) << arguments << ": " << call.err;
        EXPECT_THAT(call.err, HasSubstr(message)) << arguments;
        EXPECT_EQ(call.out, "") << arguments;
    }
    EXPECT_EQ(Run("collective nothing.yaml").code, 2);
    EXPECT_THAT(Files(), ElementsAre("pair.yaml", "study.yaml"));
}

/// Text of an error: problem, what is allowed and what to do.
std::string
ErrorText(const std::string& problem, const std::string& allowed, const std::string& remedy)
{
    return "scaleacross: error: " + problem + "\n  allowed: " + allowed + "\n  remedy: " + remedy +
           "\n";
}

TEST_F(CollectiveCommand, WhatWouldDoIsNamedAndDoes)
{
    struct Case
    {
        std::string wrong;
        std::string message;
        std::vector<std::string> right; //!< all that the message names
    };

    const std::string experts = "pair.yaml --op dispatch --experts ";
    const std::string dgx = "--machine dgx-h100 ";
    const std::vector<Case> cases = {
        // 16 GPUs: multiples of 16, and no fewer than a token goes to.
        {experts + "100",
         ErrorText("--experts: 100 experts do not lie evenly over 16 members",
                   "a multiple of 16",
                   "take 96 or 112"),
         {experts + "96", experts + "112"}},
        {experts + "20 --top-k 18",
         ErrorText("--experts: 20 experts do not lie evenly over 16 members",
                   "a multiple of 16",
                   "take 32"),
         {experts + "32 --top-k 18"}},
        // Four servers of 4 experts, and 8 of a token.
        {experts + "16 --max-nodes 1",
         ErrorText("--max-nodes: 1 servers have 4 experts, and a token goes to 8",
                   "2 or more, or 0 for any number",
                   "take 2, or a --top-k of up to 4"),
         {experts + "16 --max-nodes 2",
          experts + "16 --max-nodes 0",
          experts + "16 --max-nodes 1 --top-k 4"}},
        {experts + "16 --top-k 17",
         ErrorText("--top-k: 17 experts of a token, of 16",
                   "1 to 16",
                   "give fewer, or more experts with --experts"),
         {experts + "16 --top-k 16", experts + "32 --top-k 17"}},
        // 8 GPUs in each of 2 buildings: 8 pairs of equal positions.
        {"pair.yaml -e 8 --group across --groups 9",
         ErrorText("--groups: 9 groups, but the 16 GPUs form 8 groups 'across'",
                   "1 to 8",
                   "leave --groups out for all of them"),
         {"pair.yaml -e 8 --group across --groups 8", "pair.yaml -e 8 --group across"}},
        {"pair.yaml -e 8 --groups 2",
         ErrorText("--groups: 2 groups, but the 16 GPUs form 1 groups 'all'",
                   "1",
                   "leave --groups out for all of them"),
         {"pair.yaml -e 8 --groups 1"}},
        // One building with one server.
        {dgx + "-e 8 --group across",
         ErrorText("--group: there is one building, so nothing goes across",
                   "all, building or node",
                   "take one of these"),
         {dgx + "-e 8 --group all", dgx + "-e 8 --group building", dgx + "-e 8 --group node"}},
        {dgx + "-e 8 --gpus-per-node 1",
         ErrorText("--group: a group 'all' has one member, of 1 GPUs, 1 per node",
                   "two GPUs or more",
                   "take more GPUs"),
         {dgx + "-e 8 --gpus-per-node 2"}},
        {dgx + "--nodes 1048576",
         ErrorText("--nodes: 1048576 servers with 8 GPUs each have 8388608",
                   "GPUs of a building: a whole number 1 to 4194304",
                   "take fewer servers, or fewer GPUs of each"),
         {}},
        {"pair.yaml --set 'cluster.buildings=[{gpus: 16, gpus_per_node: 4, gpu: h100},"
         " {gpus: 8, gpus_per_node: 8, gpu: h100}]'",
         ErrorText("cluster.buildings: buildings have nodes of 4 and of 8 GPUs",
                   "one gpus_per_node in all of them",
                   "give all of them one that divides the gpus of each"),
         {"pair.yaml -e 8 --set 'cluster.buildings=[{gpus: 16, gpus_per_node: 4, gpu: h100},"
          " {gpus: 8, gpus_per_node: 4, gpu: h100}]'"}}};
    for (const auto& [wrong, message, right] : cases)
    {
        const Call call = Run("collective " + wrong);
        EXPECT_EQ(call.code, 2) << wrong;
        EXPECT_EQ(call.err, message);
        EXPECT_EQ(call.out, "") << wrong;
        for (const std::string& arguments : right)
        {
            EXPECT_EQ(Run("collective " + arguments).code, 0) << arguments;
        }
    }
}

TEST_F(CollectiveCommand, AMachineStandsForAStudy)
{
    Write("same.yaml",
          "study: dgx-h100\n"
          "cluster: {buildings: [{gpus: 32, gpus_per_node: 8, gpu: h100, nic_rate: 400Gbps,\n"
          "  fabric: {rails: true, nodes_per_pod: 4, spines: 4, leaf_delay: 500ns}}]}\n"
          "network: {transport: infiniband, multipath: spray-adaptive,\n"
          "  recovery: selective-repeat}\n");
    const std::string sizes = " -b 1M -e 16M -f 4 --op all_to_all";
    const auto rows = RunJson("collective --machine dgx-h100 --nodes 4" + sizes);
    EXPECT_EQ(rows, RunJson("collective same.yaml" + sizes));
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].at("ranks"), 32);
    EXPECT_EQ(rows[0].at("study"), "dgx-h100");
}

TEST_F(CollectiveCommand, ServersOfAMachine)
{
    const auto row = [this](const std::string& arguments) {
        return RunJson("collective -b 1G -e 1G --op all_gather --set network.collective=ring "
                       "--machine " +
                       arguments)
            .at(0);
    };
    // One server unless more are asked for.
    EXPECT_EQ(row("alps").at("ranks"), 4);
    EXPECT_EQ(row("dgx-h100 --nodes 3 --gpus-per-node 2").at("ranks"), 6);
    // 18 trays of a rack share NVLink, 900 GB/s; the 19th and 20th are beyond it, over NICs of 50
    // GB/s each, by which a GPU of 80 gathers the rest of 1 GiB that the other rack's 40 have not.
    EXPECT_GT(row("gb200-nvl72 --nodes 18").at("busbw_GBps"), 400);
    const auto two = row("gb200-nvl72 --nodes 20");
    EXPECT_EQ(two.at("ranks"), 80);
    EXPECT_LE(two.at("busbw_GBps"), 2 * 40 * 50);
    // Two NICs of 25 GB/s for four GPUs: between two servers every byte of the other server comes
    // over its share of 12.5 GB/s, S / 8 a rank and four ranks beyond.
    const double us = row("polaris --nodes 2").at("time_us");
    EXPECT_GT(us, (1 << 30) / 8.0 / 12.5e3);
    // What --set names are keys of the study that a machine makes.
    EXPECT_EQ(row("polaris --nodes 2 --set cluster.buildings.0.gpu.nic_rate=1Tbps").at("study"),
              "polaris");
    EXPECT_LT(row("polaris --nodes 2 --set cluster.buildings.0.gpu.nic_rate=1Tbps")
                  .at("time_us")
                  .get<double>(),
              us);
    EXPECT_EQ(row("polaris --set study=mine").at("study"), "mine");
}

/// A log of these hosts with so many ranks each, all in groups of `group`, with what follows the
/// list of devices.
std::string
LogOfHosts(int hosts, int each, int group, const std::string& op, const std::string& lines)
{
    std::string log = "# Collective test starting: " + op + "_perf\n# Using devices\n";
    for (int rank = 0; rank < hosts * each; rank++)
    {
        log += "#  Rank " + std::to_string(rank) + " Group  " + std::to_string(rank / group) +
               " Pid 10 on host" + std::to_string(rank / each) + " device " +
               std::to_string(rank % each) + " [00] H100\n";
    }
    return log + "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" +
           lines;
}

/// A log of sixteen ranks on four hosts.
std::string
LogOf(const std::string& op, const std::string& lines)
{
    return LogOfHosts(4, 4, 16, op, lines);
}

TEST_F(CollectiveCommand, StandsBesideALog)
{
    const auto sizes = RunJson("collective pair.yaml --op all_gather -b 32M -e 64M");
    const double first = sizes.at(0).at("time_us");
    const double last = sizes.at(1).at("time_us");
    // Half of the time here, and four times it: errors of +100 and -75 %.
    Write("log.txt",
          LogOf("all_gather",
                "33554432 1048576 half none -1 " + std::to_string(first / 2) +
                    " 1 1 0 1 1 1 0\n67108864 2097152 half none -1 " + std::to_string(last * 4) +
                    " 1 1 0 1 1 1 0\n"));
    const auto rows = RunJson("collective pair.yaml --like log.txt");
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].at("op"), "all_gather");
    EXPECT_EQ(rows[0].at("time_us"), first);
    EXPECT_NEAR(rows[0].at("measured_us"), first / 2, 1e-6);
    EXPECT_NEAR(rows[0].at("error"), 1, 1e-6);
    EXPECT_NEAR(rows[1].at("error"), -0.75, 1e-6);
    EXPECT_EQ(rows[0].at("count"), 1048576);
    EXPECT_EQ(rows[0].at("type"), "half");
    const Call call = Run("collective pair.yaml --like log.txt --op all_gather");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("measured"));
    EXPECT_THAT(call.out, HasSubstr("+100.0\n"));
    EXPECT_THAT(call.out, HasSubstr("-75.0\n"));
    // Between 75 and 100: the middle, and nine tenths of the way.
    EXPECT_THAT(call.out,
                HasSubstr("# Error of 2 sizes of 16 MiB and more: median 87.5 %, 90th percentile "
                          "97.5 %\n"));
    EXPECT_THAT(call.out, Not(HasSubstr("below 16 MiB")));
    // Sizes that are no whole elements of four bytes for each of sixteen ranks run as they are.
    Write("log.txt", LogOf("all_gather", "100 50 half none -1 9 1 1 0 1 1 1 0\n"));
    EXPECT_EQ(RunJson("collective pair.yaml --like log.txt").at(0).at("bytes"), 100);
    EXPECT_THAT(Run("collective pair.yaml --like log.txt").out, HasSubstr("1 size below 16 MiB"));
}

TEST_F(CollectiveCommand, LogsThatDoNotFitAreRefused)
{
    const std::string line = "1048576 262144 float sum -1 90 1 1 0 1 1 1 0\n";
    Write("log.txt", LogOf("all_reduce", line));
    Write("none.txt", "# size count type redop time algbw busbw\n1048576 2 float sum 90 1 1\n");
    Write("half.txt", LogOf("all_reduce", "1048576 262144 float sum\n"));
    Write("empty.txt", "");
    const std::string study = "collective pair.yaml ";
    const std::string machine = "collective --machine dgx-h100 --like log.txt ";
    for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
             {study + "--like log.txt -b 8", "-b: sizes are those of the log 'log.txt'"},
             {study + "--like log.txt --maxbytes 1G", "-e: sizes are those of the log"},
             {study + "--like log.txt -f 4", "-f: sizes are those of the log"},
             {study + "--like log.txt -i 1M", "-i: sizes are those of the log"},
             {study + "--like none.txt --op dispatch", "--op: dispatch, and nccl-tests has none"},
             {study + "--like log.txt --op all_gather",
              "all_gather, and the log is of all_reduce (log.txt:1)"},
             {study + "--like none.txt", "neither a line nor the name of the file"},
             {study + "--like half.txt", "half.txt:20: the line ends after 4 columns"},
             {study + "--like empty.txt", "empty.txt: the file is empty"},
             {study + "--like nothing.txt", "nothing.txt: there is no such file"},
             {study + "--like log.txt --group building",
              "log.txt:3: the log has 1 group of 16 ranks on 4 servers"},
             {machine + "--nodes 3", "say --nodes 4 --gpus-per-node 4"},
             // As many ranks, on half as many servers.
             {machine + "--nodes 2", "1 group of 16 ranks on 2 servers, as there are here"}})
    {
        const Call call = Run(arguments);
        EXPECT_EQ(call.code, 2) << arguments << ": " << call.err;
        EXPECT_THAT(call.err, HasSubstr(message)) << arguments;
        EXPECT_EQ(call.out, "") << arguments;
    }
    EXPECT_EQ(Run(machine + "--nodes 4 --gpus-per-node 4").code, 0);
    EXPECT_EQ(Run(study + "--like none.txt --op all_reduce").code, 0);
}

// What it says to give has to be the log's, and servers that the machine has.
TEST_F(CollectiveCommand, RemediesForOtherServersWork)
{
    const std::string line = "1048576 262144 float sum -1 90 1 1 0 1 1 1 0\n";
    const auto write = [&](int hosts, int each, int group) {
        Write("log.txt", LogOfHosts(hosts, each, group, "all_reduce", line));
    };
    const auto remedy = [this](const std::string& arguments) {
        const Call call = Run("collective --like log.txt " + arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        const std::string begin = "\n  remedy: ";
        const size_t at = call.err.find(begin);
        EXPECT_NE(at, std::string::npos) << call.err;
        return at == std::string::npos ? "" : call.err.substr(at + begin.size());
    };
    const auto works = [this](const std::string& arguments) {
        const Call call = Run("collective --like log.txt " + arguments);
        EXPECT_EQ(call.code, 0) << call.err;
    };
    write(2, 8, 16);
    EXPECT_EQ(remedy("--machine dgx-h100"), "say --nodes 2 --gpus-per-node 8\n");
    works("--machine dgx-h100 --nodes 2 --gpus-per-node 8");
    EXPECT_EQ(remedy("--machine dgx-h100 --nodes 2 --group node"),
              "say --nodes 2 --gpus-per-node 8 --group all\n");
    // A server of Alps has four GPUs.
    const std::string none = "this machine has no such servers: take another one, or a study, of ";
    EXPECT_EQ(remedy("--machine alps"), none + "16 GPUs, 8 in each server\n");
    EXPECT_EQ(remedy("--machine alps --nodes 4"), none + "16 GPUs, 8 in each server\n");
    EXPECT_EQ(remedy("pair.yaml"),
              "take a study of 16 GPUs, 8 in each server, or another --group\n");
    // 19 trays do not fill racks of 18 evenly.
    write(19, 4, 76);
    EXPECT_EQ(remedy("--machine gb200-nvl72"), none + "76 GPUs, 4 in each server\n");
    // Two groups, one in each host, are no group of all.
    write(2, 8, 8);
    EXPECT_EQ(remedy("--machine dgx-h100"), "say --nodes 2 --gpus-per-node 8 --group node\n");
    works("--machine dgx-h100 --nodes 2 --gpus-per-node 8 --group node");
    // 17 ranks on two hosts.
    std::string log = LogOfHosts(2, 8, 17, "all_reduce", line);
    const std::string second = "#  Rank 15";
    log.insert(log.find(second), "#  Rank 16 Group  0 Pid 10 on host0 device 8 [00] H100\n");
    Write("log.txt", log);
    EXPECT_THAT(remedy("--machine dgx-h100 --nodes 2"), HasSubstr("take another log"));
}

// 1 MiB in 100 us are 10.49 GB/s, times 15/8 for sixteen ranks: 19.66.
TEST_F(CollectiveCommand, BandwidthsHaveToBeOfAsManyRanks)
{
    const std::string line = "1048576 262144 float sum -1 100.0 10.49 19.66 0 1 1 1 0\n";
    const std::string bare =
        "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" + line;
    Write("all_reduce.txt", bare);
    EXPECT_EQ(Run("collective pair.yaml --like all_reduce.txt").code, 0);
    const Call eight = Run("collective --machine dgx-h100 --like all_reduce.txt");
    EXPECT_EQ(eight.code, 2);
    EXPECT_THAT(eight.err, HasSubstr("all_reduce.txt:2: busbw x time / size is that of"));
    EXPECT_THAT(eight.err, HasSubstr("allowed: 8 ranks in a group, as there are here"));
    // One line of a list of sixteen.
    Write("one.txt", "# Rank 0 Group 0 Pid 10 on host0 device 0 [00] H100\n" + bare);
    const Call one = Run("collective pair.yaml --op all_reduce --like one.txt");
    EXPECT_EQ(one.code, 2);
    EXPECT_THAT(one.err,
                HasSubstr("one.txt:1: the list of devices is not that of the table: a group has 1 "
                          "rank in it"));
}

TEST_F(CollectiveCommand, LogsWithWrongResultsAreRefused)
{
    Write("log.txt", LogOf("all_reduce", "1048576 262144 float sum -1 90 1 1 0 1 1 1 3\n"));
    const Call call = Run("collective pair.yaml --like log.txt");
    EXPECT_EQ(call.code, 2);
    // Two lines, sixteen devices and the head come before.
    EXPECT_THAT(call.err, HasSubstr("log.txt:20 #wrong: 3 elements came out wrong\n  allowed: 0"));
    EXPECT_EQ(call.out, "");
    Write("log.txt", LogOf("all_reduce", "1048576 262144 float sum -1 90 1 1 N/A 1 1 1 N/A\n"));
    EXPECT_EQ(Run("collective pair.yaml --like log.txt").code, 0);
}

// A rack with one scale-up network has hosts of four GPUs.
TEST_F(CollectiveCommand, HostsOfARackAreOneServer)
{
    Write("log.txt", LogOf("all_reduce", "1048576 262144 float sum -1 90 1 1 0 1 1 1 0\n"));
    EXPECT_EQ(RunJson("collective --machine gb200-nvl72 --nodes 4 --like log.txt").size(), 1U);
}

TEST_F(CollectiveCommand, AMachineOfOnesOwn)
{
    Write("mine.yaml", "preset: dgx-h100\nnics: 4\nfabric: {rails: false}\n");
    Write("half.yaml", "preset: dgx-h100\nnic_rate: 200Gbps\nfabric: {rails: false}\n");
    auto four = RunJson("collective --machine mine.yaml --nodes 2 -b 64M -e 64M").at(0);
    auto half = RunJson("collective --machine half.yaml --nodes 2 -b 64M -e 64M").at(0);
    EXPECT_EQ(four.at("study"), "mine.yaml");
    half["study"] = four.at("study");
    EXPECT_EQ(four, half);
    for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
             {"gpus_per_node: 8\nnics: 8\nnic_rate: 400Gbps\n", "gpu: h100"},
             {"gpu: h100\ngpus_per_node: 8\nnic_rate: 400Gbps\n", "nics: 8"},
             {"preset: dgx-h100\nnics: 0\n", "bad.yaml:2:7 nics"},
             // A GPU has 64 NICs at most; eight have 512.
             {"preset: dgx-h100\nnics: 513\n",
              "bad.yaml:2:7 nics: 513 NICs of a server with 8 GPUs are 64.125 for each\n"
              "  allowed: 1 to 512\n  remedy: change it, or gpus_per_node\n"},
             // Two 1 Pb/s for a GPU of which 1 Pb/s is the most; half of the least.
             {"preset: dgx-h100\nnics: 16\nnic_rate: 1Pbps\n", "bad.yaml:3:11 nic_rate: 16 NICs"},
             {"preset: dgx-h100\nnics: 4\nnic_rate: 1Mbps\n",
              "shared by 8 GPUs, are 500kbps for each\n  allowed: 1Mbps to 1Pbps for each GPU"},
             {"preset: dgx-h100\ngpus_per_node: 16\n", "a divisor of 8"},
             {"preset: dgx-h100\ngpus_per_node: 3\n", "a divisor of 8"},
             {"preset: dgx-h100\nnetwork: {qqps: 4}\n", "did you mean qps?"},
             {"preset: dgx-h100\nnick_rate: 1Gbps\n", "did you mean nic_rate?"},
             {"preset: bad.yaml\n", "stands on itself"}})
    {
        Write("bad.yaml", text);
        const Call call = Run("collective --machine ./bad.yaml");
        EXPECT_EQ(call.code, 2) << text;
        EXPECT_THAT(call.err, HasSubstr(message)) << text;
    }
}

TEST_F(CollectiveCommand, WrongMachinesAreRefused)
{
    for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
             {"--machine dgx-h1000", "did you mean dgx-h100?"},
             {"--machine none.yaml", "none.yaml: there is no such file"},
             {"", "exactly one of STUDY and --machine NAME"},
             {"pair.yaml --machine dgx-h100", "the study 'pair.yaml' is given as well"},
             {"--machine dgx-h100 --nodes 0", "--nodes"},
             {"--machine dgx-h100 --nodes 1048577", "--nodes"},
             {"pair.yaml --nodes 2", "--machine"},
             {"pair.yaml --gpus-per-node 2", "--machine"},
             {"--machine alps --gpus-per-node 5", "1 to 4"},
             {"--machine alps --gpus-per-node 0", "--gpus-per-node"},
             {"--machine gb200-nvl72 --nodes 19", "take 18 or 20"},
             {"--machine alps --set network.qqps=4", "network.'qqps'"}})
    {
        const Call call = Run("collective " + arguments);
        EXPECT_EQ(call.code, 2) << arguments << ": " << call.err;
        EXPECT_THAT(call.err, HasSubstr(message)) << arguments;
        EXPECT_EQ(call.out, "") << arguments;
    }
}

TEST_F(CollectiveCommand, BuildingsOfDifferentSizeHaveNoGroupsInside)
{
    const std::string set = "collective pair.yaml -b 1M -e 1M --set "
                            "'cluster.buildings=[{gpus: 16, gpus_per_node: 4, gpu: h100},"
                            " {gpus: 8, gpus_per_node: 4, gpu: h100}]' ";
    // Blocks of the greatest common size, 8: three of them.
    EXPECT_EQ(RunJson(set + "--group across").at(0).at("ranks"), 3);
    const Call call = Run(set + "--group building");
    EXPECT_EQ(call.code, 2);
    EXPECT_THAT(call.err, HasSubstr("16 GPUs in the first, 24 in all 2"));
}

TEST_F(CollectiveCommand, ARunThatFailsKeepsTheRowsBeforeIt)
{
    // The engine looks at the clock every millisecond of simulated time: 1 KiB is done long before,
    // 1 GiB take 20 ms in which no computer simulates a million packets within one.
    const Call call = Run("collective pair.yaml --engine packet -b 1K -e 1G -f 1048576 "
                          "--iterations 1 --json --time-limit 1ms --db a.db");
    EXPECT_EQ(call.code, 1);
    EXPECT_THAT(call.err, HasSubstr("time limit"));
    const auto rows = nlohmann::json::parse(call.out, nullptr, false);
    ASSERT_TRUE(rows.is_array()) << call.out;
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].at("bytes"), 1024);
    EXPECT_EQ(Sql("a.db", "SELECT bytes FROM collective_run"), "1024");
}

TEST_F(CollectiveCommand, WhatWasSkippedIsSaid)
{
    // Between 4 pairs of GPUs and alone on its NIC, 64 MiB take 1.4 ms: long enough to be steady.
    const std::string call = "collective pair.yaml --set cluster.cross.oversubscription=1 "
                             "--op sendrecv --group across -b 64M -e 64M --warmup 0 --iterations 1 "
                             "--engine packet";
    const auto skips = RunJson(call + ":fast-forward").at(0).at("fast_forward");
    for (const char* const key : {"skipped_s", "skips", "verified_s", "checks", "error", "worst"})
    {
        EXPECT_TRUE(skips.contains(key)) << key;
    }
    EXPECT_GT(skips.at("skips"), 0);
    EXPECT_FALSE(RunJson(call).at(0).contains("fast_forward"));
    const std::string said = "\n# fast-forward: ";
    const Call table = Run(call + ":fast-forward");
    EXPECT_EQ(table.code, 0) << table.err;
    EXPECT_LT(table.out.find("\n      67108864"), table.out.find(said)) << table.out;
    EXPECT_NE(table.out.find(said), std::string::npos) << table.out;
    EXPECT_THAT(Run(call).out, Not(HasSubstr(said)));
}

TEST_F(CollectiveCommand, WhatAnEngineRefusesHasNoTable)
{
    Write("events.yaml",
          std::string(g_clusterOnly) +
              "events:\n  - {kind: plane-failure, target: plane 0, at: 1s}\n");
    const std::string call = "collective events.yaml -b 1M -e 1M --iterations 1 --engine ";
    EXPECT_EQ(Run(call + "packet").code, 0);
    const Call refused = Run(call + "packet:fast-forward");
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("events"));
    EXPECT_EQ(refused.out, "");
}

TEST_F(CollectiveCommand, RowsGoToTheDatabaseThatIsAskedFor)
{
    const std::string call = "collective pair.yaml --op all_gather -b 1M -e 2M ";
    RunJson(call);
    EXPECT_EQ(Files(), std::vector<std::string>({"pair.yaml", "study.yaml"})); // nothing unasked
    const auto rows = RunJson(call + "--db a.db");
    ASSERT_EQ(rows.size(), 2U);
    const auto count = [this] { return Sql("a.db", "SELECT count(*) FROM collective_run"); };
    EXPECT_EQ(count(), "2");
    // 1 MiB of 16 ranks, all in one group. In bytes per second, 15 / 16 of the one is the other.
    EXPECT_EQ(Sql("a.db",
                  "SELECT operation, op, group_of, groups, members, bytes, engine, seed IS NULL, "
                  "abs(busbw / algbw - 15 / 16.) < 1e-12, abs(bytes / time_s / algbw - 1) < 1e-12, "
                  "evaluations FROM collective_run ORDER BY bytes LIMIT 1"),
              "op=all_gather group=all groups=1 "
              "bytes=1MiB|all_gather|all|1|16|1048576|analytical|1|1|1|1");
    const std::string time = Sql("a.db", "SELECT time_s * 1e6 FROM collective_run WHERE id = 1");
    EXPECT_NEAR(std::stod(time), rows[0].at("time_us").get<double>(), 1e-6);
    // The same again is the same rows; so it is said in other words.
    RunJson(call + "--db a.db --groups 1");
    EXPECT_EQ(count(), "2");
    EXPECT_EQ(Sql("a.db", "SELECT DISTINCT evaluations FROM collective_run"), "2");
    // Another seed, of an engine that draws; another group; another network.
    const std::string one = "collective pair.yaml --db a.db -b 1M -e 1M ";
    RunJson(one + "--engine packet --seed 3 --iterations 1");
    RunJson(one + "--engine packet --seed 4 --iterations 1");
    EXPECT_EQ(Sql("a.db", "SELECT group_concat(seed) FROM collective_run WHERE engine = 'packet'"),
              "3,4");
    RunJson(one + "--group across");
    RunJson(one + "--set cluster.cross.distance=20km");
    EXPECT_EQ(count(), "6");
    EXPECT_EQ(Sql("a.db",
                  "SELECT distance_km, gpus, count(*) FROM collective_run JOIN network ON "
                  "network.id = network_id GROUP BY network.id"),
              "10.0|16|5\n20.0|16|1");
    // With results of plans in one file.
    EXPECT_EQ(Run("run study.yaml --db a.db").code, 0);
    EXPECT_EQ(Sql("a.db", "SELECT count(*) FROM run"), "1");
    // What is refused leaves no file, and what is no database is no place for rows.
    EXPECT_EQ(Run("collective pair.yaml --group sideways --db b.db").code, 2);
    EXPECT_EQ(Run(call + "--db no/such.db").code, 2);
    const Call wrong = Run(call + "--db study.yaml");
    EXPECT_EQ(wrong.code, 2);
    EXPECT_EQ(wrong.out, "");
    EXPECT_THAT(wrong.err, HasSubstr("study.yaml"));
    EXPECT_EQ(Read("study.yaml"), g_smallStudy);
    EXPECT_FALSE(std::filesystem::exists(folder / "b.db"));
}

TEST_F(CollectiveCommand, TokensNameARow)
{
    const std::string call = "collective pair.yaml --op dispatch --group across --experts 16 "
                             "--hidden 1024 --db a.db --tokens ";
    RunJson(call + "128");
    RunJson(call + "256");
    RunJson(call + "256");
    EXPECT_EQ(Sql("a.db", "SELECT count(*), max(evaluations) FROM collective_run"), "2|2");
    EXPECT_THAT(Sql("a.db", "SELECT operation FROM collective_run WHERE id = 1"),
                HasSubstr("tokens=128 hidden=1024"));
}

TEST_F(CollectiveCommand, MeasuresMoreThanAPhaseOfAnAlternation)
{
    // Everybody sends 4 MiB to the next, one each way between the buildings: 1,024 packets of 4,178
    // B and an ACK of 86 B per 4 at 50 GB/s. Messages of two rounds share a NIC's 16 queue pairs
    // and end together; what the last of 8 rounds waits, a message and 50 us at most, is in the
    // mean.
    const double wire = 1024 * (4178 + 86 / 4.0) / 50e9 * 1e6;
    const auto row =
        RunJson("collective pair.yaml --engine packet --op sendrecv -b 4M -e 4M").at(0);
    EXPECT_EQ(row.at("iterations"), 8);
    EXPECT_GE(row.at("time_us"), wire);
    EXPECT_LE(row.at("time_us"), wire + (wire + 50) / 8);
}

TEST_F(CollectiveCommand, SeedsDrawTheLosses)
{
    const auto time = [this](const std::string& seed) {
        return RunJson("collective pair.yaml --engine packet --group across -b 1M -e 1M --set "
                       "cluster.cross.loss=0.01 --set network.timeout_exponent=6 --seed " +
                       seed)
            .at(0);
    };
    EXPECT_EQ(time("5"), time("5"));
    EXPECT_NE(time("5").at("network"), time("6").at("network"));
}

} // namespace

} // namespace scaleacross
