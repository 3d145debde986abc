// SPDX-License-Identifier: GPL-2.0-only

// Bubble rates of "Zero Bubble Pipeline Parallelism" (Qi et al., 2401.10241): the orders of 1F1B,
// interleaved 1F1B, ZB-H1 and ZB-H2 under the paper's measured F, I (there B), W and transfer
// times.
//
// Rate = 1 - m (F + I + W) / T. T is the longest span of any stage from its own first to its own
// last action; for interleaved 1F1B, whose chunks v are not in the paper's table, v = 3, 4, 3, 2 by
// model and T = makespan - p x transfer time reproduce every cell.

#include "../../cli/program.h"
#include "../../csv-rows.h"
#include "../../pipeline-oracle.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

struct Row
{
    std::string model;
    uint32_t p;
    uint32_t m;
    double forward, input, weight, comm;
    uint32_t chunks;
    double oneFOneB, interleaved, zbH1, zbH2;
};

std::vector<Row>
Rows()
{
    std::vector<Row> rows;
    for (const CsvRow& cells : CsvRows("zero-bubble/bubble-rates.csv"))
    {
        const auto number = [&cells](const char* column) { return CsvNumber(cells, column); };
        const auto count = [&number](const char* column) {
            return static_cast<uint32_t>(number(column));
        };
        rows.push_back({cells.at("model"),
                        count("p"),
                        count("m"),
                        number("forward"),
                        number("input"),
                        number("weight"),
                        number("comm"),
                        count("chunks"),
                        number("1f1b"),
                        number("interleaved"),
                        number("zb-h1"),
                        number("zb-h2")});
    }
    return rows;
}

constexpr double kFourDecimals = 0.5e-4;

} // namespace

TEST(ZeroBubble, OneFOneB)
{
    for (const auto& row : Rows())
    {
        const auto spans = EvaluateOrders({"1f1b", row.p, row.m, 1, 0},
                                          {row.forward, row.input, row.weight, row.comm});
        const double work = row.m * (row.forward + row.input + row.weight);
        EXPECT_NEAR(1 - work / spans->LongestSpan(), row.oneFOneB, kFourDecimals)
            << row.model << " m " << row.m;
    }
}

TEST(ZeroBubble, Interleaved)
{
    for (const auto& row : Rows())
    {
        const double v = row.chunks;
        const auto spans =
            EvaluateOrders({"interleaved", row.p, row.m, row.chunks, 0},
                           {row.forward / v, row.input / v, row.weight / v, row.comm});
        const double work = row.m * (row.forward + row.input + row.weight);
        EXPECT_NEAR(1 - work / (spans->Makespan() - row.p * row.comm),
                    row.interleaved,
                    kFourDecimals)
            << row.model << " m " << row.m;
    }
}

TEST(ZeroBubble, ZbH1)
{
    for (const auto& row : Rows())
    {
        const auto spans = EvaluateOrders({"zb-h1", row.p, row.m, 1, 0},
                                          {row.forward, row.input, row.weight, row.comm});
        const double work = row.m * (row.forward + row.input + row.weight);
        EXPECT_NEAR(1 - work / spans->LongestSpan(), row.zbH1, kFourDecimals)
            << row.model << " m " << row.m;
    }
}

TEST(ZeroBubble, ZbH2)
{
    for (const auto& row : Rows())
    {
        const auto spans =
            EvaluateOrders({"zb-h2", row.p, row.m}, {row.forward, row.input, row.weight, row.comm});
        const double work = row.m * (row.forward + row.input + row.weight);
        EXPECT_NEAR(1 - work / spans->LongestSpan(), row.zbH2, kFourDecimals)
            << row.model << " m " << row.m;
    }
}

/// Every cell again, by the command, whose times come from the exact evaluator of the analytical
/// engine running the schedule's programs.
class ZeroBubbleCommand : public ProgramTest
{
  protected:
    nlohmann::json Schedule(const std::string& name, const Row& row, uint32_t chunks) const
    {
        std::ostringstream text;
        text << "schedule --name " << name << " --stages " << row.p << " --microbatches " << row.m
             << " --chunks " << chunks << " --forward " << row.forward << "ms --input-grad "
             << row.input << "ms --weight-grad " << row.weight << "ms --comm " << row.comm << "ms";
        return RunJson(text.str());
    }

    double Fraction(const std::string& name, const Row& row) const
    {
        return Schedule(name, row, 1).at("bubble_fraction");
    }
};

TEST_F(ZeroBubbleCommand, PrintsEveryCell)
{
    for (const auto& row : Rows())
    {
        SCOPED_TRACE(row.model + " m " + std::to_string(row.m));
        EXPECT_NEAR(Fraction("1f1b", row), row.oneFOneB, kFourDecimals);
        EXPECT_NEAR(Fraction("zb-h1", row), row.zbH1, kFourDecimals);
        EXPECT_NEAR(Fraction("zb-h2", row), row.zbH2, kFourDecimals);
        const auto interleaved = Schedule("interleaved", row, row.chunks);
        const double makespan = interleaved.at("makespan_s");
        const double work = row.m * (row.forward + row.input + row.weight);
        EXPECT_NEAR(1 - work / (makespan * 1e3 - row.p * row.comm), row.interleaved, kFourDecimals);
        // What is printed counts the messages, as of the other schedules: README says by how much
        // it is more.
        const double v = row.chunks;
        const auto spans =
            EvaluateOrders({"interleaved", row.p, row.m, row.chunks, 0},
                           {row.forward / v, row.input / v, row.weight / v, row.comm});
        const double printed = interleaved.at("bubble_fraction");
        EXPECT_NEAR(printed, 1 - work / spans->LongestSpan(), kFourDecimals);
        EXPECT_GT(printed, row.interleaved);
        EXPECT_LT(printed, row.interleaved + 0.004);
    }
}

TEST(ZeroBubble, TableIsComplete)
{
    EXPECT_EQ(Rows().size(), 8U);
}

} // namespace scaleacross
