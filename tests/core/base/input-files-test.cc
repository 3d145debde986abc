// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/input-files.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

TEST(InputFilesTest, AreNotedOnceInTheirOrder)
{
    const size_t before = InputFiles().size();
    NoteInputFile("a.yaml");
    NoteInputDatabase("kept.db");
    NoteInputFile("a.yaml");
    const auto files = InputFiles(before);
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files[0].path, "a.yaml");
    EXPECT_EQ(files[0].place, std::filesystem::absolute("a.yaml").string());
    EXPECT_FALSE(files[0].isDatabase);
    EXPECT_TRUE(files[1].isDatabase);
    EXPECT_TRUE(InputFiles(before + 9).empty());
}

} // namespace

} // namespace scaleacross
