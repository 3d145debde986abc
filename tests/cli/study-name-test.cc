// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * Whatever a study calls itself, its database is a file in the current folder.
 */

#include "places.h"
#include "program.h"

namespace scaleacross
{

namespace
{

class StudyName : public ProgramTest
{
  protected:
    /// Runs the small study under another name, or none, in sub/, and gives the files there.
    std::vector<std::string> FilesOf(const std::string& line, const std::string& path = "s.yaml")
    {
        std::string text = g_smallStudy;
        text.replace(0, text.find('\n'), line);
        std::filesystem::create_directory(folder / "sub");
        Write("sub/s.yaml", text);
        const Call call =
            Run("--version >/dev/null && (cd sub && '" + ProgramPath() + "' run " + path + ")");
        EXPECT_EQ(call.code, 0) << line << call.err;
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder / "sub"))
        {
            if (entry.path().extension() != ".yaml")
            {
                names.push_back(entry.path().filename().string());
            }
        }
        std::filesystem::remove_all(folder / "sub");
        return names;
    }
};

TEST_F(StudyName, IsTheNameOfAFileHere)
{
    using Names = std::vector<std::string>;
    EXPECT_EQ(FilesOf("study: plain name"), Names{"plain name.db"});
    EXPECT_EQ(FilesOf("study: a/b"), Names{"a-b.db"});
    // SQLite would take it for a URI, and write ../pwn.db.
    EXPECT_EQ(FilesOf("study: \"file:%2e%2e%2Fpwn\""), Names{"file:%2e%2e%2Fpwn.db"});
    EXPECT_EQ(FilesOf("study: \":memory:\""), Names{":memory:.db"});
    // "..-..-up", whose six dots and dashes at the beginning are all replaced.
    EXPECT_EQ(FilesOf("study: ../../up"), Names{"______up.db"});
    EXPECT_EQ(FilesOf("study: .hidden"), Names{"_hidden.db"});
    EXPECT_EQ(FilesOf("study: -rf"), Names{"_rf.db"});
    // Without a name, that of the file's folder, however the path is written.
    for (const char* path : {"s.yaml", "./s.yaml", "../sub/s.yaml", "../sub/./s.yaml"})
    {
        EXPECT_EQ(FilesOf("# none", path), Names{"sub.db"}) << path;
    }
}

TEST_F(StudyName, IsRefusedIfItIsNone)
{
    for (const std::string& name : {std::string("\"\""),
                                    std::string("\"  \""),
                                    std::string("\"a\\nb\""),
                                    std::string(101, 'x')})
    {
        std::string text = g_smallStudy;
        text.replace(0, text.find('\n'), "study: " + name);
        Write("s.yaml", text);
        const Call call = Run("run s.yaml");
        EXPECT_EQ(call.code, 2) << name;
        EXPECT_NE(call.err.find("s.yaml:1:8 study: the name"), std::string::npos) << call.err;
        EXPECT_EQ(Files(), std::vector<std::string>{"s.yaml"});
    }
}

TEST_F(StudyName, APathGivenWithDbIsAPath)
{
    Write("s.yaml", g_smallStudy);
    ASSERT_EQ(Run("run s.yaml --db 'file:here.db?mode=memory'").code, 0);
    EXPECT_TRUE(std::filesystem::exists(folder / "file:here.db?mode=memory"));
    EXPECT_EQ(Run("show 'file:here.db?mode=memory'").code, 0);
}

} // namespace

} // namespace scaleacross
