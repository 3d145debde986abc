// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/data-files.h"
#include "core/io/presets.h"
#include "core/io/read-study.h"
#include "core/spec/study-json.h"
#include "core/work/traffic/flow-size-files.h"
#include "places.h"
#include "test/server-gpu.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <string>
#include <tuple>

namespace scaleacross
{
namespace
{

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Every file of a kind is read, and says where its figures come from and since when.
template <class T>
std::set<std::string>
Checked(const std::string& kind)
{
    std::set<std::string> names;
    for (const auto& preset : Presets<T>())
    {
        const std::string place = kind + "/" + preset.name;
        names.insert(place);
        EXPECT_TRUE(std::regex_search(preset.source, std::regex("\\((P|S|I)\\)"))) << place;
        EXPECT_TRUE(std::regex_match(preset.date, std::regex("20[0-9]{2}-(0[1-9]|1[0-2])")))
            << place << ": " << preset.date;
    }
    return names;
}

TEST(Presets, OfEveryKindAreReadSourcedAndDated)
{
    std::set<std::string> read = Checked<ModelSpec>("models");
    read.merge(Checked<GpuSpec>("gpus"));
    read.merge(Checked<GpuCurve>("curves"));
    read.merge(Checked<SoftwareStack>("stacks"));
    read.merge(Checked<FabricSpec>("fabrics"));
    read.merge(Checked<MachineSpec>("machines"));
    for (const FlowSizeFile& table : FlowSizeFiles())
    {
        read.insert(std::string(table.kind) + "/" + table.name);
        EXPECT_THAT(table.text, StartsWith("# ")) << table.name; // where it is from
    }
    // What lies in the folders is what is built in, and no kind is forgotten above.
    std::set<std::string> shipped;
    const std::filesystem::path data(SourcePath("contrib/scaleacross/data"));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data))
    {
        if (!entry.is_directory())
        {
            const bool table = entry.path().parent_path().filename() == "flow-sizes";
            EXPECT_EQ(entry.path().extension(), table ? ".csv" : ".yaml") << entry.path();
            const auto file = entry.path().lexically_relative(data).replace_extension();
            shipped.insert(file.generic_string());
        }
    }
    EXPECT_EQ(read, shipped);
    // The name is the file's.
    for (const DataFile& file : DataFiles())
    {
        EXPECT_THAT(std::string("\n") + file.text, Not(HasSubstr("\nname:")))
            << file.kind << "/" << file.name;
    }
}

TEST(Presets, HaveValidValues)
{
    for (const auto& preset : Presets<ModelSpec>())
    {
        EXPECT_EQ(preset.value.name, preset.name);
        EXPECT_NO_THROW(preset.value.Validate()) << preset.name;
    }
    for (const auto& preset : Presets<GpuSpec>())
    {
        EXPECT_EQ(preset.value.name, preset.name);
        EXPECT_NO_THROW(preset.value.Validate()) << preset.name;
        // Data sheets do not say what kernels achieve.
        EXPECT_THAT(preset.source, HasSubstr("(P)")) << preset.name;
        EXPECT_THAT(preset.source, HasSubstr("(I)")) << preset.name;
        EXPECT_NE(preset.value.hostBandwidth, BitRate()) << preset.name;
    }
    for (const auto& preset : Presets<GpuCurve>())
    {
        // No GEMM is faster than the asymptote.
        for (const double size : {1.0, 100.0, 4096.0, 1e6})
        {
            EXPECT_GE(preset.value.gemm.EffectiveFlops(1, size, size, size), 2 * size * size * size)
                << preset.name;
        }
    }
    for (const auto& preset : Presets<SoftwareStack>())
    {
        EXPECT_EQ(preset.value.name, preset.name);
        EXPECT_FALSE(preset.help.empty()) << preset.name;
    }
    for (const auto& preset : Presets<FabricSpec>())
    {
        EXPECT_FALSE(preset.help.empty()) << preset.name;
        // Two zones, or two pods, fill a building.
        BuildingSpec building;
        building.name = preset.name;
        building.gpu = GpuPreset("h100");
        building.fabric = preset.value;
        building.gpus = 2 * building.gpusPerNode * std::max(1U, preset.value.nodesPerPod) *
                        std::max(1U, preset.value.podsPerZone);
        ClusterSpec cluster;
        cluster.buildings = {building};
        EXPECT_NO_THROW(cluster.Validate()) << preset.name;
    }
    for (const auto& preset : Presets<MachineSpec>())
    {
        EXPECT_EQ(preset.value.name, preset.name);
        EXPECT_FALSE(preset.help.empty()) << preset.name;
        EXPECT_THAT(preset.source, HasSubstr("(P)")) << preset.name;
        EXPECT_NO_THROW(preset.value.network.Validate()) << preset.name;
        // One server, a pair, more than a rack or a pod.
        for (const uint32_t nodes : {1U, 2U, 36U, 256U})
        {
            const ClusterSpec cluster = preset.value.Cluster(nodes);
            EXPECT_NO_THROW(cluster.Validate()) << preset.name << " x " << nodes;
            EXPECT_EQ(cluster.Gpus(), nodes * preset.value.gpusPerNode) << preset.name;
        }
    }
}

TEST(Presets, Llama4ActivatesOneRoutedAndOneSharedExpert)
{
    const ModelSpec& maverick = ModelPreset("llama4-maverick");
    EXPECT_EQ(maverick.topK, 1U);
    EXPECT_EQ(maverick.sharedFfn, maverick.expertFfn);
    EXPECT_TRUE(maverick.IsMoeLayer(1));
    EXPECT_FALSE(maverick.IsMoeLayer(0));
}

TEST(Presets, H100AsTheDriverReportsIt)
{
    const GpuSpec& gpu = GpuPreset("h100");
    // 81,559 MiB: 85.52e9 bytes, neither 80e9 nor 80 GiB.
    EXPECT_EQ(gpu.hbmCapacity.Count(), 81559ULL << 20);
    EXPECT_EQ(gpu.UsableHbm(), gpu.hbmCapacity - gpu.hbmReserve);
    // 450 GB/s per direction.
    EXPECT_EQ(gpu.scaleUpBandwidth, ParseBitRate("450GB/s"));
    EXPECT_EQ(gpu.nicRate, ParseBitRate("400Gbps"));
}

TEST(Presets, Mi300xByItsDataSheet)
{
    const GpuSpec& gpu = GpuPreset("mi300x");
    EXPECT_EQ(gpu.bf16Peak, FlopRate(1307.4e12));
    // Seven links of 64 GB/s.
    EXPECT_EQ(gpu.scaleUpBandwidth, BytesPerSecond(7 * 64e9));
    EXPECT_EQ(gpu.scaleUpDomain, 8U);
    EXPECT_EQ(gpu.gemm.processors, 304U);
    // 708 of 1,307.4 TFLOP/s are 0.54.
    EXPECT_NEAR(gpu.gemmEfficiency * 1307.4, 708, 5);
}

TEST(Presets, StandOnOthers)
{
    // The chip of the H100.
    const GpuSpec& h200 = GpuPreset("h200");
    EXPECT_EQ(h200.bf16Peak, GpuPreset("h100").bf16Peak);
    EXPECT_TRUE(h200.gemm == PresetNamed<GpuCurve>("h100").gemm);
    EXPECT_EQ(GpuPreset("a100-80g").gemmEfficiency, PresetNamed<GpuCurve>("a100").gemmEfficiency);
    // A key above the curve: 152 SMs, where the B200 has 148.
    EXPECT_EQ(GpuPreset("gb200").gemm.processors, 152U);
    EXPECT_TRUE(GpuPreset("gb200").gemm.tiles == PresetNamed<GpuCurve>("b200").gemm.tiles);
    // Multiprocessors that the data sheets give for the SXM modules.
    EXPECT_EQ(PresetNamed<GpuCurve>("a100").gemm.processors, 108U);
    EXPECT_EQ(PresetNamed<GpuCurve>("h100").gemm.processors, 132U);
    EXPECT_TRUE(PresetNamed<SoftwareStack>("fused") == SoftwareStack());
    EXPECT_FALSE(PresetNamed<SoftwareStack>("megatron-2022").sequenceParallel);
}

/// What the clouds' pages and data sheets promise a server, in Gb/s.
TEST(Presets, MachinesHaveTheBandwidthThatIsSold)
{
    const std::pair<const char*, double> sold[] = {{"dgx-a100", 1600},
                                                   {"dgx-h100", 3200},
                                                   {"hgx-b300", 6400},
                                                   {"gb200-nvl72", 1600},
                                                   {"gb300-nvl72", 3200},
                                                   {"aws-p4de", 400},
                                                   {"aws-p5", 3200},
                                                   {"aws-p5en", 3200},
                                                   {"gcp-a3-high", 800},
                                                   {"gcp-a3-mega", 1600},
                                                   {"gcp-a3-ultra", 3200},
                                                   {"oci-a100", 1600},
                                                   {"oci-h100", 3200},
                                                   {"oci-gb300", 3200},
                                                   {"polaris", 400},
                                                   {"alps", 800}};
    for (const auto& [name, rate] : sold)
    {
        const auto& machine = PresetNamed<MachineSpec>(name);
        EXPECT_EQ(machine.nicRate * machine.nics, GigabitsPerSecond(rate)) << name;
        EXPECT_EQ(machine.NicShare() * machine.gpusPerNode,
                  GigabitsPerSecond(rate) * machine.nicEfficiency)
            << name;
    }
}

TEST(Presets, HpnLeafCarriesItsPorts)
{
    // 128 ports of 200 Gb/s below, 60 of 400 Gb/s above: 25.6 over 24 Tb/s, rounded once.
    EXPECT_EQ(PresetNamed<FabricSpec>("alibaba-hpn").oversubscription, 25.6 / 24);
}

/// What a study is told that names a model so.
std::string
ToldOf(const std::string& model)
{
    try
    {
        ParseStudy("model: " + model + "\ncluster: {buildings: {count: 1, gpus: 8, gpu: h100}}\n",
                   "s.yaml");
        return "";
    }
    catch (const ConfigError& error)
    {
        EXPECT_THAT(error.Where(), StartsWith("s.yaml:1:8 model")) << model;
        EXPECT_THAT(error.Allowed(), HasSubstr("deepseek-v3, ")) << model;
        return error.Remedy();
    }
}

/// Names of repositories on huggingface.co, and the presets of their
/// models: those whose config.json has the preset's shape.
TEST(Presets, AreSuggestedForTheRepositoriesOfTheirModels)
{
    for (const auto& [repository, preset] : std::vector<std::pair<std::string, std::string>>{
             {"deepseek-ai/DeepSeek-V3", "deepseek-v3"},
             {"deepseek-ai/DeepSeek-V3-Base", "deepseek-v3"},
             {"deepseek-ai/DeepSeek-V3-0324", "deepseek-v3"},
             {"deepseek-ai/DeepSeek-R1", "deepseek-v3"},
             {"openai/gpt-oss-120b", "gpt-oss-120b"},
             {"openai/gpt-oss-20b", "gpt-oss-20b"},
             {"xai-org/grok-1", "grok1-314b"},
             {"moonshotai/Kimi-K2-Instruct", "kimi-k2"},
             {"meta-llama/Llama-2-7b-hf", "llama2-7b"},
             {"meta-llama/Llama-2-13b-chat-hf", "llama2-13b"},
             {"meta-llama/Llama-2-70b-hf", "llama2-70b"},
             {"meta-llama/Meta-Llama-3-8B", "llama3-8b"},
             {"meta-llama/Llama-3.1-8B-Instruct", "llama3-8b"},
             {"meta-llama/Llama-3.3-70B-Instruct", "llama3-70b"},
             {"meta-llama/Llama-3.1-405B-Instruct-FP8", "llama3-405b"},
             {"meta-llama/Llama-4-Maverick-17B-128E-Instruct", "llama4-maverick"},
             {"meta-llama/Llama-4-Scout-17B-16E", "llama4-scout"},
             {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
             {"mistralai/Mixtral-8x22B-v0.1", "mixtral-8x22b"},
             {"mosaicml/mpt-7b-instruct", "mpt-7b"},
             {"mosaicml/mpt-30b", "mpt-30b"},
             {"nvidia/Nemotron-4-340B-Base", "nemotron4-340b"},
             {"Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b"},
             {"Qwen/Qwen3-30B-A3B", "qwen3-30b-a3b"}})
    {
        EXPECT_EQ(ToldOf(repository), "did you mean the preset " + preset + "?") << repository;
        const std::string alone = repository.substr(repository.find('/') + 1);
        if (alone != preset)
        {
            EXPECT_EQ(ToldOf(alone), "did you mean " + preset + "?") << alone;
        }
    }
    // Others are no presets, however near their names are.
    for (const char* other : {"deepseek-ai/DeepSeek-V3.2-Exp",
                              "deepseek-ai/DeepSeek-R1-Distill-Llama-70B",
                              "meta-llama/Llama-3.2-1B",
                              "Qwen/Qwen3-32B"})
    {
        EXPECT_EQ(ToldOf(other), "of a repository's model name the path of its config.json")
            << other;
    }
    EXPECT_EQ(ToldOf("models/mine.yaml"), "");
}

TEST(Presets, UnknownNameListsAndSuggests)
{
    try
    {
        GpuPreset("h1oo");
        FAIL();
    }
    catch (const ConfigError& error)
    {
        EXPECT_EQ(error.Where(), "gpu");
        EXPECT_EQ(error.Problem(), "there is no preset 'h1oo'");
        EXPECT_EQ(
            error.Allowed(),
            "a100-40g, a100-80g, b200, b300, gb200, gb300, gh200, h100-96g, h100, h200, h800, "
            "mi300x, mi325x, mi350x or mi355x");
    }
    try
    {
        ModelPreset("llama-3-70b");
        FAIL();
    }
    catch (const ConfigError& error)
    {
        EXPECT_EQ(error.Remedy(), "did you mean llama3-70b?");
    }
    EXPECT_THROW(PresetNamed<SoftwareStack>("torch-eagre"), ConfigError);
}

/// A study in a folder of its own, with files beside it.
class OwnFiles : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        m_folder = std::filesystem::path(::testing::TempDir()) /
                   ::testing::UnitTest::GetInstance()->current_test_info()->name();
        std::filesystem::create_directories(m_folder / "parts");
    }

    void TearDown() override
    {
        std::filesystem::remove_all(m_folder);
    }

    void Write(const std::string& name, const std::string& text) const
    {
        std::ofstream(m_folder / name) << text;
    }

    Scenario Read(const std::string& building,
                  const std::string& model = "llama3-8b",
                  const std::string& stack = "fused") const
    {
        return ParseStudy("model: " + model +
                              "\nworkload: {sequence: 8192, global_batch: 64, stack: " + stack +
                              "}\ncluster: {buildings: {count: 1, " + building + "}}\n",
                          (m_folder / "study.yaml").string())
            .scenario;
    }

    std::string Refusal(const std::string& building) const
    {
        try
        {
            Read(building);
        }
        catch (const ConfigError& error)
        {
            return error.Where() + ": " + error.Problem();
        }
        return "accepted";
    }

    std::filesystem::path m_folder;
};

TEST_F(OwnFiles, AreReadAsPresetsAre)
{
    Write("parts/gpu.yaml", "source: mine\npreset: h100\ncurve: curve.yaml\nnic_rate: 800Gbps\n");
    Write("parts/curve.yaml", "preset: h100\nkernel_gap: 3us # beside the GPU's file\n");
    Write("parts/model.yaml", "name: short\npreset: llama3-8b\nlayers: 16\n");
    Write("parts/stack.yaml", "preset: torch-eager\naccumulation: 6\n");
    Write("parts/fabric.yaml", "help: wide\npreset: dgx-superpod\nnodes_per_pod: 4\nspines: 8\n");
    const Scenario scenario = Read("gpus: 64, gpu: parts/gpu.yaml, fabric: parts/fabric.yaml",
                                   "parts/model.yaml",
                                   "parts/stack.yaml");
    const BuildingSpec& building = scenario.cluster.buildings[0];
    EXPECT_EQ(building.gpu.name, "parts/gpu.yaml");
    EXPECT_EQ(building.gpu.nicRate, GigabitsPerSecond(800));
    EXPECT_EQ(building.gpu.kernelGap, Duration::Microseconds(3));
    EXPECT_EQ(building.gpu.gemmEfficiency, GpuPreset("h100").gemmEfficiency);
    EXPECT_EQ(building.fabric.spines, 8U);
    EXPECT_EQ(scenario.Job().model.name, "short");
    EXPECT_EQ(scenario.Job().model.layers, 16U);
    EXPECT_EQ(scenario.Job().model.hidden, 4096U);
    EXPECT_EQ(scenario.Job().workload.stack.accumulation, 6);
    EXPECT_EQ(scenario.Job().workload.stack.elementwise,
              PresetNamed<SoftwareStack>("torch-eager").elementwise);
}

TEST_F(OwnFiles, AreRefusedAtTheirPlace)
{
    Write("a.yaml", "preset: ./b.yaml\n");
    Write("b.yaml", "preset: parts/../a.yaml\n");
    EXPECT_THAT(Refusal("gpus: 8, gpu: a.yaml"), HasSubstr("the file stands on itself"));
    Write("a.yaml", "preset: h100\nspeed: 1\n");
    EXPECT_THAT(Refusal("gpus: 8, gpu: a.yaml"), HasSubstr("a.yaml:2:1 'speed': the key is not"));
    Write("a.yaml", "preset: h100\nnic_rate: fast\n");
    EXPECT_THAT(Refusal("gpus: 8, gpu: a.yaml"), HasSubstr("a.yaml:2:11 nic_rate: "));
    Write("a.yaml", "- h100\n");
    EXPECT_THAT(Refusal("gpus: 8, gpu: a.yaml"), HasSubstr("this is a list"));
    EXPECT_THAT(Refusal("gpus: 8, gpu: nothing.yaml"), HasSubstr("nothing.yaml"));
}

TEST_F(OwnFiles, FabricsByNameAndOverridden)
{
    const FabricSpec& pod = PresetNamed<FabricSpec>("dgx-superpod");
    const Scenario named = Read("gpus: 1024, gpu: h100, fabric: dgx-superpod");
    EXPECT_TRUE(named.cluster.buildings[0].fabric == pod);
    const Scenario changed =
        Read("gpus: 1024, gpu: h100, fabric: {preset: dgx-superpod, oversubscription: 2}");
    FabricSpec expected = pod;
    expected.oversubscription = 2;
    EXPECT_TRUE(changed.cluster.buildings[0].fabric == expected);
    EXPECT_THAT(Refusal("gpus: 1024, gpu: h100, fabric: dgx-superpot"),
                HasSubstr("there is no preset 'dgx-superpot'"));
    // A scenario says what the name stands for.
    const Scenario spelled =
        Read("gpus: 1024, gpu: h100, fabric: {rails: true, nodes_per_pod: 32, spines: 16}");
    EXPECT_EQ(StudyJson(named), StudyJson(spelled));
}

TEST_F(OwnFiles, ServersAreScaleUpDomainsUnlessTheStudySaysOtherwise)
{
    EXPECT_EQ(Read("gpus: 1024, gpu: h100").cluster.buildings[0].gpusPerNode, 8U);
    const Scenario rack = Read("gpus: 1152, gpu: gb200");
    EXPECT_EQ(rack.cluster.buildings[0].gpusPerNode, 72U);
    const Scenario trays = Read("gpus: 1152, gpu: gb200, gpus_per_node: 8");
    EXPECT_EQ(trays.cluster.buildings[0].gpusPerNode, 8U);
    // Either comes back from its text.
    for (const Scenario& scenario : {rack, trays})
    {
        const Scenario read =
            ParseStudy(StudyJson(scenario), "text", {}, StudyScope::Scenario).scenario;
        EXPECT_TRUE(read.cluster == scenario.cluster);
    }
    EXPECT_THAT(Refusal("gpus: 1024, gpu: gb200"), HasSubstr("not a multiple of gpus_per_node 72"));
}

/// The module's suites build without yaml-cpp and have the figures of an H100 once more.
TEST(Presets, SuitesHaveTheSameH100)
{
    EXPECT_TRUE(ServerGpu() == GpuPreset("h100"));
}

} // namespace
} // namespace scaleacross
