// SPDX-License-Identifier: GPL-2.0-only

// No engine is faster than the bound of rung 1, the packet engine neither.

#include "../volumes/volume-plans.h"
#include "core/engine/closed-form.h"
#include "helper/packet-engine.h"

#include <gtest/gtest.h>
#include <random>

namespace scaleacross
{

TEST(Bound, IsBelowThePacketEngine)
{
    double tightest = 0;
    for (const Scenario& scenario : volumes::Plans(30, 32, volumes::DrawAny))
    {
        const auto run = std::get<PreparedRun>(PrepareRun(scenario));
        const ClosedForm closed = ClosedFormOf(scenario, run);
        const auto result = PacketEngine().Run(scenario, RunOptions());
        const double time = std::get<RunReport>(result).iterationTime.S();
        EXPECT_LE(closed.bound.S(), time) << volumes::TextOf(scenario);
        tightest = std::max(tightest, closed.bound.S() / time);
    }
    EXPECT_GT(tightest, 0.9);
}

} // namespace scaleacross
