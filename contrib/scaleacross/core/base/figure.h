// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FIGURE_H
#define SCALEACROSS_FIGURE_H

#include "core/base/errors.h"
#include "core/base/units.h"

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace scaleacross
{

/// A figure as files have it: a number, a count or a truth value.
using FigureValue = std::variant<double, uint64_t, bool>;

/**
 * One figure of a report: the single place that knows its key, its unit and its range.
 *
 * From a report's table follow its JSON, both ways, and its columns in the database. So a new
 * figure is a member and a row.
 */
template <class Owner>
struct Figure
{
    std::string key; //!< "iteration_time_s": member of JSON and column of a database
    std::string help;
    FigureValue zero; //!< of its kind
    double most{0};   //!< all are from 0
    std::function<FigureValue(const Owner&)> get;
    /// Domain: a value of its kind, from 0 to `most`.
    std::function<void(Owner&, const FigureValue&)> set;
};

template <class Owner>
using FigureTable = std::vector<Figure<Owner>>;

/// A row for a member: times are in seconds, amounts in bytes, rates in bits per second.
template <class Owner, class Member>
Figure<Owner>
MakeFigure(const std::string& key, Member Owner::*member, const std::string& help)
{
    // An eighth, because categories of memory are added up.
    constexpr double mostCount = 1152921504606846975.0;
    Figure<Owner> figure;
    figure.key = key;
    figure.help = help;
    const auto row = [&](FigureValue zero, double most, auto get, auto set) {
        figure.zero = zero;
        figure.most = most;
        figure.get = [member, get](const Owner& owner) { return FigureValue(get(owner.*member)); };
        figure.set = [member, set](Owner& owner, const FigureValue& value) {
            owner.*member = set(value);
        };
    };
    const auto number = [](const FigureValue& value) { return std::get<double>(value); };
    const auto count = [](const FigureValue& value) { return std::get<uint64_t>(value); };
    if constexpr (std::is_same_v<Member, Duration>)
    {
        row(
            0.0,
            9.19e6, // the longest time that there is
            [](Duration value) { return value.S(); },
            [number](const FigureValue& value) { return Duration::Seconds(number(value)); });
    }
    else if constexpr (std::is_same_v<Member, Bytes>)
    {
        row(
            uint64_t{0},
            mostCount,
            [](Bytes value) { return value.Count(); },
            [count](const FigureValue& value) { return Bytes(count(value)); });
    }
    else if constexpr (std::is_same_v<Member, BitRate>)
    {
        row(
            0.0,
            1e300,
            [](BitRate value) { return value.Value(); },
            [number](const FigureValue& value) { return BitRate(number(value)); });
    }
    else if constexpr (std::is_same_v<Member, bool>)
    {
        row(
            false,
            1,
            [](bool value) { return value; },
            [](const FigureValue& value) { return std::get<bool>(value); });
    }
    else if constexpr (std::is_integral_v<Member>)
    {
        row(
            uint64_t{0},
            sizeof(Member) == sizeof(uint32_t) ? UINT32_MAX : mostCount,
            [](Member value) { return uint64_t{value}; },
            [count](const FigureValue& value) { return static_cast<Member>(count(value)); });
    }
    else
    {
        static_assert(std::is_same_v<Member, double>);
        row(
            0.0,
            1e300,
            [](double value) { return value; },
            number);
    }
    return figure;
}

} // namespace scaleacross

#endif // SCALEACROSS_FIGURE_H
