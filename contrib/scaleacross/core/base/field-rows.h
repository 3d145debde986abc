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
        return Make(key,
                    "a whole number " + std::to_string(least) + " to " + std::to_string(most),
                    help,
                    member,
                    WholeIn(least, most),
                    WholeText);
    }

    template <class Member>
    static Field<Owner> Number(const std::string& key,
                               double least,
                               double most,
                               const std::string& help,
                               Member member)
    {
        return Number(key, NumberRange{least, most}, help, member);
    }

    template <class Member>
    static Field<Owner> Number(const std::string& key,
                               const NumberRange& range,
                               const std::string& help,
                               Member member)
    {
        return Make(key, range.Text(), help, member, NumberIn(range), NumberText);
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
        return Make(key, "a text", help, member, SameText, SameText);
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
                    AmountText<Quantity>);
    }

    /// A number with a unit, or 0 of it, which says that there is none.
    template <class Quantity, class Member>
    static Field<Owner> AmountOrNone(const std::string& key,
                                     Quantity least,
                                     Quantity most,
                                     const std::string& help,
                                     Member member)
    {
        const std::string allowed = ExactText(Quantity()) + ", or " + RangeText(least, most);
        return Make(
            key,
            allowed,
            help,
            member,
            [least, most, allowed](const std::string& text) {
                const auto value = Parse<Quantity>(text);
                if (value != Quantity() && (value < least || value > most))
                {
                    throw ValueError(Quoted(text) + " is out of range", allowed, "");
                }
                return value;
            },
            AmountText<Quantity>);
    }

    template <class Quantity, class Member, class Read>
    static Field<Owner> Amount(const std::string& key,
                               Quantity least,
                               Quantity most,
                               const std::string& help,
                               Member member,
                               Read read)
    {
        return Make(key,
                    RangeText(least, most),
                    help,
                    member,
                    InRange(least, most),
                    AmountText<Quantity>,
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
        return AtPlace(key, allowed, help, PlaceOf(member), parse, print);
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
        const auto place = PlaceOf(member);
        Field<Owner> field = Base(key, allowed, help, place, parse);
        field.get = [read, print](const Owner& owner) { return print(std::invoke(read, owner)); };
        field.usual = [place, read](const Owner& owner) {
            if (!place(owner).has_value())
            {
                return true;
            }
            Owner without = owner;
            place(without).reset();
            return std::invoke(read, std::as_const(without)) == std::invoke(read, owner);
        };
        return field;
    }

  private:
    /// Where a value of some type stands in an owner. That it hides how to get there keeps what
    /// follows from being compiled again for each row of a table.
    template <class Value>
    class Place
    {
      public:
        template <class Member>
        explicit Place(Member member)
            : m_at([member](Owner& owner) -> Value& { return std::invoke(member, owner); })
        {
        }

        Value& operator()(Owner& owner) const
        {
            return m_at(owner);
        }

        const Value& operator()(const Owner& owner) const
        {
            return m_at(const_cast<Owner&>(owner)); // and gives it back as const
        }

      private:
        std::function<Value&(Owner&)> m_at;
    };

    template <class Member>
    static auto PlaceOf(Member member)
    {
        return Place<std::decay_t<decltype(std::invoke(member, std::declval<Owner&>()))>>(member);
    }

    template <class Value, class Parse, class Print>
    static Field<Owner> AtPlace(const std::string& key,
                                const std::string& allowed,
                                const std::string& help,
                                const Place<Value>& place,
                                Parse parse,
                                Print print)
    {
        Field<Owner> field = Base(key, allowed, help, place, parse);
        field.get = [place, print](const Owner& owner) { return print(place(owner)); };
        const Owner nothing{};
        field.usual = [place, usual = Value(place(nothing))](const Owner& owner) {
            return place(owner) == usual;
        };
        return field;
    }

    template <class Value, class Parse>
    static Field<Owner> Base(const std::string& key,
                             const std::string& allowed,
                             const std::string& help,
                             const Place<Value>& place,
                             Parse parse)
    {
        Field<Owner> field;
        field.key = key;
        field.allowed = allowed;
        field.help = help;
        field.set = [key, place, parse](Owner& owner, const std::string& text) {
            place(owner) = static_cast<Value>(ParseAt(key, [&] { return parse(text); }));
        };
        field.equal = [place](const Owner& a, const Owner& b) { return place(a) == place(b); };
        field.assign = [place](Owner& to, const Owner& from) { place(to) = place(from); };
        return field;
    }

    static auto WholeIn(uint64_t least, uint64_t most)
    {
        return [least, most](const std::string& text) { return ParseWhole(text, least, most); };
    }

    static std::string WholeText(uint64_t value)
    {
        return std::to_string(value);
    }

    static auto NumberIn(const NumberRange& range)
    {
        return [range](const std::string& text) { return ParseNumber(text, range); };
    }

    static std::string SameText(const std::string& text)
    {
        return text;
    }

    template <class Quantity>
    static std::string AmountText(Quantity value)
    {
        return ExactText(value);
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
