// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_UNITS_H
#define SCALEACROSS_UNITS_H

#include <cstdint>
#include <string>
#include <string_view>

/**
 * Physical quantities as types, so that a bare number never crosses a function's boundary.
 *
 * Time is counted in whole picoseconds (one bit at 1 Tb/s lasts 1 ps; int64 reaches 106 days),
 * bytes in whole bytes, so that sums are exact and two engines can be compared to the byte. What
 * their types cannot hold is an OutOfRange (core/base/errors.h) with the values, never another
 * value. Rates, work and lengths are physical measures and are kept as doubles.
 */
namespace scaleacross
{

namespace quantity
{
// What the operators below end in where a result cannot be held: they throw OutOfRange.
[[noreturn]] void SumOutOfRange(int64_t a, int64_t b);
[[noreturn]] void DifferenceOutOfRange(int64_t a, int64_t b);
[[noreturn]] void ProductOutOfRange(int64_t a, int64_t k);
[[noreturn]] void SumOutOfRange(uint64_t a, uint64_t b);
[[noreturn]] void DifferenceOutOfRange(uint64_t a, uint64_t b);
[[noreturn]] void ProductOutOfRange(uint64_t a, uint64_t k);
} // namespace quantity

/**
 * A span of time in whole picoseconds. May be negative as a difference.
 *
 * Arithmetic throws OutOfRange beyond 2^63 ps, 106 days. This stands in the innermost loops, hence
 * the form of the checks: a sum has overflowed if its sign is that of neither operand (three
 * operations and a branch that is not taken), and a product if it is beyond 2^63 as a double,
 * which is exact enough for all but the last thousandth of the range, where division decides.
 */
class Duration
{
  public:
    constexpr Duration() = default;

    static constexpr Duration Picoseconds(int64_t ps)
    {
        return Duration(ps);
    }

    static constexpr Duration Nanoseconds(int64_t ns)
    {
        return Duration(ns) * 1000;
    }

    static constexpr Duration Microseconds(int64_t us)
    {
        return Duration(us) * 1'000'000;
    }

    /// Rounded to the nearest picosecond. Throws OutOfRange unless |s| < 9.2e6.
    static Duration Seconds(double s);

    /// The largest value, used as "never".
    static constexpr Duration Max()
    {
        return Duration(INT64_MAX);
    }

    constexpr int64_t Ps() const
    {
        return m_ps;
    }

    constexpr double S() const
    {
        return static_cast<double>(m_ps) * 1e-12;
    }

    constexpr double Us() const
    {
        return static_cast<double>(m_ps) * 1e-6;
    }

    constexpr Duration operator+(Duration o) const
    {
        const auto sum =
            static_cast<int64_t>(static_cast<uint64_t>(m_ps) + static_cast<uint64_t>(o.m_ps));
        if (((m_ps ^ sum) & (o.m_ps ^ sum)) < 0)
        {
            quantity::SumOutOfRange(m_ps, o.m_ps);
        }
        return Duration(sum);
    }

    constexpr Duration operator-(Duration o) const
    {
        const auto difference =
            static_cast<int64_t>(static_cast<uint64_t>(m_ps) - static_cast<uint64_t>(o.m_ps));
        if (((m_ps ^ o.m_ps) & (m_ps ^ difference)) < 0)
        {
            quantity::DifferenceOutOfRange(m_ps, o.m_ps);
        }
        return Duration(difference);
    }

    constexpr Duration operator*(int64_t k) const
    {
        const double product = static_cast<double>(m_ps) * static_cast<double>(k);
        if (!(product > -9.22e18 && product < 9.22e18) && !Holds(k))
        {
            quantity::ProductOutOfRange(m_ps, k);
        }
        return Duration(m_ps * k);
    }

    /// Domain: k != 0.
    constexpr Duration operator/(int64_t k) const
    {
        if (k == -1)
        {
            return Duration() - *this;
        }
        return Duration(m_ps / k);
    }

    constexpr Duration& operator+=(Duration o)
    {
        return *this = *this + o;
    }

    constexpr Duration& operator-=(Duration o)
    {
        return *this = *this - o;
    }

    constexpr bool operator==(Duration o) const
    {
        return m_ps == o.m_ps;
    }

    constexpr bool operator!=(Duration o) const
    {
        return m_ps != o.m_ps;
    }

    constexpr bool operator<(Duration o) const
    {
        return m_ps < o.m_ps;
    }

    constexpr bool operator<=(Duration o) const
    {
        return m_ps <= o.m_ps;
    }

    constexpr bool operator>(Duration o) const
    {
        return m_ps > o.m_ps;
    }

    constexpr bool operator>=(Duration o) const
    {
        return m_ps >= o.m_ps;
    }

  private:
    explicit constexpr Duration(int64_t ps)
        : m_ps(ps)
    {
    }

    static constexpr uint64_t Magnitude(int64_t value)
    {
        return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    }

    /// Whether m_ps * k is in range. Domain: k != 0.
    constexpr bool Holds(int64_t k) const
    {
        const uint64_t most = Magnitude((m_ps < 0) == (k < 0) ? INT64_MAX : INT64_MIN);
        return Magnitude(m_ps) <= most / Magnitude(k);
    }

    int64_t m_ps{0};
};

/// A number of bytes. Never negative; arithmetic throws OutOfRange below 0 and from 2^64 on.
class Bytes
{
  public:
    constexpr Bytes() = default;

    explicit constexpr Bytes(uint64_t count)
        : m_count(count)
    {
    }

    constexpr uint64_t Count() const
    {
        return m_count;
    }

    constexpr Bytes operator+(Bytes o) const
    {
        const uint64_t sum = m_count + o.m_count;
        if (sum < m_count)
        {
            quantity::SumOutOfRange(m_count, o.m_count);
        }
        return Bytes(sum);
    }

    /// Domain: o <= *this.
    constexpr Bytes operator-(Bytes o) const
    {
        if (o.m_count > m_count)
        {
            quantity::DifferenceOutOfRange(m_count, o.m_count);
        }
        return Bytes(m_count - o.m_count);
    }

    constexpr Bytes operator*(uint64_t k) const
    {
        const double product = static_cast<double>(m_count) * static_cast<double>(k);
        if (product >= 1.844e19 && m_count > UINT64_MAX / k)
        {
            quantity::ProductOutOfRange(m_count, k);
        }
        return Bytes(m_count * k);
    }

    constexpr Bytes& operator+=(Bytes o)
    {
        return *this = *this + o;
    }

    constexpr bool operator==(Bytes o) const
    {
        return m_count == o.m_count;
    }

    constexpr bool operator!=(Bytes o) const
    {
        return m_count != o.m_count;
    }

    constexpr bool operator<(Bytes o) const
    {
        return m_count < o.m_count;
    }

    constexpr bool operator<=(Bytes o) const
    {
        return m_count <= o.m_count;
    }

    constexpr bool operator>(Bytes o) const
    {
        return m_count > o.m_count;
    }

    constexpr bool operator>=(Bytes o) const
    {
        return m_count >= o.m_count;
    }

  private:
    uint64_t m_count{0};
};

/// A measure kept as a double in its base unit; Tag only tells one measure from another.
template <class Tag>
class Measure
{
  public:
    constexpr Measure() = default;

    explicit constexpr Measure(double value)
        : m_value(value)
    {
    }

    /// The value in the base unit that the alias names.
    constexpr double Value() const
    {
        return m_value;
    }

    constexpr Measure operator+(Measure o) const
    {
        return Measure(m_value + o.m_value);
    }

    constexpr Measure operator*(double k) const
    {
        return Measure(m_value * k);
    }

    constexpr Measure operator/(double k) const
    {
        return Measure(m_value / k);
    }

    constexpr double operator/(Measure o) const
    {
        return m_value / o.m_value;
    }

    constexpr Measure& operator+=(Measure o)
    {
        m_value += o.m_value;
        return *this;
    }

    constexpr bool operator==(Measure o) const
    {
        return m_value == o.m_value;
    }

    constexpr bool operator!=(Measure o) const
    {
        return m_value != o.m_value;
    }

    constexpr bool operator<(Measure o) const
    {
        return m_value < o.m_value;
    }

    constexpr bool operator<=(Measure o) const
    {
        return m_value <= o.m_value;
    }

    constexpr bool operator>(Measure o) const
    {
        return m_value > o.m_value;
    }

    constexpr bool operator>=(Measure o) const
    {
        return m_value >= o.m_value;
    }

  private:
    double m_value{0.0};
};

/// Bits per second.
using BitRate = Measure<struct BitRateTag>;
/// Floating point operations (an amount of work).
using Flops = Measure<struct FlopsTag>;
/// Floating point operations per second.
using FlopRate = Measure<struct FlopRateTag>;
/// Kilometres.
using Distance = Measure<struct DistanceTag>;

constexpr BitRate
GigabitsPerSecond(double g)
{
    return BitRate(g * 1e9);
}

constexpr BitRate
BytesPerSecond(double b)
{
    return BitRate(b * 8.0);
}

/// Time to serialise `bytes` at `rate`, rounded to the nearest picosecond. Domain: rate > 0.
Duration SerialisationTime(Bytes bytes, BitRate rate);

/// Time to do `work` at `rate`, rounded to the nearest picosecond. Domain: rate > 0.
Duration ComputeTime(Flops work, FlopRate rate);

/// One-way delay of light in fibre: 5 us per km.
Duration FibreDelay(Distance distance);

/**
 * Quantities as users write them: a number directly followed (one space allowed) by a unit.
 *
 * Duration: ps ns us ms s; Bytes: B kB MB GB TB (powers of 1000) KiB MiB GiB TiB (powers of 1024);
 * BitRate: bps kbps Mbps Gbps Tbps Pbps (bits) and B/s kB/s MB/s GB/s TB/s (bytes); FlopRate:
 * FLOP/s with G T P; Distance: m km. Case matters. Equal values in different units give equal
 * results, to the bit. Throws ValueError (core/base/text.h), a std::invalid_argument that says what
 * is wrong with the value and what is allowed.
 */
Duration ParseDuration(std::string_view text);
Bytes ParseBytes(std::string_view text);
BitRate ParseBitRate(std::string_view text);
FlopRate ParseFlopRate(std::string_view text);
Distance ParseDistance(std::string_view text);

/// The same, by the type of what is read.
template <class Quantity>
Quantity Parse(std::string_view text);

template <>
inline Duration
Parse(std::string_view text)
{
    return ParseDuration(text);
}

template <>
inline Bytes
Parse(std::string_view text)
{
    return ParseBytes(text);
}

template <>
inline BitRate
Parse(std::string_view text)
{
    return ParseBitRate(text);
}

template <>
inline FlopRate
Parse(std::string_view text)
{
    return ParseFlopRate(text);
}

template <>
inline Distance
Parse(std::string_view text)
{
    return ParseDistance(text);
}

/// For people: three or four significant digits and a fitting unit ("1.234 ms", "12.5 GiB").
std::string ToString(Duration value);
std::string ToString(Bytes value);
std::string ToString(BitRate value);
std::string ToString(FlopRate value);
std::string ToString(Distance value);

/// For files and keys: a whole number, or of a measure any, and the largest unit that keeps it
/// exact
/// ("64MiB", "4500ns", "400Gbps"). The parsers above read it back as the same value.
std::string ExactText(Duration value);
std::string ExactText(Bytes value);
std::string ExactText(BitRate value);
std::string ExactText(FlopRate value);
std::string ExactText(Distance value);

} // namespace scaleacross

#endif // SCALEACROSS_UNITS_H
