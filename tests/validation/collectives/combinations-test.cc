// SPDX-License-Identifier: GPL-2.0-only

// Every way to use the network, on every kind of fabric: it runs or is refused by name.

#include "collective-cases.h"
#include "core/base/errors.h"
#include "core/spec/plan-fields.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>

namespace scaleacross
{
namespace
{

/// A kind of fabric: three buildings of 4 servers with one GPU each.
struct Place
{
    const char* name;
    const char* fabric;
    const char* spans;
};

const Place g_places[] = {
    {"leaf_spine", "nodes_per_pod: 2, spines: 2", "cross: {distance: 1km, oversubscription: 2}"},
    {"three_stage",
     "nodes_per_pod: 1, pods_per_zone: 2, spines: 2, aggregations: 2",
     "cross: {distance: 1km, oversubscription: 2, shape: ring}"},
    {"planes",
     "nodes_per_pod: 2, spines: 2, planes: 2",
     "cross: {distance: 1km, oversubscription: 2, lanes: 2}"},
};

const std::vector<std::string>&
WordsOf(const std::string& key)
{
    return FindPlanField(key)->words;
}

using Case = std::tuple<Place, std::string, std::string>;

class Combinations : public testing::TestWithParam<Case>
{
};

/**
 * All-to-all of 8 KiB per GPU and pair in every transport, control, multipath and recovery. What is
 * refused is refused by FindConflict or while the study is read, with the key that is wrong; what
 * is not ends with everything delivered: the packet engine would throw RunError. So few bytes take
 * less than any combination of windows, losses of order and timeouts could hide: longer than a
 * thousand times the two round trips that a lone message needs is a hang in disguise.
 */
TEST_P(Combinations, RunsOrIsRefusedByName)
{
    const auto& [place, transport, control] = GetParam();
    uint32_t ran = 0;
    for (const std::string& multipath : WordsOf("network.multipath"))
    {
        for (const std::string& recovery : WordsOf("network.recovery"))
        {
            const std::string what = transport + " " + control + " " + multipath + " " + recovery;
            const std::string text =
                std::string("study: combination\ncluster:\n  buildings: {count: 3, gpus: 4, "
                            "gpus_per_node: 1, gpu: h100, nic_rate: 400Gbps, fabric: {") +
                place.fabric + "}}\n  " + place.spans + "\nnetwork: {transport: " + transport +
                ", control: " + control + ", multipath: " + multipath + ", recovery: " + recovery +
                ", qps: 2, spine_buffer: 1GiB}\n";
            try
            {
                const Scenario scenario =
                    With(ParseStudy(text, "combination.yaml", {}, StudyScope::Network).scenario,
                         CollectiveOp::AllToAll,
                         CollectiveGroup::All,
                         12 * 8192);
                // Between the farthest two there are two spans and three fabrics: 30 us.
                const double seconds = SecondsOn(PacketEngine(), scenario);
                EXPECT_LT(seconds, 1000 * 2 * 30e-6) << what;
                ++ran;
            }
            catch (const ConfigError& error)
            {
                EXPECT_NE(error.Where().find("network."), std::string::npos)
                    << what << ": " << error.what();
                EXPECT_FALSE(error.Allowed().empty()) << what << ": " << error.what();
            }
        }
    }
    // InfiniBand's packets have no place for telemetry.
    const bool never = transport == "infiniband" && control == "hpcc";
    EXPECT_EQ(ran == 0, never) << transport << " " << control;
}

INSTANTIATE_TEST_SUITE_P(All,
                         Combinations,
                         testing::Combine(testing::ValuesIn(g_places),
                                          testing::ValuesIn(WordsOf("network.transport")),
                                          testing::ValuesIn(WordsOf("network.control"))),
                         [](const auto& info) {
                             std::string name = std::string(std::get<0>(info.param).name) + "_" +
                                                std::get<1>(info.param) + "_" +
                                                std::get<2>(info.param);
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
} // namespace scaleacross
