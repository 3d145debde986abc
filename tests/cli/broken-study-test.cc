// SPDX-License-Identifier: GPL-2.0-only

#include "program.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <unistd.h>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;
using testing::StartsWith;

/// Ten kinds of broken study: exit 2, one clear message, nothing written.
class BrokenStudy : public ProgramTest
{
  protected:
    /// g_smallStudy with `from` replaced by `to`.
    static std::string With(const std::string& from, const std::string& to)
    {
        std::string text = g_smallStudy;
        const auto at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return text.replace(at, from.size(), to);
    }

    void Expect(const std::string& message) const
    {
        const auto before = Files();
        for (const char* command : {"explore", "run", "compare", "show"})
        {
            const Call call = Run(std::string(command) + " study.yaml");
            EXPECT_EQ(call.code, 2) << command;
            EXPECT_EQ(call.out, "") << command;
            EXPECT_THAT(call.err, StartsWith("scaleacross: error: ")) << command;
            EXPECT_THAT(call.err, HasSubstr("study.yaml")) << command;
            EXPECT_THAT(call.err, HasSubstr(message)) << command;
            // One message: no second "error:" and no page of text.
            EXPECT_EQ(call.err.find("error: ", 21), std::string::npos) << call.err;
            EXPECT_LT(call.err.size(), 2000) << command;
        }
        EXPECT_EQ(Files(), before);
    }
};

TEST_F(BrokenStudy, UnknownKey)
{
    Write("study.yaml", With("schedule: 1f1b", "scheduler: 1f1b"));
    Expect("schedule");
}

TEST_F(BrokenStudy, MissingUnit)
{
    Write("study.yaml", With("10km", "10"));
    Expect("unit");
}

TEST_F(BrokenStudy, NegativeValue)
{
    Write("study.yaml", With("global_batch: 16", "global_batch: -16"));
    Expect("-16");
}

TEST_F(BrokenStudy, DegreesThatDoNotMultiplyToTheGpus)
{
    std::string text = With("plan: {tp: 4, pp: 2,", "plan: {tp: 4, pp: 3,");
    Write("study.yaml", text.erase(text.find("search:")));
    Expect("16 GPUs");
}

TEST_F(BrokenStudy, Unreadable)
{
    Write("study.yaml", g_smallStudy);
    std::filesystem::permissions(folder / "study.yaml", std::filesystem::perms::none);
    if (access((folder / "study.yaml").c_str(), R_OK) == 0)
    {
        // The superuser may read everything; a link to nowhere cannot be read by anybody.
        std::filesystem::remove(folder / "study.yaml");
        std::filesystem::create_symlink("nowhere", folder / "study.yaml");
    }
    Expect("study.yaml");
}

TEST_F(BrokenStudy, Empty)
{
    Write("study.yaml", "");
    Expect("empty");
}

TEST_F(BrokenStudy, Directory)
{
    std::filesystem::create_directory(folder / "study.yaml");
    Expect("is a directory");
}

TEST_F(BrokenStudy, TenMegabytesOfGarbage)
{
    std::string garbage(10'000'000, '\0');
    uint32_t state = 1;
    for (auto& byte : garbage)
    {
        state = state * 1664525 + 1013904223;
        byte = static_cast<char>(state >> 24);
    }
    Write("study.yaml", garbage);
    Expect("");
}

TEST_F(BrokenStudy, CyclicAlias)
{
    Write("study.yaml", With("plan: {", "plan: &p {cp: *p, "));
    Expect("");
}

TEST_F(BrokenStudy, WrongType)
{
    Write("study.yaml", With("tp: 4,", "tp: [4],"));
    Expect("tp");
}

} // namespace

} // namespace scaleacross
