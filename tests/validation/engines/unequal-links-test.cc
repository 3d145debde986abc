// SPDX-License-Identifier: GPL-2.0-only

// Links of one cut that are not alike, by events and others' traffic: what rung 2 and the fluid on
// single links make of them, with every way to choose among paths.

#include "../../draws.h"
#include "../collectives/collective-cases.h"
#include "../volumes/volume-plans.h"

#include <cstring>
#include <gtest/gtest.h>
#include <initializer_list>
#include <random>
#include <string>

namespace scaleacross
{
namespace
{

/// Two buildings of 8 servers with a GPU each, and events of which some links are slower.
struct Drawn
{
    std::string network;
    std::string events;
};

std::string
Degradation(const std::string& target, const std::string& factor)
{
    return "{kind: degradation, target: '" + target + "', at: 0s, factor: " + factor + "}, ";
}

Drawn
Draw(std::mt19937& random)
{
    const auto pick = [&random](std::initializer_list<const char*> values) {
        return std::string(*(values.begin() + random() % values.size()));
    };
    const std::string spines = pick({"2", "4"});
    const std::string lanes = pick({"1", "2"});
    const std::string pod = pick({"8", "4", "2"});
    Drawn drawn;
    drawn.network = "nodes_per_pod: " + pod + ", spines: " + spines +
                    ", oversubscription: " + pick({"1", "2"}) + "}}\n  cross: {distance: " +
                    std::string(std::getenv("DIST") ? std::getenv("DIST") : "1km") +
                    ", lanes: " + lanes + ", oversubscription: " + pick({"1", "2", "4"});
    const std::string spine = std::to_string(random() % std::stoul(spines));
    const std::string leaf = std::to_string(random() % (8 / std::stoul(pod)));
    switch (random() % 4)
    {
    case 0:
        drawn.events =
            Degradation("b1/spine" + spine + "--b2/spine" + spine, pick({"0.5", "0.75"}));
        break;
    case 1:
        drawn.events = Degradation("b1/leaf" + leaf + "--b1/spine" + spine, pick({"0.5", "0.75"}));
        break;
    case 2:
        drawn.events = Degradation("b2/spine" + spine, pick({"0.5", "0.75"}));
        break;
    default:
        break;
    }
    if (drawn.events.empty() || random() % 2 == 0)
    {
        drawn.events +=
            "{kind: foreign-traffic, target: b1--b2, at: 0s, load: " + pick({"0.2", "0.4"}) + "}";
    }
    return drawn;
}

/// All-to-all of 16 MiB of each GPU to the other building. So many queue pairs that a hash spreads
/// them all but evenly: of 64 pairs of NICs with 1,024 each, the fullest of 8 links has 2 % more
/// than the mean.
double
Seconds(const std::string& engine,
        const Drawn& drawn,
        const std::string& events,
        const Multipath& multipath)
{
    const std::string study =
        "study: unequal\ncluster:\n  buildings: {count: 2, name: b, gpus: 8, gpus_per_node: 1,"
        " gpu: h100, nic_rate: 400Gbps, fabric: {" +
        drawn.network +
        "}\nnetwork: {spine_buffer: 1GiB, leaf_buffer: 1GiB, multipath: " + ToString(multipath) +
        ", recovery: selective-repeat, reorder_tolerance: 4096, qps: 1024, segment: 8KiB}\n"
        "events: [" +
        events + "]\n";
    return SecondsOn(*EngineOf(engine),
                     With(ParseStudy(study, "unequal.yaml", {}, StudyScope::Network).scenario,
                          CollectiveOp::AllToAll,
                          CollectiveGroup::Across,
                          16 << 20,
                          CollectiveAlgorithm("ring")));
}

} // namespace

/// How much longer events make it, within the 5 % that engines have for a class of communication.
/// Left out are pairs of NICs and destinations that have a path each: of so few paths it is by
/// chance whether one of them takes the slow link.
TEST(UnequalLinks, TakeAsLongByRung2AsByTheFluid)
{
    std::mt19937 random(20261128);
    for (size_t i = 0; i < Draws(30); i++)
    {
        const Drawn drawn = Draw(random);
        const auto multipath = volumes::AnyWord<Multipath>(random);
        if (!multipath->IsSprayed() && multipath->owner != PathOwner::QueuePair)
        {
            continue;
        }
        const auto slower = [&](const std::string& engine) {
            return Seconds(engine, drawn, drawn.events, multipath) /
                   Seconds(engine, drawn, "", multipath);
        };
        const double flow = slower("flow");
        EXPECT_NEAR(slower("analytical"), flow, 0.05 * flow)
            << ToString(multipath) << " | " << drawn.network << " | " << drawn.events;
    }
}

} // namespace scaleacross
