// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/foreign-groups.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/chakra/chakra-files.h"
#include "core/io/text-file.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

namespace scaleacross
{

namespace
{

using Json = nlohmann::json;

} // namespace

std::optional<RankGroup>
FamilyOf(const std::vector<Rank>& members, uint32_t ranks)
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
    if (ranks % reach != 0)
    {
        return std::nullopt;
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
      m_all(ranks)
{
    std::iota(m_all.begin(), m_all.end(), 0);
    const std::string path = ChakraGroupsFile(files);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
    {
        return;
    }
    try
    {
        const Json groups = Json::parse(ReadBinaryFile(path));
        for (const auto& [name, members] : groups.get<std::map<std::string, Json>>())
        {
            Put(name, members.get<std::vector<Rank>>(), path);
        }
    }
    catch (const Json::exception& error)
    {
        throw ConfigError(path,
                          std::string("it cannot be read: ") + error.what(),
                          R"(process groups by name, such as {"1": [0, 1, 2, 3]})",
                          "");
    }
}

void
ForeignGroups::Add(const chakra::Node& node, const std::string& path)
{
    // The text of a list of one text, in Python: "['[{...}, ...]']".
    const std::string& values = node.inputs().values();
    if (values.size() < 4 || values.find("pg_name") == std::string::npos)
    {
        return;
    }
    const Json list = Json::parse(values.substr(2, values.size() - 4), nullptr, false);
    if (!list.is_array())
    {
        return;
    }
    const std::string where = path + ", node " + std::to_string(node.id());
    for (const Json& group : list)
    {
        try
        {
            const Json& name = group.at("pg_name");
            Put(name.is_string() ? name.get<std::string>() : name.dump(),
                group.at("ranks").get<std::vector<Rank>>(),
                where);
        }
        catch (const Json::exception& error)
        {
            throw ConfigError(where,
                              std::string("a process group cannot be read: ") + error.what(),
                              R"({"pg_name": "1", "ranks": [0, 1]})",
                              "");
        }
    }
}

void
ForeignGroups::Put(const std::string& name, std::vector<Rank> members, const std::string& where)
{
    if (members.empty())
    {
        members = m_all;
    }
    std::sort(members.begin(), members.end());
    const bool twice = std::adjacent_find(members.begin(), members.end()) != members.end();
    if (twice || members.back() >= m_ranks)
    {
        throw ConfigError(
            where,
            "process group " + Quoted(name) +
                (twice ? " has a rank twice" : " has rank " + std::to_string(members.back())),
            "different ranks, 0 to " + std::to_string(m_ranks - 1),
            "");
    }
    const auto [known, isNew] = m_groups.emplace(name, members);
    if (!isNew && known->second != members)
    {
        throw ConfigError(where,
                          "process group " + Quoted(name) + " has other ranks than before",
                          "one group of a name",
                          "");
    }
}

const std::vector<Rank>*
ForeignGroups::Find(const std::string& name) const
{
    const auto known = m_groups.find(name);
    if (known != m_groups.end())
    {
        return &known->second;
    }
    return name.empty() || name == "0" ? &m_all : nullptr;
}

std::string
ForeignGroups::Names() const
{
    std::string names;
    for (const auto& [name, members] : m_groups)
    {
        names += (names.empty() ? "" : ", ") + Quoted(name);
    }
    return names.empty() ? "none" : names;
}

} // namespace scaleacross
