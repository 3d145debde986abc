// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_PIPELINE_ORACLE_H
#define SCALEACROSS_TESTS_PIPELINE_ORACLE_H

#include "core/pipeline/pipeline-order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace scaleacross
{

/// Times of one chunk and microbatch, and the delay of a message between two ranks, in any unit.
struct OracleTimes
{
    double forward{0};
    double inputGradient{0};
    double weightGradient{0};
    double hop{0};
    double slow{
        0}; //!< further delay between ranks slowRank and slowRank + 1 of a V or of one chunk
    uint32_t slowRank{0};
};

/// When each rank begins its first and ends its last action.
struct OracleSpans
{
    std::vector<double> begin;
    std::vector<double> end;

    double Makespan() const
    {
        return *std::max_element(end.begin(), end.end());
    }

    /// Of the rank that is busy or waiting the longest between its own first and last action.
    double LongestSpan() const
    {
        double longest = 0;
        for (size_t r = 0; r < begin.size(); r++)
        {
            longest = std::max(longest, end[r] - begin[r]);
        }
        return longest;
    }
};

/**
 * Earliest times of a pipeline's actions under its orders: the longest path through the order of
 * each rank and the arrows between virtual stages. Transfers take `hop` and occupy nobody. Knows
 * nothing of programs and messages. Empty if the orders wait for each other in a circle.
 */
inline std::optional<OracleSpans>
EvaluateOrders(const PipelineShape& shape, const OracleTimes& times)
{
    using Key = std::tuple<bool, uint32_t, uint32_t>; // forward, virtual stage, microbatch
    std::map<Key, double> arrival;
    const uint32_t last = Positions(shape) - 1;
    std::vector<std::vector<PipelineAction>> orders;
    for (uint32_t r = 0; r < shape.ranks; r++)
    {
        orders.push_back(PipelineOrder(shape, r));
    }
    std::vector<size_t> next(shape.ranks, 0);
    OracleSpans spans{std::vector<double>(shape.ranks, 0), std::vector<double>(shape.ranks, 0)};
    for (bool progress = true; progress;)
    {
        progress = false;
        for (uint32_t r = 0; r < shape.ranks; r++)
        {
            for (; next[r] < orders[r].size(); next[r]++)
            {
                const auto& action = orders[r][next[r]];
                const bool forward = action.action == Action::Forward;
                const bool weights = action.action == Action::WeightGradient;
                const uint32_t stage = VirtualStage(shape, r, action.chunk);
                double ready = 0;
                if (!weights && stage != (forward ? 0 : last))
                {
                    const auto found = arrival.find({forward, stage, action.microbatch});
                    if (found == arrival.end())
                    {
                        break;
                    }
                    ready = found->second;
                }
                const double start = std::max(ready, spans.end[r]);
                if (next[r] == 0)
                {
                    spans.begin[r] = start;
                }
                const double duration =
                    forward   ? times.forward
                    : weights ? times.weightGradient
                              : times.inputGradient +
                                    (action.action == Action::Backward ? times.weightGradient : 0);
                spans.end[r] = start + duration;
                if (!weights && stage != (forward ? last : 0))
                {
                    const uint32_t to = forward ? stage + 1 : stage - 1;
                    const uint32_t peer = RankOf(shape, to);
                    const bool slow = std::min(r, peer) == times.slowRank;
                    arrival[{forward, to, action.microbatch}] =
                        spans.end[r] + (peer == r ? 0 : times.hop + (slow ? times.slow : 0));
                }
                progress = true;
            }
        }
    }
    for (uint32_t r = 0; r < shape.ranks; r++)
    {
        if (next[r] != orders[r].size())
        {
            return std::nullopt;
        }
    }
    return spans;
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_PIPELINE_ORACLE_H
