// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace scaleacross
{
namespace
{

std::string
WholeRefusal(const std::string& text, uint64_t least, uint64_t most)
{
    try
    {
        ParseWhole(text, least, most);
    }
    catch (const ValueError& error)
    {
        return error.Problem();
    }
    return "";
}

TEST(Text, WholeNumbers)
{
    EXPECT_EQ(ParseWhole("0", 0, 9), 0U);
    EXPECT_EQ(ParseWhole("16384", 1, UINT32_MAX), 16384U);
    EXPECT_EQ(ParseWhole("18446744073709551615", 0, UINT64_MAX), UINT64_MAX);
}

TEST(Text, WholeNumbersRefused)
{
    EXPECT_EQ(WholeRefusal("18446744073709551616", 0, UINT64_MAX),
              "'18446744073709551616' is out of range");
    EXPECT_EQ(WholeRefusal("4294967296", 0, UINT32_MAX), "'4294967296' is out of range");
    EXPECT_EQ(WholeRefusal("0", 1, 8), "'0' is out of range");
    EXPECT_EQ(WholeRefusal("-3", 1, 8), "'-3' is negative");
    EXPECT_EQ(WholeRefusal("+3", 1, 8), "'+3' has a sign");
    EXPECT_EQ(WholeRefusal("010", 1, 8),
              "'010' begins with a zero, which some readers take as octal");
    for (const auto* text :
         {"", "-", "0x10", "0o10", "1_000", "1,000", "8.0", "1e3", " 8", "8 ", "nan", "eight"})
    {
        EXPECT_NE(WholeRefusal(text, 0, 5000).find("is not a whole number"), std::string::npos)
            << text;
    }
}

TEST(Text, Numbers)
{
    EXPECT_EQ(ParseNumber("2.8", 1, 1000), 2.8);
    EXPECT_EQ(ParseNumber("1e-5", 0, 1), 1e-5);
    EXPECT_EQ(ParseNumber("16", 1, 1000), 16.0);
    for (const auto* text : {"", "nan", ".nan", "inf", "-inf", "1e999", "-1", "2e3", "1.0.0", "2x"})
    {
        EXPECT_THROW(ParseNumber(text, 0, 1000), ValueError) << text;
    }
}

TEST(Text, NumbersOfRangesWithoutTheirEnds)
{
    struct Case
    {
        NumberRange range;
        std::string text;
        bool least; //!< whether the range has its ends, -1 and 2
        bool most;
    };

    for (const Case& c :
         {Case{{-1, 2}, "a number from -1 to 2", true, true},
          {{-1, 2, true}, "a number above -1 and up to 2", false, true},
          {{-1, 2, false, true}, "a number from -1 to below 2", true, false},
          {NumberRange::Between(-1, 2), "a number above -1 and below 2", false, false}})
    {
        EXPECT_EQ(ParseNumber("0.5", c.range), 0.5);
        for (const auto& [number, fits] :
             {std::pair("-1", c.least), {"2", c.most}, {"-1.01", false}, {"2.01", false}})
        {
            EXPECT_EQ(c.range.Has(std::stod(number)), fits) << c.text << ": " << number;
            try
            {
                ParseNumber(number, c.range);
                EXPECT_TRUE(fits) << c.text << ": " << number;
            }
            catch (const ValueError& error)
            {
                EXPECT_FALSE(fits) << c.text << ": " << number;
                EXPECT_EQ(error.Allowed(), c.text);
            }
        }
    }
}

/// The C library rounds correctly as well: of short numbers and long ones, around 2^53 digits and
/// 10^22, beyond which no power of ten is a double.
TEST(Text, NumbersAreRoundedOnce)
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; i++)
    {
        const uint64_t digits = random() >> (random() % 64);
        std::string mantissa = std::to_string(digits);
        mantissa.insert(random() % (mantissa.size() + 1), ".");
        mantissa.insert(0, random() % 2 == 0 ? "-" : "");
        const auto exponent = static_cast<int>(random() % 61) - 30;
        const std::string text = mantissa + "e" + std::to_string(exponent);
        const double expected = std::strtod(text.c_str(), nullptr);
        EXPECT_EQ(DecimalValue(ScanDecimal(text), 0), expected) << text;
        EXPECT_EQ(DecimalValue(ScanDecimal(mantissa), exponent), expected) << text;
    }
    for (const char* text : {"9007199254740991",
                             "9007199254740992",
                             "9007199254740993",
                             "1e22",
                             "1e23",
                             "9007199254740991e22",
                             "3e-22",
                             "0.1",
                             "5e-324",
                             "-0"})
    {
        EXPECT_EQ(DecimalValue(ScanDecimal(text), 0), std::strtod(text, nullptr)) << text;
    }
    EXPECT_TRUE(std::signbit(DecimalValue(ScanDecimal("-0"), 0)));
    EXPECT_THROW(DecimalValue(ScanDecimal("1e309"), 0), std::out_of_range);
}

TEST(Text, BooleansAreTrueOrFalseOnly)
{
    EXPECT_TRUE(ParseBool("true"));
    EXPECT_FALSE(ParseBool("false"));
    for (const auto* text : {"yes", "no", "on", "off", "True", "1", "0", ""})
    {
        EXPECT_THROW(ParseBool(text), ValueError) << text;
    }
    try
    {
        ParseBool("yes");
    }
    catch (const ValueError& error)
    {
        EXPECT_EQ(error.Remedy(), "write true");
    }
}

TEST(Text, NumberTextIsShortestAndExact)
{
    EXPECT_EQ(NumberText(0.0), "0");
    EXPECT_EQ(NumberText(-0.0), "0");
    EXPECT_EQ(NumberText(2.8), "2.8");
    EXPECT_EQ(NumberText(30), "30");
    EXPECT_EQ(NumberText(0.1), "0.1");
    EXPECT_EQ(NumberText(400e9), "400000000000");
    for (const double value : {1.0 / 3.0, 1e-7, 3.35e12 / 7, 1e300, -2.5, 5e-324 * 1e10})
    {
        EXPECT_EQ(ParseNumber(NumberText(value), -1e301, 1e301), value);
    }
}

TEST(Text, Nearest)
{
    const std::vector<std::string> keys = {"distance", "latency", "capacity", "loss", "tp", "pp"};
    EXPECT_EQ(Nearest("distence", keys), "distance");
    EXPECT_EQ(Nearest("Latency", keys), "latency");
    EXPECT_EQ(Nearest("banana", keys), "");
    EXPECT_EQ(Nearest("", keys), "");
    EXPECT_EQ(Nearest(std::string(100000, 'x'), keys), "");
    // The beginning of a word, however long the rest is.
    EXPECT_EQ(Nearest("a100", {"h100", "a100-80g"}), "a100-80g");
    // Of several such words the one that lacks least.
    EXPECT_EQ(Nearest("megatron-cor", {"megatron-core-nccl", "megatron-core"}), "megatron-core");
    // A word that is there but for its case comes before one that goes on.
    EXPECT_EQ(Nearest("H100", {"h100-96g", "h100"}), "h100");
    // '-' and '_' are the same key to people: distance 0.
    EXPECT_EQ(Nearest("gpus-per-node", {"gpus", "gpus_per_node"}), "gpus_per_node");
}

TEST(Text, QuotedIsPrintable)
{
    EXPECT_EQ(Quoted("abc"), "'abc'");
    EXPECT_EQ(Quoted(std::string("a\0b\n", 4)), "'a\\x00b\\x0a'");
    EXPECT_EQ(Quoted(std::string(100, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(Text, ListsHaveBlanksAroundTheirParts)
{
    using Parts = std::vector<std::string>;
    EXPECT_EQ(ListParts("a"), Parts{"a"});
    EXPECT_EQ(ListParts("a,b"), (Parts{"a", "b"}));
    EXPECT_EQ(ListParts(" a b , \tc"), (Parts{"a b", "c"}));
    EXPECT_EQ(ListParts("a,,b, "), (Parts{"a", "", "b"}));
    EXPECT_EQ(ListParts(" "), Parts{""});
    EXPECT_EQ(ListParts(""), Parts{});
    EXPECT_EQ(ListParts("1km,\n 30km\r\n"), (Parts{"1km", "30km"}));
    EXPECT_EQ(Trimmed(" \t"), "");
    EXPECT_EQ(WithoutByteOrderMark("\xef\xbb\xbf"
                                   "a"),
              "a");
    EXPECT_EQ(WithoutByteOrderMark("\xef\xbb"), "\xef\xbb");
}

TEST(Text, AnyOf)
{
    EXPECT_EQ(AnyOf({"a"}), "a");
    EXPECT_EQ(AnyOf({"a", "b", "c"}), "a, b or c");
}

} // namespace
} // namespace scaleacross
