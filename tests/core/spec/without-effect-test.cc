// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/presets.h"
#include "core/spec/plan-fields.h"
#include "core/spec/without-effect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

Scenario
Of(const std::string& model)
{
    Scenario scenario;
    scenario.jobs.emplace_back();
    scenario.Job().model = ModelPreset(model);
    return scenario;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WithoutEffect, WordsOfExperts)
{
    Scenario dense = Of("llama3-8b");
    EXPECT_THAT(WarningsOfNoEffect(dense), IsEmpty());
    dense.Job().workload.expertImbalance = 1.5;
    dense.network.allToAll = "once";
    EXPECT_THAT(WarningsOfNoEffect(dense),
                ElementsAre("workload.expert_imbalance changes nothing: the model has no experts",
                            "network.all_to_all: once changes nothing: the model has no experts"));
    dense = Of("llama3-8b");
    dense.Job().workload.capacityFactor = 1;
    EXPECT_THAT(WarningsOfNoEffect(dense),
                ElementsAre("workload.capacity_factor changes nothing: the model has no experts"));
    Scenario experts = Of("mixtral-8x7b");
    experts.Job().workload.expertImbalance = 1.5;
    experts.network.allToAll = "once";
    EXPECT_THAT(WarningsOfNoEffect(experts),
                ElementsAre("workload.expert_imbalance changes nothing: without plan.ep no ranks "
                            "have different experts"));
    experts.Job().plan.ep = 2;
    EXPECT_THAT(WarningsOfNoEffect(experts), IsEmpty());
}

/// What a field of the plan is warned of, alone and beside others.
std::vector<std::string>
WarningsWith(const std::vector<std::pair<std::string, std::string>>& values)
{
    Scenario scenario = Of("llama3-8b");
    Plan plan{scenario.Job().plan, scenario.network};
    for (const auto& [key, value] : values)
    {
        FindPlanField(key)->set(plan, value);
    }
    scenario.Job().plan = plan.parallel;
    scenario.network = plan.network;
    return WarningsOfNoEffect(scenario);
}

TEST(WithoutEffect, FieldsThatOthersMakeIdle)
{
    const auto one = [](const std::string& key, const std::string& why) {
        return ElementsAre(key + " changes nothing: " + why);
    };
    EXPECT_THAT(WarningsWith({{"plan.round", "4"}}), one("plan.round", "plan.schedule is 1f1b"));
    EXPECT_THAT(WarningsWith({{"plan.chunks", "4"}}), one("plan.chunks", "plan.schedule is 1f1b"));
    EXPECT_THAT(WarningsWith({{"plan.in_flight", "9"}}),
                one("plan.in_flight", "plan.schedule is 1f1b"));
    EXPECT_THAT(WarningsWith({{"plan.sharding", "ddp"}, {"plan.reshard", "true"}}),
                one("plan.reshard", "plan.sharding is ddp"));
    EXPECT_THAT(WarningsWith({{"plan.prefetch", "3"}}),
                one("plan.prefetch", "plan.reshard is false"));
    EXPECT_THAT(WarningsWith({{"plan.recompute_layers", "1"}}),
                one("plan.recompute_layers", "plan.recompute is none"));
    EXPECT_THAT(WarningsWith({{"plan.async_tp", "true"}}), one("plan.async_tp", "plan.tp is 1"));
    EXPECT_THAT(WarningsWith({{"network.qp_burst", "64KiB"}}),
                one("network.qp_burst", "network.qp_scheduler is packet"));
    EXPECT_THAT(WarningsWith({{"network.qp_burst", "64KiB"}, {"network.qp_scheduler", "message"}}),
                one("network.qp_burst", "network.qp_scheduler is message"));
    EXPECT_THAT(WarningsWith({{"network.qp_burst", "64KiB"}, {"network.qp_scheduler", "burst"}}),
                IsEmpty());
    EXPECT_THAT(WarningsWith({{"network.lane_credits", "64KiB"}}),
                one("network.lane_credits", "network.transport is roce"));
    EXPECT_THAT(WarningsWith({{"network.lane_credits", "64KiB"},
                              {"network.transport", "infiniband"},
                              {"plan.schedule", "dorapp"},
                              {"plan.chunks", "4"},
                              {"plan.round", "4"}}),
                IsEmpty());
}

TEST(WithoutEffect, WordsOfNcclWithoutNccl)
{
    const std::vector<std::pair<std::string, std::string>> words = {
        {"network.nccl_algorithm", "ring"},
        {"network.nccl_protocol", "simple"},
        {"network.nccl_channels", "4"},
        {"network.nccl_collnet", "true"},
        {"network.nccl_net_step", "9us"},
        {"network.nccl_net_long", "1us"},
        {"network.nccl_net_fill", "1Gbps"},
        {"network.nccl_net_flags", "1Gbps"},
        {"network.nccl_net_message", "1us"},
        {"network.nccl_net_inject", "1us"}};
    std::vector<std::string> keys;
    for (const PlanField& field : PlanFields())
    {
        if (field.key.rfind("network.nccl_", 0) == 0)
        {
            keys.push_back(field.key);
        }
    }
    ASSERT_EQ(keys.size(), words.size());
    for (size_t i = 0; i < words.size(); i++)
    {
        EXPECT_EQ(keys[i], words[i].first);
        EXPECT_THAT(WarningsWith({words[i]}),
                    ElementsAre(keys[i] + " changes nothing: network.collective is hierarchical"));
        EXPECT_THAT(WarningsWith({{"network.collective", "nccl"}, words[i]}), IsEmpty());
    }
}

TEST(WithoutEffect, RecomputationOfWhatThereIsNot)
{
    const auto warnings = [](const char* model, const char* words) {
        Scenario scenario = Of(model);
        scenario.Job().plan.recompute = words;
        return WarningsOfNoEffect(scenario);
    };
    const std::string all = "norm+mla-up-proj+mlp+moe+shared-experts";
    EXPECT_THAT(warnings("llama3-8b", all.c_str()),
                ElementsAre("plan.recompute: mla-up-proj changes nothing: the model has no latent "
                            "attention",
                            "plan.recompute: moe changes nothing: the model has no experts",
                            "plan.recompute: shared-experts changes nothing: the model has no "
                            "shared experts"));
    EXPECT_THAT(warnings("mixtral-8x7b", "mlp+moe"),
                ElementsAre("plan.recompute: mlp changes nothing: no layer has a dense MLP"));
    EXPECT_THAT(warnings("mixtral-8x7b", "shared-experts"), testing::SizeIs(1));
    EXPECT_THAT(warnings("deepseek-v3", "norm+activation+mla-up-proj+mlp+shared-experts"),
                IsEmpty());
    EXPECT_THAT(warnings("llama3-8b", "selective"), IsEmpty());
    EXPECT_THAT(warnings("mixtral-8x7b", "full"), IsEmpty());
    // Without them the plan is the same.
    EXPECT_EQ(ToString(WithoutIdleModules(ModelPreset("llama3-8b"), Recompute(all))), "norm+mlp");
    EXPECT_EQ(ToString(WithoutIdleModules(ModelPreset("mixtral-8x7b"), "mlp")), "none");
}

TEST(WithoutEffect, RecomputationOfWhatIsDoneAgainAnyway)
{
    const auto warnings = [](const char* model, const char* words) {
        Scenario scenario = Of(model);
        scenario.Job().plan.recompute = words;
        return WarningsOfNoEffect(scenario);
    };
    EXPECT_THAT(warnings("deepseek-v3", "moe+shared-experts"),
                ElementsAre("plan.recompute: shared-experts changes nothing: moe does them again, "
                            "too"));
    EXPECT_THAT(warnings("llama3-8b", "mlp+activation"),
                ElementsAre("plan.recompute: activation changes nothing: the MLP of every layer is "
                            "done again as a whole"));
    // Of DeepSeek-V3's layers three are dense; Mixtral has experts only.
    EXPECT_THAT(warnings("deepseek-v3", "moe+activation"), IsEmpty());
    EXPECT_THAT(warnings("deepseek-v3", "mlp+activation"), IsEmpty());
    EXPECT_THAT(warnings("deepseek-v3", "mlp+moe+activation"), testing::SizeIs(1));
    EXPECT_THAT(warnings("mixtral-8x7b", "moe+activation"), testing::SizeIs(1));
    EXPECT_EQ(ToString(WithoutIdleModules(ModelPreset("deepseek-v3"),
                                          "norm+activation+mlp+moe+shared-experts")),
              "norm+mlp+moe");
}

TEST(WithoutEffect, StallsOfWhatIsRecorded)
{
    Scenario scenario = Of("mixtral-8x7b");
    SoftwareStack& stack = scenario.Job().workload.stack;
    stack.routingStall = Duration::Microseconds(2600);
    for (const char* graphs : {"none", "layers"})
    {
        stack.cudaGraphs = graphs;
        EXPECT_THAT(WarningsOfNoEffect(scenario), IsEmpty()) << graphs;
    }
    stack.cudaGraphs = "iteration";
    EXPECT_THAT(WarningsOfNoEffect(scenario),
                ElementsAre("workload.stack.routing_stall changes nothing: with cuda_graphs: "
                            "iteration nothing waits for the host"));
    stack.routingStall = Duration();
    EXPECT_THAT(WarningsOfNoEffect(scenario), IsEmpty());
    // A stack is for any model: a dense one has nobody to ask.
    scenario = Of("llama3-8b");
    scenario.Job().workload.stack.routingStall = Duration::Microseconds(2600);
    scenario.Job().workload.stack.cudaGraphs = "iteration";
    EXPECT_THAT(WarningsOfNoEffect(scenario), IsEmpty());
}

TEST(WithoutEffect, StepsOfOneRank)
{
    Scenario scenario = Of("llama3-8b");
    scenario.Job().plan.asyncTensor = true;
    EXPECT_THAT(WarningsOfNoEffect(scenario),
                ElementsAre("plan.async_tp changes nothing: plan.tp is 1"));
    scenario.Job().plan.tp = 2;
    EXPECT_THAT(WarningsOfNoEffect(scenario), IsEmpty());
}

TEST(WithoutEffect, WordsOfNcclWithoutIt)
{
    Scenario scenario = Of("llama3-8b");
    scenario.network.ncclAlgorithm = "tree";
    scenario.network.ncclProtocol = "ll";
    scenario.network.ncclChannels = 8;
    scenario.network.ncclCollnet = true;
    scenario.network.ncclNetLong = Duration::Microseconds(1);
    scenario.network.ncclNetFill = scenario.network.ncclNetFlags = GigabitsPerSecond(1);
    scenario.network.collective = "ring";
    EXPECT_THAT(WarningsOfNoEffect(scenario),
                ElementsAre("network.nccl_algorithm changes nothing: network.collective is ring",
                            "network.nccl_protocol changes nothing: network.collective is ring",
                            "network.nccl_channels changes nothing: network.collective is ring",
                            "network.nccl_collnet changes nothing: network.collective is ring",
                            "network.nccl_net_long changes nothing: network.collective is ring",
                            "network.nccl_net_fill changes nothing: network.collective is ring",
                            "network.nccl_net_flags changes nothing: network.collective is ring"));
    scenario.network.collective = "nccl";
    EXPECT_THAT(WarningsOfNoEffect(scenario), IsEmpty());
    scenario.cluster.buildings.emplace_back();
    scenario.cluster.buildings.front().gpu.architecture = "cdna3";
    EXPECT_THAT(WarningsOfNoEffect(scenario),
                ElementsAre("network.nccl_collnet changes nothing: RCCL's choice here has rings "
                            "and trees only"));
    scenario.network.ncclCollnet = false;
    scenario.network.ncclAlgorithm = "collnet-chain";
    EXPECT_THAT(WarningsOfNoEffect(scenario),
                ElementsAre("network.nccl_algorithm: collnet-chain changes nothing: "
                            "network.nccl_collnet is false"));
}

TEST(WithoutEffect, CostsOfKernelsWithoutThem)
{
    Scenario scenario = Of("mixtral-8x7b");
    scenario.network.tokenStart = Duration::Microseconds(1);
    scenario.network.tokenMessage = Duration::Microseconds(1);
    scenario.network.allToAll = "once";
    EXPECT_THAT(WarningsOfNoEffect(scenario),
                ElementsAre("network.token_start changes nothing: network.all_to_all is once",
                            "network.token_message changes nothing: network.all_to_all is once"));
    scenario.network.allToAll = "deepep";
    EXPECT_THAT(WarningsOfNoEffect(scenario),
                ElementsAre("network.token_message changes nothing: network.all_to_all is deepep"));
    scenario.network.allToAll = "deepep-low-latency";
    EXPECT_THAT(WarningsOfNoEffect(scenario), IsEmpty());
    Scenario dense = Of("llama3-8b");
    dense.network.allToAll = "deepep-low-latency";
    EXPECT_THAT(WarningsOfNoEffect(dense),
                ElementsAre("network.all_to_all: deepep-low-latency changes nothing: the model has "
                            "no experts"));
}

TEST(WithoutEffect, ReceivesOfNoPipeline)
{
    Scenario scenario = Of("llama3-8b");
    scenario.Job().workload.stack.receives = "planned";
    EXPECT_THAT(WarningsOfNoEffect(scenario),
                ElementsAre("workload.stack.receives: planned changes nothing: plan.pp is 1"));
    scenario.Job().plan.pp = 2;
    EXPECT_THAT(WarningsOfNoEffect(scenario), IsEmpty());
}

TEST(WithoutEffect, ToleranceOfWhatKeepsItsOrder)
{
    Scenario scenario = Of("llama3-8b");
    scenario.network.multipath = "ecmp";
    scenario.network.reorderTolerance = 16;
    EXPECT_THAT(WarningsOfNetworkWords(scenario),
                ElementsAre("network.reorder_tolerance changes nothing: network.recovery is "
                            "go-back-n"));
    scenario.network.recovery = "selective-repeat";
    EXPECT_THAT(WarningsOfNetworkWords(scenario),
                ElementsAre("network.reorder_tolerance changes nothing: with network.multipath "
                            "ecmp no packet of a queue pair overtakes another"));
    scenario.network.multipath = "spray-rr";
    EXPECT_THAT(WarningsOfNetworkWords(scenario), IsEmpty());
}

/// What a search varies may give a word its effect, and then it is said for that.
TEST(WithoutEffect, WordsForWhatASearchChooses)
{
    Scenario scenario = Of("llama3-8b");
    scenario.network.reorderTolerance = 16;
    const SearchAxis paths{"network.multipath", {"ecmp", "spray-rr"}};
    const SearchAxis repairs{"network.recovery", {"go-back-n", "selective-repeat"}};
    EXPECT_THAT(WarningsOfNetworkWords(scenario, {paths}),
                ElementsAre("network.reorder_tolerance changes nothing: network.recovery is "
                            "go-back-n"));
    EXPECT_THAT(WarningsOfNetworkWords(scenario, {repairs}), testing::SizeIs(1));
    EXPECT_THAT(WarningsOfNetworkWords(scenario, {paths, repairs}), IsEmpty());
    EXPECT_THAT(
        WarningsOfNetworkWords(scenario, {{"network.multipath", {"ecmp", "e-ecmp"}}, repairs}),
        testing::SizeIs(1));

    scenario = Of("mixtral-8x7b");
    scenario.network.qpBurst = Bytes(4096);
    scenario.network.laneCredits = Bytes(64 << 10);
    EXPECT_THAT(WarningsOfNoEffect(scenario), testing::SizeIs(2));
    EXPECT_THAT(WarningsOfNoEffect(scenario,
                                   {{"network.qp_scheduler", {"packet", "burst"}},
                                    {"network.transport", {"roce", "infiniband"}}}),
                IsEmpty());
    EXPECT_THAT(WarningsOfNoEffect(scenario, {{"network.transport", {"roce"}}}),
                testing::SizeIs(2));
    // A search that is left to itself varies what nobody has thought of.
    scenario.Job().plan.chunks = 2;
    EXPECT_THAT(WarningsOfNoEffect(scenario, {{"plan.schedule", {"1f1b", "interleaved"}}}),
                testing::SizeIs(3));
}

TEST(WithoutEffect, TimesOfRoutesThatNeverChange)
{
    Scenario scenario = Of("llama3-8b");
    scenario.network.detection = Duration::Microseconds(1);
    scenario.network.convergence = Duration::Microseconds(2);
    scenario.network.keepAtDownPort = true;
    EXPECT_THAT(WarningsOfNetworkWords(scenario),
                ElementsAre("network.detection changes nothing: there are no events",
                            "network.convergence changes nothing: there are no events",
                            "network.keep_at_down_port changes nothing: there are no events"));
    scenario.events.emplace_back(); // from time zero on, and known from then on
    EXPECT_THAT(WarningsOfNetworkWords(scenario), testing::SizeIs(3));
    scenario.events.front().at = Duration::Microseconds(1);
    EXPECT_THAT(WarningsOfNetworkWords(scenario), IsEmpty());
}

TEST(WithoutEffect, AmountsBelowAPacket)
{
    Scenario scenario = Of("llama3-8b");
    scenario.network.window = Bytes(4096); // the default's packets
    scenario.network.collectiveChunk = Bytes(4096);
    EXPECT_THAT(WarningsOfNetworkWords(scenario), IsEmpty());
    scenario.network.window = Bytes(100);
    scenario.network.tiers[3].window = Bytes(4095);
    EXPECT_THAT(WarningsOfNetworkWords(scenario),
                ElementsAre("network.window: 100B acts as one packet, since a packet goes as a "
                            "whole; say 4KiB, which is network.mtu, or more",
                            "network.tiers.cross.window: 4095B acts as one packet, since a packet "
                            "goes as a whole; say 4KiB, which is network.mtu, or more"));
    scenario.network.window = Bytes();
    scenario.network.tiers[3].window.reset();
    scenario.network.collectiveChunk = Bytes(1);
    ASSERT_THAT(WarningsOfNetworkWords(scenario), testing::SizeIs(1));
    EXPECT_THAT(WarningsOfNetworkWords(scenario).front(),
                testing::HasSubstr("give at least a packet"));
}

} // namespace

} // namespace scaleacross
