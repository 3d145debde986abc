// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_DRAWN_NETWORKS_H
#define SCALEACROSS_TESTS_DRAWN_NETWORKS_H

#include "../volumes/volume-plans.h"
#include "core/engine/engine.h"

#include <initializer_list>
#include <optional>
#include <random>
#include <string>

namespace scaleacross
{

namespace volumes
{

/// Traffic classes where they go with the rest, which is drawn as it was before there were any.
inline void
DrawClasses(std::mt19937 random, Scenario& scenario)
{
    random.discard(1000);
    TrafficClasses& classes = scenario.network.classes;
    if (random() % 2 == 0)
    {
        return;
    }
    for (uint32_t& number : classes.of)
    {
        number = static_cast<uint32_t>(random() % 3);
    }
    if (random() % 2 == 0)
    {
        classes.weights = {1, 3, static_cast<uint32_t>(random() % 3)};
    }
    if (scenario.FindConflict())
    {
        classes = TrafficClasses();
    }
}

/// How NICs serve queue pairs; likewise.
inline void
DrawScheduler(std::mt19937 random, NetworkPlan& network)
{
    random.discard(2000);
    if (random() % 2 == 0)
    {
        return;
    }
    network.qpScheduler = AnyWord<QpScheduler>(random);
    if (network.qpScheduler->bursts)
    {
        network.qpBurst = Bytes(1024ULL << (random() % 8));
    }
}

/// A plan as drawn, over a network of which everything is drawn that a study can say of it.
inline std::optional<Scenario>
DrawNetwork(std::mt19937& random)
{
    const auto pick = [&random](std::initializer_list<double> values) {
        return *(values.begin() + random() % values.size());
    };
    Scenario scenario = DrawAny(random);
    if (scenario.cluster.Gpus() > 32)
    {
        return std::nullopt;
    }
    NetworkPlan& network = scenario.network;
    network.multipath = AnyWord<Multipath>(random);
    network.transport = AnyWord<Transport>(random);
    network.balance = AnyWord<Balance>(random);
    network.copy = random() % 4 == 0 ? AnyWord<Copy>(random) : network.copy;
    network.recovery = Recovery(random() % 2 == 0 ? "selective-repeat" : "go-back-n");
    network.qps = static_cast<uint32_t>(pick({1, 2, 3, 16}));
    network.segment = Bytes(static_cast<uint64_t>(pick({64 << 10, 512 << 10, 4 << 20})));
    network.outstanding = static_cast<uint32_t>(pick({0, 0, 0, 8}));
    network.window = Bytes(static_cast<uint64_t>(pick({0, 0, 0, 1 << 20})));
    network.admission = Bytes(static_cast<uint64_t>(pick({0, 0, 0, 4 << 20})));
    network.channels = static_cast<uint32_t>(pick({1, 1, 4}));
    network.mtu = Bytes(static_cast<uint64_t>(pick({1024, 4096})));
    network.leafBuffer = network.spineBuffer = Bytes(4ULL << 30); // with room for any headroom
    const double oversubscription = pick({1, 1, 2, 4});
    const double spines = pick({1, 2, 4});
    const bool rails = random() % 2 == 0;
    for (BuildingSpec& building : scenario.cluster.buildings)
    {
        building.fabric.spines = static_cast<uint32_t>(spines);
        building.fabric.oversubscription = oversubscription;
        building.fabric.rails = rails;
    }
    const double capacity = pick({100, 400, 1600});
    const Duration latency = Duration::Microseconds(static_cast<int64_t>(pick({5, 20, 150, 1000})));
    const double loss = pick({0, 0, 0, 1e-5});
    const double lanes = pick({1, 2});
    for (CrossLinkSpec& span : scenario.cluster.crossLinks)
    {
        span.capacity = GigabitsPerSecond(capacity);
        span.latency = latency;
        span.loss = loss;
        span.lanes = static_cast<uint32_t>(lanes);
    }
    DrawClasses(random, scenario);
    DrawScheduler(random, network);
    try
    {
        scenario.Validate();
    }
    catch (const ConfigError&)
    {
        return std::nullopt;
    }
    if (!std::holds_alternative<PreparedRun>(PrepareRun(scenario)))
    {
        return std::nullopt;
    }
    return scenario;
}

inline std::string
ClassesText(const TrafficClasses& classes)
{
    if (classes.AreOne())
    {
        return "";
    }
    std::string text = " classes=";
    for (const uint32_t number : classes.of)
    {
        text += std::to_string(number);
    }
    return text + " " + ClassWeightsText(classes.weights);
}

inline std::string
NetworkText(const Scenario& scenario)
{
    const NetworkPlan& network = scenario.network;
    const CrossLinkSpec& span = scenario.cluster.crossLinks.front();
    const FabricSpec& fabric = scenario.cluster.buildings.front().fabric;
    return TextOf(scenario) + " | " + network.transport->word + " " + network.multipath->word +
           " " + network.balance->word + " by " + network.qpScheduler->word + " " +
           ToString(network.qpBurst) + " " + network.copy->word + " " + network.recovery->word +
           " qps=" + std::to_string(network.qps) + " segment=" + ToString(network.segment) +
           " outstanding=" + std::to_string(network.outstanding) +
           " window=" + ToString(network.window) + " admission=" + ToString(network.admission) +
           ClassesText(network.classes) + " channels=" + std::to_string(network.channels) +
           " mtu=" + ToString(network.mtu) + " | " +
           std::to_string(scenario.cluster.buildings.size()) + " x " +
           std::to_string(scenario.cluster.buildings.front().gpus) +
           " spines=" + std::to_string(fabric.spines) +
           " over=" + std::to_string(fabric.oversubscription) + (fabric.rails ? " rails" : "") +
           " span " + ToString(span.capacity) + " " + ToString(span.latency) +
           " loss=" + std::to_string(span.loss) + " lanes=" + std::to_string(span.lanes);
}

} // namespace volumes

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_DRAWN_NETWORKS_H
