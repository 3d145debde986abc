// SPDX-License-Identifier: GPL-2.0-only

#include "../any-field.h"
#include "core/io/read-study.h"
#include "core/spec/plan-fields.h"
#include "core/spec/price-spec.h"
#include "core/spec/uncertain-spec.h"
#include "places.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

// doc/study-file.md is the reference of the schema: what it shows must be so.

namespace scaleacross
{
namespace
{

std::string
Page(const std::string& name = "study-file")
{
    std::ifstream file(SourcePath("contrib/scaleacross/doc/") + name + ".md");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The n-th block of YAML on the page.
std::string
YamlBlock(const std::string& page, int n)
{
    const std::string fence = "```";
    const std::string open = fence + "yaml\n";
    size_t at = 0;
    for (int i = 0; i <= n; i++)
    {
        at = page.find(open, at) + open.size();
    }
    return page.substr(at, page.find(fence, at) - at);
}

/// The row of a table that begins with this key, or "".
std::string
Row(const std::string& page, const std::string& section, const std::string& key)
{
    const size_t begin = page.find("## " + section + "\n");
    const size_t at = page.find("\n| `" + key + "` |", begin);
    return at == std::string::npos ? "" : page.substr(at + 1, page.find('\n', at + 1) - at - 1);
}

TEST(StudyFileDoc, ExamplesAreValid)
{
    const std::string study = YamlBlock(Page(), 0);
    EXPECT_NO_THROW(ParseStudy(study, "study-file.md"));
    EXPECT_NO_THROW(ParseStudy(study + YamlBlock(Page(), 1), "study-file.md")); // events
    EXPECT_NO_THROW(ParseStudy(study +
                                   "uncertain: {distance: {values: [1x, 2x], shares: [0.9, 0.1]}, "
                                   "loss: {values: [1e-7, 1e-6, 1e-5]}}\n",
                               "study-file.md"));
    // The search of the third block in place of the first one's.
    const std::string search = YamlBlock(Page(), 2);
    EXPECT_NO_THROW(ParseStudy(study.substr(0, study.find("search:")) + search, "study-file.md"));
}

TEST(StudyFileDoc, DescribesEveryPlanFieldWithItsDefault)
{
    const std::string page = Page();
    for (const auto& field : PlanFields())
    {
        const size_t point = field.key.find('.');
        const std::string section = field.key.substr(0, point) == "plan" ? "Plan" : "Network";
        // One row for all tiers, and for all classes.
        const size_t tier = field.key.rfind("network.tiers.", 0) == 0 ? 14 : std::string::npos;
        const bool classed = field.key.rfind("network.classes.", 0) == 0;
        const std::string key = tier == std::string::npos
                                    ? classed ? "classes.<part>" : field.key.substr(point + 1)
                                    : "tiers.<tier>" + field.key.substr(field.key.find('.', tier));
        const std::string row = Row(page, section, key);
        ASSERT_NE(row, "") << field.key;
        const std::string value = field.get({});
        const bool follows = field.key == "plan.dp";
        EXPECT_TRUE(follows || row.find(" " + value + " |") != std::string::npos ||
                    row.find(" `" + value + "` |") != std::string::npos)
            << field.key << "=" << value << ": " << row;
    }
}

TEST(StudyFileDoc, NamesEveryFieldOfEveryTable)
{
    // What stacks say is on the page of compute.
    const std::string page = Page() + Page("compute");
    for (const AnyField& field : AllFields())
    {
        // Tiers have a row for all of them, above.
        const std::string key = field.path.substr(field.path.rfind('.') + 1);
        EXPECT_NE(page.find("`" + key + "`"), std::string::npos) << field.path;
        EXPECT_NE(field.help, "") << field.path;
    }
    for (const auto& keys : {KeysOf(PriceSpec::Fields()),
                             KeysOf(UncertainSpec::Fields()),
                             KeysOf(SpreadSpec::Fields()),
                             UncertainSpec::FigureKeys()})
    {
        for (const std::string& key : keys)
        {
            EXPECT_NE(page.find("`" + key + "`"), std::string::npos) << key;
        }
    }
}

} // namespace
} // namespace scaleacross
