// SPDX-License-Identifier: GPL-2.0-only

// Random logs in the layout of every release of nccl-tests, by its source (src/common.cu,
// src/util.cu and the source of each operation, tags v1.0.0 to v2.19.6 of
// github.com/NVIDIA/nccl-tests, and ROCm/rccl-tests of 2024-09-10), with what launchers put in
// front of lines. The generator knows what is to be read.

#include "core/base/errors.h"
#include "core/io/nccl-log.h"

#include <cmath>
#include <cstdlib>
#include <fmt/core.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;
using Random = std::mt19937_64;

uint32_t
Draw(Random& random, uint32_t least, uint32_t most)
{
    return std::uniform_int_distribution<uint32_t>(least, most)(random);
}

/// How a release prints.
struct Release
{
    std::string name;
    bool milliseconds{false}; //!< 1.0: bytes N ... res
    bool columnsByOp{false};  //!< without columns that an operation does not need
    bool noneForBlank{true};
    std::string wrong{"#wrong"};
    bool namesProgram{false};
    bool groups{false};
    bool processes{true};
    bool timestamps{false};
    bool perIteration{false};
    bool inPlaceOnly{false};
};

const std::vector<Release>&
Releases()
{
    static const std::vector<Release> releases = [] {
        Release one{"1.0.0", true, true, false, "res"};
        one.processes = false;
        const Release two{"2.0.0", false, true, false, "error"};
        const Release eleven{"2.11.0", false, true, false, "error"};
        const Release blank{"2.13.0", false, false, false};
        Release groups{"2.13.4"};
        groups.groups = true;
        Release latest{"2.19.6"};
        latest.groups = latest.namesProgram = true;
        Release stamps = latest;
        stamps.name = "2.17.6 -S 1";
        stamps.timestamps = true;
        Release iterations = latest;
        iterations.name = "2.19.6 -I 1";
        iterations.perIteration = true;
        Release both = iterations;
        both.name = "2.19.6 -I 1 -S 1";
        both.timestamps = true;
        const Release rccl{"rccl-tests"};
        Release inPlace{"rccl-tests -O 0"};
        inPlace.inPlaceOnly = true;
        return std::vector<Release>{one,
                                    two,
                                    eleven,
                                    blank,
                                    groups,
                                    latest,
                                    stamps,
                                    iterations,
                                    both,
                                    rccl,
                                    inPlace};
    }();
    return releases;
}

struct Operation
{
    CollectiveOp op;
    std::string program;
    bool reduces; //!< has a redop
    bool divides; //!< a rank's count is a part of the size
};

const std::vector<Operation>&
Operations()
{
    static const std::vector<Operation> operations = {
        {CollectiveOp::AllReduce, "all_reduce", true, false},
        {CollectiveOp::AllGather, "all_gather", false, true},
        {CollectiveOp::ReduceScatter, "reduce_scatter", true, true},
        {CollectiveOp::AllToAll, "alltoall", false, true},
        {CollectiveOp::SendReceive, "sendrecv", true, false}};
    return operations;
}

/// What stands in front of a write, of the so manieth line.
struct Launcher
{
    std::string name;
    std::function<std::string(uint32_t)> tag;
    bool everyWrite{false}; //!< of which nccl-tests has three in the line of a size
};

const std::vector<Launcher>&
Launchers()
{
    const auto always = [](const std::string& tag) { return [tag](uint32_t) { return tag; }; };
    const auto at = [](const std::string& format) {
        return [format](uint32_t line) {
            return fmt::format(fmt::runtime(format), line / 60 % 60, line % 60);
        };
    };
    static const std::vector<Launcher> launchers = {
        {"none", always("")},
        {"Open MPI --tag-output", always("[1,0]<stdout>:")},
        {"Open MPI 5", always("[prterun-alpha-4711@1,0]<stdout>: ")},
        {"Open MPI --timestamp-output", at("Fri Jan  2 03:{:02}:{:02} 2026<stdout>:")},
        {"Hydra -prepend-rank", always("[0] ")},
        {"Hydra by write", always("[0] "), true},
        {"Open MPI by write", always("[1,0]<stdout>:"), true},
        {"srun --label", always("0: ")},
        {"srun --label of many", always("  0: ")},
        {"pod", always("nccl-launcher-7d9f: ")},
        {"kubectl --prefix", always("[pod/nccl-launcher-7d9f/main] ")},
        {"compose", always("worker-1  | ")},
        {"torchrun", always("[default0]:")},
        {"date and time", at("2026-01-02 03:{:02}:{:02} ")},
        {"ISO", at("2026-01-02T03:{:02}:{:02}.123456789Z ")},
        {"bracketed time", at("[2026-01-02 03:{:02}:{:02}] ")},
        {"time and rank", at("2026-01-02 03:{:02}:{:02},123 INFO [0] ")},
        {"syslog", at("Jan  2 03:{:02}:{:02} alpha nccl[4711]: ")},
        {"colours", always("\x1b[36mworker-1\x1b[0m ")},
        {"mail", always("> ")},
        {"seconds", [](uint32_t line) { return fmt::format("{}.{:06} ", line, line * 7919); }}};
    return launchers;
}

/// A number as nccl-tests fits it into a column.
std::string
Fit(double value)
{
    return fmt::format("{:.{}f}", value, value >= 10000 ? 0 : value >= 100 ? 1 : 2);
}

/// A log, and what it says.
struct Drawn
{
    std::string text;
    NcclLog expected;
};

class Writer
{
  public:
    Writer(Random& random, const Release& release, const Operation& op, const Launcher& launcher)
        : m_random(random),
          m_release(release),
          m_op(op),
          m_launcher(launcher)
    {
    }

    Drawn Write()
    {
        m_threads = Draw(m_random, 1, 2);
        m_gpus = Draw(m_random, 1, 4);
        m_processes = Draw(m_random, 1, 5);
        Head();
        Noise();
        Devices();
        Noise();
        Columns();
        uint64_t elements = 64;
        for (uint32_t i = Draw(m_random, 1, 6); i > 0; i--)
        {
            Size(elements * m_drawn.expected.ranks);
            Noise();
            elements *= Draw(m_random, 2, 64);
        }
        Line({fmt::format("# Out of bounds values : 0 OK")});
        Line({fmt::format("# Avg bus bandwidth    : 13.895 ")});
        Line({"#"});
        return std::move(m_drawn);
    }

  private:
    /// A line, in the writes that it is made of.
    void Line(const std::vector<std::string>& writes)
    {
        for (size_t i = 0; i < writes.size(); i++)
        {
            m_drawn.text +=
                (i == 0 || m_launcher.everyWrite ? m_launcher.tag(m_line) : "") + writes[i];
        }
        m_drawn.text += "\n";
        m_line++;
    }

    void Noise()
    {
        const std::vector<std::string> lines = {
            "",
            "#",
            "alpha00:4711:4711 [0] NCCL INFO Channel 00/32 : 0 1 2 3",
            "NCCL version 2.21.5+cuda12.4",
            "alpha00:4711:4799 [1] NCCL INFO comm 0x55 rank 1 nranks 8 cudaDev 1 nvmlDev 1",
            "# Reducing maxBytes to 4294967296 due to memory limitation"};
        for (uint32_t i = Draw(m_random, 0, 2); i > 0; i--)
        {
            Line({lines[Draw(m_random, 0, static_cast<uint32_t>(lines.size()) - 1)]});
        }
    }

    void Head()
    {
        if (m_release.namesProgram)
        {
            Line({"# nccl-tests version 2.19.6 nccl-headers=22807 nccl-library=22807"});
            Line({"# Collective test starting: ./build/" + m_op.program + "_perf"});
            m_drawn.expected.op = m_op.op;
        }
        Line({fmt::format("{}nThread {} nGpus {} minBytes 8 maxBytes 64 step: 2(factor) warmup "
                          "iters: 5 iters: 20 validation: 1 ",
                          m_release.milliseconds ? "" : "# ",
                          m_threads,
                          m_gpus)});
        Line({"# Using devices"});
    }

    void Devices()
    {
        const uint32_t each = m_threads * m_gpus;
        m_drawn.expected.ranks = m_processes * each;
        m_drawn.expected.groups = 1;
        m_drawn.expected.servers = (m_processes + 1) / 2;
        for (uint32_t rank = 0; rank < m_drawn.expected.ranks; rank++)
        {
            const uint32_t process = rank / each;
            Line({fmt::format("#  Rank {:2}{}{} on {:>10} device {:2} [0x1b] NVIDIA H100 80GB",
                              rank,
                              m_release.groups ? " Group  0" : "",
                              m_release.processes ? fmt::format(" Pid {:6}", 4711 + process) : "",
                              fmt::format("alpha{:02}", process / 2),
                              rank % each)});
        }
    }

    bool HasRedop() const
    {
        // Of the programs with columns by operation alltoall has one that stays blank, and sendrecv
        // none.
        return !m_release.columnsByOp ||
               (m_op.op != CollectiveOp::AllGather && m_op.op != CollectiveOp::SendReceive);
    }

    void Columns()
    {
        std::string head = m_release.milliseconds ? "#      bytes             N    type"
                                                  : "#       size         count      type";
        head += !HasRedop() ? "" : m_release.milliseconds ? "      op" : "   redop";
        head += m_release.columnsByOp ? "" : "    root";
        for (int way = m_release.inPlaceOnly ? 1 : 0; way < 2; way++)
        {
            head += "     time   algbw   busbw  " + m_release.wrong;
            head += m_release.perIteration ? "    i_min    i_max    i_p99    i_cv%" : "";
        }
        Line({"#                                   out-of-place                       in-place"});
        Line({head + (m_release.timestamps ? "           timestamp" : "")});
        if (!m_release.milliseconds)
        {
            Line({"#        (B)    (elements)                               (us)  (GB/s)  (GB/s)"});
        }
    }

    std::string Times(double us, uint64_t bytes, bool inPlace)
    {
        const uint32_t n = m_drawn.expected.ranks;
        const double seconds = us * 1e-6;
        double algbw = static_cast<double>(bytes) / 1e9 / seconds;
        const double busbw = algbw * BusFactor(m_op.op, n);
        // 1.0 and 2.0 counted what came in from others.
        if ((m_release.name == "1.0.0" || m_release.name == "2.0.0") &&
            (m_op.op == CollectiveOp::AllGather || m_op.op == CollectiveOp::ReduceScatter))
        {
            algbw = busbw;
        }
        std::string right = Draw(m_random, 0, 1) == 0                 ? "N/A"
                            : m_release.wrong == "#wrong"             ? "0"
                            : m_op.reduces && n > 1 && bytes % 3 == 0 ? "2e-07"
                                                                      : "0e+00";
        // nccl-tests has no all-to-all in place, and older releases say what comes of it.
        if (inPlace && m_op.op == CollectiveOp::AllToAll && !m_release.noneForBlank)
        {
            right = "1e+00";
        }
        std::string text =
            fmt::format("  {:>7}  {:>6}  {:>6}  {:>5}",
                        m_release.milliseconds ? fmt::format("{:.3f}", us / 1e3) : Fit(us),
                        fmt::format("{:.2f}", algbw),
                        fmt::format("{:.2f}", busbw),
                        right);
        return text + (m_release.perIteration ? "     9.50    12.50    12.10     3.21" : "");
    }

    void Size(uint64_t elements)
    {
        const uint64_t bytes = 4 * elements;
        // Neither of which is rounded in the column.
        const double us = Draw(m_random, 10, 99) + Draw(m_random, 0, 99) / 100.0;
        const double time = m_release.milliseconds ? us * 1e3 : us;
        const uint64_t count = m_op.divides ? elements / m_drawn.expected.ranks : elements;
        std::string line = fmt::format("{:12}  {:12}  {:>8}", bytes, count, "float");
        line += !HasRedop()              ? ""
                : m_op.reduces           ? "     sum"
                : m_release.noneForBlank ? "    none"
                                         : "        ";
        line += m_release.columnsByOp ? "" : "      -1";
        const std::string stamp = m_release.timestamps ? "  2026-01-02 03:04:05" : "";
        if (m_release.inPlaceOnly)
        {
            Line({line, Times(time, bytes, true) + stamp});
        }
        else
        {
            Line({line, Times(time, bytes, false), Times(2 * time, bytes, true) + stamp});
        }
        MeasuredSize size;
        size.bytes = Bytes(bytes);
        size.count = count;
        size.us = time;
        m_drawn.expected.sizes.push_back(std::move(size));
    }

    Random& m_random;
    const Release& m_release;
    const Operation& m_op;
    const Launcher& m_launcher;
    uint32_t m_threads{1};
    uint32_t m_gpus{1};
    uint32_t m_processes{1};
    uint32_t m_line{0};
    Drawn m_drawn;
};

void
ExpectRead(const Drawn& drawn, const Operation& op)
{
    const NcclLog log = ParseNcclLog(drawn.text, op.program + ".log");
    EXPECT_EQ(log.op, op.op);
    EXPECT_EQ(log.opByLine, drawn.expected.op.has_value());
    EXPECT_EQ(log.ranks, drawn.expected.ranks);
    EXPECT_EQ(log.groups, drawn.expected.groups);
    EXPECT_EQ(log.servers, drawn.expected.servers);
    ASSERT_EQ(log.sizes.size(), drawn.expected.sizes.size());
    for (size_t i = 0; i < log.sizes.size(); i++)
    {
        EXPECT_EQ(log.sizes[i].bytes, drawn.expected.sizes[i].bytes);
        EXPECT_EQ(log.sizes[i].count, drawn.expected.sizes[i].count);
        EXPECT_EQ(log.sizes[i].type, "float");
        EXPECT_NEAR(log.sizes[i].us, drawn.expected.sizes[i].us, 1e-6);
    }
    // What bandwidths say of the number of ranks holds.
    if (const auto range = RanksByBandwidth(log, op.op))
    {
        EXPECT_LE(range->least, log.ranks);
        EXPECT_TRUE(range->most == 0 || range->most >= log.ranks) << range->most;
    }
}

uint64_t
Draws()
{
    const char* draws = std::getenv("SCALEACROSS_DRAWS");
    return draws == nullptr ? 4 : std::strtoull(draws, nullptr, 10);
}

} // namespace

TEST(NcclFormats, EveryReleaseOperationAndLauncherIsRead)
{
    Random random(20260102);
    for (uint64_t draw = 0; draw < Draws(); draw++)
    {
        for (const Release& release : Releases())
        {
            for (const Operation& op : Operations())
            {
                for (const Launcher& launcher : Launchers())
                {
                    const Drawn drawn = Writer(random, release, op, launcher).Write();
                    SCOPED_TRACE(release.name + ", " + op.program + ", " + launcher.name + ":\n" +
                                 drawn.text);
                    ASSERT_NO_THROW(ExpectRead(drawn, op));
                    ASSERT_FALSE(testing::Test::HasFailure());
                }
            }
        }
    }
}

// A line that is cut anywhere behind its first column is refused, or has all that is used of it,
// whatever stands in front.
TEST(NcclFormats, CutLinesAreNeverReadAsOthers)
{
    Random random(7);
    uint32_t refused = 0;
    for (const Release& release : Releases())
    {
        for (const Operation& op : Operations())
        {
            for (const Launcher& launcher : Launchers())
            {
                const Drawn drawn = Writer(random, release, op, launcher).Write();
                const size_t tail = drawn.text.rfind("# Out of bounds");
                const size_t end = drawn.text.rfind(" float", tail) + 6;
                const size_t line = drawn.text.rfind('\n', end) + 1;
                const size_t at =
                    end + Draw(random, 0, static_cast<uint32_t>(drawn.text.find('\n', end) - end));
                SCOPED_TRACE(release.name + ", " + op.program + ", " + launcher.name + ": " +
                             drawn.text.substr(line, at - line));
                try
                {
                    const NcclLog log =
                        ParseNcclLog(drawn.text.substr(0, at) + "\n", op.program + ".log");
                    ASSERT_EQ(log.sizes.size(), drawn.expected.sizes.size());
                    EXPECT_NEAR(log.sizes.back().us, drawn.expected.sizes.back().us, 1e-6);
                }
                catch (const ConfigError& error)
                {
                    refused++;
                    const auto lines = std::count(drawn.text.begin(),
                                                  drawn.text.begin() + static_cast<ptrdiff_t>(at),
                                                  '\n');
                    EXPECT_THAT(error.Where(),
                                HasSubstr(op.program + ".log:" + std::to_string(lines + 1)));
                    EXPECT_NE(error.Remedy(), "");
                }
            }
        }
    }
    // The last column is the one that may be cut and still be read.
    EXPECT_GT(refused, 800U);
}

} // namespace scaleacross
