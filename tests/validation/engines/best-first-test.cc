// SPDX-License-Identifier: GPL-2.0-only

// A search that runs only what its bounds leave finds what running everything finds.

#include "core/engine/analytical-engine.h"
#include "core/engine/first-look.h"
#include "core/explore/no-sink.h"
#include "core/explore/search.h"
#include "core/io/read-study.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{
namespace
{

/// A shipped study with fewer values to its axes, so that all of its plans can be run.
struct Reduced
{
    const char* name;
    std::vector<std::pair<std::string, std::string>> set;
};

void
PrintTo(const Reduced& reduced, std::ostream* os)
{
    *os << reduced.name;
}

class BestFirst : public testing::TestWithParam<Reduced>
{
};

TEST_P(BestFirst, IsWhatRunningEverythingFinds)
{
    const Study study = ReadStudy(std::string(SCALEACROSS_SOURCE_DIR) + "/examples/" +
                                      GetParam().name + "/study.yaml",
                                  GetParam().set);
    const SearchSpace space(study);
    const AnalyticalEngine engine;
    SearchOptions options;
    options.keep = 10;
    options.filter = ClosedFormFilter(BoundOf::Analytical);
    options.glance = FirstLooks;
    NoSink sink;
    const SearchResult found = BestFirstSearch().Run(space, engine, options, sink);

    Leaderboard all(options.keep);
    uint64_t ran = 0;
    uint64_t distinct = 0;
    for (uint64_t i = 0; i < space.Size(); i++)
    {
        const auto made = space.At(i);
        const auto* plan = std::get_if<Plan>(&made);
        if (plan == nullptr)
        {
            continue;
        }
        distinct++;
        const Evaluation evaluation = Evaluate(engine, space.With(*plan), options.run);
        if (const auto* report = std::get_if<RunReport>(&evaluation))
        {
            all.Offer({i, *plan, CanonicalText(*plan), *report});
            ran++;
        }
    }
    EXPECT_EQ(found.counts.Distinct(), distinct);
    EXPECT_TRUE(found.counts.failed.empty());
    EXPECT_EQ(found.counts.Decided(), distinct);
    EXPECT_GE(found.counts.evaluated + found.counts.RuledOut(), ran);
    if (ran > 100) // else one batch is most of it
    {
        EXPECT_LT(found.counts.evaluated, ran / 2);
    }
    const auto texts = [](const std::vector<Ranked>& plans) {
        std::vector<std::string> all;
        for (const Ranked& ranked : plans)
        {
            all.push_back(ToString(ranked.report.iterationTime) + " " + ranked.text);
        }
        return all;
    };
    EXPECT_EQ(texts(found.board.Best()), texts(all.Best()));
    EXPECT_EQ(texts(found.board.ParetoFront()), texts(all.ParetoFront()));
    EXPECT_EQ(texts(found.board.BestOfEach()), texts(all.BestOfEach()));
    EXPECT_LE(found.counts.bound, all.Best().front().report.iterationTime);
}

INSTANTIATE_TEST_SUITE_P(Studies,
                         BestFirst,
                         testing::Values(Reduced{"small-two-buildings", {}},
                                         Reduced{"llama4-maverick-two-buildings",
                                                 {{"search.plan.ep", "[32, 64]"},
                                                  {"search.plan.chunks", "[1, 2, 6, 12]"},
                                                  {"search.plan.microbatch", "[1]"},
                                                  {"search.network.collective", "[hierarchical]"}}},
                                         Reduced{"llama3-405b-three-unequal-buildings",
                                                 {{"search.plan.pp", "[14, 16]"},
                                                  {"search.plan.chunks", "[1, 3, 8]"},
                                                  {"search.plan.schedule", "[1f1b, interleaved]"},
                                                  {"search.plan.async_tp", "[true]"},
                                                  {"search.plan.cp", "[1]"}}}));

} // namespace
} // namespace scaleacross
