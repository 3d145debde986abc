// SPDX-License-Identifier: GPL-2.0-only

#include "program.h"

#include <gmock/gmock.h>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

class Fairness : public ProgramTest
{
};

/// A sender alone has the line, 100 Gb/s to within a packet of 1,082 bytes in 12.5 MB, and nothing
/// waits behind what leaves as fast as it comes.
TEST_F(Fairness, OneSenderHasTheLine)
{
    const auto json =
        RunJson("fairness --control none --senders 1 --warm-up 1ms --measured 1ms --json");
    EXPECT_EQ(json.at("control"), "none");
    ASSERT_EQ(json.at("rates_gbps").size(), 1U);
    EXPECT_NEAR(json.at("rates_gbps").at(0).get<double>(), 100, 100 * 1082 / 12.5e6);
    EXPECT_NEAR(json.at("share").get<double>(), 1, 1082 / 12.5e6);
    EXPECT_DOUBLE_EQ(json.at("jain").get<double>(), 1);
    EXPECT_EQ(json.at("queue_peak_bytes"), 0);
    EXPECT_EQ(json.at("dropped"), 0);
    EXPECT_EQ(json.at("pause_frames"), 0);
    // Fair from the first of ten intervals of 100 us in a row on.
    EXPECT_DOUBLE_EQ(json.at("convergence_us").get<double>(), 100);
}

TEST_F(Fairness, ATableHasARowPerControl)
{
    const Call call =
        Run("fairness --control swift,hpcc --senders 2 --warm-up 1ms --measured 1ms --seed 3");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("Jain"));
    EXPECT_THAT(call.out, HasSubstr("\nswift"));
    EXPECT_THAT(call.out, HasSubstr("\nhpcc"));
    EXPECT_EQ(
        call.out,
        Run("fairness --control swift,hpcc --senders 2 --warm-up 1ms --measured 1ms --seed 3").out);
}

TEST_F(Fairness, WrongInputIsNamed)
{
    for (const auto& [arguments, says] : std::vector<std::pair<std::string, std::string>>{
             {"--control bbr", "--control: 'bbr' is not known"},
             {"--control swift --senders 0", "senders: 0"},
             {"--control swift --switches 61", "1 to 60"},
             {"--control swift --rate 100", "--rate: '100' has no unit"},
             {"--control swift --delay 3", "--delay: '3' has no unit"},
             {"--control swift --measured 1us", "100us or more"},
             {"--control swift --stagger 10ms", "all senders start within the warm-up"},
             {"", "--control is required"}})
    {
        const Call call = Run("fairness " + arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_THAT(call.err, HasSubstr(says)) << arguments;
        EXPECT_EQ(call.out, "") << arguments;
    }
}

} // namespace

} // namespace scaleacross
