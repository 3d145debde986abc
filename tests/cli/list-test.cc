// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"
#include "places.h"

#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <tuple>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

/// The page on models has what `list models` counts: in a row of the model's own, or of its family.
TEST_F(Commands, ListCountsParametersAsThePageDoes)
{
    std::ifstream file(SourcePath("contrib/scaleacross/doc/models.md"));
    std::map<std::string, std::string> rows; // by family: what stands before the first dash
    for (std::string line; std::getline(file, line);)
    {
        if (line.rfind("| `", 0) == 0)
        {
            rows[line.substr(3, line.find('`', 3) - 3)] = line;
        }
    }
    for (const auto& model : RunJson("list models"))
    {
        const std::string name = model.at("model");
        const auto own = rows.find(name);
        const auto family = rows.find(name.substr(0, name.find('-')) + "-8b");
        ASSERT_TRUE(own != rows.end() || family != rows.end()) << name;
        const std::string& row = own != rows.end() ? own->second : family->second;
        const std::string all = model.at("parameters");
        const std::string active = model.at("active");
        EXPECT_THAT(row, HasSubstr(all)) << name;
        EXPECT_THAT(row, HasSubstr(all == active ? "| all |" : "| " + active + " |")) << name;
    }
}

TEST_F(Commands, ListKnowsWhatAStudyCanName)
{
    for (const char* what : {"models",
                             "gpus",
                             "fabrics",
                             "machines",
                             "schedules",
                             "transports",
                             "baselines",
                             "fields"})
    {
        const auto json = RunJson(std::string("list ") + what);
        EXPECT_GE(json.size(), 2) << what;
    }
    EXPECT_THAT(Run("list models").out, HasSubstr("llama4-maverick"));
    EXPECT_THAT(Run("list schedules").out, HasSubstr("reconstruction"));
    const Call call = Run("list model");
    EXPECT_EQ(call.code, 2);
    EXPECT_THAT(call.err, HasSubstr("did you mean models?"));
}

/// What a preset's file says is in its row, and every key of a study that means something of it.
TEST_F(Commands, ListsShowEveryKeyOfAPreset)
{
    const std::string data = SourcePath("contrib/scaleacross/data/");
    std::set<std::string> keys;
    for (const auto& field : RunJson("list fields"))
    {
        keys.insert(field.at("field"));
    }
    // What has a unit is listed in another one.
    const std::regex said("([a-z_0-9]+): ([0-9.]+|true|false)");
    for (const auto& [list, name, path] : {std::tuple("stacks", "stack", "workload.stack."),
                                           {"models", "model", "model."},
                                           {"gpus", "gpu", "cluster.buildings.gpu."},
                                           {"fabrics", "fabric", "cluster.buildings.fabric."}})
    {
        for (const auto& row : RunJson(std::string("list ") + list))
        {
            const std::string preset = row.at(name);
            std::ifstream file(data + list + "/" + preset + ".yaml");
            ASSERT_TRUE(file) << preset;
            std::smatch found;
            for (std::string line; std::getline(file, line);)
            {
                // What makes a value of another file, and what is about the preset.
                if (std::regex_match(line, found, said) && keys.count(path + found[1].str()) > 0 &&
                    row.at("values").contains(found[1]))
                {
                    // As numbers, since 3.0 of a file is listed as 3.
                    EXPECT_EQ(
                        nlohmann::json::parse(row.at("values").at(found[1]).get<std::string>()),
                        nlohmann::json::parse(found[2].str()))
                        << preset << ": " << line;
                }
            }
            for (const auto& [key, value] : row.at("values").items())
            {
                EXPECT_EQ(keys.count(path + key), 1U) << preset << ": " << key;
            }
        }
    }
    const std::string stacks = Run("list stacks").out;
    for (const char* key : {"loss_bytes=92", "dispatch_copies=4", "gradient_stand_ins=true"})
    {
        EXPECT_THAT(stacks, HasSubstr(key));
    }
}

TEST_F(Commands, MachinesAreListedWithAllThatTheySay)
{
    std::set<std::string> keys;
    for (const auto& field : RunJson("list fields"))
    {
        keys.insert(field.at("field"));
    }
    for (const auto& row : RunJson("list machines"))
    {
        for (const auto& [key, value] : row.at("values").items())
        {
            const bool part = key.rfind("gpu.", 0) == 0 || key.rfind("fabric.", 0) == 0;
            const std::string path = key.rfind("network.", 0) == 0 ? "" : "machine.";
            EXPECT_EQ(keys.count((part ? "cluster.buildings." : path) + key), 1U) << key;
        }
        if (row.at("machine") == "aws-p4de")
        {
            EXPECT_EQ(row.at("gpu"), "a100-80g");
            const auto& values = row.at("values");
            EXPECT_EQ(values.at("gpus_per_node"), "8");
            EXPECT_EQ(values.at("nics"), "4");
            EXPECT_EQ(values.at("nic_rate"), "100Gbps");
            // Half a NIC for each of 8 GPUs.
            EXPECT_EQ(values.at("gpu.nic_rate"), "50Gbps");
            EXPECT_EQ(values.at("network.recovery"), "selective-repeat");
        }
    }
    EXPECT_THAT(Run("list machines").out, HasSubstr("network.transport=infiniband"));
}

} // namespace

} // namespace scaleacross
