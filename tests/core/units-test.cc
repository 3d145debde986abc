// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"
#include "core/base/units.h"

#include <cstdint>
#include <gtest/gtest.h>
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

TEST(Units, SecondsSaturate)
{
    EXPECT_EQ(Duration::Seconds(1e9), Duration::Max());
    EXPECT_EQ(Duration::Seconds(-1e9).Ps(), INT64_MIN);
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
