// SPDX-License-Identifier: GPL-2.0-only

#include "places.h"
#include "program.h"

#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <sstream>

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

/// A row as it stands on the page: no further bars but between its cells.
std::string
RowOfPage(const std::string& line)
{
    std::istringstream words(line);
    std::string row;
    for (std::string word; words >> word;)
    {
        row += word == "|" ? "" : (row.empty() ? "" : " ") + word;
    }
    return row;
}

TEST_F(Fairness, ThePageHasWhatIsMeasured)
{
    std::ifstream page(SourcePath("contrib/scaleacross/doc/congestion-control.md"));
    std::map<std::string, std::string> expected;
    bool isTable = false;
    for (std::string line; std::getline(page, line);)
    {
        isTable = line.rfind("| control | Jain", 0) == 0 || (isTable && line.rfind("|", 0) == 0);
        const std::string row = RowOfPage(line);
        if (isTable && row.find("---") == std::string::npos && row.rfind("control", 0) != 0)
        {
            expected[row.substr(0, row.find(' '))] = row;
        }
    }
    ASSERT_EQ(expected.size(), 6U);
    std::string controls;
    for (const auto& [control, row] : expected)
    {
        controls += (controls.empty() ? "" : ",") + control;
    }
    std::istringstream out(Run("fairness --senders 8 --control " + controls).out);
    std::string line;
    std::getline(out, line); // the header
    while (std::getline(out, line))
    {
        const std::string row = RowOfPage(line);
        const std::string control = row.substr(0, row.find(' '));
        EXPECT_EQ(row, expected[control] + " 0"); // drops, of which the page has no column
        expected.erase(control);
    }
    EXPECT_TRUE(expected.empty());
}

/// A window of one packet per round trip: base_rtt_us is that of 1,082 bytes and an ACK of 86 over
/// two switches, three wires each way: 3 x (1,168 x 8 / 10 Gb/s + 2 x 5 us) = 32.8032 us. Three
/// connections of one host send a packet in that time each: 3 x 8,656 bits = 0.7916 Gb/s, all the
/// same to within a packet of some 304.
TEST_F(Fairness, FlowsOfAHostWithAttributes)
{
    const auto json = RunJson("fairness --control none --senders 1 --flows 3 --switches 2 --rate "
                              "10Gbps --delay 5us --warm-up 1ms --measured 10ms --interval 1ms "
                              "--ns3 ns3::RdmaQueuePair::Window=1000 --json");
    EXPECT_DOUBLE_EQ(json.at("base_rtt_us").get<double>(), 32.8032);
    ASSERT_EQ(json.at("rates_gbps").size(), 3U);
    double sum = 0;
    for (const auto& rate : json.at("rates_gbps"))
    {
        sum += rate.get<double>();
        EXPECT_NEAR(rate.get<double>(), 8.656 / 32.8032, 8.656 / 32.8032 / 304 * 1.01);
    }
    EXPECT_NEAR(json.at("share").get<double>(), sum / 10, 1e-9);
    EXPECT_DOUBLE_EQ(json.at("rate_gbps").get<double>(), 10);
    // Fair from the first of ten intervals of 1 ms in a row on.
    EXPECT_DOUBLE_EQ(json.at("convergence_us").get<double>(), 1000);
}

TEST_F(Fairness, WrongInputIsNamed)
{
    for (const auto& [arguments, says] : std::vector<std::pair<std::string, std::string>>{
             {"--control bbr", "--control: 'bbr' is not known"},
             {"--control swift --senders 0", "senders: 0"},
             {"--control swift --switches 61", "1 to 60"},
             {"--control swift --rate 100", "--rate: '100' has no unit"},
             {"--control swift --delay 3", "--delay: '3' has no unit"},
             {"--control swift --measured 1us", "an interval of 100"},
             {"--control swift --interval 1us", "2us or more"},
             {"--control swift --flows 0", "flows: 0"},
             {"--control swift --ns3 ns3::Swift::Beta", "'ns3::Swift::Beta' has no ="},
             {"--control swift --ns3 ns3::Swift::Bet=1", "ns-3 has no attribute of that name"},
             {"--control swift --ns3 ns3::Swift::Beta=x", "which takes 'x'"},
             {"--control swift --ns3 ns3::RdmaQueuePair::Window=12k", "which takes '12k'"},
             {"--control swift --ns3 ns3::RdmaQueuePair::Window=-1", "which takes '-1'"},
             {"--control swift --ns3 ns3::Swift::BaseTarget=25", "which takes '25'"},
             {"--control swift --ns3 ns3::Swift::BaseTarget=25xs", "which takes '25xs'"},
             {"--control swift --ns3 ns3::Swift::Beta=0.5 --ns3 ns3::FabricSwitch::Pfc=maybe",
              "which takes 'maybe'"},
             {"--control swift --ns3 ns3::Swift::Beta=1 --ns3 ns3::Swift::Beta=0.5", "twice"},
             {"--control swift --ns3 ns3::RdmaNic::PathMtu=1000", "is set by --payload"},
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
