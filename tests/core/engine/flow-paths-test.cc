// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/engine/flow/flow-paths.h"
#include "core/io/read-study.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

/// Two leaves of two servers with one NIC each, below two spines.
Scenario
With(const std::string& event)
{
    return ParseStudy("study: paths\n"
                      "cluster: {buildings: {name: b, count: 1, gpus: 4, gpus_per_node: 1, gpu: "
                      "h100, fabric: {spines: 2, nodes_per_pod: 2}}}\nevents: [{" +
                          event + ", at: 0s}]\n",
                      "paths.yaml",
                      {},
                      StudyScope::Network)
        .scenario;
}

/// What a message from a NIC to another fails with by both ways to find its links; "" if it does
/// not.
std::string
FailureOf(const FlowPaths& paths, uint32_t from, uint32_t to)
{
    std::string reason;
    for (const bool sampled : {false, true})
    {
        try
        {
            sampled ? paths.OfQueuePair(from, to, 0) : paths.OfAll(from, to);
            reason += reason.empty() ? "" : " once";
        }
        catch (const RunError& error)
        {
            reason += reason.empty() || reason == error.Reason() ? "" : " and ";
            reason = reason == error.Reason() ? reason : reason + error.Reason();
        }
    }
    return reason;
}

TEST(FlowPaths, WhatIsCutOffIsUnreachableFromEitherSide)
{
    // NICs 0 and 1 are on leaf 0.
    for (const char* event : {"kind: link-failure, target: b1/nic0--b1/leaf0",
                              "kind: switch-failure, target: b1/leaf0"})
    {
        SCOPED_TRACE(event);
        const FlowPaths paths(With(event), 0);
        EXPECT_EQ(FailureOf(paths, 0, 1), "unreachable");
        EXPECT_EQ(FailureOf(paths, 0, 3), "unreachable");
        EXPECT_EQ(FailureOf(paths, 3, 0), "unreachable");
        EXPECT_EQ(FailureOf(paths, 2, 3), "");
    }
    const FlowPaths one(With("kind: link-failure, target: b1/nic0--b1/leaf0"), 0);
    EXPECT_EQ(FailureOf(one, 1, 3), "");
}

} // namespace

} // namespace scaleacross
