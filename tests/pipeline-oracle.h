// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_PIPELINE_ORACLE_H
#define SCALEACROSS_TESTS_PIPELINE_ORACLE_H

#include "core/pipeline/pipeline-order.h"

#include <algorithm>
#include <array>
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
    /// Further delay of a message between one of the ranks 0 .. slowRank and one of the others.
    double slow{0};
    /// Time such a message holds the way in its direction, one after the other in the order of the
    /// sender. Domain: one sender per direction, as in one chunk or a V.
    double slowTransfer{0};
    uint32_t slowRank{0};
    /// F, I and W of each position along the model, where they differ; else as above.
    std::vector<std::array<double, 3>> byPosition{};

    double Pass(size_t which, uint32_t position) const
    {
        const std::array<double, 3> same{forward, inputGradient, weightGradient};
        return byPosition.empty() ? same[which] : byPosition[position][which];
    }
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
 * each rank and the arrows between virtual stages. Transfers take `hop` and occupy nobody, but for
 * the slow boundary, if it is given a transfer time. Knows nothing of programs and messages. Empty
 * if the orders wait for each other in a circle.
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
    std::vector<double> free(shape.ranks, 0); // when what a rank sent has left the slow boundary
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
                const uint32_t above = std::get<1>(forward);
                const uint32_t below = std::get<1>(backward);
                spans.end[r] = start + (down ? times.Pass(0, above) : 0) +
                               (up ? times.Pass(1, below) : 0) +
                               (weights ? times.Pass(2, below) : 0);
                const auto send = [&](const Key& key, uint32_t to) {
                    const uint32_t peer = RankOf(shape, to);
                    const bool slow = (r <= times.slowRank) != (peer <= times.slowRank);
                    double sent = spans.end[r];
                    if (slow)
                    {
                        sent = std::max(sent, free[r]) + times.slowTransfer;
                        free[r] = sent;
                    }
                    arrival[{std::get<0>(key), to, std::get<2>(key)}] =
                        sent + (peer == r ? 0 : times.hop + (slow ? times.slow : 0));
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
