// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_COLLECTIVE_CASES_H
#define SCALEACROSS_TESTS_COLLECTIVE_CASES_H

#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/io/read-study.h"
#include "core/work/graph/collective-graph.h"
#include "helper/engine/packet-engine.h"

#include <memory>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * `count` equal buildings of 4 servers with one GPU each on one leaf and one spine, so that nothing
 * but NICs and spans limits, and nothing is hashed. 400 Gb/s, 500 ns to the leaf, 1 us to the
 * spine. `spans` is the part of the study that joins them.
 */
inline Scenario
PlainCluster(uint32_t count, const std::string& spans, const Overrides& overrides = {})
{
    const std::string text = "study: plain\n"
                             "cluster:\n"
                             "  buildings: {count: " +
                             std::to_string(count) +
                             ", gpus: 4, gpus_per_node: 1, gpu: h100, nic_rate: 400Gbps,"
                             " fabric: {spines: 1, nic_delay: 500ns, leaf_delay: 1us}}\n  " +
                             spans + "\nnetwork: {spine_buffer: 1GiB}\n";
    return ParseStudy(text, "plain.yaml", overrides, StudyScope::Network).scenario;
}

/// The same with 1 km (5 us) between all buildings, and an oversubscription of 1.
inline Scenario
PlainCluster(uint32_t count, const Overrides& overrides = {})
{
    return PlainCluster(count,
                        count > 1 ? "cross: {distance: 1km, oversubscription: 1}" : "",
                        overrides);
}

/// The collective on a cluster.
inline Scenario
With(Scenario scenario,
     CollectiveOp op,
     CollectiveGroup group,
     uint64_t bytes,
     CollectiveAlgorithm algorithm = CollectiveAlgorithm("hierarchical"))
{
    CollectiveSpec& spec = scenario.Job().collective.emplace();
    spec.op = op;
    spec.group = group;
    spec.bytes = Bytes(bytes);
    scenario.network.collective = algorithm;
    return scenario;
}

/// Seconds of one collective alone, from the common start to the end of the last rank.
inline double
SecondsOn(const Engine& engine, const Scenario& scenario)
{
    RunOptions options;
    options.warmup = 0;
    return std::get<RunReport>(engine.Run(scenario, options)).iterationTime.S();
}

/// "analytical", "flow" or "packet".
inline std::unique_ptr<Engine>
EngineOf(const std::string& name)
{
    if (name == "packet")
    {
        return std::make_unique<PacketEngine>();
    }
    if (name == "flow")
    {
        return std::make_unique<FlowEngine>(Collisions::Expected);
    }
    return std::make_unique<AnalyticalEngine>();
}

/**
 * Seconds per byte of payload through a link of `rate` bits/s: full packets of 4,096 + 82 bytes and
 * an ACK of 86 bytes per 4 packets, which shares the link because every NIC receives what it sends.
 */
inline double
SecondsPerByte(double rate)
{
    return (4096 + 82 + 86.0 / 4) / 4096 * 8 / rate;
}

/// Serialisation of one full packet, s.
inline double
PacketSeconds(double rate)
{
    return (4096 + 82) * 8 / rate;
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_COLLECTIVE_CASES_H
