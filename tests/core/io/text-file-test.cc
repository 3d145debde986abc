// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/text-file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

using ::testing::HasSubstr;

ConfigError
Refusal(const std::string& text)
{
    try
    {
        CheckText(text, "f");
    }
    catch (const ConfigError& error)
    {
        return error;
    }
    ADD_FAILURE() << "accepted";
    return ConfigError("", "", "", "");
}

TEST(TextFile, Utf8)
{
    // Two, three and four bytes, and a byte order mark.
    EXPECT_NO_THROW(CheckText("\xef\xbb\xbf"
                              "a \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\r\n\t",
                              "f"));
    // A lone continuation, a cut sequence, overlong forms, a surrogate, beyond U+10FFFF.
    for (const auto* bytes : {"\x80",
                              "\xe2\x82",
                              "\xc0\xaf",
                              "\xe0\x80\xaf",
                              "\xed\xa0\x80",
                              "\xf4\x90\x80\x80",
                              "\xff"})
    {
        EXPECT_THAT(Refusal(std::string("ab\nc") + bytes).Problem(), HasSubstr("is not UTF-8"));
        EXPECT_EQ(Refusal(std::string("ab\nc") + bytes).Where(), "f:2:2");
    }
}

TEST(TextFile, ControlCharacters)
{
    EXPECT_EQ(Refusal(std::string("a\0b", 3)).Where(), "f:1:2");
    EXPECT_THAT(Refusal(std::string("a\0b", 3)).Problem(), HasSubstr("0x00"));
    EXPECT_THAT(Refusal("a\x1b[31m").Problem(), HasSubstr("control character"));
}

TEST(TextFile, EmptyAndTooLarge)
{
    EXPECT_THAT(Refusal("").Problem(), HasSubstr("empty"));
    EXPECT_THAT(Refusal(" \n\t\n").Problem(), HasSubstr("empty"));
    EXPECT_NO_THROW(CheckText(std::string(kMostTextBytes, 'x'), "f"));
    EXPECT_THAT(Refusal(std::string(kMostTextBytes + 1, 'x')).Problem(), HasSubstr("too large"));
}

TEST(TextFile, PathsThatAreNoFiles)
{
    for (const auto& [path, problem] : {std::pair("/no/such/file", "there is no such file"),
                                        {"/tmp", "is a directory"},
                                        {"/dev/null", "is not a regular file"},
                                        {"", "there is no such file"}})
    {
        try
        {
            ReadTextFile(path);
            ADD_FAILURE() << path;
        }
        catch (const ConfigError& error)
        {
            EXPECT_EQ(error.Where(), path);
            EXPECT_EQ(error.Problem(), problem);
        }
    }
}

} // namespace
} // namespace scaleacross
