// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FIELD_ROWS_H
#define SCALEACROSS_FIELD_ROWS_H

#include "core/base/errors.h"
#include "core/base/field.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/base/units.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace scaleacross
{

/// A function that leads from a value to one of its members, const or not as the value is; for
/// members of members, where a pointer to member does not do.
#define SCALEACROSS_MEMBER(path)                                                                   \
    [](auto& owner) -> auto&                                                                       \
    {                                                                                              \
        return owner.path;                                                                         \
    }

/**
 * What makes the rows of a FieldTable, one function for each kind of value. A table includes this,
 * nothing else does.
 *
 * `member` is a pointer to member, or a function from the value to the member. Where that is a
 * std::optional, `read` says what holds without a value, which may follow from other fields.
 */
template <class Owner>
class FieldRows
{
  public:
    template <class Member>
    static Field<Owner> Whole(const std::string& key,
                              uint64_t least,
                              uint64_t most,
                              const std::string& help,
                              Member member)
    {
        return Make(
            key,
            "a whole number " + std::to_string(least) + " to " + std::to_string(most),
            help,
            member,
            [least, most](const std::string& text) { return ParseWhole(text, least, most); },
            [](uint64_t value) { return std::to_string(value); });
    }

    template <class Member>
    static Field<Owner> Number(const std::string& key,
                               double least,
                               double most,
                               const std::string& help,
                               Member member)
    {
        return Make(
            key,
            "a number from " + NumberText(least) + " to " + NumberText(most),
            help,
            member,
            [least, most](const std::string& text) { return ParseNumber(text, least, most); },
            NumberText);
    }

    template <class Member>
    static Field<Owner> Bool(const std::string& key, const std::string& help, Member member)
    {
        return Make(key, "true or false", help, member, ParseBool, BoolText);
    }

    template <class Member, class Read>
    static Field<Owner> Bool(const std::string& key,
                             const std::string& help,
                             Member member,
                             Read read)
    {
        return Make(key, "true or false", help, member, ParseBool, BoolText, read);
    }

    template <class Member>
    static Field<Owner> Text(const std::string& key, const std::string& help, Member member)
    {
        const auto same = [](const std::string& text) { return text; };
        return Make(key, "a text", help, member, same, same);
    }

    /// A number with a unit.
    template <class Quantity, class Member>
    static Field<Owner> Amount(const std::string& key,
                               Quantity least,
                               Quantity most,
                               const std::string& help,
                               Member member)
    {
        return Make(key,
                    RangeText(least, most),
                    help,
                    member,
                    InRange(least, most),
                    [](Quantity value) { return ExactText(value); });
    }

    template <class Quantity, class Member, class Read>
    static Field<Owner> Amount(const std::string& key,
                               Quantity least,
                               Quantity most,
                               const std::string& help,
                               Member member,
                               Read read)
    {
        return Make(
            key,
            RangeText(least, most),
            help,
            member,
            InRange(least, most),
            [](Quantity value) { return ExactText(value); },
            read);
    }

    /// A word of a registry.
    template <class Member>
    static Field<Owner> Word(const std::string& key, const std::string& help, Member member)
    {
        using Value = std::decay_t<decltype(std::invoke(member, std::declval<Owner&>()))>;
        return WithWords<Value>(
            Make(key, AnyOf(Value::Names()), help, member, ParseWord<Value>, NameOfWord<Value>));
    }

    template <class Member, class Read>
    static Field<Owner> Word(const std::string& key,
                             const std::string& help,
                             Member member,
                             Read read)
    {
        using Value = std::decay_t<decltype(std::invoke(read, std::declval<const Owner&>()))>;
        return WithWords<Value>(Make(key,
                                     AnyOf(Value::Names()),
                                     help,
                                     member,
                                     ParseWord<Value>,
                                     NameOfWord<Value>,
                                     read));
    }

    /// Any kind: `parse` throws ValueError, `print` gives what it reads back as the same.
    template <class Member, class Parse, class Print>
    static Field<Owner> Make(const std::string& key,
                             const std::string& allowed,
                             const std::string& help,
                             Member member,
                             Parse parse,
                             Print print)
    {
        Field<Owner> field = Base(key, allowed, help, member, parse);
        field.get = [member, print](const Owner& owner) {
            return print(std::invoke(member, owner));
        };
        const Owner nothing{};
        field.usual = [member, usual = std::invoke(member, nothing)](const Owner& owner) {
            return std::invoke(member, owner) == usual;
        };
        return field;
    }

    template <class Member, class Parse, class Print, class Read>
    static Field<Owner> Make(const std::string& key,
                             const std::string& allowed,
                             const std::string& help,
                             Member member,
                             Parse parse,
                             Print print,
                             Read read)
    {
        Field<Owner> field = Base(key, allowed, help, member, parse);
        field.get = [read, print](const Owner& owner) { return print(std::invoke(read, owner)); };
        field.usual = [member, read](const Owner& owner) {
            if (!std::invoke(member, owner).has_value())
            {
                return true;
            }
            Owner without = owner;
            std::invoke(member, without).reset();
            return std::invoke(read, std::as_const(without)) == std::invoke(read, owner);
        };
        return field;
    }

  private:
    template <class Member, class Parse>
    static Field<Owner> Base(const std::string& key,
                             const std::string& allowed,
                             const std::string& help,
                             Member member,
                             Parse parse)
    {
        Field<Owner> field;
        field.key = key;
        field.allowed = allowed;
        field.help = help;
        field.set = [key, member, parse](Owner& owner, const std::string& text) {
            auto& target = std::invoke(member, owner);
            using Value = std::decay_t<decltype(target)>;
            target = static_cast<Value>(ParseAt(key, [&] { return parse(text); }));
        };
        field.equal = [member](const Owner& a, const Owner& b) {
            return std::invoke(member, a) == std::invoke(member, b);
        };
        return field;
    }

    template <class Quantity>
    static std::string RangeText(Quantity least, Quantity most)
    {
        return ExactText(least) + " to " + ExactText(most);
    }

    template <class Quantity>
    static auto InRange(Quantity least, Quantity most)
    {
        return [least, most](const std::string& text) {
            const auto value = Parse<Quantity>(text);
            if (value < least || value > most)
            {
                throw ValueError(Quoted(text) + " is out of range", RangeText(least, most), "");
            }
            return value;
        };
    }

    static std::string BoolText(bool value)
    {
        return value ? "true" : "false";
    }

    template <class Value>
    static Value ParseWord(const std::string& text)
    {
        return Value(text);
    }

    template <class Value>
    static std::string NameOfWord(Value value)
    {
        return value.Name();
    }

    template <class Value>
    static Field<Owner> WithWords(Field<Owner> field)
    {
        field.words = Value::Names();
        for (const auto* row : Value::Rows())
        {
            field.meanings.push_back(row->Help());
        }
        return field;
    }
};

} // namespace scaleacross

#endif // SCALEACROSS_FIELD_ROWS_H
