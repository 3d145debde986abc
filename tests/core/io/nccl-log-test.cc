// SPDX-License-Identifier: GPL-2.0-only

// Logs are written by hand in the layouts of nccl-tests' releases. What is expected of one stands
// in it.

#include "../../temporary-folder.h"
#include "core/base/errors.h"
#include "core/io/nccl-log.h"
#include "core/io/nccl-tests-words.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

// 2 hosts of 2 GPUs, a release that names its test.
const char* const g_new = R"(# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807
# Collective test starting: all_gather_perf
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 4194304 step: 2(factor) warmup iters: 1 iters: 20
#
# Using devices
#  Rank  0 Group  0 Pid   4711 on    alpha00 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   4712 on    alpha00 device  1 [0000:43:00] NVIDIA H100 80GB HBM3
#  Rank  2 Group  0 Pid    815 on    alpha01 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3
#  Rank  3 Group  0 Pid    816 on    alpha01 device  1 [0000:43:00] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
           0             0     float    none      -1     0.11    0.00    0.00       0     0.10    0.00    0.00       0
     1048576         65536     float    none      -1    50.25   20.87   15.65       0    48.13   21.79   16.34       0
     4194304        262144     float    none      -1  1.2e+03    3.50    2.62     N/A   150.00   27.96   20.97     N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 13.895
#
# Collective test concluded: all_gather_perf
)";

// A release without root, groups and the name of the test, with lines of NCCL between.
const char* const g_old =
    R"(# nThread 1 nGpus 2 minBytes 8 maxBytes 64 step: 8(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid  20841 on       host device  0 [0x07] A100-SXM4-40GB
#   Rank  1 Pid  20841 on       host device  1 [0x0b] A100-SXM4-40GB
host:20841:20841 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>
NCCL version 2.7.8+cuda11.0
#
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2   float     sum    12.50    0.00    0.00  0e+00    12.41    0.00    0.00  0e+00
host:20841:20901 [1] NCCL INFO Launch mode Parallel
          64            16   float     sum    13.00    0.00    0.01  0e+00    12.90    0.00    0.01  0e+00
# Out of bounds values : 0 OK
)";

/// Where it is refused, and why.
std::string
Refusal(const std::string& text, const std::string& name = "all_reduce.log")
{
    try
    {
        ParseNcclLog(text, name);
    }
    catch (const ConfigError& error)
    {
        return error.Where() + ": " + error.Problem();
    }
    return "";
}

std::string
Replaced(std::string text, const std::string& old, const std::string& by)
{
    const size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), by);
}

/// Every line with something in front.
std::string
Tagged(const std::string& text, const std::string& tag)
{
    std::string tagged;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
    {
        tagged += tag + line + "\r\n";
    }
    return tagged;
}

} // namespace

TEST(NcclLog, NewReleaseSaysAllOfItself)
{
    const NcclLog log = ParseNcclLog(g_new, "some.log");
    EXPECT_EQ(log.op, CollectiveOp::AllGather);
    EXPECT_TRUE(log.opByLine);
    EXPECT_EQ(log.opAt, "some.log:2");
    EXPECT_EQ(log.ranks, 4U);
    EXPECT_EQ(log.groups, 1U);
    EXPECT_EQ(log.servers, 2U);
    EXPECT_EQ(log.ranksAt, "some.log:6");
    ASSERT_EQ(log.sizes.size(), 2U);
    EXPECT_EQ(log.sizes[0].bytes, Bytes(1 << 20));
    EXPECT_EQ(log.sizes[0].count, 65536U);
    EXPECT_EQ(log.sizes[0].type, "float");
    EXPECT_EQ(log.sizes[0].us, 50.25);
    EXPECT_EQ(log.sizes[0].where, "some.log:15");
    EXPECT_EQ(log.sizes[1].bytes, Bytes(4 << 20));
    EXPECT_EQ(log.sizes[1].us, 1200);
}

TEST(NcclLog, OldReleaseHasFewerColumns)
{
    const NcclLog log = ParseNcclLog(g_old, "some.log");
    EXPECT_FALSE(log.op.has_value());
    EXPECT_EQ(log.ranks, 2U);
    EXPECT_EQ(log.groups, 1U);
    EXPECT_EQ(log.servers, 1U);
    ASSERT_EQ(log.sizes.size(), 2U);
    EXPECT_EQ(log.sizes[0].us, 12.5);
    EXPECT_EQ(log.sizes[1].bytes, Bytes(64));
    EXPECT_EQ(log.sizes[1].us, 13);
}

// nccl-tests 2.11.0: wrong above DeltaMaxValue (1e-5 for float, 1e-2 for half) times nranks - 1.
TEST(NcclLog, MoreRanksMayBeFurtherFromTheRightResult)
{
    const auto log = [](uint32_t ranks, const std::string& type, const std::string& error) {
        std::string text = "# Using devices\n";
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            text += "#   Rank " + std::to_string(rank) + " Pid " + std::to_string(100 + rank) +
                    " on host" + std::to_string(rank) + " device  0 [0x07] A100\n";
        }
        return text + "# size count type redop time algbw busbw error time algbw busbw error\n" +
               "64 16 " + type + " sum 13.00 0.00 0.01 " + error + " 12.90 0.00 0.01 0e+00\n";
    };
    EXPECT_EQ(Refusal(log(16, "float", "1e-04")), "");
    EXPECT_EQ(Refusal(log(16, "half", "1e-01")), "");
    EXPECT_THAT(Refusal(log(16, "float", "2e-04")),
                HasSubstr("error: results differ by 2e-04 of the right ones"));
    EXPECT_THAT(Refusal(log(2, "float", "1e-04")), HasSubstr("results differ by 1e-04"));
    // Where nothing says how many there were, up to what 2^15 may have.
    EXPECT_EQ(Refusal(log(0, "float", "3e-01")), "");
    EXPECT_THAT(Refusal(log(0, "float", "4e-01")), HasSubstr("results differ by 4e-01"));
}

// Tags of Open MPI and srun, line ends of Windows, and a '#' that a page of issues made a heading
// of.
TEST(NcclLog, WhatIsAroundALineIsLeftOut)
{
    for (const std::string tag : {"[1,0]<stdout>:", "[1,0]<stdout>: ", "0: ", "12:\t", "    "})
    {
        const NcclLog log = ParseNcclLog(Tagged(g_new, tag), "some.log");
        EXPECT_EQ(log.op, CollectiveOp::AllGather) << tag;
        EXPECT_EQ(log.ranks, 4U) << tag;
        ASSERT_EQ(log.sizes.size(), 2U) << tag;
        EXPECT_EQ(log.sizes[0].us, 50.25) << tag;
    }
    std::string bare = g_new;
    bare.erase(std::remove(bare.begin(), bare.end(), '#'), bare.end());
    const NcclLog log = ParseNcclLog(bare, "some.log");
    EXPECT_EQ(log.op, CollectiveOp::AllGather);
    EXPECT_EQ(log.ranks, 4U);
    EXPECT_EQ(log.sizes.size(), 2U);
}

TEST(NcclLog, DevicesAreNotNeeded)
{
    const NcclLog log = ParseNcclLog("# size count type redop root time algbw busbw #wrong\n"
                                     "16777216 4194304 float none -1 700.0 24.0 24.0 N/A\n",
                                     "sendrecv");
    EXPECT_EQ(log.ranks, 0U);
    EXPECT_EQ(log.op, CollectiveOp::SendReceive);
    EXPECT_FALSE(log.opByLine);
    EXPECT_EQ(log.sizes.size(), 1U);
}

TEST(NcclLog, GroupsAreCounted)
{
    // NCCL_TESTS_SPLIT: two groups of two.
    std::string text = Replaced(g_new, "Rank  1 Group  0", "Rank  1 Group  1");
    text = Replaced(text, "Rank  3 Group  0", "Rank  3 Group  1");
    const NcclLog log = ParseNcclLog(text, "some.log");
    EXPECT_EQ(log.ranks, 2U);
    EXPECT_EQ(log.groups, 2U);
    EXPECT_EQ(log.servers, 2U);
    EXPECT_EQ(Refusal(Replaced(g_new, "Rank  1 Group  0", "Rank  1 Group  1")),
              "all_reduce.log:6: groups have 3 and 1 ranks");
}

TEST(NcclLog, FileNamesTellTheOperation)
{
    const auto of = [](const std::string& name) { return ParseNcclLog(g_old, name).op; };
    EXPECT_EQ(of("logs/all_reduce_perf.txt"), CollectiveOp::AllReduce);
    EXPECT_EQ(of("2-nodes-all-gather.log"), CollectiveOp::AllGather);
    EXPECT_EQ(of("reduce_scatter"), CollectiveOp::ReduceScatter);
    EXPECT_EQ(of("alltoall_perf.out"), CollectiveOp::AllToAll);
    EXPECT_EQ(of("h100-sendrecv.log"), CollectiveOp::SendReceive);
    EXPECT_FALSE(of("alltoallv_perf.log").has_value());
    EXPECT_FALSE(of("all_reduce/one.log").has_value()); // of the file, not of its folder
    EXPECT_FALSE(of("broadcast.log").has_value());
}

TEST(NcclLog, WrongLogsAreRefusedByPlace)
{
    EXPECT_THAT(Refusal("no\nlog\n"), HasSubstr("all_reduce.log: there is no table"));
    EXPECT_THAT(Refusal("# nThread 1 nGpus 8\n1048576 262144 float sum -1 50 20 20 0\n"),
                HasSubstr("there is no table"));
    EXPECT_THAT(Refusal("# size count type redop root time algbw busbw #wrong\n# nothing\n"),
                HasSubstr("all_reduce.log:1: the table has no line of a size above 0"));
    const std::string head = "#\n# size count type redop root time algbw busbw #wrong\n";
    const auto line = [&head](const std::string& text) { return Refusal(head + text + "\n"); };
    EXPECT_EQ(line("1024 256 float sum -1 9.5 0.11 0.20 0"), "");
    EXPECT_EQ(line("1024 256 float sum -1"), "all_reduce.log:3: the line ends after 5 columns");
    EXPECT_EQ(line("1024"), "all_reduce.log:3: the line ends after 1 column");
    EXPECT_THAT(line("1024 256 float sum -1host:1:2 [0] NCCL"), HasSubstr("all_reduce.log:3"));
    for (const std::string time : {"0.00", "-9.5", "nan", "inf", "-nan", "9.5us", "1e11"})
    {
        EXPECT_THAT(line("1024 256 float sum -1 " + time + " 0.11 0.20 0"),
                    HasSubstr("all_reduce.log:3 time: '" + time + "'"));
    }
    EXPECT_THAT(line("1024 -2 float sum -1 9.5 0.11 0.20 0"), HasSubstr(":3 count: '-2'"));
    EXPECT_THAT(line("99999999999999999999 2 float sum -1 9.5 0.11 0.20 0"), HasSubstr(":3 size"));
    EXPECT_THAT(line("1024 256 float sum -1 9.5 0.11 0.20 0\n1024 512 half sum -1 9 0.1 0.2 0"),
                HasSubstr("all_reduce.log:4: the size 1024 is there a second time, after "
                          "all_reduce.log:3"));
    for (const std::string wrong : {"1", "3", "1e+06"})
    {
        EXPECT_EQ(line("1024 256 float sum -1 9.5 0.11 0.20 " + wrong),
                  "all_reduce.log:3 #wrong: " + wrong + " elements came out wrong");
        // In place, the second of both columns, and of a log that lost its '#'.
        EXPECT_EQ(Refusal(Replaced(g_new, "16.34       0", "16.34  " + wrong)),
                  "all_reduce.log:15 #wrong: " + wrong + " elements came out wrong");
        std::string bare = Replaced(g_new, "15.65       0", "15.65  " + wrong);
        bare.erase(std::remove(bare.begin(), bare.end(), '#'), bare.end());
        EXPECT_EQ(Refusal(bare), "all_reduce.log:15 #wrong: " + wrong + " elements came out wrong");
    }
    for (const std::string unchecked : {"0", "N/A", "0e+00"})
    {
        EXPECT_EQ(line("1024 256 float sum -1 9.5 0.11 0.20 " + unchecked), "");
    }
    EXPECT_THAT(line("1024 256 float sum -1 9.5 0.11 0.20 -1"), HasSubstr(":3 #wrong: '-1'"));
    EXPECT_THAT(line("1024 256 float sum -1 9.5 0.11 0.20 none"), HasSubstr(":3 #wrong: 'none'"));
    EXPECT_THAT(Refusal(head + "1024 256 float sum -1 9.5 0.11 0.20 0\n" + head),
                HasSubstr("all_reduce.log:5: a second table begins; the first one is at "
                          "all_reduce.log:2"));
    EXPECT_THAT(Refusal("# size count type redop root cputime algbw busbw #wrong\n"),
                HasSubstr("all_reduce.log:1: the table has no column time"));
    EXPECT_THAT(Refusal(Replaced(g_new, "all_gather_perf", "broadcast_perf")),
                HasSubstr("all_reduce.log:2: 'broadcast_perf' does no operation"));
    EXPECT_THAT(Refusal(Replaced(g_new, "Rank  3", "Rank  0")),
                HasSubstr("all_reduce.log:9: rank 0 is listed a second time"));
}

// nccl-tests 2.9.0: alltoall has a column redop and nothing in it, and results in place that are
// none.
TEST(NcclLog, AllToAllOfOldReleasesHasABlankColumn)
{
    const std::string text =
        "#       size         count      type   redop     time   algbw   busbw  error     time   "
        "algbw   busbw  error\n"
        "   268435456       1048576     float           520935    0.52    0.51  0e+00   519562    "
        "0.52    0.51  1e+00\n"
        "   536870912       2097152     float          1041974    0.52    0.51  0e+00  1041299    "
        "0.52    0.51  1e+00\n";
    const NcclLog log = ParseNcclLog(text, "alltoall.log");
    ASSERT_EQ(log.sizes.size(), 2U);
    EXPECT_EQ(log.sizes[0].us, 520935);
    EXPECT_EQ(log.sizes[1].us, 1041974);
    // Nothing says what it is of: that is asked for first.
    EXPECT_EQ(ParseNcclLog(text, "some.log").sizes.size(), 2U);
    EXPECT_EQ(Refusal(text, "all_reduce.log"),
              "all_reduce.log:2 error: results differ by 1e+00 of the right ones");
}

// A tag at every write rather than at every line: nccl-tests writes a line in three parts.
TEST(NcclLog, TagsWithinALineAreTakenOut)
{
    const std::string head =
        "[0] # nThread 1 nGpus 1 minBytes 1048576 maxBytes 8388608 step: 2(factor)\n"
        "[0] #       size         count      type   redop    root     time   algbw   busbw #wrong  "
        "   "
        "time   algbw   busbw #wrong\n";
    const std::string line = "     1048576        262144     float     sum      -1[0]    1626.5    "
                             "0.64    1.24      0[0]    2302.3    0.46    0.87      0\n";
    const NcclLog log = ParseNcclLog(head + "[0] " + line, "all_reduce.log");
    ASSERT_EQ(log.sizes.size(), 1U);
    EXPECT_EQ(log.sizes[0].us, 1626.5);
    // Of another tag, or without one in front, nobody knows what it belongs to.
    for (const std::string tag : {"", "[1] ", "0: "})
    {
        EXPECT_EQ(Refusal(head + tag + line),
                  "all_reduce.log:3 root: '-1[0]' is no value of this column")
            << tag;
    }
    EXPECT_EQ(Refusal("0: # size count type redop root time algbw busbw #wrong\n"
                      "0: 1024 256 float sum -1 0: 9.5 0.11 0.20 0: 0\n"),
              "all_reduce.log:2 time: '0:' is no value of this column");
}

TEST(NcclLog, ListsThatAreNotWholeAreRefused)
{
    const auto without = [](const std::string& rank) {
        const std::string text = g_new;
        const size_t at = text.find("#  Rank  " + rank);
        return std::string(text).erase(at, text.find('\n', at) + 1 - at);
    };
    EXPECT_EQ(Refusal(without("1"), "x"),
              "x:6: the list of devices is not whole: it has rank 3, and none of rank 1");
    EXPECT_EQ(
        Refusal(Replaced(g_new, "nGpus 1", "nGpus 2"), "x"),
        "x:6: the list of devices is not whole: process 4711 on alpha00 has 1 rank in it, and "
        "2 by x:3");
    // Where nccl-tests has no more room for a process's it says so.
    EXPECT_EQ(Refusal(Replaced(g_new, "NVIDIA H100 80GB HBM3\n#\n", "NVIDIA H1...\n#\n"), "x"),
              "x:9: the list of devices is not whole: nccl-tests had no room for the rest of a "
              "process's");
    EXPECT_EQ(Refusal(g_new, "x"), "");
}

// Bandwidths of nccl-tests' own definition: 1 GiB in 8000 us are 134.218 GB/s, times 1.75 for an
// all-reduce of 8 ranks and 0.875 for an all-gather. 9 ranks would have 238.61.
TEST(NcclLog, BandwidthsTellRanks)
{
    const auto log = [](const std::string& bandwidths) {
        return ParseNcclLog("# size count type redop root time algbw busbw #wrong\n"
                            "1073741824 268435456 float sum -1 8000 " +
                                bandwidths + " 0\n",
                            "x");
    };
    const auto ranks = [](const NcclLog& one, CollectiveOp op) {
        const auto range = RanksByBandwidth(one, op);
        return range ? std::to_string(range->least) + " to " + std::to_string(range->most)
                     : std::string("not known");
    };
    EXPECT_EQ(ranks(log("134.22 234.88"), CollectiveOp::AllReduce), "8 to 8");
    EXPECT_EQ(ranks(log("134.22 117.44"), CollectiveOp::AllGather), "8 to 8");
    EXPECT_EQ(ranks(log("134.22 0.00"), CollectiveOp::AllReduce), "1 to 1");
    // (n-1)/n = 1 within the rounding of 8000, 1 in 16,000.
    EXPECT_THAT(ranks(log("134.22 134.22"), CollectiveOp::AllGather), HasSubstr(" to 0"));
    EXPECT_EQ(ranks(log("134.22 134.22"), CollectiveOp::SendReceive), "not known");
    // Of columns that are not size / time nothing is known.
    EXPECT_EQ(ranks(log("1 1"), CollectiveOp::AllReduce), "not known");
}

// A factor of 0.875 is 7/8, or an all-reduce of 2 / (2 - 0.875) = 1.78 ranks; 1.75 is above what
// any number gives but for an all-reduce; and 1 / 134.2 = 0.00745 would be 1.0037 ranks.
TEST(NcclLog, BandwidthsOfAnotherOperationAreRefused)
{
    const auto problem = [](const std::string& lines, CollectiveOp op) {
        const NcclLog log =
            ParseNcclLog("# size count type redop root time algbw busbw #wrong\n" + lines, "x");
        try
        {
            RanksByBandwidth(log, op);
        }
        catch (const ConfigError& error)
        {
            return error.Where() + ": " + error.Problem() + "; " + error.Allowed();
        }
        return std::string();
    };
    const std::string line = "1073741824 268435456 float sum -1 8000 134.22 ";
    const std::string none = ", which no number of ranks gives; for ";
    EXPECT_EQ(problem(line + "234.88 0\n", CollectiveOp::AllGather),
              "x:2: busbw x time / size is 1.75" + none +
                  "all_gather (n-1)/n in all lines, of n ranks");
    EXPECT_EQ(problem(line + "117.44 0\n", CollectiveOp::AllReduce),
              "x:2: busbw x time / size is 0.875" + none +
                  "all_reduce 2 (n-1)/n in all lines, of n ranks");
    EXPECT_EQ(problem(line + "234.88 0\n", CollectiveOp::SendReceive),
              "x:2: busbw x time / size is 1.75" + none + "sendrecv 1 in all lines, of n ranks");
    // Lines of runs of 8 and of 4 ranks.
    EXPECT_EQ(problem(line + "234.88 0\n2147483648 536870912 float sum -1 16000 134.22 201.33 0\n",
                      CollectiveOp::AllReduce)
                  .substr(0, 48),
              "x:3: busbw x time / size is 1.5, and 1.75 at x:2");
}

TEST(NcclLog, CyclesAreNamed)
{
    const std::string line = "1024 256 float sum -1 9.5 0.11 0.20 0\n";
    EXPECT_EQ(Refusal("# size count type redop root time algbw busbw #wrong\n" + line +
                          "# Testing 2 cycle.\n" + line,
                      "x"),
              "x:4: the size 1024 is there a second time, after x:2: another cycle of -N begins at "
              "x:3");
}

// nccl-tests 2.19.6 with -J: of every process the first of its devices, here two of two.
TEST(NcclLog, JsonSaysTheSame)
{
    const std::string text =
        R"({"version":3,"start_time":"2026-01-02 03:04:05","args":["./build\/all_gather_perf"],)"
        R"("env":[],"nccl_version":22807,"config":{"nthreads":1,"ngpus":2,"devices":[)"
        R"({"rank":0,"group":0,"pid":7,"hostname":"a","device":0,"device_hex":"x","device_info":"H"},)"
        R"({"rank":2,"group":0,"pid":8,"hostname":"b","device":0,"device_hex":"x","device_info":"H"})"
        R"(]},"results":[{"size":1048576,"count":65536,"type":"float","redop":"none","root":"    -1",)"
        R"("out_of_place":{"time":50.250000,"alg_bw":20.867184,"bus_bw":15.650388,"nwrong":0.000000},)"
        R"("in_place":{"time":48.0,"alg_bw":21.8,"bus_bw":16.3,"nwrong":null},"actual_iterations":20,)"
        R"("experiment_name":"x"}],"out_of_bounds":{"count":0,"okay":"true"}})";
    const NcclLog log = ParseNcclLog(text, "x.json");
    EXPECT_EQ(log.op, CollectiveOp::AllGather);
    EXPECT_TRUE(log.opByLine);
    EXPECT_EQ(log.ranks, 4U);
    EXPECT_EQ(log.groups, 1U);
    EXPECT_EQ(log.servers, 2U);
    ASSERT_EQ(log.sizes.size(), 1U);
    EXPECT_EQ(log.sizes[0].us, 50.25);
    EXPECT_EQ(log.sizes[0].count, 65536U);
    const auto range = RanksByBandwidth(log, CollectiveOp::AllGather);
    ASSERT_TRUE(range.has_value());
    EXPECT_EQ(range->least, 4U);
    EXPECT_EQ(range->most, 4U);
    EXPECT_EQ(Refusal(Replaced(text, "\"nwrong\":0.0", "\"nwrong\":2.0"), "x.json"),
              "x.json results[0] #wrong: 2 elements came out wrong");
    EXPECT_EQ(Refusal(Replaced(text, "\"time\":50", "\"cpu_time\":50"), "x.json"),
              "x.json results[0] out_of_place: it has cpu_time in place of time");
    EXPECT_EQ(Refusal(Replaced(text, "all_gather", "broadcast"), "x.json"),
              "x.json args: './build/broadcast_perf' does no operation that is modelled");
    EXPECT_EQ(Refusal(Replaced(text, "\"results\"", "\"rows\""), "x.json"),
              "x.json: the JSON has no results");
    EXPECT_EQ(Refusal(Replaced(Replaced(text, "\"results\":[", "\"results\":{\"a\":["),
                               "}],\"out_of",
                               "}]},\"out_of"),
                      "x.json"),
              "x.json results: it is no list");
    EXPECT_EQ(Refusal(Replaced(Replaced(text, "\"devices\":[", "\"devices\":{\"a\":["),
                               "]},\"results",
                               "]}},\"results"),
                      "x.json"),
              "x.json config devices: it is no list");
    EXPECT_EQ(Refusal(Replaced(text, "\"nthreads\":1", "\"nthreads\":4294967295"), "x.json"),
              "x.json config nthreads: '4294967295' is above 32768");
    EXPECT_EQ(Refusal(Replaced(text, "\"nthreads\":1", "\"nthreads\":20000"), "x.json"),
              "x.json config nthreads: times ngpus are 40000 GPUs of a process, above 32768");
    EXPECT_EQ(Refusal(Replaced(text, "\"rank\":2", "\"rank\":4294967296"), "x.json"),
              "x.json config devices[1] rank: '4294967296' is above 1073741824");
    EXPECT_EQ(Refusal(text.substr(0, 300), "x.json").substr(0, 39),
              "x.json: the JSON ends or breaks at byte");
}

TEST(NcclLog, WordsOfNcclTestsAreTaken)
{
    for (const auto& [word, op] : {std::pair("alltoall", CollectiveOp::AllToAll),
                                   {"alltoall_perf", CollectiveOp::AllToAll},
                                   {"all_to_all", CollectiveOp::AllToAll},
                                   {"all_reduce_perf", CollectiveOp::AllReduce},
                                   {"./build/all_gather_perf", CollectiveOp::AllGather},
                                   {"reduce_scatter", CollectiveOp::ReduceScatter},
                                   {"sendrecv_perf", CollectiveOp::SendReceive},
                                   {"/opt/all_reduce_perf_mpi", CollectiveOp::AllReduce},
                                   {"dispatch", CollectiveOp::Dispatch}})
    {
        EXPECT_EQ(ParseCollectiveOp("--op", word), op) << word;
    }
    const auto problem = [](const std::string& word) {
        try
        {
            ParseCollectiveOp("--op", word);
        }
        catch (const ConfigError& error)
        {
            EXPECT_NE(error.Remedy(), "") << word;
            return error.Problem();
        }
        return std::string();
    };
    // Every other program that nccl-tests 2.19.6 builds.
    for (const std::string word :
         {"broadcast", "gather", "scatter", "reduce", "hypercube", "alltoallv", "reduce_perf"})
    {
        EXPECT_EQ(problem(word),
                  "'" + word + "' is an operation of nccl-tests that is not modelled");
    }
    EXPECT_EQ(problem("allreduce"), "'allreduce' is not known");
    EXPECT_EQ(problem(""), "'' is not known");
}

TEST(NcclLog, FilesThatAreNone)
{
    const TemporaryFolder folder;
    const auto refused = [](const std::string& path) {
        try
        {
            ReadNcclLog(path);
        }
        catch (const ConfigError& error)
        {
            EXPECT_THAT(error.Remedy(), HasSubstr("--like takes"));
            return error.Problem();
        }
        return std::string();
    };
    EXPECT_EQ(refused(folder.Write("empty.log", "")), "the file is empty");
    EXPECT_EQ(refused(folder.Of("none.log")), "there is no such file");
    EXPECT_EQ(refused(folder.Of("")), "is a directory");
    // What NCCL says of itself may be many times the table.
    std::string text;
    while (text.size() < 2U << 20)
    {
        text += "host:20841:20901 [1] NCCL INFO Channel 00/32 : 0 1 2 3\n";
    }
    EXPECT_EQ(ReadNcclLog(folder.Write("all_reduce.log", text + g_old)).sizes.size(), 2U);
}

} // namespace scaleacross
