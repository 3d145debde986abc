// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_PROGRAM_H
#define SCALEACROSS_TESTS_PROGRAM_H

#include "../temporary-folder.h"
#include "places.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <sys/wait.h>

namespace scaleacross
{

/// What a call of the program gave.
struct Call
{
    int code{0};
    std::string out;
    std::string err;
};

/// A test with a folder of its own, in which it calls the program.
class ProgramTest : public testing::Test
{
  protected:
    /// Calls `scaleacross ARGUMENTS` with the shell, in the test's folder.
    Call Run(const std::string& arguments) const
    {
        const std::string command = "cd '" + folder.string() + "' && '" + ProgramPath() +
                                    "' </dev/null " + arguments + " >.out 2>.err";
        const int status = std::system(command.c_str());
        Call call;
        call.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        call.out = Read(".out");
        call.err = Read(".err");
        std::filesystem::remove(folder / ".out");
        std::filesystem::remove(folder / ".err");
        return call;
    }

    /// As Run(), expecting success and JSON.
    nlohmann::json RunJson(const std::string& arguments) const
    {
        const Call call = Run(arguments + " --json");
        EXPECT_EQ(call.code, 0) << call.err;
        EXPECT_EQ(call.err, "");
        const auto json = nlohmann::json::parse(call.out, nullptr, false);
        EXPECT_FALSE(json.is_discarded()) << call.out;
        return json;
    }

    /// What the shell of SQLite prints for a statement on a database in the test's folder.
    std::string Sql(const std::string& database, const std::string& statement) const
    {
        const std::string command = "cd '" + folder.string() + "' && sqlite3 '" + database +
                                    "' \"" + statement + "\" >.out 2>&1 </dev/null";
        EXPECT_EQ(std::system(command.c_str()), 0) << statement;
        std::string text = Read(".out");
        std::filesystem::remove(folder / ".out");
        text.erase(text.find_last_not_of('\n') + 1);
        return text;
    }

    std::string Read(const std::string& name) const
    {
        std::ifstream file(folder / name);
        std::stringstream text;
        text << file.rdbuf();
        return text.str();
    }

    /// What a page of the documentation shows as printed: its indented lines, without the indent.
    static std::string PrintedOn(const std::string& page)
    {
        std::ifstream file(SourcePath("contrib/scaleacross/doc/") + page);
        std::string printed;
        for (std::string line; std::getline(file, line);)
        {
            printed +=
                line.rfind("    ", 0) == 0 ? line.substr(4) + "\n" : (line.empty() ? "\n" : "");
        }
        return printed;
    }

    void Write(const std::string& name, const std::string& text) const
    {
        std::ofstream(folder / name, std::ios::binary) << text;
    }

    /// Names of the files in the test's folder.
    std::vector<std::string> Files() const
    {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder))
        {
            names.push_back(entry.path().filename().string());
        }
        std::sort(names.begin(), names.end());
        return names;
    }

  private:
    TemporaryFolder m_temporary;

  protected:
    const std::filesystem::path folder{m_temporary.Path()};
};

/// A study of 16 GPUs in two buildings whose plans take well under a millisecond each.
inline const char* const g_smallStudy = R"yaml(study: small
model: {name: tiny, layers: 4, hidden: 512, heads: 8, head_dim: 64, dense_ffn: 2048, vocabulary: 4096}
workload: {sequence: 512, global_batch: 16}
cluster:
  buildings: {count: 2, gpus: 8, gpus_per_node: 4, gpu: h100, fabric: {rails: true, spines: 2}}
  cross: {distance: 10km, oversubscription: 4}
plan: {tp: 4, pp: 2, crossing: dp, sharding: hsdp, schedule: 1f1b}
search:
  plan: {tp: [2, 4], pp: [1, 2], crossing: [dp, pp], sharding: [fsdp, hsdp]}
baselines: [production, megatron]
)yaml";

/// 16 GPUs in two buildings and one plan: two stages, one in each, and one microbatch of each of
/// the two replicas. Nothing overlaps: an iteration sends activations over the span, waits, and
/// gets their gradients back over it, which is the slowest on their way.
///
/// Each of the 8 ranks of a stage sends 512 tokens x 512 x 2 bytes / tp 4 = 131,072 bytes: 32
/// packets of 4,096 + 82, and gets 8 ACKs of 86 for as many that come the other way. So the span
/// carries 8 x (32 x 4,178 + 8 x 86) bytes to either side, one after the other.
inline const char* const g_thinSpanStudy = R"yaml(study: thin
model: {name: tiny, layers: 4, hidden: 512, heads: 8, head_dim: 64, dense_ffn: 2048, vocabulary: 4096}
workload: {sequence: 512, global_batch: 2}
cluster:
  buildings: {count: 2, gpus: 8, gpus_per_node: 4, gpu: h100, fabric: {rails: true, spines: 1}}
  cross: {distance: 10km, capacity: 20Gbps}
plan: {tp: 4, pp: 2, crossing: pp, sharding: ddp, schedule: gpipe}
search: {}
)yaml";

/// The beginning of a study of a small model on two small buildings, of which searches in tests
/// have many plans; `search` follows.
inline const std::string g_smallPair =
    R"yaml(model: {name: tiny, layers: 16, hidden: 512, heads: 8, head_dim: 64, dense_ffn: 2048, vocabulary: 4096}
workload: {sequence: 512, global_batch: 128}
cluster:
  buildings: {count: 2, gpus: 16, gpus_per_node: 4, gpu: h100, fabric: {rails: true, spines: 2}}
  cross: {distance: 10km, oversubscription: 4}
plan: {tp: 4, pp: 2}
)yaml";

/// Bits that an iteration of g_thinSpanStudy sends over the span, one after the other.
constexpr double g_thinSpanBits = 2.0 * 8 * (32 * 4178 + 8 * 86) * 8;

/// Some hundred plans of a real model on 4,096 GPUs: about a second or more for the analytical
/// engine, many times what it takes to see the first rows.
inline const char* const g_longStudy = R"yaml(study: many
model: llama3-70b
workload: {sequence: 8192, global_batch: 2048}
cluster:
  buildings: {count: 2, gpus: 2048, gpu: h100, fabric: {spines: 16}}
  cross: {distance: 30km, oversubscription: 4}
plan: {tp: 8, pp: 4}
search:
  plan:
    tp: [4, 8]
    pp: [2, 4, 8, 16]
    crossing: [dp, pp]
    sharding: [fsdp, hsdp]
    reshard: [true, false]
    schedule: [1f1b, interleaved, zb-h1]
    chunks: [1, 2, 5]
    recompute: [selective, full]
)yaml";

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_PROGRAM_H
