// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/base/units.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace scaleacross
{
namespace
{

/// The message of the ValueError that `parse` throws, or "" if it throws none.
template <class Parse>
std::string
Refusal(Parse parse)
{
    try
    {
        parse();
    }
    catch (const ValueError& error)
    {
        return error.what();
    }
    return "";
}

TEST(Units, DurationIsWholePicoseconds)
{
    EXPECT_EQ(ParseDuration("1ps").Ps(), 1);
    EXPECT_EQ(ParseDuration("1.5ns").Ps(), 1500);
    EXPECT_EQ(ParseDuration("5us"), Duration::Microseconds(5));
    EXPECT_EQ(ParseDuration("5 us"), Duration::Microseconds(5));
    EXPECT_EQ(ParseDuration("2.5e-3s"), ParseDuration("2.5ms"));
    EXPECT_EQ(ParseDuration("0s"), Duration());
    // 1.4 ps is nearest to 1 ps, 1.5 ps to 2 ps.
    EXPECT_EQ(ParseDuration("1.4ps").Ps(), 1);
    EXPECT_EQ(ParseDuration("1.5ps").Ps(), 2);
}

TEST(Units, BytesByPowersOf1000And1024)
{
    EXPECT_EQ(ParseBytes("80GB").Count(), 80'000'000'000ULL);
    EXPECT_EQ(ParseBytes("80GiB").Count(), 80ULL << 30);
    EXPECT_EQ(ParseBytes("1.024kB"), ParseBytes("1KiB"));
    EXPECT_EQ(ParseBytes("0B").Count(), 0U);
}

TEST(Units, RatesInBitsAndBytes)
{
    EXPECT_EQ(ParseBitRate("400Gbps").Value(), 400e9);
    EXPECT_EQ(ParseBitRate("450GB/s").Value(), 3.6e12);
    EXPECT_EQ(ParseFlopRate("989TFLOP/s").Value(), 989e12);
    EXPECT_EQ(ParseDistance("30km").Value(), 30.0);
}

TEST(Units, EqualValuesInDifferentUnitsAreEqualToTheBit)
{
    // Multiplying 0.1 by 1e12 would round twice; each of these pairs is the same decimal number.
    for (int i = 1; i < 1000; i++)
    {
        const std::string digits = std::to_string(i);
        const std::string thousandth = "0." + std::string(3 - digits.size(), '0') + digits;
        EXPECT_EQ(ParseBitRate(thousandth + "Tbps"), ParseBitRate(digits + "Gbps")) << i;
        EXPECT_EQ(ParseBitRate(thousandth + "GB/s"), ParseBitRate(digits + "MB/s")) << i;
        EXPECT_EQ(ParseDistance(thousandth + "km"), ParseDistance(digits + "m")) << i;
        EXPECT_EQ(ParseDuration(thousandth + "us"), ParseDuration(digits + "ns")) << i;
        EXPECT_EQ(ParseFlopRate(thousandth + "PFLOP/s"), ParseFlopRate(digits + "TFLOP/s")) << i;
    }
}

TEST(Units, RefusalNamesTheValueAndWhatIsAllowed)
{
    EXPECT_NE(Refusal([] { ParseBitRate("400"); }).find("'400' has no unit"), std::string::npos);
    EXPECT_NE(Refusal([] { ParseBitRate("400"); }).find("400Gbps"), std::string::npos);
    EXPECT_NE(Refusal([] { ParseBitRate("400gbps"); }).find("did you mean Gbps?"),
              std::string::npos);
    EXPECT_NE(Refusal([] { ParseDistance("-3km"); }).find("is negative"), std::string::npos);
    EXPECT_NE(Refusal([] { ParseDistance("1e999km"); }).find("is too large"), std::string::npos);
    EXPECT_NE(Refusal([] { ParseBytes("1e30B"); }).find("is too large"), std::string::npos);
    // 107 days in picoseconds are more than 2^63.
    EXPECT_NE(Refusal([] { ParseDuration("9244800s"); }).find("is too large"), std::string::npos);
    EXPECT_NE(Refusal([] { ParseDuration("0.1ps"); }).find("is too small"), std::string::npos);
    EXPECT_NE(Refusal([] { ParseBytes("0.1B"); }).find("is too small"), std::string::npos);
}

TEST(Units, RefusesWhatIsNoQuantity)
{
    for (const auto* text : {"",
                             " ",
                             "us",
                             ".",
                             "-",
                             "e5us",
                             "nan",
                             "inf us",
                             "0x10us",
                             "1_000us",
                             "1,5us",
                             "5  us",
                             " 5us",
                             "5us ",
                             "5us5us",
                             "--5us",
                             "1.2.3us"})
    {
        EXPECT_NE(Refusal([&] { ParseDuration(text); }), "") << "'" << text << "'";
    }
}

TEST(Units, SerialisationTime)
{
    // 4178 B at 400 Gb/s: 4178 x 8 / 400e9 s = 83.56 ns.
    EXPECT_EQ(SerialisationTime(Bytes(4178), GigabitsPerSecond(400)).Ps(), 83'560);
    // One byte at 1 Tb/s is 8 ps; at 3 Tb/s 2.67 ps, nearest 3.
    EXPECT_EQ(SerialisationTime(Bytes(1), BitRate(1e12)).Ps(), 8);
    EXPECT_EQ(SerialisationTime(Bytes(1), BitRate(3e12)).Ps(), 3);
}

TEST(Units, FibreDelayIsFiveMicrosecondsPerKilometre)
{
    EXPECT_EQ(FibreDelay(ParseDistance("30km")), Duration::Microseconds(150));
    EXPECT_EQ(FibreDelay(ParseDistance("0.5km")), Duration::Nanoseconds(2500));
}

/// What an OutOfRange says; "" if none is thrown.
template <class Work>
std::string
BeyondRange(const Work& work)
{
    try
    {
        work();
    }
    catch (const OutOfRange& error)
    {
        EXPECT_EQ(error.Reason(), "range");
        return error.what();
    }
    return "";
}

TEST(Units, SecondsAreAtMost106Days)
{
    EXPECT_EQ(Duration::Seconds(9.1e6).Ps(), 9'100'000'000'000'000'000);
    EXPECT_EQ(BeyondRange([] { Duration::Seconds(1e9); }),
              "a time of 1000000000 s is beyond 9223372 s (106 days), the longest time there is");
    EXPECT_NE(BeyondRange([] { Duration::Seconds(-1e9); }), "");
    EXPECT_NE(BeyondRange([] { SerialisationTime(Bytes(1), BitRate(0)); }), "");
    EXPECT_NE(BeyondRange([] { ComputeTime(Flops(1e30), FlopRate(1e12)); }), "");
    EXPECT_NE(BeyondRange([] { Duration::Microseconds(INT64_MAX / 1000); }), "");
    EXPECT_NE(BeyondRange([] { Duration::Nanoseconds(INT64_MIN / 999); }), "");
}

TEST(Units, ArithmeticOfTimesNamesWhatIsOutOfRange)
{
    EXPECT_EQ(BeyondRange([] { Duration::Seconds(8e6) + Duration::Seconds(2e6); }),
              "8000000 s + 2000000 s is beyond 9223372 s (106 days), the longest time there is");
    EXPECT_EQ(BeyondRange([] { Duration::Seconds(2) * 5'000'000; }),
              "2 s x 5000000 is beyond 9223372 s (106 days), the longest time there is");
    const Duration least = Duration::Picoseconds(INT64_MIN);
    EXPECT_NE(BeyondRange([&] { least - Duration::Picoseconds(1); }), "");
    EXPECT_NE(BeyondRange([&] { least / -1; }), "");
    EXPECT_NE(BeyondRange([&] { least * -1; }), "");
    Duration sum = Duration::Max();
    EXPECT_NE(BeyondRange([&] { sum += Duration::Picoseconds(1); }), "");
    EXPECT_EQ(sum, Duration::Max()); // as it was
}

/// Sums, differences and products of all pairs of values around the ends of the range and of
/// random ones of every size, against the conditions in whole numbers.
TEST(Units, ArithmeticOfTimesIsExactUpToTheEndsOfTheRange)
{
    std::vector<int64_t> values;
    for (const int64_t base : {int64_t{0},
                               INT64_MAX,
                               INT64_MIN,
                               INT64_MAX / 2,
                               INT64_MIN / 2,
                               INT64_MAX / 3,
                               int64_t{3'037'000'499},
                               int64_t{-3'037'000'500}}) // floor and ceil of sqrt(2^63)
    {
        for (int64_t step = -3; step <= 3; step++)
        {
            if ((step < 0 && base < INT64_MIN - step) || (step > 0 && base > INT64_MAX - step))
            {
                continue;
            }
            values.push_back(base + step);
        }
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < 300; i++)
    {
        const auto value = static_cast<int64_t>(random());
        values.push_back(value >> (random() % 64));
    }
    uint64_t inRange = 0;
    uint64_t beyond = 0;
    const auto check = [&](bool holds, auto&& work, const char* what, int64_t a, int64_t b) {
        (holds ? inRange : beyond)++;
        EXPECT_EQ(BeyondRange(work).empty(), holds) << a << what << b;
    };
    for (const int64_t a : values)
    {
        for (const int64_t b : values)
        {
            const Duration x = Duration::Picoseconds(a);
            const Duration y = Duration::Picoseconds(b);
            const bool sum = b >= 0 ? a <= INT64_MAX - b : a >= INT64_MIN - b;
            check(
                sum,
                [&] {
                    const int64_t exact = (x + y).Ps(); // throws before the other side overflows
                    EXPECT_EQ(exact, a + b);
                },
                " + ",
                a,
                b);
            const bool difference = b >= 0 ? a >= INT64_MIN + b : a <= INT64_MAX + b;
            check(
                difference,
                [&] {
                    const int64_t exact = (x - y).Ps(); // throws before the other side overflows
                    EXPECT_EQ(exact, a - b);
                },
                " - ",
                a,
                b);
            // |a b| <= 2^63 - (1 if a b > 0), by division of magnitudes, which rounds down.
            const auto magnitude = [](int64_t v) {
                return v < 0 ? -static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
            };
            const uint64_t most = (uint64_t{1} << 63) - ((a < 0) == (b < 0) ? 1 : 0);
            const bool product = b == 0 || magnitude(a) <= most / magnitude(b);
            check(
                product,
                [&] {
                    const int64_t exact = (x * b).Ps(); // throws before the other side overflows
                    EXPECT_EQ(exact, a * b);
                },
                " x ",
                a,
                b);
        }
    }
    EXPECT_GT(inRange, 10'000U);
    EXPECT_GT(beyond, 10'000U);
}

TEST(Units, BytesAreNeitherNegativeNorBeyondTheirRange)
{
    const Bytes most(UINT64_MAX);
    EXPECT_EQ(BeyondRange([&] { most + Bytes(1); }),
              "16777216 TiB + 1 B is beyond 16777216 TiB, the most bytes there are");
    EXPECT_EQ(BeyondRange([] { Bytes(1) - Bytes(2); }), "1 B - 2 B is less than no bytes");
    EXPECT_EQ((most - Bytes(1) + Bytes(1)), most);
    EXPECT_EQ(Bytes(UINT64_MAX / 3) * 3, most); // 2^64 - 1 is divisible by 3
    EXPECT_NE(BeyondRange([] { Bytes(UINT64_MAX / 3 + 1) * 3; }), "");
    EXPECT_NE(BeyondRange([] { Bytes(uint64_t{1} << 32) * (uint64_t{1} << 32); }), "");
    EXPECT_EQ(most * 0, Bytes(0));
}

TEST(Units, TextForPeople)
{
    EXPECT_EQ(ToString(Duration::Nanoseconds(1'234'000)), "1.234 ms");
    EXPECT_EQ(ToString(Duration()), "0 ps");
    EXPECT_EQ(ToString(Duration() - Duration::Microseconds(5)), "-5 us");
    EXPECT_EQ(ToString(Bytes(12'884'901'888ULL)), "12 GiB");
    EXPECT_EQ(ToString(Bytes(1023)), "1023 B");
    EXPECT_EQ(ToString(GigabitsPerSecond(400)), "400 Gbps");
    EXPECT_EQ(ToString(GigabitsPerSecond(1.6e6)), "1.6 Pbps");
    EXPECT_EQ(ToString(FlopRate(989e12)), "989 TFLOP/s");
    EXPECT_EQ(ToString(ParseDistance("30km")), "30 km");
    EXPECT_EQ(ToString(ParseDistance("500m")), "500 m");
}

/// Bits per second are never taken for bytes.
TEST(Units, RatesInOtherWordsAreBits)
{
    for (const auto& [text, unit] : {std::pair("1.6Tb/s", "Tbps"),
                                     {"1.6T", "Tbps"},
                                     {"400G", "Gbps"},
                                     {"400Gb", "Gbps"},
                                     {"400Gbit/s", "Gbps"},
                                     {"400Gbit", "Gbps"},
                                     {"9b/s", "bps"}})
    {
        try
        {
            ParseBitRate(text);
            ADD_FAILURE() << text;
        }
        catch (const ValueError& error)
        {
            EXPECT_EQ(error.Remedy(), "did you mean " + std::string(unit) + "?") << text;
        }
    }
}

TEST(Units, TextForPeopleRoundsIntoTheNextUnit)
{
    // Four digits of 999.96 us read 1000 us, which is called 1 ms.
    EXPECT_EQ(ToString(Duration::Nanoseconds(999'960)), "1 ms");
    EXPECT_EQ(ToString(Duration::Nanoseconds(999'940)), "999.9 us");
}

TEST(Units, ExactTextReadsBackAsTheSameValue)
{
    for (const int64_t ps : std::vector<int64_t>{0, 1, 999, 1000, 4'500'000, 1'000'000'000'000, 7})
    {
        EXPECT_EQ(ParseDuration(ExactText(Duration::Picoseconds(ps))).Ps(), ps);
    }
    for (const uint64_t count :
         std::vector<uint64_t>{0, 1, 82, 1023, 1024, 64ULL << 20, (64ULL << 20) + 1, 3ULL << 40})
    {
        EXPECT_EQ(ParseBytes(ExactText(Bytes(count))).Count(), count);
    }
    EXPECT_EQ(ExactText(Bytes(4096)), "4KiB");
    EXPECT_EQ(ExactText(Bytes(82)), "82B");
    EXPECT_EQ(ExactText(Duration::Nanoseconds(4500)), "4500ns");
}

} // namespace
} // namespace scaleacross
