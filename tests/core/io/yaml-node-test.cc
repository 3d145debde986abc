// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/yaml-node.h"

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
        ParseYaml(text, "f.yaml");
    }
    catch (const ConfigError& error)
    {
        return error;
    }
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
    return ConfigError("", "", "", "");
}

TEST(YamlNode, KnowsWhereEverythingStands)
{
    const YamlNode root = ParseYaml("a: 1\nb:\n  - x\n  - {c: y}\n", "f.yaml");
    EXPECT_EQ(root.Find("a")->text, "1");
    EXPECT_EQ(root.Find("a")->Place(), "f.yaml:1:4");
    EXPECT_EQ(root.PlaceOfKey(1), "f.yaml:2:1");
    const YamlNode& list = *root.Find("b");
    ASSERT_EQ(list.kind, YamlNode::Kind::List);
    EXPECT_EQ(list.children[0].Place(), "f.yaml:3:5");
    EXPECT_EQ(list.children[1].Find("c")->Place(), "f.yaml:4:9");
    EXPECT_EQ(root.Find("z"), nullptr);
}

TEST(YamlNode, JsonIsYaml)
{
    const YamlNode root = ParseYaml("{\n\t\"a\": [1, \"two\", null, true],\n\t\"b\": {}\n}\n", "f");
    EXPECT_EQ(root.Find("a")->children[1].text, "two");
    EXPECT_EQ(root.Find("a")->children[2].kind, YamlNode::Kind::Null);
    EXPECT_EQ(root.Find("b")->kind, YamlNode::Kind::Map);
}

TEST(YamlNode, QuotesAndBlocks)
{
    // After a byte order mark and characters of several bytes, places still fit.
    const YamlNode root =
        ParseYaml("\xef\xbb\xbf"
                  "a: '\xc3\xa9''s'\nb: \"\xe2\x82\xac\\\"\"\nc: |\n  it's\n  \"x\n"
                  "d: &n 'y'\ne: *n\nf: it's\n",
                  "f");
    EXPECT_EQ(root.Find("a")->text, "\xc3\xa9's");
    EXPECT_EQ(root.Find("b")->text, "\xe2\x82\xac\"");
    EXPECT_EQ(root.Find("c")->text, "it's\n\"x\n");
    EXPECT_EQ(root.Find("e")->text, "y");
    EXPECT_EQ(root.Find("f")->text, "it's");
}

TEST(YamlNode, AliasesAreCopies)
{
    YamlNode root = ParseYaml("a: &x {k: 1}\nb: *x\n", "f");
    SetYaml(root, "b.k", "2");
    EXPECT_EQ(root.Find("a")->Find("k")->text, "1");
    EXPECT_EQ(root.Find("b")->Find("k")->text, "2");
}

TEST(YamlNode, RefusesWhatYamlCppAccepts)
{
    EXPECT_EQ(Refusal("a: 1\nb: 2\na: 3\n").Where(), "f.yaml:3:1");
    EXPECT_THAT(Refusal("a: 1\na: 3\n").Problem(), HasSubstr("'a' is given twice"));
    EXPECT_THAT(Refusal("{a: 1, \"a\": 2}").Problem(), HasSubstr("twice"));
    EXPECT_THAT(Refusal("a: 1\n---\nb: 2\n").Problem(), HasSubstr("second document"));
    EXPECT_THAT(Refusal("a: !!binary aGk=\n").Problem(), HasSubstr("tag"));
    EXPECT_THAT(Refusal("? [a]\n: 1\n").Problem(), HasSubstr("key is expected"));
    EXPECT_THAT(Refusal("~: 1\n").Problem(), HasSubstr("key is missing"));
}

TEST(YamlNode, RefusesEndlessAndHugeValues)
{
    EXPECT_EQ(Refusal("a: &x [1, *x]\n").Where(), "f.yaml:1:11");
    EXPECT_THAT(Refusal("a: &x {b: *x}\n").Problem(), HasSubstr("inside the value"));
    EXPECT_THAT(Refusal("&x a: *x\nb: *y\n").Problem(), HasSubstr("not YAML"));
    // Each line holds the one above ten times: 10^9 values after nine.
    std::string bombs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 10; i++)
    {
        const std::string above = "*a" + std::to_string(i - 1);
        bombs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + above;
        for (int j = 1; j < 10; j++)
        {
            bombs += ", " + above;
        }
        bombs += "]\n";
    }
    EXPECT_THAT(Refusal(bombs).Problem(), HasSubstr("too many values"));
    // One long text, often.
    std::string copies = "a: &a " + std::string(100000, 'x') + "\nb: [*a";
    for (int i = 0; i < 1000; i++)
    {
        copies += ", *a";
    }
    EXPECT_THAT(Refusal(copies + "]\n").Problem(), HasSubstr("too many values"));
}

TEST(YamlNode, RefusesDeepNesting)
{
    const std::string deep(100000, '[');
    EXPECT_NE(Refusal(deep).Problem(), "");
    EXPECT_THAT(Refusal("a: " + std::string(1000, '[') + std::string(1000, ']')).Problem(),
                HasSubstr("nested too deeply"));
    std::string maps;
    for (int i = 0; i < 600; i++)
    {
        maps += std::string(static_cast<size_t>(i), ' ') + "a:\n";
    }
    EXPECT_THAT(Refusal(maps).Problem(), HasSubstr("nested too deeply"));
    std::string dashes;
    for (int i = 0; i < 600; i++)
    {
        dashes += "- ";
    }
    EXPECT_THAT(Refusal(dashes + "x").Problem(), HasSubstr("nested too deeply"));
}

TEST(YamlNode, SetChangesAddsAndIndexes)
{
    YamlNode root = ParseYaml("a: {b: 1}\nl: [{x: 1}, {x: 2}]\ne:\n", "f");
    SetYaml(root, "a.b", "2");
    SetYaml(root, "a.c.d", "[1, 2]");
    SetYaml(root, "l.1.x", "5");
    SetYaml(root, "e.k", "v");
    EXPECT_EQ(root.Find("a")->Find("b")->text, "2");
    EXPECT_EQ(root.Find("a")->Find("b")->Place(), "--set a.b=2");
    EXPECT_EQ(root.Find("a")->Find("c")->Find("d")->children.size(), 2U);
    EXPECT_EQ(root.Find("l")->children[1].Find("x")->text, "5");
    EXPECT_EQ(root.Find("l")->children[0].Find("x")->text, "1");
    EXPECT_EQ(root.Find("e")->Find("k")->text, "v");
}

TEST(YamlNode, SetBelowAPreset)
{
    YamlNode root = ParseYaml("gpu: h100\n", "f");
    SetYaml(root, "gpu.nic_rate", "800Gbps");
    EXPECT_EQ(root.Find("gpu")->Find("preset")->text, "h100");
    EXPECT_EQ(root.Find("gpu")->Find("nic_rate")->text, "800Gbps");
    YamlNode workload = ParseYaml("stack: torch-eager\n", "f");
    SetYaml(workload, "stack.elementwise", "2");
    EXPECT_EQ(workload.Find("stack")->Find("preset")->text, "torch-eager");
}

TEST(YamlNode, SetBelowTheNameOfAFabricOrCurve)
{
    YamlNode root = ParseYaml("fabric: dgx-superpod\ngpu: {curve: h100}\n", "f");
    SetYaml(root, "fabric.spines", "8");
    EXPECT_EQ(root.Find("fabric")->Find("preset")->text, "dgx-superpod");
    EXPECT_EQ(root.Find("fabric")->Find("spines")->text, "8");
    SetYaml(root, "gpu.curve.kernel_gap", "3us");
    EXPECT_EQ(root.Find("gpu")->Find("curve")->Find("preset")->text, "h100");
}

TEST(YamlNode, SetRefusesBadPaths)
{
    YamlNode root = ParseYaml("a: 1\nl: [1]\n", "f");
    for (const auto* path : {"", ".", "a.", "a..b", "a.b", "l.1", "l.x", "l.-1", "l.0.x"})
    {
        try
        {
            SetYaml(root, path, "1");
            ADD_FAILURE() << path;
        }
        catch (const ConfigError& error)
        {
            EXPECT_EQ(error.Where(), std::string("--set ") + path + "=1");
        }
    }
    EXPECT_THROW(SetYaml(root, "a", ""), ConfigError);
    EXPECT_THROW(SetYaml(root, "a", "[1"), ConfigError);
}

} // namespace
} // namespace scaleacross
