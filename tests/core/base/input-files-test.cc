// SPDX-License-Identifier: GPL-2.0-only

#include "../../temporary-folder.h"
#include "core/base/input-files.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

namespace fs = std::filesystem;

class InputFilesTest : public testing::Test
{
  protected:
    std::string Made(const std::string& name) const
    {
        std::ofstream(folder / name) << name;
        return (folder / name).string();
    }

  private:
    TemporaryFolder m_temporary;

  protected:
    const fs::path folder{m_temporary.Path()};
};

TEST_F(InputFilesTest, AreFoundByEveryWay)
{
    const std::string read = Made("gpu.yaml");
    Made("other.yaml");
    NoteInputFile(read);
    fs::create_symlink("gpu.yaml", folder / "link");
    fs::create_symlink("link", folder / "second");
    fs::create_hard_link(read, folder / "hard");
    fs::create_symlink(".", folder / "round");
    for (const char* name : {"gpu.yaml", "./gpu.yaml", "link", "second", "hard", "round/gpu.yaml"})
    {
        const auto found = InputFileAt((folder / name).string());
        ASSERT_TRUE(found) << name;
        EXPECT_EQ(found->path, read);
    }
    EXPECT_FALSE(InputFileAt((folder / "other.yaml").string()));
    EXPECT_FALSE(InputFileAt((folder / "none").string()));
}

TEST_F(InputFilesTest, WhatIsGoneKeepsItsPlaceAndNotItsNumber)
{
    const std::string read = Made("read");
    NoteInputFile(read);
    fs::rename(read, folder / "moved"); // a hard link would have the same number
    EXPECT_TRUE(InputFileAt(read));
    EXPECT_FALSE(InputFileAt((folder / "moved").string()));
}

TEST_F(InputFilesTest, ADatabaseIsFourFiles)
{
    const std::string kept = Made("kept.db");
    NoteInputDatabase(kept);
    for (const char* name : {"kept.db", "kept.db-wal", "kept.db-shm", "kept.db-journal"})
    {
        const auto found = InputFileAt((folder / name).string());
        ASSERT_TRUE(found) << name; // there or not
        EXPECT_EQ(found->database, kept);
    }
}

} // namespace

} // namespace scaleacross
