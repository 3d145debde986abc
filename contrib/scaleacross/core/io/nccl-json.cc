// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/nccl-json.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/nccl-ranks.h"
#include "core/io/nccl-tests-words.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace scaleacross
{

namespace
{

using Json = nlohmann::json;

constexpr uint64_t kMostOfProcess = 1U << 15; //!< threads and GPUs, as in the lines of a log

constexpr const char* g_allowed = "what nccl-tests 2.17.3 or newer writes with -J";

[[noreturn]] void
Fail(const std::string& where, const std::string& problem)
{
    throw ConfigError(where,
                      problem,
                      g_allowed,
                      "give that file as it was written, or what the program has printed");
}

/// A member of an object.
const Json&
Member(const Json& json, const char* key, const std::string& where)
{
    if (!json.is_object() || !json.contains(key))
    {
        Fail(where, std::string("the JSON has no ") + key);
    }
    return json.at(key);
}

/// A member that is a list.
const Json&
List(const Json& json, const char* key, const std::string& where)
{
    const Json& member = Member(json, key, where);
    if (!member.is_array())
    {
        Fail(where + " " + key, "it is no list");
    }
    return member;
}

uint64_t
Whole(const Json& json, const char* key, const std::string& where, uint64_t most = UINT64_MAX)
{
    const Json& member = Member(json, key, where);
    if (!member.is_number_unsigned())
    {
        Fail(where + " " + key, Quoted(member.dump()) + " is no whole number");
    }
    const auto value = member.get<uint64_t>();
    if (value > most)
    {
        Fail(where + " " + key, Quoted(member.dump()) + " is above " + std::to_string(most));
    }
    return value;
}

std::string
Text(const Json& json, const char* key, const std::string& where)
{
    const Json& member = Member(json, key, where);
    if (!member.is_string())
    {
        Fail(where + " " + key, Quoted(member.dump()) + " is no text");
    }
    return member.get<std::string>();
}

/// A number as nccl-tests writes it: with six decimals, or as "nan".
std::string
Number(const Json& json, const char* key, const std::string& where)
{
    const Json& member = Member(json, key, where);
    if (member.is_number())
    {
        return std::to_string(member.get<double>());
    }
    if (member != "nan")
    {
        Fail(where + " " + key, Quoted(member.dump()) + " is no number");
    }
    return "nan";
}

/// The words that a table has of times out of place or in place.
std::vector<std::string>
TimeWords(const Json& result, const char* key, const std::string& where)
{
    const Json& times = Member(result, key, where);
    const std::string at = where + " " + key;
    if (times.is_object() && times.contains("cpu_time"))
    {
        throw ConfigError(at,
                          "it has cpu_time in place of time",
                          "time",
                          "run nccl-tests without -C, which times the CPU");
    }
    std::vector<std::string> words;
    for (const char* column : {"time", "alg_bw", "bus_bw"})
    {
        words.push_back(Number(times, column, at));
    }
    words.push_back(Member(times, "nwrong", at).is_null()
                        ? "N/A"
                        : NumberText(std::stod(Number(times, "nwrong", at))));
    return words;
}

void
ReadDevices(const Json& config, const std::string& name, NcclLog& log)
{
    const std::string at = name + " config";
    const uint64_t perProcess =
        Whole(config, "nthreads", at, kMostOfProcess) * Whole(config, "ngpus", at, kMostOfProcess);
    if (perProcess > kMostOfProcess)
    {
        Fail(at + " nthreads",
             "times ngpus are " + std::to_string(perProcess) + " GPUs of a process, above " +
                 std::to_string(kMostOfProcess));
    }
    NcclRanks ranks;
    const Json& devices = List(config, "devices", at);
    for (size_t i = 0; i < devices.size(); i++)
    {
        const std::string where = at + " devices[" + std::to_string(i) + "]";
        const Json& device = devices.at(i);
        const auto first = static_cast<uint32_t>(Whole(device, "rank", where, NcclRanks::kMost));
        // The file has the first device of every process, and no other.
        for (uint32_t rank = first; rank < first + perProcess; rank++)
        {
            ranks.Add(rank,
                      std::to_string(Whole(device, "group", where)),
                      std::to_string(Whole(device, "pid", where)),
                      Text(device, "hostname", where),
                      where);
        }
    }
    const NcclRankCounts counts = ranks.Count();
    log.ranks = counts.ranks;
    log.groups = counts.groups;
    log.servers = counts.servers;
    log.ranksAt = ranks.Where();
}

void
ReadOperation(const Json& document, const std::string& name, NcclLog& log)
{
    const Json& arguments = Member(document, "args", name);
    if (!arguments.is_array() || arguments.empty() || !arguments.at(0).is_string())
    {
        Fail(name + " args", "it does not begin with the program");
    }
    const auto word = arguments.at(0).get<std::string>();
    const NcclTestsProgram* program = FindNcclTestsProgram(word);
    if (program != nullptr && !program->op)
    {
        throw ConfigError(name + " args",
                          Quoted(word) + " does no operation that is modelled",
                          AnyOf(ModelledNcclTestsPrograms()),
                          "give the file of one of these");
    }
    // A program may have been renamed.
    if (program != nullptr)
    {
        log.op = program->op;
        log.opAt = name + " args";
        log.opByLine = true;
    }
}

} // namespace

bool
IsNcclJson(std::string_view text)
{
    const size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{';
}

NcclLog
ParseNcclJson(std::string_view text, const std::string& name)
{
    Json document;
    try
    {
        document = Json::parse(text);
    }
    catch (const Json::parse_error& error)
    {
        Fail(name, "the JSON ends or breaks at byte " + std::to_string(error.byte));
    }
    NcclLog log;
    const Json& results = List(document, "results", name);
    ReadOperation(document, name, log);
    ReadDevices(Member(document, "config", name), name, log);
    const NcclTable table({"size",
                           "count",
                           "type",
                           "redop",
                           "root",
                           "time",
                           "algbw",
                           "busbw",
                           "#wrong",
                           "time",
                           "algbw",
                           "busbw",
                           "#wrong"},
                          name + " results");
    for (size_t i = 0; i < results.size(); i++)
    {
        const std::string where = name + " results[" + std::to_string(i) + "]";
        const Json& result = results.at(i);
        const std::string redop = Text(result, "redop", where);
        std::vector<std::string> words{std::to_string(Whole(result, "size", where)),
                                       std::to_string(Whole(result, "count", where)),
                                       Text(result, "type", where),
                                       redop.empty() ? "none" : redop,
                                       Trimmed(Text(result, "root", where))};
        for (const char* way : {"out_of_place", "in_place"})
        {
            const std::vector<std::string> times = TimeWords(result, way, where);
            words.insert(words.end(), times.begin(), times.end());
        }
        if (auto size = table.Read(words, where, log.ranks))
        {
            AddSize(log, std::move(*size), "");
        }
    }
    if (log.sizes.empty())
    {
        Fail(name + " results", "there is no result of a size above 0");
    }
    return log;
}

} // namespace scaleacross
