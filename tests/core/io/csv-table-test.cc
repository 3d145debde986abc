// SPDX-License-Identifier: GPL-2.0-only

#include "../../temporary-folder.h"
#include "core/base/errors.h"
#include "core/io/csv-table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;

std::vector<std::string>
CellsOf(const std::string& line)
{
    const TemporaryFolder folder;
    return ReadCsvTable(folder.Write("a.csv", "a,b,c\n" + line + "\n")).rows.front().cells;
}

TEST(CsvTable, ReadsCells)
{
    EXPECT_THAT(CellsOf("1,2,3"), ElementsAre("1", "2", "3"));
    EXPECT_THAT(CellsOf(",,"), ElementsAre("", "", ""));
    EXPECT_THAT(CellsOf("1,2,3\r"), ElementsAre("1", "2", "3"));
    EXPECT_THAT(CellsOf("\"1,5\",\"say \"\"so\"\"\",\"\""), ElementsAre("1,5", "say \"so\"", ""));
    EXPECT_THAT(CellsOf("1\"2,3,\"4\""), ElementsAre("1\"2", "3", "4"));
}

TEST(CsvTable, SaysWhereALineIs)
{
    const TemporaryFolder folder;
    const std::string path = folder.Write("a.csv", "# of May\n\na,b\n# more\n1,2\n");
    const CsvTable table = ReadCsvTable(path);
    EXPECT_THAT(table.columns, ElementsAre("a", "b"));
    EXPECT_EQ(table.where, path + ":3");
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.rows[0].where, path + ":5");
}

TEST(CsvTable, ReadsWhatOtherProgramsWrite)
{
    const TemporaryFolder folder;
    const CsvTable table = ReadCsvTable(folder.Write("a.csv",
                                                     "\xef\xbb\xbf"
                                                     "a,b\r\n1,2\r\n"));
    EXPECT_THAT(table.columns, ElementsAre("a", "b"));
    EXPECT_THAT(table.rows.front().cells, ElementsAre("1", "2"));
}

TEST(CsvTable, RefusesWhatIsNone)
{
    for (const std::string text : {"a,a\n1,2\n",
                                   "a,\n1,2\n",
                                   "a,b\n1\n",
                                   "a,b\n1,2,3\n",
                                   "a,b\n",
                                   "a,b\n\"1,2\n",
                                   "a,b\n\"1\"2,3\n",
                                   "a,b\n1,\"\n",
                                   "a,b\n1,\"2\"\"\n"})
    {
        const TemporaryFolder folder;
        EXPECT_THROW(ReadCsvTable(folder.Write("a.csv", text)), ConfigError) << text;
    }
}

} // namespace

} // namespace scaleacross
