// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/version.h"
#include "places.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <string>

namespace scaleacross
{
namespace
{

TEST(Version, IsTheOneInTheFile)
{
    std::ifstream file(SourcePath("contrib/scaleacross/VERSION"));
    std::string line;
    ASSERT_TRUE(std::getline(file, line));
    EXPECT_EQ(Version(), line);
}

TEST(Version, NamesTheCommitInACheckout)
{
    if (!std::filesystem::exists(SourcePath(".git")))
    {
        GTEST_SKIP() << "not a git checkout";
    }
    EXPECT_TRUE(std::regex_match(GitCommit(), std::regex("[0-9a-f]{40}"))) << GitCommit();
}

} // namespace
} // namespace scaleacross
