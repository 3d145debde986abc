// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MAP_READER_H
#define SCALEACROSS_MAP_READER_H

#include "core/base/errors.h"
#include "core/base/field.h"
#include "core/base/text.h"
#include "core/io/yaml-node.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// Throws ConfigError (where = "study.yaml:12:5 plan.tp").
[[noreturn]] void FailAt(const YamlNode& node,
                         const std::string& path,
                         const std::string& problem,
                         const std::string& allowed,
                         const std::string& remedy);

/// The text of a single value; throws ConfigError for a map, a list or nothing.
const std::string& ScalarText(const YamlNode& node, const std::string& path);

/// What `parse` makes of the single value; what it throws becomes a ConfigError with the place.
template <class Parse>
auto
ParseScalar(const YamlNode& node, const std::string& path, Parse parse)
{
    const std::string& text = ScalarText(node, path);
    try
    {
        return parse(text);
    }
    catch (const ValueError& error)
    {
        FailAt(node, path, error.Problem(), error.Allowed(), error.Remedy());
    }
}

/**
 * A map of the study with the keys it may have.
 *
 * Unknown keys are found when it is made, before any value is looked at, so that a misspelt key is
 * reported as such and not as a missing one. An empty value counts as an empty map.
 */
class MapReader
{
  public:
    MapReader(const YamlNode& node, std::string path, const std::vector<std::string>& keys);

    const YamlNode& Node() const
    {
        return m_node;
    }

    /// The key with the path of this map in front, for messages.
    std::string PathOf(const std::string& key) const;

    /// The value, or nullptr if the key is not given.
    const YamlNode* Find(const std::string& key) const;

    /// The value; throws ConfigError if it is not given. `example` is a line that would do.
    const YamlNode& Require(const std::string& key, const std::string& example) const;

    /// Parses the value into `target`; leaves it alone and returns false if the key is not given.
    template <class T, class Parse>
    bool Get(const std::string& key, T& target, Parse parse) const
    {
        const YamlNode* node = Find(key);
        if (node == nullptr)
        {
            return false;
        }
        target = static_cast<T>(ParseScalar(*node, PathOf(key), parse));
        return true;
    }

    /// As Get() for a key that must be given.
    template <class T, class Parse>
    void GetRequired(const std::string& key,
                     T& target,
                     Parse parse,
                     const std::string& example) const
    {
        Require(key, example);
        Get(key, target, parse);
    }

  private:
    const YamlNode& m_node;
    std::string m_path;
};

/// `own` and the keys of a table.
template <class Owner>
std::vector<std::string>
WithKeys(std::vector<std::string> own, const FieldTable<Owner>& table)
{
    const auto keys = KeysOf(table);
    own.insert(own.end(), keys.begin(), keys.end());
    return own;
}

/// Reads a field from a text that stands in `node`; what is refused gets its place.
template <class Owner>
void
SetField(const Field<Owner>& field,
         Owner& owner,
         const std::string& text,
         const YamlNode& node,
         const std::string& path)
{
    try
    {
        field.set(owner, text);
    }
    catch (const ConfigError& error)
    {
        throw error.At(node.Place() + " " + path);
    }
}

/// Reads a field from a single value.
template <class Owner>
void
SetField(const Field<Owner>& field, Owner& owner, const YamlNode& node, const std::string& path)
{
    SetField(field, owner, ScalarText(node, path), node, path);
}

/// Reads the fields that the map gives. Throws ConfigError for one that must be given, means
/// something, and is neither given nor set before, as by a preset.
template <class Owner>
void
ReadFields(const MapReader& map, const FieldTable<Owner>& table, Owner& owner)
{
    for (const auto& field : table)
    {
        if (!field.example.empty() && field.applies(owner) && field.usual(owner))
        {
            map.Require(field.key, field.example);
        }
    }
    for (const auto& field : table)
    {
        if (const YamlNode* node = map.Find(field.key); node != nullptr)
        {
            SetField(field, owner, *node, map.PathOf(field.key));
        }
    }
}

/// The single value, or the single values of a list.
std::vector<const YamlNode*> ListOf(const YamlNode& node, const std::string& path);

/// A parser for a whole number in [least, most].
inline auto
Whole(uint64_t least, uint64_t most)
{
    return [least, most](const std::string& text) { return ParseWhole(text, least, most); };
}

/// A parser for a number in [least, most].
inline auto
Number(double least, double most)
{
    return [least, most](const std::string& text) { return ParseNumber(text, least, most); };
}

/// A parser for one of `words`.
inline auto
OneOf(const std::vector<std::string>& words)
{
    return [words](const std::string& text) {
        for (const auto& word : words)
        {
            if (text == word)
            {
                return text;
            }
        }
        const std::string nearest = Nearest(text, words);
        throw ValueError(Quoted(text) + " is not known",
                         AnyOf(words),
                         nearest.empty() ? "" : "did you mean " + nearest + "?");
    };
}

} // namespace scaleacross

#endif // SCALEACROSS_MAP_READER_H
