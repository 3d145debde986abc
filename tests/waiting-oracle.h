// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_WAITING_ORACLE_H
#define SCALEACROSS_TESTS_WAITING_ORACLE_H

#include "core/pipeline/pipeline-order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace scaleacross
{

/// Times of one chunk and microbatch, and of a message between two sites, in any unit.
struct WaitingTimes
{
    double forward{1};
    double inputGradient{1};
    double weightGradient{1};
    double latency{0};
    /// A message between two ranks of different sites holds the way between the two, in its
    /// direction.
    double transfer{0};
    uint32_t ranksPerSite{1};
    /// Receives stand where they are in a plan with F = I = W and no delay; else they are there
    /// before any message.
    bool planned{false};
    /// Until a sender at another site knows of a receive.
    double credit{0};
};

/// Begin and end of every action by rank.
struct WaitingSpans
{
    std::vector<std::vector<double>> begin;
    std::vector<std::vector<double>> end;

    double Makespan() const
    {
        double last = 0;
        for (const auto& rank : end)
        {
            last = std::max(last, rank.back());
        }
        return last;
    }
};

/**
 * Earliest times of a pipeline's actions, by raising all times until every constraint holds: an
 * action begins after the one before on its rank and after its input's arrival; a message leaves
 * after its action, after the message before on its way, and after the action that comes before its
 * receive, plus the credit; it arrives after its transfer and latency. Empty if the constraints go
 * in a circle.
 */
inline std::optional<WaitingSpans>
EvaluateWaiting(const PipelineShape& shape, const WaitingTimes& times)
{
    using Key = std::tuple<bool, uint32_t, uint32_t>; // forward, receiving position, microbatch

    struct Message
    {
        Key key;
        uint32_t from, to;
        size_t sends;    // index of the action of `from`
        size_t needs{0}; // of that of `to`
        size_t post{0};
        double arrival{0};
    };

    const uint32_t last = Positions(shape) - 1;
    std::vector<std::vector<PipelineAction>> orders;
    std::vector<std::vector<double>> takes(shape.ranks);
    std::vector<Message> messages; // of each rank in the order of its actions
    std::map<Key, std::pair<uint32_t, size_t>> needs;
    for (uint32_t r = 0; r < shape.ranks; r++)
    {
        orders.push_back(PipelineOrder(shape, r));
        for (size_t i = 0; i < orders[r].size(); i++)
        {
            const PipelineAction& action = orders[r][i];
            double sum = 0;
            if (const auto pass = ForwardOf(action))
            {
                const uint32_t at = VirtualStage(shape, r, pass->chunk);
                needs[{true, at, pass->microbatch}] = {r, i};
                sum += times.forward;
                if (at != last)
                {
                    messages.push_back(
                        {{true, at + 1, pass->microbatch}, r, RankOf(shape, at + 1), i});
                }
            }
            if (const auto pass = InputGradientOf(action))
            {
                const uint32_t at = VirtualStage(shape, r, pass->chunk);
                needs[{false, at, pass->microbatch}] = {r, i};
                sum += times.inputGradient;
                if (at != 0)
                {
                    messages.push_back(
                        {{false, at - 1, pass->microbatch}, r, RankOf(shape, at - 1), i});
                }
            }
            sum += WeightGradientOf(action) ? times.weightGradient : 0;
            takes[r].push_back(sum);
        }
    }
    std::optional<WaitingSpans> plan;
    if (times.planned)
    {
        plan = EvaluateWaiting(shape, {});
    }
    std::vector<std::vector<std::vector<const Message*>>> inputs;
    for (const auto& order : orders)
    {
        inputs.emplace_back(order.size());
    }
    for (Message& message : messages)
    {
        message.needs = needs.at(message.key).second;
        inputs[message.to][message.needs].push_back(&message);
        for (size_t i = 1; plan && i <= message.needs; i++)
        {
            const bool inTime =
                plan->begin[message.to][i] <= plan->end[message.from][message.sends];
            message.post = inTime ? i : message.post;
        }
    }
    WaitingSpans spans;
    size_t actions = 0;
    for (uint32_t r = 0; r < shape.ranks; r++)
    {
        spans.begin.emplace_back(takes[r].size(), 0);
        spans.end.push_back(takes[r]);
        actions += takes[r].size();
    }
    bool changes = true;
    for (size_t round = 0; changes && round <= actions + messages.size(); round++)
    {
        changes = false;
        std::vector<double> free(size_t{shape.ranks} * shape.ranks, 0); // by sender and receiver
        for (Message& message : messages)
        {
            const bool crosses =
                message.from / times.ranksPerSite != message.to / times.ranksPerSite;
            double leaves = spans.end[message.from][message.sends];
            if (message.from != message.to)
            {
                double& way = free[size_t{message.from} * shape.ranks + message.to];
                const double posted =
                    (message.post == 0 ? 0 : spans.end[message.to][message.post - 1]) +
                    (crosses ? times.credit : 0);
                leaves = std::max({leaves, way, times.planned ? posted : 0}) +
                         (crosses ? times.transfer : 0);
                way = leaves;
            }
            const double arrival = leaves + (crosses ? times.latency : 0);
            changes = changes || arrival != message.arrival;
            message.arrival = arrival;
        }
        for (uint32_t r = 0; r < shape.ranks; r++)
        {
            for (size_t i = 0; i < takes[r].size(); i++)
            {
                double begin = i == 0 ? 0 : spans.end[r][i - 1];
                for (const Message* message : inputs[r][i])
                {
                    begin = std::max(begin, message->arrival);
                }
                changes = changes || begin != spans.begin[r][i];
                spans.begin[r][i] = begin;
                spans.end[r][i] = begin + takes[r][i];
            }
        }
    }
    return changes ? std::nullopt : std::make_optional(spans);
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_WAITING_ORACLE_H
