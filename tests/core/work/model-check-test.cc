// SPDX-License-Identifier: GPL-2.0-only

#include "../built-graph.h"
#include "core/work/partition/model-check.h"

#include <functional>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

/// A small mixture of experts with a sequence of 1,024.
JobSpec
JobOf(uint32_t tp, uint32_t cp, const std::string& stack = "fused")
{
    JobSpec job = ScenarioOf(BuildingsOf({8}), SmallMoe(), PlanOf(tp, cp, 1, 1, 1), 1).Job();
    job.workload.stack = PresetNamed<SoftwareStack>(stack);
    return job;
}

JobSpec
Dense(JobSpec job)
{
    job.model = SmallModel();
    return job;
}

std::string
ProblemOf(const JobSpec& job)
{
    const auto bad = CheckModel(job);
    return bad ? bad->reason + ": " + bad->detail : "";
}

std::string
ProblemWith(JobSpec job, const std::function<void(JobSpec&)>& change)
{
    change(job);
    return ProblemOf(job);
}

} // namespace

TEST(ModelCheck, ASequenceIsAMultipleOfWhatTheSoftwareDealsOut)
{
    // Megatron Core 0.16: arguments.py asks for 2 cp with cp > 1; reduce-scatters of sequence
    // parallelism for tp ranks that share s / cp tokens (tensor_parallel/mappings.py). Both hold
    // for multiples of cp lcm(2, tp).
    EXPECT_EQ(SequenceDivisor(JobOf(1, 1, "megatron-core")), 1U);
    EXPECT_EQ(SequenceDivisor(JobOf(4, 1, "megatron-core")), 4U);
    EXPECT_EQ(SequenceDivisor(JobOf(1, 4, "megatron-core")), 8U);
    EXPECT_EQ(SequenceDivisor(JobOf(2, 4, "megatron-core")), 8U);
    EXPECT_EQ(SequenceDivisor(JobOf(8, 4, "megatron-core")), 32U);
    EXPECT_EQ(SequenceDivisor(JobOf(3, 4, "megatron-core")), 24U);
    // TorchTitan's trainer.py: tp, times 2 cp with cp > 1.
    EXPECT_EQ(SequenceDivisor(JobOf(4, 1, "torch-compile")), 4U);
    EXPECT_EQ(SequenceDivisor(JobOf(1, 4, "torch-eager")), 8U);
    EXPECT_EQ(SequenceDivisor(JobOf(8, 4, "torch-compile")), 64U);
    // Without sequence parallelism no rank of tp has a share of the tokens, but for those in front
    // of experts: Megatron Core refuses these without it (moe_layer.py).
    EXPECT_EQ(SequenceDivisor(Dense(JobOf(8, 1, "megatron-2022"))), 1U);
    EXPECT_EQ(SequenceDivisor(Dense(JobOf(8, 4, "megatron-2022"))), 8U);
    EXPECT_EQ(SequenceDivisor(JobOf(8, 4, "megatron-2022")), 32U);
}

TEST(ModelCheck, SequencesThatOnlyTwiceCpDivides)
{
    // 8,200 = 2 x 4 x 1,025 = 4 x 2 x 1,025: two pieces of 1,025 tokens on each rank of cp = 4,
    // whose 2,050 tokens 2 ranks of tp share. It is no multiple of 2 cp tp = 16.
    const auto sequence = [](uint32_t tokens) {
        return [tokens](JobSpec& job) { job.workload.sequence = tokens; };
    };
    EXPECT_EQ(ProblemWith(JobOf(2, 4, "megatron-core"), sequence(8200)), "");
    EXPECT_EQ(ProblemWith(JobOf(2, 4, "torch-compile"), sequence(8200)),
              "sequence: workload.sequence 8200 is no multiple of 2 cp tp, two pieces on each rank "
              "of cp that tp ranks share, = 16: take 8192 or 8208, or other degrees");
    EXPECT_EQ(
        ProblemWith(JobOf(4, 4, "megatron-core"), sequence(8200)),
        "sequence: workload.sequence 8200 is no multiple of cp tp, two pieces on each rank of "
        "cp that tp ranks share, = 16: take 8192 or 8208, or other degrees");
    EXPECT_EQ(ProblemWith(JobOf(1, 4), sequence(1028)),
              "sequence: workload.sequence 1028 is no multiple of 2 cp, two pieces on each rank of "
              "cp, = 8: take 1024 or 1032, or other degrees");
    EXPECT_EQ(ProblemWith(JobOf(8, 1), sequence(4)),
              "sequence: workload.sequence 4 is no multiple of tp, whose ranks share the tokens, = "
              "8: take 8, or other degrees");
    EXPECT_EQ(ProblemWith(Dense(JobOf(8, 1, "megatron-2022")), sequence(1027)), "");
    // And such a job runs: no rank waits for a message that does not come.
    auto scenario = ScenarioOf(BuildingsOf({8}), SmallModel(), PlanOf(2, 4, 1, 1, 1), 2);
    scenario.Job().workload.sequence = 8200;
    EXPECT_GT(Sent(TallyOf(Build(scenario), 0), CommClass::Context), 0U);
}

TEST(ModelCheck, WidthsAreDealtOutEvenly)
{
    // SmallMoe: 1,024 wide experts and shared experts, 2,048 wide dense layers.
    EXPECT_EQ(ProblemOf(JobOf(8, 1)), "");
    EXPECT_EQ(ProblemWith(JobOf(8, 1), [](JobSpec& job) { job.model.denseFfn = 2044; }),
              "ffn: plan.tp 8 does not divide model.dense_ffn 2044: take plan.tp 1, 2 or 4, or a "
              "width that it divides");
    EXPECT_EQ(ProblemWith(JobOf(8, 1), [](JobSpec& job) { job.model.sharedFfn = 1020; }),
              "ffn: plan.tp 8 does not divide model.shared_ffn 1020: take plan.tp 1, 2 or 4, or a "
              "width that it divides");
    const auto narrow = [](JobSpec& job) { job.model.expertFfn = 1022; };
    EXPECT_EQ(ProblemWith(JobOf(4, 1), narrow),
              "ffn: plan.tp 4 does not divide model.expert_ffn 1022: take plan.tp 1 or 2, or a "
              "width that it divides");
    const auto whole = [&narrow](uint32_t etp) {
        return [&narrow, etp](JobSpec& job) {
            narrow(job);
            job.plan.etp = etp;
        };
    };
    EXPECT_EQ(ProblemWith(JobOf(4, 1), whole(2)), "");
    EXPECT_EQ(ProblemWith(JobOf(4, 1), whole(4)),
              "ffn: plan.etp 4 does not divide model.expert_ffn 1022: take plan.etp 1 or 2, or a "
              "width that it divides");
    // A width that no layer has decides nothing.
    EXPECT_EQ(ProblemWith(JobOf(8, 1),
                          [](JobSpec& job) {
                              job.model.moeEvery = 1;
                              job.model.denseFfn = 2044;
                          }),
              "");
}

TEST(ModelCheck, SaysWhatToDo)
{
    EXPECT_EQ(ProblemWith(JobOf(1, 1), [](JobSpec& job) { job.plan.ep = 3; }),
              "experts: plan.ep 3 does not divide the 8 experts: take ep 1, 2, 4 or 8");
    EXPECT_EQ(ProblemWith(Dense(JobOf(1, 1)), [](JobSpec& job) { job.plan.ep = 2; }),
              "experts: plan.ep 2 with a model that has no experts: leave it out");
    EXPECT_EQ(
        ProblemWith(Dense(JobOf(1, 1)), [](JobSpec& job) { job.plan.offloadLayers = 8; }),
        "layers: plan.offload_layers 8 of 8 layers, of which one at least stays: take at most "
        "7");
    EXPECT_EQ(ProblemWith(JobOf(4, 1),
                          [](JobSpec& job) {
                              job.model.kvHeads = 2;
                              job.plan.recompute = Recompute("alternate");
                          }),
              "recompute: plan.recompute alternate with plan.tp 4, more ranks than the 2 KV heads: "
              "no software has both; take another recomputation, or tp 1 or 2");
}

} // namespace scaleacross
