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
                // An action goes forward, backward or both at once.
                const bool both = action.action == Action::ForwardBackward;
                const bool down = both || action.action == Action::Forward;
                const bool up = both || action.action == Action::Backward ||
                                action.action == Action::InputGradient;
                const bool weights = both || action.action == Action::Backward ||
                                     action.action == Action::WeightGradient;
                const Key forward{true, VirtualStage(shape, r, action.chunk), action.microbatch};
                const Key backward{false,
                                   VirtualStage(shape, r, both ? action.backChunk : action.chunk),
                                   both ? action.backMicrobatch : action.microbatch};
                double start = spans.end[r];
                bool waits = false;
                for (const auto& [does, key, first] :
                     {std::make_tuple(down, forward, 0U), std::make_tuple(up, backward, last)})
                {
                    if (does && std::get<1>(key) != first)
                    {
                        const auto found = arrival.find(key);
                        waits = waits || found == arrival.end();
                        start = waits ? start : std::max(start, found->second);
                    }
                }
                if (waits)
                {
                    break;
                }
                if (next[r] == 0)
                {
                    spans.begin[r] = start;
                }
                spans.end[r] = start + (down ? times.forward : 0) + (up ? times.inputGradient : 0) +
                               (weights ? times.weightGradient : 0);
                const auto send = [&](const Key& key, uint32_t to) {
                    const uint32_t peer = RankOf(shape, to);
                    const bool slow = (r <= times.slowRank) != (peer <= times.slowRank);
                    arrival[{std::get<0>(key), to, std::get<2>(key)}] =
                        spans.end[r] + (peer == r ? 0 : times.hop + (slow ? times.slow : 0));
                };
                if (down && std::get<1>(forward) != last)
                {
                    send(forward, std::get<1>(forward) + 1);
                }
                if (up && std::get<1>(backward) != 0)
                {
                    send(backward, std::get<1>(backward) - 1);
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
