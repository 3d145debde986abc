// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CONFIG_OBJECT_H
#define SCALEACROSS_CONFIG_OBJECT_H

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The keys of one JSON object of a Hugging Face `config.json`, as the configuration class that the
 * file is for reads them: a key that is left out has the class's default, an explicit null means
 * "none", and some keys have a second name (the class's `attribute_map`).
 *
 * Every key that is asked for is noted, so that UnreadKeys() can name the others. All functions
 * throw ConfigError (where = "FILE key") for a value of another type than is asked for.
 */
class ConfigObject
{
  public:
    /// @param object the file's object, which outlives this one
    /// @param place what messages begin with: the file, and the object's key if it is nested
    /// @param defaults an object with the class's defaults of keys that are asked for
    ConfigObject(const nlohmann::json& object, std::string place, nlohmann::json defaults);

    /// Lets `key` be read where the file has it under `alias`. Throws ConfigError if the file has
    /// both with different values.
    void Alias(const std::string& alias, const std::string& key);

    [[noreturn]] void Fail(const std::string& key,
                           const std::string& problem,
                           const std::string& allowed,
                           const std::string& remedy) const;

    /// Whether the file itself has the key, and not as null.
    bool IsGiven(const std::string& key) const;

    /// Returns " (the class's default)" for a key that the file leaves out, for messages; else "".
    std::string DefaultNote(const std::string& key) const;

    /// The keys that have been asked for, with their second names.
    const std::set<std::string>& Asked() const
    {
        return m_asked;
    }

    /// The value in the file or the class's default; null where there is neither.
    const nlohmann::json& Value(const std::string& key) const;

    /// A whole number from 0 to the largest T; nothing for null.
    template <class T>
    std::optional<T> MaybeCount(const std::string& key) const
    {
        const auto count = WholeNumber(key, std::numeric_limits<T>::max());
        return count ? std::optional<T>(static_cast<T>(*count)) : std::nullopt;
    }

    /// As MaybeCount(), but there has to be a number.
    template <class T>
    T Count(const std::string& key) const
    {
        const auto count = MaybeCount<T>(key);
        if (!count)
        {
            FailMissing(key);
        }
        return *count;
    }

    /// A whole number of either sign; nothing for null and where there is no default.
    std::optional<int64_t> Integer(const std::string& key) const;

    /// A truth value; false for null and where there is no default.
    bool Flag(const std::string& key) const;

    /// A text; empty for null and where there is no default.
    std::string Text(const std::string& key) const;

    /// A list of whole numbers; nothing for null and where there is no default.
    std::optional<std::vector<int64_t>> Numbers(const std::string& key) const;

    /// A list of texts; nothing for null and where there is no default.
    std::optional<std::vector<std::string>> Texts(const std::string& key) const;

    /// Throws ConfigError unless the key is left out, null, or has `value`: what else it would
    /// make of the model (`otherwise`, part of a sentence) is not modelled.
    void Demand(const std::string& key,
                const nlohmann::json& value,
                const std::string& otherwise) const;

    /// Returns the keys of the file that were neither asked for nor are in `neutral`, in the order
    /// of the alphabet; those with null are left out.
    std::vector<std::string> UnreadKeys(const std::set<std::string>& neutral) const;

  private:
    int64_t IntegerOf(const std::string& key,
                      const nlohmann::json& value,
                      const std::string& allowed) const;
    std::optional<uint64_t> WholeNumber(const std::string& key, uint64_t most) const;
    [[noreturn]] void FailMissing(const std::string& key) const;
    const nlohmann::json* Given(const std::string& key) const;
    const nlohmann::json* GivenOrAlias(const std::string& key) const;

    const nlohmann::json& m_object;
    std::string m_place;
    nlohmann::json m_defaults;
    std::vector<std::pair<std::string, std::string>> m_aliases; //!< alias, key
    mutable std::set<std::string> m_asked;
};

} // namespace scaleacross

#endif // SCALEACROSS_CONFIG_OBJECT_H
