// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <gmock/gmock.h>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(Commands, SweepTellsWhoWinsWhere)
{
    const auto json = RunJson("explore study.yaml --sweep cluster.cross.oversubscription=1,64");
    EXPECT_EQ(json.at("sweep"), "cluster.cross.oversubscription");
    ASSERT_EQ(json.at("values").size(), 2);
    EXPECT_EQ(json.at("values")[1].at("value"), "64");
    ExpectKeys(json.at("values")[0], {"winner", "margin", "best", "placements"});
    // A scarcer span never helps.
    EXPECT_LE(json.at("values")[0].at("best").at("iteration_time_s"),
              json.at("values")[1].at("best").at("iteration_time_s"));
    EXPECT_TRUE(json.at("flips").is_array());
    const Call call = Run("explore study.yaml --sweep cluster.cross.oversubscription=1,64");
    EXPECT_THAT(call.out, HasSubstr("flip"));
}

TEST_F(Commands, SweepChecksEveryValueFirst)
{
    const Call call = Run("explore study.yaml --sweep cluster.cross.distance=10km,fast");
    EXPECT_EQ(call.code, 2);
    EXPECT_THAT(call.err, HasSubstr("fast"));
    EXPECT_EQ(Run("explore study.yaml --sweep nonsense").code, 2);
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

} // namespace

} // namespace scaleacross
