// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/yaml-node.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/text-file.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

namespace scaleacross
{

namespace
{

constexpr size_t g_mostDepth = 32;
constexpr size_t g_mostWeight = 16U << 20;
constexpr size_t g_nodeWeight = sizeof(YamlNode);

std::string
At(const std::string& source, int line, int column)
{
    return line == 0 ? source : source + ":" + std::to_string(line) + ":" + std::to_string(column);
}

/// Builds the tree from yaml-cpp's events; throws ConfigError for what the tree does not allow.
class Builder : public YAML::EventHandler
{
  public:
    Builder(const std::string& text, std::shared_ptr<const std::string> source, bool places)
        : m_text(text),
          m_source(std::move(source)),
          m_places(places)
    {
    }

    YamlNode Take()
    {
        return std::move(m_root);
    }

  private:
    /// A list or map that is not complete yet.
    struct Open
    {
        YamlNode node;
        YAML::anchor_t anchor{};
        bool keyNext{false}; //!< Map: the next value is a key
        std::set<std::string> seen;
    };

    void OnDocumentStart(const YAML::Mark& mark) override
    {
        if (m_started)
        {
            throw ConfigError(Where(mark),
                              "a second document begins",
                              "one YAML document",
                              "remove the line ---");
        }
        m_started = true;
    }

    void OnDocumentEnd() override
    {
    }

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        Add(New(YamlNode::Kind::Null, mark), anchor, mark);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        const auto found = m_anchors.find(anchor);
        if (found == m_anchors.end())
        {
            throw ConfigError(Where(mark),
                              "the alias stands inside the value that it refers to",
                              "an alias of a value that is complete",
                              "");
        }
        Weigh(found->second.weight, mark);
        YamlNode copy = found->second;
        Add(std::move(copy), {}, mark);
    }

    void OnScalar(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  const std::string& value) override
    {
        CheckTag(mark, tag);
        CheckQuote(mark);
        YamlNode node = New(YamlNode::Kind::Scalar, mark);
        node.text = value;
        node.weight += value.size();
        Weigh(value.size(), mark);
        Add(std::move(node), anchor, mark);
    }

    void OnSequenceStart(const YAML::Mark& mark,
                         const std::string& tag,
                         YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /* style */) override
    {
        Begin(YamlNode::Kind::List, mark, tag, anchor);
    }

    void OnSequenceEnd() override
    {
        End();
    }

    void OnMapStart(const YAML::Mark& mark,
                    const std::string& tag,
                    YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /* style */) override
    {
        Begin(YamlNode::Kind::Map, mark, tag, anchor);
    }

    void OnMapEnd() override
    {
        End();
    }

    std::string Where(const YAML::Mark& mark) const
    {
        return m_places ? At(*m_source, mark.line + 1, mark.column + 1) : *m_source;
    }

    void CheckTag(const YAML::Mark& mark, const std::string& tag) const
    {
        // "?" marks a plain value, "!" a quoted one; the rest is written by the user.
        if (!tag.empty() && tag != "?" && tag != "!")
        {
            throw ConfigError(Where(mark),
                              "the tag " + Quoted(tag),
                              "values without tags",
                              "remove the tag");
        }
    }

    /// yaml-cpp takes the end of the file for a missing closing quote.
    void CheckQuote(const YAML::Mark& mark) const
    {
        auto at = static_cast<size_t>(mark.pos);
        if (at < m_text.size() && m_text[at] == '&')
        {
            // The mark is that of the anchor; the value follows after white space.
            at = m_text.find_first_of(" \t\r\n", at);
            at = m_text.find_first_not_of(" \t\r\n", at);
        }
        if (at >= m_text.size() || (m_text[at] != '"' && m_text[at] != '\''))
        {
            return;
        }
        const char quote = m_text[at];
        for (size_t i = at + 1; i < m_text.size(); i++)
        {
            if (quote == '"' && m_text[i] == '\\')
            {
                i++;
            }
            else if (quote == '\'' && m_text.compare(i, 2, "''") == 0)
            {
                i++;
            }
            else if (m_text[i] == quote)
            {
                return;
            }
        }
        throw ConfigError(Where(mark), "the quote is not closed", "", "add the closing quote");
    }

    void Weigh(size_t bytes, const YAML::Mark& mark)
    {
        m_weight += bytes;
        if (m_weight > g_mostWeight)
        {
            throw ConfigError(Where(mark),
                              "too many values",
                              "at most " + std::to_string(g_mostWeight >> 20) +
                                  " MiB once all aliases are expanded",
                              "");
        }
    }

    YamlNode New(YamlNode::Kind kind, const YAML::Mark& mark)
    {
        Weigh(g_nodeWeight, mark);
        YamlNode node;
        node.kind = kind;
        node.source = m_source;
        node.weight = g_nodeWeight;
        if (m_places)
        {
            node.line = mark.line + 1;
            node.column = mark.column + 1;
        }
        return node;
    }

    void Begin(YamlNode::Kind kind,
               const YAML::Mark& mark,
               const std::string& tag,
               YAML::anchor_t anchor)
    {
        CheckTag(mark, tag);
        CheckKey(kind, mark);
        if (m_open.size() == g_mostDepth)
        {
            throw ConfigError(Where(mark),
                              "lists and maps are nested too deeply",
                              "at most " + std::to_string(g_mostDepth) + " levels",
                              "");
        }
        Open open;
        open.node = New(kind, mark);
        open.anchor = anchor;
        open.keyNext = kind == YamlNode::Kind::Map;
        m_open.push_back(std::move(open));
    }

    void End()
    {
        Open open = std::move(m_open.back());
        m_open.pop_back();
        Add(std::move(open.node), open.anchor, {});
    }

    /// Only single values can be keys.
    void CheckKey(YamlNode::Kind kind, const YAML::Mark& mark) const
    {
        if (!m_open.empty() && m_open.back().keyNext && kind != YamlNode::Kind::Scalar)
        {
            throw ConfigError(Where(mark),
                              kind == YamlNode::Kind::Null ? "a key is missing"
                                                           : "a list or map stands where a key is "
                                                             "expected",
                              "a word as key",
                              "");
        }
    }

    void Add(YamlNode node, YAML::anchor_t anchor, const YAML::Mark& mark)
    {
        if (anchor != YAML::anchor_t{})
        {
            Weigh(node.weight, mark);
            m_anchors[anchor] = node;
        }
        if (m_open.empty())
        {
            m_root = std::move(node);
            return;
        }
        Open& open = m_open.back();
        if (open.keyNext)
        {
            CheckKey(node.kind, mark);
            if (!open.seen.insert(node.text).second)
            {
                throw ConfigError(Where(mark),
                                  "the key " + Quoted(node.text) + " is given twice",
                                  "every key once",
                                  "remove one of them");
            }
            open.node.keys.push_back({node.text, node.line, node.column});
            open.node.weight += node.weight;
            open.keyNext = false;
            return;
        }
        open.node.weight += node.weight;
        open.node.children.push_back(std::move(node));
        open.keyNext = open.node.kind == YamlNode::Kind::Map;
    }

    const std::string& m_text;
    std::shared_ptr<const std::string> m_source;
    bool m_places;
    bool m_started{false};
    YamlNode m_root;
    std::vector<Open> m_open;
    std::map<YAML::anchor_t, YamlNode> m_anchors; //!< complete values with an anchor
    size_t m_weight{0};
};

YamlNode
Parse(std::string text, const std::string& name, bool places)
{
    CheckText(text, name);
    // yaml-cpp passes over a byte order mark and does not count it.
    if (text.compare(0, 3, "\xef\xbb\xbf") == 0)
    {
        text.erase(0, 3);
    }
    Builder builder(text, std::make_shared<const std::string>(name), places);
    std::istringstream stream(text);
    try
    {
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder))
        {
        }
    }
    catch (const YAML::Exception& error)
    {
        throw ConfigError(places && !error.mark.is_null()
                              ? At(name, error.mark.line + 1, error.mark.column + 1)
                              : name,
                          "this is not YAML: " + error.msg,
                          "",
                          "check indentation, brackets and quotes up to this place");
    }
    return builder.Take();
}

/// The index that a path segment names in a list.
size_t
IndexOf(const YamlNode& list, const std::string& segment, const std::string& where)
{
    const std::string allowed = list.children.empty()
                                    ? "no element: the list is empty"
                                    : "0 to " + std::to_string(list.children.size() - 1);
    try
    {
        const auto index = static_cast<size_t>(ParseWhole(segment, 0, UINT32_MAX));
        if (index < list.children.size())
        {
            return index;
        }
    }
    catch (const ValueError&)
    {
    }
    throw ConfigError(where, Quoted(segment) + " is no index of this list", allowed, "");
}

YamlNode
Child(const YamlNode& like, YamlNode::Kind kind)
{
    YamlNode node;
    node.kind = kind;
    node.source = like.source;
    return node;
}

/// The child of a map, made if it is missing.
YamlNode&
ChildOf(YamlNode& map, const std::string& key, const YamlNode& like)
{
    for (size_t i = 0; i < map.keys.size(); i++)
    {
        if (map.keys[i].text == key)
        {
            return map.children[i];
        }
    }
    map.keys.push_back({key, 0, 0});
    map.children.push_back(Child(like, YamlNode::Kind::Map));
    return map.children.back();
}

} // namespace

std::string
YamlNode::Place() const
{
    return source ? At(*source, line, column) : "";
}

std::string
YamlNode::PlaceOfKey(size_t i) const
{
    // A key without a line was made by --set, and so was its value.
    return keys[i].line == 0 ? children[i].Place() : At(*source, keys[i].line, keys[i].column);
}

const YamlNode*
YamlNode::Find(const std::string& key) const
{
    for (size_t i = 0; i < keys.size(); i++)
    {
        if (keys[i].text == key)
        {
            return &children[i];
        }
    }
    return nullptr;
}

std::string
YamlNode::KindName() const
{
    switch (kind)
    {
    case Kind::Null:
        return "empty";
    case Kind::Scalar:
        return "a single value";
    case Kind::List:
        return "a list";
    case Kind::Map:
        return "a map";
    }
    return "";
}

YamlNode
ParseYaml(const std::string& text, const std::string& name)
{
    return Parse(text, name, true);
}

void
SetYaml(YamlNode& root, const std::string& path, const std::string& value)
{
    const std::string where = "--set " + path + "=" + value;
    std::vector<std::string> segments;
    std::istringstream stream(path + ".");
    for (std::string segment; std::getline(stream, segment, '.');)
    {
        segments.push_back(segment);
    }
    if (std::any_of(segments.begin(), segments.end(), [](auto& s) { return s.empty(); }) ||
        segments.size() > g_mostDepth)
    {
        throw ConfigError(where,
                          "the path has an empty part or too many",
                          "keys joined by points, list elements by number",
                          "write e.g. --set cluster.cross.distance=100km");
    }
    if (value.find_first_not_of(" \t\r\n") == std::string::npos)
    {
        throw ConfigError(where,
                          "there is no value",
                          "a value, or {} for an empty map and [] for an empty list",
                          "");
    }
    YamlNode parsed = Parse(value, where, false);
    YamlNode* at = &root;
    for (size_t i = 0; i < segments.size(); i++)
    {
        const std::string& segment = segments[i];
        if (at->kind == YamlNode::Kind::List)
        {
            at = &at->children[IndexOf(*at, segment, where)];
            continue;
        }
        if (at->kind == YamlNode::Kind::Scalar)
        {
            // The keys of maps that may be said by one word, and what of the map the word is.
            static const std::map<std::string, std::string> words = {{"gpu", "preset"},
                                                                     {"curve", "preset"},
                                                                     {"model", "preset"},
                                                                     {"stack", "preset"},
                                                                     {"fabric", "preset"},
                                                                     {"search", "rest"}};
            const std::string key = i == 0 ? "" : segments[i - 1];
            const auto word = words.find(key);
            if (word == words.end())
            {
                throw ConfigError(where,
                                  Quoted(key) + " is a single value, so it has no key " +
                                      Quoted(segment),
                                  "a path of keys and list indices",
                                  "");
            }
            YamlNode map = Child(*at, YamlNode::Kind::Map);
            map.line = at->line;
            map.column = at->column;
            map.keys.push_back({word->second, at->line, at->column});
            map.children.push_back(std::move(*at));
            *at = std::move(map);
        }
        if (at->kind == YamlNode::Kind::Null)
        {
            at->kind = YamlNode::Kind::Map;
        }
        at = &ChildOf(*at, segment, parsed);
    }
    *at = std::move(parsed);
}

} // namespace scaleacross
