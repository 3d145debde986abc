// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/foreign-groups.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/chakra/chakra-files.h"
#include "core/io/text-file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

using Json = nlohmann::json;

/**
 * The parallelism of a group by what PyTorch's users describe it with, data parallelism if it says
 * none: Megatron-LM's "EXPERT_DATA_PARALLEL_GROUP", or the "mesh_tp" of a device mesh.
 *
 * Of several words the first of this list counts: experts' parameters are reduced over expert data
 * parallelism and sharded by expert tensor parallelism.
 */
CommClass
ClassOf(const std::string& description)
{
    static const std::vector<std::pair<CommClass, std::set<std::string>>> words{
        {CommClass::Data, {"data", "dp", "fsdp", "hsdp", "ddp", "edp"}},
        {CommClass::Tensor, {"tensor", "tp", "etp"}},
        {CommClass::Context, {"context", "cp"}},
        {CommClass::Expert, {"expert", "ep"}},
        {CommClass::Pipeline, {"pipeline", "pp"}}};
    std::set<std::string> said{""};
    std::string word;
    for (const char letter : description + " ")
    {
        if (std::isalpha(static_cast<unsigned char>(letter)) != 0)
        {
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        }
        else
        {
            said.insert(std::exchange(word, ""));
        }
    }
    for (const auto& [comm, known] : words)
    {
        if (std::any_of(known.begin(), known.end(), [&](const auto& one) {
                return said.count(one) > 0;
            }))
        {
            return comm;
        }
    }
    return CommClass::Data;
}

/// What PyTorch's observer calls the node that lists process groups.
constexpr const char* g_groupsNode = "## process_group:init ##";

/// The list of process groups in a node's values: PyTorch gives a list of one text, which the
/// converter writes as Python shows it, "['[{...}, ...]']".
std::optional<Json>
ListOf(const std::string& values)
{
    Json list = Json::parse(values, nullptr, false);
    if (list.is_discarded() && values.size() >= 4 && values.compare(0, 2, "['") == 0)
    {
        std::string text;
        for (size_t i = 2; i + 2 < values.size(); i++)
        {
            const bool escape =
                values[i] == '\\' && (values[i + 1] == '\\' || values[i + 1] == '\'');
            text += values[escape ? ++i : i];
        }
        list = Json::parse(text, nullptr, false);
    }
    if (list.is_array() && list.size() == 1 && !list.front().is_object())
    {
        const Json only = list.front();
        list = only.is_string() ? Json::parse(only.get<std::string>(), nullptr, false) : only;
    }
    return list.is_array() ? std::optional<Json>(list) : std::nullopt;
}

} // namespace

std::optional<RankGroup>
FamilyOf(const std::vector<Rank>& members)
{
    std::vector<RankGroup::Axis> axes;
    uint64_t reach = 1;
    std::vector<Rank> starts = members;
    while (starts.size() > 1)
    {
        const uint32_t stride = starts[1] - starts[0];
        size_t count = 2;
        while (count < starts.size() && starts[count] - starts[count - 1] == stride)
        {
            count++;
        }
        if (stride % reach != 0 || starts.size() % count != 0)
        {
            return std::nullopt;
        }
        axes.push_back({stride, static_cast<uint32_t>(count)});
        reach = uint64_t{stride} * count;
        std::vector<Rank> next;
        for (size_t i = 0; i < starts.size(); i += count)
        {
            next.push_back(starts[i]);
        }
        starts = std::move(next);
    }
    const RankGroup group(axes);
    for (uint32_t i = 0; i < members.size(); i++)
    {
        if (group.Member(members.front(), i) != members[i])
        {
            return std::nullopt;
        }
    }
    return group;
}

ForeignGroups::ForeignGroups(const std::string& files, uint32_t ranks)
    : m_ranks(ranks),
      m_all(ranks),
      m_ofRanks(ranks)
{
    std::iota(m_all.begin(), m_all.end(), 0);
    m_ofFile["0"] = GroupOf("0", m_all, CommClass::Data);
    const std::string path = ChakraGroupsFile(files);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
    {
        return;
    }
    std::set<std::string> names;
    std::optional<std::string> twice;
    const auto note = [&](int depth, Json::parse_event_t event, Json& value) {
        if (depth == 1 && event == Json::parse_event_t::key &&
            !names.insert(value.get<std::string>()).second)
        {
            twice = value.get<std::string>();
        }
        return true;
    };
    const Json groups = Json::parse(ReadBinaryFile(path), note, false);
    if (twice)
    {
        throw ConfigError(path,
                          "process group " + Quoted(*twice) + " is there twice",
                          "one group of a name",
                          "take one of them out, or give it a name of its own");
    }
    if (!groups.is_object())
    {
        throw ConfigError(path,
                          groups.is_discarded()
                              ? "it is no JSON"
                              : std::string("it is ") + groups.type_name() + " and no object",
                          R"(process groups by name, such as {"1": [0, 1, 2, 3]})",
                          "write the file so, or take it away if metadata nodes have the groups");
    }
    for (const auto& [name, ranksOf] : groups.items())
    {
        std::vector<Rank> members = MembersOf(ranksOf, name, path);
        if (members.empty())
        {
            FailAtGroup(path, name, "has no ranks");
        }
        m_ofFile[name] = GroupOf(name, std::move(members), CommClass::Data);
    }
}

void
ForeignGroups::Add(Rank rank, const chakra::Node& node, const std::string& path)
{
    if (node.name() != g_groupsNode)
    {
        return;
    }
    const std::string where = path + ", node " + std::to_string(node.id());
    const auto list = ListOf(node.inputs().values());
    if (!list)
    {
        throw ConfigError(
            where,
            "its process groups (inputs.values) cannot be read",
            R"(what chakra_converter writes: ['[{"pg_name": "1", "ranks": [0, 1]}]'])",
            "convert the trace again");
    }
    for (const Json& group : *list)
    {
        if (!group.is_object() || !group.contains("pg_name") || !group.contains("ranks"))
        {
            throw ConfigError(where,
                              "a process group is " + group.dump(),
                              R"({"pg_name": "1", "ranks": [0, 1]})",
                              "convert the trace again");
        }
        const Json& word = group.at("pg_name");
        if (!word.is_string() && !word.is_number_integer())
        {
            throw ConfigError(where,
                              "the pg_name of a process group is " + word.dump(),
                              "a text or a whole number",
                              "convert the trace again");
        }
        const std::string name = word.is_string() ? word.get<std::string>() : word.dump();
        std::vector<Rank> members = MembersOf(group.at("ranks"), name, where);
        const Json description = group.contains("pg_desc") ? group.at("pg_desc") : Json();
        if (!description.is_string() && !description.is_null())
        {
            throw ConfigError(where,
                              "the pg_desc of process group " + Quoted(name) + " is " +
                                  description.dump(),
                              "a text",
                              "convert the trace again");
        }
        // PyTorch writes no ranks of a group that has all of them.
        const ForeignGroup* said =
            GroupOf(name,
                    members.empty() ? m_all : std::move(members),
                    ClassOf(description.is_string() ? description.get<std::string>() : ""));
        const auto [known, isNew] = m_ofRanks[rank].emplace(name, said);
        const auto ofFile = m_ofFile.find(name);
        if ((!isNew && known->second != said) ||
            (name != "0" && ofFile != m_ofFile.end() && ofFile->second != said))
        {
            FailAtGroup(where, name, "has other ranks than before");
        }
    }
}

std::vector<Rank>
ForeignGroups::MembersOf(const Json& list, const std::string& name, const std::string& where) const
{
    if (!list.is_array())
    {
        FailAtGroup(where, name, "is " + list.dump() + " and no list of ranks");
    }
    std::vector<Rank> members;
    for (const Json& rank : list)
    {
        if (!rank.is_number_unsigned() || rank.get<uint64_t>() >= m_ranks)
        {
            FailAtGroup(where, name, "has " + rank.dump() + " for a rank");
        }
        members.push_back(rank.get<Rank>());
    }
    std::sort(members.begin(), members.end());
    const auto twice = std::adjacent_find(members.begin(), members.end());
    if (twice != members.end())
    {
        FailAtGroup(where, name, "has rank " + std::to_string(*twice) + " twice");
    }
    return members;
}

void
ForeignGroups::FailAtGroup(const std::string& where,
                           const std::string& name,
                           const std::string& problem) const
{
    throw ConfigError(where,
                      "process group " + Quoted(name) + " " + problem,
                      "different ranks of those that have a trace, 0 to " +
                          std::to_string(m_ranks - 1),
                      "give the ranks as in the names of the traces, FILES.RANK.et");
}

const ForeignGroup*
ForeignGroups::GroupOf(const std::string& name, std::vector<Rank> members, CommClass comm)
{
    const auto number = static_cast<uint32_t>(m_groups.size());
    ForeignGroup group{number, members, comm};
    return &m_groups.try_emplace({name, std::move(members)}, std::move(group)).first->second;
}

const ForeignGroup*
ForeignGroups::Find(Rank rank, const std::string& name) const
{
    const std::string& word = name.empty() ? "0" : name;
    for (const Known* known : {&m_ofRanks[rank], &m_ofFile})
    {
        if (const auto found = known->find(word); found != known->end())
        {
            return found->second;
        }
    }
    return nullptr;
}

std::string
ForeignGroups::Names(Rank rank) const
{
    std::vector<std::string> names;
    for (const Known* known : {&m_ofRanks[rank], &m_ofFile})
    {
        for (const auto& [name, group] : *known)
        {
            names.push_back(Quoted(name));
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return AnyOf(names);
}

} // namespace scaleacross
