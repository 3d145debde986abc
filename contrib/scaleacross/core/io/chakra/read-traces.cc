// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/read-traces.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/chakra/chakra-files.h"
#include "core/io/chakra/chakra-format.h"
#include "core/io/chakra/chakra-graph.h"
#include "core/io/chakra/chakra-words.h"
#include "core/io/chakra/foreign-trace.h"
#include "core/io/text-file.h"
#include "core/work/graph/trace-graph.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

/// The number in FILES.N.et, of a name without folder; none: it is no such name.
std::optional<uint32_t>
RankOf(const std::string& name, const std::string& prefix)
{
    constexpr size_t kSuffix = 3; // ".et"
    if (name.size() <= prefix.size() + kSuffix || name.compare(0, prefix.size(), prefix) != 0 ||
        name.compare(name.size() - kSuffix, kSuffix, ".et") != 0)
    {
        return std::nullopt;
    }
    const std::string digits = name.substr(prefix.size(), name.size() - prefix.size() - kSuffix);
    const bool number =
        IsDigits(digits) && digits.size() < 9 && (digits == "0" || digits[0] != '0');
    return number ? std::optional<uint32_t>(std::stoul(digits)) : std::nullopt;
}

/// How many ranks have a trace; there is one for each up to the last.
uint32_t
CountRanks(const std::string& files)
{
    const std::filesystem::path path(files);
    const std::string prefix = path.filename().string() + ".";
    std::vector<uint32_t> ranks;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(path.parent_path(), problem))
    {
        if (const auto rank = RankOf(entry.path().filename().string(), prefix))
        {
            ranks.push_back(*rank);
        }
    }
    std::sort(ranks.begin(), ranks.end());
    for (uint32_t rank = 0; rank < ranks.size(); rank++)
    {
        if (ranks[rank] != rank)
        {
            throw ConfigError(ChakraFile(files, rank),
                              "there is no such file, and one of rank " +
                                  std::to_string(ranks.back()),
                              "a trace of every rank, from 0",
                              "put it there, or number the files without a gap");
        }
    }
    if (ranks.empty())
    {
        throw ConfigError(ChakraFile(files, 0),
                          "there is no such file",
                          "a trace of every rank, from 0",
                          "give what stands before .0.et in their names");
    }
    return static_cast<uint32_t>(ranks.size());
}

/// The first message of a file.
chakra::GlobalMetadata
MetadataOf(const std::string& text, const std::string& path)
{
    struct Enough
    {
    };

    chakra::GlobalMetadata metadata;
    try
    {
        ReadChakra(
            text,
            path,
            [&metadata](const chakra::GlobalMetadata& first) {
                metadata = first;
                throw Enough();
            },
            [](const chakra::Node&, size_t) {});
    }
    catch (const Enough&)
    {
    }
    return metadata;
}

std::string
GraphOf(const chakra::GlobalMetadata& metadata)
{
    const chakra::AttributeProto* graph = FindAttribute(metadata, words::kGraph);
    return graph == nullptr ? "" : graph->string_val();
}

uint32_t
RankOf(const chakra::GlobalMetadata& metadata)
{
    const chakra::AttributeProto* rank = FindAttribute(metadata, words::kRank);
    return rank == nullptr ? 0 : rank->uint32_val();
}

/// Refuses a file of ours that somebody has written to.
void
ExpectUnchanged(const std::string& text,
                const chakra::GlobalMetadata& metadata,
                const std::string& path)
{
    std::string first;
    AppendChakra(metadata, first);
    const chakra::AttributeProto* hash = FindAttribute(metadata, words::kHash);
    if (hash == nullptr || text.compare(0, first.size(), first) != 0 ||
        hash->string_val() != HashOfChakra(GraphOf(metadata) + std::to_string(RankOf(metadata)) +
                                           text.substr(first.size())))
    {
        throw ConfigError(path,
                          "the file has been changed since ScaleAcross wrote it",
                          "what 'scaleacross export --format chakra' has written",
                          "export the plan again; or, to replay what it says now, have it read "
                          "without ScaleAcross's attributes by trace.lower");
    }
}

/// The files of a trace, by rank, one in memory at a time.
class Files
{
  public:
    explicit Files(std::string files)
        : m_files(std::move(files)),
          m_ranks(CountRanks(m_files))
    {
    }

    uint32_t Ranks() const
    {
        return m_ranks;
    }

    std::string Path(Rank rank) const
    {
        return ChakraFile(m_files, rank);
    }

    /// Adds the file to the digest, too.
    std::string Read(Rank rank)
    {
        std::string text = ReadBinaryFile(Path(rank));
        m_digest = HashOfChakra(m_digest + HashOfChakra(text));
        return text;
    }

    const std::string& Digest() const
    {
        return m_digest;
    }

  private:
    std::string m_files;
    uint32_t m_ranks;
    std::string m_digest;
};

TraceWork
ReadOwn(Files& files, const std::string& firstText)
{
    const std::string graph = GraphOf(MetadataOf(firstText, files.Path(0)));
    ExpectUnchanged(firstText, MetadataOf(firstText, files.Path(0)), files.Path(0));
    ChakraGraphReader reader(graph, files.Path(0));
    if (reader.Ranks() != files.Ranks())
    {
        throw ConfigError(files.Path(0),
                          "it is one of " + std::to_string(reader.Ranks()) + " ranks, and " +
                              std::to_string(files.Ranks()) + " have a file",
                          "the traces of one plan, all of them",
                          "export the plan again, to a prefix of its own");
    }
    for (Rank rank = 0; rank < files.Ranks(); rank++)
    {
        const std::string path = files.Path(rank);
        const std::string text = rank == 0 ? firstText : files.Read(rank);
        reader.BeginRank(rank);
        ReadChakra(
            text,
            path,
            [&](const chakra::GlobalMetadata& metadata) {
                ExpectUnchanged(text, metadata, path);
                if (GraphOf(metadata) != graph || RankOf(metadata) != rank)
                {
                    throw ConfigError(path,
                                      GraphOf(metadata) != graph
                                          ? "it is of another plan than " + files.Path(0)
                                          : "it is of rank " + std::to_string(RankOf(metadata)),
                                      "the traces of one plan",
                                      "export the plan again, to a prefix of its own");
                }
            },
            [&](const chakra::Node& node, size_t) { reader.AddNode(node, path); });
        reader.EndRank(path);
    }
    return reader.Take();
}

TraceWork
ReadForeign(Files& files, const std::string& firstText, const TraceSpec& trace)
{
    ForeignTraces traces(files.Ranks(), trace.files);
    for (Rank rank = 0; rank < files.Ranks(); rank++)
    {
        const std::string text = rank == 0 ? firstText : files.Read(rank);
        if (!trace.lowers && !GraphOf(MetadataOf(text, files.Path(rank))).empty())
        {
            throw ConfigError(files.Path(rank),
                              "ScaleAcross has written it, and not " + files.Path(0),
                              "traces of one run",
                              "have all read alike by trace.lower if they belong together");
        }
        traces.AddRank(text, files.Path(rank));
    }
    return traces.Work();
}

} // namespace

void
ReadTraces(TraceSpec& trace)
{
    Files files(trace.files);
    const std::string first = files.Read(0);
    const bool own = !trace.lowers && !GraphOf(MetadataOf(first, files.Path(0))).empty();
    auto work =
        std::make_shared<TraceWork>(own ? ReadOwn(files, first) : ReadForeign(files, first, trace));
    if (!trace.digest.empty() && trace.digest != files.Digest())
    {
        throw ConfigError(trace.files,
                          "the traces have changed: their digest was " + trace.digest +
                              ", and is " + files.Digest(),
                          "those that the run was asked for with",
                          "leave trace.digest out to replay what is there now");
    }
    trace.digest = files.Digest();
    trace.work = std::move(work);
}

} // namespace scaleacross
