// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/map-reader.h"

#include <algorithm>
#include <utility>

namespace scaleacross
{

namespace
{
std::string
WithPath(const std::string& place, const std::string& path)
{
    return path.empty() ? place : place + " " + path;
}
} // namespace

void
FailAt(const YamlNode& node,
       const std::string& path,
       const std::string& problem,
       const std::string& allowed,
       const std::string& remedy)
{
    throw ConfigError(WithPath(node.Place(), path), problem, allowed, remedy);
}

const std::string&
ScalarText(const YamlNode& node, const std::string& path)
{
    if (node.kind == YamlNode::Kind::Null)
    {
        FailAt(node,
               path,
               "there is no value",
               "a single value",
               "give the value or remove the key");
    }
    if (node.kind != YamlNode::Kind::Scalar)
    {
        FailAt(node, path, "this is " + node.KindName(), "a single value", "");
    }
    return node.text;
}

MapReader::MapReader(const YamlNode& node, std::string path, const std::vector<std::string>& keys)
    : m_node(node),
      m_path(std::move(path))
{
    if (node.kind == YamlNode::Kind::Scalar || node.kind == YamlNode::Kind::List)
    {
        FailAt(node,
               m_path,
               "this is " + node.KindName(),
               "a map with the keys " + AnyOf(keys),
               "");
    }
    for (size_t i = 0; i < node.keys.size(); i++)
    {
        const std::string& key = node.keys[i].text;
        if (std::find(keys.begin(), keys.end(), key) != keys.end())
        {
            continue;
        }
        const std::string nearest = Nearest(key, keys);
        const size_t point = key.find('.');
        const bool dotted = point != std::string::npos &&
                            std::find(keys.begin(), keys.end(), key.substr(0, point)) != keys.end();
        std::string remedy = nearest.empty() ? "" : "did you mean " + nearest + "?";
        if (dotted)
        {
            remedy = "nest it: " + key.substr(0, point) + ": {" + key.substr(point + 1) + ": ...}";
        }
        throw ConfigError(WithPath(node.PlaceOfKey(i), PathOf(Quoted(key))),
                          "the key is not known",
                          AnyOf(keys),
                          remedy);
    }
}

std::string
MapReader::PathOf(const std::string& key) const
{
    return m_path.empty() ? key : m_path + "." + key;
}

const YamlNode*
MapReader::Find(const std::string& key) const
{
    return m_node.Find(key);
}

const YamlNode&
MapReader::Require(const std::string& key, const std::string& example) const
{
    const YamlNode* node = Find(key);
    if (node == nullptr)
    {
        FailAt(m_node, PathOf(key), "the key is missing", "", "add it, e.g. " + example);
    }
    return *node;
}

std::vector<const YamlNode*>
ListOf(const YamlNode& node, const std::string& path)
{
    if (node.kind == YamlNode::Kind::Scalar)
    {
        return {&node};
    }
    if (node.kind == YamlNode::Kind::Map)
    {
        FailAt(node, path, "this is a map", "a list", "");
    }
    std::vector<const YamlNode*> list;
    for (const auto& child : node.children)
    {
        list.push_back(&child);
    }
    return list;
}

} // namespace scaleacross
