// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/network-plan.h"
#include "places.h"
#include "program.h"

#include <fstream>
#include <gmock/gmock.h>
#include <iomanip>
#include <iterator>
#include <sstream>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

/// How fast it is depends on the machine and is measured by hand; what it measures is tested here.
class Bench : public ProgramTest
{
};

TEST_F(Bench, PrintsItsKeys)
{
    const auto json = RunJson("bench permutation --size 64KiB");
    for (const char* key : {"scenario",
                            "engine",
                            "seed",
                            "repeat",
                            "data_packet_hops",
                            "cpu_s",
                            "data_packet_hops_per_cpu_s",
                            "events_per_hop",
                            "peak_rss_bytes",
                            "completion_us",
                            "dropped",
                            "pause_frames"})
    {
        EXPECT_TRUE(json.contains(key)) << key;
    }
    EXPECT_EQ(json.at("scenario"), "permutation");
    EXPECT_EQ(json.at("engine"), "windows");
    EXPECT_EQ(json.at("seed"), 1);
    EXPECT_EQ(json.at("repeat"), 1);
    // 65,536 B are 66 packets; 64 flows over 4 wires each.
    EXPECT_EQ(json.at("data_packet_hops"), 64 * 66 * 4);
    EXPECT_EQ(json.at("dropped"), 0);
    const auto& completion = json.at("completion_us");
    // (65,536 + 66 x 48) B x 80 ps, three more stores of 1,048 B, four wires of 1 us, and the same
    // way back for 64 B.
    EXPECT_GE(completion.at("min").get<double>(),
              68'704 * 80e-6 + 3 * 1'048 * 80e-6 + 4 + 4 * 64 * 80e-6 + 4);
    EXPECT_LE(completion.at("min"), completion.at("median"));
    EXPECT_LE(completion.at("median"), completion.at("max"));
    EXPECT_GT(json.at("cpu_s").get<double>(), 0);
    EXPECT_NEAR(json.at("data_packet_hops_per_cpu_s").get<double>(),
                64 * 66 * 4 / json.at("cpu_s").get<double>(),
                1);
    EXPECT_GT(json.at("events_per_hop").get<double>(), 0);
    EXPECT_GT(json.at("peak_rss_bytes").get<uint64_t>(), 1U << 20);
}

/// What it finds of the plans is tested, and that the pages say it; how fast is measured by hand.
TEST_F(Bench, PlansAreThoseOfTheStudyAndTheirBoundsAsThePageSays)
{
    const std::string top = SourcePath("");
    const auto json = RunJson("bench plans");
    EXPECT_EQ(json.at("study"), "llama4-maverick-two-buildings");
    EXPECT_GT(json.at("leaf_bounds_per_cpu_s").get<double>(), 0);
    EXPECT_NEAR(json.at("leaf_bounds_per_cpu_s").get<double>() *
                    json.at("leaf_bound_us").get<double>(),
                1e6,
                1);
    // Every sixteenth, the first included.
    EXPECT_EQ(json.at("sample"), (json.at("runnable").get<uint64_t>() + 15) / 16);
    EXPECT_GE(json.at("bound_error").get<double>(), 0);
    std::ifstream file(top + "/contrib/scaleacross/doc/engines.md");
    const std::string page((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << "above it by "
         << 100 * json.at("bound_error").get<double>() << " % in the mean and by "
         << 100 * json.at("bound_error_worst").get<double>() << " % at most";
    EXPECT_THAT(page, HasSubstr(text.str()));
}

TEST_F(Bench, PlansOfAStudyAreThoseThatExploreCounts)
{
    const std::string study = SourcePath("examples/small-two-buildings/study.yaml");
    const auto json = RunJson("bench plans --study '" + study + "' --stride 1");
    const auto explored = RunJson("explore '" + study + "' --db small.db --set 'baselines=[]'");
    EXPECT_EQ(json.at("space"), explored.at("space"));
    EXPECT_EQ(json.at("combinations"), explored.at("combinations"));
    EXPECT_EQ(json.at("runnable").get<uint64_t>(),
              explored.at("ran").get<uint64_t>() + explored.at("pruned").get<uint64_t>());
    EXPECT_EQ(json.at("sample"), json.at("runnable"));
}

TEST_F(Bench, OptionsOfTheOtherKindOfWorkAreRefused)
{
    const Call packets = Run("bench plans --hosts 8");
    EXPECT_EQ(packets.code, 2);
    EXPECT_THAT(packets.err, HasSubstr("--hosts: says nothing of plans"));
    const Call plans = Run("bench incast --stride 8");
    EXPECT_EQ(plans.code, 2);
    EXPECT_THAT(plans.err, HasSubstr("--stride: says nothing of incast"));
    const Call none = Run("bench plans --study none.yaml");
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, HasSubstr("none.yaml"));
}

TEST_F(Bench, SinksCountWhatTheCountersSay)
{
    // The command aborts if they differ. 1 MiB is 1,049 packets of 1,000 B, 256 of 4,096 B.
    EXPECT_EQ(RunJson("bench permutation --check --size 1MiB").at("data_packet_hops"),
              64 * 1'049 * 4);
    EXPECT_EQ(RunJson("bench permutation-400g --check --size 1MiB").at("data_packet_hops"),
              64 * 256 * 4);
    EXPECT_EQ(RunJson("bench incast --check --size 1MiB").at("data_packet_hops"), 16 * 1'049 * 2);
    EXPECT_EQ(RunJson("bench permutation --check --size 64KiB --hosts 256").at("data_packet_hops"),
              256 * 66 * 4);
}

TEST_F(Bench, IncastMeetsItsBound)
{
    const auto json = RunJson("bench incast --size 1MiB");
    // The receiver's wire carries 16 x (1,048,576 + 1,049 x 48) B; first one packet crosses the
    // sender's, then one wire and an ACK over two are left.
    const double bound = 16 * 1'098'928 * 80e-6 + 1'048 * 80e-6 + 2 + 2 * 64 * 80e-6 + 2;
    const auto last = json.at("completion_us").at("max").get<double>();
    EXPECT_GE(last, bound - 1e-6);
    EXPECT_LE(last, bound * 1.001);
    EXPECT_EQ(json.at("dropped"), 0);
}

TEST_F(Bench, LongHaulFillsItsWires)
{
    const auto json = RunJson("bench long-haul --check --size 8MiB");
    EXPECT_EQ(json.at("data_packet_hops"), 64 * 8'389 * 5);
    // 8,389 of the 11,927 packets that 1 ms holds fit on a wire from one flow; ECMP gives up to 64
    // flows a wire each.
    EXPECT_GT(json.at("peak_on_wires").get<uint64_t>(), 100'000);
    EXPECT_LE(json.at("peak_on_wires").get<uint64_t>(), 64 * 8'389);
    EXPECT_EQ(json.at("dropped"), 0);
}

TEST_F(Bench, ResultsDependOnTheSeedAndOnNothingElse)
{
    const std::string command = "bench permutation --size 256KiB";
    const auto first = RunJson(command).at("completion_us");
    EXPECT_EQ(RunJson(command + " --repeat 3").at("completion_us"), first);
    EXPECT_EQ(RunJson(command + " --check").at("completion_us"), first);
    EXPECT_EQ(RunJson(command + " --scheduler ns3::MapScheduler").at("completion_us"), first);
    EXPECT_EQ(RunJson(command + " --engine exact").at("completion_us"), first);
    EXPECT_NE(RunJson(command + " --seed 2").at("completion_us"), first);
}

/// Credits in place of pauses, nothing is lost, and nothing depends on the engine.
TEST_F(Bench, InfinibandCarriesTheWork)
{
    for (const std::string scenario : {"permutation", "incast"})
    {
        const std::string command = "bench " + scenario + " --size 256KiB --transport ";
        const auto json = RunJson(command + "infiniband --check");
        EXPECT_EQ(json.at("transport"), "infiniband");
        EXPECT_EQ(json.at("dropped"), 0);
        EXPECT_EQ(json.at("pause_frames"), 0);
        EXPECT_EQ(RunJson(command + "infiniband --engine exact").at("completion_us"),
                  json.at("completion_us"));
        EXPECT_NE(RunJson(command + "roce").at("completion_us"), json.at("completion_us"));
    }
}

/// Neither pauses nor credits; with headers in place of what finds no room all arrives.
TEST_F(Bench, TrimmingCarriesTheWork)
{
    const std::string command =
        "bench permutation --size 256KiB --transport trimming --multipath spray-adaptive";
    const auto json = RunJson(command + " --check");
    EXPECT_EQ(json.at("transport"), "trimming");
    EXPECT_EQ(json.at("dropped"), 0);
    EXPECT_EQ(json.at("pause_frames"), 0);
    EXPECT_EQ(RunJson(command + " --engine exact").at("completion_us"), json.at("completion_us"));
}

TEST_F(Bench, TransportsRefuseByNameWhatTheyDoNotHave)
{
    const Call result = Run("bench permutation --transport infiniband --multipath reps");
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("--multipath"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("UDP source port"), std::string::npos) << result.err;
}

/// 65,536 B are 66 packets; 64 flows over 4 wires each.
TEST_F(Bench, EverySelectorCarriesTheWork)
{
    const std::string command = "bench permutation --size 64KiB --check --multipath ";
    for (const MultipathFacts* multipath : Multipath::Rows())
    {
        const std::string& word = multipath->Name();
        const auto json = RunJson(command + word);
        EXPECT_EQ(json.at("multipath"), word);
        EXPECT_EQ(json.at("data_packet_hops"), 64 * 66 * 4) << word;
        if (multipath->order == PacketOrder::Kept)
        {
            EXPECT_EQ(json.at("reordered"), 0) << word;
        }
        if (multipath->IsSprayed())
        {
            EXPECT_EQ(json.at("dropped"), 0) << word;
            EXPECT_EQ(RunJson(command + word + " --engine exact").at("completion_us"),
                      json.at("completion_us"))
                << word;
        }
    }
    EXPECT_GT(RunJson(command + "spray-random").at("reordered").get<uint64_t>(), 0);
    EXPECT_NE(RunJson(command + "spray-random --seed 2").at("completion_us"),
              RunJson(command + "spray-random").at("completion_us"));
}

/// Whatever two words are asked for: the work is done, all its bytes arrive, or the option that
/// contradicts the other is named, as in a study.
TEST_F(Bench, EveryTwoWordsAreCarriedOrRefusedByName)
{
    const std::string work = "bench incast --hosts 8 --size 64KiB --check";
    size_t carried = 0;
    size_t refused = 0;
    const auto check = [&](const std::string& transport,
                           const std::string& control,
                           const std::string& multipath) {
        const std::string words =
            " --transport " + transport + " --control " + control + " --multipath " + multipath;
        NetworkPlan plan;
        plan.recovery = "selective-repeat";
        plan.transport = transport;
        plan.control = control;
        plan.multipath = multipath;
        const auto conflict = plan.FindConflict();
        const Call call = Run(work + words + " --json");
        if (!conflict)
        {
            carried++;
            ASSERT_EQ(call.code, 0) << words << call.err;
            const auto json = nlohmann::json::parse(call.out);
            EXPECT_EQ(json.at("transport"), transport);
            EXPECT_EQ(json.at("control"), control);
            EXPECT_EQ(json.at("multipath"), multipath);
            return;
        }
        refused++;
        EXPECT_EQ(call.code, 2) << words;
        EXPECT_EQ(call.out, "") << words;
        const std::string option = conflict->Where().substr(std::string("network.").size());
        EXPECT_THAT(call.err, HasSubstr("--" + option)) << words;
    };
    for (const TransportFacts* transport : Transport::Rows())
    {
        for (const CongestionControlFacts* control : CongestionControl::Rows())
        {
            check(transport->Name(), control->Name(), Multipath().Name());
        }
        for (const MultipathFacts* multipath : Multipath::Rows())
        {
            check(transport->Name(), CongestionControl().Name(), multipath->Name());
        }
    }
    for (const CongestionControlFacts* control : CongestionControl::Rows())
    {
        for (const MultipathFacts* multipath : Multipath::Rows())
        {
            check(Transport().Name(), control->Name(), multipath->Name());
        }
    }
    EXPECT_GT(carried, refused);
    EXPECT_GT(refused, 0U);
}

TEST_F(Bench, ShorterSpansEndSooner)
{
    // Data and ACK each cross one span: 2 x 999 us less for a flow that meets nobody, as the first
    // one to end does. Others wait for whom they meet, who comes otherwise.
    const std::string command = "bench long-haul --size 64KiB --seed 3";
    const auto far = RunJson(command).at("completion_us");
    EXPECT_EQ(RunJson(command + " --span 1ms").at("completion_us"), far);
    const auto near = RunJson(command + " --span 1us").at("completion_us");
    EXPECT_NEAR(far.at("min").get<double>() - near.at("min").get<double>(), 2 * 999, 0.1);
}

TEST_F(Bench, FewerAcksAreLessWork)
{
    const std::string command = "bench incast --size 256KiB";
    const auto every = RunJson(command);
    const auto fourth = RunJson(command + " --ack-interval 4");
    EXPECT_EQ(fourth.at("data_packet_hops"), every.at("data_packet_hops"));
    const double ratio =
        fourth.at("events_per_hop").get<double>() / every.at("events_per_hop").get<double>();
    EXPECT_LT(ratio, 0.8);
}

TEST_F(Bench, PrintsATable)
{
    const Call call = Run("bench incast --size 16KiB");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("data_packet_hops"));
    EXPECT_THAT(call.out, HasSubstr("completion_us min/median/max"));
}

TEST_F(Bench, RefusesWhatItCannotDo)
{
    const auto refused = [this](const std::string& arguments, const std::string& reason) {
        const Call call = Run("bench " + arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_EQ(call.out, "") << arguments;
        EXPECT_THAT(call.err, HasSubstr(reason)) << arguments;
    };
    refused("", "SCENARIO");
    refused("permutations", "permutation, incast, permutation-400g, long-haul or plans");
    refused("permutation --hosts 60", "the square of an even number");
    refused("permutation --hosts 25", "the square of an even number");
    refused("long-haul --hosts 24", "a multiple of 16");
    refused("incast --hosts 100000", "up to 65000");
    refused("incast --size 0B", "0 bytes are no work");
    refused("incast --size 5", "--size");
    refused("incast --scheduler ns3::RdmaNic", "ns3::MapScheduler");
    refused("incast --scheduler Map", "ns3::MapScheduler");
    refused("incast --repeat 0", "--repeat");
    refused("incast --seed 0", "--seed");
    refused("permutation --multipath spray", "--multipath");
    refused("permutation --multipath conga", "e-ecmp, ucmp, flowlet");
    refused("permutation --transport token-ring", "roce, infiniband or trimming");
    refused("permutation --span 1us", "there is one building only");
    refused("long-haul --span 0us", "more than 0");
    refused("long-haul --span 1s", "up to 100ms");
    refused("long-haul --span 5", "--span");
}

} // namespace

} // namespace scaleacross
