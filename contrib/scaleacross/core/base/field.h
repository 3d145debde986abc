// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FIELD_H
#define SCALEACROSS_FIELD_H

#include "core/base/errors.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * One field of a value (a model, a fabric, a plan) as text: the single place that knows its key,
 * its values and its help.
 *
 * A value's table, a list of rows in its own source file, is made by FieldRows (field-rows.h).
 * From it follow what a study may say and how it is read, --set, the axes of a search, ranges, the
 * canonical text and hence a database's keys, equality, what `list fields` prints and what the
 * pages must describe. So a new field is a member and a row.
 *
 * (Boost.Describe and Boost.PFR know members by name or number, and nothing of units, ranges,
 * defaults or meanings, which is what the rows are for.)
 */
template <class Owner>
struct Field
{
    std::string key;     //!< "layers", "plan.tp"
    std::string allowed; //!< "a whole number from 1", "dp or pp"
    /// What it may be, of words that may be joined each by itself; empty if it is not of some
    /// words.
    std::vector<std::string> words;
    std::vector<std::string> meanings; //!< of the words
    std::string help;
    /// Of one that must be given, for want of a default, a line that would do; else empty.
    std::string example;
    /// A name for people: two values that differ in nothing else have equal results.
    bool label{false};
    /// Written also where it is the usual, since leaving it out says something else.
    bool always{false};
    /// Parses and assigns; throws ConfigError with where = key.
    std::function<void(Owner&, const std::string&)> set;
    /// What set() reads back as the same.
    std::function<std::string(const Owner&)> get;
    std::function<bool(const Owner&, const Owner&)> equal;
    /// Gives the first the second's value.
    std::function<void(Owner&, const Owner&)> assign;
    /// Whether it is what holds where nothing is said.
    std::function<bool(const Owner&)> usual;
    /// Whether it means anything, the other fields being as they are.
    std::function<bool(const Owner&)> applies = [](const Owner&) { return true; };

    /// The same of a field that must be given; `line` is one that would do.
    Field Required(const std::string& line) const
    {
        Field field = *this;
        field.example = line;
        field.always = true;
        return field;
    }

    Field Always() const
    {
        Field field = *this;
        field.always = true;
        return field;
    }

    Field Label() const
    {
        Field field = *this;
        field.label = true;
        return field;
    }

    Field Where(const std::function<bool(const Owner&)>& means) const
    {
        Field field = *this;
        field.applies = means;
        return field;
    }

    /// Whether a text of the value has to say it.
    bool IsSaid(const Owner& owner) const
    {
        return applies(owner) && (always || !usual(owner));
    }
};

template <class Owner>
using FieldTable = std::vector<Field<Owner>>;

/// The field with this key, or nullptr.
template <class Owner>
const Field<Owner>*
FindField(const FieldTable<Owner>& table, const std::string& key)
{
    const auto found = std::find_if(table.begin(), table.end(), [&key](const auto& row) {
        return row.key == key;
    });
    return found == table.end() ? nullptr : &*found;
}

template <class Owner>
std::vector<std::string>
KeysOf(const FieldTable<Owner>& table)
{
    std::vector<std::string> keys;
    for (const auto& field : table)
    {
        keys.push_back(field.key);
    }
    return keys;
}

/// Throws ConfigError (where = path.key) for the first field with a value that its own set() would
/// refuse: what can be read is what is valid.
template <class Owner>
void
CheckFields(const FieldTable<Owner>& table, const Owner& owner, const std::string& path)
{
    Owner copy = owner;
    for (const auto& field : table)
    {
        try
        {
            field.set(copy, field.get(owner));
        }
        catch (const ConfigError& error)
        {
            throw error.At(path + "." + field.key);
        }
    }
}

/// Whether all fields are equal, labels included.
template <class Owner>
bool
EqualFields(const FieldTable<Owner>& table, const Owner& a, const Owner& b)
{
    return std::all_of(table.begin(), table.end(), [&](const auto& field) {
        return field.equal(a, b);
    });
}

} // namespace scaleacross

#endif // SCALEACROSS_FIELD_H
