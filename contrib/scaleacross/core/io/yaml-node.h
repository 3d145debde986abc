// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_YAML_NODE_H
#define SCALEACROSS_YAML_NODE_H

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * A YAML document as a tree that knows where each value stands.
 *
 * It is built from yaml-cpp's events, not from its nodes, because those accept what must be
 * refused: duplicate keys, values that contain themselves, aliases that grow without bound. Aliases
 * are copies here, so the tree can be changed in one place.
 */
struct YamlNode
{
    enum class Kind
    {
        Null,
        Scalar,
        List,
        Map
    };

    Kind kind{Kind::Null};
    std::string text;                          //!< Scalar
    std::shared_ptr<const std::string> source; //!< name of the file, or the --set it comes from
    int line{0};                               //!< from 1; 0 if there is no line (a --set)
    int column{0};
    size_t weight{0}; //!< rough bytes of memory with all children

    /// Key of each child of a Map and where it stands; empty for a List.
    struct Key
    {
        std::string text;
        int line{0};
        int column{0};
    };

    std::vector<Key> keys;
    std::vector<YamlNode> children;

    /// "study.yaml:12:5", or the --set.
    std::string Place() const;

    /// As Place(), of the i-th key.
    std::string PlaceOfKey(size_t i) const;

    /// The child of a Map, or nullptr.
    const YamlNode* Find(const std::string& key) const;

    /// "a map", "a list", "a single value", "empty".
    std::string KindName() const;
};

/// Parses one YAML document (JSON is YAML). Throws ConfigError for what is no YAML, and for several
/// documents, tags, keys that are no single values, duplicate keys, nesting deeper than 32, values
/// that contain themselves, and aliases that expand to more than 16 MiB.
YamlNode ParseYaml(const std::string& text, const std::string& name);

/**
 * Sets the value at a path such as "cluster.cross.distance" or "cluster.links.0.loss": segments are
 * keys of maps or, in lists, indices from 0. Missing maps are made; whether the keys exist in the
 * schema is for the reader to say. The value is YAML, so a list or a map can be given. Below the
 * name of a preset of `gpu`, `curve`, `model`, `stack` or `fabric`, "gpu: h100" becomes "gpu:
 * {preset: h100}" so that "gpu.nic_rate" can be set; so does "search: auto" become "search: {rest:
 * auto}".
 *
 * Throws ConfigError (where = "--set path=value").
 */
void SetYaml(YamlNode& root, const std::string& path, const std::string& value);

} // namespace scaleacross

#endif // SCALEACROSS_YAML_NODE_H
