// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/wildcard-path.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/base/units.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>

namespace scaleacross
{

namespace
{

std::vector<std::string>
SegmentsOf(const std::string& path)
{
    std::vector<std::string> segments;
    std::istringstream stream(path);
    for (std::string segment; std::getline(stream, segment, '.');)
    {
        segments.push_back(segment);
    }
    return segments;
}

std::string
Joined(const std::string& path, const std::string& segment)
{
    return path.empty() ? segment : path + "." + segment;
}

/// The factor that a value such as "0.5x" is; none of any other. Throws ConfigError.
std::optional<double>
FactorOf(const std::string& value, const std::string& where)
{
    const size_t size = value.size();
    if (size < 2 || value.back() != 'x' || value.find_first_not_of("0123456789.eE+-") != size - 1)
    {
        return std::nullopt;
    }
    constexpr double most = 1e12;
    const std::string allowed = "a number above 0 with x behind it, such as 0.5x, 1x or 2x";
    try
    {
        const double factor = ParseNumber(value.substr(0, size - 1), -most, most);
        if (factor > 0)
        {
            return factor;
        }
    }
    catch (const ValueError& error)
    {
        throw ConfigError(where, "the factor: " + error.Problem(), allowed, "");
    }
    throw ConfigError(where,
                      "the factor " + Quoted(value) + " is not above 0",
                      allowed,
                      "set the value itself where it shall be 0");
}

/// Whether a text is a number, a part such as 2%, or a quantity with a unit.
bool
IsQuantity(const std::string& text)
{
    constexpr double most = 1e300;
    using Reader = void (*)(const std::string&);
    for (const Reader read : {
             Reader([](const std::string& one) { ParseNumber(one, -most, most); }),
             Reader([](const std::string& one) { ParseFraction(one, 0, most); }),
             Reader([](const std::string& one) { ParseDistance(one); }),
             Reader([](const std::string& one) { ParseBitRate(one); }),
             Reader([](const std::string& one) { ParseDuration(one); }),
             Reader([](const std::string& one) { ParseBytes(one); }),
             Reader([](const std::string& one) { ParseFlopRate(one); }),
         })
    {
        try
        {
            read(text);
            return true;
        }
        catch (const ValueError&)
        {
            continue;
        }
    }
    return false;
}

/// A quantity times a factor, in the unit that it has.
std::string
Product(const std::string& quantity, double factor)
{
    if (factor == 1)
    {
        return quantity;
    }
    char* end = nullptr;
    const double number = std::strtod(quantity.c_str(), &end);
    // One digit less than a double has: 0.1 x 3 km is 0.3 km.
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.15g", number * factor);
    return text.data() + std::string(end);
}

/// Goes down a path in a document.
class Expansion
{
  public:
    Expansion(const std::string& path, const std::string& value)
        : m_where("--set " + path + "=" + value),
          m_segments(SegmentsOf(path)),
          m_value(value),
          m_factor(FactorOf(value, m_where))
    {
    }

    std::vector<std::pair<std::string, std::string>> Of(const YamlNode& root)
    {
        Go(&root, 0, "");
        return std::move(m_found);
    }

  private:
    /// @param node null: what the document does not have
    void Go(const YamlNode* node, size_t i, const std::string& path)
    {
        if (i == m_segments.size())
        {
            Add(node, path);
            return;
        }
        const std::string& segment = m_segments[i];
        if (segment == "*")
        {
            if (node == nullptr || node->children.empty())
            {
                throw ConfigError(m_where,
                                  "there is nothing for * to stand for: the study has no " +
                                      (path.empty() ? "keys" : path + " with elements"),
                                  "* below a list or a map that the study has",
                                  "write it into the study, or name the value itself without *");
            }
            for (size_t child = 0; child < node->children.size(); child++)
            {
                Go(&node->children[child],
                   i + 1,
                   Joined(path,
                          node->keys.empty() ? std::to_string(child) : node->keys[child].text));
            }
            return;
        }
        Go(ChildOf(node, segment), i + 1, Joined(path, segment));
    }

    static const YamlNode* ChildOf(const YamlNode* node, const std::string& segment)
    {
        if (node == nullptr || node->kind != YamlNode::Kind::List)
        {
            return node == nullptr ? nullptr : node->Find(segment);
        }
        for (size_t i = 0; i < node->children.size(); i++)
        {
            if (segment == std::to_string(i))
            {
                return &node->children[i];
            }
        }
        return nullptr;
    }

    void Add(const YamlNode* node, const std::string& path)
    {
        if (!m_factor)
        {
            m_found.emplace_back(path, m_value);
            return;
        }
        if (node == nullptr)
        {
            throw ConfigError(m_where,
                              "the study has no " + path + " to multiply",
                              "a quantity wherever * stands",
                              "write " + path + " into the study, or set it before by --set");
        }
        const bool single = node->kind == YamlNode::Kind::Scalar;
        if (!single || !IsQuantity(node->text))
        {
            throw ConfigError(m_where,
                              path + " is " + (single ? Quoted(node->text) : node->KindName()) +
                                  ", and no quantity to multiply",
                              "numbers, or quantities such as 30km",
                              "give a value in place of the factor, or the path of a quantity");
        }
        m_found.emplace_back(path, Product(node->text, *m_factor));
    }

    std::string m_where;
    std::vector<std::string> m_segments;
    std::string m_value;
    std::optional<double> m_factor;
    std::vector<std::pair<std::string, std::string>> m_found;
};

} // namespace

bool
HasWildcard(const std::string& path)
{
    const std::vector<std::string> segments = SegmentsOf(path);
    return std::find(segments.begin(), segments.end(), "*") != segments.end();
}

std::vector<std::pair<std::string, std::string>>
WithoutWildcards(const YamlNode& root, const std::string& path, const std::string& value)
{
    return HasWildcard(path) ? Expansion(path, value).Of(root)
                             : std::vector<std::pair<std::string, std::string>>{{path, value}};
}

} // namespace scaleacross
