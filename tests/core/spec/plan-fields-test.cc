// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/explore/fit-check.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/spec/plan-fields.h"
#include "core/spec/scenario.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace scaleacross
{
namespace
{

/// Some valid text for a field that differs from what it holds; "" if it has one value only.
std::string
OtherText(const PlanField& field, const Plan& plan)
{
    for (const auto* text :
         {"2",          "3",          "true",  "false", "pp",     "ddp",
          "microbatch", "dorapp",     "full",  "ring",  "ecmp",   "selective-repeat",
          "swift",      "infiniband", "dqplb", "rail",  "staged", "512B",
          "1MiB",       "1us",        "time",  "ll",    "1Gbps",  "message"})
    {
        Plan changed = plan;
        try
        {
            field.set(changed, text);
        }
        catch (const ConfigError&)
        {
            continue;
        }
        if (field.get(changed) != field.get(plan))
        {
            return text;
        }
    }
    return "";
}

TEST(PlanFields, KeysAreUniqueAndDescribed)
{
    std::set<std::string> keys;
    for (const auto& field : PlanFields())
    {
        EXPECT_TRUE(keys.insert(field.key).second) << field.key;
        EXPECT_FALSE(field.help.empty()) << field.key;
        EXPECT_FALSE(field.allowed.empty()) << field.key;
        EXPECT_EQ(FindPlanField(field.key), &field);
    }
    EXPECT_EQ(keys.size(), PlanFields().size());
    EXPECT_EQ(PlanFields().front().key, "plan.tp");
    EXPECT_EQ(FindPlanField("plan.tq"), nullptr);
}

TEST(PlanFields, TextReadsBackAsTheSameValue)
{
    Plan plan;
    for (const auto& field : PlanFields())
    {
        Plan copy = plan;
        field.set(copy, field.get(plan));
        EXPECT_EQ(CanonicalText(copy), CanonicalText(plan)) << field.key;
    }
}

TEST(PlanFields, EveryFieldCountsForEqualityAndText)
{
    const Plan plan;
    for (const auto& field : PlanFields())
    {
        const std::string other = OtherText(field, plan);
        ASSERT_NE(other, "") << field.key;
        Plan changed = plan;
        field.set(changed, other);
        EXPECT_NE(CanonicalText(changed), CanonicalText(plan)) << field.key;
        const bool parallel = field.key.compare(0, 5, "plan.") == 0;
        EXPECT_EQ(changed.parallel == plan.parallel, !parallel) << field.key;
    }
}

TEST(PlanFields, TiersHaveValuesOfTheirOwn)
{
    // NCCLX: 16 queue pairs of 512 KiB segments in order; across zones and buildings spray with
    // segments of 1 MiB and 128 outstanding.
    Plan plan;
    const auto set = [&plan](const std::string& key, const std::string& text) {
        FindPlanField("network." + key)->set(plan, text);
    };
    set("balance", "dqplb");
    for (const std::string tier : {"building", "cross"})
    {
        set("tiers." + tier + ".segment", "1MiB");
        set("tiers." + tier + ".balance", "spray");
        set("tiers." + tier + ".outstanding", "128");
    }
    set("tiers.leaf.qps", "1");
    const NetworkPlan& network = plan.network;
    const QueuePairUse leaf = network.QueuePairsAt(Tier::Leaf);
    EXPECT_EQ(leaf.qps, 1U);
    EXPECT_EQ(leaf.segment, Bytes(512 << 10));
    EXPECT_EQ(leaf.balance, Balance("dqplb"));
    EXPECT_EQ(leaf.outstanding, 0U);
    EXPECT_EQ(network.QueuePairsAt(Tier::Zone).qps, 16U);
    for (const Tier tier : {Tier::Building, Tier::Cross})
    {
        const QueuePairUse far = network.QueuePairsAt(tier);
        EXPECT_EQ(far.qps, 16U);
        EXPECT_EQ(far.segment, Bytes(1 << 20));
        EXPECT_EQ(far.balance, Balance("spray"));
        EXPECT_EQ(far.outstanding, 128U);
    }
    const std::string text = CanonicalText(plan);
    EXPECT_NE(text.find("tiers.cross.segment=1MiB"), std::string::npos) << text;
    EXPECT_EQ(text.find("tiers.zone"), std::string::npos) << text;
    set("tiers.leaf.qps", "same");
    EXPECT_EQ(network.QueuePairsAt(Tier::Leaf).qps, 16U);
    EXPECT_EQ(CanonicalText(Plan()).find("tiers"), std::string::npos);
}

TEST(PlanFields, SprayingAndGoBackNDoNotGoTogether)
{
    const PlanField* multipath = FindPlanField("network.multipath");
    for (const std::string word : {"ecmp",
                                   "e-ecmp",
                                   "ucmp",
                                   "flowlet",
                                   "spray-random",
                                   "spray-rr",
                                   "spray-adaptive",
                                   "entropy-random",
                                   "reps",
                                   "d-mod-k"})
    {
        Plan plan;
        multipath->set(plan, word);
        const bool sprayed =
            word.rfind("spray", 0) == 0 || word == "entropy-random" || word == "reps";
        EXPECT_EQ(plan.network.multipath->IsSprayed(), sprayed) << word;
        EXPECT_EQ(plan.network.FindConflict().has_value(), sprayed) << word;
        plan.network.recovery = Recovery("selective-repeat");
        EXPECT_FALSE(plan.network.FindConflict()) << word;
        EXPECT_NO_THROW(plan.network.Validate());
    }
    // A search meets such a plan: it does not fit, and why.
    Scenario scenario;
    scenario.jobs.emplace_back();
    scenario.network.multipath = Multipath("spray-random");
    const auto reason = CheckFit(scenario);
    ASSERT_TRUE(reason);
    EXPECT_EQ(reason->reason, "network");
}

/// LRH 8, BTH 12, ICRC 4, VCRC 2 and two delimiters are 28 bytes; an ACK has an AETH of 4 more.
/// Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4 and FCS, preamble and gap 24 are 82.
TEST(PlanFields, SizesAndPausesFollowFromTheTransportUnlessGiven)
{
    struct Case
    {
        const char* transport;
        Bytes headers;
        Bytes ack;
        bool pfc;
    };

    for (const Case& c : {Case{"roce", Bytes(82), Bytes(86), true},
                          Case{"infiniband", Bytes(28), Bytes(32), false},
                          Case{"trimming", Bytes(82), Bytes(86), false}})
    {
        Plan plan;
        FindPlanField("network.transport")->set(plan, c.transport);
        EXPECT_EQ(plan.network.Format().DataHeaders(), c.headers) << c.transport;
        EXPECT_EQ(Bytes(plan.network.Format().ack), c.ack) << c.transport;
        EXPECT_EQ(plan.network.UsesPfc(), c.pfc) << c.transport;
        // Saying what holds anyway changes nothing; saying something else does.
        const std::string text = CanonicalText(plan);
        plan.network.headers = c.headers;
        plan.network.ackSize = c.ack;
        plan.network.pfc = c.pfc;
        EXPECT_EQ(CanonicalText(plan), text) << c.transport;
        plan.network.headers = Bytes(90);
        EXPECT_EQ(plan.network.Format().DataHeaders(), Bytes(90)) << c.transport;
        EXPECT_NE(CanonicalText(plan), text) << c.transport;
    }
}

TEST(PlanFields, TransportsRefuseByNameWhatTheyDoNotHave)
{
    const auto conflictOf = [](const std::vector<std::pair<std::string, std::string>>& fields) {
        Plan plan;
        plan.network.recovery = Recovery("selective-repeat");
        for (const auto& [key, text] : fields)
        {
            FindPlanField("network." + key)->set(plan, text);
        }
        const auto conflict = plan.network.FindConflict();
        return conflict ? conflict->Where() : "";
    };
    const std::pair<std::string, std::string> infiniband = {"transport", "infiniband"};
    const std::pair<std::string, std::string> trimming = {"transport", "trimming"};
    EXPECT_EQ(conflictOf({infiniband}), "");
    EXPECT_EQ(conflictOf({trimming}), "");
    EXPECT_EQ(conflictOf({infiniband, {"pfc", "true"}}), "network.pfc");
    EXPECT_EQ(conflictOf({infiniband, {"pfc", "false"}}), "");
    EXPECT_EQ(conflictOf({trimming, {"pfc", "true"}}), "network.pfc");
    EXPECT_EQ(conflictOf({infiniband, {"mtu", "9000B"}}), "network.mtu");
    EXPECT_EQ(conflictOf({infiniband, {"mtu", "1000B"}}), "network.mtu");
    EXPECT_EQ(conflictOf({infiniband, {"mtu", "256B"}}), "");
    EXPECT_EQ(conflictOf({trimming, {"mtu", "9000B"}}), "");
    EXPECT_EQ(conflictOf({infiniband, {"multipath", "reps"}}), "network.multipath");
    EXPECT_EQ(conflictOf({infiniband, {"multipath", "entropy-random"}}), "network.multipath");
    EXPECT_EQ(conflictOf({infiniband, {"multipath", "spray-adaptive"}}), "");
    EXPECT_EQ(conflictOf({infiniband, {"control", "hpcc"}}), "network.control");
    EXPECT_EQ(conflictOf({trimming, {"recovery", "go-back-n"}}), "network.recovery");
    EXPECT_EQ(conflictOf({infiniband, {"recovery", "go-back-n"}}), "");
}

TEST(PlanFields, SpansWithoutPausesAreForRoce)
{
    Scenario scenario;
    scenario.jobs.emplace_back();
    scenario.cluster.crossLinks.emplace_back();
    scenario.cluster.crossLinks.back().pfc = false;
    EXPECT_FALSE(scenario.FindConflict());
    scenario.network.transport = Transport("infiniband");
    const auto conflict = scenario.FindConflict();
    ASSERT_TRUE(conflict);
    EXPECT_EQ(conflict->Where(), "network.transport");
    const auto reason = CheckFit(scenario);
    ASSERT_TRUE(reason);
    EXPECT_EQ(reason->reason, "network");
}

TEST(PlanFields, EqualValuesInDifferentSpellingHaveOneText)
{
    Plan a;
    Plan b;
    FindPlanField("network.leaf_buffer")->set(a, "1MiB");
    FindPlanField("network.leaf_buffer")->set(b, "1024KiB");
    EXPECT_EQ(CanonicalText(a), CanonicalText(b));
}

TEST(PlanFields, RefusalNamesKeyValueAndWhatIsAllowed)
{
    Plan plan;
    try
    {
        FindPlanField("plan.schedule")->set(plan, "dorap");
        FAIL();
    }
    catch (const ConfigError& error)
    {
        EXPECT_EQ(error.Where(), "plan.schedule");
        EXPECT_EQ(error.Problem(), "'dorap' is not known");
        EXPECT_EQ(error.Allowed(), AnyOf(Schedule::Names()));
        EXPECT_EQ(error.Remedy(), "did you mean dorapp?");
    }
    for (const auto& [key, text] : {std::pair("plan.tp", "0"),
                                    {"plan.tp", "4194305"},
                                    {"plan.tp", "-1"},
                                    {"plan.reshard", "yes"},
                                    {"network.mtu", "4096"},
                                    {"network.mtu", "9001B"},
                                    {"network.timeout_exponent", "0"},
                                    {"network.timeout_exponent", "32"},
                                    {"network.detection", "10"},
                                    {"network.convergence", "101s"},
                                    {"network.qps", "0"}})
    {
        try
        {
            FindPlanField(key)->set(plan, text);
            ADD_FAILURE() << key << " took " << text;
        }
        catch (const ConfigError& error)
        {
            EXPECT_EQ(error.Where(), key);
            EXPECT_NE(error.Problem().find(text), std::string::npos);
            EXPECT_FALSE(error.Allowed().empty());
        }
    }
}

TEST(PlanFields, ValidateChecksWhatWasSetInCode)
{
    Plan plan;
    EXPECT_NO_THROW(ValidatePlanFields(plan, ""));
    plan.network.qps = 0;
    EXPECT_NO_THROW(ValidatePlanFields(plan, "plan."));
    EXPECT_THROW(ValidatePlanFields(plan, "network."), ConfigError);
    EXPECT_THROW(plan.network.Validate(), ConfigError);
}

TEST(PlanFields, Ns3AttributeNames)
{
    NetworkPlan network;
    network.ns3Attributes["ns3::TcpSocket::SegmentSize"] = "1448";
    EXPECT_NO_THROW(network.Validate());
    for (const auto* name : {"TcpSocket::SegmentSize", "ns3::TcpSocket", "ns3::", "ns3::A::", ""})
    {
        NetworkPlan bad;
        bad.ns3Attributes[name] = "1";
        EXPECT_THROW(bad.Validate(), ConfigError) << name;
    }
}

TEST(PlanFields, Label)
{
    Plan plan;
    plan.parallel.tp = 8;
    plan.parallel.ep = 64;
    plan.parallel.pp = 4;
    plan.parallel.chunks = 2;
    plan.parallel.dp = 512;
    plan.parallel.schedule = "dorapp";
    EXPECT_EQ(Label(plan), "TP8 EP64 PP4x2 DP512 DP-out HSDP dorapp b1");
    plan = {};
    plan.parallel.dp = 8;
    plan.parallel.sharding = Sharding("fsdp");
    plan.parallel.reshard = true;
    plan.parallel.recompute = Recompute("full");
    EXPECT_EQ(Label(plan), "TP1 PP1 DP8 DP-out FSDP+reshard b1 recompute=full");
    plan.parallel.reduce = Reduction("accumulated");
    plan.parallel.prefetch = 1;
    plan.parallel.bucket = Bytes(1 << 20);
    plan.parallel.recompute = Recompute("none");
    plan.parallel.offloadLayers = 20;
    EXPECT_EQ(Label(plan),
              "TP1 PP1 DP8 DP-out FSDP+reshard+accumulated prefetch=1 bucket=1MiB b1 offload=20");
    plan.parallel.offloadLayers = 0;
    EXPECT_EQ(Label(plan), "TP1 PP1 DP8 DP-out FSDP+reshard+accumulated prefetch=1 bucket=1MiB b1");
}

TEST(PlanFields, LabelsTellWhereLayersAre)
{
    Plan plan;
    plan.parallel.pp = 16;
    FindPlanField("plan.embedding_as_layer")->set(plan, "true");
    EXPECT_EQ(Label(plan), "TP1 PP16 DP1 DP-out HSDP 1f1b b1 embedding-as-layer");
    FindPlanField("plan.loss_as_layer")->set(plan, "true");
    EXPECT_EQ(Label(plan), "TP1 PP16 DP1 DP-out HSDP 1f1b b1 embedding-as-layer loss-as-layer");
    plan.parallel.embeddingAsLayer = plan.parallel.lossAsLayer = false;
    FindPlanField("plan.layers")->set(plan, "7+8x7+8x7+7");
    EXPECT_EQ(Label(plan), "TP1 PP16 DP1 DP-out HSDP 1f1b b1 layers=7+8x14+7");
    EXPECT_EQ(Label(*PlanOfText(CanonicalText(plan))), Label(plan));
}

TEST(PlanFields, GivenLayersExcludeWhatDealsThemOut)
{
    Scenario scenario;
    scenario.jobs.emplace_back();
    ParallelPlan& plan = scenario.Job().plan;
    plan.apportion = Apportion("time");
    plan.embeddingAsLayer = plan.lossAsLayer = true;
    EXPECT_FALSE(scenario.FindConflict());
    plan.layers = LayerLayout::Parse("4x2");
    for (const char* const other :
         {"plan.apportion: time", "plan.embedding_as_layer: true", "plan.loss_as_layer: true"})
    {
        const auto conflict = scenario.FindConflict();
        ASSERT_TRUE(conflict);
        EXPECT_EQ(conflict->Where(), "plan.layers");
        EXPECT_EQ(conflict->Problem().find("4x2"), 0U) << conflict->Problem();
        EXPECT_NE(conflict->Problem().find(other), std::string::npos) << conflict->Problem();
        EXPECT_NE(conflict->Allowed().find(other), std::string::npos) << conflict->Allowed();
        EXPECT_FALSE(conflict->Remedy().empty());
        EXPECT_EQ(CheckFit(scenario)->reason, "plan"); // in a search
        const std::string key = std::string(other).substr(0, std::string(other).find(':'));
        Plan without{plan, {}};
        FindPlanField(key)->set(without, FindPlanField(key)->get(Plan()));
        plan = without.parallel;
    }
    EXPECT_FALSE(scenario.FindConflict());
}

TEST(PlanFields, ReductionFollowsFromWhatIsKept)
{
    Plan plan;
    const auto reduction = [&plan](Sharding sharding, bool reshard) {
        plan.parallel.sharding = sharding;
        plan.parallel.reshard = reshard;
        return FindPlanField("plan.reduce")->get(plan);
    };
    EXPECT_EQ(reduction(Sharding("ddp"), false), "accumulated");
    EXPECT_EQ(reduction(Sharding("ddp"), true), "accumulated"); // it has nothing to give up
    EXPECT_EQ(reduction(Sharding("zero1"), true), "accumulated");
    EXPECT_EQ(reduction(Sharding("zero2"), false), "microbatch");
    EXPECT_EQ(reduction(Sharding("fsdp"), false), "accumulated");
    EXPECT_EQ(reduction(Sharding("fsdp"), true), "microbatch");
    EXPECT_EQ(reduction(Sharding("hsdp"), true), "microbatch");
    FindPlanField("plan.reduce")->set(plan, "accumulated");
    EXPECT_EQ(reduction(Sharding("hsdp"), true), "accumulated");
    EXPECT_EQ(reduction(Sharding("zero2"), false), "accumulated"); // refused by CheckJob
}

TEST(PlanFields, ATextGivesItsPlanBack)
{
    Plan plan;
    EXPECT_EQ(CanonicalText(*PlanOfText(CanonicalText(plan))), CanonicalText(plan));
    FindPlanField("plan.tp")->set(plan, "4");
    FindPlanField("plan.sharding")->set(plan, "hsdp");
    FindPlanField("plan.reshard")->set(plan, "true");
    FindPlanField("plan.schedule")->set(plan, "dorapp");
    FindPlanField("plan.chunks")->set(plan, "2");
    FindPlanField("network.collective_chunk")->set(plan, "16MiB");
    const auto again = PlanOfText(CanonicalText(plan));
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(CanonicalText(*again), CanonicalText(plan));
    EXPECT_EQ(Label(*again), Label(plan));
    // Of another release: a field more, one less, a word that is not known.
    EXPECT_FALSE(PlanOfText(CanonicalText(plan) + " colour=blue"));
    EXPECT_FALSE(PlanOfText("tp=4"));
    EXPECT_FALSE(PlanOfText("tp=four"));
}

} // namespace
} // namespace scaleacross
