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
 * bytes in whole bytes, so that sums are exact and two engines can be compared to the byte. Rates,
 * work and lengths are physical measures and are kept as doubles.
 */
namespace scaleacross
{

/// A span of time in whole picoseconds. May be negative as a difference.
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
        return Duration(ns * 1000);
    }

    static constexpr Duration Microseconds(int64_t us)
    {
        return Duration(us * 1'000'000);
    }

    /// Rounded to the nearest picosecond. Domain: |s| < 9.2e6; beyond it the value saturates.
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
        return Duration(m_ps + o.m_ps);
    }

    constexpr Duration operator-(Duration o) const
    {
        return Duration(m_ps - o.m_ps);
    }

    constexpr Duration operator*(int64_t k) const
    {
        return Duration(m_ps * k);
    }

    constexpr Duration operator/(int64_t k) const
    {
        return Duration(m_ps / k);
    }

    constexpr Duration& operator+=(Duration o)
    {
        m_ps += o.m_ps;
        return *this;
    }

    constexpr Duration& operator-=(Duration o)
    {
        m_ps -= o.m_ps;
        return *this;
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

    int64_t m_ps{0};
};

/// A number of bytes. Never negative.
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
        return Bytes(m_count + o.m_count);
    }

    /// Domain: o <= *this.
    constexpr Bytes operator-(Bytes o) const
    {
        return Bytes(m_count - o.m_count);
    }

    constexpr Bytes operator*(uint64_t k) const
    {
        return Bytes(m_count * k);
    }

    constexpr Bytes& operator+=(Bytes o)
    {
        m_count += o.m_count;
        return *this;
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

/// For people: three or four significant digits and a fitting unit ("1.234 ms", "12.5 GiB").
std::string ToString(Duration value);
std::string ToString(Bytes value);
std::string ToString(BitRate value);
std::string ToString(FlopRate value);
std::string ToString(Distance value);

/// For files and keys: a whole number and the largest unit that keeps it exact ("64MiB", "4500ns").
/// The parsers above read it back as the same value.
std::string ExactText(Duration value);
std::string ExactText(Bytes value);

} // namespace scaleacross

#endif // SCALEACROSS_UNITS_H
