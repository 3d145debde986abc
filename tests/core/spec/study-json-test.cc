// SPDX-License-Identifier: GPL-2.0-only

#include "../any-field.h"
#include "core/base/units.h"
#include "core/io/read-study.h"
#include "core/io/text-file.h"
#include "core/spec/canonical-json.h"
#include "core/spec/fabric-shape-words.h"
#include "core/spec/study-json.h"
#include "core/topology/event-target.h"
#include "places.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

// A scenario that is written down is read back as the same, and its canonical text tells every
// value of every field from every other: drawn from the tables, so a new field is among them.

namespace scaleacross
{
namespace
{

const std::string g_cluster = R"(
cluster:
  buildings:
    - {name: a, gpus: 32, gpu: h100, fabric: {spines: 2, nodes_per_pod: 1, aggregations: 2}}
    - {name: b, gpus: 32, gpu: h200, fabric: {spines: 2}}
  cross: {distance: 30km, capacity: 400Gbps}
)";

/// Studies in which between them every field may be changed.
std::vector<Scenario>
Bases()
{
    const std::string dense = "model: llama3-8b\n";
    const std::string workload = "workload: {sequence: 2048, global_batch: 64}\n";
    const std::string fails = "events: [{kind: link-failure, target: 'a--b', at: 1us}]\n";
    const std::string slows =
        "events: [{kind: degradation, target: plane 1, at: 1us, factor: 0.5}]\n";
    const std::string flaps =
        "events: [{kind: flap, target: plane 1, at: 1us, down: 1us, period: 8ms}]\n";
    const std::string shares =
        "events: [{kind: foreign-traffic, target: 'a--b', at: 1us, load: 0.3}]\n";
    const std::string plane = "events: [{kind: plane-failure, target: plane 1, at: 1us}]\n";
    std::vector<Scenario> bases;
    for (const std::string& text : {
             dense + workload + g_cluster + plane,
             "model: {preset: llama4-scout, moe_every: 2, dense_ffn: 64}\n" + workload + g_cluster +
                 slows,
             "model: deepseek-v3\n" + workload + g_cluster + flaps + "plan: {recompute: full}\n",
             "model: {preset: gpt-oss-20b, query_key_norm: true}\n" + workload + g_cluster + fails +
                 "network: {transport: roce, multipath: spray-random, recovery: "
                 "selective-repeat}\n",
             dense + workload + g_cluster + shares + "plan: {sharding: fsdp, reshard: true}\n" +
                 "network: {transport: infiniband}\n",
         })
    {
        bases.push_back(ParseStudy(text, "base.yaml").scenario);
    }
    return bases;
}

/// Of two stages and without pauses, which not every shape of a fabric has.
Scenario
TwoStages()
{
    const std::string cluster = std::regex_replace(g_cluster, std::regex(", aggregations: 2"), "");
    return ParseStudy("model: llama3-8b\nworkload: {sequence: 2048, global_batch: 64}\n" + cluster +
                          "network: {transport: infiniband}\n"
                          "events: [{kind: plane-failure, target: plane 1, at: 1us}]\n",
                      "base.yaml")
        .scenario;
}

bool
IsValid(const Scenario& scenario)
{
    try
    {
        scenario.Validate();
        CheckEventTargets(scenario);
    }
    catch (const ConfigError&)
    {
        return false;
    }
    return true;
}

Scenario
ReadBack(const Scenario& scenario)
{
    return ParseStudy(StudyJson(scenario), "message", {}, StudyScope::Scenario).scenario;
}

TEST(StudyJson, EveryValueOfEveryFieldIsReadBack)
{
    const std::vector<AnyField> fields = AllFields();
    std::vector<Scenario> bases = Bases();
    bases.push_back(TwoStages());
    for (const AnyField& changed : fields)
    {
        std::set<std::string> values;
        for (const Scenario& base : bases)
        {
            values.insert(changed.get(base));
            for (const std::string& text : TextsFor(changed))
            {
                Scenario scenario = base;
                try
                {
                    changed.set(scenario, text);
                }
                catch (const ConfigError&)
                {
                    continue;
                }
                if (!IsValid(scenario))
                {
                    // Spans join equal planes and ports.
                    scenario.cluster.buildings[1].fabric = scenario.cluster.buildings[0].fabric;
                }
                if (!IsValid(scenario))
                {
                    continue;
                }
                const Scenario again = ReadBack(scenario);
                values.insert(changed.get(again));
                for (const AnyField& field : fields)
                {
                    ASSERT_TRUE(!field.applies(scenario) || field.get(again) == field.get(scenario))
                        << field.path << " after " << changed.path << " = " << text << "\n"
                        << StudyJson(scenario);
                }
                ASSERT_TRUE(again.cluster == scenario.cluster) << StudyJson(scenario);
                ASSERT_EQ(StudyJson(again), StudyJson(scenario));
            }
        }
        EXPECT_GT(values.size(), 1U) << changed.path << " was not changed";
    }
}

TEST(StudyJson, CanonicalTextTellsValuesApartAndNamesNot)
{
    for (const Scenario& base : Bases())
    {
        for (const AnyField& changed : AllFields())
        {
            // By the value of the field, what the canonical text is.
            std::map<std::string, std::string> texts{{changed.get(base), CanonicalJson(base)}};
            for (const std::string& text : TextsFor(changed))
            {
                Scenario scenario = base;
                try
                {
                    changed.set(scenario, text);
                }
                catch (const ConfigError&)
                {
                    continue;
                }
                // Names of buildings are ends of the target as well.
                if (!IsValid(scenario) || !changed.applies(scenario))
                {
                    continue;
                }
                texts[changed.get(scenario)] = CanonicalJson(scenario);
            }
            std::set<std::string> different;
            for (const auto& [value, text] : texts)
            {
                different.insert(text);
            }
            EXPECT_EQ(different.size(), changed.label ? 1U : texts.size()) << changed.path;
        }
    }
}

TEST(StudyJson, CanonicalTextTellsShapesApart)
{
    std::set<std::string> different;
    for (const ShapeFacts* shape : Shape::Rows())
    {
        Scenario scenario = TwoStages();
        scenario.cluster.buildings[0].fabric.shape = *shape;
        ASSERT_TRUE(IsValid(scenario)) << shape->word;
        const std::string text = CanonicalJson(scenario);
        EXPECT_EQ(CanonicalJson(ParseStudy(text, "canonical").scenario), text);
        different.insert(text);
    }
    EXPECT_EQ(different.size(), Shape::Rows().size());
}

TEST(StudyJson, TheCanonicalTextIsAStudyOfTheSameResults)
{
    for (const Scenario& base : Bases())
    {
        const std::string text = CanonicalJson(base);
        EXPECT_EQ(CanonicalJson(ParseStudy(text, "canonical").scenario), text);
    }
}

TEST(StudyJson, ShippedStudiesAreReadBack)
{
    const std::filesystem::path examples = SourcePath("examples");
    size_t studies = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(examples))
    {
        if (entry.path().filename() == "study.yaml")
        {
            const Scenario scenario = ReadStudy(entry.path().string()).scenario;
            EXPECT_EQ(StudyJson(ReadBack(scenario)), StudyJson(scenario)) << entry.path();
            studies++;
        }
    }
    EXPECT_GE(studies, 4U);
}

TEST(StudyJson, SaysWhatAStudyCannot)
{
    Scenario scenario = Bases()[0];
    scenario.Job().plan.dp = 7; // 64 GPUs
    EXPECT_EQ(ReadBack(scenario).Job().plan.dp, 7U);
    StudyParts parts;
    parts.seed = 4711;
    EXPECT_EQ(ParseStudy(StudyJson(scenario, parts), "message", {}, StudyScope::Scenario).seed,
              4711U);
    CollectiveSpec& spec = scenario.Job().collective.emplace();
    spec.op = CollectiveOp::AllToAll;
    spec.group = CollectiveGroup::Rail;
    spec.groups = 3;
    spec.bytes = Bytes(12'345);
    const Scenario again = ReadBack(scenario);
    ASSERT_TRUE(again.Job().collective);
    EXPECT_EQ(again.Job().collective->op, spec.op);
    EXPECT_EQ(again.Job().collective->group, spec.group);
    EXPECT_EQ(again.Job().collective->groups, 3U);
    EXPECT_EQ(again.Job().collective->bytes, spec.bytes);
    spec.op = CollectiveOp::Dispatch;
    spec.tokens = {1000, 2048, 4, 64, 0, TokenPrecision::Bf16};
    const Scenario sent = ReadBack(scenario);
    const TokenSpec& tokens = sent.Job().collective->tokens;
    EXPECT_EQ(tokens.tokens, 1000U);
    EXPECT_EQ(tokens.hidden, 2048U);
    EXPECT_EQ(tokens.topK, 4U);
    EXPECT_EQ(tokens.experts, 64U);
    EXPECT_EQ(tokens.maxNodes, 0U);
    EXPECT_EQ(tokens.precision, TokenPrecision::Bf16);
    // Which is no study.
    EXPECT_THROW(ParseStudy(StudyJson(scenario), "study"), ConfigError);
}

TEST(StudyJson, AFieldAsUsualIsNotSaid)
{
    // A new field with a default changes no text, hence no key, of before.
    for (const Scenario& base : Bases())
    {
        const std::string text = StudyJson(base);
        EXPECT_EQ(text.find("\"dual_tor\""), std::string::npos);
        EXPECT_EQ(text.find("\"lanes\""), std::string::npos);
        EXPECT_EQ(text.find("\"prefetch\""), std::string::npos);
        EXPECT_EQ(text.find("\"latency\""), std::string::npos); // as the distance has it
    }
}

TEST(StudyJson, TextsOfMeasuresAreExact)
{
    // What is no round number of any unit: the doubles around one third of a rate and so on.
    for (const double value : {1e9 / 3, 4e11 / 2.8 / 7, 1.0, 400e9, 1.7e12, 123456789.0, 1e15 / 7})
    {
        EXPECT_EQ(ParseBitRate(ExactText(BitRate(value))).Value(), value);
        EXPECT_EQ(ParseFlopRate(ExactText(FlopRate(value))).Value(), value);
        EXPECT_EQ(ParseDistance(ExactText(Distance(value))).Value(), value);
    }
    EXPECT_EQ(ExactText(GigabitsPerSecond(400)), "400Gbps");
    EXPECT_EQ(ExactText(FlopRate(989e12)), "989TFLOP/s");
    EXPECT_EQ(ExactText(Distance(30)), "30km");
    EXPECT_EQ(ExactText(Distance(0.5)), "500m");
    EXPECT_EQ(ExactText(BitRate()), "0bps");
    // Beyond 2^53 not every whole number is a double.
    const Duration odd = Duration::Picoseconds(9'007'199'254'740'993);
    EXPECT_EQ(ParseDuration(ExactText(odd)), odd);
    const Bytes many(9'007'199'254'740'993);
    EXPECT_EQ(ParseBytes(ExactText(many)), many);
}

} // namespace
} // namespace scaleacross
