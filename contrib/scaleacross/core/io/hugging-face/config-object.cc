// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/hugging-face/config-object.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <utility>

namespace scaleacross
{

namespace
{

using Json = nlohmann::json;

/// Longest excerpt of a value in a message.
constexpr size_t g_shown = 80;

std::string
Shown(const Json& value)
{
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > g_shown)
    {
        text = text.substr(0, g_shown) + "...";
    }
    return text;
}

} // namespace

ConfigObject::ConfigObject(const Json& object, std::string place, Json defaults)
    : m_object(object),
      m_place(std::move(place)),
      m_defaults(std::move(defaults))
{
}

void
ConfigObject::Alias(const std::string& alias, const std::string& key)
{
    const Json* other = Given(alias);
    const Json* own = Given(key);
    if (other != nullptr && own != nullptr && *other != *own)
    {
        Fail(alias,
             Shown(*other) + ", but " + key + " is " + Shown(*own) + ", and both mean the same",
             "one of the two keys",
             "leave one out");
    }
    m_aliases.emplace_back(alias, key);
}

void
ConfigObject::Fail(const std::string& key,
                   const std::string& problem,
                   const std::string& allowed,
                   const std::string& remedy) const
{
    throw ConfigError(m_place + " " + key, problem, allowed, remedy);
}

const Json*
ConfigObject::Given(const std::string& key) const
{
    const auto found = m_object.find(key);
    return found == m_object.end() ? nullptr : &*found;
}

const Json*
ConfigObject::GivenOrAlias(const std::string& key) const
{
    m_asked.insert(key);
    const Json* given = Given(key);
    for (const auto& [alias, of] : m_aliases)
    {
        if (of == key)
        {
            m_asked.insert(alias);
            given = given == nullptr ? Given(alias) : given;
        }
    }
    return given;
}

bool
ConfigObject::IsGiven(const std::string& key) const
{
    const Json* given = GivenOrAlias(key);
    return given != nullptr && !given->is_null();
}

std::string
ConfigObject::DefaultNote(const std::string& key) const
{
    return GivenOrAlias(key) == nullptr ? " (the class's default)" : "";
}

const Json&
ConfigObject::Value(const std::string& key) const
{
    static const Json none;
    if (const Json* given = GivenOrAlias(key); given != nullptr)
    {
        return *given;
    }
    const auto otherwise = m_defaults.find(key);
    return otherwise == m_defaults.end() ? none : *otherwise;
}

std::optional<uint64_t>
ConfigObject::WholeNumber(const std::string& key, uint64_t most) const
{
    const Json& value = Value(key);
    if (value.is_null())
    {
        return std::nullopt;
    }
    if (!value.is_number_unsigned() || value.get<uint64_t>() > most)
    {
        Fail(key,
             Quoted(Shown(value)) + " is no count",
             "a whole number up to " + std::to_string(most),
             "write it in digits, without quotes or a point");
    }
    return value.get<uint64_t>();
}

void
ConfigObject::FailMissing(const std::string& key) const
{
    Fail(key,
         Given(key) != nullptr ? "null is no count" : "the key is missing, and has no default",
         "a whole number",
         "give it as the model's publisher does");
}

std::optional<int64_t>
ConfigObject::Integer(const std::string& key) const
{
    const Json& value = Value(key);
    if (value.is_null())
    {
        return std::nullopt;
    }
    return IntegerOf(key, value, "a whole number");
}

int64_t
ConfigObject::IntegerOf(const std::string& key, const Json& value, const std::string& allowed) const
{
    constexpr auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<uint64_t>() > most))
    {
        Fail(key, Quoted(Shown(value)) + " is no whole number", allowed, "");
    }
    return value.get<int64_t>();
}

bool
ConfigObject::Flag(const std::string& key) const
{
    const Json& value = Value(key);
    if (!value.is_null() && !value.is_boolean())
    {
        Fail(key,
             Quoted(Shown(value)) + " is no truth value",
             "true or false",
             "write it without quotes");
    }
    return !value.is_null() && value.get<bool>();
}

std::string
ConfigObject::Text(const std::string& key) const
{
    const Json& value = Value(key);
    if (!value.is_null() && !value.is_string())
    {
        Fail(key, Quoted(Shown(value)) + " is no text", "a text", "write it in quotes");
    }
    return value.is_null() ? "" : value.get<std::string>();
}

std::optional<std::vector<int64_t>>
ConfigObject::Numbers(const std::string& key) const
{
    const Json& value = Value(key);
    if (value.is_null())
    {
        return std::nullopt;
    }
    const std::string allowed = "a list of whole numbers, such as [0, 1]";
    if (!value.is_array())
    {
        Fail(key, Quoted(Shown(value)) + " is no list", allowed, "");
    }
    std::vector<int64_t> numbers;
    for (const Json& entry : value)
    {
        // Some tools write truth values into such lists.
        numbers.push_back(entry.is_boolean() ? static_cast<int64_t>(entry.get<bool>())
                                             : IntegerOf(key, entry, allowed));
    }
    return numbers;
}

std::optional<std::vector<std::string>>
ConfigObject::Texts(const std::string& key) const
{
    const Json& value = Value(key);
    if (value.is_null())
    {
        return std::nullopt;
    }
    std::vector<std::string> texts;
    bool fits = value.is_array();
    for (size_t i = 0; fits && i < value.size(); i++)
    {
        fits = value[i].is_string();
        texts.push_back(fits ? value[i].get<std::string>() : "");
    }
    if (!fits)
    {
        Fail(key, Quoted(Shown(value)) + " is no list of texts", "such as [\"a\", \"b\"]", "");
    }
    return texts;
}

void
ConfigObject::Demand(const std::string& key, const Json& value, const std::string& otherwise) const
{
    const Json& given = Value(key);
    if (!given.is_null() && given != value)
    {
        Fail(key,
             Shown(given) + ": " + otherwise + ", which is not modelled",
             Shown(value) + ", or leave it out",
             "leave it out if the model does without");
    }
}

std::vector<std::string>
ConfigObject::UnreadKeys(const std::set<std::string>& neutral) const
{
    std::vector<std::string> keys;
    for (const auto& [key, value] : m_object.items())
    {
        if (!value.is_null() && m_asked.count(key) == 0 && neutral.count(key) == 0)
        {
            keys.push_back(key);
        }
    }
    return keys;
}

} // namespace scaleacross
